"""Jokers that create something: tarots, spectral cards, playing cards, other jokers, tags."""

import pytest
from joker_table import beat, fix, go_on, own, owning

from ludus.games.balatro.tables import cards, consumables, jokers, tags


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
    for money, tarots in ((-3, 1), (4, 1), (5, 0)):
        assert len(owning("vagabond").set(money=money).deal("2S").do("play 1").kept()) == tarots


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
def test_sixth_sense_requires_a_single_six(hand, play):
    table = owning("sixth_sense").deal(hand).do(play)
    assert (table["card_count"], table.kept()) == (52, [])


@pytest.mark.parametrize(
    ("text", "count"), [("cartomancer", 1), ("blueprint cartomancer", 2), ("cartomancer brainstorm", 2)]
)
def test_cartomancer_brings_a_tarot_with_every_blind(text, count):
    table = owning(text).do("select blind")
    assert len(table.kept()) == count
    assert all(consumables.KEYS.index(key) < consumables.FIRST_PLANET for key in table.kept())


@pytest.mark.parametrize(("text", "count"), [
    ("riff_raff", 3), ("riff_raff egg half", 5), ("riff_raff egg half golden", 5),
    ("riff_raff egg half golden drunkard", 5), ("blueprint riff_raff", 5),
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
def test_dna_requires_a_single_card_in_the_first_hand(plays):
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


def test_perkeo_copies_nothing_without_consumables():
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
