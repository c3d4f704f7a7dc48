"""Graceful Charity: draw three cards, then discard two."""

from ludus.games.duel.card_moves import draw
from ludus.games.duel.frames import ask_cards
from ludus.games.duel.operations_hand import discard_picked
from ludus.games.duel.operations_targets import FINISHED
from ludus.games.duel.processes import put_in
from ludus.games.duel.randomness import shuffle_hand
from ludus.games.duel.state import BY_EFFECT, HAND_PILE
from ludus.dsl import rule


@rule
def resolve(state, frame, player):
    """Draw, and ask which cards are discarded."""
    if draw(state, player, 3, BY_EFFECT) < 3:
        frame.step = FINISHED
        return
    shuffle_hand(state, player)
    frame.count = 0
    for k in range(state.sizes[player, HAND_PILE]):
        put_in(frame, state.piles[player, HAND_PILE, k])
    ask_cards(state, player, frame.cards, frame.count, 2, 2, 0)


@rule
def go_on(state, frame, player):
    frame.step = FINISHED
    discard_picked(state, player)
