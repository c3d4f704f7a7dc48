"""Trained agents: loaded from a run or a checkpoint, and used like any other agent."""

import shutil

import numpy as np
import pytest

from ludus import agents
from ludus.agents import checkpoint, trained
from ludus.evaluation import scores
from ludus.pool import Pool
from ludus.training import config, runs
from ludus.types import LudusError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a short run, shared by all tests; use `copy` to change it."""
    small = {"game": "tictactoe", "algorithm": "q_learning", "steps": 20_000, "chunk": 4_000, "num_envs": 16,
             "eval_games": 20, "evaluations": 2, "checkpoint_seconds": 0.0}  # fmt: skip
    folder, settled = runs.start(config.from_dict(small, "the test"), tmp_path_factory.mktemp("trained"))
    assert list(runs.carry_out(folder, settled))[-1].finished
    return folder


@pytest.fixture
def copy(run, tmp_path):
    return shutil.copytree(run, tmp_path / run.name)


def rewritten(path, **changes):
    """Rewrite a checkpoint with other fields in its manifest."""
    stored = checkpoint.load(path)
    shutil.rmtree(path)
    return checkpoint.save(path.parent, int(path.name), stored._replace(manifest=stored.manifest._replace(**changes)))


def test_run_loads_its_newest_checkpoint(run):
    listed = checkpoint.list_checkpoints(run / "checkpoints")
    assert len(listed) >= 3
    assert trained.load(run).path == trained.load(run / "checkpoints").path == listed[-1]
    assert trained.load(listed[0]).path == listed[0]
    assert trained.load(listed[0]).manifest.steps < trained.load(run).manifest.steps


def test_parameters_are_loaded(run):
    agent = trained.load(run)
    stored = checkpoint.load(agent.path).arrays["params"]
    params = agent.init(agent.agent.spec, 0)
    assert params is agent.params
    np.testing.assert_array_equal(params.state()["values"], stored["values"])
    pool = Pool("tictactoe", 8, seed=1, threads=1)
    inner, outer = (player.act(params, player.memory(8), pool.step, 5)[0] for player in (agent.agent, agent))
    assert all(np.array_equal(a, b) for a, b in zip(inner, outer, strict=True))
    np.testing.assert_array_equal(agent.choices(params, pool.step), agent.agent.choices(params, pool.step))


def test_agents_load_accepts_the_folder_of_a_run(run, monkeypatch):
    assert isinstance(agents.load(str(run), "tictactoe"), trained.Trained)
    monkeypatch.chdir(run.parent)
    assert isinstance(agents.load(run.name, "tictactoe"), trained.Trained)
    opponent, agent = agents.load("random", "tictactoe"), agents.load(f"./{run.name}", "tictactoe")
    spec = agent.agent.spec
    result = scores.match("tictactoe", [(agent, agent.init(spec, 0)), (opponent, opponent.init(spec, 0))], 200, 1)
    assert result.interval.estimate > 0.3


@pytest.mark.parametrize("game", ["connect4", "goofspiel", "gymnasium:Taxi-v4"])
def test_other_game_is_rejected(run, game):
    with pytest.raises(LudusError, match=f"this checkpoint is for tictactoe, not {game}"):
        trained.load(run, game)


def test_other_version_of_the_game_is_rejected(copy):
    rewritten(trained.newest_in(copy), fingerprint="0" * 16)
    with pytest.raises(LudusError, match="made with another version of tictactoe"):
        trained.load(copy)


def test_unknown_kind_of_agent_is_rejected(copy):
    rewritten(trained.newest_in(copy), agent={"kind": "oracle"})
    with pytest.raises(
        LudusError, match='unknown kind of agent "oracle" in this checkpoint; this version of ludus has tabular'
    ):
        trained.load(copy)


def test_other_separation_of_seats_is_rejected(copy):
    rewritten(trained.newest_in(copy), agent={"kind": "tabular", "tables": "seat"})
    with pytest.raises(LudusError, match="this table has 19,683 numbered positions but the game has 39,366"):
        trained.load(copy)


def test_checkpoint_without_a_table_is_rejected(copy):
    path = trained.newest_in(copy)
    stored = checkpoint.load(path)
    shutil.rmtree(path)
    checkpoint.save(path.parent, int(path.name), stored._replace(arrays={"learner": stored.arrays["learner"]}))
    with pytest.raises(LudusError, match="should contain a table but does not"):
        trained.load(copy)


def test_unknown_game_raises(copy):
    rewritten(trained.newest_in(copy), game="chess")
    with pytest.raises(LudusError, match='unknown game "chess"'):
        trained.load(copy)


def test_missing_run_or_checkpoint_raises(tmp_path):
    with pytest.raises(LudusError, match="there is no run"):
        trained.load(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(LudusError, match="there is no run"):
        trained.load(tmp_path / "file")
    with pytest.raises(LudusError, match="has no checkpoint yet; continue it with: ludus train --resume"):
        trained.load(tmp_path)
