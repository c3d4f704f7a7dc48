"""Bosses: the effect of Crimson Heart on jokers, and disabling a boss."""

from ludus.games.balatro import deck, draws, holdings, randomness
from ludus.games.balatro.state import BOSS, PLAYING_HAND
from ludus.games.balatro.tables import blinds, cards
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

HEART = stream("crimson_heart")

PERISHED, DISABLED = 1, 2
"""bits: reasons why a joker is debuffed"""


@rule
def hands_of_round(state):
    return max(1, state.hands + holdings.passive(state, e.HANDS))


@rule
def discards_of_round(state):
    return max(0, state.discards + holdings.passive(state, e.DISCARDS))


@rule
def disable(state):
    """Disable the boss and undo its effects."""
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
    free_jokers(state)
    deck.debuff_all(state)


@rule
def debuff_joker(state, index, reasons):
    """Debuff a joker or undo it; if the hand size grows, cards are dealt at once."""
    before = holdings.passive(state, e.HAND_SIZE)
    holdings.set_debuff(state, index, reasons)
    draws.deal_growth(state, before)


@rule
def free_jokers(state):
    """Undo the boss's effects on jokers."""
    for index in range(state.joker_count):
        joker = state.jokers[index]
        joker.face_down = 0
        if joker.debuffed & DISABLED:
            debuff_joker(state, index, joker.debuffed & PERISHED)


@rule
def disable_joker(state):
    """Crimson Heart: debuff a random joker for each hand; one that is already debuffed is not chosen."""
    allowed = 0
    count = 0
    for index in range(state.joker_count):
        if not state.jokers[index].debuffed or state.joker_count == 1:
            allowed |= 1 << index
            count += 1
    free_jokers(state)
    if count:
        nth = randomness.below(state, HEART, count)
        chosen = holdings.nth_born(state.jokers, state.joker_count, allowed, nth)
        debuff_joker(state, chosen, state.jokers[chosen].debuffed | DISABLED)
