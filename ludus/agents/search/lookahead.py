"""Lookahead with a trained critic: options are tried in copies of the game, and the critic evaluates the results.

In the copies hidden information is redealt, so the search uses nothing that the seat may not know. All options get the
same deals and random numbers, so that they differ only in the option. Tesauro and Galperin 1996, On-line policy
improvement using Monte-Carlo search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np

from ludus import agents, games
from ludus.agents import checkpoint, trained
from ludus.agents.protocol import Agent, Key, Memory, Params, PoolAgent
from ludus.agents.search import check_newest
from ludus.dsl import PLAYING, random
from ludus.pool import AnyPool, Pool
from ludus.pool.actions import is_per_row
from ludus.types import Array, Decision, Discrete, LudusError, Spec, Step, some_rows

MOST_DEALS = 512
COPIES = 4096
"""maximum number of games copied at a time, to limit memory for games with a large state"""
MIN_BATCH_LOG2 = 7
"""networks are called with 2^n steps, at least 2^7, because they are compiled for each number of steps"""
MAX_GAMMA = 0.999
"""upper limit of the discount, so that the shorter of two ways to the same result is preferred"""
MAX_FINISHED = 0.4
"""fraction of finished copies above which they are removed"""


@dataclass(frozen=True)
class Lookahead(PoolAgent):
    """Plays as its critic would, unless another option turns out better; `at(pool)` is the player of that pool."""

    simulates = True

    critic: Agent
    """a trained agent that gives the first choice and the value of a step for each seat"""
    quick: Agent | None = None
    """the agent that plays all seats in the copies; the critic itself if None"""
    deals: int = 32
    """number of copies per option"""
    depth: int = 30
    """number of steps played before the critic evaluates"""
    habit: float = 0.5
    """standard errors by which an option must exceed the critic's first choice to replace it"""
    gamma: float = 1.0
    """discount per step with which the critic was trained"""

    def __post_init__(self) -> None:
        if not 2 <= self.deals <= MOST_DEALS or self.depth < 0 or not 0 <= self.habit < np.inf:
            raise LudusError(f"lookahead needs 2 to {MOST_DEALS} deals, and a depth and a habit of 0 or more")

    def init(self, spec: Spec, key: Key) -> Params:
        return self.critic.init(spec, key)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> NoReturn:
        raise LudusError("lookahead needs the states of the games, not only observations; use agent.at(pool)")

    def at(self, pool: AnyPool) -> LookaheadAt:
        """The agent that looks ahead from the present states of this pool, and never changes them."""
        if pool.compiled is None:
            raise LudusError(f"{pool.name} cannot be copied, which lookahead needs; choose another agent")
        if not isinstance(pool.spec.actions, Discrete) or pool.spec.views > 1:
            raise LudusError(f"lookahead needs discrete actions and alternating turns, which {pool.name} does not have")
        if any(agent.memory(1) != () for agent in (self.critic, self.quick) if agent is not None):
            raise LudusError(
                "lookahead needs networks without a memory, because copies of a game have none; choose another agent"
            )
        return LookaheadAt(self, pool.compiled)


def fits(game: str) -> bool:
    """Whether lookahead improves the shipped agent of a game: in alternating games with several seats.

    In games with one seat and without chance, errors of the critic overrule a better policy (as in lair).
    """
    folder, spec = agents.shipped(game), games.load(game).spec
    if folder is None or not isinstance(spec.actions, Discrete) or spec.views > 1 or spec.seats == 1:
        return False
    return checkpoint.read_manifest(folder).agent.get("kind") == "mlp"


def load(game: str, run: str | None = None, deals: int = Lookahead.deals) -> Lookahead:
    """Lookahead with the agent of a run, or else the shipped one; a greedy player plays the copies, if there is one."""
    critic = agents.load(run or "trained", game)
    if not isinstance(critic, trained.Trained):
        raise LudusError(f'lookahead needs a trained agent, not "{run}"; give the folder of a run')
    name = game.partition("(")[0].partition("@")[0]
    quick = agents.load("greedy", game) if "greedy" in agents.kinds_for(name) else None
    gamma = float(critic.manifest.algorithm.get("gamma", 1.0))
    return Lookahead(critic, quick, deals, gamma=gamma)


class Found(NamedTuple):
    """The result of lookahead from one row."""

    worth: Array
    """[A] mean return of each option for the acting seat; -inf if it is not legal"""
    action: int


@dataclass(frozen=True)
class LookaheadAt(Agent):
    """Lookahead in the games of a pool; it acts on the newest step of the pool."""

    settings: Lookahead
    pool: Pool

    def init(self, spec: Spec, key: Key) -> Params:
        return self.settings.init(spec, key)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        """The best option in every row with more than one; the value is the critic's, without lookahead."""
        check_newest(self.pool, step)
        decision = decide_rows(self.settings.critic, params, step, np.arange(len(step.seat)))
        actions, seeds = np.array(decision.action), row_seeds(key, len(step.seat))
        undecided = (step.mask.sum(axis=1) > 1) & (np.asarray(step.discount) != 0)
        for seat in range(self.pool.spec.seats):
            for rows in batches(np.flatnonzero(undecided & (step.seat == seat)), step.mask, self.settings.deals):
                worth = self.option_returns(params, rows, seat, seeds[rows])
                actions[rows] = choose_better(worth, actions[rows], self.settings.habit)
        return decision._replace(action=actions), memory

    def look(self, params: Params, row: int, key: Key) -> Found:
        """Search from one row only; `act` with the same key finds the same."""
        step, rows = self.pool.step, np.array([row])
        first = np.asarray(decide_rows(self.settings.critic, params, step, rows).action)
        seeds = row_seeds(key, len(step.seat))
        worth = self.option_returns(params, rows, int(step.seat[row]), seeds[rows])
        there = np.isfinite(worth[0])
        means = np.where(there, worth[0], 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        action = int(choose_better(worth, first, self.settings.habit)[0])
        return Found(np.where(there.any(axis=0), means, -np.inf), action)

    def option_returns(self, params: Params, rows: Array, seat: int, seeds: Array) -> Array:
        """[rows, deals, A] the return of every option for the seat in every deal; NaN if it is not legal.

        `seeds` [rows] determine the deals and the random numbers in the copies.
        """
        deals, mask = self.settings.deals, self.pool.step.mask[rows]
        # Every row has its own seeds, so that its result does not depend on other rows; and different ones for dealing
        # and for playing, or else the deal would reveal future random numbers.
        keys = np.concatenate([random.keys(seed, 2 * deals).reshape(2, -1) for seed in seeds.tolist()], axis=1)
        dealt = self.pool.fork(np.repeat(rows, deals).tolist(), keys[0].tolist(), seat)
        row, option = np.nonzero(mask)
        source = (row[:, None] * deals + np.arange(deals)).ravel()
        copies = dealt.fork(source.tolist(), keys[1, source].tolist())
        dealt.close()
        # Legal actions may depend on the deal, so an option may be missing in some deals.
        actions, legal = np.repeat(option, deals), copies.step.mask
        offered = legal[np.arange(len(actions)), actions]
        worth = self.simulated_returns(params, copies, np.where(offered, actions, legal.argmax(axis=1)), seat)
        found = np.full((len(rows), deals, mask.shape[1]), np.nan)
        found[row, :, option] = np.where(offered, worth, np.nan).reshape(-1, deals)
        return found

    def simulated_returns(self, params: Params, copies: Pool, actions: Array, seat: int) -> Array:
        """[copies] the return of the seat after these actions: its rewards, and the critic's value at the end."""
        settings, worth, discount = self.settings, np.zeros(len(actions)), 1.0
        places = np.arange(len(actions))  # the index of each copy in `worth`; -1 for a copy that has ended
        for depth in range(settings.depth + 1):
            step = copies.advance(actions)
            running = places >= 0
            worth[places[running]] += discount * step.reward[running, seat]
            places = np.where(copies.status == PLAYING, places, -1)
            discount *= min(settings.gamma, MAX_GAMMA)
            running = places >= 0
            if depth == settings.depth or not running.any():
                break
            if running.mean() < 1 - MAX_FINISHED:
                copies, places = keep_rows(copies, np.flatnonzero(running)), places[running]
                step = copies.step
            actions = self._rollout_actions(params, copies, step, depth)
        running = places >= 0
        values = decide_rows(settings.critic, params, step, np.flatnonzero(running)).value
        worth[places[running]] += discount * values[:, seat]
        copies.close()
        return worth

    def _rollout_actions(self, params: Params, copies: Pool, step: Step, depth: int) -> Array:
        agent = self.settings.quick
        if agent is None:
            return np.asarray(decide_rows(self.settings.critic, params, step, np.arange(copies.rows)).action)
        decision, _ = agents.seated(agent, copies).act(agent.init(copies.spec, 0), (), step, depth)
        return np.asarray(decision.action)


def row_seeds(key: Key, rows: int) -> Array:
    """[rows] a seed for each row: the given keys, or consecutive numbers from one drawn with a single key."""
    if is_per_row(key):
        return np.asarray(key)
    return int(np.random.default_rng(key).integers(2**62)) + np.arange(rows)


def decide_rows(agent: Agent, params: Params, step: Step, rows: Array) -> Decision:
    """The decision of an agent for some rows, in batches of few sizes."""
    count = len(rows)
    if not count:
        return Decision(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, step.reward.shape[1])))
    some = np.resize(rows, 2 ** max(int(count - 1).bit_length(), MIN_BATCH_LOG2))
    decision, _ = agent.act(params, (), some_rows(step, some), np.uint32(0))
    return Decision(*(np.asarray(part)[:count] for part in decision))


def keep_rows(copies: Pool, rows: Array) -> Pool:
    """A pool of some of the rows, which continue with the same random keys."""
    kept = copies.fork(rows.tolist(), 0)
    kept.states["key"][:] = copies.states["key"][rows]
    copies.close()
    return kept


def batches(rows: Array, mask: Array, deals: int) -> Iterator[Array]:
    """The rows in batches of at most about COPIES copies."""
    ends = np.cumsum(mask[rows].sum(axis=1) * deals) // COPIES
    for batch in np.unique(ends):
        yield rows[ends == batch]


def choose_better(worth: Array, first: Array, habit: float) -> Array:
    """[rows] the best option that exceeds the first choice by `habit` standard errors over the deals, or the first."""
    better = worth - np.take_along_axis(worth, first[:, None, None], axis=2)
    there = np.isfinite(better)
    count = np.maximum(there.sum(axis=1), 1)
    mean = np.where(there, better, 0.0).sum(axis=1) / count
    squares = np.where(there, (better - mean[:, None]) ** 2, 0.0).sum(axis=1) / count
    enough = mean > habit * np.sqrt(squares / count)
    best: Array = np.where(enough, mean, -np.inf).argmax(axis=1)
    return np.where(enough.any(axis=1), best, first)
