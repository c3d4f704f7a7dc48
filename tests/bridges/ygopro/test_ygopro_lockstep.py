"""Recorded duels, and our own engine, beside the real core: the same questions, options and positions, one by one."""

import random

import pytest
from real_cores import library_of, normal_monsters, open_node_core, stage_1_duels

from ludus.bridges.ygopro.core import MASTER_RULE_5, PSEUDO_SHUFFLE, Cards, Setup
from ludus.bridges.ygopro.dueling import RealDuel
from ludus.bridges.ygopro.lockstep import Recording, compare, setup_of
from ludus.bridges.ygopro.messages import Question

DUELS = stage_1_duels()


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    core = open_node_core(library_of(tmp_path_factory.mktemp("plain")))
    yield core
    core.close()


@pytest.mark.parametrize("duel", DUELS, ids=[duel["id"] for duel in DUELS])
def test_recorded_duels_are_replayed_to_the_end(core, duel):
    recording, real = Recording(duel), RealDuel(core, setup_of(duel))
    comparison = compare(real, recording, recording.choose)
    real.close()
    assert comparison == (duel["n"], None)
    assert (real.winner, real.reason) == (duel["end"]["winner"], duel["end"]["reason"])


def test_a_difference_is_told(core):
    duel = DUELS[0]
    changed = duel | {"dec": [dict(decision) for decision in duel["dec"]]}
    changed["dec"][9]["s"] = changed["dec"][9]["s"] | {"lp": [7777, 8000]}
    recording, real = Recording(changed), RealDuel(core, setup_of(changed))
    comparison = compare(real, recording, recording.choose)
    real.close()
    assert comparison.decisions == 9 and comparison.difference.what == "state lp"
    assert comparison.difference.other == [7777, 8000]


class Ours:
    """Our own engine, asked in the same words."""

    def __init__(self, setup):
        from ludus.duel import engine

        self.duel, self.begun, self.winner = engine.Duel(setup.decks, setup.points, setup.opening), False, None

    def question(self):
        from ludus.duel.golden import options
        from ludus.games.duel.state import MESSAGES

        state = self.duel.state
        if state["status"]:
            self.winner = int(state["winner"])
            return None
        message, facts = MESSAGES[state["question"]], {}
        if message in ("card", "tribute"):
            facts = {"min": int(state["fewest"]), "max": int(state["most"]), "cancel": int(state["may_cancel"])}
        return Question(int(state["asked"]), message, options(self.duel), facts)

    def state(self):
        from ludus.duel.golden import digest

        return digest(self.duel)

    def feed(self, results):
        from ludus.duel.golden import random_of

        self.duel.feed(random_of({"r": results}))
        if not self.begun:
            self.begun = True
            self.duel.begin()

    def answer(self, chosen):
        self.duel.answer(chosen)


def choose_at_random(rng):
    def choose(question):
        facts = question.facts
        if question.message in ("card", "tribute"):
            if facts["cancel"] and rng.random() < 0.1:
                return []
            return sorted(rng.sample(range(len(question.options)), rng.randint(facts["min"], facts["max"])))
        return [rng.randrange(len(question.options))]

    return choose


@pytest.mark.parametrize("seed", range(6))
def test_our_engine_plays_in_step_with_the_real_core(core, seed):
    rng = random.Random(seed)
    codes = [card.code for card in normal_monsters()]
    decks = [Cards(tuple(rng.sample(codes * 3, 40))) for _ in range(2)]
    setup = Setup((decks[0], decks[1]), (seed, 1, 2, 3), MASTER_RULE_5 | PSEUDO_SHUFFLE)
    real = RealDuel(core, setup)
    comparison = compare(real, Ours(setup), choose_at_random(rng), most=400)
    real.close()
    assert comparison.difference is None
    assert comparison.decisions > 30
