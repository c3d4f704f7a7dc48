"""Tabular learning: how fast, how many times the plain form, how near the best play, how soon tic-tac-toe is solved."""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ludus import config, evaluate
from ludus.agents.tabular import TabularAgent
from ludus.algorithms.planning import dynamics_of, value_iteration
from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.forms import bigtable_rate
from ludus.bench import Result, Tell, median_rate
from ludus.bridges import open_pool
from ludus.evaluate.planned import nearness, step_of
from ludus.runtimes import Job, open_source
from ludus.train import train
from ludus.types import Discrete, LudusError

PLAIN = Tabular(learning_rate="0.1", exploration="0.2")
FROZEN_LAKE, TAXI = "gymnasium:FrozenLake-v1(map_name=8x8)", "gymnasium:Taxi-v4"
LEARNED = {"taxi": TAXI, "cliffwalking": "gymnasium:CliffWalking-v1", "frozenlake": FROZEN_LAKE}
STEPPED = f"{FROZEN_LAKE[:-1]}, compiled=false)"
CHUNK, CHUNKS = 2**20, 12
"""updates between merges, and merges in a round"""


def suite(rounds: int, tell: Tell) -> Iterator[Result]:
    """Everything, part by part."""
    parts: list[Callable[[int], Iterator[Result]]]
    parts = [threads, compiled, bigtable, python_ratio, processes, forms, solved, optimum]
    for number, part in enumerate(parts):
        tell(f"tabular/{part.__name__}", number, len(parts))
        yield from part(rounds)


def threads(rounds: int) -> Iterator[Result]:
    """Updates/s of tic-tac-toe by self-play, and what a second thread adds; the two take turns in being measured."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _, workers in itertools.product(range(rounds), rates):
        rates[workers].append(learning_rate("tictactoe", workers))
    one, two = (float(np.median(rates[workers])) for workers in rates)
    yield Result("tabular/tictactoe/threads=1", one, "updates/s")
    yield Result("tabular/tictactoe/threads=2", two, "updates/s")
    yield Result("tabular/tictactoe/threads=2_over_1", two / one, "x")


def compiled(rounds: int) -> Iterator[Result]:
    """Updates/s through compiled dynamics."""
    for name, game in (("taxi", TAXI), ("frozenlake", FROZEN_LAKE)):
        rate = median_rate(functools.partial(learning_rate, game, 1), rounds)
        yield Result(f"tabular/{name}/compiled", rate, "steps/s")


def learning_rate(
    game: str, workers: int, rows: int = 16, runtime: str = "threads", chunk: int = CHUNK, chunks: int = CHUNKS
) -> float:
    """Updates per second of wall time, merges included, after a chunk to warm up."""
    job = Job(game, rows, 1, chunk // rows, workers, PLAIN)
    source = open_source("single" if workers == 1 else runtime, job)
    try:
        learner = PLAIN.start(_empty_table(game))
        progress = train(None, PLAIN, learner, source)
        before = next(progress).learner.steps
        start = time.perf_counter()
        after = max(step.learner.steps for step in itertools.islice(progress, chunks))
        return float((after - before) / (time.perf_counter() - start))
    finally:
        source.close()


def bigtable(rounds: int) -> Iterator[Result]:
    """Random updates of a table that fits no cache: 10 million positions, 9 actions."""
    yield Result("tabular/bigtable", median_rate(bigtable_rate, min(rounds, 3)), "updates/s")


def python_ratio(rounds: int) -> Iterator[Result]:
    """A game that Python steps: with learning, and with random actions alone."""
    game, steps, rows = STEPPED, 200, 64
    ratios, learning = [], 0.0
    for _ in range(rounds):
        random = _seconds(functools.partial(_play_randomly, open_pool(game, rows, 1), steps))
        worker = Job(game, rows, 1, steps, 1, PLAIN).worker(0)
        table = worker.new_table()
        worker.work(table, 5)
        spent = _seconds(functools.partial(worker.work, table, steps))
        worker.close()
        ratios.append(random / spent)
        learning = steps * rows / spent
    yield Result("tabular/frozenlake/python", learning, "steps/s")
    yield Result("tabular/frozenlake/python_ratio", float(np.median(ratios)), "x")


def processes(rounds: int) -> Iterator[Result]:
    """What a second process adds where Python steps the games; the two take turns in being measured."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _, workers in itertools.product(range(rounds), rates):
        rates[workers].append(learning_rate(STEPPED, workers, 64, "processes", chunk=2**14, chunks=4))
    one, two = (float(np.median(rates[workers])) for workers in rates)
    yield Result("tabular/frozenlake/processes=2", two, "steps/s")
    yield Result("tabular/frozenlake/processes=2_over_1", two / one, "x")


def forms(rounds: int) -> Iterator[Result]:
    """The same self-play in plain Python, in NumPy and compiled: one game at a time, and 64."""
    for rows, suffix in ((1, ""), (64, "/rows=64")):
        rates = {}
        for form, steps in (("list", 6_000), ("numpy", 6_000), ("compiled", 4_000_000)):
            rates[form] = median_rate(functools.partial(_form_rate, form, steps // rows, rows), rounds)
            yield Result(f"tabular/{form}{suffix}", rates[form], "updates/s")
        yield Result(f"tabular/compiled_over_list{suffix}", rates["compiled"] / rates["list"], "x")


def _form_rate(form: Any, steps: int, rows: int) -> float:
    worker = Job("tictactoe", rows, 1, steps, 1, Tabular(form=form, exploration="0.2")).worker(0)
    table = worker.new_table()
    worker.work(table, 20)
    start = time.perf_counter()
    tally = worker.work(table, steps)
    spent = time.perf_counter() - start
    worker.close()
    return float(tally[2] / spent)


def solved(rounds: int) -> Iterator[Result]:
    """Seconds from an empty table to one that no line of play beats, the proof included; and its worst result."""
    times, worst = [], []
    for seed in range(rounds):
        start = time.perf_counter()
        table, agent = _trained("tictactoe", 1_000_000, "single", seed)
        worst.append(evaluate.exhaustive("tictactoe", agent, table).worst)
        times.append(time.perf_counter() - start)
    yield Result("tabular/tictactoe/solved", float(np.median(times)), "s")
    yield Result("tabular/tictactoe/worst", min(worst), "return")
    table, agent = _trained("tictactoe", 10_000_000, "threads", 0)
    yield Result("tabular/tictactoe/threads=2/worst", evaluate.exhaustive("tictactoe", agent, table).worst, "return")


def optimum(rounds: int) -> Iterator[Result]:
    """The greedy policy of the preset against value iteration's, by exact expected returns within the time limit."""
    for name, game in LEARNED.items():
        run = config.resolve(game)
        pool = open_pool(game, 1, 0, threads=1)
        dynamics = dynamics_of(pool)
        plan = value_iteration(dynamics, run.settings.discount)
        table, agent = _trained(game, run.steps, "single", run.seed, run.settings)
        near = nearness(dynamics, agent.choices(table, step_of(dynamics)), plan.policy, pool.spec.horizon or 200)
        pool.close()
        yield Result(f"tabular/{name}/return", near.policy, "return")
        yield Result(f"tabular/{name}/optimum", near.optimum, "return")
        yield Result(f"tabular/{name}/over_optimum", near.ratio, "x")


def _trained(
    game: str, steps: int, runtime: str, seed: int, settings: Tabular | None = None
) -> tuple[Any, TabularAgent]:
    settings = settings or Tabular(learning_rate="0.3", exploration="0.4")
    workers = 2 if runtime == "threads" else 1
    job = Job(game, 64, seed, min(steps // workers, CHUNK) // 64, workers, settings)
    source, chunks = open_source(runtime, job), math.ceil(steps / (job.steps * job.rows * workers))
    pool = open_pool(game, 1, 0, threads=1)
    try:
        learner = settings.start(_empty_table(game))
        for _ in itertools.islice(train(None, settings, learner, source), chunks):
            pass
        return learner.table, TabularAgent.of(pool)
    finally:
        source.close()
        pool.close()


def _empty_table(game: str) -> Any:
    pool = open_pool(game, 1, 0, threads=1)
    if not isinstance(pool.spec.actions, Discrete):
        raise LudusError(f"{game} has no numbered actions")
    table = PLAIN.new_table(TabularAgent.of(pool).positions, pool.spec.actions.n, pool.spec.seats)
    pool.close()
    return table


def _play_randomly(pool: Any, steps: int) -> None:
    for step in range(steps):
        pool.advance(pool.random_actions(step))


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
