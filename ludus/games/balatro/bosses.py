"""Bosses: being rid of one."""

from ludus.games.balatro import deck
from ludus.games.balatro.state import BOSS, PLAYING_HAND
from ludus.games.balatro.tables import blinds, cards
from ludus.words import rule


@rule
def disable(state):
    """The boss has no effect any more, and what it took comes back."""
    if state.phase != PLAYING_HAND or state.blind != BOSS or state.disabled:
        return
    effect = blinds.EFFECT[state.boss]
    state.disabled = 1
    state.required = state.required * min(2.0, blinds.FACTOR[state.boss]) / blinds.FACTOR[state.boss]
    if effect == blinds.NO_DISCARDS:
        state.discards_left += state.discards
    elif effect == blinds.ONE_HAND:
        state.hands_left += state.hands - 1
    for place in range(state.hand_count):
        state.cards[state.hand[place]].flags &= 255 - cards.FACE_DOWN - cards.FORCED
    for index in range(state.joker_count):
        state.jokers[index].face_down = 0
    deck.debuff_all(state)
