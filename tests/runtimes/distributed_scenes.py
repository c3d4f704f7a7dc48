"""What tests let several processes do: python distributed_scenes.py SCENE OUT CORES [PORT PROCESSES PROCESS]."""

import contextlib
import dataclasses
import itertools
import os
import pathlib
import signal
import sys

import numpy as np
import pytest

from ludus import checkpoint, config, devices, runs
from ludus.agents.deep import DeepAgent
from ludus.agents.networks.arguments import MLPArgs
from ludus.algorithms.ppo import PPO
from ludus.runtimes import Job, meeting, open_source
from ludus.train import train
from ludus.types import LudusError

SETTINGS = PPO(mlp=MLPArgs(width=8, depth=1), length=8, epochs=2, minibatches=2, learning_rate="0.01")
ROWS, UPDATES = 8, 3


class Watched:
    """A source that remembers how likely the decisions were that it brought."""

    def __init__(self, source):
        self.source, self.publish, self.seen = source, source.publish, []

    def __iter__(self):
        for rollout in self.source:
            self.seen.append(rollout.decisions.log_prob)
            yield rollout


def learned(workers, settings=SETTINGS, game="cartpole"):
    """Three updates: what was learned, how far it came, what the first rollout saw, how the actors stand."""
    from ludus.algorithms.ppo import craft

    job = Job(game, ROWS, 3, settings.length, workers, settings)
    with contextlib.closing(open_source("local", job)) as source:
        agent = craft.agent_for(settings, source.actors[0].pool)
        watched = Watched(source)
        learning = train(agent, settings, craft.begin(settings, agent, 3), watched)
        last = list(itertools.islice(learning, UPDATES))[-1]
        actors = {f"{name}/{part}": array for name, parts in source.state().items() for part, array in parts.items()}
    arrays = {f"params/{name}": array for name, array in checkpoint.flatten(last.learner.params).items()}
    counts = np.array([last.learner.steps, last.learner.episodes])
    return arrays | actors | {"counts": counts, "rows": watched.seen[0]}, last.learner


def together(out, workers=1):
    """Learn beside the others; alone with as many workers it is the same run."""
    arrays, _ = learned(workers)
    np.savez(f"{out}.{devices.process()}.npz", **arrays)


def alone(out):
    together(out, workers=2)


def small_run():
    run = config.resolve("cartpole", "ppo")
    steps = 4 * ROWS * SETTINGS.length * devices.processes()
    return dataclasses.replace(run, settings=SETTINGS, rows=ROWS, steps=steps, games=2, evaluations=1, seed=3)


def kept(out, name, stop=lambda: False, resume=False):
    """A run that process 0 keeps in a folder, and the others help with."""
    run, folder = runs.settle(small_run()), pathlib.Path(out) / name
    if devices.process():
        runs.take_part(run, stop, folder if resume else None)
    else:
        folder.mkdir(exist_ok=True)
        runs.folder.write_settings(folder, run)
        assert list(runs.carry_out(folder, run, resume=resume))
    devices.gathered(np.array(0))  # nobody reads what is still being written


def resuming(out):
    """A run in one go, and one that another process asks to end after two updates, gone on with."""
    kept(out, "whole")
    calls = itertools.count(1)
    kept(out, "halves", lambda: next(calls) == 2)
    kept(out, "halves", resume=True)


def death(out):
    """Process 1 is killed after two updates."""
    calls = itertools.count(1)
    kept(out, "lost", lambda: next(calls) == 2 and os.kill(os.getpid(), signal.SIGKILL))


def error(out):
    """Something goes wrong in process 1, which ends as programs do."""
    calls = itertools.count(1)
    kept(out, "lost", lambda: 1 // (next(calls) < 2) == 0)


def keeper(out):
    """Process 0 cannot go on while another one waits for it."""
    if devices.process() == 0:
        raise LudusError("there is no room")
    kept(out, "none")


def actors(out):
    """Two actors on devices of their own, and two devices that learn: the same as two that do both."""
    import jax

    places, plain = set(), DeepAgent.act

    def watched(agent, params, memory, step, key):
        places.update(device.id for leaf in jax.tree.leaves(params) for device in leaf.devices())
        return plain(agent, params, memory, step, key)

    own = dataclasses.replace(
        SETTINGS, devices=2, actor_devices=2, opponents=("self:0.5", "past:0.5"), past_every=1, minibatches=1
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeepAgent, "act", watched)
        apart, learner = learned(2, own, "tictactoe")
    learning = {device.id for device in learner.state.updates.devices()}
    shared, _ = learned(2, dataclasses.replace(own, actor_devices=0), "tictactoe")
    np.savez(f"{out}.npz", same=[np.array_equal(apart[name], shared[name]) for name in shared])
    pathlib.Path(out).write_text(f"acting on {sorted(places)}, learning on {sorted(learning)}")


if __name__ == "__main__":
    scene, out, cores, *group = sys.argv[1:]
    try:
        with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
            patch.setattr("ludus.pool.available_cores", lambda: int(cores))
            if group:
                port, processes, process = map(int, group)
                stack.enter_context(meeting.together(f"127.0.0.1:{port}", processes, process, scene))
            globals()[scene](out)
    except LudusError as wrong:
        sys.exit(f"ludus: {wrong}")
