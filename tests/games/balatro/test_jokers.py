"""What jokers do besides scoring: money, cards that come and go, growth and decay, sizes, stickers, and copies of it."""

import pytest
from table import Table

from ludus.games.balatro import conditions, generation, holdings
from ludus.games.balatro.tables import blinds, cards, consumables, hands, jokers, tags
from ludus.words import OVER, PLAYING

SMALL_BLIND, HANDS_LEFT = 3, 3
"""what the small blind pays if it is beaten with the first of four hands"""


def own(table, *keys, **fields):
    """Own jokers that know of each other."""
    table.own(*keys, **fields)
    holdings.refresh(table.state)
    return table.set()


def owning(text, **fields):
    """A new game with these jokers: `owning("blueprint cartomancer")`."""
    return own(Table(), *(f"j_{key}" for key in text.split()), **fields)


def fix(table, roll, outcome):
    """Give the outcome of a roll beforehand."""
    bit = 1 << conditions.FIXED_ROLLS.index(roll)
    table.state["tally"]["fixed"] |= bit
    table.state["tally"]["fixed_to"] |= bit if outcome else 0
    return table


def beat(table, key="bl_small", text="AS"):
    """Beat a blind with the first card."""
    return table.face(key).deal(text, required=1).do("play 1")


def go_on(table):
    return table.do("cash out", "leave")


def earned(table, *names):
    """What actions change about the money."""
    before = int(table["money"])
    return int(table.do(*names)["money"]) - before


# Money.


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


def test_delayed_gratification_wants_no_discard_at_all():
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
        ("bl_tooth", "2S 3S", 0, 8 - 1), ("bl_hook", "2S 3S", 0, 8), ("bl_psychic", "2S 3S", 0, 8),
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


# What comes.


@pytest.mark.parametrize(
    ("text", "hand", "play", "tarots"),
    [
        ("8_ball", "8S 8H", "play 1,2", 2), ("8_ball", "8S 9H", "play 1", 1), ("8_ball", "9S", "play 1", 0),
        ("8_ball brainstorm", "8S 9H", "play 1", 2), ("superposition", "AS 2H 3D 4C 5S", "play 1,2,3,4,5", 1),
        ("superposition", "6S 2H 3D 4C 5S", "play 1,2,3,4,5", 0), ("superposition", "AS AH", "play 1,2", 0),
        ("blueprint superposition", "AS KH QD JC TS", "play 1,2,3,4,5", 2), ("vagabond", "2S", "play 1", 1),
        ("vagabond blueprint vagabond", "2S", "play 1", 2),
    ],
)  # fmt: skip
def test_hands_bring_tarots(text, hand, play, tarots):
    table = fix(owning(text).deal(hand + " KD"), "8ball", True).do(play)
    numbers = [consumables.KEYS.index(key) for key in table.kept()]
    assert len(numbers) == tarots
    assert all(consumables.FIRST_TAROT <= number < consumables.FIRST_PLANET for number in numbers)


def test_vagabond_is_for_the_poor():
    assert [len(owning("vagabond").set(money=money).deal("2S").do("play 1").kept()) for money in (-3, 4, 5)] == [1, 1, 0]


def test_nothing_is_created_without_room():
    table = fix(owning("8_ball vagabond").keep("c_pluto").deal("8S 8H KD"), "8ball", True).do("play 1,2")
    assert len(table.kept()) == 2


@pytest.mark.parametrize(("hand", "count"), [("9S 8S 7S 6S 5S", 1), ("9S 8S 7S 6S 2S", 0), ("9S 8S 7S 6S 5H", 0)])
def test_seance_brings_a_spectral_card_for_a_straight_flush(hand, count):
    table = owning("seance").deal(hand).do("play 1,2,3,4,5")
    assert len(table.kept()) == count
    assert all(consumables.KEYS.index(key) >= consumables.FIRST_SPECTRAL for key in table.kept())


def test_sixth_sense_turns_the_first_single_six_into_a_spectral_card():
    table = owning("sixth_sense").deal("6S 6H").do("play 1")
    assert (table["card_count"], len(table.kept())) == (51, 1)
    assert consumables.KEYS.index(table.kept()[0]) >= consumables.FIRST_SPECTRAL
    table.deal("6S 6H").do("play 1")
    assert (table["card_count"], len(table.kept())) == (51, 1)


@pytest.mark.parametrize(("hand", "play"), [("6S 6H", "play 1,2"), ("7S 6H", "play 1")])
def test_sixth_sense_wants_one_six_alone(hand, play):
    table = owning("sixth_sense").deal(hand).do(play)
    assert (table["card_count"], table.kept()) == (52, [])


@pytest.mark.parametrize(("text", "count"), [("cartomancer", 1), ("blueprint cartomancer", 2), ("cartomancer brainstorm", 2)])
def test_cartomancer_brings_a_tarot_with_every_blind(text, count):
    table = owning(text).do("select blind")
    assert len(table.kept()) == count
    assert all(consumables.KEYS.index(key) < consumables.FIRST_PLANET for key in table.kept())


@pytest.mark.parametrize(("text", "count"), [
    ("riff_raff", 3), ("riff_raff egg half", 5), ("riff_raff egg half golden", 5), ("riff_raff egg half golden drunkard", 5),
    ("blueprint riff_raff", 5),
])  # fmt: skip
def test_riff_raff_brings_two_common_jokers_where_there_is_room(text, count):
    table = owning(text).do("select blind")
    assert len(table.owned()) == count
    assert all(jokers.RARITY[jokers.number_of(key)] == jokers.COMMON for key in table.owned()[len(text.split()) :])


@pytest.mark.parametrize(("text", "count"), [("certificate", 1), ("blueprint certificate", 2)])
def test_certificate_brings_a_sealed_card_into_the_first_hand(text, count):
    table = owning(text).do("select blind")
    assert (len(table.hand()), table["card_count"], table["pile_count"]) == (8 + count, 52 + count, 44)
    for card in table["cards"][52 : 52 + count]:
        assert (card["seal"] > 0, card["enhancement"], card["edition"]) == (True, 0, 0)


@pytest.mark.parametrize(("text", "count"), [("marble", 1), ("blueprint marble", 2)])
def test_marble_joker_adds_a_stone_to_the_deck(text, count):
    table = owning(text).do("select blind")
    assert (table["card_count"], len(table.hand())) == (52 + count, 8)
    assert [int(card["enhancement"]) for card in table["cards"][52 : 52 + count]] == [cards.STONE] * count


@pytest.mark.parametrize(("text", "count"), [("dna", 1), ("blueprint dna", 2)])
def test_dna_copies_the_single_card_of_the_first_hand(text, count):
    table = owning(text).deal("KS QH", enhancement=cards.STEEL, seal=cards.RED_SEAL).do("play 1")
    assert table["card_count"] == 52 + count
    for number, card in enumerate(table["cards"][52 : 52 + count], start=52):
        assert (table.name(number), card["enhancement"], card["seal"]) == ("KS", cards.STEEL, cards.RED_SEAL)
    assert set(range(52, 52 + count)) <= set(table["hand"][: table["hand_count"]])


@pytest.mark.parametrize("plays", [("play 1,2",), ("play 1,2", "play 1")])
def test_dna_wants_one_card_first(plays):
    assert owning("dna").deal("KS QH").do(*plays)["card_count"] == 52


def test_hallucination_brings_a_tarot_when_a_pack_is_opened():
    table = beat(owning("hallucination oops")).do("cash out", "open pack 1")
    assert len(table.kept()) == 1
    assert consumables.KEYS.index(table.kept()[0]) < consumables.FIRST_PLANET


def test_hallucination_brings_it_in_half_of_the_cases():
    table = beat(owning("hallucination")).do("cash out").set(money=1000)
    found = 0
    for _ in range(20):
        table.set(consumable_count=0, packs=[0, 0]).do("open pack 1", "skip pack")
        found += len(table.kept())
    assert 4 <= found <= 16


@pytest.mark.parametrize(("text", "copies"), [("perkeo", 1), ("blueprint perkeo", 2)])
def test_perkeo_leaves_the_shop_with_negative_copies(text, copies):
    table = go_on(beat(owning(text).keep("c_hermit", "c_hermit")))
    assert table.kept() == ["c_hermit"] * (2 + copies)
    assert [int(item["edition"]) for item in table["consumables"][2 : 2 + copies]] == [cards.NEGATIVE] * copies


def test_perkeo_copies_nothing_of_nothing():
    assert go_on(beat(owning("perkeo"))).kept() == []


def test_a_negative_consumable_takes_no_room():
    table = go_on(beat(owning("perkeo").keep("c_hermit"))).keep("c_emperor").do("use consumable 3")
    assert len(table.kept()) == 3


def test_diet_cola_is_sold_for_a_double_tag():
    table = owning("diet_cola").do("sell joker 1")
    assert (table["tags"][: table["tag_count"]].tolist(), table["money"]) == ([tags.DOUBLE_TAG], 4 + 3)


def test_a_blueprint_of_diet_cola_is_worth_a_tag_too():
    table = owning("blueprint diet_cola").do("sell joker 1")
    assert (table.owned(), table["tag_count"]) == (["j_diet_cola"], 1)


@pytest.mark.parametrize(("rounds", "owned"), [(1, ["j_egg"]), (2, ["j_egg", "j_egg"]), (3, ["j_egg", "j_egg"])])
def test_invisible_joker_becomes_a_copy_of_another_after_two_rounds(rounds, owned):
    table = owning("invisible egg")
    for _ in range(rounds):
        go_on(beat(table))
    assert table.do("sell joker 1").owned() == owned


def test_the_copy_of_an_invisible_joker_is_not_negative():
    table = own(owning("egg", edition=cards.NEGATIVE), "j_invisible", value=2.0).do("sell joker 2")
    assert [int(joker["edition"]) for joker in table["jokers"][:2]] == [cards.NEGATIVE, 0]


# What goes.


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
    assert (table.owned(), len(table.kept()), table["card_count"]) == (["j_ceremonial", "j_cartomancer", "j_marble"], 1, 53)


def test_gros_michel_may_go_at_the_end_of_a_round_and_cavendish_comes_after_it():
    table = owning("gros_michel oops oops oops")  # 8 in 6
    numbers = [jokers.number_of(key) for key in ("j_gros_michel", "j_cavendish")]
    table.set(joker_count=0)
    assert [bool(generation.joker_can_be_had(table.state, number)) for number in numbers] == [True, False]
    beat(table.set(joker_count=4))
    assert table.owned() == ["j_oops"] * 3
    assert [bool(generation.joker_can_be_had(table.state, number)) for number in numbers] == [False, True]


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


@pytest.mark.parametrize(("required", "status", "owned"), [(64, PLAYING, ["j_egg"]), (65, OVER, ["j_mr_bones", "j_egg"])])
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
    ("key", "required", "hands_left", "discards_left", "held"),
    [
        ("bl_wall", 600, 4, 4, 8), ("bl_needle", 300, 4, 4, 8), ("bl_water", 600, 4, 4, 8), ("bl_manacle", 600, 4, 4, 8),
        ("bl_final_vessel", 600, 4, 4, 8), ("bl_club", 600, 4, 4, 8),
    ],
)  # fmt: skip
def test_chicot_disables_every_boss(key, required, hands_left, discards_left, held):
    table = owning("chicot").face(key).do("select blind")
    found = (table["required"], table["hands_left"], table["discards_left"], len(table.hand()))
    assert found == (required, hands_left, discards_left, held)
    assert not (table["cards"]["flags"][:52] & (cards.DEBUFFED | cards.FACE_DOWN)).any()


@pytest.mark.parametrize(("key", "field", "text", "given"), [
    ("bl_water", "discards_left", "luchador", 4), ("bl_water", "discards_left", "luchador drunkard", 5),
    ("bl_needle", "hands_left", "luchador", 4), ("bl_needle", "hands_left", "luchador troubadour", 3),
])  # fmt: skip
def test_a_disabled_boss_gives_back_what_it_took(key, field, text, given):
    table = owning(text).face(key).do("select blind")
    assert table[field] == (0 if field == "discards_left" else 1)
    assert table.do("sell joker 1")[field] == given


def test_a_joker_that_the_boss_disabled_works_again_without_the_boss():
    table = owning("luchador egg").face("bl_final_heart").do("select blind")
    assert sorted(table["jokers"]["debuffed"][:2] > 0) == [False, True]
    table.state["jokers"]["debuffed"][:2] = [0, 2]
    holdings.refresh(table.state)
    assert (table.do("sell joker 1").owned(), table["jokers"][0]["debuffed"], table["acts_as"][0]) == (["j_egg"], 0, 0)


# What grows.


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
    table = beat(owning("red_card").set(money=50)).do("cash out", "open pack 1", "skip pack", "open pack 2", "skip pack")
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


# Sizes.


@pytest.mark.parametrize(
    ("text", "held", "hands_left", "discards_left"),
    [
        ("joker", 8, 4, 4), ("juggler", 9, 4, 4), ("drunkard", 8, 4, 5), ("troubadour", 10, 3, 4),
        ("merry_andy", 7, 4, 7), ("stuntman", 6, 4, 4), ("turtle_bean", 13, 4, 4), ("burglar", 8, 7, 0),
        ("blueprint burglar", 8, 10, 0), ("blueprint juggler", 9, 4, 4), ("blueprint stuntman", 6, 4, 4),
        ("burglar drunkard", 8, 7, 0), ("juggler juggler stuntman", 8, 4, 4), ("troubadour troubadour", 12, 2, 4),
    ],
)  # fmt: skip
def test_jokers_change_what_a_round_begins_with(text, held, hands_left, discards_left):
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


# Stickers.


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


# Cards that are held at the end, or thrown away.


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


def test_a_gold_seal_pays_when_it_scores():
    assert earned(Table().deal("AS AH KD", seal=cards.GOLD_SEAL), "play 1,2,3") == 6
    assert earned(Table().deal("AS KH", seal=cards.GOLD_SEAL, required=1), "play 1") == 3


# Copies.


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
    assert (table.owned(), len(table.kept()), table["card_count"]) == (["j_cartomancer", "j_blueprint", "j_marble"], 1, 54)


def test_every_boss_is_in_reach_of_chicot():
    for key in blinds.KEYS[blinds.FIRST_BOSS :]:
        assert owning("chicot").face(key).do("select blind")["disabled"] == 1
