"""Vouchers, in pairs: the second of a pair requires the first. Each adds to a value or sets it."""

import numpy as np

(
    NOTHING, SHELF, DISCOUNT, EDITION_RATE, REROLL_COST, CONSUMABLE_SLOTS, OMENS, TELESCOPE, OBSERVATORY, HANDS,
    DISCARDS, TAROT_RATE, PLANET_RATE, INTEREST_CAP, JOKER_SLOTS, CARD_RATE, ILLUSION, ANTE_AND_HAND,
    ANTE_AND_DISCARD, BOSS_REROLLS, HAND_SIZE,
) = range(21)  # fmt: skip

#    key                  name                what it changes, number
ROWS = (
    ("v_overstock_norm",  "Overstock",        SHELF, 1),
    ("v_overstock_plus",  "Overstock Plus",   SHELF, 1),
    ("v_clearance_sale",  "Clearance Sale",   DISCOUNT, 25),
    ("v_liquidation",     "Liquidation",      DISCOUNT, 50),
    ("v_hone",            "Hone",             EDITION_RATE, 2),
    ("v_glow_up",         "Glow Up",          EDITION_RATE, 4),
    ("v_reroll_surplus",  "Reroll Surplus",   REROLL_COST, -2),
    ("v_reroll_glut",     "Reroll Glut",      REROLL_COST, -2),
    ("v_crystal_ball",    "Crystal Ball",     CONSUMABLE_SLOTS, 1),
    ("v_omen_globe",      "Omen Globe",       OMENS, 1),
    ("v_telescope",       "Telescope",        TELESCOPE, 1),
    ("v_observatory",     "Observatory",      OBSERVATORY, 1),
    ("v_grabber",         "Grabber",          HANDS, 1),
    ("v_nacho_tong",      "Nacho Tong",       HANDS, 1),
    ("v_wasteful",        "Wasteful",         DISCARDS, 1),
    ("v_recyclomancy",    "Recyclomancy",     DISCARDS, 1),
    ("v_tarot_merchant",  "Tarot Merchant",   TAROT_RATE, 9.6),
    ("v_tarot_tycoon",    "Tarot Tycoon",     TAROT_RATE, 32),
    ("v_planet_merchant", "Planet Merchant",  PLANET_RATE, 9.6),
    ("v_planet_tycoon",   "Planet Tycoon",    PLANET_RATE, 32),
    ("v_seed_money",      "Seed Money",       INTEREST_CAP, 10),
    ("v_money_tree",      "Money Tree",       INTEREST_CAP, 20),
    ("v_blank",           "Blank",            NOTHING, 0),
    ("v_antimatter",      "Antimatter",       JOKER_SLOTS, 1),
    ("v_magic_trick",     "Magic Trick",      CARD_RATE, 4),
    ("v_illusion",        "Illusion",         ILLUSION, 4),
    ("v_hieroglyph",      "Hieroglyph",       ANTE_AND_HAND, -1),
    ("v_petroglyph",      "Petroglyph",       ANTE_AND_DISCARD, -1),
    ("v_directors_cut",   "Director's Cut",   BOSS_REROLLS, 1),
    ("v_retcon",          "Retcon",           BOSS_REROLLS, 100),
    ("v_paint_brush",     "Paint Brush",      HAND_SIZE, 1),
    ("v_palette",         "Palette",          HAND_SIZE, 1),
)  # fmt: skip
KEYS, NAMES = tuple(row[0] for row in ROWS), tuple(row[1] for row in ROWS)
VOUCHERS, PRICE = len(ROWS), 10
EFFECT, NUMBER = np.array([row[2] for row in ROWS], np.int64), np.array([row[3] for row in ROWS], np.float64)
BLANK, OMEN_GLOBE, ILLUSION_VOUCHER = (KEYS.index(key) for key in ("v_blank", "v_omen_globe", "v_illusion"))
