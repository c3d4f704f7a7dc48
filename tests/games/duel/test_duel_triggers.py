"""Rules found by comparing with the real core: tributes in the damage step, and the location of a triggering card."""

from ludus.games.duel.state import MESSAGES
from ludus.games.duel.tools import engine, recorded_duels

AXE, BUG, CHASER, WITCH, TYPHOON, GUARDIAN = 40619825, 54652250, 7359741, 78010363, 5318639, 91152256
PENGUIN, KNIGHT, SNATCH, TORNADO, JAR = 93920745, 39507162, 45986603, 60082869, 83968380
FILLER = 89631139
"""Blue-Eyes White Dragon, which cannot be summoned here"""


class Table:
    """A duel with stacked decks; options are chosen by their words."""

    def __init__(self, mine, others):
        decks = [([FILLER] * 4 + [GUARDIAN] + [FILLER] * 4 + cards, []) for cards in (mine, others)]
        self.duel = engine.Duel(decks, 8000, opening=2)
        self.duel.begin()

    def choose(self, *words):
        options = recorded_duels.options(self.duel)
        parts = [option if isinstance(option, list) else [option] for option in options]
        found = [number for number, option in enumerate(parts) if all(word in option for word in words)]
        assert found, f"no option has {words}: {options}"
        self.duel.answer(found[:1])
        return self

    def pass_all(self):
        while self.question()[1] == "chain":
            self.choose("pass")
        return self

    def question(self):
        return int(self.duel.state["asked"]), MESSAGES[self.duel.state["question"]]


def test_a_monster_that_lost_a_battle_can_be_tributed_while_it_lies_on_the_field():
    table = Table([AXE, BUG], [FILLER, CHASER])
    table.choose("mset", BUG).choose(4).choose("ep")
    table.choose("summon", CHASER).choose(4).choose("ep")
    table.choose("act", AXE).choose(8).choose(CHASER).choose("ep")
    table.choose("bp").choose("attack", CHASER).choose(BUG)
    table.choose(CHASER)
    assert table.question() == (0, "effectyn")
    table.choose("yes").choose("sel", BUG)
    state = recorded_duels.digest(table.duel)
    assert state["g"] == [[BUG], [CHASER]] and state["d"][0] == 9


def test_a_link_records_the_location_of_its_card_at_activation():
    table = Table([AXE, WITCH], [FILLER, TYPHOON])
    table.choose("summon", WITCH).choose(4)
    table.choose("act", AXE).choose(8).choose(WITCH).choose("ep")
    table.choose("chain", TYPHOON).choose(8).choose(AXE)
    table.choose("yes").choose("sel", WITCH)
    assert table.question() == (0, "card")
    state = recorded_duels.digest(table.duel)
    assert state["g"][0] == [WITCH] and state["ch"] == [[0, 16, 0, WITCH, [WITCH, 0]]]


def test_negation_by_battle_applies_once_the_next_link_is_complete():
    table = Table([FILLER, PENGUIN], [FILLER, KNIGHT])
    table.choose("mset", PENGUIN).choose(4).choose("ep")
    table.choose("summon", KNIGHT).choose(4).choose("bp").choose("attack", KNIGHT).choose(PENGUIN)
    assert table.question() == (0, "effectyn")
    assert not negated(table)
    table.choose("yes")
    assert table.question() == (0, "card") and not negated(table)
    table.choose(KNIGHT)
    assert recorded_duels.digest(table.duel)["m"][1][0][0] == KNIGHT


def negated(table):
    return next(monster[8] for monster in recorded_duels.digest(table.duel)["m"][0] if monster)


def test_consequences_of_a_set_by_an_effect_wait_for_the_end_of_the_link():
    table = Table([JAR, TORNADO, CHASER], [FILLER, SNATCH])
    table.choose("summon", CHASER).choose(4).choose("ep")
    table.choose("act", SNATCH).choose(8).choose(CHASER).choose(4).choose("ep")
    table.choose("chain", SNATCH).choose("sset", TORNADO).choose(8).choose("ep")
    table.choose("chain", TORNADO).choose(SNATCH).choose("yes").choose(JAR).choose(8)
    assert table.question()[1] == "place"
    assert recorded_duels.digest(table.duel)["ch"] == []


def test_dust_tornado_offers_no_set_when_its_target_has_left():
    table = Table([JAR, TORNADO], [AXE, TYPHOON])
    table.choose("sset", TORNADO).choose(8).choose("ep").pass_all()
    table.choose("sset", AXE).choose(8).choose("pass")
    table.choose("chain", TORNADO).choose(AXE)
    table.choose("chain", TYPHOON).choose(8).choose(AXE)
    assert table.pass_all().question() == (1, "idlecmd")
    assert recorded_duels.digest(table.duel)["g"] == [[TORNADO], [AXE, TYPHOON]]
