"""The 32 vouchers: buying them, and their effects."""

import pytest
from table import Table

from ludus.games.balatro import randomness
from ludus.games.balatro.state import CONSUMABLE, JOKER, PLAYING_CARD
from ludus.games.balatro.tables import cards, consumables, hands, vouchers
from ludus.games.balatro.tables.streams import stream


def next_shop(table):
    return table.deal("AS", required=1).do("play 1", "cash out")


def offer(table, key):
    """A shop that sells this voucher, with enough money."""
    return table.set(vouchers=vouchers.KEYS.index(key), offered_vouchers=1, money=100)


def buy(*keys, table=None):
    """Go to the first shop, which has Venus and Walkie Talkie and two packs for $4, and buy vouchers there."""
    table = next_shop(table or Table())
    for key in keys:
        offer(table, key).do("buy voucher 1")
    return table


def pair_of(key):
    """The voucher, after the first one of its pair."""
    number = vouchers.KEYS.index(key)
    return vouchers.KEYS[number - number % 2 : number + 1]


def prices(table):
    """Prices of the shelf, of the two packs, of a reroll, and of a voucher."""
    seen = table.pool.step.observation["prices"][0]
    return [*seen[: table["shelf_count"]].tolist(), *seen[4:8].tolist()]


def polls(table, name, count):
    """The next numbers of a stream."""
    twin = table.pool.states.copy()[0]
    return [randomness.uniform(twin, stream(name)) for _ in range(count)]


def shelves(table, rerolls):
    """All items on the shelf over a number of rerolls."""
    items = []
    for _ in range(rerolls):
        table.set(money=100, rerolls=0).do("reroll")
        items += [item.copy() for item in table["shelf"][: table["shelf_count"]]]
    return items


@pytest.mark.parametrize("key", vouchers.KEYS)
def test_a_voucher_costs_ten_dollars_and_is_sold_once(key):
    table = offer(next_shop(Table()), key).do("buy voucher 1")
    assert (table["money"], table["offered_vouchers"]) == (90, 0)
    assert [vouchers.KEYS[number] for number in table["owned_vouchers"].nonzero()[0]] == [key]


def test_a_voucher_must_be_paid():
    assert "buy voucher 1" not in next_shop(Table()).set(money=9).legal
    assert "buy voucher 1" in next_shop(Table()).set(money=10).legal


def test_an_ante_has_one_voucher():
    table = buy("v_blank")
    assert next_shop(table.do("leave"))["offered_vouchers"] == 0
    table.do("leave").face("bl_head")
    assert next_shop(table)["offered_vouchers"] == 1


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("v_crystal_ball", {"consumable_slots": 3}),
        ("v_grabber", {"hands": 5, "hands_left": 5}),
        ("v_nacho_tong", {"hands": 6, "hands_left": 6}),
        ("v_wasteful", {"discards": 5, "discards_left": 5}),
        ("v_recyclomancy", {"discards": 6, "discards_left": 6}),
        ("v_blank", {}),
        ("v_antimatter", {"joker_slots": 6}),
        ("v_hieroglyph", {"ante": 0, "hands": 3, "hands_left": 3, "required": 150}),
        ("v_petroglyph", {"ante": -1, "hands": 3, "hands_left": 3, "discards": 3, "discards_left": 3, "required": 150}),
        ("v_paint_brush", {"hand_size": 9, "hand_count": 9}),
        ("v_palette", {"hand_size": 10, "hand_count": 10}),
    ],
)
def test_a_voucher_changes_a_number_for_good(key, changes):
    usual = {
        "ante": 1, "hands": 4, "hands_left": 4, "discards": 4, "discards_left": 4, "hand_size": 8, "hand_count": 8,
        "joker_slots": 5, "consumable_slots": 2, "required": 450,
    }  # fmt: skip
    table = buy(*pair_of(key)).do("leave", "select blind")
    assert {field: table[field] for field in usual} == usual | changes


@pytest.mark.parametrize(("key", "places"), [("v_overstock_norm", 3), ("v_overstock_plus", 4)])
def test_overstock_puts_more_on_the_shelf_at_once_and_later(key, places):
    table = buy(*pair_of(key))
    assert table["shelf_count"] == places
    assert table["shelf"]["kind"][:places].all()
    assert next_shop(table.do("leave"))["shelf_count"] == places


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ((), [3, 4, 4, 4, 5, 10]),
        (("v_clearance_sale",), [2, 3, 3, 3, 5, 7]),  # 3.5, 4.5 and 10.5 less a quarter
        (("v_clearance_sale", "v_liquidation"), [1, 2, 2, 2, 5, 5]),
    ],
)
def test_sales_lower_prices_at_once(keys, found):
    assert prices(buy(*keys)) == found


@pytest.mark.parametrize(("key", "rate"), [("v_blank", 1), ("v_hone", 2), ("v_glow_up", 4)])
def test_hone_and_glow_up_raise_the_rate_of_editions(key, rate):
    table = buy(*pair_of(key))
    edition_polls = polls(table, "edisho@", 200)
    found = [int(item["edition"]) for item in shelves(table, 60) if item["kind"] == JOKER]
    assert found == [edition(poll, rate) for poll in edition_polls[: len(found)]]
    assert sum(map(bool, found)) > rate  # four in a hundred, times the rate


def edition(poll, rate):
    if poll > 0.997:
        return cards.NEGATIVE
    if poll > 1 - 0.006 * rate:
        return cards.POLYCHROME
    return cards.HOLO if poll > 1 - 0.02 * rate else cards.FOIL * (poll > 1 - 0.04 * rate)


@pytest.mark.parametrize(("key", "price"), [("v_reroll_surplus", 3), ("v_reroll_glut", 1)])
def test_rerolls_are_cheaper_at_once_and_later(key, price):
    table = buy(*pair_of(key))
    assert prices(table)[-2] == price
    assert prices(table.do("reroll"))[-2] == price + 1
    assert prices(next_shop(table.do("leave")))[-2] == price


def kind(item):
    if item["kind"] != CONSUMABLE:
        return {JOKER: "joker", PLAYING_CARD: "card"}[int(item["kind"])]
    if item["number"] < consumables.FIRST_PLANET:
        return "tarot"
    return "planet" if item["number"] < consumables.FIRST_SPECTRAL else "spectral"


@pytest.mark.parametrize(
    ("key", "tarots", "planets", "playing"),
    [
        ("v_blank", 4, 4, 0),
        ("v_tarot_merchant", 9.6, 4, 0),
        ("v_tarot_tycoon", 32, 4, 0),
        ("v_planet_merchant", 4, 9.6, 0),
        ("v_planet_tycoon", 4, 32, 0),
        ("v_magic_trick", 4, 4, 4),
        ("v_illusion", 4, 4, 4),
    ],
)
def test_merchants_tycoons_and_magic_trick_change_what_is_offered(key, tarots, planets, playing):
    table = buy(*pair_of(key))
    ends = {"joker": 20, "tarot": 20 + tarots, "planet": 20 + tarots + planets, "card": 20 + tarots + planets + playing}
    expected = [
        next(kind for kind, end in ends.items() if poll * ends["card"] <= end) for poll in polls(table, "cdt@", 60)
    ]
    assert [kind(item) for item in shelves(table, 30)] == expected
    assert len(set(expected)) == (4 if playing else 3)


def test_a_playing_card_costs_a_dollar_and_goes_into_the_deck():
    table = buy("v_magic_trick")
    while table["shelf"][0]["kind"] != PLAYING_CARD:
        table.set(money=100).do("reroll")
    item = table["shelf"][0].copy()
    money = int(table["money"])
    table.do("buy shop 1")
    assert (table["money"], table["card_count"], table["shelf_count"]) == (money - 1, 53, 1)
    assert (table["cards"][52]["rank"], table["cards"][52]["suit"]) == (item["rank"], item["suit"])


def test_illusion_enhances_cards_of_the_shop():
    plain = [item for item in shelves(buy("v_magic_trick"), 60) if item["kind"] == PLAYING_CARD]
    assert not any(item["enhancement"] or item["edition"] or item["seal"] for item in plain)
    table = buy("v_magic_trick", "v_illusion")
    rolls = iter(polls(table, "illusion", 100))
    found = [item for item in shelves(table, 60) if item["kind"] == PLAYING_CARD]
    assert len(found) == len(plain) > 5
    for item in found:
        assert bool(item["enhancement"]) == (next(rolls) > 0.6)
        assert item["edition"] == (sure_edition(next(rolls)) if next(rolls) > 0.8 else 0)
        assert item["seal"] == 0
    assert any(item["enhancement"] for item in found)


def sure_edition(poll):
    return cards.POLYCHROME if poll > 0.85 else cards.HOLO if poll > 0.5 else cards.FOIL


ARCANA_MEGA, CELESTIAL_NORMAL = 2, 3


@pytest.mark.parametrize("key", ["v_crystal_ball", "v_omen_globe"])
def test_omen_globe_puts_spectral_cards_among_tarots(key):
    table = buy(*pair_of(key))
    omens = [key == "v_omen_globe" and poll > 0.8 for poll in polls(table, "omen_globe", 20)]
    found = []
    for _ in range(4):
        table.set(packs=ARCANA_MEGA, money=100).do("open pack 1")
        found += [number >= consumables.FIRST_SPECTRAL for number in table["pack"]["number"][:5]]
        table.do("skip pack")
    assert found == omens
    assert any(omens) == (key == "v_omen_globe")


def test_telescope_shows_the_planet_of_the_most_played_hand():
    table = buy("v_telescope")
    plays = [0] * hands.HANDS
    plays[hands.FLUSH], plays[hands.PAIR] = 3, 2
    table.set(plays=plays, packs=CELESTIAL_NORMAL).do("open pack 1")
    assert consumables.KEYS[table["pack"][0]["number"]] == "c_jupiter"


@pytest.mark.parametrize(
    ("planets", "score"),
    [((), 64), (("c_mercury",), 32 * 3), (("c_mercury", "c_mercury"), 32 * 4.5), (("c_venus",), 64)],
)
def test_planets_work_in_the_observatory(planets, score):
    table = buy("v_telescope", "v_observatory").do("leave").keep(*planets).deal("AS AH KC")
    assert table.do("play 1,2")["score"] == score


@pytest.mark.parametrize(
    ("key", "money", "interest"),
    [("v_blank", 60, 5), ("v_seed_money", 49, 9), ("v_seed_money", 60, 10), ("v_money_tree", 99, 19),
     ("v_money_tree", 150, 20)],
)  # fmt: skip
def test_the_cap_of_interest_rises(key, money, interest):
    table = buy(*pair_of(key)).do("leave").deal("AS", required=1).set(money=money).do("play 1")
    assert table["pay"] == 4 + 3 + interest


def test_directors_cut_rerolls_one_boss_an_ante_for_ten_dollars():
    table = buy("v_directors_cut").set(money=100)
    assert "reroll boss" not in table.legal
    table.do("leave")
    boss = int(table["boss"])
    assert table.do("reroll boss")["boss"] != boss
    assert table["money"] == 90
    assert "reroll boss" not in table.legal
    table.face("bl_head")
    next_shop(table)
    table.do("leave").set(money=9)
    assert (table["ante"], "reroll boss" in table.legal) == (2, False)
    assert "reroll boss" in table.set(money=10).legal


def test_retcon_rerolls_bosses_without_end():
    table = buy("v_directors_cut", "v_retcon").do("leave").set(money=30)
    assert table.do("reroll boss", "reroll boss", "reroll boss")["money"] == 0
    assert "reroll boss" not in table.legal


def test_without_the_voucher_no_boss_is_rerolled():
    assert "reroll boss" not in Table().set(money=100).legal
