"""One trainer in one process: its first update since the process started, then its rate, memory and returns.

    python training.py '{"peer": "sb3", "ppo": {…}, "setting": {…}, "started": 1790000000.0, "rounds": 5, "seed": 1}'

prints one JSON object. `train_<peer>.py` knows the peer. Nothing of Ludus is imported here, which would take its time.
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
        {"rows": 8, "threads": 1, "updates": 20},
        {"rows": 64, "threads": 1, "updates": 4},
        {"rows": 64, "threads": 2, "updates": 4},
        {"rows": 512, "threads": 1, "updates": 1},
        {"rows": 512, "threads": 2, "updates": 1},
    ),
    "rllib": (
        {"rows": 8, "runners": 2, "mode": "sync", "updates": 20},
        {"rows": 64, "runners": 0, "mode": "vector_entry_point", "updates": 2},
        {"rows": 64, "runners": 2, "mode": "sync", "updates": 2},
        {"rows": 64, "runners": 2, "mode": "vector_entry_point", "updates": 2},
        {"rows": 512, "runners": 2, "mode": "vector_entry_point", "updates": 1},
    ),
}
"""the settings worth trying of each peer; `updates` make a round of a second or more"""


class PPO(NamedTuple):
    """What everyone trains: hidden layers with tanh, actor and critic apart, Adam. The numbers are those of Ludus."""

    rows: int
    steps: int
    epochs: int
    minibatches: int
    hidden: tuple[int, ...]
    learning_rate: float
    discount: float
    trace: float
    clip: float
    entropy: float
    value: float
    gradient: float

    def as_called(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Settings as a peer calls them: {their name: our name} to {their name: value}."""
        return {theirs: getattr(self, ours) for theirs, ours in names.items()}


class Trainer(NamedTuple):
    """A peer that is ready to learn."""

    learn: Callable[[int], int]
    """makes so many updates and tells how many steps were played for them"""
    mean_return: Callable[[], float]
    """of the games that ended lately: shows that it learns at all"""
    close: Callable[[], None]


class Peer(Protocol):
    """What a module `train_<peer>` offers."""

    def start(self, ppo: PPO, setting: Mapping[str, Any], seed: int) -> Trainer: ...


def load(peer: str) -> Peer:
    return importlib.import_module(f"train_{peer}")  # type: ignore[return-value]


def measure(
    peer: str, ppo: Mapping[str, Any], setting: Mapping[str, Any], started: float, rounds: int, seed: int
) -> dict[str, Any]:
    """Everything that is compared, of one peer with one setting; `started` is when this process was, by the clock."""
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
    """The common settings, save for rows and steps where a peer is better off with others."""
    own = {name: setting[name] for name in ("rows", "steps") if name in setting}
    return PPO(**{**ppo, "hidden": tuple(ppo["hidden"]), **own})


def measure_rates(trainer: Trainer, updates: int, rounds: int) -> list[float]:
    """Steps a second of every round; the round before the first one is for compiling and warming up."""
    rates = []
    for number in range(rounds + 1 if rounds else 0):
        start = time.perf_counter()
        steps = trainer.learn(updates)
        if number:
            rates.append(steps / (time.perf_counter() - start))
    return rates


def own_peak() -> float:
    """Megabytes that this process ever held; kilobytes are the unit on Linux, bytes on macOS."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def peak_of_children() -> float:
    """Megabytes: the sum of the peaks of all processes below this one that still live; shared pages count in each."""
    import psutil

    return sum(peak_of(process.pid) for process in psutil.Process().children(recursive=True))


def peak_of(process: int) -> float:
    status = pathlib.Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM"))


def versions() -> dict[str, str]:
    """Of the packages that this peer has imported."""
    return {name: importlib.metadata.version(name) for name in PACKAGES if name in sys.modules}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
