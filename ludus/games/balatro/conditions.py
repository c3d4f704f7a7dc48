"""Evaluation of a row of the joker table: whether its condition is met, and its amount."""

import numpy as np

from ludus.games.balatro import poker, randomness
from ludus.games.balatro.prices import sell_value
from ludus.games.balatro.state import BOSS
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables import streams
from ludus.games.balatro.tables.cards import (
    ACE,
    CLUBS,
    DEBUFFED,
    NEGATIVE,
    NINE,
    RANK_CHIPS,
    SPADES,
    STEEL,
    STONE,
    WILD,
)
from ludus.games.balatro.tables.consumables import FIRST_PLANET, FIRST_SPECTRAL
from ludus.games.balatro.tables.hands import HANDS, STRAIGHT
from ludus.games.balatro.tables.jokers import STENCIL
from ludus.games.balatro.tables.rules import SMEARED
from ludus.dsl import rule

SIX, MISPRINT_STREAM, MOST_MISPRINT = 4, streams.stream("misprint"), 23
FIXED_ROLLS = (
    "lucky_mult", "lucky_money", "bloodstone", "business", "parking", "space", "8ball", "glass",
)  # fmt: skip
"""rolls whose outcome can be fixed in advance"""
FIXED_BIT = np.array([FIXED_ROLLS.index(name) if name in FIXED_ROLLS else -1 for name in streams.NAMES])


@rule
def succeeds(state, stream, odds):
    """A roll with a chance of 1 in `odds`; every Oops! All 6s doubles the chance."""
    bit = FIXED_BIT[stream]
    if bit >= 0 and (state.tally.fixed >> bit) & 1:
        return (state.tally.fixed_to >> bit) & 1 != 0
    return randomness.uniform(state, stream) < state.luck / odds


@rule
def met(state, effect, joker, subject):
    """Whether the condition of an effect is met; `subject` is the number of the card it tests."""
    kind = effect.condition
    if kind == e.ALWAYS:
        return True
    if kind <= e.WAS_LUCKY:
        return met_by_card(state, kind, effect.about, state.cards[subject], subject)
    if kind == e.CONTAINS:
        return state.tally.contains & (1 << effect.about) != 0
    if kind <= e.BOSS_ACTED:
        return met_by_play(state, kind, effect.about, joker)
    return met_by_round(state, kind)


@rule
def met_by_card(state, kind, about, card, subject):
    if kind == e.OF_RANKS:
        return card.enhancement != STONE and not card.flags & DEBUFFED and (about >> card.rank) & 1 != 0
    if kind == e.OF_SUIT:
        return poker.of_suit(state, card, about)
    if kind == e.IS_FACE:
        return poker.is_face(state, card)
    if kind == e.IS_ENHANCED:
        return card.enhancement == about  # destroyed glass counts even if debuffed
    if kind == e.IS_FIRST_FACE:
        return subject == first_face(state)
    if kind == e.IS_FIRST:
        return subject == first_scoring(state)
    if kind == e.IS_IDOL:
        return card.rank == state.idol_rank and poker.of_suit(state, card, state.idol_suit)
    if kind == e.OF_ANCIENT_SUIT:
        return poker.of_suit(state, card, state.ancient_suit)
    if kind == e.OF_MAIL_RANK:
        return card.enhancement != STONE and not card.flags & DEBUFFED and card.rank == state.mail_rank
    if kind == e.OF_CASTLE_SUIT:
        return poker.of_suit(state, card, state.castle_suit)
    if kind == e.IS_LOWEST:
        return subject == lowest_held(state)
    return state.tally.lucky != 0


@rule
def met_by_play(state, kind, about, joker):
    tally = state.tally
    if kind == e.PLAYED_AT_MOST:
        return tally.count <= about
    if kind == e.PLAYED_EXACTLY:
        return tally.count == about
    if kind == e.NO_DISCARDS_LEFT:
        return state.discards_left == 0
    if kind == e.LAST_HAND:
        return state.hands_left == 0
    if kind == e.HELD_ALL_BLACK:
        return held_all_black(state)
    if kind == e.SIXTH_HAND:
        return joker.value % 6 == 5
    if kind == e.PLAYED_THIS_ROUND:
        return state.plays_this_round[tally.hand] > 1
    if kind == e.ALL_SUITS:
        return all_suits_score(state)
    if kind == e.CLUB_AND_OTHER:
        return club_and_other_score(state)
    if kind == e.SIXTEEN_ENHANCED:
        return enhanced_cards(state) >= 16
    if kind == e.FIRST_AND_SINGLE:
        return state.hands_played == 0 and tally.count == 1
    if kind == e.FIRST_SINGLE_SIX:
        card = state.cards[tally.cards[0]]
        first = state.hands_played == 0 and tally.count == 1 and not tally.refused
        return first and card.rank == SIX and card.enhancement != STONE
    if kind == e.ACE_AND_STRAIGHT:
        return tally.contains & (1 << STRAIGHT) != 0 and ace_scores(state)
    if kind == e.POOR:
        return state.money <= 4
    if kind == e.IS_LISTED_HAND:
        return joker.counter == tally.hand
    return tally.boss_acted != 0


@rule
def met_by_round(state, kind):
    if kind == e.NO_FACE_SCORES:
        return first_face(state) < 0
    if kind == e.FACE_SCORES:
        return first_face(state) >= 0
    if kind == e.NOT_FAVOURITE:
        return not is_favourite(state)
    if kind == e.FAVOURITE:
        return is_favourite(state)
    if kind == e.FIRST_DISCARD or kind == e.NO_DISCARDS_USED:
        return state.discards_used == 0
    if kind == e.FIRST_DISCARD_SINGLE:
        return state.discards_used == 0 and state.tally.count == 1
    if kind == e.THREE_FACES:
        return faces_chosen(state) >= 3
    if kind == e.NOT_BOSS:
        return state.blind != BOSS
    if kind == e.BOSS_BEATEN:
        return state.blind == BOSS
    return FIRST_PLANET <= state.last_used < FIRST_SPECTRAL


@rule
def amount(state, effect, joker, subject):
    """The amount of an effect."""
    if effect.per == e.ONE:
        return effect.plus + effect.number
    return effect.plus + effect.number * quantity(state, effect.per, joker, subject)


@rule
def quantity(state, per, joker, subject):
    """The quantity that an amount is multiplied by."""
    if per == e.STATE:
        return joker.value
    if per == e.DISCARDS_LEFT:
        return float(state.discards_left)
    if per == e.EMPTY_SLOTS:
        return float(max(1, slots(state) - state.joker_count + count_jokers(state, STENCIL)))
    if per == e.STEEL_CARDS:
        return float(count_enhanced(state, STEEL))
    if per == e.STONE_CARDS:
        return float(count_enhanced(state, STONE))
    if per == e.JOKERS:
        return float(state.joker_count)
    if per == e.PLAYS:
        return float(state.plays[state.tally.hand])
    if per == e.PILE:
        return float(state.pile_count)
    if per == e.MISSING_CARDS:
        return float(max(0, state.starting_cards - state.card_count))
    if per == e.TAROTS_USED:
        return float(state.tarots_used)
    if per == e.MONEY:
        return float(max(0, state.money))
    if per == e.FIVE_DOLLARS:
        return float(max(0, state.money) // 5)
    if per == e.SELL_OF_OTHERS:
        return sell_of_jokers(state) - float(sell_value(state, joker))
    if per == e.SKIPS:
        return float(state.skips)
    if per == e.CARD_VALUE:
        return RANK_CHIPS[state.cards[subject].rank]
    if per == e.NINES:
        return float(count_rank(state, NINE))
    if per == e.PLANETS_USED:
        return float(bits_set(state.planets_used))
    if per == e.ENHANCED_SCORED:
        return float(enhanced_scoring(state))
    return misprint(state)


@rule
def misprint(state):
    if state.tally.misprint >= 0:
        return float(state.tally.misprint)
    return float(randomness.below(state, MISPRINT_STREAM, MOST_MISPRINT + 1))


@rule
def bits_set(bits):
    found = 0
    while bits:
        found += bits & 1
        bits >>= 1
    return found


@rule
def slots(state):
    """The number of joker slots, including those added by negative jokers."""
    total = np.int64(state.joker_slots)
    for index in range(state.joker_count):
        total += state.jokers[index].edition == NEGATIVE
    return total


@rule
def count_jokers(state, number):
    found = 0
    for index in range(state.joker_count):
        found += state.jokers[index].number == number
    return found


@rule
def count_enhanced(state, enhancement):
    found = 0
    for index in range(state.card_count):
        found += state.cards[index].enhancement == enhancement
    return found


@rule
def enhanced_cards(state):
    found = 0
    for index in range(state.card_count):
        found += state.cards[index].enhancement != 0
    return found


@rule
def count_rank(state, rank):
    found = 0
    for index in range(state.card_count):
        found += state.cards[index].rank == rank and state.cards[index].enhancement != STONE
    return found


@rule
def sell_of_jokers(state):
    total = 0.0
    for index in range(state.joker_count):
        total += sell_value(state, state.jokers[index])
    return total


@rule
def enhanced_scoring(state):
    """Enhanced cards that score and are not debuffed."""
    found = 0
    for place in range(state.tally.count):
        card = state.cards[state.tally.cards[place]]
        found += (state.tally.scoring >> place) & 1 != 0 and card.enhancement != 0 and not card.flags & DEBUFFED
    return found


@rule
def first_scoring(state):
    """The number of the first card that scores."""
    for place in range(state.tally.count):
        if (state.tally.scoring >> place) & 1:
            return np.int64(state.tally.cards[place])
    return -1


@rule
def first_face(state):
    """The number of the first face card that scores, -1 for none."""
    for place in range(state.tally.count):
        if (state.tally.scoring >> place) & 1 and poker.is_face(state, state.cards[state.tally.cards[place]]):
            return np.int64(state.tally.cards[place])
    return -1


@rule
def ace_scores(state):
    for place in range(state.tally.count):
        card = state.cards[state.tally.cards[place]]
        if (state.tally.scoring >> place) & 1 and card.rank == ACE and card.enhancement != STONE:
            return True
    return False


@rule
def lowest_held(state):
    """The number of the last of the lowest cards in hand; stone cards have no rank."""
    lowest = -1
    least = 99
    for place in range(state.hand_count):
        card = state.cards[state.hand[place]]
        if card.enhancement != STONE and card.rank <= least:
            least = card.rank
            lowest = np.int64(state.hand[place])
    return lowest


@rule
def held_all_black(state):
    """Whether all cards in hand are spades or clubs; debuffed ones count by their printed suit."""
    smeared = state.rules & SMEARED != 0
    for place in range(state.hand_count):
        card = state.cards[state.hand[place]]
        black = poker.of_suit_in_flush(card, CLUBS, smeared) or poker.of_suit_in_flush(card, SPADES, smeared)
        if not black:
            return False
    return True


@rule
def all_suits_score(state):
    """Whether the scoring cards include all four suits; a wild card counts as a missing suit.

    A debuffed card counts by its printed suit, but a debuffed wild card counts as no suit.
    """
    smeared = state.rules & SMEARED != 0
    wilds = 0
    found = 0
    first = 0
    second = 0
    for place in range(state.tally.count):
        card = state.cards[state.tally.cards[place]]
        if not (state.tally.scoring >> place) & 1 or card.enhancement == STONE:
            continue
        if card.enhancement == WILD:
            wilds += not card.flags & DEBUFFED
        elif smeared:
            if card.suit == CLUBS or card.suit == SPADES:
                first += 1
            else:
                second += 1
        else:
            found |= 1 << card.suit
    if smeared:
        return min(first, 2) + min(second, 2) + wilds >= 4
    return bits_set(found) + wilds >= 4


@rule
def club_and_other_score(state):
    """Whether a club and a card of another suit score; a wild card counts as one of the two."""
    smeared = state.rules & SMEARED != 0
    wilds = 0
    clubs = 0
    others = 0
    for place in range(state.tally.count):
        card = state.cards[state.tally.cards[place]]
        if not (state.tally.scoring >> place) & 1 or card.enhancement == STONE or card.flags & DEBUFFED:
            continue
        if card.enhancement == WILD:
            wilds += 1
        elif smeared:
            if card.suit == CLUBS or card.suit == SPADES:
                return True
            others += 1
        elif card.suit == CLUBS:
            clubs += 1
        else:
            others += 1
    return (clubs > 0) + (others > 0) + wilds >= 2


@rule
def is_favourite(state):
    """Whether this hand has been played more often than every other, including this time."""
    mine = state.plays[state.tally.hand]
    for hand in range(HANDS):
        if hand != state.tally.hand and state.plays[hand] >= mine:
            return False
    return True


@rule
def faces_chosen(state):
    found = 0
    for place in range(state.tally.count):
        found += poker.is_face(state, state.cards[state.tally.cards[place]])
    return found
