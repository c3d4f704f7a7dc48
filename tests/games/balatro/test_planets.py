"""The twelve planets: each raises its hand by a level, and some jokers and vouchers depend on them."""

import pytest
from joker_table import own
from table import Table

from ludus.games.balatro.tables import consumables, hands

# At level 2, with the chips of the cards: (10 + 15 + 11 + 11) x (2 + 1) for a pair of aces.
LEVEL_TWO = [
    ("c_mercury", "Pair", "AS AH", 47 * 3),
    ("c_venus", "Three of a Kind", "AS AH AD", 83 * 5),
    ("c_earth", "Full House", "AS AH AD KS KH", 118 * 6),
    ("c_mars", "Four of a Kind", "AS AH AD AC", 134 * 10),
    ("c_jupiter", "Flush", "AS KS QS JS 9S", 100 * 6),
    ("c_saturn", "Straight", "AS KH QS JS TS", 111 * 7),
    ("c_uranus", "Two Pair", "AS AH KS KH", 82 * 3),
    ("c_neptune", "Straight Flush", "AS KS QS JS TS", 191 * 12),
    ("c_pluto", "High Card", "AS", 26 * 2),
    ("c_planet_x", "Five of a Kind", "AS AH AD AC AS", 210 * 15),
    ("c_ceres", "Flush House", "AS AS AS KS KS", 233 * 18),
    ("c_eris", "Flush Five", "AS AS AS AS AS", 265 * 19),
]


def play_all(table):
    """Play the whole hand; returns its score."""
    before = float(table["score"])
    table.do("play " + ",".join(str(place + 1) for place in range(len(table.hand()))))
    return float(table["score"]) - before


@pytest.mark.parametrize(("key", "hand", "text", "score"), LEVEL_TWO, ids=[row[0] for row in LEVEL_TWO])
def test_a_planet_raises_its_hand(key, hand, text, score):
    table = Table().keep(key).do("use consumable 1")
    levels = [1] * 12
    levels[hands.NAMES.index(hand)] = 2
    assert (table["levels"].tolist(), table["tarots_used"]) == (levels, 0)
    assert play_all(table.deal(text)) == score


def test_levels_add_up():
    table = Table()
    for _ in range(4):
        table.keep("c_pluto").do("use consumable 1")
    assert play_all(table.deal("AS")) == (5 + 4 * 10 + 11) * (1 + 4)


def test_a_planet_can_be_used_at_any_time_except_during_cash_out():
    table = Table().keep("c_pluto").deal("AS AH", required=1)
    assert "use consumable 1" in table.legal
    assert table.do("play 1,2").legal == {"cash out"}
    assert "use consumable 1" in table.do("cash out").legal
    assert "use consumable 1" in table.do("leave").legal


def seen_from_the_priestess(table, times=40):
    found = set()
    for _ in range(times):
        found |= set(table.set(consumable_count=0).keep("c_high_priestess").do("use consumable 1").kept())
    return found


def test_three_planets_come_only_after_their_hand_was_played():
    secret = {"c_planet_x", "c_ceres", "c_eris"}
    usual = {row[0] for row in consumables.PLANETS} - secret
    table = Table()
    assert seen_from_the_priestess(table) == usual
    table.deal("AS AH AD AC AS KD").do("play 1,2,3,4,5")
    assert seen_from_the_priestess(table) == usual | {"c_planet_x"}


def test_constellation_grows_by_planets_and_by_nothing_else():
    table = Table().own("j_constellation").keep("c_pluto", "c_hermit").do("use consumable 1", "use consumable 1")
    assert table.value() == pytest.approx(1.1)
    assert play_all(table.deal("AS")) == 57  # 26 x 2 x 1.1
    table.keep("c_mars").do("use consumable 1")
    assert table.value() == pytest.approx(1.2)


def test_a_copy_of_constellation_multiplies_and_does_not_grow():
    table = own(Table(), "j_blueprint", "j_constellation").keep("c_pluto").do("use consumable 1")
    assert (table.value(0), table.value(1)) == (0.0, pytest.approx(1.1))
    assert play_all(table.deal("AS")) == 62  # 26 x 2 x 1.1 x 1.1


def test_the_observatory_looks_at_kept_planets_of_the_hand():
    table = Table().redeem("v_telescope", "v_observatory").keep("c_mercury", "c_mercury", "c_pluto")
    assert play_all(table.deal("AS AH")) == 144  # 32 x 2 x 1.5 x 1.5
    assert play_all(table.deal("AS")) == 24  # 16 x 1 x 1.5


def test_without_the_observatory_kept_planets_do_nothing():
    assert play_all(Table().redeem("v_telescope").keep("c_pluto").deal("AS")) == 16
