"""Tags, the rewards for skipping a blind: when they act, their effect, and its number."""

import numpy as np

NOW, NEXT_SHOP, NEXT_TAG, NEXT_ROUND, BOSS_BEATEN = range(5)
(
    FREE_UNCOMMON, FREE_RARE, EDITION, INVESTMENT, EXTRA_VOUCHER, NEW_BOSS, FREE_PACK, PER_HAND, PER_DISCARD, COUPON,
    DOUBLE, JUGGLE, FREE_REROLLS, COMMON_JOKERS, PER_SKIP, ORBITAL, DOUBLE_MONEY,
) = range(17)  # fmt: skip

#    key              name               ante  when         what it does, number
ROWS = (
    ("tag_uncommon",   "Uncommon Tag",    1,   NEXT_SHOP,   FREE_UNCOMMON, 0),
    ("tag_rare",       "Rare Tag",        1,   NEXT_SHOP,   FREE_RARE, 0),
    ("tag_negative",   "Negative Tag",    2,   NEXT_SHOP,   EDITION, 4),
    ("tag_foil",       "Foil Tag",        1,   NEXT_SHOP,   EDITION, 1),
    ("tag_holo",       "Holographic Tag", 1,   NEXT_SHOP,   EDITION, 2),
    ("tag_polychrome", "Polychrome Tag",  1,   NEXT_SHOP,   EDITION, 3),
    ("tag_investment", "Investment Tag",  1,   BOSS_BEATEN, INVESTMENT, 25),
    ("tag_voucher",    "Voucher Tag",     1,   NEXT_SHOP,   EXTRA_VOUCHER, 1),
    ("tag_boss",       "Boss Tag",        1,   NOW,         NEW_BOSS, 0),
    ("tag_standard",   "Standard Tag",    2,   NOW,         FREE_PACK, 8),
    ("tag_charm",      "Charm Tag",       1,   NOW,         FREE_PACK, 2),
    ("tag_meteor",     "Meteor Tag",      2,   NOW,         FREE_PACK, 5),
    ("tag_buffoon",    "Buffoon Tag",     2,   NOW,         FREE_PACK, 11),
    ("tag_handy",      "Handy Tag",       2,   NOW,         PER_HAND, 1),
    ("tag_garbage",    "Garbage Tag",     2,   NOW,         PER_DISCARD, 1),
    ("tag_ethereal",   "Ethereal Tag",    2,   NOW,         FREE_PACK, 12),
    ("tag_coupon",     "Coupon Tag",      1,   NEXT_SHOP,   COUPON, 0),
    ("tag_double",     "Double Tag",      1,   NEXT_TAG,    DOUBLE, 0),
    ("tag_juggle",     "Juggle Tag",      1,   NEXT_ROUND,  JUGGLE, 3),
    ("tag_d_six",      "D6 Tag",          1,   NEXT_SHOP,   FREE_REROLLS, 0),
    ("tag_top_up",     "Top-up Tag",      2,   NOW,         COMMON_JOKERS, 2),
    ("tag_skip",       "Skip Tag",        1,   NOW,         PER_SKIP, 5),
    ("tag_orbital",    "Orbital Tag",     2,   NOW,         ORBITAL, 3),
    ("tag_economy",    "Economy Tag",     1,   NOW,         DOUBLE_MONEY, 40),
)  # fmt: skip
KEYS, NAMES = tuple(row[0] for row in ROWS), tuple(row[1] for row in ROWS)
TAGS = len(ROWS)
LEAST_ANTE, WHEN, EFFECT, NUMBER = (np.array([row[column] for row in ROWS], np.int64) for column in range(2, 6))
HANDY, DOUBLE_TAG = KEYS.index("tag_handy"), KEYS.index("tag_double")
