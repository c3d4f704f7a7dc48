"""Jokers that grow, that change the start of a round, that have stickers, and that copy others."""

import pytest
from joker_table import HANDS_LEFT, SMALL_BLIND, beat, earned, fix, go_on, own, owning

from ludus.games.balatro.tables import cards, consumables, hands


def test_hologram_grows_by_every_card_that_is_added():
    table = owning("hologram marble certificate").do("select blind")
    assert table.value() == 1 + 2 * 0.25
    table = owning("hologram dna").deal("AS KH").do("play 1")
    assert table.value() == 1.25


def test_campfire_grows_by_what_is_sold_until_a_boss_is_beaten():
    table = owning("campfire egg").keep("c_pluto").do("sell joker 2", "sell consumable 1")
    assert table.value() == 1.5
    assert go_on(beat(table)).value() == 1.5
    assert beat(table, "bl_wall").value() == 1.0


def test_flash_card_grows_with_rerolls():
    table = beat(owning("flash").set(money=50)).do("cash out", "reroll", "reroll")
    assert table.value() == 2 * 2


def test_red_card_grows_with_packs_that_are_skipped():
    table = beat(owning("red_card").set(money=50)).do(
        "cash out", "open pack 1", "skip pack", "open pack 2", "skip pack"
    )
    assert table.value() == 2 * 3


def test_red_card_does_not_grow_when_something_is_picked():
    assert beat(owning("red_card")).do("cash out", "open pack 1", "pick 1").value() == 0


def test_castle_grows_by_discarded_cards_of_its_suit():
    table = owning("castle").deal("AS KH 9H 2D").set(castle_suit=cards.HEARTS).do("discard 1,2,3")
    assert table.value() == 2 * 3


def test_yorick_grows_with_every_23_discarded_cards():
    table = owning("yorick").deal("AS KH QD JC 9S 8H 7D").set(discards_left=20)
    values = []
    for count in (5, 5, 5, 5, 2, 1, 5, 5, 5, 5, 3):
        table.do("discard " + ",".join(str(place) for place in range(1, count + 1)))
        values.append(table.value())
    assert values == [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]


def test_hit_the_road_grows_by_jacks_until_the_end_of_the_round():
    table = owning("hit_the_road").deal("JS JH AD 9C").do("discard 1,2,4")
    assert table.value() == 2.0
    assert table.deal("AS", required=1).do("play 1").value() == 1.0


def test_green_joker_grows_with_hands_and_shrinks_with_discards():
    table = owning("green_joker").deal("AS KH QD JC").do("play 1", "play 1", "play 1")
    assert table.value() == 3
    assert table.do("discard 1,2").value() == 2
    assert table.set(discards_left=9).do(*["discard 1"] * 3).value() == 0


def test_glass_joker_grows_by_glass_that_breaks_or_is_destroyed():
    table = fix(owning("glass").deal("AS AH KD", enhancement=cards.GLASS), "glass", True).do("play 1,2")
    assert (table.value(), table["card_count"]) == (1 + 2 * 0.75, 50)
    table = owning("glass").keep("c_hanged_man").deal("AS KH", enhancement=cards.GLASS).do("use consumable 1 on 1")
    assert table.value() == 1.75


def test_canio_grows_by_faces_that_are_destroyed():
    table = owning("caino").keep("c_hanged_man").deal("KS AH 9D").do("use consumable 1 on 1,2")
    assert table.value() == 2.0
    assert owning("caino trading").deal("QS AH").do("discard 1").value() == 2.0
    assert owning("caino").deal("QS AH").do("discard 1").value() == 1.0


@pytest.mark.parametrize(("text", "level"), [("burnt", 2), ("blueprint burnt", 3), ("burnt joker brainstorm", 3)])
def test_burnt_joker_raises_the_first_discarded_hand(text, level):
    table = owning(text).deal("AS AH KD QC").do("discard 1,2")
    assert table["levels"][hands.PAIR] == level
    table.deal("AS AH KD QC").do("discard 1,2")
    assert table["levels"][hands.PAIR] == level


def test_space_joker_raises_the_hand_one_in_four():
    for outcome, level in ((True, 2), (False, 1)):
        table = fix(owning("space").deal("AS AH"), "space", outcome).do("play 1,2")
        assert table["levels"][hands.PAIR] == level
    assert fix(owning("blueprint space").deal("AS AH"), "space", True).do("play 1,2")["levels"][hands.PAIR] == 3


@pytest.mark.parametrize(
    ("text", "held", "hands_left", "discards_left"),
    [
        ("joker", 8, 4, 4), ("juggler", 9, 4, 4), ("drunkard", 8, 4, 5), ("troubadour", 10, 3, 4),
        ("merry_andy", 7, 4, 7), ("stuntman", 6, 4, 4), ("turtle_bean", 13, 4, 4), ("burglar", 8, 7, 0),
        ("blueprint burglar", 8, 10, 0), ("blueprint juggler", 9, 4, 4), ("blueprint stuntman", 6, 4, 4),
        ("burglar drunkard", 8, 7, 0), ("juggler juggler stuntman", 8, 4, 4), ("troubadour troubadour", 12, 2, 4),
    ],
)  # fmt: skip
def test_jokers_change_the_start_of_a_round(text, held, hands_left, discards_left):
    table = owning(text).do("select blind")
    assert (len(table.hand()), table["hands_left"], table["discards_left"]) == (held, hands_left, discards_left)


def test_there_is_always_one_hand_to_play():
    assert owning(" ".join(["troubadour"] * 5)).do("select blind")["hands_left"] == 1


def test_turtle_bean_holds_a_card_less_every_round():
    table = owning("turtle_bean")
    assert [len(go_on(beat(table)).face("bl_small").do("select blind").hand()) for _ in range(2)] == [12, 11]


def test_a_sold_juggler_takes_its_card_along_with_the_next_draw():
    table = owning("juggler").do("select blind", "sell joker 1")
    assert len(table.do("discard 1").hand()) == 8


def test_chaos_the_clown_gives_a_reroll_in_every_shop():
    table = beat(owning("chaos").set(money=50)).do("cash out")
    assert [-earned(table, "reroll") for _ in range(3)] == [0, 5, 6]
    assert -earned(beat(table.do("leave")).do("cash out"), "reroll") == 0


def test_astronomer_makes_planets_free():
    # The first shelf of this seed holds Venus, for 3, and Walkie Talkie, for 4.
    for text, price in (("joker", 3), ("astronomer", 0)):
        table = beat(owning(text)).do("cash out")
        assert table["shelf"][0]["number"] == consumables.KEYS.index("c_venus")
        assert -earned(table, "buy shop 1") == price
        assert -earned(table.set(packs=[3, 0], money=50), "open pack 1") == (4 if price else 0)


def test_an_eternal_joker_is_not_sold():
    table = own(owning("egg", stickers=cards.ETERNAL), "j_joker")
    assert {name for name in table.legal if name.startswith("sell")} == {"sell joker 2"}


def test_a_perishable_joker_is_done_after_five_rounds():
    table = owning("golden", stickers=cards.PERISHABLE, rounds=5)
    pays = []
    for _ in range(6):
        pays.append(int(beat(table.set(money=0))["pay"]) - SMALL_BLIND - HANDS_LEFT)
        go_on(table)
    assert (pays, table.owned()) == ([4, 4, 4, 4, 0, 0], ["j_golden"])


def test_a_perished_joker_keeps_its_place_and_can_be_sold():
    table = beat(owning("egg", stickers=cards.PERISHABLE, rounds=1)).do("cash out")
    assert (table["jokers"][0]["debuffed"] > 0, "sell joker 1" in table.legal) == (True, True)


def test_a_rental_joker_costs_three_dollars_a_round():
    table = beat(owning("joker golden", stickers=cards.RENTAL).set(money=12))
    assert (table["money"], table["pay"]) == (12 - 2 * 3, SMALL_BLIND + HANDS_LEFT + 1 + 4)


def test_rent_leads_into_debt():
    assert beat(owning("joker joker", stickers=cards.RENTAL))["money"] == 4 - 6


@pytest.mark.parametrize("text", ["blueprint", "egg blueprint", "brainstorm", "brainstorm egg", "blueprint brainstorm"])
def test_copies_of_nothing_do_nothing(text):
    table = owning(text).deal("KS KH")
    assert earned(table, "play 1,2") == 0
    assert table["score"] == (10 + 20) * 2


def test_a_chain_of_copies_leads_to_the_joker_at_its_end():
    table = owning("blueprint blueprint cartomancer").set(consumable_slots=5).do("select blind")
    assert len(table.kept()) == 3


def test_a_blueprint_that_is_moved_copies_its_new_neighbour():
    table = owning("blueprint cartomancer marble").set(consumable_slots=5).do("move right joker 1", "select blind")
    assert table.owned() == ["j_cartomancer", "j_blueprint", "j_marble"]
    assert (len(table.kept()), table["card_count"]) == (1, 54)
