"""The fifteen decks and eight stakes: the starting values of a run."""

import numpy as np

from ludus.games.balatro.tables import consumables, vouchers

NAMES = (
    "red", "blue", "yellow", "green", "black", "magic", "nebula", "ghost", "abandoned", "checkered", "zodiac",
    "painted", "anaglyph", "plasma", "erratic",
)  # fmt: skip
(
    RED, BLUE, YELLOW, GREEN, BLACK, MAGIC, NEBULA, GHOST, ABANDONED, CHECKERED, ZODIAC, PAINTED, ANAGLYPH, PLASMA,
    ERRATIC,
) = range(15)  # fmt: skip
COLUMNS = ("hands", "discards", "dollars", "hand_size", "joker_slots", "consumable_slots")
#             hands discards dollars hand_size joker_slots consumable_slots
CHANGES = {
    RED:      (0,   1,       0,      0,        0,          0),
    BLUE:     (1,   0,       0,      0,        0,          0),
    YELLOW:   (0,   0,       10,     0,        0,          0),
    BLACK:    (-1,  0,       0,      0,        1,          0),
    NEBULA:   (0,   0,       0,      0,        0,          -1),
    PAINTED:  (0,   0,       0,      2,        -1,         0),
}  # fmt: skip
CHANGE = np.array([CHANGES.get(deck, (0,) * 6) for deck in range(15)], np.int64)
HANDS, DISCARDS, DOLLARS, HAND_SIZE, JOKER_SLOTS, CONSUMABLE_SLOTS = range(6)
START = np.array([4, 3, 4, 8, 5, 2], np.int64)
"""starting values before the changes of a deck"""

_VOUCHERS = {
    MAGIC: ("v_crystal_ball",), NEBULA: ("v_telescope",),
    ZODIAC: ("v_tarot_merchant", "v_planet_merchant", "v_overstock_norm"),
}  # fmt: skip
_CONSUMABLES = {MAGIC: ("c_fool", "c_fool"), GHOST: ("c_hex",)}
VOUCHERS, CONSUMABLES = np.full((15, 3), -1), np.zeros((15, 2), np.int64)
for _deck, _keys in _VOUCHERS.items():
    VOUCHERS[_deck, : len(_keys)] = [vouchers.KEYS.index(key) for key in _keys]
for _deck, _keys in _CONSUMABLES.items():
    CONSUMABLES[_deck, : len(_keys)] = [consumables.KEYS.index(key) for key in _keys]
GHOST_SPECTRAL_RATE = 2.0

STAKES = ("white", "red", "green", "black", "blue", "purple", "orange", "gold")
WHITE_STAKE, RED_STAKE, GREEN_STAKE, BLACK_STAKE, BLUE_STAKE, PURPLE_STAKE, ORANGE_STAKE, GOLD_STAKE = range(8)
SCALING = np.array([0, 0, 1, 1, 1, 2, 2, 2])
REQUIRED = np.array(
    [
        [300, 800, 2000, 5000, 11000, 20000, 35000, 50000],
        [300, 900, 2600, 8000, 20000, 36000, 60000, 100000],
        [300, 1000, 3200, 9000, 25000, 60000, 110000, 200000],
    ],
    np.float64,
)
"""[scaling, ante - 1] before a blind's own factor"""
