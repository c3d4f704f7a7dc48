"""Delinquent Duo: the opponent discards a random card, then one of their choice."""

from ludus.games.duel.frames import ask_cards
from ludus.games.duel.operations_hand import discard_picked
from ludus.games.duel.operations_targets import FINISHED, GO_ON
from ludus.games.duel.processes import put_in
from ludus.games.duel.state import HAND_PILE
from ludus.dsl import rule

CHOOSE_SECOND, DISCARD_SECOND = range(GO_ON, 3)
"""the steps after the random discard"""


@rule
def go_on(state, frame, player):
    """Ask for the second card and discard it. Whether all is done."""
    other = 1 - player
    if frame.step == CHOOSE_SECOND:
        frame.step = DISCARD_SECOND
        frame.count = 0
        for k in range(state.sizes[other, HAND_PILE]):
            put_in(frame, state.piles[other, HAND_PILE, k])
        ask_cards(state, other, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    frame.step = FINISHED
    discard_picked(state, other)
    return False
