"""The public names: their examples, bad input, stopping and resuming, and agents that act on observations."""

import doctest
import inspect
import pathlib
import re
import signal
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import ludus
from ludus.training import api

PAGE = (pathlib.Path(__file__).parent.parent / "docs" / "python.md").read_text()


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def public(name):
    """`ludus.training` is a package that can be called."""
    return api.training if name == "training" else getattr(ludus, name)


@pytest.mark.parametrize("name", ludus.__all__)
def test_a_public_name_has_an_example_that_works_and_a_place_in_the_reference(name):
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(public(name)) or "", {}, name, None, 0)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0
    assert f"| `{name}` |" in PAGE


def test_completion_offers_all_names():
    assert set(ludus.__all__) <= set(dir(ludus)) and not {"annotations", "TYPE_CHECKING"} & set(dir(ludus))


class Guess(gymnasium.Env):
    """Guess the sign of a number, five times; after `signal_after` steps it presses Ctrl-C."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    steps = 0
    signal_after = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.turn = 0
        return self._draw(), {}

    def step(self, action):
        Guess.steps += 1
        if Guess.steps == Guess.signal_after:
            signal.raise_signal(signal.SIGINT)
        self.turn += 1
        reward = float(action == (self.number[0] > 0))
        return self._draw(), reward, self.turn == 5, False, {}

    def _draw(self):
        self.number = self.np_random.uniform(-1, 1, 1).astype(np.float32)
        return self.number


SMALL = {"algorithm": "ppo", "num_envs": 16, "rollout_length": 16, "eval_games": 5, "evaluations": 2, "progress": False}


def test_a_function_that_makes_an_environment_is_trained_stopped_and_resumed(monkeypatch):
    monkeypatch.setattr(Guess, "signal_after", Guess.steps + 300)
    run = ludus.train(lambda: Guess(), steps=2_000, **SMALL)
    assert run.status == "stopped" and 0 < run.steps < 2_000
    resumed = ludus.train(resume=run, progress=False)
    assert resumed.folder == run.folder and resumed.status == "finished" and resumed.steps >= 2_000
    assert run.agent.act(np.array([0.5], np.float32)) in (0, 1)


def test_a_generator_that_is_closed_leaves_a_run_to_resume():
    generator = ludus.training("tictactoe", "q_learning", steps=20_000)
    progress = next(generator)
    generator.close()
    assert re.fullmatch(r"<report on runs/tictactoe-0001: [\d,]+ of 20,000 steps, [\d,]+ steps/s>", repr(progress))
    run = ludus.TrainingRun(progress.folder)
    assert run.status == "stopped" and run.steps < 20_000
    assert ludus.train(resume=progress.folder, progress=False).steps >= 20_000


def test_a_run_ends_after_its_episodes():
    run = ludus.train("tictactoe", "q_learning", episodes=300, progress=False)
    assert 300 <= run.metrics["episodes"].sum() < 600


NOTEBOOK = """
import sys
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
class ZMQInteractiveShell(InteractiveShell):  # the name of the shell of Jupyter
    pass
shell = ZMQInteractiveShell.instance(display_pub_class=CapturingDisplayPublisher)
shell.run_cell("import ludus; run = ludus.train('tictactoe', steps=20_000)").raise_error()
outputs = [output for output in shell.display_pub.outputs if output["transient"]]
assert len({output["transient"]["display_id"] for output in outputs}) == 1
assert [output["update"] for output in outputs] == [False] + [True] * (len(outputs) - 1)
sys.stdout.write(outputs[-1]["data"]["text/plain"] + outputs[-1]["data"]["text/html"])
"""


def test_a_notebook_shows_one_panel_that_is_updated():
    """Also without ipywidgets, which Jupyter does not bring."""
    command = [sys.executable, "-W", "error::UserWarning", "-c", NOTEBOOK]
    shown = subprocess.run(command, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "q_learning on tictactoe" in shown.stdout and "<pre" in shown.stdout and "of 20,000" in shown.stdout


def test_a_sweep_is_a_table_with_intervals():
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    result = ludus.sweep("tictactoe", "q_learning", gamma=[0.9, 1.0], seeds=2, steps=5_000)
    assert [row["gamma"] for row in result.to_dict()] == [0.9, 1.0]
    assert all(row["low"] <= row["score"] <= row["high"] and len(row["scores"]) == 2 for row in result.to_dict())
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame["seeds"]) == [2, 2]
    assert "±" in repr(result) and len(result.runs) == 4
    metrics = result.runs[0].to_frame()
    assert metrics["step"].is_monotonic_increasing and metrics["score"].iloc[-1] == result.rows[0]["scores"][0]
    assert list(ludus.evaluate(result.runs[0], games=10).to_frame()["games"]) == [5, 5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ludus.train("tictacto"), 'did you mean "tictactoe"'),
        (lambda: ludus.train("tictactoe", lerning_rate=0.1), 'did you mean "learning_rate"'),
        (lambda: ludus.train("tictactoe", "pp"), 'did you mean "ppo"'),
        (lambda: ludus.train("tictactoe", 3), "expected a name"),
        (lambda: ludus.train("tictactoe", steps="many"), "expected a whole number"),
        (lambda: ludus.train("tictactoe", steps=0.5), "expected a whole number"),
        (lambda: ludus.train("tictactoe", episodes=0), "1 or more"),
        (lambda: ludus.train("tictactoe", num_envs=1.5), "num_envs is 1.5"),
        (lambda: ludus.train(), "no game given"),
        (lambda: ludus.train(3), "is not a game"),
        (lambda: ludus.train(lambda: 3), "returned int"),
        (lambda: ludus.train(lambda size: 3), "needs arguments"),
        (lambda: ludus.train("tictactoe", "ppo", network=3), "expected a flax.linen.Module"),
        (lambda: ludus.train(resume="runs/none"), "is not the folder of a run"),
        (lambda: ludus.load("runs/none"), "there is no run"),
        (lambda: ludus.load(3), "is not a run"),
        (lambda: ludus.Pool(3), "is not the name of a game"),
        (lambda: ludus.make("connect4", opponent=3), "is not an agent"),
        (lambda: ludus.evaluate("random"), "no game given"),
        (lambda: ludus.evaluate("random", games="x", game="tictactoe"), "expected a whole number"),
        (lambda: ludus.evaluate(ludus.agent("random", "connect4"), game="tictactoe"), "cannot play tictactoe"),
        (lambda: ludus.battle("random", game="tictactoe"), "two agents or more"),
        (lambda: ludus.sweep("tictactoe", "q_learning", gamma=[]), "at least one"),
        (lambda: ludus.sweep(lambda: Guess(), "ppo"), "name of a game"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_explained(call, message):
    with pytest.raises(ludus.LudusError, match=message):
        call()


@pytest.mark.parametrize(
    ("observation", "mask", "message"),
    [
        (np.zeros(8), None, "expected \\(9,\\)"),
        (np.full(9, np.nan), None, "NaN"),
        (np.full(9, 0.5), None, "not of type int8"),
        (["x"] * 9, None, "not an array of numbers"),
        ({"cells": np.zeros(9)}, None, "has the fields board"),
        (np.zeros(9), [0] * 9, "allows no action"),
        (np.zeros(9), [1] * 8, "the mask has shape"),
    ],
)
def test_observations_that_do_not_fit_are_refused(observation, mask, message):
    with pytest.raises(ludus.LudusError, match=message):
        ludus.agent("perfect", "tictactoe").act(observation, mask)


def test_an_action_outside_the_space_is_refused():
    pool = ludus.Pool("tictactoe")
    with pytest.raises(ludus.LudusError):
        pool.advance([9])


def test_a_pettingzoo_environment_is_played_by_an_agent():
    env, agent = ludus.make_pettingzoo("tictactoe"), ludus.agent("perfect", "tictactoe")
    env.reset(seed=0)
    for name in env.agent_iter():
        seen, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        env.step(None if over else agent.act(seen["observation"], seen["action_mask"], seat=int(name[-1])))
    assert not env.agents


def test_a_recurrent_agent_remembers_until_reset():
    run = ludus.train("recall", agent="rnn", steps=300, **SMALL)
    agent, env = run.agent, ludus.make("recall")
    observation, info = env.reset(seed=0)
    _, state = agent.predict(observation, deterministic=True, action_masks=info["action_mask"])
    assert state is not None
    again, _ = agent.predict(observation, state, episode_start=True, deterministic=True)
    assert again == agent.predict(observation, deterministic=True)[0]
    agent.act(observation)
    assert agent._state is not None
    agent.reset()
    assert agent._state is None


def test_an_agent_without_memory_has_no_state():
    assert ludus.agent("perfect", "tictactoe").predict(np.zeros(9))[1] is None


def test_a_network_of_the_user_is_saved_and_loaded():
    import flax.linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(9)(x), nn.Dense(1)(x)[:, 0]

    run = ludus.train("tictactoe", network=Net(), steps=300, **SMALL)
    agent = ludus.load(run, network=Net)
    board = np.zeros(9)
    assert agent.predict(board, deterministic=True)[0] == run.agent.predict(board, deterministic=True)[0]

    class OnlyLogits(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(9)(x)

    with pytest.raises(ludus.LudusError, match="expected a pair"):
        ludus.train("tictactoe", network=OnlyLogits(), steps=300, **SMALL)
