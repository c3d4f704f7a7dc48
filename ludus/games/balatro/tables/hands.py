"""The twelve poker hands, best first: chips and mult at level 1, and their increase per level."""

import numpy as np

#        name               chips mult  +chips +mult
ROWS = (
    ("Flush Five",          160, 16,    50, 3),
    ("Flush House",         140, 14,    40, 4),
    ("Five of a Kind",      120, 12,    35, 3),
    ("Straight Flush",      100, 8,     40, 4),
    ("Four of a Kind",      60, 7,      30, 3),
    ("Full House",          40, 4,      25, 2),
    ("Flush",               35, 4,      15, 2),
    ("Straight",            30, 4,      30, 3),
    ("Three of a Kind",     30, 3,      20, 2),
    ("Two Pair",            20, 2,      20, 1),
    ("Pair",                10, 2,      15, 1),
    ("High Card",           5, 1,       10, 1),
)  # fmt: skip
NAMES = tuple(row[0] for row in ROWS)
NUMBERS = np.array([row[1:] for row in ROWS], np.float64)
HANDS, SECRET = len(ROWS), 3
"""the first SECRET hands are not shown before they have been played"""
(
    FLUSH_FIVE, FLUSH_HOUSE, FIVE_OF_A_KIND, STRAIGHT_FLUSH, FOUR_OF_A_KIND, FULL_HOUSE, FLUSH, STRAIGHT,
    THREE_OF_A_KIND, TWO_PAIR, PAIR, HIGH_CARD,
) = range(HANDS)  # fmt: skip

LISTED = tuple(
    map(
        NAMES.index,
        ("Flush House", "Full House", "Flush", "Pair", "High Card", "Straight Flush", "Straight", "Two Pair",
         "Flush Five", "Five of a Kind", "Three of a Kind", "Four of a Kind"),
    )
)  # fmt: skip
ORDER_OF_CHOICE = np.array(LISTED, np.int64)
"""order in which a random hand is chosen (To Do List, Orbital Tag)"""
