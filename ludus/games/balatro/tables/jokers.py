# ruff: noqa: E501  (a joker is one line)
"""The 150 jokers, one row each: key, name, rarity, price, exclusions (b: cannot be copied by Blueprint, e: never
eternal, p: never perishable), effects. `start` is the initial value, `ends` the value at which the joker is removed,
`gate` the enhancement that some card of the deck must have before the joker is offered; a `rule` is a text only, and
the code that it concerns tests the bits in `tables/rules.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ludus.games.balatro.tables import cards
from ludus.games.balatro.tables.effects import (
    ACE_AND_STRAIGHT, ADD_SEALED, ADD_STONE, ALL_SUITS, BOSS_ACTED, BOSS_BEATEN, CARD_VALUE, CLUB_AND_OTHER,
    COPY_CONSUMABLE, COPY_PLAYED, CREATE_JOKERS, CREATE_SPECTRAL, CREATE_TAROT, DESTROY_DISCARDED, DESTROY_ITSELF,
    DESTROY_RANDOM, DESTROY_RIGHT, DESTROY_SIX, DISABLE_BOSS, DISCARDS_LEFT, DOUBLE_TAG, DUPLICATE_JOKER, EMPTY_SLOTS,
    ENHANCED_SCORED, FACE, FACE_SCORES, FAVOURITE, FIRST_AND_SINGLE, FIRST_DISCARD, FIRST_DISCARD_SINGLE,
    FIRST_SINGLE_SIX, FIVE_DOLLARS, GAIN_EVERY, GIFT, GILD_FACES, HELD_ALL_BLACK, IS_FIRST, IS_FIRST_FACE, IS_IDOL,
    IS_LISTED_HAND, IS_LOWEST, JOKERS, LAST_HAND, LEVEL_UP, MISPRINT, MISSING_CARDS, MONEY, NEW_LISTED_HAND, NINES,
    NO_DISCARDS, NO_DISCARDS_LEFT, NO_DISCARDS_USED, NO_FACE_SCORES, NOT_BOSS, NOT_FAVOURITE, OF_ANCIENT_SUIT,
    OF_CASTLE_SUIT, OF_MAIL_RANK, PILE, PLANET_USED, PLANETS_USED, PLAYED_AT_MOST, PLAYED_EXACTLY, PLAYED_THIS_ROUND,
    PLAYS, POOR, SELL_OF_OTHERS, SIXTEEN_ENHANCED, SIXTH_HAND, SKIPS, STATE, STEEL_CARDS, STONE_CARDS,
    STRIP_ENHANCEMENTS, TAROTS_USED, THREE_FACES, WAS_LUCKY, Ability, Condition, Effect, added, after, again, before,
    blind, cash_out, contains, destroyed, discard, discarded, enhanced, first_draw, held, held_again, main, owned,
    pack_opened, pack_skipped, played, ranks, react, refused, reroll, round_end, scored, shop_exit, sold, sold_self, suit, used,
)  # fmt: skip
from ludus.dsl import f64, i8, i16, i32
from ludus.dsl.rows import table

COMMON, UNCOMMON, RARE, LEGENDARY = 1, 2, 3, 4
NEVER = -1e9
"""`ends` of jokers that are never removed"""


class Joker(NamedTuple):
    """A row of the table."""

    key: str
    name: str
    rarity: int
    price: int
    lacks: str
    effects: tuple[Effect, ...]
    start: float
    ends: float
    gate: int
    rule: str


def joker(
    key: str, name: str, rarity: int, price: int, lacks: str, *abilities: Ability, start: float = 0.0,
    ends: float = NEVER, gate: int = 0, rule: str = "",
) -> Joker:  # fmt: skip
    return Joker(key, name, rarity, price, lacks, sum(abilities, ()), start, ends, gate, rule)


# fmt: off
ROWS = (
    joker("", "", 0, 0, ""),  # index 0 is no joker
    joker("j_joker",            "Joker",                  COMMON,    2, "",    main(mult=4)),
    joker("j_greedy_joker",     "Greedy Joker",           COMMON,    5, "",    scored(suit("D"), mult=3)),
    joker("j_lusty_joker",      "Lusty Joker",            COMMON,    5, "",    scored(suit("H"), mult=3)),
    joker("j_wrathful_joker",   "Wrathful Joker",         COMMON,    5, "",    scored(suit("S"), mult=3)),
    joker("j_gluttenous_joker", "Gluttonous Joker",       COMMON,    5, "",    scored(suit("C"), mult=3)),
    joker("j_jolly",            "Jolly Joker",            COMMON,    3, "",    main(contains("Pair"), mult=8)),
    joker("j_zany",             "Zany Joker",             COMMON,    4, "",    main(contains("Three of a Kind"), mult=12)),
    joker("j_mad",              "Mad Joker",              COMMON,    4, "",    main(contains("Two Pair"), mult=10)),
    joker("j_crazy",            "Crazy Joker",            COMMON,    4, "",    main(contains("Straight"), mult=12)),
    joker("j_droll",            "Droll Joker",            COMMON,    4, "",    main(contains("Flush"), mult=10)),
    joker("j_sly",              "Sly Joker",              COMMON,    3, "",    main(contains("Pair"), chips=50)),
    joker("j_wily",             "Wily Joker",             COMMON,    4, "",    main(contains("Three of a Kind"), chips=100)),
    joker("j_clever",           "Clever Joker",           COMMON,    4, "",    main(contains("Two Pair"), chips=80)),
    joker("j_devious",          "Devious Joker",          COMMON,    4, "",    main(contains("Straight"), chips=100)),
    joker("j_crafty",           "Crafty Joker",           COMMON,    4, "",    main(contains("Flush"), chips=80)),
    joker("j_half",             "Half Joker",             COMMON,    5, "",    main(Condition(PLAYED_AT_MOST, 3), mult=20)),
    joker("j_stencil",          "Joker Stencil",          UNCOMMON,  8, "",    main(xmult=1, per=EMPTY_SLOTS)),
    joker("j_four_fingers",     "Four Fingers",           UNCOMMON,  7, "b",   rule="flushes and straights need four cards only"),
    joker("j_mime",             "Mime",                   UNCOMMON,  5, "",    held_again(repeats=1)),
    joker("j_credit_card",      "Credit Card",            COMMON,    1, "b",   owned(debt=20)),
    joker("j_ceremonial",       "Ceremonial Dagger",      UNCOMMON,  6, "p",   blind(does=DESTROY_RIGHT, count=2), main(mult=1, per=STATE)),
    joker("j_banner",           "Banner",                 COMMON,    5, "",    main(chips=30, per=DISCARDS_LEFT)),
    joker("j_mystic_summit",    "Mystic Summit",          COMMON,    5, "",    main(NO_DISCARDS_LEFT, mult=15)),
    joker("j_marble",           "Marble Joker",           UNCOMMON,  6, "",    blind(does=ADD_STONE)),
    joker("j_loyalty_card",     "Loyalty Card",           UNCOMMON,  5, "",    main(SIXTH_HAND, xmult=4), played(gain=1)),
    joker("j_8_ball",           "8 Ball",                 COMMON,    5, "",    scored(ranks("8"), CREATE_TAROT, roll="8ball", odds=4, source="Tarot8ba@")),
    joker("j_misprint",         "Misprint",               COMMON,    4, "",    main(mult=1, per=MISPRINT)),
    joker("j_dusk",             "Dusk",                   UNCOMMON,  5, "",    again(LAST_HAND, repeats=1)),
    joker("j_raised_fist",      "Raised Fist",            COMMON,    5, "",    held(IS_LOWEST, mult=2, per=CARD_VALUE)),
    joker("j_chaos",            "Chaos the Clown",        COMMON,    4, "b",   owned(free_rerolls=1)),
    joker("j_fibonacci",        "Fibonacci",              UNCOMMON,  8, "",    scored(ranks("A2358"), mult=8)),
    joker("j_steel_joker",      "Steel Joker",            UNCOMMON,  7, "",    main(xmult=0.2, per=STEEL_CARDS, plus=1), gate=cards.STEEL),
    joker("j_scary_face",       "Scary Face",             COMMON,    4, "",    scored(FACE, chips=30)),
    joker("j_abstract",         "Abstract Joker",         COMMON,    4, "",    main(mult=3, per=JOKERS)),
    joker("j_delayed_grat",     "Delayed Gratification",  COMMON,    4, "b",   cash_out(NO_DISCARDS_USED, dollars=2, per=DISCARDS_LEFT)),
    joker("j_hack",             "Hack",                   UNCOMMON,  6, "",    again(ranks("2345"), repeats=1)),
    joker("j_pareidolia",       "Pareidolia",             UNCOMMON,  5, "b",   rule="every card is a face card"),
    joker("j_gros_michel",      "Gros Michel",            COMMON,    5, "e",   main(mult=15), round_end(does=DESTROY_ITSELF, roll="gros_michel", odds=6)),
    joker("j_even_steven",      "Even Steven",            COMMON,    4, "",    scored(ranks("2468T"), mult=4)),
    joker("j_odd_todd",         "Odd Todd",               COMMON,    4, "",    scored(ranks("A3579"), chips=31)),
    joker("j_scholar",          "Scholar",                COMMON,    4, "",    scored(ranks("A"), chips=20, mult=4)),
    joker("j_business",         "Business Card",          COMMON,    4, "",    scored(FACE, dollars=2, roll="business", odds=2)),
    joker("j_supernova",        "Supernova",              COMMON,    5, "",    main(mult=1, per=PLAYS)),
    joker("j_ride_the_bus",     "Ride the Bus",           COMMON,    6, "p",   before(NO_FACE_SCORES, gain=1), before(FACE_SCORES, set=0), main(mult=1, per=STATE)),
    joker("j_space",            "Space Joker",            UNCOMMON,  5, "",    before(does=LEVEL_UP, roll="space", odds=4)),
    joker("j_egg",              "Egg",                    COMMON,    4, "b",   round_end(sell_value=3)),
    joker("j_burglar",          "Burglar",                UNCOMMON,  6, "",    blind(hands=3), blind(does=NO_DISCARDS)),
    joker("j_blackboard",       "Blackboard",             UNCOMMON,  6, "",    main(HELD_ALL_BLACK, xmult=3)),
    joker("j_runner",           "Runner",                 COMMON,    5, "p",   before(contains("Straight"), gain=15), main(chips=1, per=STATE)),
    joker("j_ice_cream",        "Ice Cream",              COMMON,    5, "e",   main(chips=1, per=STATE), after(lose=5), start=100, ends=0),
    joker("j_dna",              "DNA",                    RARE,      8, "",    before(FIRST_AND_SINGLE, COPY_PLAYED)),  # one source
    joker("j_splash",           "Splash",                 COMMON,    3, "b",   rule="every played card scores"),
    joker("j_blue_joker",       "Blue Joker",             COMMON,    5, "",    main(chips=2, per=PILE)),
    joker("j_sixth_sense",      "Sixth Sense",            UNCOMMON,  6, "b",   after(FIRST_SINGLE_SIX, DESTROY_SIX, source="Spectralsixth@")),
    joker("j_constellation",    "Constellation",          UNCOMMON,  6, "p",   used(PLANET_USED, gain=0.1), main(xmult=1, per=STATE), start=1),
    joker("j_hiker",            "Hiker",                  UNCOMMON,  5, "",    scored(card_chips=5)),
    joker("j_faceless",         "Faceless Joker",         COMMON,    4, "",    discard(THREE_FACES, dollars=5)),
    joker("j_green_joker",      "Green Joker",            COMMON,    4, "p",   before(gain=1), discard(lose=1), main(mult=1, per=STATE)),
    joker("j_superposition",    "Superposition",          COMMON,    4, "",    main(ACE_AND_STRAIGHT, CREATE_TAROT, source="Tarotsup@")),  # one source
    joker("j_todo_list",        "To Do List",             COMMON,    4, "",    before(IS_LISTED_HAND, dollars=4), round_end(does=NEW_LISTED_HAND)),
    joker("j_cavendish",        "Cavendish",              COMMON,    4, "e",   main(xmult=3), round_end(does=DESTROY_ITSELF, roll="cavendish", odds=1000)),
    joker("j_card_sharp",       "Card Sharp",             UNCOMMON,  6, "",    main(PLAYED_THIS_ROUND, xmult=3)),
    joker("j_red_card",         "Red Card",               COMMON,    5, "p",   pack_skipped(gain=3), main(mult=1, per=STATE)),
    joker("j_madness",          "Madness",                UNCOMMON,  7, "p",   blind(NOT_BOSS, DESTROY_RANDOM, gain=0.5), main(xmult=1, per=STATE), start=1),
    joker("j_square",           "Square Joker",           COMMON,    4, "p",   before(Condition(PLAYED_EXACTLY, 4), gain=4), main(chips=1, per=STATE)),
    joker("j_seance",           "Seance",                 UNCOMMON,  6, "",    main(contains("Straight Flush"), CREATE_SPECTRAL, source="Spectralsea@")),  # one source
    joker("j_riff_raff",        "Riff-raff",              COMMON,    6, "",    blind(does=CREATE_JOKERS, count=2, source="Joker1rif@")),
    joker("j_vampire",          "Vampire",                UNCOMMON,  7, "p",   before(does=STRIP_ENHANCEMENTS, gain=0.1, per=ENHANCED_SCORED), main(xmult=1, per=STATE), start=1),
    joker("j_shortcut",         "Shortcut",               UNCOMMON,  7, "b",   rule="straights may have gaps of one rank"),
    joker("j_hologram",         "Hologram",               UNCOMMON,  7, "p",   added(gain=0.25), main(xmult=1, per=STATE), start=1),
    joker("j_vagabond",         "Vagabond",               RARE,      8, "",    main(POOR, CREATE_TAROT, source="Tarotvag@")),  # one source
    joker("j_baron",            "Baron",                  RARE,      8, "",    held(ranks("K"), xmult=1.5)),
    joker("j_cloud_9",          "Cloud 9",                UNCOMMON,  7, "b",   cash_out(dollars=1, per=NINES)),
    joker("j_rocket",           "Rocket",                 UNCOMMON,  6, "bp",  round_end(BOSS_BEATEN, gain=2), cash_out(dollars=1, per=STATE), start=1),
    joker("j_obelisk",          "Obelisk",                RARE,      8, "p",   before(NOT_FAVOURITE, gain=0.2), before(FAVOURITE, set=1), main(xmult=1, per=STATE), start=1),
    joker("j_midas_mask",       "Midas Mask",             UNCOMMON,  7, "b",   before(does=GILD_FACES)),  # one source
    joker("j_luchador",         "Luchador",               UNCOMMON,  5, "e",   sold_self(does=DISABLE_BOSS)),
    joker("j_photograph",       "Photograph",             COMMON,    5, "",    scored(IS_FIRST_FACE, xmult=2)),
    joker("j_gift",             "Gift Card",              UNCOMMON,  6, "b",   round_end(does=GIFT)),
    joker("j_turtle_bean",      "Turtle Bean",            UNCOMMON,  6, "be",  owned(hand_size=1, per=STATE), round_end(lose=1), start=5, ends=0),
    joker("j_erosion",          "Erosion",                UNCOMMON,  6, "",    main(mult=4, per=MISSING_CARDS)),
    joker("j_reserved_parking", "Reserved Parking",       COMMON,    6, "",    held(FACE, dollars=1, roll="parking", odds=2)),
    joker("j_mail",             "Mail-In Rebate",         COMMON,    4, "",    discarded(OF_MAIL_RANK, dollars=5)),
    joker("j_to_the_moon",      "To the Moon",            UNCOMMON,  5, "b",   owned(interest=1)),
    joker("j_hallucination",    "Hallucination",          COMMON,    4, "",    pack_opened(does=CREATE_TAROT, roll="halu@", odds=2, source="Tarothal@")),
    joker("j_fortune_teller",   "Fortune Teller",         COMMON,    6, "",    main(mult=1, per=TAROTS_USED)),
    joker("j_juggler",          "Juggler",                COMMON,    4, "b",   owned(hand_size=1)),
    joker("j_drunkard",         "Drunkard",               COMMON,    4, "b",   owned(discards=1)),
    joker("j_stone",            "Stone Joker",            UNCOMMON,  6, "",    main(chips=25, per=STONE_CARDS), gate=cards.STONE),
    joker("j_golden",           "Golden Joker",           COMMON,    6, "b",   cash_out(dollars=4)),
    joker("j_lucky_cat",        "Lucky Cat",              UNCOMMON,  6, "p",   scored(WAS_LUCKY, gain=0.25), main(xmult=1, per=STATE), start=1, gate=cards.LUCKY),
    joker("j_baseball",         "Baseball Card",          RARE,      8, "",    react(xmult=1.5)),
    joker("j_bull",             "Bull",                   UNCOMMON,  6, "",    main(chips=2, per=MONEY)),  # one source
    joker("j_diet_cola",        "Diet Cola",              UNCOMMON,  6, "e",   sold_self(does=DOUBLE_TAG)),
    joker("j_trading",          "Trading Card",           UNCOMMON,  6, "b",   discard(FIRST_DISCARD_SINGLE, DESTROY_DISCARDED, dollars=3)),
    joker("j_flash",            "Flash Card",             UNCOMMON,  5, "p",   reroll(gain=2), main(mult=1, per=STATE)),
    joker("j_popcorn",          "Popcorn",                COMMON,    5, "e",   main(mult=1, per=STATE), round_end(lose=4), start=20, ends=0),
    joker("j_trousers",         "Spare Trousers",         UNCOMMON,  6, "p",   before(contains("Two Pair"), gain=2), main(mult=1, per=STATE)),
    joker("j_ancient",          "Ancient Joker",          RARE,      8, "",    scored(OF_ANCIENT_SUIT, xmult=1.5)),
    joker("j_ramen",            "Ramen",                  UNCOMMON,  6, "e",   discarded(lose=0.01), main(xmult=1, per=STATE), start=2, ends=1),
    joker("j_walkie_talkie",    "Walkie Talkie",          COMMON,    4, "",    scored(ranks("T4"), chips=10, mult=4)),
    joker("j_selzer",           "Seltzer",                UNCOMMON,  6, "e",   again(repeats=1), after(lose=1), start=10, ends=0),
    joker("j_castle",           "Castle",                 UNCOMMON,  6, "p",   discarded(OF_CASTLE_SUIT, gain=3), main(chips=1, per=STATE)),
    joker("j_smiley",           "Smiley Face",            COMMON,    4, "",    scored(FACE, mult=5)),
    joker("j_campfire",         "Campfire",               RARE,      9, "",    sold(gain=0.25), round_end(BOSS_BEATEN, set=1), main(xmult=1, per=STATE), start=1),
    joker("j_ticket",           "Golden Ticket",          COMMON,    5, "",    scored(enhanced(cards.GOLD), dollars=4), gate=cards.GOLD),
    joker("j_mr_bones",         "Mr. Bones",              UNCOMMON,  5, "be",  rule="a quarter of the score is enough to survive, once"),
    joker("j_acrobat",          "Acrobat",                UNCOMMON,  6, "",    main(LAST_HAND, xmult=3)),
    joker("j_sock_and_buskin",  "Sock and Buskin",        UNCOMMON,  6, "",    again(FACE, repeats=1)),
    joker("j_swashbuckler",     "Swashbuckler",           COMMON,    4, "",    main(mult=1, per=SELL_OF_OTHERS)),  # one source
    joker("j_troubadour",       "Troubadour",             UNCOMMON,  6, "b",   owned(hand_size=2, hands=-1)),
    joker("j_certificate",      "Certificate",            UNCOMMON,  6, "",    first_draw(does=ADD_SEALED)),
    joker("j_smeared",          "Smeared Joker",          UNCOMMON,  7, "b",   rule="hearts are diamonds, spades are clubs"),
    joker("j_throwback",        "Throwback",              UNCOMMON,  6, "",    main(xmult=0.25, per=SKIPS, plus=1)),
    joker("j_hanging_chad",     "Hanging Chad",           COMMON,    4, "",    again(IS_FIRST, repeats=2)),
    joker("j_rough_gem",        "Rough Gem",              UNCOMMON,  7, "",    scored(suit("D"), dollars=1)),
    joker("j_bloodstone",       "Bloodstone",             UNCOMMON,  7, "",    scored(suit("H"), xmult=1.5, roll="bloodstone", odds=2)),
    joker("j_arrowhead",        "Arrowhead",              UNCOMMON,  7, "",    scored(suit("S"), chips=50)),
    joker("j_onyx_agate",       "Onyx Agate",             UNCOMMON,  7, "",    scored(suit("C"), mult=7)),
    joker("j_glass",            "Glass Joker",            UNCOMMON,  6, "p",   destroyed(enhanced(cards.GLASS), gain=0.75), main(xmult=1, per=STATE), start=1, gate=cards.GLASS),
    joker("j_ring_master",      "Showman",                UNCOMMON,  5, "b",   rule="what exists may appear again"),
    joker("j_flower_pot",       "Flower Pot",             UNCOMMON,  6, "",    main(ALL_SUITS, xmult=3)),
    joker("j_blueprint",        "Blueprint",              RARE,      10, "",    rule="does what the joker to its right does"),
    joker("j_wee",              "Wee Joker",              RARE,      8, "p",   scored(ranks("2"), gain=8), main(chips=1, per=STATE)),
    joker("j_merry_andy",       "Merry Andy",             UNCOMMON,  7, "b",   owned(discards=3, hand_size=-1)),
    joker("j_oops",             "Oops! All 6s",           UNCOMMON,  4, "b",   rule="every chance is doubled"),
    joker("j_idol",             "The Idol",               UNCOMMON,  6, "",    scored(IS_IDOL, xmult=2)),
    joker("j_seeing_double",    "Seeing Double",          UNCOMMON,  6, "",    main(CLUB_AND_OTHER, xmult=2)),
    joker("j_matador",          "Matador",                UNCOMMON,  7, "",    main(BOSS_ACTED, dollars=8), refused(dollars=8)),  # one source
    joker("j_hit_the_road",     "Hit the Road",           RARE,      8, "",    discarded(ranks("J"), gain=0.5), round_end(set=1), main(xmult=1, per=STATE), start=1),
    joker("j_duo",              "The Duo",                RARE,      8, "",    main(contains("Pair"), xmult=2)),
    joker("j_trio",             "The Trio",               RARE,      8, "",    main(contains("Three of a Kind"), xmult=3)),
    joker("j_family",           "The Family",             RARE,      8, "",    main(contains("Four of a Kind"), xmult=4)),
    joker("j_order",            "The Order",              RARE,      8, "",    main(contains("Straight"), xmult=3)),
    joker("j_tribe",            "The Tribe",              RARE,      8, "",    main(contains("Flush"), xmult=2)),
    joker("j_stuntman",         "Stuntman",               RARE,      7, "",    main(chips=250), owned(hand_size=-2)),
    joker("j_invisible",        "Invisible Joker",        RARE,      8, "be",  round_end(gain=1), sold_self(does=DUPLICATE_JOKER)),  # one source
    joker("j_brainstorm",       "Brainstorm",             RARE,      10, "",    rule="does what the leftmost joker does"),
    joker("j_satellite",        "Satellite",              UNCOMMON,  6, "b",   cash_out(dollars=1, per=PLANETS_USED)),
    joker("j_shoot_the_moon",   "Shoot the Moon",         COMMON,    5, "",    held(ranks("Q"), mult=13)),
    joker("j_drivers_license",  "Driver's License",       RARE,      7, "",    main(SIXTEEN_ENHANCED, xmult=3)),
    joker("j_cartomancer",      "Cartomancer",            UNCOMMON,  6, "",    blind(does=CREATE_TAROT, source="Tarotcar@")),
    joker("j_astronomer",       "Astronomer",             UNCOMMON,  8, "b",   rule="planets and celestial packs are free"),
    joker("j_burnt",            "Burnt Joker",            RARE,      8, "",    discard(FIRST_DISCARD, LEVEL_UP)),
    joker("j_bootstraps",       "Bootstraps",             UNCOMMON,  7, "",    main(mult=2, per=FIVE_DOLLARS)),  # one source
    joker("j_caino",            "Canio",                  LEGENDARY, 20, "",    destroyed(FACE, gain=1), main(xmult=1, per=STATE), start=1),
    joker("j_triboulet",        "Triboulet",              LEGENDARY, 20, "",    scored(ranks("KQ"), xmult=2)),
    joker("j_yorick",           "Yorick",                 LEGENDARY, 20, "",    discarded(does=GAIN_EVERY, count=23), main(xmult=1, per=STATE), start=1),
    joker("j_chicot",           "Chicot",                 LEGENDARY, 20, "b",   rule="no boss has an effect"),
    joker("j_perkeo",           "Perkeo",                 LEGENDARY, 20, "",    shop_exit(does=COPY_CONSUMABLE)),)
# fmt: on

KEYS, NAMES = tuple(row.key for row in ROWS), tuple(row.name for row in ROWS)
JOKERS_IN_ALL = len(ROWS) - 1
RARITY, PRICE, GATE = (np.array([row[column] for row in ROWS], np.int64) for column in (2, 3, 8))
START, ENDS = (np.array([row[column] for row in ROWS], np.float64) for column in (6, 7))
COPIED, CAN_BE_ETERNAL, CAN_PERISH = (np.array([letter not in row.lacks for row in ROWS]) for letter in "bep")

EFFECTS = table(
    [(e.when, *e.condition, e.does, e.number, e.per, e.plus, e.stream, e.odds, e.source)
     for row in ROWS for e in row.effects],
    when=i8, condition=i8, about=i32, does=i8, number=f64, per=i8, plus=f64, stream=i16, odds=i16, source=i16,
)  # fmt: skip
"""the effects of all jokers, grouped by joker"""
LAST = np.cumsum([len(row.effects) for row in ROWS])
FIRST = LAST - np.array([len(row.effects) for row in ROWS])
"""joker j has the effects FIRST[j] .. LAST[j] - 1"""
ACTS = np.array([sum({1 << effect.when for effect in row.effects}) for row in ROWS], np.int64)
"""bits of the moments at which a joker acts"""
POOLS = np.zeros((5, 64), np.int64)
"""[rarity, index] the jokers of a rarity, in order"""
for _rarity in range(1, 5):
    POOLS[_rarity, : np.sum(RARITY == _rarity)] = np.flatnonzero(RARITY == _rarity)
POOL_SIZES = np.array([int(np.sum(RARITY[1:] == rarity)) for rarity in range(5)])


def number_of(key: str) -> int:
    """The index of a joker by its key."""
    return KEYS.index(key)


JOKER, BLUEPRINT, BRAINSTORM, GROS_MICHEL, CAVENDISH, STENCIL, MR_BONES = map(
    number_of, ("j_joker", "j_blueprint", "j_brainstorm", "j_gros_michel", "j_cavendish", "j_stencil", "j_mr_bones")
)
