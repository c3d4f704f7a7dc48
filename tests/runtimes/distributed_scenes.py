"""Scenes for the tests of distributed training, with or without mpiexec.

Usage: python distributed_scenes.py SCENE OUT CORES
"""

import contextlib
import dataclasses
import itertools
import os
import pathlib
import signal
import sys

import numpy as np
import pytest

from ludus import runtimes
from ludus.agents import checkpoint
from ludus.agents.neural import devices
from ludus.agents.neural.agent import DeepAgent
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.algorithms.ppo import PPO
from ludus.algorithms.rollout_worker import joined
from ludus.runtimes import Job, open_source
from ludus.training import config, runs
from ludus.training.folder import write_settings
from ludus.training.loop import train
from ludus.types import LudusError

SETTINGS = PPO(
    mlp=MLPArgs(width=8, depth=1), rollout_length=8, update_epochs=2, num_minibatches=2, learning_rate="0.01"
)
ROWS, UPDATES = 8, 3


class Watched:
    """A source that records the log-probabilities of its decisions."""

    def __init__(self, source):
        self.source, self.publish, self.seen = source, source.publish, []

    def __iter__(self):
        for rollouts in self.source:
            self.seen.append(joined(rollouts).decisions.log_prob)
            yield rollouts


def learned(workers, settings=SETTINGS, game="cartpole", runtime="threads"):
    """Three updates: parameters, counters, log-probabilities of the first rollout and states of the workers."""
    job = Job(game, ROWS, 3, settings.rollout_length, workers, settings)
    with contextlib.closing(open_source(runtime, job)) as source:
        agent = settings.new_agent(source.lanes[0].worker.pool)
        watched = Watched(source)
        learning = train(agent, settings, settings.new_learner(agent, 3), watched)
        last = list(itertools.islice(learning, UPDATES))[-1]
        actors = {f"{name}/{part}": array for name, parts in source.state().items() for part, array in parts.items()}
    arrays = {f"params/{name}": array for name, array in checkpoint.flatten(last.learner.params).items()}
    counts = np.array([last.learner.steps, last.learner.episodes])
    return arrays | actors | {"counts": counts, "rows": watched.seen[0]}, last.learner


def together(out):
    """One of several processes that learn together; `alone` is the same run in one process."""
    arrays, _ = learned(1, runtime="mpi")
    np.savez(f"{out}.{devices.process()}.npz", **arrays)


def alone(out):
    arrays, _ = learned(2)
    np.savez(f"{out}.0.npz", **arrays)


def small_run():
    run = config.resolve("cartpole", "ppo")
    steps = 4 * ROWS * SETTINGS.rollout_length * devices.processes()
    return dataclasses.replace(
        run, settings=SETTINGS, runtime="mpi", num_envs=ROWS, steps=steps, eval_games=2, evaluations=1, seed=3
    )


def kept(out, name, stop=lambda: False, resume=False):
    """A run that rank 0 saves in a folder, and that the other ranks take part in."""
    run, folder = small_run(), pathlib.Path(out) / name
    if devices.process():
        runs.take_part(run, stop, folder if resume else None)
    else:
        folder.mkdir(exist_ok=True)
        write_settings(folder, run)
        assert list(runs.carry_out(folder, run, resume=resume))
    devices.gathered(np.array(0))  # wait until rank 0 has written everything


def resuming(out):
    """An uninterrupted run, and a run that rank 1 stops after two updates and that is then resumed."""
    kept(out, "whole")
    calls = itertools.count(1)
    kept(out, "halves", lambda: next(calls) == 2)
    kept(out, "halves", resume=True)


def death(out):
    """Rank 1 is killed after two updates."""
    calls = itertools.count(1)
    kept(out, "lost", lambda: next(calls) == 2 and os.kill(os.getpid(), signal.SIGKILL))


def error(out):
    """Rank 1 raises an exception in its second update."""
    calls = itertools.count(1)
    kept(out, "lost", lambda: 1 // (next(calls) < 2) == 0)


def keeper(out):
    """Rank 0 fails while rank 1 waits for it."""
    if devices.process() == 0:
        raise LudusError("the disk is full")
    kept(out, "none")


def actors(out):
    """Two devices for actors and two for learning give the same result as two devices that do both."""
    import jax

    places, plain = set(), DeepAgent.act

    def watched(agent, params, memory, step, key):
        places.update(device.id for leaf in jax.tree.leaves(params) for device in leaf.devices())
        return plain(agent, params, memory, step, key)

    own = dataclasses.replace(
        SETTINGS, devices=2, actor_devices=2, opponents=("self:0.5", "past:0.5"), snapshot_interval=1, num_minibatches=1
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeepAgent, "act", watched)
        apart, learner = learned(2, own, "tictactoe")
    learning = {device.id for device in learner.state.updates.devices()}
    shared, _ = learned(2, dataclasses.replace(own, actor_devices=0), "tictactoe")
    np.savez(f"{out}.npz", same=[np.array_equal(apart[name], shared[name]) for name in shared])
    pathlib.Path(out).write_text(f"acting on {sorted(places)}, learning on {sorted(learning)}")


if __name__ == "__main__":
    scene, out, cores = sys.argv[1:]
    runtime = "mpi" if "OMPI_COMM_WORLD_SIZE" in os.environ else "local"
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ludus.pool.available_cores", lambda: int(cores))
            with runtimes.session(runtime, SETTINGS):
                globals()[scene](out)
    except LudusError as failure:
        sys.exit(f"ludus: {failure}")
