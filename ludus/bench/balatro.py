"""Games of Balatro an hour with learning: RLlib's PPO with the settings of its training subsystem, and ours.

Each is measured in a process of its own, from the end of its first update, which opens Ray and compiles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from ludus.algorithms.rllib_ppo import session
from ludus.bench import Result, Tell
from ludus.bench.training import updates
from ludus.training import config
from ludus.training.resources import memory_used
from ludus.types import LudusError

ALGORITHMS = ("rllib_ppo", "ppo")
SECONDS = 10.0
"""the least time of a measurement"""


def suite(games: int, tell: Tell) -> Iterator[Result]:
    """Games an hour of each algorithm, and what explains it: decisions/s and the length of the games."""
    session.load_rllib()
    for number, algorithm in enumerate(ALGORITHMS):
        tell(f"balatro/{algorithm}", number, len(ALGORITHMS))
        found = apart(algorithm, games)
        for name, unit in UNITS.items():
            if name in found:
                yield Result(f"balatro/{algorithm}/{name}", found[name], unit)


UNITS = {
    "games_per_hour": "games/h", "decisions_per_second": "decisions/s", "episode_length": "decisions",
    "games": "games", "memory_used": "GB",
}  # fmt: skip


def apart(algorithm: str, games: int) -> dict[str, float]:
    """Measure in a separate process."""
    command = [sys.executable, "-m", "ludus.bench.balatro", algorithm, str(games)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise LudusError(f"{' '.join(command)} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(algorithm: str, games: int) -> dict[str, float]:
    """The rates of a run with the preset, after its first update."""
    begun, totals, memory = 0.0, {"episodes": 0.0, "decisions": 0.0}, 0.0
    for number, metrics in enumerate(updates(config.resolve("balatro", algorithm).replace(steps=2**40))):
        memory = memory_used(os.getpid()) or 0.0
        if number == 0:
            begun = time.perf_counter()
            continue
        totals = {name: total + metrics.get(name, 0.0) for name, total in totals.items()}
        seconds = time.perf_counter() - begun
        if totals["episodes"] >= games and seconds >= SECONDS:
            break
    return {
        "games_per_hour": 3600.0 * totals["episodes"] / seconds,
        "decisions_per_second": totals["decisions"] / seconds,
        "episode_length": totals["decisions"] / totals["episodes"],
        "games": totals["episodes"],
    } | ({"memory_used": memory} if memory else {})


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
