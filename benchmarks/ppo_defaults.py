"""PPO with its defaults on small games: the score against the random player after 300,000 steps, for three seeds.

`python benchmarks/ppo_defaults.py` writes results/ppo_defaults.json. The games in benchmarks/games have no preset; the
presets of the others are ignored. A score is the share of 1000 games won, with draws counted as half.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import time

from reporting import RESULTS, publish, tell

from ludus.bench.training import learn, match
from ludus.pool import hardware
from ludus.training import config

GAMES = ("nim", "tictactoe", "goofspiel", "hex4", "breakthrough", "connect4")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    os.environ["LUDUS_GAMES"] = str(pathlib.Path(__file__).parent / "games")
    results = [row for game in arguments.games for row in measure(game, arguments.steps, arguments.seeds)]
    whole = tuple(arguments.games) == GAMES
    document = {"suite": "ppo_defaults", "settings": {}, "hardware": hardware.describe(), "results": results}
    publish(document, RESULTS / "ppo_defaults.json" if whole else None, arguments.json)


def measure(game: str, steps: int, seeds: int) -> list[dict[str, object]]:
    """Score and seconds of training, one row for each seed."""
    rows: list[dict[str, object]] = []
    run = config.resolve(game, "ppo", config.NO_PRESET, steps)
    for seed in range(seeds):
        begun = time.perf_counter()
        learned = learn(dataclasses.replace(run, seed=seed, steps=steps))
        rate = 100.0 * match(game, learned, "random", 1000).rate.estimate
        tell(f"{game}, seed {seed}: {rate:.1f} % against random in {time.perf_counter() - begun:.0f} s")
        rows.append({"name": f"{game}/seed{seed}", "value": rate, "unit": "%"})
        rows.append({"name": f"{game}/seed{seed}/seconds", "value": learned.seconds, "unit": "s"})
    return rows


if __name__ == "__main__":
    main()
