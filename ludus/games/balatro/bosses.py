"""Bosses: being rid of one."""

from ludus.games.balatro import deck, holdings
from ludus.games.balatro.state import BOSS, PLAYING_HAND
from ludus.games.balatro.tables import blinds, cards
from ludus.games.balatro.tables import effects as e
from ludus.words import rule

PERISHED, DISABLED = 1, 2
"""bits of why a joker is debuffed"""


@rule
def hands_of_round(state):
    return max(1, state.hands + holdings.passive(state, e.HANDS))


@rule
def discards_of_round(state):
    return max(0, state.discards + holdings.passive(state, e.DISCARDS))


@rule
def disable(state):
    """The boss has no effect any more, and what it took comes back."""
    if state.phase != PLAYING_HAND or state.blind != BOSS or state.disabled:
        return
    effect = blinds.EFFECT[state.boss]
    state.disabled = 1
    state.required = state.required * min(2.0, blinds.FACTOR[state.boss]) / blinds.FACTOR[state.boss]
    if effect == blinds.NO_DISCARDS:
        state.discards_left += discards_of_round(state)
    elif effect == blinds.ONE_HAND:
        state.hands_left += hands_of_round(state) - 1
    for place in range(state.hand_count):
        state.cards[state.hand[place]].flags &= 255 - cards.FACE_DOWN - cards.FORCED
    for index in range(state.joker_count):
        state.jokers[index].face_down = 0
        state.jokers[index].debuffed &= PERISHED
    holdings.refresh(state)
    deck.debuff_all(state)
