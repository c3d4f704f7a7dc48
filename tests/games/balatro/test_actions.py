"""The thousand actions: names, legality, and selecting cards one by one or all at once."""

import re
from itertools import combinations

import numpy as np
import pytest
from table import ACTIONS as NAMED
from table import Table

from ludus.games.balatro.actions import ACTIONS, END, name_of
from ludus.games.balatro.tables import cards
from ludus.types import LudusError

HAND = "KS QS JH 9H 8D 6D 4C 2C"
SUBSETS = [",".join(map(str, chosen)) for size in range(1, 6) for chosen in combinations(range(1, 9), size)]


def named(table, *starts):
    return {name for name in table.legal if name.startswith(starts)}


def test_every_action_has_a_unique_name():
    names = [name_of(action) for action in range(ACTIONS)]
    assert len(set(names)) == ACTIONS == 1000
    assert all(re.fullmatch(r"[a-z]+( [a-z]+)*( \d[\d,]*( on \d[\d,]*)?)?", name) for name in names)
    assert [name.startswith("nothing") for name in names] == [False] * END + [True] * (ACTIONS - END)


@pytest.mark.parametrize("name", [
    "play 1", "play 4,5,6,7,8", "discard 1,8", "select card 32", "play selected", "discard selected", "sort by rank",
    "sort by suit", "move right card 31", "move right joker 23", "sell joker 24", "sell consumable 24",
    "use consumable 24", "use consumable 2 on 6,7,8", "buy shop 4", "buy and use shop 4", "buy voucher 6",
    "open pack 2", "reroll", "leave", "cash out", "select blind", "skip blind", "reroll boss", "pick 5",
    "pick 5 on 7,8", "skip pack",
])  # fmt: skip
def test_the_last_action_of_every_kind_is_named(name):
    assert name in NAMED


def test_all_218_sets_of_cards_can_be_played_and_discarded():
    table = Table().deal(HAND)
    assert len(SUBSETS) == 218
    assert named(table, "play ") == {f"play {places}" for places in SUBSETS}
    assert named(table, "discard ") == {f"discard {places}" for places in SUBSETS}


def test_each_set_takes_exactly_its_cards():
    table = Table().deal(HAND)
    for verb in ("play", "discard"):
        pool = table.pool.fork([0] * 218, seed=0)
        pool.advance([NAMED[f"{verb} {places}"] for places in SUBSETS])
        for places, state in zip(SUBSETS, pool.states, strict=True):
            taken = [int(number) for number in state["tally"]["cards"][: state["tally"]["count"]]]
            assert taken == [int(place) - 1 for place in places.split(",")]


@pytest.mark.parametrize(("actions", "direct", "elementary"), [
    ("direct", True, False), ("elementary", False, True), ("all", True, True),
])  # fmt: skip
def test_which_actions_are_legal_is_a_parameter(actions, direct, elementary):
    table = Table(actions=actions).own("j_joker", "j_egg").keep("c_magician", "c_hermit").deal(HAND)
    assert bool(named(table, "play ", "discard ", "use consumable 1 on ")) == direct
    assert bool(named(table, "select card", "move right", "sort by")) == elementary
    assert named(table, "use consumable 2", "sell") == {
        "use consumable 2", "sell joker 1", "sell joker 2", "sell consumable 1", "sell consumable 2"
    }  # fmt: skip


def test_with_elementary_actions_alone_a_hand_is_played():
    table = Table(actions="elementary").deal(HAND)
    assert named(table, "play", "discard") == set()
    table.do("select card 1", "select card 2")
    assert named(table, "play", "discard") == {"play selected", "discard selected"}
    table.do("play selected")
    assert (table["score"], table["hands_left"]) == (5 + 10, 3)


def test_selected_cards_are_played_as_those_of_a_direct_action():
    one = Table().deal(HAND).do("play 2,5,7")
    other = Table().deal(HAND).do("select card 5", "select card 2", "select card 7", "play selected")
    assert one.hand() == other.hand()
    assert one["score"] == other["score"]


def test_a_direct_action_forgets_what_was_selected():
    table = Table().deal(HAND).do("select card 1", "play 8")
    assert table["score"] == 5 + 2
    assert "KS" in table.hand()


def test_five_cards_are_selected_at_most():
    table = Table().deal(HAND).do(*(f"select card {place}" for place in range(1, 6)))
    assert named(table, "select card") == {f"select card {place}" for place in range(1, 6)}
    assert len(named(table.do("select card 3"), "select card")) == 8


@pytest.mark.parametrize("count", [1, 3, 7])
def test_of_a_small_hand_only_its_cards_are_played(count):
    table = Table().deal(" ".join(HAND.split()[:count]))
    assert named(table, "play ") == {f"play {places}" for places in SUBSETS if int(places[-1]) <= count}


def test_of_a_large_hand_direct_actions_reach_eight_cards_and_elementary_ones_all():
    table = Table().deal(HAND + " AS AH AD AC")
    assert len(named(table, "play ")) == 218
    assert "select card 12" in table.legal
    table.do("select card 9", "select card 10", "select card 11", "select card 12", "play selected")
    assert table["score"] == (60 + 44) * 7


def test_without_discards_only_plays_are_legal():
    table = Table().deal(HAND).set(discards_left=0).do("select card 1")
    assert named(table, "discard") == set()
    assert "play selected" in table.legal


def test_cards_are_moved_to_the_right():
    table = Table().deal("AS KH QD").do("move right card 1", "move right card 2")
    assert table.hand() == ["KH", "QD", "AS"]
    assert named(table, "move right card") == {"move right card 1", "move right card 2"}


def test_the_order_of_cards_is_the_order_of_scoring():
    # The first face doubles the mult: before or after a mult card adds its 4.
    for moves, score in (((), (10 + 20) * (2 * 2 + 4)), (("move right card 1",), (10 + 20) * ((2 + 4) * 2))):
        table = Table().own("j_photograph").deal("KS KH")
        table["cards"][1]["enhancement"] = cards.MULT
        assert table.set().do(*moves, "play 1,2")["score"] == score


def test_a_hand_is_sorted_by_rank_and_by_suit():
    table = Table().deal("2C KH 9S AD TS 4H")
    assert (("sort by rank" in table.legal), ("sort by suit" in table.legal)) == (False, True)
    assert table.do("sort by suit").hand() == ["TS", "9S", "KH", "4H", "2C", "AD"]
    assert table.do("sort by rank").hand() == ["AD", "KH", "TS", "9S", "4H", "2C"]


def test_new_cards_are_sorted_as_was_chosen():
    table = Table().deal(HAND).do("sort by suit", "discard 1,2,3,4,5")
    order = "DCHS"
    suits = [order.index(name[1]) for name in table.hand()]
    assert suits == sorted(suits, reverse=True)


def test_jokers_are_moved_to_the_right():
    table = Table().own("j_joker", "j_egg", "j_golden").do("move right joker 1", "move right joker 2")
    assert table.owned() == ["j_egg", "j_golden", "j_joker"]
    assert named(table, "move right joker") == {"move right joker 1", "move right joker 2"}


def test_every_phase_has_its_actions():
    table = Table()
    assert table.legal == {"select blind", "skip blind"}
    assert table.deal("AS KH", required=1).do("play 1").legal == {"cash out"}
    table.do("cash out").set(money=0)
    assert table.legal == {"leave"}
    table.set(money=4)
    assert table.legal == {"leave", "buy shop 1", "buy and use shop 1", "buy shop 2", "open pack 1", "open pack 2"}
    assert table.do("open pack 1").legal == {"skip pack", "pick 1", "pick 2"}
    assert "skip blind" not in table.do("skip pack", "leave").face("bl_hook").legal


@pytest.mark.parametrize("name", ["cash out", "play 1", "select card 1", "sell joker 1", "use consumable 1", "pick 1"])
def test_an_illegal_action_raises_an_error_and_changes_nothing(name):
    table = Table()
    before = table.pool.save()
    with pytest.raises(LudusError, match=r"is not legal for seat 0; legal actions: select blind, skip blind"):
        table.do(name)
    after = table.pool.save()
    assert all(np.array_equal(one, other) for one, other in zip(before[2:], after[2:], strict=True))


@pytest.mark.parametrize("action", [-1, END, 999, 1000, 10**12])
def test_a_number_that_is_not_an_action_raises_an_error(action):
    with pytest.raises(LudusError, match="is not legal"):
        Table().pool.advance([action])


def test_a_card_that_must_be_played_is_in_every_play():
    table = Table().face("bl_final_bell").do("select blind")
    flags = [int(table["cards"][number]["flags"]) for number in table["hand"][:8]]
    (forced,) = (place for place in range(1, 9) if flags[place - 1] & cards.FORCED)
    assert named(table, "play ") - {"play selected"} == {
        f"play {places}" for places in SUBSETS if str(forced) in places.split(",")
    }
    assert f"select card {forced}" not in table.legal
    assert "play selected" in table.legal
