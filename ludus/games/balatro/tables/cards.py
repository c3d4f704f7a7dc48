"""Playing cards: suits, ranks, enhancements, editions, seals and flags."""

import numpy as np

SUITS, RANKS = "CDHS", "23456789TJQKA"
CLUBS, DIAMONDS, HEARTS, SPADES = range(4)
SUIT_NAMES = ("Clubs", "Diamonds", "Hearts", "Spades")
EIGHT, NINE, TEN, JACK, QUEEN, KING, ACE = range(6, 13)
RANK_CHIPS = np.array([2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11], np.float64)

SUIT_ORDER = np.array([SPADES, HEARTS, CLUBS, DIAMONDS])

SUITS_OF_SIGIL = np.array([SPADES, HEARTS, DIAMONDS, CLUBS])

FRONTS = np.array([SUITS.index(suit) * 13 + RANKS.index(rank) for suit in SUITS for rank in sorted(RANKS)], np.int64)
"""suit * 13 + rank of the 52 cards in the order of their keys, C_2 .. C_9 C_A C_J C_K C_Q C_T D_2 .. S_T; decks are
created and random cards are chosen in this order"""

ENHANCEMENTS = ("", "m_bonus", "m_mult", "m_wild", "m_glass", "m_steel", "m_stone", "m_gold", "m_lucky")
BONUS, MULT, WILD, GLASS, STEEL, STONE, GOLD, LUCKY = range(1, 9)
"""in the order of the pool"""

EDITIONS = ("", "e_foil", "e_holo", "e_polychrome", "e_negative")
FOIL, HOLO, POLYCHROME, NEGATIVE = range(1, 5)
EDITION_PRICE = np.array([0, 2, 3, 5, 5], np.int64)

SEALS = ("", "Red", "Blue", "Gold", "Purple")
RED_SEAL, BLUE_SEAL, GOLD_SEAL, PURPLE_SEAL = range(1, 5)

# Temporary properties of a card; bits of `flags`.
DEBUFFED, FACE_DOWN, PLAYED_THIS_ANTE, FORCED, SELECTED = 1, 2, 4, 8, 16

# Stickers of a joker; bits of `stickers`.
ETERNAL, PERISHABLE, RENTAL = 1, 2, 4
