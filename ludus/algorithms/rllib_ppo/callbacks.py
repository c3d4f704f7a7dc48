"""A callback for training with RLlib itself: it keeps checkpoints of the best returns.

    config.callbacks(BalatroCheckpointCallback)                                   # in the folder checkpoints
    config.callbacks(functools.partial(BalatroCheckpointCallback, "elsewhere"))

`Algorithm.restore_from_path` continues from such a checkpoint, and `ludus import` makes a run of Ludus of it.
"""

from __future__ import annotations

import json
import math
import pathlib
import time
from typing import Any

from ray.rllib.callbacks.callbacks import RLlibCallback

from ludus.agents.checkpoint.arrays import serialize
from ludus.algorithms.rllib_ppo.modules import BalatroNet, flax_arrays
from ludus.files import write_atomically
from ludus.types import LudusError

WEIGHTS = "weights.safetensors"
"""in the folder of a checkpoint: the weights by the names of the Flax twin"""
SUFFIX = ".meta"


class BalatroCheckpointCallback(RLlibCallback):
    """Saves a checkpoint whenever the mean return is better than in all checkpoints of the folder, with metadata.

    `checkpoint-000012` is the folder of iteration 12, and `checkpoint-000012.meta` its metadata as JSON: reward,
    timesteps, games_played and timestamp.
    """

    def __init__(self, checkpoint_dir: str | pathlib.Path = "checkpoints") -> None:
        super().__init__()
        self.checkpoint_dir = pathlib.Path(checkpoint_dir).absolute()
        self.best_reward = best_reward(self.checkpoint_dir)

    def on_train_result(self, *, algorithm: Any, result: dict[str, Any], **kwargs: Any) -> None:
        """Compare the mean return with the best one."""
        played = result["env_runners"]
        reward = float(played.get("episode_return_mean", math.nan))
        if not reward > self.best_reward:  # also if no game has ended yet
            return
        self.best_reward = reward
        folder = self.checkpoint_dir / f"checkpoint-{int(result['training_iteration']):06d}"
        algorithm.save_to_path(str(folder))
        write_atomically(folder / WEIGHTS, exported(algorithm))
        metadata = {
            "reward": reward,
            "timesteps": int(played["num_env_steps_sampled_lifetime"]),
            "games_played": int(played["num_episodes_lifetime"]),
            "timestamp": time.time(),
        }
        write_atomically(folder.with_name(folder.name + SUFFIX), json.dumps(metadata).encode())


def exported(algorithm: Any) -> bytes:
    """The weights of the BalatroNet of an algorithm as a safetensors file."""
    for module in algorithm.learner_group.foreach_learner(modules_of):
        for found in module.get():
            return serialize(found)
    raise LudusError("this algorithm trains no BalatroNet, so Ludus cannot import it; use the module BalatroNet")


def modules_of(learner: Any) -> list[dict[str, Any]]:
    """The weights of every BalatroNet of a learner."""
    modules = [module.unwrapped() for module in learner.module.values()]
    return [flax_arrays(one, dict(one.named_parameters())) for one in modules if isinstance(one, BalatroNet)]


def best_reward(folder: pathlib.Path) -> float:
    """The highest reward in the metadata of a folder, -inf if there is none."""
    rewards = [json.loads(path.read_text())["reward"] for path in folder.glob(f"checkpoint-*{SUFFIX}")]
    return max(rewards, default=-math.inf)
