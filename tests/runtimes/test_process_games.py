"""Evaluations and battles in processes: the same games, also if a worker dies, and no process is left."""

import itertools
import json
import os
import subprocess

import numpy as np
import pytest

import ludus
from ludus import runtimes
from ludus.cli import run
from ludus.evaluation import battle
from ludus.runtimes.transport.game_process import GameProcess
from ludus.runtimes.transport.spread import spread_over
from ludus.types import LudusError

KINDS = ["random", "mcts(3)"]


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    running = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in running.splitlines() if "games_child" in line and line.split()[0] == str(os.getpid())]


class Mortal(GameProcess):
    """A worker that is killed while it plays, if the next of `deaths` is true."""

    def __init__(self, deaths):
        super().__init__(threads=1)
        self.deaths = deaths

    def play(self, part):
        if next(self.deaths):
            self.process.kill()
        return super().play(part)


def test_a_battle_in_processes_is_that_in_this_process():
    whole = battle.battle("goofspiel", KINDS, 20, seed=4, keep=3)
    told = []
    with runtimes.open_spread("processes", 2) as spread:
        found = battle.battle("goofspiel", KINDS, 20, 4, 3, lambda *progress: told.append(progress), spread=spread)
        with pytest.raises(LudusError, match='unknown agent "nobody"'):
            battle.battle("goofspiel", ["random", "nobody"], 20, spread=spread)
    np.testing.assert_array_equal(found.match.returns, whole.match.returns)
    assert found.match.rate == whole.match.rate
    assert [one.actions.tolist() for one in found.replays] == [one.actions.tolist() for one in whole.replays]
    assert told[-1] == ("goofspiel", 20, 20)


def test_the_part_of_a_dead_worker_is_played_again(capsys):
    whole = battle.battle("tictactoe", ["random", "random"], 20)
    deaths = itertools.chain([False, True], itertools.repeat(False))
    found = battle.battle("tictactoe", ["random", "random"], 20, spread=spread_over(2, lambda _: Mortal(deaths)))
    np.testing.assert_array_equal(found.match.returns, whole.match.returns)
    assert "was killed by SIGKILL; a new worker plays its 10 games again" in capsys.readouterr().err


def test_repeated_deaths_are_an_error():
    spread = spread_over(2, lambda _: Mortal(itertools.repeat(True)))
    with pytest.raises(LudusError, match="was killed by SIGKILL, 3 times in a row"):
        battle.battle("tictactoe", ["random", "random"], 20, spread=spread)


def test_the_python_functions_take_a_runtime():
    options = {"games": 20, "game": "tictactoe"}
    assert ludus.evaluate("perfect", **options, runtime="processes", workers=1) == ludus.evaluate("perfect", **options)
    for settings, words in (
        ({"runtime": "threads"}, "threads only trains; for evaluations and battles use one of local, processes, ray"),
        ({"runtime": "nosuch"}, 'unknown runtime "nosuch"'),
        ({"runtime": "processes", "workers": -1}, "expected 0 or more"),
        ({"runtime": "processes", "address": "auto"}, 'the runtime processes has an unknown setting "address"'),
        ({"workers": 2}, "plays in this process, not in 2 workers"),
    ):
        with pytest.raises(LudusError, match=words):
            ludus.battle("random", "perfect", **options, **settings)


def test_the_commands_take_a_runtime(capsys):
    command = ["battle", "random", "perfect", "--game", "tictactoe", "--games", "20", "--json"]
    run(command)
    run([*command, "--runtime", "processes", "--workers", "2"])
    whole, found = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert {**found, **{name: whole[name] for name in ("seconds", "games_per_second")}} == whole
    evaluate = ["evaluate", "tictactoe", "--agent", "perfect", "--games", "20", "--json"]
    run(evaluate)
    run([*evaluate, "--runtime=processes", "--workers", "1"])
    whole, found = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert found == whole
    for words, message in (
        (["evaluate", "tictactoe", "--agent", "perfect", "--lines"], "--lines runs in this process"),
        (["battle", "person", "random", "--game", "tictactoe"], "a person cannot play in the workers of a runtime"),
    ):
        with pytest.raises(LudusError, match=message):
            run([*words, "--runtime", "processes"])


def test_the_settings_of_a_runtime_are_flags():
    pytest.importorskip("ray", reason="pip install ludus[ray]")
    with pytest.raises(LudusError, match="cannot be reached"):
        run(["battle", "random", "perfect", "--game", "tictactoe", "--runtime", "ray", "--address", "127.0.0.1:9"])


def test_an_environment_of_ones_own_stays_in_this_process():
    gymnasium = pytest.importorskip("gymnasium")

    def make():
        return gymnasium.make("CartPole-v1")

    assert ludus.evaluate("random", game=make, games=3).games == 3
    with pytest.raises(LudusError, match="exists only in this process"):
        ludus.evaluate("random", game=make, games=3, runtime="processes")
