"""Runs of a world model: exact resume, metrics, checkpoints that play, errors."""

import dataclasses
import itertools

import numpy as np
import pytest
from small_worlds import SMALL

from ludus import agents
from ludus.agents import checkpoint, trained
from ludus.agents.neural.networks.world_model_args import PlannerArgs, WorldModelArgs
from ludus.algorithms.rollout_worker import RolloutWorker
from ludus.algorithms.world_model import WorldModelSettings
from ludus.bridges import open_pool
from ludus.evaluation import replays, scores
from ludus.training import config, demonstrations, loggers, runs
from ludus.types import LudusError

CLOCK = {
    "play_seconds", "wait_seconds", "overlap", "time", "seconds", "steps_per_second", "games_per_hour", "memory_used",
    "gpu_utilization",
}  # fmt: skip


def start(out, **settings):
    """The folder of a new run, and the opened run."""
    return runs.start(config.from_dict(SMALL | settings, "the test"), out)


def go(folder, run, chunks=None, resume=False):
    """The reports of a run, which is closed afterwards."""
    counter = itertools.count(1)
    stop = (lambda: False) if chunks is None else (lambda: next(counter) >= chunks)
    return list(runs.carry_out(folder, run, stop, resume))


def arrays_of(folder):
    groups = checkpoint.load(checkpoint.newest(folder / "checkpoints")).arrays
    return {f"{group}/{name}": array for group, arrays in groups.items() for name, array in arrays.items()}


def metrics_of(folder):
    lines = loggers.read(folder / "metrics.jsonl")
    return [{name: value for name, value in line.items() if name not in CLOCK} for line in lines]


@pytest.mark.parametrize("runtime", ["local", "threads"])
def test_resuming_is_exact(tmp_path, runtime):
    """Every array of the checkpoint, including replay buffer and optimisers, and every metric of every update."""
    whole, opened = start(tmp_path, runtime=runtime)
    assert go(whole, opened)[-1].finished
    folder, opened = start(tmp_path, runtime=runtime)
    assert not go(folder, opened, chunks=2)[-1].finished
    assert go(folder, config.read(folder / "run.toml"), resume=True)[-1].finished
    one, other = arrays_of(whole), arrays_of(folder)
    assert one.keys() == other.keys()
    assert [name for name in one if one[name].tobytes() != other[name].tobytes()] == []
    assert metrics_of(whole) == metrics_of(folder) and len(metrics_of(whole)) >= 5
    groups = {name.partition("/")[0] for name in one}
    assert {"params", "target_critics", "optimiser", "replay", "learner", "worker_0"} <= groups


def test_the_checkpoint_holds_the_whole_replay_buffer(tmp_path):
    """The capacity is 20 steps of 2 rows; more were pushed."""
    folder, opened = start(tmp_path)
    go(folder, opened)
    found = arrays_of(folder)
    assert found["replay/reward"].shape == (20, 2) and found["replay/pushed"][0] == 6 * len(metrics_of(folder))
    assert found["replay/pushed"][0] > 20


def test_metrics_of_a_run(tmp_path):
    folder, opened = start(tmp_path)
    go(folder, opened)
    lines = metrics_of(folder)
    expected = {
        "consistency_loss", "reward_loss", "continue_loss", "reconstruction_loss", "value_loss", "actor_loss",
        "one_step_error", "exploration_noise", "planning_fraction", "laps", "replay_steps", "finite", "grad_norm",
        "actor_grad_norm",
    }  # fmt: skip
    assert expected <= set(lines[-1])
    assert (
        lines[0]["planning_fraction"] == 0 < lines[-1]["planning_fraction"]
        and lines[0]["exploration_noise"] > lines[-1]["exploration_noise"]
    )
    assert "reward_loss" not in lines[0]  # before learning_starts
    assert lines[0]["replay_steps"] < lines[-1]["replay_steps"] == 40


def test_a_checkpoint_can_play_and_imagine(tmp_path):
    folder, opened = start(tmp_path)
    go(folder, opened)
    player = trained.load(folder)
    score = scores.score("car", player, player.params, 2, 1)
    assert player.memory(3) == () and np.isfinite(score.mean)
    imagined = player.agent.imagine(player.params, open_step(), 4)
    assert imagined.observations.shape == (5, 1, 6)


def test_plan_at_evaluation_is_stored_in_the_checkpoint(tmp_path):
    folder, opened = start(tmp_path, plan_at_evaluation=True, steps=24, evaluations=0)
    go(folder, opened)
    assert trained.load(folder).agent.plan_at_evaluation and trained.load(folder).memory(2)["plan"].shape == (2, 3, 2)


def open_step():
    from ludus.bridges import open_pool

    return open_pool("car", 1, 0).step


def test_a_run_stops_at_numbers_that_are_not_finite(tmp_path, monkeypatch):
    folder, opened = start(tmp_path)
    work = RolloutWorker.work

    def with_nan(self):
        rollout = work(self)
        return rollout._replace(steps=rollout.steps._replace(reward=rollout.steps.reward * np.nan))

    monkeypatch.setattr(RolloutWorker, "work", with_nan)
    with pytest.raises(LudusError, match="an update produced NaN or infinity and was discarded"):
        go(folder, opened)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "tictactoe"}, "tictactoe has 2 seats; world_model supports games with one seat"),
        ({"game": "cartpole"}, "cartpole has discrete actions"),
        ({"rollout_length": 2}, "horizon must be at most rollout_length; 3 is more than 2"),
        ({"chunk": 5}, "an update learns from num_envs x rollout_length = 12 decisions"),
    ],
)
def test_invalid_runs_raise_an_error_before_a_folder_is_made(tmp_path, settings, message):
    with pytest.raises(LudusError) as error:
        start(tmp_path / "runs", **settings)
    assert message in str(error.value) and not (tmp_path / "runs").exists()


def test_a_checkpoint_of_other_sizes_raises_an_error(tmp_path):
    folder, opened = start(tmp_path, steps=24)
    go(folder, opened)
    larger = {"network": SMALL["network"] | {"latent_dim": 16}, "steps": 48}
    other = config.from_dict(config.to_dict(opened.run) | larger, "the test")
    with pytest.raises(LudusError, match="cannot continue from"):
        go(folder, other, resume=True)


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("discount = 0.9", 'unknown setting "discount"; it is now called "gamma"'),
        ("plan_in_earnest = true", 'unknown setting "plan_in_earnest"; it is now called "plan_at_evaluation"'),
        ("sizes = {latent = 16}", 'unknown setting "sizes"; it is now called "network"'),
        ("network = {latent = 16}", 'network has an unknown setting "latent"; it is now called "latent_dim"'),
        ("planner = {rounds = 2}", 'planner has an unknown setting "rounds"; it is now called "iterations"'),
        ("gama = 0.9", 'unknown setting "gama"; did you mean "gamma"?'),
    ],
)
def test_an_old_name_in_a_run_toml_raises_an_error_with_the_new_name(tmp_path, old, message):
    path = tmp_path / "run.toml"
    path.write_text(f'game = "car"\nalgorithm = "world_model"\n{old}\n')
    with pytest.raises(LudusError) as error:
        config.read(path)
    assert message in str(error.value)


@pytest.mark.parametrize("kind", [WorldModelSettings, WorldModelArgs, PlannerArgs])
def test_every_new_name_in_a_table_of_renamed_settings_exists(kind):
    names = {field.name for field in dataclasses.fields(kind)}
    assert set(kind.RENAMED.values()) <= names and not set(kind.RENAMED) & names


def drive(game="car", steps=20):
    """A replay of a few steps of the scripted driver."""
    driver, pool, actions = agents.load("scripted", game), open_pool(game, 1, [7], threads=1), []
    for moment in range(steps):
        actions.append(np.asarray(driver.act(driver.init(pool.spec, 0), (), pool.step, moment)[0].action)[0])
        pool.advance(actions[-1][None])
    return replays.record(game, 7, ["driver"], np.array(actions))


def test_a_run_learns_from_a_demonstration(tmp_path):
    folder, opened = start(tmp_path)
    shown = demonstrations.show(folder, opened.run, drive())
    go(folder, opened)
    assert sum(line.get("demonstrated") or 0.0 for line in metrics_of(folder)) == 20
    assert not shown.exists() and shown.with_name(f"{shown.name}.taken").exists()


def test_unsuitable_demonstrations_raise_an_error(tmp_path):
    folder, opened = start(tmp_path)
    opened.close()
    with pytest.raises(LudusError, match="cartpole"):
        demonstrations.show(folder, opened.run, drive("cartpole", 5))
    other = config.resolve("car", "ppo")
    with pytest.raises(LudusError, match="ppo cannot learn from demonstrations"):
        demonstrations.show(folder, other, drive())
