"""What the bridges do with an illegal action: play a random legal one instead, end the game, or raise an error.

Gymnasium's and PettingZoo's checkers and most learners sample from the whole action space and ignore masks, so an
environment that raises cannot be used by them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import gymnasium
import numpy as np

from ludus.bridges.spaces import fit_actions
from ludus.dsl import OVER, PLAYING, random
from ludus.pool import Pool
from ludus.pool.actions import random_actions, read_actions
from ludus.types import Array, Continuous, LudusError

Illegal = Literal["random", "end", "raise"]
PENALTY = -1.0
"""reward of a player whose illegal action ends the game"""
STREAM = np.uint64(0x696C6C6567616C)
"""separates the keys drawn here from those of the games with the same seed"""


class ActionError(LudusError, gymnasium.error.InvalidAction):
    """An action was rejected; no game has moved."""


class Verdict(NamedTuple):
    """The checked actions of one player in N games."""

    actions: Array
    """[N(, k)] actions to play; legal in all games that continue"""
    illegal: Array
    """[N] whether the given action was illegal"""
    info: dict[str, Array]
    """[N] arrays for the info dict, by name; {} if no action was illegal"""


class RowKeys:
    """A stream of random keys for each of N rows; the rows are independent."""

    def __init__(self, rows: int) -> None:
        self._streams = np.zeros(rows, np.uint64)

    def seed(self, keys: Array, rows: Array | slice = slice(None)) -> None:
        """Restart the streams of these rows from their keys [N]."""
        self._streams[rows] = keys[rows] ^ STREAM

    def draw(self, rows: Array) -> Array:
        """[N] keys, new ones in the rows marked by the booleans."""
        return random.next_keys(self._streams, rows)


class Referee:
    """Checks the actions of one player in every game of a pool."""

    def __init__(self, pool: Pool, mode: Illegal) -> None:
        if mode not in get_args(Illegal):
            raise LudusError(f'illegal="{mode}" is unknown; it is {", ".join(get_args(Illegal))}')
        self.pool, self.mode = pool, mode

    def read(self, actions: object, rows: int) -> Array:
        """[rows(, k)] actions as an array; raises ActionError if the shape or type differs."""
        spec = self.pool.spec
        try:
            return read_actions(self.pool.game.name, spec, fit_actions(spec.actions, actions), rows)
        except LudusError as error:
            raise ActionError(str(error)) from None

    def judge(self, given: Array, lines: Array, keys: RowKeys) -> Verdict:
        """Check [N] actions, given for these rows of the pool's step; those of ended games are ignored."""
        inside, legal = self._legal(given, lines)
        illegal = ~legal & (self.pool.status[lines // self.pool.spec.views] == PLAYING)
        if not illegal.any():
            return Verdict(given, illegal, {})
        if self.mode == "end":
            return Verdict(given, illegal, {"invalid_move": illegal.copy()})
        refused = illegal if self.mode == "raise" else illegal & ~inside
        if refused.any():
            first = int(refused.argmax())
            raise ActionError(self.pool.why_illegal(int(lines[first]), given[first]))
        drawn = random_actions(keys.draw(illegal), self.pool.spec, self.pool.step.mask[lines])
        return Verdict(np.where(illegal, drawn, given), illegal, {"illegal_action": np.where(illegal, given, 0)})

    def ends(self, verdict: Verdict) -> bool:
        """End the games with illegal actions if the mode is "end"; returns whether any game was ended."""
        if self.mode != "end" or not verdict.info:
            return False
        self.pool.states["status"][verdict.illegal] = OVER
        return True

    def _legal(self, given: Array, lines: Array) -> tuple[Array, Array]:
        """[N] whether the actions are in the action space, and whether they are legal."""
        space = self.pool.spec.actions
        if isinstance(space, Continuous):
            inside = np.asarray(((given >= space.low) & (given <= space.high)).all(axis=1))
            return inside, inside
        inside = (given >= 0) & (given < space.n)
        return inside, inside & self.pool.step.mask[lines, np.where(inside, given, 0)]
