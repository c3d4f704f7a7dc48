"""Which poker hand the played cards are, what other hands they contain, and which of them score."""

import numpy as np

from ludus.games.balatro.tables.cards import ACE, CLUBS, DEBUFFED, HEARTS, JACK, KING, SPADES, STONE, WILD
from ludus.games.balatro.tables.hands import (
    FIVE_OF_A_KIND, FLUSH, FLUSH_FIVE, FLUSH_HOUSE, FOUR_OF_A_KIND, FULL_HOUSE, HANDS, HIGH_CARD, PAIR, STRAIGHT,
    STRAIGHT_FLUSH, THREE_OF_A_KIND, TWO_PAIR,
)  # fmt: skip
from ludus.games.balatro.tables.rules import FOUR_FINGERS, PAREIDOLIA, SHORTCUT, SMEARED, SPLASH
from ludus.dsl import rule


@rule
def debuffed(card):
    return card.flags & DEBUFFED != 0


@rule
def suits_alike(one, other, smeared):
    """Whether two suits count as the same: with Smeared Joker, hearts and diamonds do, and spades and clubs."""
    return one == other or (smeared and (one == CLUBS or one == SPADES) == (other == CLUBS or other == SPADES))


@rule
def of_suit(state, card, suit):
    """Whether a card has a suit, for jokers: a debuffed card has none, a wild card has every suit."""
    if card.enhancement == STONE or debuffed(card):
        return False
    return card.enhancement == WILD or suits_alike(card.suit, suit, state.rules & SMEARED != 0)


@rule
def of_suit_in_flush(card, suit, smeared):
    """Whether a card has a suit in a flush: a debuffed card has its printed suit."""
    if card.enhancement == STONE:
        return False
    return (card.enhancement == WILD and not debuffed(card)) or suits_alike(card.suit, suit, smeared)


@rule
def is_face(state, card):
    """Jacks, queens and kings that are not debuffed; with Pareidolia all cards."""
    if debuffed(card):
        return False
    return state.rules & PAREIDOLIA != 0 or (card.enhancement != STONE and JACK <= card.rank <= KING)


@rule
def count_of(counts, rank):
    return (counts >> np.int64(4 * rank)) & 15


@rule
def evaluate(state):
    """Write into the tally which hand the played cards are, what they contain and which of them score."""
    tally = state.tally
    counts = 0
    for place in range(tally.count):
        card = state.cards[tally.cards[place]]
        if card.enhancement != STONE:
            counts += 1 << np.int64(4 * card.rank)
    need = 4 if state.rules & FOUR_FINGERS else 5
    flush = flush_cards(state, need)
    straight = straight_cards(state, counts, need)
    contains = same_ranks(counts)
    if flush:
        contains |= 1 << FLUSH
        if contains & (1 << FIVE_OF_A_KIND):
            contains |= 1 << FLUSH_FIVE
        if contains & (1 << FULL_HOUSE):
            contains |= 1 << FLUSH_HOUSE
    if straight:
        contains |= 1 << STRAIGHT
        if flush:
            contains |= 1 << STRAIGHT_FLUSH
    hand = 0
    while hand < HANDS - 1 and not contains & (1 << hand):
        hand += 1
    tally.hand = hand
    tally.contains = contains | (1 << HIGH_CARD)
    tally.scoring = scoring_cards(state, hand, counts, flush, straight)


@rule
def flush_cards(state, need):
    """Bits of the played cards that form a flush, 0 for none."""
    tally = state.tally
    smeared = state.rules & SMEARED != 0
    if tally.count < need:
        return 0
    for order in range(4):
        # spades, hearts, clubs, diamonds
        suit = SPADES if order == 0 else (HEARTS if order == 1 else order - 2)
        bits = 0
        found = 0
        for place in range(tally.count):
            if of_suit_in_flush(state.cards[tally.cards[place]], suit, smeared):
                bits |= 1 << place
                found += 1
        if found >= need:
            return bits
    return 0


@rule
def straight_cards(state, counts, need):
    """Bits of the played cards whose ranks form a straight, 0 for none; an ace is low or high."""
    tally = state.tally
    if tally.count < need:
        return 0
    may_skip = state.rules & SHORTCUT != 0
    ranks = 0
    length = 0
    skipped = False
    found = False
    for step in range(14):
        rank = ACE if step == 0 else step - 1
        if count_of(counts, rank):
            length += 1
            skipped = False
            ranks |= 1 << rank
        elif may_skip and not skipped and length > 0:
            skipped = True
        else:
            if found:
                break
            length = 0
            skipped = False
            ranks = 0
        if length >= need:
            found = True
    bits = 0
    if found:
        for place in range(tally.count):
            card = state.cards[tally.cards[place]]
            if card.enhancement != STONE and ranks & (1 << np.int64(card.rank)):
                bits |= 1 << place
    return bits


@rule
def same_ranks(counts):
    """Bits of the contained hands of equal ranks."""
    most = 0
    pairs = 0
    for rank in range(13):
        found = count_of(counts, rank)
        most = max(most, found)
        pairs += found >= 2
    contains = 0
    if most >= 2:
        contains |= 1 << PAIR
    if most >= 3:
        contains |= 1 << THREE_OF_A_KIND
    if most >= 4:
        contains |= 1 << FOUR_OF_A_KIND
    if most >= 5:
        contains |= 1 << FIVE_OF_A_KIND
    if pairs >= 2:
        contains |= 1 << TWO_PAIR
        if most >= 3:
            contains |= 1 << FULL_HOUSE
    return contains


@rule
def scoring_cards(state, hand, counts, flush, straight):
    """Bits of the played cards that score: those that form the hand, stone cards, and with Splash all cards."""
    tally = state.tally
    if state.rules & SPLASH:
        return (1 << tally.count) - 1
    bits = 0
    if hand == FLUSH or hand == FLUSH_HOUSE or hand == FLUSH_FIVE:
        bits = flush
    elif hand == STRAIGHT:
        bits = straight
    elif hand == STRAIGHT_FLUSH:
        bits = flush | straight
    high = -1
    for rank in range(13):
        if count_of(counts, rank):
            high = rank
    least = least_of_a_rank(hand)
    for place in range(tally.count):
        card = state.cards[tally.cards[place]]
        if card.enhancement == STONE:
            bits |= 1 << place
        elif hand == HIGH_CARD:
            if card.rank == high:
                bits |= 1 << place
        elif least and count_of(counts, card.rank) >= least:
            bits |= 1 << place
    return bits


@rule
def least_of_a_rank(hand):
    """The minimum number of cards of the same rank for a card to score in this hand; 0 if ranks do not matter."""
    if hand == FIVE_OF_A_KIND or hand == FLUSH_FIVE:
        return 5
    if hand == FOUR_OF_A_KIND:
        return 4
    if hand == THREE_OF_A_KIND:
        return 3
    if hand == FULL_HOUSE or hand == FLUSH_HOUSE or hand == TWO_PAIR or hand == PAIR:
        return 2
    return 0
