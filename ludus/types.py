"""The words that cross a folder boundary: what a game is, what a step is, and the one error a user can mend."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class LudusError(ValueError):
    """Something the user can put right; its text says what happened, what was expected and what to do."""


class Discrete(NamedTuple):
    """One of `n` numbered choices."""

    n: int


class Continuous(NamedTuple):
    """A row of floats, each between its own `low` and `high`."""

    low: tuple[float, ...]
    high: tuple[float, ...]


class Spec(NamedTuple):
    """What everyone must know of a game before it is played.

    `turns` is "alternating" (one seat acts at a time) or "simultaneous" (all seats act at once). `horizon` bounds the
    number of steps of one game, 0 where nothing bounds it. `frame` is the size of the picture that `scene` draws.
    """

    seats: int
    actions: Discrete | Continuous
    turns: str = "alternating"
    horizon: int = 0
    zero_sum: bool = False
    frame: tuple[int, int] = (480, 480)

    @property
    def views(self) -> int:
        """How many rows one game fills in a batch: one, or one a seat where all act at once."""
        return self.seats if self.turns == "simultaneous" else 1


NO_FILES = "LUDUS_NO_FILES"
"""the environment variable under which the name of a game may name no file: it may have come from anywhere"""


class Mirror(NamedTuple):
    """How a game looks in a mirror, where it goes on by the same rules: who learns one learns the other too."""

    seen: tuple[int, ...]
    """which number of the observation stands in each place of it, counted through all fields"""
    actions: tuple[float, ...]
    """what continuous actions, which go as far to either side, are multiplied by"""


class Step(NamedTuple):
    """N rows of what the players see; stacked over time, [T+1, N, ...]."""

    observation: dict[str, Array]
    """[N, ...] arrays by the names of the game's OBSERVATION record"""
    mask: Array
    """[N, A] legal actions; all True on the last step of a game, [N, 0] for continuous actions"""
    seat: Array
    """[N] who is to act"""
    reward: Array
    """[N, P] to each seat since this row's previous step"""
    discount: Array
    """[N] 0 where the game has truly ended, else 1 (a cut-off game keeps 1)"""
    first: Array
    """[N] this step opens a new game"""


class Decision(NamedTuple):
    """What an agent answers to a step: [N(, k)], [N], [N, P]."""

    action: Array
    log_prob: Array
    value: Array


class Rollout(NamedTuple):
    """T decisions between T+1 steps, the memory at the first of them and the version of the parameters that decided."""

    steps: Step
    decisions: Decision
    """with T+1 values: that of the last step stands for all that is not seen"""
    own: Array
    """[T, N] whether the agent decided itself, and not somebody it plays against"""
    memory: Any
    version: int
    tally: Array
    """games ended, their steps, decisions made, and what each seat got in those games: [3 + P]"""
    notes: dict[str, float]
    """metrics of how it was played: seconds, and games won against each opponent"""


def step_rows(step: Step) -> int:
    """How many rows the step has."""
    return int(np.shape(step.seat)[0])


def some_rows(step: Step, rows: Any) -> Step:
    """The same step of some rows: a slice, or their numbers, of which one may come twice."""
    observation = {name: field[rows] for name, field in step.observation.items()}
    return Step(observation, *(part[rows] for part in step[1:]))
