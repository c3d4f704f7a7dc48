"""Jokers, gold and seals that pay: at the end of a round, while a hand scores, for discards, and when they are sold."""

import pytest
from joker_table import HANDS_LEFT, SMALL_BLIND, beat, earned, fix, go_on, owning
from table import Table

from ludus.games.balatro.tables import cards, consumables, hands


@pytest.mark.parametrize(
    ("text", "pay"),
    [
        ("golden", 4), ("golden golden", 8), ("delayed_grat", 2 * 4), ("cloud_9", 4), ("rocket", 1), ("satellite", 0),
        ("to_the_moon", 0), ("blueprint golden", 4), ("blueprint delayed_grat", 8), ("brainstorm", 0),
        ("rocket blueprint", 1), ("cloud_9 brainstorm", 4),
    ],
)  # fmt: skip
def test_jokers_pay_at_the_end_of_a_round_and_copies_of_them_do_not(text, pay):
    table = beat(owning(text))
    assert (table.phase, table["pay"]) == ("pay", SMALL_BLIND + HANDS_LEFT + pay)
    assert earned(table, "cash out") == SMALL_BLIND + HANDS_LEFT + pay


def test_delayed_gratification_pays_only_without_discards():
    table = owning("delayed_grat").deal("AS KH", required=1).do("discard 2", "play 1")
    assert table["pay"] == SMALL_BLIND + HANDS_LEFT


def test_cloud_9_counts_the_nines_of_the_whole_deck():
    assert beat(owning("cloud_9"), text="9S 9H")["pay"] == SMALL_BLIND + HANDS_LEFT + 4 + 2


def test_rocket_pays_more_from_the_boss_on():
    table = beat(owning("rocket"), "bl_wall")
    assert (table.value(), table["pay"]) == (3.0, 5 + HANDS_LEFT + 3)
    go_on(table).set(money=0)
    assert beat(table)["pay"] == SMALL_BLIND + HANDS_LEFT + 3


def test_satellite_pays_for_every_planet_that_was_used_once():
    table = owning("satellite")
    for key in ("c_pluto", "c_mars", "c_pluto", "c_hermit"):
        table.keep(key).do("use consumable 1")
    table.set(money=0)
    assert beat(table)["pay"] == SMALL_BLIND + HANDS_LEFT + 2


@pytest.mark.parametrize(("money", "text", "interest"), [
    (4, "to_the_moon", 0), (14, "to_the_moon", 4), (25, "to_the_moon", 10), (80, "to_the_moon", 10),
    (25, "to_the_moon to_the_moon", 15), (25, "joker", 5),
])  # fmt: skip
def test_to_the_moon_adds_a_dollar_to_every_dollar_of_interest(money, text, interest):
    assert beat(owning(text).set(money=money))["pay"] == SMALL_BLIND + HANDS_LEFT + interest


@pytest.mark.parametrize(
    ("text", "hand", "play", "roll", "money"),
    [
        ("business", "KS KH", "play 1,2", "business", 4),
        ("blueprint business", "KS KH", "play 1,2", "business", 8),
        ("business", "AS AH", "play 1,2", "business", 0),
        ("business pareidolia", "AS AH", "play 1,2", "business", 4),
        ("reserved_parking", "AS KH QD 3C", "play 1", "parking", 2),
        ("reserved_parking mime", "AS KH QD 3C", "play 1", "parking", 4),
        ("reserved_parking brainstorm", "AS KH QD 3C", "play 1", "parking", 4),
        ("rough_gem", "AD AH", "play 1,2", "", 1),
        ("blueprint rough_gem", "AD AH", "play 1,2", "", 2),
        ("rough_gem smeared", "AD AH", "play 1,2", "", 2),
        ("rough_gem hanging_chad", "AD AH", "play 1,2", "", 3),
    ],
)  # fmt: skip
def test_cards_earn_money_for_jokers(text, hand, play, roll, money):
    table = owning(text).deal(hand)
    if roll:
        assert earned(fix(owning(text).deal(hand), roll, False), play) == 0
        fix(table, roll, True)
    assert earned(table, play) == money


def test_golden_ticket_pays_for_gold_cards_that_score():
    assert earned(owning("ticket").deal("AS AH", enhancement=cards.GOLD), "play 1,2") == 8
    assert earned(owning("ticket").deal("AS KH", enhancement=cards.GOLD), "play 1") == 4


def test_business_card_pays_in_half_of_the_cases():
    table = owning("business pareidolia").deal("AS AH AD AC").set(hands_left=50)
    money = sum(earned(table.deal("AS AH AD AC"), "play 1,2,3,4") for _ in range(10))
    assert 2 * 10 <= money <= 2 * 30


def test_to_do_list_pays_for_its_hand_and_then_lists_another():
    table = owning("todo_list", counter=hands.PAIR).deal("AS AH KD")
    assert earned(table, "play 1,2") == 4
    assert earned(table.deal("AS KH"), "play 1") == 0
    assert beat(table)["jokers"][0]["counter"] != hands.PAIR


def test_a_copied_to_do_list_pays_twice():
    assert earned(owning("blueprint todo_list", counter=hands.PAIR).deal("AS AH"), "play 1,2") == 8


@pytest.mark.parametrize(
    ("text", "hand", "discard", "money"),
    [
        ("mail", "7S 7H 8D", "discard 1,2,3", 10),
        ("blueprint mail", "7S 8D", "discard 1,2", 10),
        ("mail", "8S 8H 8D", "discard 1,2,3", 0),
        ("faceless", "KS QH JD 2C", "discard 1,2,3,4", 5),
        ("faceless", "KS QH 2C", "discard 1,2,3", 0),
        ("faceless brainstorm", "KS QH JD", "discard 1,2,3", 10),
        ("trading", "KS 2C", "discard 2", 3),
        ("trading", "KS 2C", "discard 1,2", 0),
        ("trading brainstorm", "KS 2C", "discard 1", 3),
    ],
)  # fmt: skip
def test_discarded_cards_earn_money_for_jokers(text, hand, discard, money):
    assert earned(owning(text).deal(hand).set(mail_rank=cards.RANKS.index("7")), discard) == money


def test_trading_card_destroys_the_single_card_of_the_first_discard():
    table = owning("trading").deal("KS 2C 3D").do("discard 2")
    assert (table["card_count"], "2C" in table.hand()) == (51, False)
    assert (earned(table, "discard 1"), table["card_count"]) == (0, 51)


@pytest.mark.parametrize(
    ("key", "hand", "flags", "money"),
    [
        ("bl_club", "2C 3S", cards.DEBUFFED, 8), ("bl_club", "2S 3S", 0, 0), ("bl_flint", "2S 3S", 0, 8),
        ("bl_tooth", "2S 3S", 0, -1), ("bl_hook", "2S 3S", 0, 0), ("bl_psychic", "2S 3S", 0, 8),
        ("bl_wall", "2S 3S", 0, 0), ("bl_arm", "2S 3S", 0, 0), ("bl_small", "2S 3S", 0, 0),
    ],
)  # fmt: skip
def test_matador_is_paid_when_the_boss_acts_on_a_hand(key, hand, flags, money):
    assert earned(owning("matador").face(key).deal(hand, flags=flags), "play 1") == money


def test_a_copied_matador_is_paid_for_a_refused_hand_too():
    assert earned(owning("blueprint matador").face("bl_psychic").deal("2S 3S"), "play 1") == 16


def test_egg_sells_for_three_more_after_every_round():
    table = owning("egg")
    for _ in range(2):
        go_on(beat(table))
    assert earned(table, "sell joker 1") == 4 // 2 + 2 * 3


def test_gift_card_makes_everything_sell_for_one_more():
    table = go_on(beat(owning("gift joker").keep("c_hermit")))
    assert earned(table, "sell consumable 1") == 3 // 2 + 1
    assert earned(table, "sell joker 2") == 2 // 2 + 1
    assert earned(table, "sell joker 1") == 6 // 2 + 1


@pytest.mark.parametrize(("text", "least"), [("joker", 4), ("credit_card", -16), ("credit_card credit_card", -36)])
def test_credit_card_lends_twenty_dollars(text, least):
    # The first pack of a run costs 4.
    table = beat(owning(text)).do("cash out")
    assert "open pack 1" in table.set(money=least).legal
    assert "open pack 1" not in table.set(money=least - 1).legal
    assert table.set(money=least).do("open pack 1")["money"] == least - 4


@pytest.mark.parametrize(("text", "seal", "money"), [
    ("", 0, 6), ("mime", 0, 12), ("mime blueprint mime", 0, 24), ("", cards.RED_SEAL, 12), ("mime", cards.RED_SEAL, 18),
])  # fmt: skip
def test_gold_cards_pay_when_they_are_held_at_the_end(text, seal, money):
    table = owning(text).deal("AS KH QD", required=1, enhancement=cards.GOLD, seal=seal)
    assert earned(table, "play 1") == money


def test_gold_counts_for_the_interest_of_the_same_round():
    table = Table().deal("AS KH QD", required=1, enhancement=cards.GOLD).do("play 1")
    assert (table["money"], table["pay"]) == (10, SMALL_BLIND + HANDS_LEFT + 2)


def test_debuffed_gold_pays_nothing():
    assert earned(Table().deal("AS KH", required=1, enhancement=cards.GOLD, flags=cards.DEBUFFED), "play 1") == 0


@pytest.mark.parametrize(("text", "hand", "play", "kept"), [
    ("", "AS AH KD", "play 1,2", ["c_mercury"]), ("", "AS KD", "play 1", ["c_pluto"]),
    ("mime", "AS KD", "play 1", ["c_pluto", "c_pluto"]), ("", "AS KD QD JD", "play 1", ["c_pluto", "c_pluto"]),
    ("", "AS AH", "play 1,2", []),
])  # fmt: skip
def test_a_blue_seal_held_at_the_end_brings_the_planet_of_the_last_hand(text, hand, play, kept):
    assert owning(text).deal(hand, required=1, seal=cards.BLUE_SEAL).do(play).kept() == kept


def test_a_purple_seal_brings_a_tarot_when_it_is_discarded():
    table = Table().deal("AS KH QD", seal=cards.PURPLE_SEAL).do("discard 1")
    assert len(table.kept()) == 1
    assert consumables.KEYS.index(table.kept()[0]) < consumables.FIRST_PLANET
    assert len(table.deal("AS KH QD JS", seal=cards.PURPLE_SEAL).do("discard 1,2,3").kept()) == 2


def test_a_purple_seal_that_is_played_brings_nothing():
    assert Table().deal("AS KH", seal=cards.PURPLE_SEAL).do("play 1").kept() == []


def test_a_purple_seal_that_the_hook_discards_brings_a_tarot_too():
    assert len(Table().face("bl_hook").deal("AS KH QD", seal=cards.PURPLE_SEAL).do("play 1").kept()) == 2


def test_a_gold_seal_pays_when_it_scores():
    assert earned(Table().deal("AS AH KD", seal=cards.GOLD_SEAL), "play 1,2,3") == 6
    assert earned(Table().deal("AS KH", seal=cards.GOLD_SEAL, required=1), "play 1") == 3
