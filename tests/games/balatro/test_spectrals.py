"""The 18 spectral cards: their effects and costs."""

import pytest
from joker_table import own
from table import Table

from ludus.games.balatro.tables import cards, consumables, jokers

HAND = "KS QS JH 9H 8D 6D 4C 2C"
OF_HAND = "familiar grim incantation sigil ouija immolate"
OF_ONE_CARD = "talisman aura deja_vu trance medium cryptid"
OF_JOKERS = "ectoplasm ankh hex"
OF_ROOM = "wraith soul"


def fields(table, field, count=8):
    return [int(value) for value in table["cards"][field][:count]]


def uses(table, key):
    """How a spectral card can be used now."""
    table.set(consumable_count=0).keep(f"c_{key}")
    return {name for name in table.legal if name.startswith("use")}


def test_four_lines_and_black_hole_are_all_spectral_cards():
    named = [*OF_HAND.split(), *OF_ONE_CARD.split(), *OF_JOKERS.split(), *OF_ROOM.split(), "black_hole"]
    assert {f"c_{key}" for key in named} == {row[0] for row in consumables.SPECTRALS}
    assert len(named) == 18


def test_spectrals_that_change_cards_need_a_hand_of_two():
    for table, wanted in ((Table(), set()), (Table().deal("AS"), set()), (Table().deal("AS KH"), {"use consumable 1"})):
        for key in OF_HAND.split():
            assert uses(table, key) == wanted, key


def test_six_are_used_on_one_card():
    for key in OF_ONE_CARD.split():
        assert uses(Table(), key) == set()
        assert uses(Table().deal(HAND), key) == {f"use consumable 1 on {place}" for place in range(1, 9)}


def test_spectrals_that_change_jokers_need_a_joker():
    for key in OF_JOKERS.split():
        assert uses(Table(), key) == set()
        assert uses(Table().own("j_joker"), key) == {"use consumable 1"}


def test_ectoplasm_and_hex_need_a_joker_without_edition_and_ankh_does_not():
    table = Table().own("j_joker", edition=cards.FOIL)
    assert [bool(uses(table, key)) for key in OF_JOKERS.split()] == [False, True, False]


def test_spectrals_that_create_a_joker_need_room():
    for key in OF_ROOM.split():
        assert uses(Table().own(*["j_joker"] * 4), key) == {"use consumable 1"}
        assert uses(Table().own(*["j_joker"] * 5), key) == set()


@pytest.mark.parametrize(("key", "seal"), [
    ("c_talisman", cards.GOLD_SEAL), ("c_deja_vu", cards.RED_SEAL), ("c_trance", cards.BLUE_SEAL),
    ("c_medium", cards.PURPLE_SEAL),
])  # fmt: skip
def test_four_seal_a_card(key, seal):
    assert fields(Table().keep(key).deal(HAND).do("use consumable 1 on 3"), "seal") == [0, 0, seal, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("key", "count", "ranks"), [
    ("c_familiar", 3, "JQK"), ("c_grim", 2, "A"), ("c_incantation", 4, "23456789T"),
])  # fmt: skip
def test_three_burn_a_card_and_bring_enhanced_ones(key, count, ranks):
    table = Table().deal(HAND)
    for _ in range(3):
        before, held = int(table["card_count"]), len(table.hand())
        table.keep(key).do("use consumable 1")
        assert (table["card_count"] - before, len(table.hand()) - held) == (count - 1, count - 1)
        made = table["cards"][before - 1 : before - 1 + count]
        assert {cards.RANKS[rank] for rank in made["rank"]} <= set(ranks)
        assert all(enhancement not in (0, cards.STONE) for enhancement in made["enhancement"])
        assert made["seal"].tolist() == made["edition"].tolist() == [0] * count


def test_aura_gives_an_edition_to_a_card_that_has_none():
    table = Table().deal(HAND)
    found = set()
    for place in range(1, 9):
        table.keep("c_aura").do(f"use consumable 1 on {place}")
        found.add(fields(table, "edition")[place - 1])
        assert f"use consumable 1 on {place}" not in table.keep("c_aura").legal
        table.set(consumable_count=0)
    assert found <= {cards.FOIL, cards.HOLO, cards.POLYCHROME}
    assert len(found) > 1


def test_wraith_brings_a_rare_joker_for_all_money():
    for money in (17, -3):
        table = Table().keep("c_wraith").set(money=money).do("use consumable 1")
        assert (table["money"], jokers.RARITY[jokers.number_of(table.owned()[0])]) == (0, jokers.RARE)


def test_the_soul_brings_a_legendary_joker():
    table = Table().keep("c_soul").do("use consumable 1")
    assert (table["money"], jokers.RARITY[jokers.number_of(table.owned()[0])]) == (4, jokers.LEGENDARY)


def test_sigil_makes_one_suit_of_the_hand_and_leaves_the_ranks():
    table = Table().keep("c_sigil").deal(HAND).do("use consumable 1")
    assert len({name[1] for name in table.hand()}) == 1
    assert ([name[0] for name in table.hand()], table["hand_size"]) == (list("KQJ98642"), 8)


def test_ouija_makes_one_rank_of_the_hand_for_a_card_less():
    table = Table().keep("c_ouija").deal(HAND).do("use consumable 1")
    assert len({name[0] for name in table.hand()}) == 1
    assert ([name[1] for name in table.hand()], table["hand_size"]) == (list("SSHHDDCC"), 7)


def test_ectoplasm_asks_for_more_with_every_use():
    table = Table().own("j_joker", "j_egg", "j_golden")
    sizes = []
    for _ in range(3):
        sizes.append(int(table.keep("c_ectoplasm").do("use consumable 1")["hand_size"]))
    assert sizes == [8 - 1, 8 - 1 - 2, 8 - 1 - 2 - 3]
    assert [int(joker["edition"]) for joker in table["jokers"][:3]] == [cards.NEGATIVE] * 3
    assert len(table.do("select blind").hand()) == 2


def test_a_joker_that_became_negative_makes_room():
    table = Table().own(*["j_joker"] * 5).keep("c_ectoplasm").do("use consumable 1").keep("c_judgement")
    assert len(table.do("use consumable 1").owned()) == 6


def test_immolate_burns_five_cards_for_twenty_dollars():
    table = Table().keep("c_immolate").deal(HAND).do("use consumable 1")
    assert (len(table.hand()), table["card_count"], table["money"]) == (3, 47, 24)
    assert set(table.hand()) < set(HAND.split())


def test_immolate_does_not_always_burn_the_same_cards():
    left = {tuple(Table(seed).keep("c_immolate").deal(HAND).do("use consumable 1").hand()) for seed in "ABCD"}
    assert len(left) > 1


def test_ankh_leaves_one_joker_twice():
    table = own(Table(), "j_joker", "j_egg", "j_golden", value=7.0, sell_value=2).keep("c_ankh").do("use consumable 1")
    one, other = table.owned()
    assert one == other
    assert (table.value(0), table.value(1), table["jokers"][1]["sell_value"]) == (7.0, 7.0, 2)


def test_the_copy_of_a_negative_joker_is_not_negative_and_that_of_a_foil_one_is_foil():
    for edition, copied in ((cards.NEGATIVE, 0), (cards.FOIL, cards.FOIL)):
        table = own(Table(), "j_joker", edition=edition).keep("c_ankh").do("use consumable 1")
        assert [int(joker["edition"]) for joker in table["jokers"][:2]] == [edition, copied]


@pytest.mark.parametrize("key", ["c_ankh", "c_hex"])
def test_ankh_and_hex_do_not_destroy_eternal_jokers(key):
    table = own(Table(), "j_egg", "j_golden", stickers=cards.ETERNAL)
    table = own(table, "j_joker", "j_half").keep(key).do("use consumable 1")
    left = table.owned()
    assert {"j_egg", "j_golden"} <= set(left)
    assert len(set(left) & {"j_joker", "j_half"}) <= 1


def test_hex_leaves_one_joker_and_makes_it_polychrome():
    table = own(Table(), "j_joker", "j_egg", "j_golden").keep("c_hex").do("use consumable 1")
    assert (len(table.owned()), table["jokers"][0]["edition"]) == (1, cards.POLYCHROME)


def test_hex_chooses_a_joker_without_edition():
    for seed in "ABC":
        table = own(own(Table(seed), "j_joker", "j_half", edition=cards.FOIL), "j_egg").keep("c_hex")
        assert table.do("use consumable 1").owned() == ["j_egg"]


def test_cryptid_brings_two_copies_into_the_hand():
    table = Table().own("j_hologram").keep("c_cryptid")
    table.deal("KS QH", enhancement=cards.GLASS, edition=cards.HOLO, seal=cards.RED_SEAL).do("use consumable 1 on 1")
    assert (table.hand(), table["card_count"], table.value()) == (["KS", "QH", "KS", "KS"], 54, 1.5)
    for number in (52, 53):
        copy = table["cards"][number]
        assert (copy["enhancement"], copy["edition"], copy["seal"]) == (cards.GLASS, cards.HOLO, cards.RED_SEAL)


def test_black_hole_raises_every_hand():
    assert Table().keep("c_black_hole").do("use consumable 1")["levels"].tolist() == [2] * 12
