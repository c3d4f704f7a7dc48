"""The 22 tarots: the number of target cards, and their effects on cards, money and slots."""

import pytest
from joker_table import own
from table import Table

from ludus.games.balatro.tables import cards, consumables, jokers

HAND = "KS QS JH 9H 8D 6D 4C 2C"


def sizes(table):
    """On how many cards the first consumable can be used, and in how many ways."""
    ways = [name for name in table.legal if name.startswith("use consumable 1 on ")]
    return {name.rpartition(" ")[2].count(",") + 1 for name in ways}, len(ways)


def fields(table, field, count=8):
    return [int(value) for value in table["cards"][field][:count]]


@pytest.mark.parametrize(
    ("keys", "wanted", "ways"),
    [
        ("lovers chariot justice devil tower", {1}, 8),
        ("magician empress heirophant strength hanged_man", {1, 2}, 8 + 28),
        ("death", {2}, 28),
        ("star moon sun world", {1, 2, 3}, 8 + 28 + 56),
        ("fool high_priestess emperor hermit wheel_of_fortune temperance judgement", set(), 0),
    ],
)
def test_a_tarot_is_used_on_as_many_cards_as_it_says(keys, wanted, ways):
    table = Table().deal(HAND)
    for key in keys.split():
        table.set(consumable_count=0).keep(f"c_{key}")
        assert sizes(table) == (wanted, ways), key


def test_the_five_lines_above_are_all_tarots():
    assert 5 + 5 + 1 + 4 + 7 == len(consumables.TAROTS) == 22


@pytest.mark.parametrize(
    ("key", "enhancement", "most"),
    [
        ("c_magician", cards.LUCKY, 2), ("c_empress", cards.MULT, 2), ("c_heirophant", cards.BONUS, 2),
        ("c_lovers", cards.WILD, 1), ("c_chariot", cards.STEEL, 1), ("c_justice", cards.GLASS, 1),
        ("c_devil", cards.GOLD, 1), ("c_tower", cards.STONE, 1),
    ],
)  # fmt: skip
def test_eight_tarots_enhance(key, enhancement, most):
    table = Table().keep(key).deal(HAND)
    table.do("use consumable 1 on 1,2" if most == 2 else "use consumable 1 on 1")
    assert fields(table, "enhancement") == [enhancement] * most + [0] * (8 - most)
    assert (table.kept(), table["tarots_used"]) == ([], 1)


def test_a_new_enhancement_takes_the_place_of_the_old_one():
    table = Table().keep("c_justice").deal("KS", enhancement=cards.BONUS, seal=cards.RED_SEAL)
    table.do("use consumable 1 on 1")
    assert (fields(table, "enhancement", 1), fields(table, "seal", 1)) == ([cards.GLASS], [cards.RED_SEAL])


@pytest.mark.parametrize(("key", "suit"), [("c_star", "D"), ("c_moon", "C"), ("c_sun", "H"), ("c_world", "S")])
def test_four_tarots_change_the_suit_of_three_cards(key, suit):
    table = Table().keep(key).deal(HAND).do("use consumable 1 on 2,4,6")
    assert table.hand() == ["KS", f"Q{suit}", "JH", f"9{suit}", "8D", f"6{suit}", "4C", "2C"]


def test_strength_goes_one_rank_up_and_round():
    table = Table().keep("c_strength").deal("KS AH 9D").do("use consumable 1 on 1,2")
    assert table.hand() == ["AS", "2H", "9D"]


def test_the_hanged_man_destroys_for_good():
    table = Table().keep("c_hanged_man").deal(HAND).do("use consumable 1 on 1,3")
    assert table.hand() == ["QS", "9H", "8D", "6D", "4C", "2C"]
    assert (table["card_count"], table["pile_count"]) == (50, 44)


def test_death_makes_the_left_card_the_right_one():
    table = Table().keep("c_death").deal("2C KH")
    king = table["cards"][1]
    king["enhancement"], king["edition"], king["seal"] = cards.STEEL, cards.FOIL, cards.BLUE_SEAL
    table.set().do("use consumable 1 on 1,2")
    assert table.hand() == ["KH", "KH"]
    for field, value in {"enhancement": cards.STEEL, "edition": cards.FOIL, "seal": cards.BLUE_SEAL}.items():
        assert fields(table, field, 3) == [value, value, 0]


def test_death_copies_the_other_way_once_the_cards_have_changed_places():
    table = Table().keep("c_death").deal("2C KH").do("move right card 1", "use consumable 1 on 1,2")
    assert table.hand() == ["2C", "2C"]


@pytest.mark.parametrize(("before", "after"), [(4, 8), (20, 40), (21, 41), (100, 120), (0, 0), (-7, -7)])
def test_the_hermit_doubles_money_up_to_twenty(before, after):
    assert Table().keep("c_hermit").set(money=before).do("use consumable 1")["money"] == after


def test_temperance_pays_what_the_jokers_would_sell_for():
    # Half of 2 and of 10, and half of 3 that is rounded down.
    table = Table().own("j_joker", "j_blueprint", "j_jolly").keep("c_temperance").do("use consumable 1")
    assert table["money"] == 4 + 1 + 5 + 1


def test_temperance_pays_fifty_at_most():
    assert Table().own("j_joker", "j_egg", sell_value=30).keep("c_temperance").do("use consumable 1")["money"] == 54


def test_the_fool_repeats_the_last_tarot_or_planet():
    table = Table().keep("c_hermit", "c_fool")
    assert "use consumable 2" not in table.legal
    assert table.do("use consumable 1", "use consumable 1").kept() == ["c_hermit"]
    table.set(consumable_count=0).keep("c_pluto", "c_fool")
    assert table.do("use consumable 1", "use consumable 1").kept() == ["c_pluto"]


def test_the_fool_is_not_repeated_and_forgets_no_tarot_for_a_spectral_card():
    table = Table().keep("c_hermit", "c_black_hole").do("use consumable 1", "use consumable 1").keep("c_fool", "c_fool")
    assert table.do("use consumable 1").kept() == ["c_fool", "c_hermit"]
    assert "use consumable 1" not in table.legal


@pytest.mark.parametrize(("key", "first", "count"), [
    ("c_emperor", consumables.FIRST_TAROT, 22), ("c_high_priestess", consumables.FIRST_PLANET, 9),
])  # fmt: skip
def test_two_tarots_bring_as_many_others_as_there_is_room_for(key, first, count):
    for others, made in ((0, 2), (1, 1)):
        table = Table().keep(key, *["c_soul"] * others).do("use consumable 1")
        numbers = [consumables.KEYS.index(kept) for kept in table.kept() if kept != "c_soul"]
        assert len(set(numbers)) == made
        assert all(first <= number < first + count for number in numbers)


def test_judgement_brings_a_joker_where_there_is_room():
    table = Table().keep("c_judgement").own(*["j_joker"] * 4).do("use consumable 1")
    assert (len(table.owned()), jokers.RARITY[jokers.number_of(table.owned()[4])] < jokers.LEGENDARY) == (5, True)
    assert "use consumable 1" not in table.keep("c_judgement").legal


def test_a_negative_joker_leaves_its_room_to_judgement():
    table = Table().keep("c_judgement").own(*["j_joker"] * 4).own("j_egg", edition=cards.NEGATIVE)
    assert len(table.do("use consumable 1").owned()) == 6


def test_the_wheel_of_fortune_turns_one_in_four():
    table = Table().own("j_joker")
    won = 0
    for _ in range(40):
        table.state["jokers"][0]["edition"] = 0
        table.keep("c_wheel_of_fortune").do("use consumable 1")
        edition = int(table["jokers"][0]["edition"])
        assert edition in (0, cards.FOIL, cards.HOLO, cards.POLYCHROME)
        won += edition > 0
    assert 4 <= won <= 16


def test_the_wheel_turns_for_sure_with_two_oops_and_chooses_a_joker_without_edition():
    table = own(Table().own("j_joker", edition=cards.HOLO), "j_oops", "j_oops").keep("c_wheel_of_fortune")
    editions = sorted(int(joker["edition"]) > 0 for joker in table.do("use consumable 1")["jokers"][:3])
    assert (editions, table["jokers"][0]["edition"]) == ([False, True, True], cards.HOLO)


def test_the_wheel_needs_a_joker_without_edition():
    table = Table().keep("c_wheel_of_fortune")
    assert "use consumable 1" not in table.legal
    assert "use consumable 1" not in table.own("j_joker", edition=cards.FOIL).legal
    assert "use consumable 1" in table.own("j_egg").legal


def test_cards_are_selected_one_by_one_too():
    table = Table().keep("c_magician").deal(HAND)
    assert "use consumable 1" not in table.legal
    table.do("select card 2", "select card 8", "select card 5")
    assert "use consumable 1" not in table.legal
    table.do("select card 5", "use consumable 1")
    assert fields(table, "enhancement") == [0, cards.LUCKY, 0, 0, 0, 0, 0, cards.LUCKY]


def test_a_tarot_on_cards_waits_for_a_hand():
    table = Table().keep("c_magician", "c_hermit")
    assert sizes(table) == (set(), 0)
    assert {name for name in table.legal if "consumable" in name} == {
        "sell consumable 1", "sell consumable 2", "use consumable 2"
    }  # fmt: skip


def test_two_consumables_can_be_used_on_cards_at_once_a_third_by_selecting():
    table = Table().keep("c_magician", "c_devil", "c_tower").deal(HAND)
    assert {"use consumable 2 on 8", "use consumable 1 on 1,2"} <= table.legal
    table.do("select card 1", "use consumable 3")
    assert fields(table, "enhancement")[0] == cards.STONE
