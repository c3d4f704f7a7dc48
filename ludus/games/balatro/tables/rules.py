"""Rule changes by some jokers, as bits that the code concerned tests."""

import numpy as np

from ludus.games.balatro.tables import jokers

FOUR_FINGERS, SHORTCUT, SMEARED, SPLASH, PAREIDOLIA, SHOWMAN, ASTRONOMER, CHICOT = (1 << bit for bit in range(8))
OOPS = jokers.number_of("j_oops")
_BITS = {
    "j_four_fingers": FOUR_FINGERS, "j_shortcut": SHORTCUT, "j_smeared": SMEARED, "j_splash": SPLASH,
    "j_pareidolia": PAREIDOLIA, "j_ring_master": SHOWMAN, "j_astronomer": ASTRONOMER, "j_chicot": CHICOT,
}  # fmt: skip
RULES = np.array([_BITS.get(key, 0) for key in jokers.KEYS], np.int64)
"""rule bits of each joker"""
