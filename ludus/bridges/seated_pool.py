"""The games of a pool from the view of a single player: an opponent plays the other seats.

A game with one seat has no opponent. Each row depends only on its own seed and actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ludus import agents
from ludus.agents.player import Player
from ludus.bridges.illegal_actions import PENALTY, Illegal, Referee, RowKeys
from ludus.bridges.rendering import render, render_modes
from ludus.dsl import CUT, OVER, PLAYING, random
from ludus.evaluation.play import decide
from ludus.pool import Pool
from ludus.types import Array, LudusError, Step

Seat = int | Literal["random"]


class SeatOptions(NamedTuple):
    """The seat of the player, the opponent in the other seats, and the effect of an illegal action."""

    opponent: str | None = None
    """name of the agent in the other seats, as in `ludus battle`; None is "random" """
    seat: Seat = 0
    """seat of the player; "random" draws one for every game"""
    illegal: Illegal = "random"


class SeatStep(NamedTuple):
    """What the player sees of N games."""

    observation: dict[str, Array]
    """[N, ...] by field"""
    mask: Array
    """[N, A] legal actions; all True once the game has ended"""
    reward: Array
    """[N] reward of the player since the last step, including the opponents' moves"""
    terminated: Array
    truncated: Array
    illegal: Array
    """[N] whether the given action was illegal"""
    info: dict[str, Array]
    """[N] arrays for the info dict about illegal actions, by name"""


class SeatedPool:
    """N games of a pool; the player has one seat in each.

    A row whose game has ended starts a new one at the next call of `advance`, which ignores its action. If a game ends
    before the player's first turn, its first step reports the end, whatever the action.
    """

    def __init__(self, pool: Pool, options: SeatOptions) -> None:
        seats = pool.spec.seats
        if options.seat != "random" and options.seat not in range(seats):
            raise LudusError(
                f'{pool.name} has the seats 0 to {seats - 1} and "random"; there is no seat {options.seat!r}'
            )
        self.pool, self.options = pool, options
        self.seat = np.zeros(pool.rows, np.int64)
        """[N] seat of the player in each game"""
        self._referee, self._keys = Referee(pool, options.illegal), RowKeys(pool.rows)
        self._opponent = _opponent_of(pool, options.opponent)
        self._pending_reward = np.zeros(pool.rows)
        """[N] rewards not yet returned to the player"""
        self._end_reported = np.zeros(pool.rows, bool)
        """[N] whether the end of the game was returned, so that the next step starts a new one"""
        self._none = np.zeros(pool.rows, bool)
        self._first = np.arange(pool.rows) * pool.spec.views

    @property
    def lines(self) -> Array:
        """[N] the player's rows in the pool's step: simultaneous games have a row for each seat."""
        return self._first + self.seat if self.pool.spec.views > 1 else self._first

    def reset(self, seeds: Sequence[int] | None = None, rows: Array | None = None) -> SeatStep:
        """Start new games in all rows or in the marked ones; reseeded if seeds [N] are given."""
        chosen = np.ones(self.pool.rows, bool) if rows is None else rows
        self.pool.reset(seeds, chosen)
        if seeds is not None:
            self._keys.seed(random.seeded(seeds), chosen)
        self._pending_reward[chosen], self._end_reported[chosen] = 0.0, False
        self._open(chosen)
        self._reply()
        observation, mask = self._observed()
        return SeatStep(observation, mask, np.zeros(self.pool.rows), self._none, self._none, self._none, {})

    def advance(self, actions: object) -> SeatStep:
        """Play the player's action in every game, then the opponents' until it is the player's turn again."""
        given = self._referee.read(actions, self.pool.rows)
        if self._opponent is None:
            packed = self.pool.pack(given)
            if self.pool.first_illegal(packed) < 0:
                return self._alone(self.pool.advance_checked(packed))
        verdict, opening = self._referee.judge(given, self.lines, self._keys), self._end_reported
        ended = self._referee.ends(verdict)
        if ended:
            self._pending_reward[verdict.illegal] += PENALTY
        # Only games that an illegal action has ended, or an opponent before the player's first turn, stay as they are.
        moving = (self.pool.status == PLAYING) | opening if ended or self._opponent is not None else None
        self._move(self._joint(verdict.actions), moving)
        opened = opening.any()
        if opened:
            self._open(opening)
        self._reply()
        status, reward = self.pool.status, self._pending_reward
        self._pending_reward = np.zeros(self.pool.rows)
        if opened:
            status[opening], self._pending_reward[opening], reward[opening] = PLAYING, reward[opening], 0.0
        self._end_reported = status != PLAYING
        observation, mask = self._observed()
        return SeatStep(observation, mask, reward, status == OVER, status == CUT, verdict.illegal, verdict.info)

    @property
    def render_modes(self) -> list[str]:
        """The render modes of the game."""
        return render_modes(self.pool.game)

    def render(self, mode: str | None) -> Array | str | None:
        """The first game as pixels, text or None, by the render mode."""
        return render(self.pool, mode)

    def close(self) -> None:
        """Release the pool's threads."""
        self.pool.close()

    def _alone(self, step: Step) -> SeatStep:
        """The step of a game with one seat after legal actions, directly from the pool."""
        status, reward = self.pool.status, step.reward[:, 0].astype(np.float64)
        self._end_reported = status != PLAYING
        return SeatStep(step.observation, step.mask, reward, status == OVER, status == CUT, self._none, {})

    def _open(self, rows: Array) -> None:
        """Reset the opponent's memory and choose the player's seat in rows where a new game has started."""
        if self._opponent is not None:
            self._opponent.notice(self.pool.step)
        if self.options.seat == "random":
            seats = random.uniforms(self._keys.draw(rows), 1)[:, 0] * self.pool.spec.seats
            self.seat[rows] = seats[rows].astype(np.int64)
        else:
            self.seat[rows] = self.options.seat

    def _joint(self, given: Array) -> Array:
        """The actions of all rows of the step; in simultaneous games including those of the opponents."""
        if self.pool.spec.views == 1:
            return given
        others = np.repeat(self.pool.status == PLAYING, self.pool.spec.views)
        others[self.lines] = False
        actions = self._opponents(others)
        actions[self.lines] = given
        return actions

    def _reply(self) -> None:
        """Let the opponents move wherever it is their turn."""
        while self.pool.spec.views < self.pool.spec.seats:
            waiting = (self.pool.status == PLAYING) & (self.pool.step.seat != self.seat)
            if not waiting.any():
                return
            self._move(self._opponents(waiting), waiting)

    def _opponents(self, deciding: Array) -> Array:
        """Actions for all rows of the step: the opponents' where they decide, any legal one elsewhere."""
        assert self._opponent is not None
        views = self.pool.spec.views
        rows = np.asarray(deciding.reshape(-1, views).any(axis=1))
        keys = np.repeat(self._keys.draw(rows), views) ^ np.tile(random.keys(0, views), self.pool.rows)
        return decide([self._opponent], self.pool.spec, self.pool.step, deciding, np.zeros(len(keys), np.int64), keys)

    def _move(self, actions: Array, rows: Array | None) -> None:
        """Advance all games or the marked ones, and add up the player's rewards."""
        if rows is not None and rows.all():
            rows = None
        reward = self.pool.advance(actions, rows).reward
        reward = reward[:, 0] if self._opponent is None else reward[self._first, self.seat]
        self._pending_reward += reward if rows is None else np.where(rows, reward, 0.0)

    def _observed(self) -> tuple[dict[str, Array], Array]:
        """The player's observation and mask; after the end of a game all actions are legal."""
        step, lines = self.pool.step, self.lines
        observation, mask = step.observation, step.mask
        if self._opponent is not None:
            observation, mask = {name: field[lines] for name, field in observation.items()}, mask[lines]
            # An alternating game shows the view of the seat to act, which may not be the player's at the end.
            for row in np.flatnonzero(step.seat[lines] != self.seat).tolist():
                for name, value in self.pool.look(row, int(self.seat[row])).items():
                    observation[name][row] = value
        if self.options.illegal == "end":
            mask = mask | self._end_reported[:, None]
        return observation, mask


def _opponent_of(pool: Pool, name: str | None) -> Player | None:
    if pool.spec.seats == 1:
        if name is not None:
            raise LudusError(f'{pool.name} has one seat, so it has no opponent "{name}"; omit the opponent')
        return None
    agent = agents.load(name or "random", pool.name)
    return Player("the opponent", agent, agent.init(pool.spec, 0), pool, (0, 0))
