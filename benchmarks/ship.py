"""Make the trained agents that come with ludus: train each by its game's preset, keep the best checkpoint's parameters.

    python benchmarks/ship.py                    # all of them, about an hour on two cores
    python benchmarks/ship.py cartpole lair      # only these
    python benchmarks/ship.py car.dreamer        # the driver of the car with a world model
    python benchmarks/ship.py car --run runs/car-0007   # that run's best checkpoint instead of training, or this one

An agent in the package is replaced only when its successor is there.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from ludus import agents, checkpoint

ALGORITHMS = {
    "tictactoe": "q_learning", "connect4": "ppo", "car": "ppo", "cartpole": "ppo", "goofspiel": "ppo",
    "recall": "ppo", "lair": "ppo", "balatro": "ppo", "duel": "ppo", "car.dreamer": "world_model",
}  # fmt: skip
"""what each is trained by; one is named by its game, and by its kind where that is not `trained`"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", choices=[*ALGORITHMS, []], default=[])
    parser.add_argument(
        "--run", type=pathlib.Path, help="the folder of a run of the one agent given, or of a checkpoint"
    )
    chosen = parser.parse_args()
    if chosen.run and len(chosen.agents) != 1:
        parser.error("--run is the run of one agent: name it")
    for name in chosen.agents or ALGORITHMS:
        print(f"{name}: {ship(name, chosen.run or train(name))}", flush=True)


def train(name: str) -> pathlib.Path:
    """The folder of a fresh run."""
    out = pathlib.Path(tempfile.mkdtemp(prefix="ludus-ship-"))
    game = name.partition(".")[0]
    command = [sys.executable, "-m", "ludus.cli", "train", game, "--algorithm", ALGORITHMS[name], "--out", str(out)]
    subprocess.run(command, check=True)
    return next(out.iterdir())


def ship(name: str, run: pathlib.Path) -> str:
    """Put the best checkpoint of a run into the package; how large it is and how well it does."""
    best = run if (run / checkpoint.MANIFEST).is_file() else checkpoint.best(run / "checkpoints")
    if best is None:
        sys.exit(f"{run} has no checkpoint with a score; let it train until its first evaluation")
    target = agents.SHIPPED / name
    fresh = checkpoint.export(best, target.with_name(f"{name}.new"))
    if target.is_dir():
        shutil.rmtree(target)
    fresh.rename(target)
    size = sum(file.stat().st_size for file in target.iterdir())
    return f"score {checkpoint.read_manifest(target).score:.4g}, {size / 1024:.0f} KB, from {best}"


if __name__ == "__main__":
    main()
