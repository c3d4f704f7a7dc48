"""Demonstrations: recorded games are cut into rollouts and learned from between the rollouts of the agent."""

import contextlib
import itertools

import numpy as np
import pytest

from ludus import agents
from ludus.agents.neural import devices
from ludus.agents.neural.networks.world_model_args import PlannerArgs, WorldModelArgs
from ludus.algorithms.demonstrations import rollouts_of
from ludus.algorithms.world_model import WorldModelSettings
from ludus.algorithms.world_model.replay import from_rollout, sequence_mask
from ludus.bridges import open_pool
from ludus.evaluation import replays
from ludus.runtimes import Job, open_source
from ludus.training.demonstrations import Demonstrated, read
from ludus.training.loop import train

devices.start()
SETTINGS = WorldModelSettings(
    network=WorldModelArgs(encoder_dim=8, latent_dim=8, simnorm_dim=4, dynamics_dim=8, reward_dim=6, decoder_dim=8,
                           actor_dims=(8,), critic_dims=(8,)),
    planner=PlannerArgs(horizon=3, num_samples=8, num_pi_trajs=2, num_elites=4, iterations=1),
    rollout_length=6, batch_size=4, horizon=3, replay_size=200, learning_starts=0,
)  # fmt: skip
STEPS, ROWS = 20, 2


def driven(path, game="car", steps=STEPS):
    """Save a replay of the scripted driver."""
    driver = agents.load("scripted", game)
    pool, actions = open_pool(game, 1, 7), []
    params = driver.init(pool.spec, 0)
    for moment in range(steps):
        actions.append(np.asarray(driver.act(params, (), pool.step, moment)[0].action)[0])
        pool.advance(actions[-1][None])
    replays.save(path, replays.record(game, 7, ["driver"], np.array(actions)))


@pytest.fixture
def learning(tmp_path):
    """The source, the folder, and an iterator of progress."""
    job = Job("car", ROWS, 3, SETTINGS.rollout_length, 1, SETTINGS)
    agent = SETTINGS.new_agent(open_pool("car", 1, 0))
    with contextlib.closing(Demonstrated(open_source("local", job), SETTINGS, tmp_path)) as source:
        yield source, tmp_path, train(agent, SETTINGS, SETTINGS.new_learner(agent, 3), source)


def test_demonstrations_are_learned_from_between_rollouts_of_the_agent(learning):
    source, folder, progress = learning
    before = next(progress)
    driven(folder / "drive.replay")
    shown = list(itertools.islice(progress, 2))
    after = next(progress)
    assert [one.metrics.get("demonstrated") for one in shown] == [12.0, 8.0]
    assert (
        all(one.learner.steps == before.learner.steps for one in shown) and after.learner.steps > before.learner.steps
    )
    assert int(after.learner.replay.pushed) == 4 * SETTINGS.rollout_length and {
        one.age for one in (before, *shown, after)
    } == {0}
    assert [path.name for path in folder.iterdir()] == ["drive.replay.taken"]
    assert source.own == 2 and source.version == 4


def test_unreadable_demonstrations_are_renamed_with_an_error_message(learning, capsys):
    _, folder, progress = learning
    (folder / "broken.replay").write_bytes(b"nothing")
    driven(folder / "pole.replay", "cartpole")
    list(itertools.islice(progress, 3))
    assert sorted(path.name for path in folder.iterdir()) == ["broken.replay.refused", "pole.replay.refused"]
    assert "the demonstration broken.replay was rejected" in capsys.readouterr().err


def test_every_step_of_a_demonstration_occurs_once(tmp_path):
    driven(tmp_path / "drive.replay")
    game = read(tmp_path / "drive.replay")
    agent = SETTINGS.new_agent(open_pool("car", 1, 0))
    job = Job("car", ROWS, 3, SETTINGS.rollout_length, 1, SETTINGS)
    with contextlib.closing(open_source("local", job)) as source:
        source.publish(SETTINGS.broadcast(SETTINGS.new_learner(agent, 0)), 0)
        (like,) = next(iter(source))
    found = list(rollouts_of(game, like, SETTINGS.rollout_length))
    played = [from_rollout(agent, rollout) for rollout in found]
    real = np.concatenate([part.valid.T.ravel() for part in played]) > 0
    seen = np.concatenate([np.swapaxes(part.observation, 0, 1).reshape(-1, 6) for part in played])[real]
    expected = np.stack([agent.flatten(step.observation)[0] for step in game[0][:-1]])
    assert real.sum() == STEPS and np.array_equal(seen, expected)
    assert all(np.asarray(sequence_mask(part))[:2].all() for part in played[:1])
