"""Steps/s of the pool: random legal play, including writing observations and masks.

Only steps with a decision are counted; steps that open new games take time but are not counted.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import numpy as np

from ludus import agents, games
from ludus.bench import Result, Tell
from ludus.bridges import AnyPool, open_pool
from ludus.pool import Pool, available_cores
from ludus.pool.actions import random_actions

ROUND_SECONDS = 0.4


def suite(name: str | None, rows: int, rounds: int, tell: Tell) -> Iterator[Result]:
    """All bundled games or the given one: on one thread, on all cores, their ratio, and through `Pool.advance`."""
    chosen = [name] if name else games.bundled()
    for done, game in enumerate(chosen):
        tell(f"pool/{game}", done, len(chosen))
        yield from measure(game, rows, rounds)
        if ":" not in game:
            yield from variants(game, rows, rounds)


def measure(name: str, rows: int, rounds: int) -> Iterator[Result]:
    """Measure one and several threads in turn, so that disturbances affect both; games of bridges have no threads."""
    pools = {threads: open_pool(name, rows, 1, threads) for threads in sorted({1, available_cores()})}
    natives = {threads: pool.compiled for threads, pool in pools.items() if pool.compiled is not None}
    if natives:
        yield from _fused(name, natives, rounds)
    for threads, pool in pools.items() if natives else list(pools.items())[:1]:
        yield Result(f"pool/{name}/advance/threads={threads}", _advance_rate(pool), "steps/s")
    for pool in pools.values():
        pool.close()


def variants(name: str, rows: int, rounds: int) -> Iterator[Result]:
    """Random play of the VARIANTS of a game, and play by its greedy player."""
    rules = games.load(name).rules
    for variant in getattr(rules, "VARIANTS", ()):
        pool = Pool(variant, rows, 1)
        steps = _steps_for(pool)
        rate = statistics.median(_rate(pool, steps) for _ in range(rounds))
        yield Result(f"pool/{variant}/threads={pool.threads}", rate, "steps/s")
        pool.close()
    if "greedy" in agents.kinds_for(games.split_name(name)[0]):
        yield Result(
            f"pool/{name}/greedy", statistics.median(_driven_rate(name, rows) for _ in range(rounds)), "steps/s"
        )


def _driven_rate(name: str, rows: int) -> float:
    """Decisions/s, including the time of the player."""
    pool = Pool(name, rows, 1)
    player, spent, decisions = agents.load("greedy", name).at(pool), 0.0, 0  # type: ignore[attr-defined]
    player.act((), (), pool.step, 0)
    while spent < ROUND_SECONDS:
        start = time.perf_counter()
        decision, _ = player.act((), (), pool.step, decisions)
        decisions += int((pool.status == 0).sum())
        pool.advance(decision.action)
        spent += time.perf_counter() - start
    pool.close()
    return decisions / spent


def _fused(name: str, pools: dict[int, Pool], rounds: int) -> Iterator[Result]:
    """Random play inside the compiled loop, and the speed-up by threads."""
    steps = {threads: _steps_for(pool) for threads, pool in pools.items()}
    rates: dict[int, list[float]] = {threads: [] for threads in pools}
    for _ in range(rounds):
        for threads, pool in pools.items():
            rates[threads].append(_rate(pool, steps[threads]))
    medians = {threads: statistics.median(rates[threads]) for threads in pools}
    for threads in pools:
        yield Result(f"pool/{name}/threads={threads}", medians[threads], "steps/s")
    if len(pools) > 1:
        yield Result(f"pool/{name}/scaling", medians[max(pools)] / medians[1], "x")


def _steps_for(pool: Pool) -> int:
    """The number of steps that fill a round; 50 steps before warm caches and desynchronize the games."""
    pool.play_randomly(50)
    start = time.perf_counter()
    pool.play_randomly(50)
    return max(1, round(50 * ROUND_SECONDS / (time.perf_counter() - start)))


def _rate(pool: Pool, steps: int) -> float:
    start = time.perf_counter()
    decisions = pool.play_randomly(steps)
    return decisions / (time.perf_counter() - start)


def _advance_rate(pool: AnyPool) -> float:
    """Steps/s through the Python interface, with checks and new arrays; choosing the actions is not timed."""
    spent, decisions, seed = 0.0, 0, 0
    while spent < ROUND_SECONDS:
        actions = random_actions(np.random.default_rng(seed), pool.spec, pool.step.mask)
        decisions += int((pool.status == 0).sum())
        start = time.perf_counter()
        pool.advance(actions)
        spent += time.perf_counter() - start
        seed += 1
    return decisions / spent
