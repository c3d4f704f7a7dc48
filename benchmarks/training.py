"""Measure one trainer in one process: the time to its first update, then its rate, memory and returns.

    python training.py '{"peer": "sb3", "ppo": {…}, "setting": {…}, "started": 1790000000.0, "rounds": 5, "seed": 1}'

prints one JSON object. `train_<peer>.py` implements the peer. Ludus is not imported here, since that would take time.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import pathlib
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

PACKAGES = ("jax", "flax", "optax", "gymnax", "gymnasium", "stable_baselines3", "torch", "ray")


TRIALS: dict[str, tuple[dict[str, int | str], ...]] = {
    "purejax": ({"devices": 1, "updates": 4}, {"devices": 2, "updates": 4}),
    "sb3": (
        {"num_envs": 8, "threads": 1, "updates": 20},
        {"num_envs": 64, "threads": 1, "updates": 4},
        {"num_envs": 64, "threads": 2, "updates": 4},
        {"num_envs": 512, "threads": 1, "updates": 1},
        {"num_envs": 512, "threads": 2, "updates": 1},
    ),
    "rllib": (
        {"num_envs": 8, "runners": 2, "mode": "sync", "updates": 20},
        {"num_envs": 64, "runners": 0, "mode": "vector_entry_point", "updates": 2},
        {"num_envs": 64, "runners": 2, "mode": "sync", "updates": 2},
        {"num_envs": 64, "runners": 2, "mode": "vector_entry_point", "updates": 2},
        {"num_envs": 512, "runners": 2, "mode": "vector_entry_point", "updates": 1},
    ),
}
"""settings to try for each peer; `updates` is chosen so that a round takes a second or more"""


class PPO(NamedTuple):
    """The common PPO settings, those of Ludus: tanh layers, separate actor and critic, Adam."""

    num_envs: int
    rollout_length: int
    update_epochs: int
    num_minibatches: int
    hidden: tuple[int, ...]
    learning_rate: float
    gamma: float
    gae_lambda: float
    clip_coef: float
    ent_coef: float
    vf_coef: float
    max_grad_norm: float

    def as_called(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Settings with a peer's names: {peer's name: our name} to {peer's name: value}."""
        return {theirs: getattr(self, ours) for theirs, ours in names.items()}


class Trainer(NamedTuple):
    """A peer that is ready to train."""

    learn: Callable[[int], int]
    """makes a number of updates; returns the number of environment steps"""
    mean_return: Callable[[], float]
    """mean return of recently ended games, to check that it learns"""
    close: Callable[[], None]


class Peer(Protocol):
    """The interface of a module `train_<peer>`."""

    def start(self, ppo: PPO, setting: Mapping[str, Any], seed: int) -> Trainer: ...


def load(peer: str) -> Peer:
    return importlib.import_module(f"train_{peer}")  # type: ignore[return-value]


def measure(
    peer: str, ppo: Mapping[str, Any], setting: Mapping[str, Any], started: float, rounds: int, seed: int
) -> dict[str, Any]:
    """All measurements of one peer with one setting; `started` is the wall-clock time at the start of this process."""
    trainer = load(peer).start(ppo_with(ppo, setting), setting, seed)
    trainer.learn(1)
    first_update = time.time() - started
    rates = measure_rates(trainer, int(setting["updates"]), rounds)
    found = {
        "setting": dict(setting),
        "first_update": first_update,
        "steps_per_second": statistics.median(rates) if rates else None,
        "rounds": rates,
        "mean_return": trainer.mean_return(),
        "memory": own_peak(),
        "memory_of_children": peak_of_children(),
        "versions": versions(),
    }
    trainer.close()
    return found


def ppo_with(ppo: Mapping[str, Any], setting: Mapping[str, Any]) -> PPO:
    """The common settings, with the peer's own num_envs and rollout_length if its setting has them."""
    own = {name: setting[name] for name in ("num_envs", "rollout_length") if name in setting}
    return PPO(**{**ppo, "hidden": tuple(ppo["hidden"]), **own})


def measure_rates(trainer: Trainer, updates: int, rounds: int) -> list[float]:
    """Steps per second of every round, after one unmeasured round for compilation and warm-up."""
    rates = []
    for number in range(rounds + 1 if rounds else 0):
        start = time.perf_counter()
        steps = trainer.learn(updates)
        if number:
            rates.append(steps / (time.perf_counter() - start))
    return rates


def own_peak() -> float:
    """Peak memory of this process in megabytes; ru_maxrss is in kilobytes on Linux, in bytes on macOS."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def peak_of_children() -> float:
    """Sum of the peak memory of all live subprocesses in megabytes; shared pages count in each."""
    import psutil

    return sum(peak_of(process.pid) for process in psutil.Process().children(recursive=True))


def peak_of(process: int) -> float:
    status = pathlib.Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM"))


def versions() -> dict[str, str]:
    """The versions of the packages that this peer has imported."""
    return {name: importlib.metadata.version(name) for name in PACKAGES if name in sys.modules}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
