"""Jokers that destroy others, are used up, save a run or disable a boss."""

import pytest
from joker_table import beat, go_on, own, owning

from ludus.dsl import OVER, PLAYING
from ludus.games.balatro import generation, holdings
from ludus.games.balatro.tables import blinds, cards, jokers


def test_ceremonial_dagger_takes_the_joker_to_its_right_and_no_other():
    table = owning("egg ceremonial blueprint golden half").do("select blind")
    assert (table.owned(), table.value(1)) == (["j_egg", "j_ceremonial", "j_golden", "j_half"], 2 * 5)


def test_ceremonial_dagger_spares_eternal_jokers_and_needs_one():
    table = own(owning("ceremonial"), "j_egg", stickers=cards.ETERNAL).do("select blind")
    assert (table.owned(), table.value()) == (["j_ceremonial", "j_egg"], 0)
    table = owning("egg ceremonial").do("select blind")
    assert (table.owned(), table.value(1)) == (["j_egg", "j_ceremonial"], 0)


@pytest.mark.parametrize("text", ["madness egg golden half", "egg golden half madness", "egg madness golden half"])
def test_madness_grows_and_destroys_one_joker(text):
    table = owning(text).do("select blind")
    assert (len(table.owned()), table.value(table.owned().index("j_madness"))) == (3, 1.5)


def test_madness_rests_before_a_boss():
    table = owning("madness egg").face("bl_wall").do("select blind")
    assert (table.owned(), table.value()) == (["j_madness", "j_egg"], 1.0)


def test_madness_grows_beside_eternal_jokers_and_destroys_none():
    table = own(owning("madness"), "j_egg", stickers=cards.ETERNAL).do("select blind")
    assert (table.owned(), table.value()) == (["j_madness", "j_egg"], 1.5)


def test_a_joker_behind_one_that_destroys_still_acts():
    table = owning("ceremonial egg cartomancer marble").do("select blind")
    assert table.owned() == ["j_ceremonial", "j_cartomancer", "j_marble"]
    assert (len(table.kept()), table["card_count"]) == (1, 53)


def test_gros_michel_may_go_at_the_end_of_a_round_and_cavendish_comes_after_it():
    table = owning("gros_michel oops oops oops")  # 8 in 6
    numbers = [jokers.number_of(key) for key in ("j_gros_michel", "j_cavendish")]
    table.set(joker_count=0)
    assert [bool(generation.joker_is_available(table.state, number)) for number in numbers] == [True, False]
    beat(table.set(joker_count=4))
    assert table.owned() == ["j_oops"] * 3
    assert [bool(generation.joker_is_available(table.state, number)) for number in numbers] == [False, True]


def test_gros_michel_often_stays_and_cavendish_nearly_always():
    table = owning("gros_michel cavendish")
    gone = 0
    for _ in range(12):
        go_on(beat(table))
        assert "j_cavendish" in table.owned()
        if "j_gros_michel" not in table.owned():
            gone += 1
            own(table, "j_gros_michel")
    assert 1 <= gone <= 5


@pytest.mark.parametrize(
    ("key", "full", "then", "last", "moment"),
    [
        ("ice_cream", 100, 95, 5, "hand"), ("selzer", 10, 9, 1, "hand"), ("popcorn", 20, 16, 4, "round"),
        ("turtle_bean", 5, 4, 1, "round"), ("ramen", 2, 1.97, 1.03, "discard"),
    ],
)  # fmt: skip
def test_food_is_eaten_up(key, full, then, last, moment):
    def eat(table):
        if moment == "round":
            return beat(table)
        return table.deal("AS KH QD JC").do("play 1" if moment == "hand" else "discard 1,2,3")

    table = owning(key)
    assert table.value() == full
    assert eat(table).value() == pytest.approx(then)
    assert eat(owning(key, value=float(last))).owned() == []


def test_ramen_lasts_for_a_hundred_cards():
    table = owning("ramen").deal("AS KH QD JC 9S").set(discards_left=30)
    for _ in range(19):
        table.deal("AS KH QD JC 9S").do("discard 1,2,3,4,5")
    assert table.value() == pytest.approx(1.05)
    assert table.deal("AS KH QD JC 9S").do("discard 1,2,3,4").owned() == ["j_ramen"]
    assert table.do("discard 1").owned() == []


def test_ice_cream_melts_and_seltzer_is_drunk_by_a_hand_that_does_not_score():
    table = owning("ice_cream selzer").face("bl_psychic").deal("AS KH").do("play 1")
    assert (table["score"], table.value(0), table.value(1)) == (0, 95, 9)


@pytest.mark.parametrize(
    ("required", "status", "owned"), [(64, PLAYING, ["j_egg"]), (65, OVER, ["j_mr_bones", "j_egg"])]
)
def test_mr_bones_saves_a_run_that_reached_a_quarter(required, status, owned):
    # An ace scores (5 + 11) x 1.
    table = owning("mr_bones egg").deal("AS", required=required).set(hands_left=1).do("play 1")
    assert (table["status"], table.owned()) == (status, owned)
    assert (table.phase == "pay") == (status == PLAYING)


@pytest.mark.parametrize("text", ["luchador", "blueprint luchador"])
def test_luchador_is_sold_to_be_rid_of_the_boss(text):
    table = owning(text).face("bl_club").do("select blind")
    debuffed = [bool(card["flags"] & cards.DEBUFFED) for card in table["cards"][:52]]
    assert debuffed == [table.name(number)[1] == "C" for number in range(52)]
    table.do("sell joker 1")
    assert (table["disabled"], int((table["cards"]["flags"][:52] & cards.DEBUFFED).sum())) == (1, 0)


def test_luchador_does_nothing_elsewhere():
    assert owning("luchador").deal("AS").do("sell joker 1")["disabled"] == 0
    assert owning("luchador").face("bl_club").do("sell joker 1", "select blind")["disabled"] == 0


@pytest.mark.parametrize(
    ("key", "required"),
    [
        ("bl_wall", 600), ("bl_needle", 300), ("bl_water", 600), ("bl_manacle", 600), ("bl_final_vessel", 600),
        ("bl_club", 600), ("bl_house", 600),
    ],
)  # fmt: skip
def test_a_boss_has_no_effect_beside_chicot(key, required):
    table = owning("chicot").face(key).do("select blind")
    found = (table["required"], table["hands_left"], table["discards_left"], len(table.hand()))
    assert found == (required, 4, 4, 8)
    assert not (table["cards"]["flags"][:52] & (cards.DEBUFFED | cards.FACE_DOWN)).any()


def test_chicot_disables_every_boss():
    for key in blinds.KEYS[blinds.FIRST_BOSS :]:
        assert owning("chicot").face(key).do("select blind")["disabled"] == 1


@pytest.mark.parametrize(("key", "field", "text", "given"), [
    ("bl_water", "discards_left", "luchador", 4), ("bl_water", "discards_left", "luchador drunkard", 5),
    ("bl_needle", "hands_left", "luchador", 4), ("bl_needle", "hands_left", "luchador troubadour", 3),
])  # fmt: skip
def test_disabling_a_boss_undoes_its_effects(key, field, text, given):
    table = owning(text).face(key).do("select blind")
    assert table[field] == (0 if field == "discards_left" else 1)
    assert table.do("sell joker 1")[field] == given


def test_a_joker_that_the_boss_disabled_works_again_without_the_boss():
    table = owning("luchador egg").face("bl_final_heart").do("select blind")
    assert sorted(table["jokers"]["debuffed"][:2] > 0) == [False, True]
    table.state["jokers"]["debuffed"][:2] = [0, 2]
    holdings.refresh(table.state)
    assert (table.do("sell joker 1").owned(), table["jokers"][0]["debuffed"], table["acts_as"][0]) == (["j_egg"], 0, 0)
