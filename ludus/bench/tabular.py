"""Tabular learning: updates/s, speed-up over plain Python, distance from optimal play, time to solve tic-tac-toe."""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from ludus.agents.table import Table
from ludus.agents.tabular import TabularAgent
from ludus.algorithms.planning import dynamics_of, value_iteration
from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.checkpoints import Learner
from ludus.algorithms.tabular.forms import bigtable_rate
from ludus.algorithms.tabular.forms.worker import FormWorker
from ludus.algorithms.tabular.worker import Worker
from ludus.bench import Result, Tell, median_rate
from ludus.bridges import AnyPool, open_pool
from ludus.evaluation import scores
from ludus.evaluation.optimality import nearness, step_of
from ludus.runtimes import Job, open_source
from ludus.training import config
from ludus.training.loop import train
from ludus.types import Discrete, LudusError

PLAIN = Tabular(learning_rate="0.1", exploration="0.2")
FROZEN_LAKE, TAXI = "gymnasium:FrozenLake-v1(map_name=8x8)", "gymnasium:Taxi-v4"
LEARNED = {"taxi": TAXI, "cliffwalking": "gymnasium:CliffWalking-v1", "frozenlake": FROZEN_LAKE}
STEPPED = f"{FROZEN_LAKE[:-1]}, compiled=false)"
CHUNK, CHUNKS = 2**20, 12
"""updates between merges, and merges per round"""
Form = Literal["list", "numpy", "compiled"]
FORM_STEPS: dict[Form, int] = {"list": 6_000, "numpy": 6_000, "compiled": 4_000_000}
"""steps of one measurement of each form"""


def suite(rounds: int, tell: Tell) -> Iterator[Result]:
    """All parts."""
    parts: list[Callable[[int], Iterator[Result]]]
    parts = [threads, compiled, bigtable, python_ratio, processes, forms, solved, optimum]
    for number, part in enumerate(parts):
        tell(f"tabular/{part.__name__}", number, len(parts))
        yield from part(rounds)


def threads(rounds: int) -> Iterator[Result]:
    """Updates/s of tic-tac-toe by self-play with one and two threads, measured in turn."""
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
    """Updates per second of wall time, including merges, after one chunk to warm up."""
    job = Job(game, rows, 1, chunk // rows, workers, PLAIN)
    source = open_source("local" if workers == 1 else runtime, job)
    try:
        progress = train(None, PLAIN, Learner(_empty_table(game), 0, 0), source)  # type: ignore[misc]
        before = next(progress).learner.steps
        start = time.perf_counter()
        after = max(step.learner.steps for step in itertools.islice(progress, chunks))
        return float((after - before) / (time.perf_counter() - start))
    finally:
        source.close()


def bigtable(rounds: int) -> Iterator[Result]:
    """Random updates of a table larger than the CPU caches: 10 million positions, 9 actions."""
    yield Result("tabular/bigtable", median_rate(bigtable_rate, min(rounds, 3)), "updates/s")


def python_ratio(rounds: int) -> Iterator[Result]:
    """A game stepped in Python: with learning, compared with random actions only."""
    game, steps, rows = STEPPED, 200, 64
    ratios, learning = [], 0.0
    for _ in range(rounds):
        random = _seconds(functools.partial(_play_randomly, open_pool(game, rows, 1), steps))
        worker = _worker(Job(game, rows, 1, steps, 1, PLAIN))
        table = worker.new_table()
        worker.learn(table, 5)
        spent = _seconds(functools.partial(worker.learn, table, steps))
        worker.close()
        ratios.append(random / spent)
        learning = steps * rows / spent
    yield Result("tabular/frozenlake/python", learning, "steps/s")
    yield Result("tabular/frozenlake/python_ratio", float(np.median(ratios)), "x")


def processes(rounds: int) -> Iterator[Result]:
    """A game stepped in Python with one and two processes, measured in turn."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _, workers in itertools.product(range(rounds), rates):
        rates[workers].append(learning_rate(STEPPED, workers, 64, "processes", chunk=2**14, chunks=4))
    one, two = (float(np.median(rates[workers])) for workers in rates)
    yield Result("tabular/frozenlake/processes=2", two, "steps/s")
    yield Result("tabular/frozenlake/processes=2_over_1", two / one, "x")


def forms(rounds: int) -> Iterator[Result]:
    """The same self-play in plain Python, in NumPy and compiled, with 1 and 64 rows."""
    for rows, suffix in ((1, ""), (64, "/rows=64")):
        rates = {}
        for form, steps in FORM_STEPS.items():
            rates[form] = median_rate(functools.partial(_form_rate, form, steps // rows, rows), rounds)
            yield Result(f"tabular/{form}{suffix}", rates[form], "updates/s")
        yield Result(f"tabular/compiled_over_list{suffix}", rates["compiled"] / rates["list"], "x")


def _form_rate(form: Form, steps: int, rows: int) -> float:
    worker = _worker(Job("tictactoe", rows, 1, steps, 1, Tabular(form=form, exploration="0.2")))
    table = worker.new_table()
    worker.learn(table, 20)
    start = time.perf_counter()
    tally = worker.learn(table, steps)
    spent = time.perf_counter() - start
    worker.close()
    return float(tally[2] / spent)


def solved(rounds: int) -> Iterator[Result]:
    """Seconds from an empty table to one that never loses, including the proof; and its worst result."""
    times, worst = [], []
    for seed in range(rounds):
        start = time.perf_counter()
        table, agent = _trained("tictactoe", 1_000_000, "local", seed)
        worst.append(scores.exhaustive("tictactoe", agent, table).worst)
        times.append(time.perf_counter() - start)
    yield Result("tabular/tictactoe/solved", float(np.median(times)), "s")
    yield Result("tabular/tictactoe/worst", min(worst), "return")
    table, agent = _trained("tictactoe", 10_000_000, "threads", 0)
    yield Result("tabular/tictactoe/threads=2/worst", scores.exhaustive("tictactoe", agent, table).worst, "return")


def optimum(rounds: int) -> Iterator[Result]:
    """Exact expected return within the horizon of the preset's greedy policy, compared with value iteration's."""
    for name, game in LEARNED.items():
        run = config.resolve(game)
        pool = open_pool(game, 1, 0, threads=1)
        dynamics = dynamics_of(pool)
        plan = value_iteration(dynamics, run.settings.gamma)
        table, agent = _trained(game, run.steps, "local", run.seed, run.settings)
        near = nearness(dynamics, agent.choices(table, step_of(dynamics)), plan.policy, pool.spec.horizon or 200)
        pool.close()
        yield Result(f"tabular/{name}/return", near.policy, "return")
        yield Result(f"tabular/{name}/optimum", near.optimum, "return")
        yield Result(f"tabular/{name}/over_optimum", near.ratio, "x")


def _trained(
    game: str, steps: int, runtime: str, seed: int, settings: Tabular | None = None
) -> tuple[Table, TabularAgent]:
    settings = settings or Tabular(learning_rate="0.3", exploration="0.4")
    workers = 2 if runtime == "threads" else 1
    job = Job(game, 64, seed, min(steps // workers, CHUNK) // 64, workers, settings)
    source, chunks = open_source(runtime, job), math.ceil(steps / (job.steps * job.rows * workers))
    pool = open_pool(game, 1, 0, threads=1)
    try:
        learner = Learner(_empty_table(game), 0, 0)
        for _ in itertools.islice(train(None, settings, learner, source), chunks):  # type: ignore[misc]
            pass
        return learner.table, TabularAgent.of(pool)
    finally:
        source.close()
        pool.close()


def _worker(job: Job) -> Worker | FormWorker:
    """A tabular worker, which can also learn into a given table."""
    worker = job.worker(0)
    assert isinstance(worker, Worker | FormWorker)
    return worker


def _empty_table(game: str) -> Table:
    pool = open_pool(game, 1, 0, threads=1)
    if not isinstance(pool.spec.actions, Discrete):
        raise LudusError(f"{game} has continuous actions; tabular learning needs discrete ones")
    table = PLAIN.new_table(TabularAgent.of(pool).positions, pool.spec.actions.n, pool.spec.seats)
    pool.close()
    return table


def _play_randomly(pool: AnyPool, steps: int) -> None:
    for step in range(steps):
        pool.advance(pool.random_actions(step))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
