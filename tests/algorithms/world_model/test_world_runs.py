"""Runs of a world model: resumed to the bit, played by who loads them, ended by a sentence."""

import itertools

import numpy as np
import pytest
from small_worlds import SMALL

from ludus import agents, checkpoint, config, evaluate, replays, runs, sinks
from ludus.agents import trained
from ludus.bridges import open_pool
from ludus.runs import demonstrations
from ludus.runtimes.acting.actor import Actor
from ludus.types import LudusError

CLOCK = {"play_seconds", "wait_seconds", "overlap", "time", "seconds", "rate"}


def made(out, **settings):
    return runs.start(config.from_dict(SMALL | settings, "the test"), out)


def go(folder, run, chunks=None, resume=False):
    counter = itertools.count(1)
    stop = (lambda: False) if chunks is None else (lambda: next(counter) >= chunks)
    return list(runs.carry_out(folder, run, stop, resume))


def kept(folder):
    groups = checkpoint.load(checkpoint.newest(folder / "checkpoints")).arrays
    return {f"{group}/{name}": array for group, arrays in groups.items() for name, array in arrays.items()}


def told(folder):
    lines = sinks.read(folder / "metrics.jsonl")
    return [{name: value for name, value in line.items() if name not in CLOCK} for line in lines]


@pytest.mark.parametrize("runtime", ["local", "threads"])
def test_a_run_goes_on_exactly(tmp_path, runtime):
    """Every array of the checkpoint, experience and optimisers included; every metric of every update."""
    whole, run = made(tmp_path, runtime=runtime)
    assert go(whole, run)[-1].finished
    folder, run = made(tmp_path, runtime=runtime)
    assert not go(folder, run, chunks=2)[-1].finished
    assert go(folder, config.read(folder / "run.toml"), resume=True)[-1].finished
    one, other = kept(whole), kept(folder)
    assert one.keys() == other.keys()
    assert [name for name in one if one[name].tobytes() != other[name].tobytes()] == []
    assert told(whole) == told(folder) and len(told(whole)) >= 5
    groups = {name.partition("/")[0] for name in one}
    assert {"params", "slow", "optimiser", "experience", "learner", "worker_0"} <= groups


def test_a_ring_that_has_gone_round_goes_on_exactly(tmp_path):
    """20 times 2 rows are kept; 60 steps were pushed."""
    folder, run = made(tmp_path)
    go(folder, run)
    found = kept(folder)
    assert found["experience/reward"].shape == (20, 2) and found["experience/pushed"][0] == 6 * len(told(folder))
    assert found["experience/pushed"][0] > 20


def test_metrics_tell_how_it_goes(tmp_path):
    folder, run = made(tmp_path)
    go(folder, run)
    lines = told(folder)
    wanted = {
        "consistency_loss", "reward_loss", "continue_loss", "reconstruction_loss", "value_loss", "actor_loss",
        "one_step_error", "exploration", "planning", "laps", "kept", "finite", "gradient", "actor_gradient",
    }  # fmt: skip
    assert wanted <= set(lines[-1])
    assert lines[0]["planning"] == 0 < lines[-1]["planning"] and lines[0]["exploration"] > lines[-1]["exploration"]
    assert "reward_loss" not in lines[0]  # nothing is learned while it warms up
    assert lines[0]["kept"] < lines[-1]["kept"] == 40


def test_a_checkpoint_plays_as_the_run_did(tmp_path):
    folder, run = made(tmp_path)
    go(folder, run)
    player = trained.load(folder)
    score = evaluate.score("car", player, player.params, 2, 1)
    assert player.memory(3) == () and np.isfinite(score.mean)
    pool_step = player.agent.imagine(player.params, open_step(), 4)
    assert pool_step.observations.shape == (5, 1, 6)


def test_an_agent_that_plans_in_earnest_says_so_in_its_checkpoint(tmp_path):
    folder, run = made(tmp_path, plan_in_earnest=True, steps=24, evaluations=0)
    go(folder, run)
    assert trained.load(folder).agent.plans and trained.load(folder).memory(2)["plan"].shape == (2, 3, 2)


def open_step():
    from ludus.bridges import open_pool

    return open_pool("car", 1, 0).step


def test_numbers_that_are_none_end_a_run(tmp_path, monkeypatch):
    folder, run = made(tmp_path)
    whole = Actor.collect

    def spoilt(self, params, version, length):
        rollout = whole(self, params, version, length)
        return rollout._replace(steps=rollout.steps._replace(reward=rollout.steps.reward * np.nan))

    monkeypatch.setattr(Actor, "collect", spoilt)
    with pytest.raises(LudusError, match="an update gave numbers that are not finite"):
        go(folder, run)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"game": "tictactoe"}, "tictactoe has 2 seats; a world_model plays alone"),
        ({"game": "cartpole"}, "cartpole has actions by number"),
        ({"runtime": "processes"}, "deep agents play with --runtime local or threads, not processes"),
        ({"chunk": 5}, "an update learns from rows x length = 12 decisions"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_there_is_a_folder(tmp_path, settings, sentence):
    with pytest.raises(LudusError) as refused:
        made(tmp_path / "runs", **settings)
    assert sentence in str(refused.value) and not (tmp_path / "runs").exists()


def test_a_checkpoint_of_other_sizes_is_refused(tmp_path):
    folder, run = made(tmp_path, steps=24)
    go(folder, run)
    other = config.from_dict(config.to_dict(run) | {"sizes": SMALL["sizes"] | {"latent": 16}, "steps": 48}, "the test")
    with pytest.raises(LudusError, match="cannot go on from"):
        go(folder, other, resume=True)


def drive(game="car", steps=20):
    """What the driver by rule does for a moment, as a replay."""
    driver, pool, actions = agents.load("scripted", game), open_pool(game, 1, [7], threads=1), []
    for moment in range(steps):
        actions.append(np.asarray(driver.act(driver.init(pool.spec, 0), (), pool.step, moment)[0].action)[0])
        pool.advance(actions[-1][None])
    return replays.record(game, 7, ["driver"], np.array(actions))


def test_a_drive_that_is_shown_to_a_run_is_learned_from(tmp_path):
    folder, run = made(tmp_path)
    shown = demonstrations.show(folder, run, drive())
    go(folder, run)
    assert sum(line.get("demonstrated") or 0.0 for line in told(folder)) == 20
    assert not shown.exists() and shown.with_name(f"{shown.name}.taken").exists()


def test_what_teaches_nothing_is_refused(tmp_path):
    folder, run = made(tmp_path)
    with pytest.raises(LudusError, match="cartpole"):
        demonstrations.show(folder, run, drive("cartpole", 5))
    other = config.resolve("car", "ppo")
    with pytest.raises(LudusError, match="its own play alone"):
        demonstrations.show(folder, other, drive())
