"""Battles, evaluations and sweeps on Ray: the same results as in this process, also if a worker dies."""

import itertools
import os

import numpy as np
import pytest

import ludus
from ludus.evaluation import battle
from ludus.runtimes.transport import ray_games
from ludus.types import LudusError

pytest.importorskip("ray", reason="pip install ludus[ray]")

from ludus.runtimes.transport.ray_cluster import RaySettings, connected

HALF = {"runtime": "ray", "workers": 2, "cpus_per_worker": 0.5}
TINY = {"steps": 6_000, "eval_games": 40, "evaluations": 2, "num_envs": 16}


@pytest.fixture(scope="module")
def ray():
    """One Ray for the whole file, which the functions use because it is connected."""
    with connected(RaySettings(), "ludus-tests") as module:
        yield module


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ludus.train("tictactoe", "q_learning", out=tmp_path_factory.mktemp("runs"), progress=False, **TINY)


def test_a_battle_of_a_run_is_the_same_on_ray(ray, run, monkeypatch):
    """The workers cannot find the relative path of the run: its files are sent to them."""
    monkeypatch.chdir(run.folder.parent)
    players = (f"./{run.folder.name}", "random", "mcts(3)")
    whole, found = (ludus.battle(*players, games=20, seed=3, **options).to_dict() for options in ({}, HALF))
    for result in (whole, found):
        for one in result["battles"]:
            del one["seconds"], one["games_per_second"]
    assert found == whole


def test_the_part_of_a_dead_worker_is_played_again(ray, monkeypatch, capsys):
    deaths, play = itertools.chain([True], itertools.repeat(False)), ray_games.GamesLane.play

    def mortal(lane, part):
        if next(deaths):
            ray.kill(lane.actor)
        return play(lane, part)

    monkeypatch.setattr(ray_games.GamesLane, "play", mortal)
    whole = battle.battle("tictactoe", ["random", "random"], 20)
    with ray_games.open_spread(2, RaySettings(cpus_per_worker=0.5)) as spread:
        found = battle.battle("tictactoe", ["random", "random"], 20, spread=spread)
        with pytest.raises(LudusError, match='unknown agent "nobody"'):
            battle.battle("tictactoe", ["random", "nobody"], 20, spread=spread)
    np.testing.assert_array_equal(found.match.returns, whole.match.returns)
    assert "a new worker plays its 10 games again" in capsys.readouterr().err


def test_more_workers_than_the_cluster_has_room_for(ray):
    with pytest.raises(LudusError, match="1000 workers need 1000 CPUs"):
        ludus.battle("random", "random", game="tictactoe", runtime="ray", workers=1000)
    with pytest.raises(LudusError, match='unknown setting "adress"; did you mean "address"'):
        ludus.battle("random", "random", game="tictactoe", runtime="ray", adress="auto")


def test_a_sweep_on_ray_has_the_scores_of_a_local_one(ray, tmp_path, capfd):
    grid = {"learning_rate": [0.1, 0.5], "seeds": 1, **TINY}
    here = ludus.sweep("tictactoe", "q_learning", out=tmp_path / "here", **grid)
    there = ludus.sweep("tictactoe", "q_learning", out=tmp_path / "ray", on="ray", cpus_per_worker=0.5, **grid)
    assert [row["scores"] for row in there.to_dict()] == [row["scores"] for row in here.to_dict()]
    assert [one.folder.name for one in there.runs] == ["tictactoe-0001", "tictactoe-0002"]
    assert all(one.status == "finished" and one.agent.game == "tictactoe" for one in there.runs)
    assert capfd.readouterr().out == "", "Tune prints nothing"
    assert not [name for name in os.listdir("/tmp") if name.startswith("ludus-sweep")]


def test_a_failed_trial_names_its_run(ray, tmp_path):
    with pytest.raises(LudusError, match=r"the run .*tictactoe-0001 failed: there is no run"):
        ludus.sweep("tictactoe", "q_learning", seeds=1, out=tmp_path, on="ray", eval_opponent="runs/nosuch", **TINY)
    with pytest.raises(LudusError, match="processes or on ray, not on"):
        ludus.sweep("tictactoe", "q_learning", seeds=1, on="nowhere")
