"""Debuffed playing cards: lost effects, what still counts them, and when a boss debuffs or frees a card."""

import itertools

import numpy as np
import pytest
from joker_table import HANDS_LEFT, earned, owning
from table import ACTIONS, LATER, Table

from ludus.games.balatro.state import CONSUMABLE
from ludus.games.balatro.tables import blinds, cards, consumables, hands, packs
from ludus.pool import Pool

PLAYED = cards.PLAYED_THIS_ANTE


def mark(table, number, **fields):
    """Change fields of one card; in a dealt hand, cards are numbered from 0."""
    for field, value in fields.items():
        table.state["cards"][number][field] = value
    return table.set()


def debuffed(table, count=52):
    """The numbers of the cards that are debuffed."""
    return np.flatnonzero(table["cards"]["flags"][:count] & cards.DEBUFFED).tolist()


def under(key, text, wanted):
    """Go to a blind with these jokers and this hand, debuffed by the boss."""
    table, names = owning(text).face(key), wanted.split()
    for number, name in enumerate(names):
        mark(table, number, rank=cards.RANKS.index(name[0]), suit=cards.SUITS.index(name[1]))
    table.do("select blind")
    hand, pile = table["hand"].copy(), table["pile"].copy()
    hand[: len(names)], pile[: 52 - len(names)] = range(len(names)), range(len(names), 52)
    return table.set(hand=hand, hand_count=len(names), pile=pile, pile_count=52 - len(names), required=LATER)


# No property of a debuffed card has an effect. Verdant Leaf debuffs all cards; one of them differs from row to row, and
# nothing else may differ afterwards: no score, no money, no random number, no consumable.
KINDS = [
    kind
    for kind in itertools.product(range(len(cards.ENHANCEMENTS)), range(cards.NEGATIVE), range(len(cards.SEALS)))
    if kind[0] != cards.STONE  # has no rank, so that it makes other poker hands
]
LOOKING = "mime hanging_chad ticket business hiker reserved_parking glass"
ENDINGS = {
    "scored": ["play 1"],
    "held": ["play 2"],
    "held at the end": ["win", "play 2"],
    "discarded": ["discard 1"],
    "scored at the end": ["win", "play 1"],
}


@pytest.mark.parametrize("names", ENDINGS.values(), ids=ENDINGS)
def test_nothing_on_a_debuffed_card_has_an_effect(names):
    table = owning(LOOKING).face("bl_final_leaf").deal("KS QS", flags=cards.DEBUFFED)
    states = np.repeat(table.pool.states, len(KINDS))
    if names[0] == "win":
        states["required"] = 1
    for state, (enhancement, edition, seal) in zip(states, KINDS, strict=True):
        card = state["cards"][0]
        card["enhancement"], card["edition"], card["seal"], card["chips"] = enhancement, edition, seal, 50
    pool = Pool("balatro(seed=7LB2WVPK, actions=all)", len(KINDS), threads=1)
    pool.put(states)
    for name in names:
        if name != "win":
            pool.advance([ACTIONS[name]] * len(KINDS))
    for field in set(states.dtype.names) - {"cards", "key"}:
        assert len({row.tobytes() for row in pool.states[field]}) == 1, field
    pool.close()


@pytest.mark.parametrize(
    ("text", "enhancement", "held", "score"),
    [
        # A single card makes 5 x 1; a pair of debuffed jacks makes 10 x 2.
        ("scary_face", 0, "", 10 * 2), ("smiley", 0, "", 10 * 2), ("photograph", 0, "", 10 * 2),
        ("sock_and_buskin", cards.BONUS, "", 10 * 2), ("triboulet", 0, "", 10 * 2), ("hack", 0, "", 10 * 2),
        ("onyx_agate", 0, "", 10 * 2), ("idol", 0, "", 10 * 2), ("ancient", 0, "", 10 * 2),
        ("duo", 0, "", 10 * 4), ("jolly", 0, "", 10 * 10), ("ride_the_bus", 0, "", 10 * 3),  # no face has scored
        ("blackboard", cards.WILD, "9C", 10 * 6), ("blackboard", cards.WILD, "9H", 10 * 2),
        ("baron", 0, "KC", 10 * 2), ("shoot_the_moon", 0, "QC", 10 * 2), ("raised_fist", 0, "9C", 10 * 2),
        ("pareidolia scary_face", 0, "", 10 * 2),
    ],
)  # fmt: skip
def test_effects_of_jokers_on_debuffed_cards(text, enhancement, held, score):
    table = owning(text).face("bl_final_leaf").deal(f"JC JC {held}", flags=cards.DEBUFFED, enhancement=enhancement)
    table.set(idol_rank=cards.JACK, idol_suit=cards.CLUBS, ancient_suit=cards.CLUBS)
    assert table.do("play 1,2")["score"] == score


@pytest.mark.parametrize(
    ("text", "enhancement", "score"),
    [
        ("steel_joker", cards.STEEL, 10 * 2 * (1 + 16 * 0.2)), ("stone", cards.STONE, (10 + 16 * 25) * 2),
        ("drivers_license", cards.LUCKY, 10 * 2 * 3),
    ],
)  # fmt: skip
def test_jokers_that_count_cards_of_the_deck_count_debuffed_ones(text, enhancement, score):
    table = owning(text).face("bl_final_leaf").deal("JC JC", flags=cards.DEBUFFED)
    for number in range(2, 18):
        mark(table, number, enhancement=enhancement)
    assert table.do("play 1,2")["score"] == score


def test_cloud_9_counts_debuffed_nines():
    table = owning("cloud_9").face("bl_final_leaf").do("select blind").set(required=1, money=0).do("play 1")
    assert table["pay"] == 8 + HANDS_LEFT + 4


@pytest.mark.parametrize(
    ("enhancement", "score"),
    [(0, (30 + 9 + 7 + 6 + 5) * 4 * 3), (cards.WILD, (30 + 9 + 7 + 6 + 5) * 4)],
)
def test_flower_pot_counts_a_debuffed_club_but_not_a_debuffed_wild_card(enhancement, score):
    table = mark(owning("flower_pot").face("bl_club"), 1, enhancement=enhancement).deal("9H 8C 7S 6D 5H")
    assert mark(table, 1, flags=cards.DEBUFFED).do("play 1,2,3,4,5")["score"] == score


@pytest.mark.parametrize(
    ("text", "hand", "count", "field", "change"),
    [
        ("mail", "KS", 1, "money", 0), ("faceless", "KS KH KD", 3, "money", 0), ("trading", "KS", 1, "money", 3),
        ("trading", "KS", 1, "card_count", -1), ("castle", "KS", 1, "value", 0), ("hit_the_road", "JS", 1, "value", 0),
        ("ramen", "KS QS", 2, "value", -0.02), ("green_joker", "KS QS", 2, "value", -1),
        ("burnt", "KS KH", 2, "level", 1), ("yorick", "KS", 1, "counter", 1), ("joker", "KS", 1, "consumable_count", 0),
    ],
)  # fmt: skip
def test_effects_of_discarded_debuffed_cards(text, hand, count, field, change):
    table = owning(text).face("bl_final_leaf").deal(f"{hand} 2S", flags=cards.DEBUFFED, seal=cards.PURPLE_SEAL)
    table.set(mail_rank=cards.KING, castle_suit=cards.SPADES, money=10)
    if text == "green_joker":
        table.state["jokers"][0]["value"] = 3

    def found():
        if field in ("value", "counter"):
            return float(table["jokers"][0][field])
        return int(table["levels"][hands.PAIR] if field == "level" else table[field])

    before = found()
    table.do("discard " + ",".join(str(place + 1) for place in range(count)))
    assert found() - before == pytest.approx(change)


@pytest.mark.parametrize(("text", "kept"), [("sixth_sense", 1), ("superposition", 1), ("8_ball", 0), ("seance", 0)])
def test_a_debuffed_card_keeps_its_rank_where_a_joker_looks_at_the_hand(text, kept):
    hand = {"sixth_sense": "6S", "8_ball": "8S"}.get(text, "AS 2H 3D 4C 5S")
    table = owning(f"{text} oops oops").face("bl_final_leaf").deal(hand, flags=cards.DEBUFFED)
    table.do("play " + ",".join(str(place + 1) for place in range(len(hand.split()))))
    assert len(table.kept()) == kept


def test_debuffed_glass_that_is_destroyed_counts_for_glass_joker():
    for name in ("use consumable 1 on 1", "discard 1"):
        table = owning("glass trading").keep("c_hanged_man").face("bl_final_leaf")
        table.deal("KS AH", flags=cards.DEBUFFED, enhancement=cards.GLASS).do(name)
        assert table.value() == 1.75


def test_a_debuffed_face_that_is_destroyed_does_not_count_for_canio():
    table = owning("caino").keep("c_hanged_man").face("bl_final_leaf").deal("KS AH", flags=cards.DEBUFFED)
    assert table.do("use consumable 1 on 1").value() == 1


# Copies.


@pytest.mark.parametrize(("flags", "score"), [(0, (5 + 10) * 1.5), (cards.DEBUFFED, 5), (cards.DEBUFFED | PLAYED, 5)])
def test_the_copy_that_dna_makes_is_debuffed_like_the_card(flags, score):
    table = owning("dna").face("bl_pillar").deal("KS 2H", enhancement=cards.STEEL)
    table = mark(mark(table, 1, enhancement=0), 0, flags=flags).do("play 1")
    assert table["score"] == int(score)
    assert table["cards"][52]["flags"] == flags & cards.DEBUFFED | PLAYED


def test_a_copy_of_a_debuffed_card_does_nothing_when_it_is_played():
    table = mark(owning("dna").deal("KS 2H"), 0, flags=cards.DEBUFFED).do("play 1")
    place = next(place for place in range(table["hand_count"]) if table["hand"][place] == 52)
    assert table.do(f"play {place + 1}")["tally"]["score"] == 5


def test_cryptid_copies_whether_a_card_was_played_this_ante():
    table = Table().keep("c_cryptid").deal("KS 2H")
    mark(table, 0, flags=PLAYED).do("use consumable 1 on 1")
    assert [int(flags) for flags in table["cards"]["flags"][52:54]] == [PLAYED, PLAYED]


@pytest.mark.parametrize(("left", "right"), [(0, PLAYED), (PLAYED, 0)])
def test_death_copies_whether_a_card_was_played_this_ante(left, right):
    table = Table().keep("c_death").face("bl_pillar").deal("KS 2H")
    mark(mark(table, 0, flags=left), 1, flags=right).do("use consumable 1 on 1,2")
    assert table["cards"]["flags"][0] == (right | cards.DEBUFFED if right else 0)


# A changed card is checked for debuffs again.


@pytest.mark.parametrize(
    ("key", "consumable", "card", "before", "after"),
    [
        ("bl_window", "c_lovers", "8C", False, True), ("bl_window", "c_star", "9C", False, True),
        ("bl_window", "c_sun", "9D", True, False), ("bl_window", "c_tower", "9D", True, False),
        ("bl_window", "c_chariot", "9D", True, True), ("bl_plant", "c_strength", "TS", False, True),
        ("bl_plant", "c_strength", "KS", True, False), ("bl_plant", "c_tower", "KS", True, False),
    ],
)  # fmt: skip
def test_a_card_that_a_tarot_changes_is_debuffed_or_freed_at_once(key, consumable, card, before, after):
    table = under(key, "", f"{card} 2H")
    assert (0 in debuffed(table)) == before
    assert (0 in debuffed(table.keep(consumable).do("use consumable 1 on 1"))) == after


@pytest.mark.parametrize(("consumable", "flags"), [("c_chariot", 0), ("c_sun", PLAYED), ("c_deja_vu", PLAYED)])
def test_only_a_new_enhancement_makes_the_pillar_forget_a_card(consumable, flags):
    table = Table().keep(consumable).deal("KS 2H")
    mark(table, 0, flags=PLAYED).do("use consumable 1 on 1")
    assert table["cards"]["flags"][0] == flags


@pytest.mark.parametrize(("text", "flags"), [("vampire", [0, PLAYED]), ("midas_mask", [0, 0]), ("joker", [PLAYED] * 2)])
def test_cards_that_jokers_enhance_or_strip_count_as_not_played(text, flags):
    table = mark(owning(text).deal("KS KH 2D"), 0, enhancement=cards.BONUS).do("play 1,2")
    assert table["cards"]["flags"][:2].tolist() == flags


@pytest.mark.parametrize(("key", "score"), [("bl_small", (5 + 10) * 1.1), ("bl_club", 5 * 1.1), ("bl_plant", 5 * 1.1)])
def test_a_stone_that_vampire_strips_is_debuffed_before_it_scores(key, score):
    table = owning("vampire").face(key).deal("KC 2H", enhancement=cards.STONE).do("play 1")
    assert table["score"] == int(score)


@pytest.mark.parametrize(
    ("key", "text", "hand", "before", "after"),
    [
        ("bl_head", "smeared", "9H 9D 9S", [0, 1], [0]), ("bl_plant", "pareidolia", "KH 9D 9S", [0, 1, 2], [0]),
        ("bl_head", "egg", "9H 9D 9S", [0], [0]),
    ],
)  # fmt: skip
def test_a_joker_that_is_sold_no_longer_changes_what_is_debuffed(key, text, hand, before, after):
    table = under(key, text, hand)
    assert debuffed(table, 3) == before
    assert debuffed(table.do("sell joker 1"), 3) == after


@pytest.mark.parametrize(("text", "after"), [("smeared egg", [0]), ("egg smeared", [0, 1])])
def test_a_joker_that_a_spectral_card_destroys_no_longer_changes_what_is_debuffed(text, after):
    # Hex keeps the only joker without an edition.
    table = under("bl_head", text, "9H 9D 9S").keep("c_hex")
    table.state["jokers"][0]["edition"] = cards.FOIL
    assert debuffed(table.do("use consumable 1"), 3) == after


def test_the_stone_of_marble_joker_comes_after_verdant_leaf_has_looked_at_the_deck():
    table = owning("marble").face("bl_final_leaf").do("select blind")
    assert debuffed(table, 53) == list(range(52))


@pytest.mark.parametrize("key", ["bl_plant", "bl_final_leaf"])
def test_before_a_boss_is_met_no_card_is_debuffed(key):
    table = owning("caino").face("bl_big").deal("AS", required=1).do("play 1", "cash out")
    table.set(money=50, packs=[packs.NAMES.index("Arcana mega"), 0], blind=blinds.FIRST_BOSS)
    table.set(boss=blinds.KEYS.index(key)).do("open pack 1")
    for place, consumable in enumerate(("c_chariot", "c_hanged_man")):
        item = table.state["pack"][place]
        item["kind"], item["number"] = CONSUMABLE, consumables.KEYS.index(consumable)
    mark(table, int(table["hand"][0]), rank=cards.KING).do("pick 1 on 2")
    assert debuffed(table) == []
    assert table.do("pick 1 on 1").value() == 2  # a king was destroyed


# Matador is paid for debuffed cards that score, and for nothing else about debuffed cards.


@pytest.mark.parametrize(
    ("key", "hand", "play", "money"),
    [
        ("bl_club", "9C 2S", "play 1", 8), ("bl_club", "AS 9C", "play 1,2", 0), ("bl_plant", "KS 2S", "play 1", 8),
        ("bl_plant", "9S 2S", "play 1", 0), ("bl_final_leaf", "9S 2S", "play 1", 8), ("bl_head", "9S 2S", "play 1", 0),
    ],
)  # fmt: skip
def test_matador_is_paid_for_debuffed_cards_that_score(key, hand, play, money):
    assert earned(under(key, "matador", hand), play) == money


def test_a_debuffed_matador_is_not_paid():
    table = owning("matador", debuffed=1).face("bl_flint").deal("9S 2S", required=LATER)
    assert earned(table, "play 1") == 0
