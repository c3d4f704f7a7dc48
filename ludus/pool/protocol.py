"""The pool protocol: what agents, algorithms and everything above may ask of a pool, whoever wrote the game.

`Pool` compiles a game of ours. The pools in `ludus/bridges` step the environments of others. Code above them asks for
a capability (`can_save`, `compiled`, ...) and never for a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ludus.types import Array, Spec, Step

if TYPE_CHECKING:
    from ludus.pool import Pool


class Snapshot(NamedTuple):
    """A pool's whole content as bytes; restoring it continues exactly."""

    fingerprint: str
    played: int
    """how many steps of random play were made, so that more of them go on with the same dice"""
    states: Array
    rows: Array
    observations: Array


class AnyPool(Protocol):
    """`rows` copies of one game, stepped together."""

    rows: int

    @property
    def name(self) -> str:
        """The full name of the game, with its parameters; `open_pool` of it opens the same game."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever what agents and checkpoints rely on changes."""

    @property
    def spec(self) -> Spec: ...
    @property
    def observation(self) -> np.dtype[Any]:
        """The record that observations follow, with the ranges of its fields."""

    @property
    def status(self) -> Array:
        """[rows] PLAYING, OVER or CUT."""

    @property
    def step(self) -> Step:
        """What the players see now."""

    @property
    def can_fork(self) -> bool:
        """Whether `fork` works: the games can be copied."""

    @property
    def can_save(self) -> bool:
        """Whether `save` and `restore` work, so that a run or a game can be continued exactly."""

    @property
    def can_draw(self) -> bool:
        """Whether the game has a picture. `scene` of another's environment may still need a render mode."""

    @property
    def names_moves(self) -> bool:
        """Whether the name of an action says what it does in the present position."""

    @property
    def compiled(self) -> Pool | None:
        """The pool whose rules and state records compiled code may use; None where there are none."""

    def reset(self, seed: int | Sequence[int] | None = None, rows: Array | None = None) -> Step: ...
    def advance(self, actions: Any) -> Step: ...
    def check(self, actions: Any) -> Array:
        """The actions as this pool reads them; an error that says which one is illegal, and no game moved."""

    def random_actions(self, seed: int) -> Array: ...
    def fork(self, rows: Sequence[int], seed: int | Sequence[int], seat: int = -1) -> AnyPool: ...
    def save(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> Step: ...
    def measure(self, rows: Array) -> dict[str, Array]:
        """What the game itself counts, by name, in the rows that the booleans mark; {} where it counts nothing."""

    def action_name(self, action: Any, row: int = 0, seat: int = -1) -> str:
        """What people call an action; with a seat, in words which that seat may hear while another acts."""

    def describe(self, row: int = 0, seat: int = -1) -> str:
        """One game in words; with a seat, as that seat sees it."""

    def scene(self, row: int = 0, seat: int = -1) -> Array:
        """One game as shapes, or as pixels [H, W, 3]."""

    def close(self) -> None: ...
