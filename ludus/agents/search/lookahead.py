"""Lookahead with a trained critic: options are tried in copies of the game, and the critic evaluates the results.

In the copies hidden information is redealt, so the search uses nothing that the seat may not know. All options get the
same deals and random numbers, so that they differ only in the option. Tesauro and Galperin 1996, On-line policy
improvement using Monte-Carlo search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ludus import agents, games
from ludus.agents import checkpoint
from ludus.agents.protocol import Agent, Key, Memory, Params, PoolAgent
from ludus.agents.search import check_newest
from ludus.dsl import PLAYING, random
from ludus.pool import AnyPool, Pool
from ludus.pool.actions import is_per_row
from ludus.types import Array, Decision, Discrete, LudusError, Spec, Step, some_rows

MOST_DEALS = 512
COPIES = 4096
"""maximum number of games copied at a time, to limit memory for games with a large state"""
LEAST = 7
"""networks are called with 2^n steps, at least 2^7, because they are compiled for each number of steps"""
HASTE = 0.999
"""upper limit of the discount, so that the shorter of two ways to the same result is preferred"""
CROWDED = 0.4
"""fraction of finished copies above which they are removed"""


@dataclass(frozen=True)
class Lookahead(PoolAgent):
    """Plays as its critic would, unless another option turns out better; `at(pool)` is the player of that pool."""

    critic: Any
    """a trained agent that gives the first choice and the value of a step for each seat"""
    quick: Any = None
    """the agent that plays all seats in the copies; the critic itself if None"""
    deals: int = 32
    """number of copies per option"""
    depth: int = 30
    """number of steps played before the critic evaluates"""
    habit: float = 0.5
    """standard errors by which an option must exceed the critic's first choice to replace it"""
    discount: float = 1.0
    """discount per step with which the critic was trained"""

    def __post_init__(self) -> None:
        if not 2 <= self.deals <= MOST_DEALS or self.depth < 0 or not 0 <= self.habit < np.inf:
            raise LudusError(f"lookahead needs 2 to {MOST_DEALS} deals, and a depth and a habit of 0 or more")

    def init(self, spec: Spec, key: Key) -> Params:
        return self.critic.init(spec, key)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> NoReturn:
        raise LudusError("looking ahead needs the games themselves, not only what is seen of them; use agent.at(pool)")

    def at(self, pool: AnyPool) -> LookaheadAt:
        """The agent that looks ahead from the present states of this pool, and never changes them."""
        if pool.compiled is None:
            raise LudusError(f"{pool.name} cannot be copied, so nobody can look ahead in it; choose another agent")
        if not isinstance(pool.spec.actions, Discrete) or pool.spec.views > 1:
            raise LudusError(f"lookahead needs discrete actions and alternating turns, which {pool.name} does not have")
        if any(agent.memory(1) != () for agent in (self.critic, self.quick) if agent is not None):
            raise LudusError("looking ahead is for networks without a memory: it would not know what copies have seen")
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
    critic: Any = agents.load(run or "trained", game)
    name = game.partition("(")[0].partition("@")[0]
    quick = agents.load("greedy", game) if "greedy" in agents.kinds_for(name) else None
    discount = float(critic.manifest.algorithm.get("discount", 1.0))
    return Lookahead(critic, quick, deals, discount=discount)


class Found(NamedTuple):
    """The result of lookahead from one row."""

    worth: Array
    """[A] mean return of each option for the acting seat; -inf if it is not legal"""
    action: int


@dataclass(frozen=True)
class LookaheadAt(Agent):
    """The same at a pool: an agent like any other, for the steps of this pool."""

    settings: Lookahead
    pool: Pool

    def init(self, spec: Spec, key: Key) -> Params:
        return self.settings.init(spec, key)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        """Where there is something to choose, what turned out best; the value is what the critic says beforehand."""
        check_newest(self.pool, step)
        decision = asked(self.settings.critic, params, step, np.arange(len(step.seat)))
        actions, dice = np.array(decision.action), row_seeds(key, len(step.seat))
        undecided = (step.mask.sum(axis=1) > 1) & (np.asarray(step.discount) != 0)
        for seat in range(self.pool.spec.seats):
            for rows in parts(np.flatnonzero(undecided & (step.seat == seat)), step.mask, self.settings.deals):
                worth = self.tried(params, rows, seat, dice[rows])
                actions[rows] = chosen(worth, actions[rows], self.settings.habit)
        return decision._replace(action=actions), memory

    def look(self, params: Any, row: int, key: Any) -> Found:
        """Search from one row only; `act` with the same key finds the same."""
        step, rows = self.pool.step, np.array([row])
        first = np.asarray(asked(self.settings.critic, params, step, rows).action)
        dice = row_seeds(key, len(step.seat))
        worth = self.tried(params, rows, int(step.seat[row]), dice[rows])
        there = np.isfinite(worth[0])
        means = np.where(there, worth[0], 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        action = int(chosen(worth, first, self.settings.habit)[0])
        return Found(np.where(there.any(axis=0), means, -np.inf), action)

    def tried(self, params: Any, rows: Array, seat: int, dice: Array) -> Array:
        """[rows, deals, A] the return of every option for the seat in every deal; NaN if it is not legal.

        `dice` [rows] are the seeds of deals and random numbers.
        """
        deals, mask = self.settings.deals, self.pool.step.mask[rows]
        # Every row has its own seeds, so that its result does not depend on other rows; and different ones for dealing
        # and for playing, or else the deal would reveal future random numbers.
        seeds = np.concatenate([random.keys(seed, 2 * deals).reshape(2, -1) for seed in dice.tolist()], axis=1)
        dealt = self.pool.fork(np.repeat(rows, deals).tolist(), seeds[0].tolist(), seat)
        row, option = np.nonzero(mask)
        source = (row[:, None] * deals + np.arange(deals)).ravel()
        copies = dealt.fork(source.tolist(), seeds[1, source].tolist())
        dealt.close()
        # Legal actions may depend on the deal, so an option may be missing in some deals.
        actions, legal = np.repeat(option, deals), copies.step.mask
        offered = legal[np.arange(len(actions)), actions]
        worth = self.played_on(params, copies, np.where(offered, actions, legal.argmax(axis=1)), seat)
        found = np.full((len(rows), deals, mask.shape[1]), np.nan)
        found[row, :, option] = np.where(offered, worth, np.nan).reshape(-1, deals)
        return found

    def played_on(self, params: Any, copies: Pool, actions: Array, seat: int) -> Array:
        """[copies] the return of the seat after these actions: its rewards, and the critic's value at the end."""
        settings, worth, fading = self.settings, np.zeros(len(actions)), 1.0
        who = np.arange(len(actions))  # -1 for a copy that has ended
        for depth in range(settings.depth + 1):
            step = copies.advance(actions)
            lives = who >= 0
            worth[who[lives]] += fading * step.reward[lives, seat]
            who, fading = np.where(copies.status == PLAYING, who, -1), fading * min(settings.discount, HASTE)
            lives = who >= 0
            if depth == settings.depth or not lives.any():
                break
            if lives.mean() < 1 - CROWDED:
                copies, who = thinned(copies, np.flatnonzero(lives)), who[lives]
                step = copies.step
            actions = self._next(params, copies, step, depth)
        lives = who >= 0
        worth[who[lives]] += fading * asked(settings.critic, params, step, np.flatnonzero(lives)).value[:, seat]
        copies.close()
        return worth

    def _next(self, params: Any, copies: Pool, step: Step, depth: int) -> Array:
        quick = self.settings.quick
        if quick is None:
            return np.asarray(asked(self.settings.critic, params, step, np.arange(copies.rows)).action)
        decision, _ = agents.seated(quick, copies).act(quick.init(copies.spec, 0), (), step, depth)
        return np.asarray(decision.action)


def row_seeds(key: Any, rows: int) -> Array:
    """[rows] a seed for each row: the given keys, or consecutive numbers from one drawn with a single key."""
    return key if is_per_row(key) else int(np.random.default_rng(key).integers(2**62)) + np.arange(rows)


def asked(agent: Any, params: Any, step: Step, rows: Array) -> Decision:
    """The decision of an agent for some rows, in batches of few sizes."""
    count = len(rows)
    if not count:
        return Decision(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, step.reward.shape[1])))
    some = np.resize(rows, 2 ** max(int(count - 1).bit_length(), LEAST))
    decision, _ = agent.act(params, (), some_rows(step, some), np.uint32(0))
    return Decision(*(np.asarray(part)[:count] for part in decision))


def thinned(copies: Pool, rows: Array) -> Pool:
    """A pool of some of the rows, which continue with the same random keys."""
    kept = copies.fork(rows.tolist(), 0)
    kept.states["key"][:] = copies.states["key"][rows]
    copies.close()
    return kept


def parts(rows: Array, mask: Array, deals: int) -> Iterator[Array]:
    """The rows in parts of at most about COPIES copies."""
    ends = np.cumsum(mask[rows].sum(axis=1) * deals) // COPIES
    for part in np.unique(ends):
        yield rows[ends == part]


def chosen(worth: Array, first: Array, habit: float) -> Array:
    """[rows] the best option that exceeds the first choice by `habit` standard errors over the deals, or the first."""
    better = worth - np.take_along_axis(worth, first[:, None, None], axis=2)
    there = np.isfinite(better)
    count = np.maximum(there.sum(axis=1), 1)
    mean = np.where(there, better, 0.0).sum(axis=1) / count
    squares = np.where(there, (better - mean[:, None]) ** 2, 0.0).sum(axis=1) / count
    enough = mean > habit * np.sqrt(squares / count)
    best: Array = np.where(enough, mean, -np.inf).argmax(axis=1)
    return np.where(enough.any(axis=1), best, first)
