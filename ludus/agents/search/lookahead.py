"""Looking ahead with what was learned: options are tried in copies of the game, and a critic judges where they lead.

The copies are dealt anew, so nothing is seen that the seat may not know. All options meet the same deals and the same
dice, so that what differs between them is the option and not luck. Tesauro and Galperin 1996, On-line policy
improvement using Monte-Carlo search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ludus import agents, checkpoint, games
from ludus.agents.search import check_newest
from ludus.pool import Pool
from ludus.types import Array, Decision, Discrete, LudusError, Spec, Step, some_rows
from ludus.words import PLAYING, random

MOST_DEALS = 512
COPIES = 4096
"""games copied at a time, so that many of a game with a large state fit into memory"""
LEAST = 7
"""a network is asked about 2^7 steps at least, or about twice, four times as many: it is compiled for each number"""
HASTE = 0.999
"""what a step later is worth at most: of two ways to the same end, the shorter one is taken"""
CROWDED = 0.4
"""the share of copies that may have ended before they are left behind"""


@dataclass(frozen=True)
class Lookahead:
    """Plays as its critic would, unless another option turns out better; `at(pool)` is the player of that pool."""

    critic: Any
    """an agent that was trained: it says what comes to mind first, and what a step is worth to each seat"""
    quick: Any = None
    """who plays on in the copies, for all seats; the critic itself where there is nobody quicker"""
    deals: int = 32
    """copies of each option"""
    depth: int = 30
    """steps that are played on before the critic judges"""
    habit: float = 0.5
    """how many standard errors an option must be better than what came to mind first"""
    discount: float = 1.0
    """what a step later is worth, as the critic learned it"""

    def __post_init__(self) -> None:
        if not 2 <= self.deals <= MOST_DEALS or self.depth < 0 or not 0 <= self.habit < np.inf:
            raise LudusError(f"looking ahead wants 2 to {MOST_DEALS} deals, and a depth and a habit of 0 or more")

    def init(self, spec: Spec, key: Any) -> Any:
        return self.critic.init(spec, key)

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> NoReturn:
        raise LudusError("looking ahead needs the games themselves, not only what is seen of them; use agent.at(pool)")

    def at(self, pool: Any) -> LookaheadAt:
        """The agent that looks ahead from the present states of this pool, and never changes them."""
        if not isinstance(pool, Pool):
            raise LudusError(f"{pool.name} cannot be copied, so nobody can look ahead in it")
        if not isinstance(pool.spec.actions, Discrete) or pool.spec.views > 1:
            raise LudusError(f"in {pool.name} options cannot be tried one by one; looking ahead is for games in turns")
        if any(agent.memory(1) != () for agent in (self.critic, self.quick) if agent is not None):
            raise LudusError("looking ahead is for networks without a memory: it would not know what copies have seen")
        return LookaheadAt(self, pool)


def fits(game: str) -> bool:
    """Whether the agent that comes along for a game of ours gains by looking ahead: in games in turns against others.

    Alone, where no two deals differ, every doubt of a rough critic overrules a policy that knows better (as in lair).
    """
    folder, spec = agents.shipped(game), games.load(game).spec
    if folder is None or not isinstance(spec.actions, Discrete) or spec.views > 1 or spec.seats == 1:
        return False
    return checkpoint.read_manifest(folder).agent.get("kind") == "mlp"


def load(game: str, run: str | None = None, deals: int = Lookahead.deals) -> Lookahead:
    """With what was learned in a run, or by the agent that comes along; a greedy player plays on, if there is one."""
    critic: Any = agents.load(run or "trained", game)
    name = game.partition("(")[0].partition("@")[0]
    quick = agents.load("greedy", game) if "greedy" in agents.kinds_for(name) else None
    discount = float(critic.manifest.algorithm.get("discount", 1.0))
    return Lookahead(critic, quick, deals, discount=discount)


class Found(NamedTuple):
    """What was found by looking ahead from one row."""

    worth: Array
    """[A] what each option brings who acts, on average; -inf where it is not to be had"""
    action: int


@dataclass(frozen=True)
class LookaheadAt:
    """The same at a pool: an agent like any other, for the steps of this pool."""

    settings: Lookahead
    pool: Pool

    def init(self, spec: Spec, key: Any) -> Any:
        return self.settings.init(spec, key)

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        """Where there is something to choose, what turned out best; the value is what the critic says beforehand."""
        check_newest(self.pool, step)
        decision = asked(self.settings.critic, params, step, np.arange(len(step.seat)))
        actions, dice = np.array(decision.action), int(np.random.default_rng(key).integers(2**62))
        undecided = (step.mask.sum(axis=1) > 1) & (np.asarray(step.discount) != 0)
        for seat in range(self.pool.spec.seats):
            for rows in parts(np.flatnonzero(undecided & (step.seat == seat)), step.mask, self.settings.deals):
                worth = self.tried(params, rows, seat, dice)
                actions[rows] = chosen(worth, actions[rows], self.settings.habit)
        return decision._replace(action=actions), memory

    def look(self, params: Any, row: int, key: Any) -> Found:
        """Look ahead from one row alone; `act` with the same key finds the same."""
        step, rows = self.pool.step, np.array([row])
        first = np.asarray(asked(self.settings.critic, params, step, rows).action)
        dice = int(np.random.default_rng(key).integers(2**62))
        worth = self.tried(params, rows, int(step.seat[row]), dice)
        there = np.isfinite(worth[0])
        means = np.where(there, worth[0], 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        action = int(chosen(worth, first, self.settings.habit)[0])
        return Found(np.where(there.any(axis=0), means, -np.inf), action)

    def tried(self, params: Any, rows: Array, seat: int, dice: int) -> Array:
        """[rows, deals, A] what every option brings the seat in every deal; NaN where it is not to be had."""
        deals, mask = self.settings.deals, self.pool.step.mask[rows]
        # Every row has dice of its own, so that what is found of a game depends on no other; and other ones to play on
        # with than it was dealt by, or what is hidden would tell of the dice to come.
        seeds = np.concatenate([random.keys(dice + row, 2 * deals).reshape(2, -1) for row in rows.tolist()], axis=1)
        dealt = self.pool.fork(np.repeat(rows, deals).tolist(), seeds[0].tolist(), seat)
        row, option = np.nonzero(mask)
        source = (row[:, None] * deals + np.arange(deals)).ravel()
        copies = dealt.fork(source.tolist(), seeds[1, source].tolist())
        dealt.close()
        # What can be done may depend on what was dealt: in such a deal there is no such option.
        actions, legal = np.repeat(option, deals), copies.step.mask
        offered = legal[np.arange(len(actions)), actions]
        worth = self.played_on(params, copies, np.where(offered, actions, legal.argmax(axis=1)), seat)
        found = np.full((len(rows), deals, mask.shape[1]), np.nan)
        found[row, :, option] = np.where(offered, worth, np.nan).reshape(-1, deals)
        return found

    def played_on(self, params: Any, copies: Pool, actions: Array, seat: int) -> Array:
        """[copies] what each brings the seat after these actions: its rewards, and what the critic says at the end."""
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


def asked(agent: Any, params: Any, step: Step, rows: Array) -> Decision:
    """What an agent says of some rows, asked in few sizes."""
    count = len(rows)
    if not count:
        return Decision(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, step.reward.shape[1])))
    some = np.resize(rows, 2 ** max(int(count - 1).bit_length(), LEAST))
    decision, _ = agent.act(params, (), some_rows(step, some), np.uint32(0))
    return Decision(*(np.asarray(part)[:count] for part in decision))


def thinned(copies: Pool, rows: Array) -> Pool:
    """A pool of some of the rows, which go on as they would have."""
    kept = copies.fork(rows.tolist(), 0)
    kept.states["key"][:] = copies.states["key"][rows]
    copies.close()
    return kept


def parts(rows: Array, mask: Array, deals: int) -> Iterator[Array]:
    """The rows in parts that are copied at once."""
    ends = np.cumsum(mask[rows].sum(axis=1) * deals) // COPIES
    for part in np.unique(ends):
        yield rows[ends == part]


def chosen(worth: Array, first: Array, habit: float) -> Array:
    """[rows] the option that is better by enough, in the same deals, than the one that came to mind first; or that."""
    better = worth - np.take_along_axis(worth, first[:, None, None], axis=2)
    there = np.isfinite(better)
    count = np.maximum(there.sum(axis=1), 1)
    mean = np.where(there, better, 0.0).sum(axis=1) / count
    squares = np.where(there, (better - mean[:, None]) ** 2, 0.0).sum(axis=1) / count
    enough = mean > habit * np.sqrt(squares / count)
    best: Array = np.where(enough, mean, -np.inf).argmax(axis=1)
    return np.where(enough.any(axis=1), best, first)
