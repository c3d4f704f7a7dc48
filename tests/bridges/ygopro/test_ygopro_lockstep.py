"""Recorded duels, and our own engine, beside the real core: the same questions, options and positions, one by one."""

import random

import numpy as np
import pytest
from real_cores import library_of, normal_monsters, open_node_core, stage_1_duels

from ludus.bridges.ygopro.core import MASTER_RULE_5, PSEUDO_SHUFFLE, Cards, Setup
from ludus.bridges.ygopro.dueling import RealDuel
from ludus.bridges.ygopro.lockstep import Recording, compare, setup_of
from ludus.bridges.ygopro.messages import Question
from ludus.bridges.ygopro.observing import OBSERVATION as THEIRS
from ludus.bridges.ygopro.observing import Eyes
from ludus.games.duel import OBSERVATION as OURS
from ludus.games.duel import observing
from ludus.words import kernel
from ludus.words.rows import new_rows

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


class Seeing(Ours):
    """Our engine, held to see the same cards and numbers as the bridge whenever somebody is asked."""

    def __init__(self, setup, real, library):
        super().__init__(setup)
        self.real, self.eyes, self.seen = real, Eyes(library), 0

    def state(self):
        """Asked for when both stand at the same question, or at the end."""
        if self.question() is not None:
            self.look()
        return super().state()

    def look(self):
        player = int(self.duel.state["asked"])
        ours, theirs = new_rows(1, OURS), {name: np.zeros((1, *THEIRS[name].shape), np.uint8) for name in THEIRS.names}
        see_as(self.duel.rows, player, ours)
        self.eyes.write(self.eyes.table_of(self.real, player), theirs)
        told = f"decision {self.seen}"
        np.testing.assert_array_equal(ours["global_"], theirs["global_"], err_msg=told)
        np.testing.assert_array_equal(in_order(ours["cards_"][0]), in_order(theirs["cards_"][0]), err_msg=told)
        self.seen += 1


def in_order(cards):
    """The cards with those of the own deck by their numbers: here they come as they were laid, in the game sorted."""
    deck = (cards[:, 2] == 1) & (cards[:, 4] == 0)
    cards = cards.copy()
    cards[deck] = np.array(sorted(cards[deck].tolist()), np.uint8).reshape(-1, cards.shape[1])
    return cards


@kernel
def see_as(states, player, out):
    observing.observe(states[0], player, out[0])


def test_both_engines_show_the_same(core, tmp_path):
    """Whoever has learned to read one observation can read the other."""
    rng = random.Random(11)
    setup = plain_setup(rng, 11)
    real = RealDuel(core, setup)
    beside = Seeing(setup, real, library_of(tmp_path))
    assert compare(real, beside, choose_at_random(rng), most=150).difference is None
    real.close()
    assert beside.seen > 100


def plain_setup(rng, seed):
    """Two decks of Normal Monsters."""
    codes = [card.code for card in normal_monsters()]
    decks = [Cards(tuple(rng.sample(codes * 3, 40))) for _ in range(2)]
    return Setup((decks[0], decks[1]), (seed, 1, 2, 3), MASTER_RULE_5 | PSEUDO_SHUFFLE)


@pytest.mark.parametrize("seed", range(6))
def test_our_engine_plays_in_step_with_the_real_core(core, seed):
    rng = random.Random(seed)
    setup = plain_setup(rng, seed)
    real = RealDuel(core, setup)
    comparison = compare(real, Ours(setup), choose_at_random(rng), most=400)
    real.close()
    assert comparison.difference is None
    assert comparison.decisions > 30
