"""Make the trained agents that come with ludus: train every game by its preset, keep the best checkpoint's parameters.

    python benchmarks/ship.py                    # all of them, about an hour on two cores
    python benchmarks/ship.py cartpole lair      # only these
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
    "recall": "ppo", "lair": "ppo", "balatro": "ppo", "duel": "ppo",
}  # fmt: skip
"""what each is trained by; all else stands in its preset"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", choices=[*ALGORITHMS, []], default=[])
    parser.add_argument(
        "--run", type=pathlib.Path, help="the folder of a run of the one game given, or of a checkpoint"
    )
    chosen = parser.parse_args()
    if chosen.run and len(chosen.games) != 1:
        parser.error("--run is the run of one game: name it")
    for game in chosen.games or ALGORITHMS:
        print(f"{game}: {ship(game, chosen.run or train(game))}", flush=True)


def train(game: str) -> pathlib.Path:
    """The folder of a fresh run."""
    out = pathlib.Path(tempfile.mkdtemp(prefix="ludus-ship-"))
    command = [sys.executable, "-m", "ludus.cli", "train", game, "--algorithm", ALGORITHMS[game], "--out", str(out)]
    subprocess.run(command, check=True)
    return next(out.iterdir())


def ship(game: str, run: pathlib.Path) -> str:
    """Put the best checkpoint of a run into the package; how large it is and how well it does."""
    best = run if (run / checkpoint.MANIFEST).is_file() else checkpoint.best(run / "checkpoints")
    if best is None:
        sys.exit(f"{run} has no checkpoint with a score; let it train until its first evaluation")
    target = agents.SHIPPED / game
    fresh = checkpoint.export(best, target.with_name(f"{game}.new"))
    if target.is_dir():
        shutil.rmtree(target)
    fresh.rename(target)
    size = sum(file.stat().st_size for file in target.iterdir())
    return f"score {checkpoint.read_manifest(target).score:.4g}, {size / 1024:.0f} KB, from {best}"


if __name__ == "__main__":
    main()
