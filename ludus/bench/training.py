"""Deep learning: steps/s, time to the first update, memory, and results of the presets.

Rates and memory are measured in separate processes, so that earlier parts do not affect them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ludus import agents
from ludus.agents.protocol import Agent, Params
from ludus.bench import Result, Tell, inference, world_model
from ludus.bridges import open_pool
from ludus.evaluation import scores as evaluate
from ludus.runtimes.transport.job import AnyAlgorithm
from ludus.training import config
from ludus.training.loop import train
from ludus.training.opened import open_run
from ludus.training.resume import new_learner
from ludus.types import JsonObject, LudusError

PLAIN: JsonObject = {"learning_rate": "0.0003", "ent_coef": "0.01", "gradient_accumulation": 4, "target_kl": 0.0}
"""2x64 tanh, 4 epochs x 4 minibatches, 512 x 128, no early stop: the settings for comparisons with other libraries"""
UPDATES = 24
"""updates per round when a rate is measured"""
SEEDS = range(5)
TRACKS = range(1001, 1009)
STEPPED = {"stepped": "gymnasium:CartPole-v1", "slowly_stepped": "gymnasium:MountainCar-v0"}
"""games stepped in Python, row by row; the second is so slow that the learner mostly waits"""
MEMORIES = ("lstm", "gru", "rwkv", "transformer", "none")

Part = Callable[[int], Iterator[Result]]


class Learned(NamedTuple):
    """The result of a run."""

    player: Agent
    params: Params
    seconds: float
    metrics: list[dict[str, float]]


def suite(only: Sequence[str], rounds: int, tell: Tell) -> Iterator[Result]:
    """All parts, or those whose names start with one of `only`."""
    chosen = {name: part for name, part in PARTS.items() if not only or any(name.startswith(word) for word in only)}
    if not chosen:
        raise LudusError(f"no part of the benchmark starts with {', '.join(only)}; the parts are {', '.join(PARTS)}")
    for number, (name, part) in enumerate(chosen.items()):
        tell(f"train/{name}", number, len(chosen))
        yield from part(rounds)


def cartpole(rounds: int) -> Iterator[Result]:
    """Steps/s including learning, and the peak memory of that run."""
    apart("first", "cartpole")  # fills the caches
    rates = [apart("rate", "cartpole", "threads") for _ in range(rounds)]
    yield Result("train/cartpole/ppo", float(np.median([found["rate"] for found in rates])), "steps/s")
    yield Result("train/cartpole/memory", max(found["memory"] for found in rates), "MB")


def first_update(rounds: int) -> Iterator[Result]:
    """Seconds from the start of a process to its first update, with an empty and with a full compile cache."""
    cold = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(apart("first", "cartpole", cache=cache)["seconds"])
    apart("first", "cartpole")
    warm = [apart("first", "cartpole")["seconds"] for _ in range(rounds)]
    yield Result("train/first_update/cold", float(np.median(cold)), "s")
    yield Result("train/first_update/warm", float(np.median(warm)), "s")


def solved(rounds: int) -> Iterator[Result]:
    """CartPole with its preset and five seeds: mean return over 100 games, and training time."""
    scores, seconds = [], []
    for seed in SEEDS:
        learned = learn(dataclasses.replace(config.resolve("cartpole", "ppo"), seed=seed))
        scores.append(evaluate.score("cartpole", learned.player, learned.params, 100, seed + 100).interval.estimate)
        seconds.append(learned.seconds)
    yield Result("train/cartpole/solved", float(np.sum(np.array(scores) >= 475)), f"of {len(SEEDS)} seeds")
    yield Result("train/cartpole/worst", min(scores), "return")
    yield Result("train/cartpole/seconds", max(seconds), "s")


def car(rounds: int) -> Iterator[Result]:
    """Number of unseen tracks driven for several laps, until the horizon, without a crash."""
    learned = learn(config.resolve("car", "ppo"))
    scores = [evaluate.score(f"car(track={track})", learned.player, learned.params, 1, track) for track in TRACKS]
    lapped = [score.cut == 1 and score.interval.estimate > 20.0 for score in scores]
    yield Result("train/car/lapped", float(sum(lapped)), f"of {len(TRACKS)} tracks")
    yield Result("train/car/return", float(np.mean([score.interval.estimate for score in scores])), "return")
    yield Result("train/car/seconds", learned.seconds, "s")


def tictactoe(rounds: int) -> Iterator[Result]:
    """Games lost to the perfect player, and the worst result over all lines of play."""
    learned = learn(config.resolve("tictactoe", "ppo"))
    yield Result("train/tictactoe/lost", float(match("tictactoe", learned, "perfect", 1000).losses), "of 1000 games")
    worst = evaluate.exhaustive("tictactoe", learned.player, learned.params).worst
    yield Result("train/tictactoe/worst_line", worst, "return")
    yield Result("train/tictactoe/seconds", learned.seconds, "s")


def connect4(rounds: int) -> Iterator[Result]:
    """Percentage of points (a draw is half a point) against random play and against search."""
    learned = learn(config.resolve("connect4", "ppo"))
    for against, games in (("random", 1000), ("mcts(200)", 200)):
        rate = match("connect4", learned, against, games).rate
        yield Result(f"train/connect4/{against}", 100.0 * rate.estimate, "%")
    yield Result("train/connect4/seconds", learned.seconds, "s")


def recall(rounds: int) -> Iterator[Result]:
    """Percentage of correct answers, thirty steps after the cue, for each kind of memory."""
    for memory in MEMORIES:
        run = config.resolve("recall", "ppo")
        model = dataclasses.replace(run.settings.model, rnn_type=memory)
        learned = learn(dataclasses.replace(run, settings=dataclasses.replace(run.settings, model=model)))
        right = evaluate.score("recall", learned.player, learned.params, 1000, 1).interval.estimate
        yield Result(f"train/recall/{memory}", 100.0 * right, "%")


def lair(rounds: int) -> Iterator[Result]:
    """Percentage of games in which the treasure is found, with and without intrinsic rewards."""
    run = config.resolve("lair", "ppo")
    for name, int_coef in (("rnd", run.settings.int_coef), ("ppo", 0.0)):
        learned = learn(dataclasses.replace(run, settings=dataclasses.replace(run.settings, int_coef=int_coef)))
        found = evaluate.score("lair", learned.player, learned.params, 100, 1).interval.estimate
        yield Result(f"train/lair/{name}", 100.0 * found, "% found")
        yield Result(f"train/lair/{name}/seconds", learned.seconds, "s")


def balatro(rounds: int) -> Iterator[Result]:
    """Balatro with its preset: how often ante 1 is cleared, mean ante, wins; decisions/s including learning."""
    learned = learn(config.resolve("balatro", "ppo"))
    score = evaluate.score("balatro", learned.player, learned.params, 1000, 1)
    yield Result("train/balatro/ante_1_cleared", 100.0 * score.measures["ante 1 cleared"].estimate, "%")
    yield Result("train/balatro/ante", score.measures["ante"].estimate, "mean")
    yield Result("train/balatro/won", 100.0 * score.measures["won"].estimate, "%")
    yield Result("train/balatro/seconds", learned.seconds, "s")
    steps = sum(one["decisions"] for one in learned.metrics)
    yield Result("train/balatro/rate", steps / learned.seconds, "decisions/s")


def duel(rounds: int) -> Iterator[Result]:
    """The duel with its preset: win rates against its built-in players; decisions/s including learning."""
    learned = learn(config.resolve("duel", "ppo"))
    for against in ("first", "random", "greedy"):
        yield Result(f"train/duel/{against}", 100.0 * match("duel", learned, against, 1000).rate.estimate, "%")
    yield Result("train/duel/seconds", learned.seconds, "s")
    yield Result("train/duel/rate", sum(one["decisions"] for one in learned.metrics) / learned.seconds, "decisions/s")


def threads(rounds: int) -> Iterator[Result]:
    """Speed of actors in threads compared with a plain loop, measured in turn; their overlap and age."""
    for name, game in {"cartpole": "cartpole", **STEPPED}.items():
        found: dict[str, list[dict[str, float]]] = {"threads": [], "local": []}
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


def learn(run: config.Run[AnyAlgorithm], updates: int = 0) -> Learned:
    """Train without writing to disk; time is measured from the first step."""
    metrics: list[dict[str, float]] = []
    with contextlib.closing(open_run(run)) as opened:
        run, settings = opened.run, opened.run.settings
        learner, begun = new_learner(opened), time.perf_counter()
        for progress in train(opened.agent, settings, learner, opened.source, opened.ahead.update):
            metrics.append(progress.metrics | {"age": float(progress.age), "seconds": time.perf_counter() - begun})
            if progress.learner.steps >= run.steps or len(metrics) == updates:
                break
    player = settings.evaluation_agent(opened.agent)
    return Learned(player, progress.learner.params, metrics[-1]["seconds"], metrics)


def updates(run: config.Run[AnyAlgorithm]) -> Iterator[dict[str, float]]:
    """The metrics of one update after the other, without writing to disk, for as long as they are asked for."""
    with contextlib.closing(open_run(run)) as opened:
        for progress in train(
            opened.agent, opened.run.settings, new_learner(opened), opened.source, opened.ahead.update
        ):  # fmt: skip
            yield progress.metrics


def match(game: str, learned: Learned, against: str, games: int) -> evaluate.Match:
    opponent = agents.load(against, game)
    pool = open_pool(game, 1, 0, threads=1)
    spec = pool.spec
    pool.close()
    return evaluate.match(game, [(learned.player, learned.params), (opponent, opponent.init(spec, 0))], games, 0)


def plain(game: str, runtime: str) -> config.Run[AnyAlgorithm]:
    """A run with the settings for comparisons; games stepped in Python get fewer rows."""
    run = config.resolve("cartpole", "ppo")
    settings = dataclasses.replace(run.settings, **PLAIN)
    if game != "cartpole":
        settings = dataclasses.replace(settings, rollout_length=64, gradient_accumulation=1)
    return dataclasses.replace(
        run, game=game, runtime=runtime, num_envs=512 if game == "cartpole" else 64, settings=settings
    )


def apart(what: str, *words: str, cache: str | None = None) -> dict[str, float]:
    """Measure in a separate process, which gets its start time as an argument."""
    environment = os.environ | ({"LUDUS_CACHE": cache} if cache else {})
    command = [sys.executable, "-m", "ludus.bench.training", what, repr(time.time()), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise LudusError(f"{' '.join(command)} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _rate(started: float, game: str, runtime: str) -> dict[str, float]:
    learned = learn(plain(game, runtime), UPDATES)
    later = learned.metrics[4:]  # without compilation and filling of the queue
    steps = sum(one["decisions"] for one in later)
    means = {name: float(np.mean([one.get(name, 0.0) for one in later])) for name in ("overlap", "age")}
    return {"rate": steps / (later[-1]["seconds"] - learned.metrics[3]["seconds"]), "memory": peak_memory(), **means}


def _first(started: float, game: str) -> dict[str, float]:
    learn(plain(game, "threads"), 1)
    return {"seconds": time.time() - started}


def peak_memory() -> float:
    """Peak resident memory of this process, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024.0 if sys.platform != "darwin" else 2**20)


if __name__ == "__main__":
    measures: dict[str, Callable[..., dict[str, float]]] = {"rate": _rate, "first": _first}
    measured = measures[sys.argv[1]](float(sys.argv[2]), *sys.argv[3:])
    print(json.dumps(measured))
