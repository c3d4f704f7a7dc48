"""The fifteen decks and eight stakes: starting values, required scores and stickers."""

from collections import Counter

import pytest
from table import Table

from ludus.games.balatro import randomness
from ludus.games.balatro.state import CONSUMABLE, JOKER
from ludus.games.balatro.tables import cards, consumables, decks, jokers, tags, vouchers
from ludus.games.balatro.tables.streams import stream

USUAL = {
    "hands": 4,
    "discards": 3,
    "money": 4,
    "hand_size": 8,
    "joker_slots": 5,
    "consumable_slots": 2,
    "card_count": 52,
}
CHANGES = {
    "red": {"discards": 4}, "blue": {"hands": 5}, "yellow": {"money": 14}, "black": {"hands": 3, "joker_slots": 6},
    "magic": {"consumable_slots": 3}, "nebula": {"consumable_slots": 1}, "abandoned": {"card_count": 40},
    "painted": {"hand_size": 10, "joker_slots": 4},
}  # fmt: skip
VOUCHERS = {
    "magic": ["v_crystal_ball"], "nebula": ["v_telescope"],
    "zodiac": ["v_overstock_norm", "v_tarot_merchant", "v_planet_merchant"],
}  # fmt: skip


def shop(table):
    return table.deal("AS", required=1).do("play 1", "cash out")


def fronts(table):
    return Counter(table.name(number) for number in range(table["card_count"]))


@pytest.mark.parametrize("deck", decks.NAMES)
def test_starting_values_of_decks(deck):
    table = Table("LUDUS", deck=deck)
    assert {field: table[field] for field in USUAL} == USUAL | CHANGES.get(deck, {})
    assert [vouchers.KEYS[number] for number in table["owned_vouchers"].nonzero()[0]] == VOUCHERS.get(deck, [])
    assert table.kept() == {"magic": ["c_fool", "c_fool"], "ghost": ["c_hex"]}.get(deck, [])
    assert (table["ante"], table["joker_count"], table["tag_count"]) == (1, 0, 0)
    assert table["levels"].tolist() == [1] * 12
    table.do("select blind")
    assert (table["hands_left"], table["discards_left"]) == (table["hands"], table["discards"])
    assert table["hand_count"] == table["hand_size"]


def test_a_usual_deck_has_every_card_once():
    assert fronts(Table()) == Counter(rank + suit for rank in cards.RANKS for suit in cards.SUITS)


def test_abandoned_has_no_faces():
    assert fronts(Table(deck="abandoned")) == Counter(rank + suit for rank in "23456789TA" for suit in cards.SUITS)


def test_checkered_has_spades_and_hearts_twice():
    assert fronts(Table(deck="checkered")) == Counter({rank + suit: 2 for rank in cards.RANKS for suit in "SH"})


def test_erratic_draws_every_card_by_the_seed():
    table = Table("LUDUS", deck="erratic")
    keys = sorted(f"{suit}{rank}" for suit in cards.SUITS for rank in cards.RANKS)
    twin = Table("LUDUS").pool.states.copy()[0]
    drawn = [keys[int(randomness.uniform(twin, stream("erratic")) * 52)] for _ in range(52)]
    assert [table.name(number) for number in range(52)] == [key[1] + key[0] for key in drawn]
    assert len(fronts(table)) < 52


def test_plasma_doubles_required_scores():
    table = Table(deck="plasma").do("select blind")
    assert table["required"] == 600


@pytest.mark.parametrize(
    ("play", "score"),
    [
        ("play 1,2", 17 * 17),  # (32 + 2) / 2
        ("play 3", 8 * 8),  # (15 + 1) / 2
        ("play 5", 7 * 7),  # (14 + 1) / 2, rounded down
    ],
)
def test_plasma_balances_chips_and_mult(play, score):
    assert Table(deck="plasma").deal("AS AH KC QD 9S 7H").do(play)["score"] == score


@pytest.mark.parametrize(("deck", "pay"), [("green", 3 + 2 * 2 + 3), ("blue", 3 + 3 + 5)])
def test_green_pays_for_hands_and_discards_instead_of_interest(deck, pay):
    table = Table(deck=deck).deal("AS KS QS").do("play 3").set(required=1, money=50).do("play 1")
    assert table["pay"] == pay


def test_anaglyph_gives_a_double_tag_for_every_boss():
    table = shop(Table(deck="anaglyph"))
    assert table["tag_count"] == 0
    shop(table.do("leave").face("bl_head"))
    assert table["tags"][: table["tag_count"]].tolist() == [tags.DOUBLE_TAG]


@pytest.mark.parametrize("deck", ["ghost", "red"])
def test_ghost_sells_spectral_cards(deck):
    table = shop(Table(deck=deck))
    rate = 2 if deck == "ghost" else 0
    twin = table.pool.states.copy()[0]
    polls = [randomness.uniform(twin, stream("cdt@")) for _ in range(80)]
    found = []
    for _ in range(40):
        table.set(money=100, rerolls=0).do("reroll")
        for item in table["shelf"][:2]:
            found.append(item["kind"] == CONSUMABLE and item["number"] >= consumables.FIRST_SPECTRAL)
    assert found == [poll * (28 + rate) > 28 for poll in polls]
    assert any(found) == (deck == "ghost")


def test_zodiac_has_three_items_on_the_shelf():
    assert shop(Table(deck="zodiac"))["shelf_count"] == 3


def test_nebula_shows_the_planet_of_the_most_played_hand():
    table = shop(Table(deck="nebula")).set(packs=3, money=100).do("open pack 1")
    assert consumables.KEYS[table["pack"][0]["number"]] == "c_pluto"  # an ace alone was played


SCALINGS = {
    "white red": [300, 800, 2000, 5000, 11000, 20000, 35000, 50000, 110_000, 560_000, 7_200_000],
    "green black blue": [300, 900, 2600, 8000, 20000, 36000, 60000, 100_000, 230_000, 1_100_000, 14_000_000],
    "purple orange gold": [300, 1000, 3200, 9000, 25000, 60000, 110_000, 200_000, 460_000, 2_200_000, 29_000_000],
}


@pytest.mark.parametrize(
    ("stake", "base"), [(stake, base) for names, base in SCALINGS.items() for stake in names.split()]
)
def test_required_scores_by_ante_and_stake(stake, base):
    table = Table(stake=stake)
    start = table.pool.states.copy()
    found = []
    for ante in range(1, len(base) + 1):
        table.pool.put(start)
        found.append(float(table.set(ante=ante).do("select blind")["required"]))
    assert found == base


def test_deep_antes_grow_faster_and_faster_to_two_digits():
    table = Table()
    start = table.pool.states.copy()
    for ante, amount in [(12, 3.0e8), (13, 4.7e10), (14, 2.9e13), (15, 7.7e16), (16, 8.6e20)]:
        table.pool.put(start)
        assert table.set(ante=ante).do("select blind")["required"] == pytest.approx(amount, rel=1e-12)


@pytest.mark.parametrize("ante", [0, -1])
@pytest.mark.parametrize(("blind", "required"), [("bl_small", 100), ("bl_big", 150), ("bl_hook", 200)])
def test_required_scores_below_the_first_ante(ante, blind, required):
    assert Table().set(ante=ante).face(blind).do("select blind")["required"] == required


@pytest.mark.parametrize("stake", decks.STAKES)
def test_from_the_red_stake_on_a_small_blind_pays_nothing(stake):
    table = Table(stake=stake).deal("AS", required=1).do("play 1")
    assert table["pay"] == (3 if stake == "white" else 0) + 3
    table.do("cash out", "leave").set(money=0).deal("AS", required=1).do("play 1")
    assert table["pay"] == 4 + 3


@pytest.mark.parametrize("stake", decks.STAKES)
def test_from_the_blue_stake_on_there_is_a_discard_less(stake):
    table = Table(stake=stake).do("select blind")
    assert table["discards_left"] == 4 - (stake in ("blue", "purple", "orange", "gold"))


@pytest.mark.parametrize(
    ("stake", "eternal", "perishable", "rental"),
    [("white", 0, 0, 0), ("green", 0, 0, 0), ("black", 1, 0, 0), ("purple", 1, 0, 0), ("orange", 1, 1, 0),
     ("gold", 1, 1, 1)],
)  # fmt: skip
def test_stickers_of_jokers_in_a_shop(stake, eternal, perishable, rental):
    table = shop(Table(stake=stake))
    twin = table.pool.states.copy()[0]
    found, expected = [], []
    for _ in range(25):
        table.set(money=100, rerolls=0).do("reroll")
        for item in table["shelf"][:2]:
            if item["kind"] == JOKER:
                poll = randomness.uniform(twin, stream("etperpoll@"))
                lasts = eternal and poll > 0.7 and jokers.CAN_BE_ETERNAL[item["number"]]
                ends = perishable and 0.4 < poll <= 0.7 and jokers.CAN_PERISH[item["number"]]
                costs = rental and randomness.uniform(twin, stream("ssjr@")) > 0.7
                expected.append(
                    cards.ETERNAL * bool(lasts) + cards.PERISHABLE * bool(ends) + cards.RENTAL * bool(costs)
                )
                found.append(int(item["stickers"]))
                assert item["rounds"] == (5 if ends else 0)
    assert found == expected
    for sticker, occurs in ((cards.ETERNAL, eternal), (cards.PERISHABLE, perishable), (cards.RENTAL, rental)):
        assert any(stickers & sticker for stickers in found) == bool(occurs)
    assert not any(stickers & cards.ETERNAL and stickers & cards.PERISHABLE for stickers in found)


def test_an_eternal_joker_is_neither_sold_nor_destroyed():
    table = Table().own("j_joker", stickers=cards.ETERNAL).own("j_ceremonial").do("move right joker 1")
    assert table.owned() == ["j_ceremonial", "j_joker"]
    assert "sell joker 1" in table.legal
    assert "sell joker 2" not in table.legal
    assert table.do("select blind").owned() == ["j_ceremonial", "j_joker"]


def test_a_perishable_joker_has_no_effect_after_five_rounds():
    table = Table().own("j_joker", stickers=cards.PERISHABLE, rounds=5)
    for _ in range(5):
        table.deal("AS", required=1).do("play 1")
        assert table["tally"]["score"] == 16 * 5
        table.do("cash out", "leave").set(blind=0)
    assert table.deal("AS").do("play 1")["tally"]["score"] == 16


def test_a_rental_joker_costs_one_dollar_and_three_every_round():
    table = shop(Table())  # Walkie Talkie is at the second place
    states = table.pool.states.copy()
    states[0]["shelf"][1]["stickers"] = cards.RENTAL
    table.pool.put(states)
    assert table.do("buy shop 2")["money"] == 10 - 1
    table.do("leave").deal("AS", required=1).do("play 1")
    assert (table["money"], table["pay"]) == (9 - 3, 4 + 3 + 1)
