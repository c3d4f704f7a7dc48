"""Packs: five kinds in three sizes, their contents, picking, and the hand dealt for some of them."""

import pytest
from joker_table import own
from table import Table

from ludus.games.balatro.state import CONSUMABLE, JOKER, PLAYING_CARD
from ludus.games.balatro.tables import cards, consumables, hands, jokers, packs

KINDS = [
    # kind, price, shown, picks, cards dealt
    ("Arcana normal", 4, 3, 1, 8), ("Arcana jumbo", 6, 5, 1, 8), ("Arcana mega", 8, 5, 2, 8),
    ("Celestial normal", 4, 3, 1, 0), ("Celestial jumbo", 6, 5, 1, 0), ("Celestial mega", 8, 5, 2, 0),
    ("Standard normal", 4, 3, 1, 0), ("Standard jumbo", 6, 5, 1, 0), ("Standard mega", 8, 5, 2, 0),
    ("Buffoon normal", 4, 2, 1, 0), ("Buffoon jumbo", 6, 4, 1, 0), ("Buffoon mega", 8, 4, 2, 0),
    ("Spectral normal", 4, 2, 1, 8), ("Spectral jumbo", 6, 4, 1, 8), ("Spectral mega", 8, 4, 2, 8),
]  # fmt: skip
IDS = [row[0] for row in KINDS]


def in_shop(*keys, seed="7LB2WVPK"):
    """Go to the first shop, with a hundred dollars."""
    return own(Table(seed), *keys).deal("AS", required=1).do("play 1", "cash out").set(money=100)


def opened(name, *keys, **more):
    table = in_shop(*keys, **more)
    return table.set(packs=[packs.NAMES.index(name), 0]).do("open pack 1")


def lay(table, *keys):
    """Replace the contents of the open pack."""
    items = table["pack"]
    for place, key in enumerate(keys):
        joker = key.startswith("j_")
        items[place]["kind"] = JOKER if joker else CONSUMABLE
        items[place]["number"] = jokers.number_of(key) if joker else consumables.KEYS.index(key)
        items[place]["edition"] = items[place]["stickers"] = 0
    return table.set(pack_count=len(keys))


def shown(table):
    return [consumables.KEYS[item["number"]] for item in table["pack"][: table["pack_count"]]]


def picks(table):
    return {name for name in table.legal if name.startswith("pick")}


@pytest.mark.parametrize(("name", "price", "count", "choose", "dealt"), KINDS, ids=IDS)
def test_a_pack_is_opened_and_skipped(name, price, count, choose, dealt):
    table = opened(name)
    assert (table.phase, table["money"]) == ("pack", 100 - price)
    assert (table["pack_count"], table["picks_left"], len(table.hand())) == (count, choose, dealt)
    assert "skip pack" in table.legal
    table.do("skip pack")
    assert (table.phase, table["pile_count"], table["hand_count"], table["card_count"]) == ("shop", 52, 0, 52)
    assert "open pack 1" not in table.legal
    assert "open pack 2" in table.legal


@pytest.mark.parametrize(("kind", "what", "first", "end"), [
    ("Arcana", CONSUMABLE, consumables.FIRST_TAROT, consumables.FIRST_PLANET),
    ("Celestial", CONSUMABLE, consumables.FIRST_PLANET, consumables.FIRST_SPECTRAL),
    ("Standard", PLAYING_CARD, 0, 1), ("Buffoon", JOKER, 1, 151),
    ("Spectral", CONSUMABLE, consumables.FIRST_SPECTRAL, len(consumables.ROWS)),
])  # fmt: skip
def test_a_pack_contains_different_cards_of_its_kind(kind, what, first, end):
    items = opened(f"{kind} mega")["pack"]
    items = items[: 4 if kind in ("Buffoon", "Spectral") else 5]
    assert set(items["kind"]) == {what}
    special = {consumables.SOUL, consumables.BLACK_HOLE}
    assert all(first <= number < end or number in special for number in items["number"])
    assert kind == "Standard" or len(set(items["number"].tolist())) == len(items)


@pytest.mark.parametrize(("name", "choose"), [("Standard normal", 1), ("Standard jumbo", 1), ("Standard mega", 2)])
def test_cards_of_a_standard_pack_join_the_deck(name, choose):
    table = opened(name, "j_hologram")
    wanted = [(int(item["rank"]), int(item["suit"]), int(item["enhancement"])) for item in table["pack"][:choose]]
    for left in range(choose - 1, -1, -1):
        table.do("pick 1")
        assert table.phase == ("pack" if left else "shop")
    made = table["cards"][52 : 52 + choose]
    assert [(int(card["rank"]), int(card["suit"]), int(card["enhancement"])) for card in made] == wanted
    assert (table["card_count"], table.value()) == (52 + choose, 1 + 0.25 * choose)


@pytest.mark.parametrize(("name", "choose"), [("Buffoon normal", 1), ("Buffoon jumbo", 1), ("Buffoon mega", 2)])
def test_jokers_of_a_buffoon_pack_are_owned(name, choose):
    table = opened(name)
    wanted = [jokers.KEYS[item["number"]] for item in table["pack"][:choose]]
    table.do(*["pick 1"] * choose)
    assert (table.phase, table.owned()) == ("shop", wanted)


def test_a_joker_needs_room_unless_it_is_negative():
    table = opened("Buffoon normal", *["j_joker"] * 5)
    lay(table, "j_egg", "j_half")
    assert picks(table) == set()
    table["pack"][1]["edition"] = cards.NEGATIVE
    assert picks(table.set()) == {"pick 2"}
    assert table.do("pick 2").owned()[5] == "j_half"


def test_there_is_an_end_to_negative_jokers():
    table = opened("Buffoon normal")
    own(table, *["j_joker"] * 24, edition=cards.NEGATIVE)
    lay(table, "j_egg")["pack"][0]["edition"] = cards.NEGATIVE
    assert picks(table.set()) == set()


@pytest.mark.parametrize(("name", "choose"), [("Celestial normal", 1), ("Celestial jumbo", 1), ("Celestial mega", 2)])
def test_planets_of_a_celestial_pack_are_used_at_once(name, choose):
    table = lay(opened(name, "j_constellation"), "c_mars", "c_pluto", "c_earth")
    table.do(*["pick 1"] * choose)
    levels = [1] * 12
    for hand in (hands.FOUR_OF_A_KIND, hands.HIGH_CARD)[:choose]:
        levels[hand] = 2
    assert (table.phase, table["levels"].tolist(), table.kept()) == ("shop", levels, [])
    assert table.value() == pytest.approx(1 + 0.1 * choose)


def test_the_rest_of_a_mega_pack_can_be_skipped():
    table = lay(opened("Celestial mega", "j_red_card"), "c_mars", "c_pluto", "c_earth").do("pick 2")
    assert (table.phase, table["picks_left"], shown(table)) == ("pack", 1, ["c_mars", "c_earth"])
    assert (table.do("skip pack").phase, table.value()) == ("shop", 3)


def test_tarots_of_an_arcana_pack_are_used_on_the_hand_that_is_dealt():
    table = lay(opened("Arcana normal"), "c_devil", "c_hermit", "c_death")
    assert picks(table) == {"pick 2", *(f"pick 1 on {place}" for place in range(1, 9))} | {
        f"pick 3 on {one},{other}" for one in range(1, 9) for other in range(one + 1, 9)
    }
    number = table["hand"][3]
    table.do("pick 1 on 4")
    assert (table["cards"][number]["enhancement"], table["tarots_used"]) == (cards.GOLD, 1)
    assert (table.phase, table["pile_count"]) == ("shop", 52)


def test_the_hand_stays_for_the_second_pick():
    table = lay(opened("Arcana mega"), "c_hanged_man", "c_hermit", "c_star").do("pick 1 on 1,2")
    assert (table.phase, len(table.hand()), table["card_count"]) == ("pack", 6, 50)
    table.do("select card 1", "select card 2", "select card 3", "pick 2")
    assert (table.phase, table["pile_count"], table["hand_count"]) == ("shop", 50, 0)
    assert table["cards"]["suit"][:50].tolist().count(cards.DIAMONDS) >= 3


def test_cards_that_were_dealt_are_all_in_the_next_round():
    table = opened("Arcana normal").do("skip pack", "leave", "select blind")
    together = [*table["hand"][: table["hand_count"]], *table["pile"][: table["pile_count"]]]
    assert sorted(int(number) for number in together) == list(range(52))
    assert not (table["cards"]["flags"][:52] & (255 - cards.PLAYED_THIS_ANTE)).any()


def test_the_hand_that_is_dealt_is_as_large_as_that_of_a_round():
    assert len(opened("Spectral normal", "j_juggler").hand()) == 9
    assert len(opened("Arcana normal", "j_stuntman").hand()) == 6


def test_spectral_cards_are_used_at_once():
    table = lay(opened("Spectral mega"), "c_immolate", "c_black_hole", "c_cryptid", "c_soul")
    assert {"pick 1", "pick 2", "pick 4", "pick 3 on 8"} <= table.legal
    table.do("pick 4", "pick 1")
    assert (jokers.RARITY[jokers.number_of(table.owned()[0])], table["card_count"]) == (jokers.LEGENDARY, 47)
    assert (table["money"], table["pile_count"]) == (100 - 8 + 20, 47)


def test_copies_that_cryptid_makes_stay_in_the_deck():
    table = lay(opened("Spectral normal"), "c_cryptid", "c_soul").do("pick 1 on 1")
    assert (table.phase, table["card_count"], table["pile_count"]) == ("shop", 54, 54)


def test_tarots_that_bring_consumables_need_room():
    table = lay(opened("Arcana normal"), "c_emperor", "c_high_priestess", "c_fool").set(last_used=consumables.PLUTO)
    assert picks(table) == {"pick 1", "pick 2", "pick 3"}
    assert picks(table.keep("c_pluto", "c_mars")) == set()


def test_existing_cards_appear_again_only_with_showman():
    others = [row[0] for row in consumables.PLANETS[:9] if row[0] != "c_mercury"]
    table = in_shop().keep(*others).set(packs=[3, 0]).do("open pack 1")
    assert shown(table) == ["c_mercury", "c_pluto", "c_pluto"]  # where nothing is left, it is Pluto
    table = in_shop("j_ring_master").keep(*others).set(packs=[3, 0]).do("open pack 1")
    assert shown(table) != ["c_mercury", "c_pluto", "c_pluto"]
    assert set(shown(table)) <= {row[0] for row in consumables.PLANETS[:9]}


def test_owned_jokers_appear_again_only_with_showman():
    def found(*keys):
        table = in_shop(*keys)
        seen = []
        for _ in range(12):
            table.set(packs=[11, 0], money=100).do("open pack 1")
            seen += [jokers.KEYS[item["number"]] for item in table["pack"][: table["pack_count"]]]
            table.do("skip pack")
        return seen

    usual = found()
    often = max(set(usual), key=usual.count)
    assert often not in found(often)
    assert often in found(often, "j_ring_master")


def test_a_pack_of_a_tag_costs_nothing_and_leads_back_to_the_blind():
    table = Table().hold("tag_charm").do("skip blind")
    assert (table.phase, table["pack_count"], table["picks_left"], len(table.hand())) == ("pack", 5, 2, 8)
    assert table["money"] == 4
    assert (table.do("skip pack").phase, table["blind"], table["pile_count"]) == ("blind", 1, 52)


def test_telescope_shows_the_planet_of_the_favourite_hand_first():
    table = in_shop().redeem("v_telescope").set(packs=[3, 0])
    table.state["plays"][hands.FULL_HOUSE] = 3
    assert shown(table.do("open pack 1"))[0] == "c_earth"
