"""Tarots, planets and spectral cards: minimum and maximum number of target cards, effect, and its number."""

import numpy as np

from ludus.games.balatro.tables import cards, hands

(
    NOTHING, ENHANCE, SET_SUIT, SET_SEAL, RANK_UP, DESTROY, BECOME_COPY, COPY_LAST_USED, CREATE_TAROTS, CREATE_PLANETS,
    DOUBLE_MONEY, FORTUNE, SELL_VALUES, CREATE_JOKER, LEVEL_UP, LEVEL_UP_ALL, CREATE_FACES, CREATE_ACES,
    CREATE_NUMBERED, ADD_EDITION, CREATE_RARE, ONE_SUIT, ONE_RANK, MAKE_NEGATIVE, BURN, COPY_JOKER, MAKE_POLYCHROME,
    COPY_CARD, CREATE_LEGENDARY,
) = range(29)  # fmt: skip

#    key                   name                    targets  what it does, number
TAROTS = (
    ("c_fool",             "The Fool",             0, 0,    COPY_LAST_USED, 0),
    ("c_magician",         "The Magician",         1, 2,    ENHANCE, cards.LUCKY),
    ("c_high_priestess",   "The High Priestess",   0, 0,    CREATE_PLANETS, 2),
    ("c_empress",          "The Empress",          1, 2,    ENHANCE, cards.MULT),
    ("c_emperor",          "The Emperor",          0, 0,    CREATE_TAROTS, 2),
    ("c_heirophant",       "The Hierophant",       1, 2,    ENHANCE, cards.BONUS),
    ("c_lovers",           "The Lovers",           1, 1,    ENHANCE, cards.WILD),
    ("c_chariot",          "The Chariot",          1, 1,    ENHANCE, cards.STEEL),
    ("c_justice",          "Justice",              1, 1,    ENHANCE, cards.GLASS),
    ("c_hermit",           "The Hermit",           0, 0,    DOUBLE_MONEY, 20),
    ("c_wheel_of_fortune", "The Wheel of Fortune", 0, 0,    FORTUNE, 4),
    ("c_strength",         "Strength",             1, 2,    RANK_UP, 1),
    ("c_hanged_man",       "The Hanged Man",       1, 2,    DESTROY, 0),
    ("c_death",            "Death",                2, 2,    BECOME_COPY, 0),
    ("c_temperance",       "Temperance",           0, 0,    SELL_VALUES, 50),
    ("c_devil",            "The Devil",            1, 1,    ENHANCE, cards.GOLD),
    ("c_tower",            "The Tower",            1, 1,    ENHANCE, cards.STONE),
    ("c_star",             "The Star",             1, 3,    SET_SUIT, cards.DIAMONDS),
    ("c_moon",             "The Moon",             1, 3,    SET_SUIT, cards.CLUBS),
    ("c_sun",              "The Sun",              1, 3,    SET_SUIT, cards.HEARTS),
    ("c_judgement",        "Judgement",            0, 0,    CREATE_JOKER, 0),
    ("c_world",            "The World",            1, 3,    SET_SUIT, cards.SPADES),
)  # fmt: skip
PLANETS = (
    ("c_mercury",          "Mercury",              0, 0,    LEVEL_UP, hands.PAIR),
    ("c_venus",            "Venus",                0, 0,    LEVEL_UP, hands.THREE_OF_A_KIND),
    ("c_earth",            "Earth",                0, 0,    LEVEL_UP, hands.FULL_HOUSE),
    ("c_mars",             "Mars",                 0, 0,    LEVEL_UP, hands.FOUR_OF_A_KIND),
    ("c_jupiter",          "Jupiter",              0, 0,    LEVEL_UP, hands.FLUSH),
    ("c_saturn",           "Saturn",               0, 0,    LEVEL_UP, hands.STRAIGHT),
    ("c_uranus",           "Uranus",               0, 0,    LEVEL_UP, hands.TWO_PAIR),
    ("c_neptune",          "Neptune",              0, 0,    LEVEL_UP, hands.STRAIGHT_FLUSH),
    ("c_pluto",            "Pluto",                0, 0,    LEVEL_UP, hands.HIGH_CARD),
    ("c_planet_x",         "Planet X",             0, 0,    LEVEL_UP, hands.FIVE_OF_A_KIND),
    ("c_ceres",            "Ceres",                0, 0,    LEVEL_UP, hands.FLUSH_HOUSE),
    ("c_eris",             "Eris",                 0, 0,    LEVEL_UP, hands.FLUSH_FIVE),
)  # fmt: skip
SPECTRALS = (
    ("c_familiar",         "Familiar",             0, 0,    CREATE_FACES, 3),
    ("c_grim",             "Grim",                 0, 0,    CREATE_ACES, 2),
    ("c_incantation",      "Incantation",          0, 0,    CREATE_NUMBERED, 4),
    ("c_talisman",         "Talisman",             1, 1,    SET_SEAL, cards.GOLD_SEAL),
    ("c_aura",             "Aura",                 1, 1,    ADD_EDITION, 0),
    ("c_wraith",           "Wraith",               0, 0,    CREATE_RARE, 0),
    ("c_sigil",            "Sigil",                0, 0,    ONE_SUIT, 0),
    ("c_ouija",            "Ouija",                0, 0,    ONE_RANK, -1),
    ("c_ectoplasm",        "Ectoplasm",            0, 0,    MAKE_NEGATIVE, -1),  # sources differ: -1 more with each use
    ("c_immolate",         "Immolate",             0, 0,    BURN, 20),
    ("c_ankh",             "Ankh",                 0, 0,    COPY_JOKER, 0),  # one source for the details
    ("c_deja_vu",          "Deja Vu",              1, 1,    SET_SEAL, cards.RED_SEAL),
    ("c_hex",              "Hex",                  0, 0,    MAKE_POLYCHROME, 0),
    ("c_trance",           "Trance",               1, 1,    SET_SEAL, cards.BLUE_SEAL),
    ("c_medium",           "Medium",               1, 1,    SET_SEAL, cards.PURPLE_SEAL),
    ("c_cryptid",          "Cryptid",              1, 1,    COPY_CARD, 2),
    ("c_soul",             "The Soul",             0, 0,    CREATE_LEGENDARY, 0),
    ("c_black_hole",       "Black Hole",           0, 0,    LEVEL_UP_ALL, 1),
)  # fmt: skip

ROWS = (("", "", 0, 0, NOTHING, 0), *TAROTS, *PLANETS, *SPECTRALS)
"""index 0 is no card"""
KEYS, NAMES = tuple(row[0] for row in ROWS), tuple(row[1] for row in ROWS)
LEAST, MOST, EFFECT, NUMBER = (np.array([row[column] for row in ROWS], np.int64) for column in range(2, 6))

FIRST_TAROT, FIRST_PLANET, FIRST_SPECTRAL = 1, 1 + len(TAROTS), 1 + len(TAROTS) + len(PLANETS)
FOOL, STRENGTH, PLUTO, INCANTATION, SOUL, BLACK_HOLE = (
    KEYS.index(key) for key in ("c_fool", "c_strength", "c_pluto", "c_incantation", "c_soul", "c_black_hole")
)
PLANET_OF = np.array(
    [1 + next(i for i, row in enumerate(ROWS[1:]) if row[4:] == (LEVEL_UP, hand)) for hand in range(hands.HANDS)]
)
"""the planet card of each poker hand"""
