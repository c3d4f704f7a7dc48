"""The shop: prices, sell values, interest, rerolls, slots, debt, packs, and the order of payments."""

import pytest
from table import Table

from ludus.games.balatro.state import CONSUMABLE, JOKER, PLAYING_CARD
from ludus.games.balatro.tables import cards, consumables, hands, jokers, packs

SALE, HALF = ("v_clearance_sale",), ("v_clearance_sale", "v_liquidation")


def shop(table=None):
    """Go to a shop; the first one has Venus and Walkie Talkie on its shelf."""
    return (table or Table()).deal("AS", required=1).do("play 1", "cash out")


def offer(table, *keys, **fields):
    """Put these items on the shelf: jokers and consumables by key, or a playing card by name."""
    states = table.pool.states.copy()
    shelf = states[0]["shelf"]
    for place, key in enumerate(keys):
        shelf[place] = 0
        if key in jokers.KEYS:
            shelf[place]["kind"], shelf[place]["number"] = JOKER, jokers.number_of(key)
        elif key in consumables.KEYS:
            shelf[place]["kind"], shelf[place]["number"] = CONSUMABLE, consumables.KEYS.index(key)
        else:
            shelf[place]["kind"] = PLAYING_CARD
            shelf[place]["rank"], shelf[place]["suit"] = cards.RANKS.index(key[0]), cards.SUITS.index(key[1])
        for field, value in fields.items():
            shelf[place][field] = value
    states[0]["shelf_count"] = len(keys)
    table.pool.put(states)
    return table


def prices(table):
    return table.pool.step.observation["prices"][0][: table["shelf_count"]].tolist()


def pack_prices(table):
    return table.pool.step.observation["prices"][0][4:6].tolist()


def reroll_price(table):
    return float(table.pool.step.observation["prices"][0][6])


@pytest.mark.parametrize(
    ("key", "usual", "sale", "half"),
    [
        ("j_credit_card", 1, 1, 1),
        ("j_joker", 2, 1, 1),
        ("j_walkie_talkie", 4, 3, 2),
        ("j_blueprint", 10, 7, 5),
        ("c_fool", 3, 2, 1),
        ("c_pluto", 3, 2, 1),
        ("c_ankh", 4, 3, 2),
        ("7S", 1, 1, 1),
    ],
)
def test_prices_and_sales(key, usual, sale, half):
    for redeemed, price in (((), usual), (SALE, sale), (HALF, half)):
        table = offer(shop(Table().redeem(*redeemed)), key).set(money=50)
        assert prices(table) == [price]
        assert table.do("buy shop 1")["money"] == 50 - price


@pytest.mark.parametrize(
    ("edition", "usual", "sale", "half"),
    [
        (0, 2, 1, 1),
        (cards.FOIL, 4, 3, 2),
        (cards.HOLO, 5, 4, 2),
        (cards.POLYCHROME, 7, 5, 3),
        (cards.NEGATIVE, 7, 5, 3),
    ],
)
def test_an_edition_has_its_price(edition, usual, sale, half):
    for redeemed, price in (((), usual), (SALE, sale), (HALF, half)):
        assert prices(offer(shop(Table().redeem(*redeemed)), "j_joker", edition=edition)) == [price]


def test_a_foil_playing_card():
    assert prices(offer(shop(), "7S", edition=cards.FOIL)) == [3]


def test_a_rental_joker_costs_a_dollar():
    assert prices(offer(shop(), "j_blueprint", stickers=cards.RENTAL, edition=cards.POLYCHROME)) == [1]


def test_free_items_cost_nothing():
    assert prices(offer(shop(), "j_blueprint", free=1)) == [0]


def test_astronomer_makes_planets_and_celestial_packs_free():
    table = shop(Table().own("j_joker", "j_astronomer").do("move right joker 1"))
    offer(table, "c_pluto", "c_fool", "j_mime").set(packs=[packs.NAMES.index("Celestial mega"), 0])
    assert (prices(table), pack_prices(table)) == ([0, 3, 5], [0, 4])
    assert table.set(money=0).do("buy shop 1")["money"] == 0


@pytest.mark.parametrize(
    ("key", "edition", "stickers", "vouchers", "value"),
    [
        ("j_credit_card", 0, 0, (), 1),
        ("j_joker", 0, 0, (), 1),
        ("j_blueprint", 0, 0, (), 5),
        ("j_chicot", 0, 0, (), 10),
        ("j_joker", cards.POLYCHROME, 0, (), 3),
        ("j_joker", cards.FOIL, 0, (), 2),
        ("j_blueprint", 0, cards.RENTAL, (), 1),
        ("j_blueprint", 0, 0, SALE, 3),  # it costs 7
        ("j_blueprint", 0, 0, HALF, 2),  # it costs 5
    ],
)
def test_a_joker_sells_for_half_its_price(key, edition, stickers, vouchers, value):
    table = Table().redeem(*vouchers).own(key, edition=edition, stickers=stickers)
    assert table.do("sell joker 1")["money"] == 4 + value
    assert table.owned() == []


@pytest.mark.parametrize(("key", "value"), [("c_fool", 1), ("c_pluto", 1), ("c_ankh", 2)])
def test_a_consumable_sells_for_half_its_price(key, value):
    table = Table().keep(key)
    assert table.do("sell consumable 1")["money"] == 4 + value
    assert table.kept() == []


def test_a_joker_that_was_free_sells_for_half_its_price():
    table = offer(shop(), "j_blueprint", free=1).do("buy shop 1")
    assert table.do("sell joker 1")["money"] == 10 + 5


def test_egg_and_gift_card_raise_sell_values():
    table = Table().own("j_egg", "j_gift").keep("c_fool").deal("AS", required=1).do("play 1", "cash out")
    money = int(table["money"])
    table.do("sell consumable 1", "sell joker 2", "sell joker 1")
    assert table["money"] == money + (1 + 1) + (3 + 1) + (2 + 3 + 1)


@pytest.mark.parametrize(
    ("money", "owned", "vouchers", "interest"),
    [
        (-3, (), (), 0),
        (4, (), (), 0),
        (5, (), (), 1),
        (24, (), (), 4),
        (25, (), (), 5),
        (100, (), (), 5),
        (24, ("j_to_the_moon",), (), 4 * 2),
        (100, ("j_to_the_moon",), (), 5 * 2),
        (100, ("j_to_the_moon", "j_to_the_moon"), (), 5 * 3),
        (100, (), ("v_seed_money",), 10),
        (100, (), ("v_seed_money", "v_money_tree"), 20),
        (100, ("j_to_the_moon",), ("v_seed_money", "v_money_tree"), 20 * 2),
    ],
)
def test_interest(money, owned, vouchers, interest):
    table = Table().own(*owned).redeem(*vouchers).deal("AS", required=1).set(money=money).do("play 1")
    assert table["pay"] == 3 + 3 + interest
    assert table.do("cash out")["money"] == money + 6 + interest


def test_rent_is_paid_before_interest_and_everything_else_after():
    table = Table().own("j_golden", stickers=cards.RENTAL).deal("AS", required=1).set(money=27).do("play 1")
    assert table["money"] == 27 - 3
    assert table["pay"] == 3 + 3 + 4 + 24 // 5
    assert table.do("cash out")["money"] == 24 + 14


def test_rent_may_lead_into_debt():
    table = Table().own("j_joker", stickers=cards.RENTAL).deal("AS", required=1).set(money=1).do("play 1")
    assert table["money"] == -2
    assert table["pay"] == 6


@pytest.mark.parametrize(("hands_left", "pay"), [(1, 3), (4, 6)])
def test_hands_that_are_left_pay_a_dollar_each(hands_left, pay):
    assert Table().deal("AS", required=1).set(hands_left=hands_left).do("play 1")["pay"] == pay


def test_a_reroll_costs_a_dollar_more_each_time_until_the_next_shop():
    table = shop().set(money=18)
    for price in (5, 6):
        before = table["shelf"]["born"][:2].tolist()
        assert reroll_price(table) == price
        money = int(table["money"])
        assert table.do("reroll")["money"] == money - price
        assert not set(table["shelf"]["born"][:2].tolist()) & set(before)
    assert "reroll" in table.legal  # the last seven dollars
    assert "reroll" not in table.set(money=6).legal
    assert reroll_price(shop(table.do("leave"))) == 5


def test_chaos_the_clown_rerolls_once_for_nothing_in_every_shop():
    table = shop(Table().own("j_chaos"))
    for _ in range(2):
        table.set(money=5)
        assert table.do("reroll")["money"] == 5
        assert table.do("reroll")["money"] == 0
        shop(table.do("leave"))


def test_two_clowns_reroll_twice():
    assert shop(Table().own("j_chaos", "j_chaos")).set(money=0).do("reroll", "reroll")["money"] == 0


def test_items_that_cost_too_much_cannot_be_bought():
    table = offer(shop(), "j_walkie_talkie").set(money=3)
    assert not {"buy shop 1", "reroll", "buy voucher 1", "open pack 1"} & table.legal
    assert {"buy shop 1", "open pack 1"} <= table.set(money=4).legal


def test_credit_card_allows_a_debt_of_twenty():
    table = offer(shop(Table().own("j_credit_card")), "j_walkie_talkie")
    assert "buy shop 1" not in table.set(money=-17).legal
    assert table.set(money=-16).do("buy shop 1")["money"] == -20
    assert "reroll" not in table.legal
    assert "reroll" in table.set(money=-15).legal


def test_free_items_can_be_taken_in_debt():
    assert offer(shop(), "j_joker", free=1).set(money=-5).do("buy shop 1")["money"] == -5


def test_a_joker_needs_a_slot():
    table = offer(shop(Table().own(*["j_joker"] * 5)), "j_walkie_talkie").set(money=50)
    assert "buy shop 1" not in table.legal
    assert "buy shop 1" in table.do("sell joker 1").legal


def test_a_negative_joker_brings_its_own_slot():
    table = offer(shop(Table().own(*["j_joker"] * 5)), "j_walkie_talkie", edition=cards.NEGATIVE).set(money=50)
    assert table.do("buy shop 1")["joker_count"] == 6
    assert "buy shop 1" not in offer(table, "j_mime").legal
    assert "buy shop 1" not in table.do("sell joker 6").legal  # its slot went with it
    assert "buy shop 1" in table.do("sell joker 1").legal


def test_consumables_need_a_slot_unless_they_are_used_at_once():
    table = offer(shop(Table().keep("c_fool", "c_fool")), "c_pluto").set(money=50)
    assert "buy shop 1" not in table.legal
    table.do("buy and use shop 1")
    assert (table["money"], table["levels"][hands.HIGH_CARD], table["shelf_count"]) == (47, 2, 0)
    assert table.kept() == ["c_fool", "c_fool"]


def test_buy_and_use_needs_a_consumable_that_can_be_used_now():
    table = offer(shop(), "c_hermit", "c_magician", "j_joker").set(money=13)
    assert "buy and use shop 2" not in table.legal  # there is no hand in a shop
    assert "buy and use shop 3" not in table.legal
    assert table.do("buy and use shop 1")["money"] == (13 - 3) * 2


def test_bought_items_leave_the_shelf():
    table = offer(shop(), "c_fool", "j_joker").set(money=50).do("buy shop 1")
    assert (table["shelf_count"], table.kept()) == (1, ["c_fool"])
    assert table.do("buy shop 1").owned() == ["j_joker"]
    assert table["shelf_count"] == 0


@pytest.mark.parametrize(
    ("name", "price", "shown", "picks"),
    [(f"{kind} {size}", price, shown - few, picks)
     for kind, few in (("Arcana", 0), ("Celestial", 0), ("Standard", 0), ("Buffoon", 1), ("Spectral", 1))
     for size, price, shown, picks in (("normal", 4, 3, 1), ("jumbo", 6, 5, 1), ("mega", 8, 5, 2))],
)  # fmt: skip
def test_a_pack_is_bought_and_opened(name, price, shown, picks):
    table = shop().set(packs=packs.NAMES.index(name), money=50)
    assert pack_prices(table) == [price, price]
    table.do("open pack 1")
    assert (table.phase, table["money"]) == ("pack", 50 - price)
    assert (table["pack_count"], table["picks_left"]) == (shown, picks)
    assert table["hand_count"] == (8 if name.split()[0] in ("Arcana", "Spectral") else 0)
    table.do("skip pack")
    assert (table.phase, table["hand_count"], table["pile_count"]) == ("shop", 0, 52)
    assert "open pack 1" not in table.legal
    assert "open pack 2" in table.legal


@pytest.mark.parametrize(("redeemed", "found"), [(SALE, [3, 4, 6]), (HALF, [2, 3, 4])])
def test_packs_are_on_sale_too(redeemed, found):
    table = shop(Table().redeem(*redeemed))
    assert [pack_prices(table.set(packs=kind))[0] for kind in range(3)] == found


def test_as_many_cards_are_picked_as_the_pack_allows():
    table = shop().set(packs=packs.NAMES.index("Standard mega"), money=50).do("open pack 1", "pick 1")
    assert (table.phase, table["pack_count"], table["card_count"]) == ("pack", 4, 53)
    assert table.do("pick 4").phase == "shop"
    assert table["card_count"] == 54


def test_a_joker_of_a_pack_needs_a_slot():
    table = shop(Table().own(*["j_joker"] * 5)).set(packs=packs.FIRST_PACK, money=50).do("open pack 1")
    assert "pick 1" not in table.legal
    assert "pick 1" in table.do("sell joker 1").legal
    assert table.do("pick 1")["joker_count"] == 5


def test_every_shop_has_two_items_and_two_packs_and_leads_to_the_next_blind():
    table = shop().set(money=50).do("buy shop 1", "open pack 1", "skip pack", "leave")
    assert (table.phase, table["blind"]) == ("blind", 1)
    shop(table)
    assert (table["shelf_count"], (table["packs"] >= 0).all()) == (2, True)
    shop(table.do("leave"))
    assert (table.do("leave")["blind"], table["ante"]) == (0, 2)


def test_existing_items_are_offered_again_only_with_showman():
    keys = [key for key in jokers.KEYS[1:] if jokers.RARITY[jokers.number_of(key)] < jokers.LEGENDARY]
    table = shop(Table().own(*keys[:20])).set(money=1000)
    for _ in range(30):
        items = table.set(rerolls=0).do("reroll")["shelf"][:2]
        assert not {jokers.KEYS[item["number"]] for item in items if item["kind"] == JOKER} & set(keys[:20])
    table = shop(Table().own("j_ring_master", *keys[:20]).do("move right joker 1")).set(money=1000)
    found = set()
    for _ in range(30):
        items = table.set(rerolls=0).do("reroll")["shelf"][:2]
        found |= {jokers.KEYS[item["number"]] for item in items if item["kind"] == JOKER} & set(keys[:20])
    assert found
