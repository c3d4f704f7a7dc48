"""One update on 1, 2 and 4 devices, each a part of this process: python ppo_on_devices.py FILE writes what came out."""

import sys

import jax

jax.config.update("jax_num_cpu_devices", 4)
assert len(jax.devices()) == 4

import numpy as np  # noqa: E402

from ludus.agents import checkpoint  # noqa: E402
from ludus.agents.neural.networks.settings import MLPArgs  # noqa: E402
from ludus.algorithms.ppo import PPO, update  # noqa: E402
from ludus.runtimes import Job, open_source  # noqa: E402


def settings_for(devices):
    """All that sums over devices: normalised advantages, means over own decisions."""
    return PPO(
        mlp=MLPArgs(width=8, depth=1), rollout_length=6, update_epochs=1, num_minibatches=1, devices=devices, upgo=True,
        learning_rate="0.01", opponents=("self:0.25", "random:0.75"),
    )  # fmt: skip


def main(path):
    settings = settings_for(1)
    source = open_source("local", Job("tictactoe", 8, 3, settings.rollout_length, 1, settings))
    agent = settings.new_agent(source.lanes[0].worker.pool)
    learner = settings.new_learner(agent, 3)
    source.publish(settings.broadcast(learner), 0)
    (rollout,) = next(iter(source))
    everyone = rollout._replace(own=np.ones_like(rollout.own))
    kept = {f"before/{name}": array for name, array in checkpoint.flatten(learner.state.agent).items()}
    kept["own"] = rollout.own
    for devices in (1, 2, 4):
        begun = learner._replace(state=update.everywhere(settings_for(devices), learner.state))
        for whose, given in (("own", rollout), ("all", everyone)):
            after, told = settings_for(devices).update(agent, begun, [given])
            state = jax.device_get(after.state)
            arrays = checkpoint.flatten({"agent": state.agent, "told": told})
            first_moment = checkpoint.flatten(state.optimiser[1].mu)
            arrays |= {f"gradient/{name}": array for name, array in first_moment.items()}
            kept |= {f"{devices}/{whose}/{name}": array for name, array in arrays.items()}
            assert {len(leaf.devices()) for leaf in jax.tree.leaves(after.state)} == {devices}
    np.savez(path, **kept)


if __name__ == "__main__":
    main(sys.argv[1])
