"""Run folders of checkpoints that `BalatroCheckpointCallback` has saved; no code of them is run, and no pickle read."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any, NamedTuple

import numpy as np

from ludus.agents import checkpoint
from ludus.agents.checkpoint.arrays import parse
from ludus.agents.neural.networks import variable_shapes
from ludus.algorithms.rllib_ppo.learner import Learner, Weights, save
from ludus.bridges import identity_of, open_pool
from ludus.training import config
from ludus.training.folder import CHECKPOINTS, new_folder, write_settings
from ludus.types import LudusError

GAME, NETWORK = "balatro", "balatro_encoders"
WEIGHTS, SUFFIX = "weights.safetensors", ".meta"
"""the files beside RLlib's own, see `ludus.algorithms.rllib_ppo.callbacks`"""
LARGEST = 2**30
"""limit for the bytes of the weights"""
COUNTS = ("timesteps", "games_played")


class ImportedPolicy(NamedTuple):
    """The folder of an imported checkpoint."""

    folder: pathlib.Path
    parameters: int
    """number of parameters"""
    timesteps: int
    games_played: int
    reward: float


def import_rllib(path: pathlib.Path, out: pathlib.Path) -> ImportedPolicy:
    """Make a run folder with one checkpoint of RLlib's, which plays and can be trained further."""
    facts = read_metadata(path.with_name(path.name + SUFFIX))
    run = config.resolve(GAME, "rllib_ppo").replace(mlp={"network": NETWORK})
    pool = open_pool(GAME, 1, 0, threads=1)
    try:
        agent = run.settings.new_agent(pool)
        params = read_weights(path)
        checkpoint.unflatten(variable_shapes(agent.network), params)  # raises an error if they do not fit
        origin = {"kind": "import", "file": path.name, **facts}
        manifest = checkpoint.describe(
            identity_of(pool), run.settings.describe(), origin, steps=facts["timesteps"]
        )  # fmt: skip
    finally:
        pool.close()
    zeros = {name: np.zeros_like(array) for name, array in params.items()}
    learner = Learner(Weights(params, zeros, zeros, 0, run.settings.kl_coef), *(facts[name] for name in COUNTS))
    folder = new_folder(out, GAME)
    write_settings(folder, run)
    arrays = save(learner) | {"worker_0": {"time": np.zeros(1, np.int64)}}
    checkpoint.save(folder / CHECKPOINTS, learner.steps, checkpoint.Checkpoint(manifest, arrays))
    return ImportedPolicy(folder, sum(array.size for array in params.values()), *learner[1:], facts["reward"])


def read_weights(path: pathlib.Path) -> dict[str, Any]:
    """The weights beside RLlib's files."""
    file = path / WEIGHTS
    if not file.is_file():
        raise LudusError(
            f'"{path}" has no {WEIGHTS}; train with config.callbacks(BalatroCheckpointCallback), which writes it'
        )
    if (size := file.stat().st_size) > LARGEST:
        raise LudusError(f'"{file}" has {size} bytes, more than the limit of {LARGEST}')
    return parse(file.read_bytes(), f'"{file}"')


def read_metadata(path: pathlib.Path) -> dict[str, Any]:
    """Reward, timesteps and games played of a checkpoint."""
    try:
        facts = json.loads(path.read_bytes()[:4096])
    except (OSError, ValueError):
        raise LudusError(f'"{path}" is missing or not JSON; it belongs beside the folder of the checkpoint') from None
    if not isinstance(facts, dict) or any(type(facts.get(name)) is not int or facts[name] < 0 for name in COUNTS):
        raise LudusError(f'"{path}" has no {" and ".join(COUNTS)}; use another checkpoint')
    if type(facts.get("reward")) is not float or not math.isfinite(facts["reward"]):
        raise LudusError(f'"{path}" has no reward that is a number; use another checkpoint')
    return {name: facts[name] for name in (*COUNTS, "reward")}
