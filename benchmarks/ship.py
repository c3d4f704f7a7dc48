"""Create the trained agents included in Ludus: train each with its game's preset and keep its best checkpoint.

    python benchmarks/ship.py                    # all of them, about an hour on two cores
    python benchmarks/ship.py cartpole lair      # only these
    python benchmarks/ship.py car.dreamer        # the agent with a world model for the car
    python benchmarks/ship.py car --run runs/car-0007   # use the best checkpoint of this run, or this checkpoint

An agent in the package is replaced only after the new one was exported.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from ludus import agents
from ludus.agents import checkpoint

ALGORITHMS = {
    "tictactoe": "q_learning", "connect4": "ppo", "car": "ppo", "cartpole": "ppo", "goofspiel": "ppo",
    "recall": "ppo", "lair": "ppo", "balatro": "ppo", "duel": "ppo", "car.dreamer": "world_model",
}  # fmt: skip
"""algorithm of each agent; its name is the game, with a suffix for kinds other than `trained`"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", choices=[*ALGORITHMS, []], default=[])
    parser.add_argument(
        "--run", type=pathlib.Path, help="the folder of a run, or of a checkpoint, of the one given agent"
    )
    chosen = parser.parse_args()
    if chosen.run and len(chosen.agents) != 1:
        parser.error("--run needs exactly one agent; name it")
    for name in chosen.agents or ALGORITHMS:
        print(f"{name}: {ship(name, chosen.run or train(name))}", flush=True)


def train(name: str) -> pathlib.Path:
    """Train in a new run; returns its folder."""
    out = pathlib.Path(tempfile.mkdtemp(prefix="ludus-ship-"))
    game = name.partition(".")[0]
    command = [sys.executable, "-m", "ludus.cli", "train", game, "--algorithm", ALGORITHMS[name], "--out", str(out)]
    subprocess.run(command, check=True)
    return next(out.iterdir())


def ship(name: str, run: pathlib.Path) -> str:
    """Export the best checkpoint of a run into the package; returns a summary with score and size."""
    best = run if (run / checkpoint.MANIFEST).is_file() else checkpoint.best(run / "checkpoints")
    if best is None:
        sys.exit(f"{run} has no checkpoint with a score; train until the first evaluation")
    target = agents.PRETRAINED / name
    fresh = checkpoint.export(best, target.with_name(f"{name}.new"))
    if target.is_dir():
        shutil.rmtree(target)
    fresh.rename(target)
    size = sum(file.stat().st_size for file in target.iterdir())
    return f"score {checkpoint.read_manifest(target).score:.4g}, {size / 1024:.0f} KB, from {best}"


if __name__ == "__main__":
    main()
