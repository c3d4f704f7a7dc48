"""Deep learning: how fast, how soon, in how much memory, and what is learned by the presets.

Rates and memory are measured in processes of their own, which nothing before has warmed up or filled.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ludus import agents, config, evaluate
from ludus.algorithms import craft_of
from ludus.bench import Result, Tell, inference, world_model
from ludus.bridges import open_pool
from ludus.runs import settle
from ludus.runs.keeping import fresh, job_of
from ludus.runtimes import open_source
from ludus.train import train
from ludus.types import LudusError

PLAIN: dict[str, Any] = {"learning_rate": "0.0003", "entropy": "0.01", "pieces": 4, "kl_stop": 0.0}
"""2x64 tanh, 4 epochs x 4 minibatches, 512 x 128, none of them left out: the settings that peers are compared with"""
UPDATES = 24
"""of a round of measuring a rate"""
SEEDS = range(5)
TRACKS = range(1001, 1009)
STEPPED = {"stepped": "gymnasium:CartPole-v1", "slowly_stepped": "gymnasium:MountainCar-v0"}
"""games that Python steps, row by row; while the second does so, a learner has little to do"""
MEMORIES = ("lstm", "gru", "rwkv", "transformer", "none")

Part = Callable[[int], Iterator[Result]]


class Learned(NamedTuple):
    """What came out of a run."""

    player: Any
    params: Any
    seconds: float
    metrics: list[dict[str, float]]


def suite(only: Sequence[str], rounds: int, tell: Tell) -> Iterator[Result]:
    """Every part whose name begins with one of `only`, or all."""
    chosen = {name: part for name, part in PARTS.items() if not only or any(name.startswith(word) for word in only)}
    if not chosen:
        raise LudusError(f"nothing to measure is called {', '.join(only)}; there are {', '.join(PARTS)}")
    for number, (name, part) in enumerate(chosen.items()):
        tell(f"train/{name}", number, len(chosen))
        yield from part(rounds)


def cartpole(rounds: int) -> Iterator[Result]:
    """Steps/s, learning included, and the peak memory of that run."""
    apart("first", "cartpole")  # fills the caches
    rates = [apart("rate", "cartpole", "threads") for _ in range(rounds)]
    yield Result("train/cartpole/ppo", float(np.median([found["rate"] for found in rates])), "steps/s")
    yield Result("train/cartpole/memory", max(found["memory"] for found in rates), "MB")


def first_update(rounds: int) -> Iterator[Result]:
    """Seconds from the start of a process to its first finished update, with nothing compiled and with everything."""
    cold = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(apart("first", "cartpole", cache=cache)["seconds"])
    apart("first", "cartpole")
    warm = [apart("first", "cartpole")["seconds"] for _ in range(rounds)]
    yield Result("train/first_update/cold", float(np.median(cold)), "s")
    yield Result("train/first_update/warm", float(np.median(warm)), "s")


def solved(rounds: int) -> Iterator[Result]:
    """CartPole by its preset: the mean return over 100 games, and the seconds of training, of five seeds."""
    scores, seconds = [], []
    for seed in SEEDS:
        learned = learn(dataclasses.replace(config.resolve("cartpole", "ppo"), seed=seed))
        scores.append(evaluate.score("cartpole", learned.player, learned.params, 100, seed + 100).interval.estimate)
        seconds.append(learned.seconds)
    yield Result("train/cartpole/solved", float(np.sum(np.array(scores) >= 475)), f"of {len(SEEDS)} seeds")
    yield Result("train/cartpole/worst", min(scores), "return")
    yield Result("train/cartpole/seconds", max(seconds), "s")


def car(rounds: int) -> Iterator[Result]:
    """Unseen tracks that are driven to the horizon, for laps on end, without a crash."""
    learned = learn(config.resolve("car", "ppo"))
    scores = [evaluate.score(f"car(track={track})", learned.player, learned.params, 1, track) for track in TRACKS]
    lapped = [score.cut == 1 and score.interval.estimate > 20.0 for score in scores]
    yield Result("train/car/lapped", float(sum(lapped)), f"of {len(TRACKS)} tracks")
    yield Result("train/car/return", float(np.mean([score.interval.estimate for score in scores])), "return")
    yield Result("train/car/seconds", learned.seconds, "s")


def tictactoe(rounds: int) -> Iterator[Result]:
    """Games lost to the perfect player, and the worst line of all."""
    learned = learn(config.resolve("tictactoe", "ppo"))
    yield Result("train/tictactoe/lost", float(match("tictactoe", learned, "perfect", 1000).losses), "of 1000 games")
    worst = evaluate.exhaustive("tictactoe", learned.player, learned.params).worst
    yield Result("train/tictactoe/worst_line", worst, "return")
    yield Result("train/tictactoe/seconds", learned.seconds, "s")


def connect4(rounds: int) -> Iterator[Result]:
    """Games won, draws half, against random play and against search."""
    learned = learn(config.resolve("connect4", "ppo"))
    for against, games in (("random", 1000), ("mcts(200)", 200)):
        rate = match("connect4", learned, against, games).rate
        yield Result(f"train/connect4/{against}", 100.0 * rate.estimate, "%")
    yield Result("train/connect4/seconds", learned.seconds, "s")


def recall(rounds: int) -> Iterator[Result]:
    """Answers that are right, thirty steps after the cue, by kind of memory."""
    for memory in MEMORIES:
        run = config.resolve("recall", "ppo")
        model = dataclasses.replace(run.settings.model, rnn_type=memory)
        learned = learn(dataclasses.replace(run, settings=dataclasses.replace(run.settings, model=model)))
        right = evaluate.score("recall", learned.player, learned.params, 1000, 1).interval.estimate
        yield Result(f"train/recall/{memory}", 100.0 * right, "%")


def lair(rounds: int) -> Iterator[Result]:
    """Treasures found, with rewards for what is new and without."""
    run = config.resolve("lair", "ppo")
    for name, novelty in (("rnd", run.settings.novelty), ("ppo", 0.0)):
        learned = learn(dataclasses.replace(run, settings=dataclasses.replace(run.settings, novelty=novelty)))
        found = evaluate.score("lair", learned.player, learned.params, 100, 1).interval.estimate
        yield Result(f"train/lair/{name}", 100.0 * found, "% found")
        yield Result(f"train/lair/{name}/seconds", learned.seconds, "s")


def balatro(rounds: int) -> Iterator[Result]:
    """Balatro by its preset: how often ante 1 is cleared, the mean ante, wins; decisions/s with learning."""
    learned = learn(config.resolve("balatro", "ppo"))
    score = evaluate.score("balatro", learned.player, learned.params, 1000, 1)
    yield Result("train/balatro/ante_1_cleared", 100.0 * score.measures["ante 1 cleared"].estimate, "%")
    yield Result("train/balatro/ante", score.measures["ante"].estimate, "mean")
    yield Result("train/balatro/won", 100.0 * score.measures["won"].estimate, "%")
    yield Result("train/balatro/seconds", learned.seconds, "s")
    steps = sum(one["updates"] for one in learned.metrics)
    yield Result("train/balatro/rate", steps / learned.seconds, "decisions/s")


def duel(rounds: int) -> Iterator[Result]:
    """The duel by its preset: duels won against the players that come with it; decisions/s with learning."""
    learned = learn(config.resolve("duel", "ppo"))
    for against in ("first", "random", "greedy"):
        yield Result(f"train/duel/{against}", 100.0 * match("duel", learned, against, 1000).rate.estimate, "%")
    yield Result("train/duel/seconds", learned.seconds, "s")
    yield Result("train/duel/rate", sum(one["updates"] for one in learned.metrics) / learned.seconds, "decisions/s")


def threads(rounds: int) -> Iterator[Result]:
    """What actors in threads gain over a plain loop, the two by turns; their overlap and age."""
    for name, game in {"cartpole": "cartpole", **STEPPED}.items():
        found: dict[str, list[Any]] = {"threads": [], "local": []}
        for _ in range(rounds):
            for runtime, rates in found.items():
                rates.append(apart("rate", game, runtime))
        both, one = (float(np.median([one["rate"] for one in found[runtime]])) for runtime in found)
        yield Result(f"train/threads/{name}", both, "steps/s")
        yield Result(f"train/threads_over_local/{name}", both / one, "x")
        for metric in ("overlap", "age"):
            yield Result(f"train/{metric}/{name}", float(np.median([one[metric] for one in found["threads"]])), "")


def decisions(rounds: int) -> Iterator[Result]:
    yield from inference.suite(rounds, lambda *_: None)


PARTS: dict[str, Part] = {
    "cartpole/ppo": cartpole, "first_update": first_update, "cartpole/solved": solved, "car": car,
    "tictactoe": tictactoe, "recall": recall, "lair": lair, "threads": threads, "inference": decisions,
    "connect4": connect4, "balatro": balatro, "duel": duel, "world_model": world_model.suite,
    "world_model/pendulum": world_model.pendulum,
}  # fmt: skip


def learn(run: config.Run[Any], updates: int = 0) -> Learned:
    """Carry out a run without leaving anything on disk; the clock stands still before its first step."""
    run = settle(run)
    craft = craft_of(run.settings)
    pool = open_pool(run.game, 1, run.seed, threads=1)
    agent = craft.agent_for(run.settings, pool)
    source = open_source(run.runtime, job_of(run))
    metrics: list[dict[str, float]] = []
    begun = time.perf_counter()
    try:
        for progress in train(agent, run.settings, fresh(run, agent).learner, source):
            metrics.append(progress.metrics | {"age": float(progress.age), "seconds": time.perf_counter() - begun})
            if progress.learner.steps >= run.steps or len(metrics) == updates:
                break
    finally:
        source.close()
        pool.close()
    return Learned(craft.player(agent), progress.learner.params, metrics[-1]["seconds"], metrics)


def match(game: str, learned: Learned, against: str, games: int) -> evaluate.Match:
    opponent = agents.load(against, game)
    pool = open_pool(game, 1, 0, threads=1)
    spec = pool.spec
    pool.close()
    return evaluate.match(game, [(learned.player, learned.params), (opponent, opponent.init(spec, 0))], games, 0)


def plain(game: str, runtime: Any) -> config.Run[Any]:
    """A run with the settings that peers are compared with; games that Python steps are fewer."""
    run = config.resolve("cartpole", "ppo")
    settings = dataclasses.replace(run.settings, **PLAIN)
    if game != "cartpole":
        settings = dataclasses.replace(settings, length=64, pieces=1)
    return dataclasses.replace(
        run, game=game, runtime=runtime, rows=512 if game == "cartpole" else 64, settings=settings
    )


def apart(what: str, *words: str, cache: str | None = None) -> dict[str, float]:
    """Measure in a process of its own; it is told when it was started."""
    environment = os.environ | ({"LUDUS_CACHE": cache} if cache else {})
    command = [sys.executable, "-m", "ludus.bench.training", what, repr(time.time()), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise LudusError(f"{' '.join(command)} failed: {(done.stderr.strip().splitlines() or ['without a word'])[-1]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _rate(started: float, game: str, runtime: str) -> dict[str, float]:
    learned = learn(plain(game, runtime), UPDATES)
    later = learned.metrics[4:]  # compiled, and the queue filled
    steps = sum(one["updates"] for one in later)
    means = {name: float(np.mean([one.get(name, 0.0) for one in later])) for name in ("overlap", "age")}
    return {"rate": steps / (later[-1]["seconds"] - learned.metrics[3]["seconds"]), "memory": peak_memory(), **means}


def _first(started: float, game: str) -> dict[str, float]:
    learn(plain(game, "threads"), 1)
    return {"seconds": time.time() - started}


def peak_memory() -> float:
    """The most that this process has held, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024.0 if sys.platform != "darwin" else 2**20)


if __name__ == "__main__":
    measures: dict[str, Callable[..., dict[str, float]]] = {"rate": _rate, "first": _first}
    measured = measures[sys.argv[1]](float(sys.argv[2]), *sys.argv[3:])
    print(json.dumps(measured))
