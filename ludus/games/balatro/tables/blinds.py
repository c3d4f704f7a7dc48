"""The thirty blinds: minimum ante, factor for the ante's score, pay, and effect."""

import numpy as np

(
    NOTHING, DISCARD_TWO, TAKE_MONEY, FIRST_FACE_DOWN, SOME_FACE_DOWN, LEVEL_DOWN, DEBUFF_SUIT, LATER_FACE_DOWN,
    FIVE_CARDS, NO_DISCARDS, SMALLER_HAND, NO_REPEATS, ONE_KIND, DEBUFF_FACES, DRAW_THREE, DEBUFF_PLAYED, ONE_HAND,
    PAY_PER_CARD, HALVE, FACES_DOWN, HIDE_JOKERS, DEBUFF_ALL, DISABLE_JOKER, FORCE_CARD,
) = range(24)  # fmt: skip

#    key                 name              ante factor pays effect, number
ROWS = (
    ("bl_small",         "Small Blind",    0,   1,     3,   NOTHING, 0),
    ("bl_big",           "Big Blind",      0,   1.5,   4,   NOTHING, 0),
    ("bl_hook",          "The Hook",       1,   2,     5,   DISCARD_TWO, 2),
    ("bl_ox",            "The Ox",         6,   2,     5,   TAKE_MONEY, 0),
    ("bl_house",         "The House",      2,   2,     5,   FIRST_FACE_DOWN, 0),
    ("bl_wall",          "The Wall",       2,   4,     5,   NOTHING, 0),
    ("bl_wheel",         "The Wheel",      2,   2,     5,   SOME_FACE_DOWN, 7),
    ("bl_arm",           "The Arm",        2,   2,     5,   LEVEL_DOWN, 1),
    ("bl_club",          "The Club",       1,   2,     5,   DEBUFF_SUIT, 0),
    ("bl_fish",          "The Fish",       2,   2,     5,   LATER_FACE_DOWN, 0),
    ("bl_psychic",       "The Psychic",    1,   2,     5,   FIVE_CARDS, 5),
    ("bl_goad",          "The Goad",       1,   2,     5,   DEBUFF_SUIT, 3),
    ("bl_water",         "The Water",      2,   2,     5,   NO_DISCARDS, 0),
    ("bl_window",        "The Window",     1,   2,     5,   DEBUFF_SUIT, 1),
    ("bl_manacle",       "The Manacle",    1,   2,     5,   SMALLER_HAND, 1),
    ("bl_eye",           "The Eye",        3,   2,     5,   NO_REPEATS, 0),
    ("bl_mouth",         "The Mouth",      2,   2,     5,   ONE_KIND, 0),
    ("bl_plant",         "The Plant",      4,   2,     5,   DEBUFF_FACES, 0),
    ("bl_serpent",       "The Serpent",    5,   2,     5,   DRAW_THREE, 3),
    ("bl_pillar",        "The Pillar",     1,   2,     5,   DEBUFF_PLAYED, 0),
    ("bl_needle",        "The Needle",     2,   1,     5,   ONE_HAND, 1),
    ("bl_head",          "The Head",       1,   2,     5,   DEBUFF_SUIT, 2),
    ("bl_tooth",         "The Tooth",      3,   2,     5,   PAY_PER_CARD, 1),
    ("bl_flint",         "The Flint",      2,   2,     5,   HALVE, 0),
    ("bl_mark",          "The Mark",       2,   2,     5,   FACES_DOWN, 0),
    ("bl_final_acorn",   "Amber Acorn",    8,   2,     8,   HIDE_JOKERS, 0),
    ("bl_final_leaf",    "Verdant Leaf",   8,   2,     8,   DEBUFF_ALL, 0),
    ("bl_final_vessel",  "Violet Vessel",  8,   6,     8,   NOTHING, 0),
    ("bl_final_heart",   "Crimson Heart",  8,   2,     8,   DISABLE_JOKER, 0),  # one source for when it changes
    ("bl_final_bell",    "Cerulean Bell",  8,   2,     8,   FORCE_CARD, 0),  # one source for when it changes
)  # fmt: skip
KEYS, NAMES = tuple(row[0] for row in ROWS), tuple(row[1] for row in ROWS)
BLINDS, FIRST_BOSS, FIRST_SHOWDOWN = len(ROWS), 2, KEYS.index("bl_final_acorn")
LEAST_ANTE, PAYS, EFFECT, NUMBER = (np.array([row[column] for row in ROWS], np.int64) for column in (2, 4, 5, 6))
FACTOR = np.array([row[3] for row in ROWS], np.float64)
ALPHABETICAL = np.array(sorted(range(FIRST_BOSS, BLINDS), key=KEYS.__getitem__), np.int64)
"""order in which a random boss is chosen"""
