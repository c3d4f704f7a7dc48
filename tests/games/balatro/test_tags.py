"""The 24 tags: rewards for a skipped blind, immediate or later."""

import pytest
from table import Table

from ludus.games.balatro.state import BIG, CONSUMABLE, JOKER, PLAYING_CARD
from ludus.games.balatro.tables import cards, consumables, hands, jokers, tags


def skip(key, table=None, **fields):
    """Skip a blind for this tag."""
    return (table or Table()).set(offered_tags=tags.KEYS.index(key), **fields).do("skip blind")


def shop(*keys, table=None):
    """Go to the first shop, which has Venus and Walkie Talkie on its shelf, with these tags."""
    return (table or Table()).hold(*keys).deal("AS", required=1).do("play 1", "cash out")


def held(table):
    return [tags.KEYS[tag] for tag in table["tags"][: table["tag_count"]]]


def prices(table):
    """Prices of the shelf, of the two packs, and of a reroll."""
    seen = table.pool.step.observation["prices"][0]
    return seen[: table["shelf_count"]].tolist(), seen[4:6].tolist(), float(seen[6])


@pytest.mark.parametrize("key", tags.KEYS)
def test_a_tag_is_kept_until_its_moment(key):
    waiting = {
        "tag_uncommon", "tag_rare", "tag_negative", "tag_foil", "tag_holo", "tag_polychrome", "tag_investment",
        "tag_voucher", "tag_coupon", "tag_double", "tag_juggle", "tag_d_six",
    }  # fmt: skip
    table = skip(key)
    assert held(table) == ([key] if key in waiting else [])
    assert table["blind"] == BIG


@pytest.mark.parametrize(
    ("key", "shown", "picks", "dealt"),
    [
        ("tag_standard", 5, 2, 0),
        ("tag_charm", 5, 2, 8),
        ("tag_meteor", 5, 2, 0),
        ("tag_buffoon", 4, 2, 0),
        ("tag_ethereal", 2, 1, 8),
    ],
)
def test_a_tag_opens_a_pack(key, shown, picks, dealt):
    table = skip(key)
    assert (table.phase, table["pack_count"], table["picks_left"], table["hand_count"]) == ("pack", shown, picks, dealt)
    kind = {"tag_standard": PLAYING_CARD, "tag_buffoon": JOKER}.get(key, CONSUMABLE)
    assert set(table["pack"]["kind"][:shown].tolist()) == {kind}
    first, end = {
        "tag_charm": (consumables.FIRST_TAROT, consumables.FIRST_PLANET),
        "tag_meteor": (consumables.FIRST_PLANET, consumables.FIRST_SPECTRAL),
        "tag_ethereal": (consumables.FIRST_SPECTRAL, len(consumables.KEYS)),
    }.get(key, (0, 200))
    assert all(first <= number < end for number in table["pack"]["number"][:shown])
    table.do("skip pack")
    assert (table.phase, table["blind"], table["money"], table["hand_count"]) == ("blind", BIG, 4, 0)


def test_two_cards_are_picked_from_the_pack_of_a_tag():
    table = skip("tag_meteor")
    chosen = [int(consumables.NUMBER[number]) for number in table["pack"]["number"][:2]]
    table.do("pick 1", "pick 1")
    assert [int(level) for level in table["levels"][chosen]] == [2, 2]
    assert (table.phase, table["levels"].sum()) == ("blind", 12 + 2)


def test_boss_tag_brings_another_boss():
    table = Table()
    before = int(table["boss"])
    assert skip("tag_boss", table)["boss"] != before


def test_handy_and_garbage_tags_count_hands_and_discards_of_the_run():
    def later():
        table = Table().deal("AS KS QS JS 9S 8H 7H 5H").do("play 8", "discard 8").set(required=1, money=0)
        return table.do("play 1", "cash out", "leave")

    table = later()
    money = int(table["money"])
    assert skip("tag_handy", table)["money"] == money + 2
    assert skip("tag_garbage", later())["money"] == money + (4 - 1)


def test_skip_tag_pays_for_every_blind_skipped():
    table = skip("tag_skip")
    assert table["money"] == 4 + 5
    assert skip("tag_skip", table)["money"] == 9 + 10


@pytest.mark.parametrize(("money", "after"), [(4, 8), (40, 80), (41, 81), (-3, -3)])
def test_economy_tag_doubles_money_up_to_forty(money, after):
    assert skip("tag_economy", money=money)["money"] == after


def test_orbital_tag_levels_up_the_hand_that_was_announced():
    table = skip("tag_orbital", orbital_hands=hands.FLUSH)
    assert (table["levels"][hands.FLUSH], table["levels"].sum()) == (4, 12 + 3)


@pytest.mark.parametrize(("owned", "created"), [(0, 2), (4, 1), (5, 0)])
def test_top_up_tag_creates_two_common_jokers_if_there_is_room(owned, created):
    table = skip("tag_top_up", Table().own(*["j_blueprint"] * owned))
    assert table["joker_count"] == owned + created
    assert all(jokers.RARITY[jokers.number_of(key)] == jokers.COMMON for key in table.owned()[owned:])


def test_double_tag_copies_the_next_tag():
    table = skip("tag_economy", Table().hold("tag_double"))
    assert (table["money"], held(table)) == (4 * 2 * 2, [])
    assert held(skip("tag_coupon", Table().hold("tag_double", "tag_double"))) == ["tag_coupon"] * 3


def test_double_tag_does_not_copy_another():
    assert held(skip("tag_double", Table().hold("tag_double"))) == ["tag_double"] * 2


def test_double_tag_opens_two_packs_one_after_the_other():
    table = skip("tag_charm", Table().hold("tag_double"))
    assert (table.phase, held(table)) == ("pack", ["tag_charm"])
    assert (table.do("skip pack").phase, held(table)) == ("pack", [])
    assert table.do("skip pack").phase == "blind"


def test_diet_cola_is_a_double_tag():
    assert held(Table().own("j_diet_cola").do("sell joker 1")) == ["tag_double"]


@pytest.mark.parametrize(("key", "rarity"), [("tag_uncommon", jokers.UNCOMMON), ("tag_rare", jokers.RARE)])
def test_a_tag_puts_a_free_joker_on_the_shelf(key, rarity):
    table = shop(key)
    item = table["shelf"][0]
    assert (item["kind"], jokers.RARITY[item["number"]]) == (JOKER, rarity)
    assert (table["shelf_count"], prices(table)[0][0], held(table)) == (2, 0, [])
    assert prices(table)[0][1] > 0
    assert table.set(money=0).do("buy shop 1")["money"] == 0


@pytest.mark.parametrize(
    ("key", "edition"),
    [
        ("tag_foil", cards.FOIL),
        ("tag_holo", cards.HOLO),
        ("tag_polychrome", cards.POLYCHROME),
        ("tag_negative", cards.NEGATIVE),
    ],
)
def test_a_tag_gives_the_next_joker_an_edition_and_makes_it_free(key, edition):
    table = shop(key)
    assert table["shelf"]["edition"][:2].tolist() == [0, edition]
    assert prices(table)[0] == [3, 0]  # Venus is no joker
    assert held(table) == []


def test_an_edition_is_for_a_joker_without_one():
    table = shop("tag_foil", "tag_holo")
    assert (table["shelf"]["edition"][1], held(table)) == (cards.FOIL, ["tag_holo"])
    table = shop("tag_uncommon", "tag_foil", "tag_holo")  # Venus is at the second place now
    assert (table["shelf"]["edition"][:2].tolist(), held(table)) == ([cards.FOIL, 0], ["tag_holo"])


def test_an_edition_waits_for_a_reroll_that_brings_a_joker():
    table = shop("tag_foil", "tag_holo").set(money=1000)
    while held(table):
        table.do("reroll")
    assert cards.HOLO in table["shelf"]["edition"][:2].tolist()
    assert 0 in prices(table)[0]


@pytest.mark.parametrize(("count", "pay"), [(1, 5 + 3 + 25), (2, 5 + 3 + 50)])
def test_investment_tag_pays_when_the_boss_is_beaten(count, pay):
    table = Table().hold(*["tag_investment"] * count).deal("AS", required=1).do("play 1")
    assert (table["pay"], len(held(table))) == (3 + 3, count)
    table.do("cash out", "leave").set(money=0).face("bl_head").deal("AS", required=1).do("play 1")
    assert (table["pay"], held(table)) == (pay, [])


def test_voucher_tag_adds_a_voucher_for_one_shop():
    table = shop("tag_voucher").set(money=100)
    first, second = table["vouchers"][:2].tolist()
    assert first != second
    assert table["offered_vouchers"] == 2
    table.do("buy voucher 2")
    assert table["owned_vouchers"][second] == 1
    assert table["vouchers"][: table["offered_vouchers"]].tolist() == [first]


def test_the_voucher_of_a_tag_is_gone_in_the_next_shop():
    table = shop("tag_voucher").set(money=100)
    first = int(table["vouchers"][0])
    table.do("leave").deal("AS", required=1).do("play 1", "cash out")
    assert table["vouchers"][: table["offered_vouchers"]].tolist() == [first]
    table = shop("tag_voucher").set(money=100).do("buy voucher 1", "leave").deal("AS", required=1)
    assert table.do("play 1", "cash out")["offered_vouchers"] == 0


def test_coupon_tag_makes_the_initial_items_free():
    table = shop("tag_coupon")
    assert prices(table) == ([0, 0], [0, 0], 5)
    assert table["money"] == 10
    table.do("buy shop 2", "open pack 1", "skip pack")
    assert (table["money"], table.owned()) == (10, ["j_walkie_talkie"])
    assert table.do("reroll", "sell joker 1")["money"] == 10 - 5 + 2
    assert 0 not in prices(table)[0]


def test_juggle_tag_is_three_cards_more_for_one_round():
    table = Table().hold("tag_juggle").do("select blind")
    assert (table["hand_count"], held(table)) == (8 + 3, [])
    assert table.do("play 1,2")["hand_count"] == 8 + 3
    assert table.set(required=1).do("play 1", "cash out", "leave", "select blind")["hand_count"] == 8


def test_rerolls_start_at_nothing_with_a_d6_tag():
    table = shop("tag_d_six")
    assert prices(table)[2] == 0
    assert (table.do("reroll")["money"], prices(table)[2]) == (10, 1)
    assert (table.do("reroll")["money"], prices(table)[2]) == (9, 2)
    table.do("leave").deal("AS", required=1).do("play 1", "cash out")
    assert prices(table)[2] == 5
