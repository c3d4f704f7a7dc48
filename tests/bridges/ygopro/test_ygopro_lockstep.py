"""Recorded duels and Ludus' own engine compared with the core: the same questions, options and positions."""

import random

import numpy as np
import pytest
from real_cores import library_of, needs_wasm, open_node_core, stage_1_duels

from ludus.bridges.ygopro.lockstep import Recording, compare, setup_of
from ludus.bridges.ygopro.observations import OBSERVATION as THEIRS
from ludus.bridges.ygopro.observations import Observer
from ludus.bridges.ygopro.real_duel import RealDuel
from ludus.dsl import kernel
from ludus.dsl.rows import new_rows
from ludus.games.duel import OBSERVATION as OURS
from ludus.games.duel import observation
from ludus.games.duel.stages import cards_by_code
from ludus.games.duel.tools import comparison, scripts
from ludus.games.duel.tools.own_engine import OwnEngine

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


def test_the_first_difference_is_returned(core):
    duel = DUELS[0]
    changed = duel | {"dec": [dict(decision) for decision in duel["dec"]]}
    changed["dec"][9]["s"] = changed["dec"][9]["s"] | {"lp": [7777, 8000]}
    recording, real = Recording(changed), RealDuel(core, setup_of(changed))
    comparison = compare(real, recording, recording.choose)
    real.close()
    assert comparison.decisions == 9 and comparison.difference.what == "state lp"
    assert comparison.difference.other == [7777, 8000]


class ObservingEngine(OwnEngine):
    """Ludus' engine, which also checks that its observation equals that of the bridge at every question."""

    def __init__(self, setup, real, library):
        super().__init__(setup)
        self.real, self.observer, self.seen = real, Observer(library), 0

    def state(self):
        """Called when both engines are at the same question, or at the end."""
        if self.question() is not None:
            self.compare_observations()
        return super().state()

    def compare_observations(self):
        player = int(self.duel.state["asked"])
        ours, theirs = new_rows(1, OURS), {name: np.zeros((1, *THEIRS[name].shape), np.uint8) for name in THEIRS.names}
        observe_as(self.duel.rows, player, ours)
        self.observer.write(self.observer.table_of(self.real, player), theirs)
        label = f"decision {self.seen}"
        np.testing.assert_array_equal(ours["global_"], theirs["global_"], err_msg=label)
        np.testing.assert_array_equal(
            with_sorted_deck(ours["cards_"][0]), with_sorted_deck(theirs["cards_"][0]), err_msg=label
        )
        self.seen += 1


def with_sorted_deck(cards):
    """The card rows with the own deck sorted, since the two engines list it in different orders."""
    deck = (cards[:, 2] == 1) & (cards[:, 4] == 0)
    cards = cards.copy()
    cards[deck] = np.array(sorted(cards[deck].tolist()), np.uint8).reshape(-1, cards.shape[1])
    return cards


@kernel
def observe_as(states, player, out):
    observation.observe(states[0], player, out[0])


def test_both_engines_give_equal_observations(core, tmp_path):
    """The observations of both engines are equal, so an agent for one can play the other."""
    rng = random.Random(11)
    setup = comparison.random_setup(scripts.PLAIN, rng)
    real = RealDuel(core, setup)
    own = ObservingEngine(setup, real, library_of(tmp_path))
    assert compare(real, own, comparison.RandomChoice(rng), most=150).difference is None
    real.close()
    assert own.seen > 100


@pytest.mark.parametrize(
    ("kind", "seed"), [*((scripts.PLAIN, k) for k in range(5)), *((scripts.SCRIPTED, k) for k in range(12))]
)
def test_native_rules_agree_with_the_core(kind, seed):
    needs_wasm()
    played = comparison.play(kind, seed)
    assert played.difference is None, report_of(played)
    assert played.decisions > 30


@pytest.mark.parametrize("seed", [1460, 1521, 1000240, 1000847, 1001073, 1001462])
def test_duels_that_differed_before_agree(seed):
    """Earlier differences: a target that has left, decrees freed by a battle, a second winner, a set by an effect."""
    needs_wasm()
    played = comparison.play(scripts.SCRIPTED, seed)
    assert played.difference is None, report_of(played)


def report_of(played):
    return comparison.table(comparison.Report({played.kind: 1}, {played.kind: played.decisions}, 0, [played]))


def test_a_difference_is_reported_with_seed_choices_and_position(monkeypatch):
    needs_wasm()
    state = OwnEngine.state
    monkeypatch.setattr(OwnEngine, "state", lambda own: state(own) | {"turn": 1})
    played = comparison.play(scripts.PLAIN, 3)
    assert played.difference["what"] == "state turn" and played.difference["ours"] == 1
    text = report_of(played)
    assert f"plain duel, seed 3, decision {played.decisions}: state turn" in text
    assert "  core   2" in text and "life points" in text


def test_a_script_error_is_reported_as_a_difference(monkeypatch):
    needs_wasm()
    monkeypatch.setattr(comparison.open_core(), "library", BrokenCards())
    found = [comparison.play(scripts.SCRIPTED, seed).difference for seed in range(3)]
    assert any(one and one["log"] for one in found)


class BrokenCards(scripts.OwnCards):
    """Cards with an additional first script that deletes the function for drawing."""

    def first_scripts(self):
        return [*super().first_scripts(), ("broken.lua", b"Duel.Draw = nil")]


def test_every_script_belongs_to_a_card_of_the_native_tables():
    assert scripts.scripted_codes() <= set(cards_by_code())
    assert len(scripts.scripted_codes()) >= 140
