"""Don Zaloog: the opponent discards a random card, or the two top cards of the deck."""

from ludus.games.duel.frames import offer
from ludus.games.duel.operations_hand import discard_random
from ludus.games.duel.operations_targets import all_or_done
from ludus.games.duel.processes import put_in, send
from ludus.games.duel.state import BY_EFFECT, CHOOSES, DECK_PILE, HAND_PILE
from ludus.games.duel.tables.words import GRAVE
from ludus.dsl import rule

FROM_HAND, FROM_DECK = 1, 2
"""values of the link: which of the two effects was chosen"""


@rule
def possible(state, player):
    return state.sizes[1 - player, HAND_PILE] > 0 or state.sizes[1 - player, DECK_PILE] >= 2


@rule
def offer_branches(state, c, player):
    """Those of the two effects that are possible now."""
    if state.sizes[1 - player, HAND_PILE] > 0:
        offer(state, CHOOSES, c, 0, FROM_HAND, 0)
    if state.sizes[1 - player, DECK_PILE] >= 2:
        offer(state, CHOOSES, c, 0, FROM_DECK, 0)


@rule
def resolve(state, frame, link, player):
    other = 1 - player
    if link.value == FROM_HAND:
        discard_random(state, frame, player)
        return
    work = send(state, GRAVE, BY_EFFECT, player)
    for k in range(min(2, state.sizes[other, DECK_PILE])):
        put_in(work, state.piles[other, DECK_PILE, state.sizes[other, DECK_PILE] - 1 - k])
    all_or_done(state, work)
