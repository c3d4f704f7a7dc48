"""The pool protocol: the interface through which agents, algorithms and everything above them use a pool.

`Pool` steps compiled games. The pools in `ludus/bridges` step environments of other libraries. Code above them checks
for a capability (`can_save`, `compiled`, ...), never for a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from numpy.typing import ArrayLike

from ludus.types import Array, DType, Spec, Step

if TYPE_CHECKING:
    from ludus.pool import Pool


class Snapshot(NamedTuple):
    """A pool's whole content as bytes; restoring it continues exactly."""

    fingerprint: str
    played: int
    """number of steps of random play so far, so that random play continues with the same random numbers"""
    states: Array
    rows: Array
    observations: Array


class AnyPool(Protocol):
    """`rows` copies of one game, stepped together."""

    rows: int

    @property
    def name(self) -> str:
        """The full name of the game, with its parameters; `open_pool` opens the same game from it."""

    @property
    def fingerprint(self) -> str:
        """A hash of everything that agents and checkpoints depend on."""

    @property
    def spec(self) -> Spec: ...
    @property
    def observation(self) -> DType:
        """The record type of observations, with the ranges of its fields."""

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
        """Whether the game has a picture; an environment of another library may also need a render mode."""

    @property
    def names_moves(self) -> bool:
        """Whether the names of actions depend on the current position."""

    @property
    def compiled(self) -> Pool | None:
        """The pool with compiled rules and state records; None if the game is not compiled."""

    def reset(self, seed: int | Sequence[int] | None = None, rows: Array | None = None) -> Step: ...
    def advance(self, actions: ArrayLike) -> Step: ...
    def check(self, actions: ArrayLike) -> Array:
        """The actions as this pool reads them; raises LudusError if one is illegal, and then no game has moved."""

    def random_actions(self, seed: int) -> Array: ...
    def fork(self, rows: Sequence[int], seed: int | Sequence[int], seat: int = -1) -> AnyPool: ...
    def save(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> Step: ...
    def measure(self, rows: Array) -> dict[str, Array]:
        """Statistics of the game by name, for the rows marked by the booleans; {} if the game has none."""

    def action_name(self, action: int | Array, row: int = 0, seat: int = -1) -> str:
        """The name of an action; with a seat, the name reveals nothing that is hidden from that seat."""

    def describe(self, row: int = 0, seat: int = -1) -> str:
        """One game as text; with a seat, as that seat sees it."""

    def scene(self, row: int = 0, seat: int = -1) -> Array:
        """One game as shapes, or as pixels [H, W, 3]."""

    def close(self) -> None: ...
