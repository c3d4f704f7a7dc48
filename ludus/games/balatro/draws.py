"""Drawing cards into the hand: how many, and which of them are face down."""

from ludus.games.balatro import deck, holdings, poker, randomness
from ludus.games.balatro.state import MOST_IN_HAND, PLAYING_HAND
from ludus.games.balatro.tables import blinds, cards
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

WHEEL = stream("wheel")


@rule
def hand_limit(state):
    """The current maximum number of cards in hand."""
    limit = state.hand_size + holdings.passive(state, e.HAND_SIZE)
    if state.phase == PLAYING_HAND:
        limit += state.hand_size_now
        limit -= deck.boss_effect(state) == blinds.SMALLER_HAND
    return min(max(limit, 0), MOST_IN_HAND)


@rule
def round_has_begun(state):
    """Whether a hand was played or discarded in this round."""
    return state.hands_played + state.discards_used > 0


@rule
def fill_hand(state):
    """Fill the hand; with The Serpent always draw three cards once the round has begun."""
    wanted = hand_limit(state) - state.hand_count
    if deck.boss_effect(state) == blinds.DRAW_THREE and round_has_begun(state):
        wanted = blinds.NUMBER[state.boss]
    deal(state, wanted)


@rule
def deal(state, count):
    """Deal cards, some face down if the boss requires it."""
    effect = deck.boss_effect(state)
    begun = round_has_begun(state)
    for _ in range(min(count, state.pile_count, MOST_IN_HAND - state.hand_count)):
        number = deck.draw_card(state)
        if comes_face_down(state, effect, state.cards[number], begun):
            state.cards[number].flags |= cards.FACE_DOWN
    deck.sort_hand(state)


@rule
def deal_growth(state, before):
    """If jokers have increased the hand size during a blind, deal the additional cards at once."""
    growth = holdings.passive(state, e.HAND_SIZE) - before
    if growth > 0 and state.phase == PLAYING_HAND and state.hand_count > 0 and hand_limit(state) > 1:
        deal(state, growth)


@rule
def comes_face_down(state, effect, card, begun):
    if effect == blinds.FIRST_FACE_DOWN:
        return not begun
    if effect == blinds.SOME_FACE_DOWN:
        return randomness.uniform(state, WHEEL) < state.luck / blinds.NUMBER[state.boss]
    if effect == blinds.LATER_FACE_DOWN:
        return state.fish != 0
    return effect == blinds.FACES_DOWN and poker.is_face(state, card)
