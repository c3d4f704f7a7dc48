"""The settings of the Balatro training subsystem as RLlib once called them, and their names in RLlib 2.60.

`translated(PPO_CONFIG, GPU_CONFIG)` is a `PPOConfig` of the new API stack; docs/rllib.md has the table of names.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus.algorithms.rllib_ppo import session
from ludus.types import LudusError

if TYPE_CHECKING:
    from ray.rllib.algorithms.ppo import PPOConfig

PPO_CONFIG: dict[str, Any] = {
    "framework": "torch",
    "num_workers": 2,
    "num_envs_per_worker": 4,
    "rollout_fragment_length": 200,
    "train_batch_size": 4000,
    "sgd_minibatch_size": 128,
    "num_sgd_iter": 30,
    "lr": 5e-5,
    "lambda": 0.95,
    "gamma": 0.99,
    "entropy_coeff": 0.01,
    "clip_param": 0.2,
    "vf_clip_param": 10.0,
    "grad_clip": 0.5,
    "kl_target": 0.02,
}
"""two env runners of four games each, for a machine with 8 GB"""
GPU_CONFIG: dict[str, Any] = {
    "num_gpus": 1,
    "num_gpus_per_worker": 0,
    "custom_resources_per_worker": {"gpu_memory": 0.1},
    "_fake_gpus": False,
}
"""a GPU for the learner only; the nodes must have been started with the resource `gpu_memory`"""
MEMORY = {"object_store_memory": 2_000_000_000, "memory": 8_000_000_000, "spill_folder": "/tmp/ray_spill"}
"""memory limits of Ray on a machine with 8 GB for training, as settings of the runtime ray"""


class Name(NamedTuple):
    """Where RLlib 2.60 has a setting."""

    method: str
    """of AlgorithmConfig"""
    keyword: str


NAMES = {
    "framework": Name("framework", "framework"),
    "num_workers": Name("env_runners", "num_env_runners"),
    "num_envs_per_worker": Name("env_runners", "num_envs_per_env_runner"),
    "rollout_fragment_length": Name("env_runners", "rollout_fragment_length"),
    "train_batch_size": Name("training", "train_batch_size_per_learner"),
    "sgd_minibatch_size": Name("training", "minibatch_size"),
    "num_sgd_iter": Name("training", "num_epochs"),
    "lr": Name("training", "lr"),
    "lambda": Name("training", "lambda_"),
    "gamma": Name("training", "gamma"),
    "entropy_coeff": Name("training", "entropy_coeff"),
    "clip_param": Name("training", "clip_param"),
    "vf_clip_param": Name("training", "vf_clip_param"),
    "grad_clip": Name("training", "grad_clip"),
    "kl_target": Name("training", "kl_target"),
    "num_gpus": Name("learners", "num_gpus_per_learner"),
    "num_gpus_per_worker": Name("env_runners", "num_gpus_per_env_runner"),
    "custom_resources_per_worker": Name("env_runners", "custom_resources_per_env_runner"),
}
"""by the former name"""
FAKE_GPUS = "_fake_gpus"
"""a former setting that RLlib 2.60 no longer has; false was its default"""


def translated(*configs: Mapping[str, Any]) -> PPOConfig:
    """The configuration of RLlib 2.60 with the settings of these dicts, by their former names."""
    session.load_rllib()
    from ludus.algorithms.rllib_ppo.batches import AnyBatchConfig

    ppo = AnyBatchConfig()  # type: ignore[no-untyped-call]
    given = {name: value for config in configs for name, value in config.items()}
    for name, value in given.items():
        if name == FAKE_GPUS and value is False:
            continue
        if name not in NAMES:
            raise _unknown(name)
        getattr(ppo, NAMES[name].method)(**{NAMES[name].keyword: value})
    return ppo


def _unknown(name: str) -> LudusError:
    if name == FAKE_GPUS:
        return LudusError("RLlib 2.60 cannot pretend to have GPUs; leave out _fake_gpus")
    close = difflib.get_close_matches(name, NAMES, 1)
    hint = f'did you mean "{close[0]}"?' if close else f"known are {', '.join(NAMES)}"
    return LudusError(f'unknown setting "{name}" of RLlib\'s PPO; {hint}')
