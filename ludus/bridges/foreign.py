"""Common code of the bridges to foreign environments: the buffer they write, the checks, and the pool.

A bridge only starts and steps games and writes the results into a `Sheet`; `ForeignPool` makes a pool of it.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ludus.dsl import CUT, OVER, PLAYING, bounds, random
from ludus.games import split_name
from ludus.pool import Snapshot
from ludus.pool.actions import illegal, random_actions, read_actions
from ludus.types import Array, Continuous, DType, LudusError, Spec, Step

Seeds = int | Sequence[int] | None
NAME = re.compile(r"\s*([\w.:/-]+)\s*(\(.*\))?\s*", re.DOTALL)
WORDS = {"true": True, "false": False, "none": None}


class Sheet:
    """The current step as buffers, one line per view: the bridge writes them, and the pool returns only copies."""

    def __init__(self, rows: int, spec: Spec, observation: DType) -> None:
        self.views = spec.views
        lines = rows * spec.views
        actions = 0 if isinstance(spec.actions, Continuous) else spec.actions.n
        types = {name: field[0] for name, field in (observation.fields or {}).items()}
        self.observation = {name: np.zeros((lines, *t.shape), np.dtype(t.base.str)) for name, t in types.items()}
        self.mask = np.ones((lines, actions), bool)
        self.seat = np.tile(np.arange(spec.views, dtype=np.int8), rows)
        self.reward = np.zeros((lines, spec.seats), np.float32)
        self.discount = np.ones(lines, np.float32)
        self.first = np.zeros(lines, bool)
        self.status = np.full(rows, OVER, np.int8)
        self.idle = np.ones(lines, bool)
        """lines whose action is ignored: the game has ended, or the player has left it"""
        self.masked = False
        """whether any action has ever been illegal, so that masks must be checked"""

    def turn(self) -> None:
        """Reset the buffers before all rows advance."""
        self.reward.fill(0.0)
        self.discount.fill(1.0)
        self.first.fill(False)

    def begin(self, row: int) -> None:
        """Mark the first step of a new game in this row."""
        lines = slice(row * self.views, (row + 1) * self.views)
        self.reward[lines], self.discount[lines], self.first[lines] = 0.0, 1.0, True
        self.idle[lines], self.status[row] = False, PLAYING

    def finish(self, row: int, terminated: bool) -> None:
        """Mark the last step of this row's game; all actions are then legal, since they are ignored."""
        lines = slice(row * self.views, (row + 1) * self.views)
        self.idle[lines], self.mask[lines] = True, True
        self.status[row], self.discount[lines] = (OVER, 0.0) if terminated else (CUT, 1.0)

    def allow(self, lines: int | slice, legal: ArrayLike) -> None:
        """Set the legal actions of one line or all lines; all actions if the environment allows none."""
        allowed = np.asarray(legal, bool)
        self.mask[lines] = allowed | ~allowed.any(axis=-1, keepdims=True)
        self.masked = True

    def copy(self) -> Step:
        return Step(
            {name: field.copy() for name, field in self.observation.items()}, self.mask.copy(), self.seat.copy(),
            self.reward.copy(), self.discount.copy(), self.first.copy(),
        )  # fmt: skip


class Games(Protocol):
    """What each bridge implements: foreign environments that write into one sheet."""

    one_seed: bool
    """whether all rows share one generator, so that separate seeds are not possible"""

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        """Start new games in the rows marked by the booleans; without seeds, the random streams continue."""

    def advance(self, actions: Array) -> None:
        """Step every row, after `Sheet.turn`; rows whose game has ended start a new one."""

    def render(self, row: int) -> object:
        """The result of the environment's own `render` for this row."""

    def close(self) -> None: ...


class Form(Protocol):
    """Names actions; `ActionForm` implements it for actions of a Gymnasium space."""

    def name(self, action: Array | int) -> str:
        """The name of an action."""


class ForeignPool:
    """A pool of foreign environments."""

    can_fork = can_save = names_moves = False
    can_draw = True
    compiled = None

    def __init__(
        self, name: str, spec: Spec, form: Form, observation: DType, rows: int, seed: int | Sequence[int],
        start: Callable[[Sheet], Games],
    ) -> None:  # fmt: skip
        self.rows, self.spec, self.name, self.observation = check_rows(rows), spec, name, observation
        self._form = form
        self._sheet = Sheet(rows, spec, observation)
        self._limits = _limits(spec)
        self._lines = np.arange(rows * spec.views)
        self._games = start(self._sheet)
        self.reset(seed)

    @property
    def fingerprint(self) -> str:
        """A hash of the spec and the observation record, on which agents and checkpoints depend."""
        seen = self.observation
        ranges = [[end.tolist() for end in bounds(seen, name)] for name in seen.names or ()]
        return hashlib.sha256(repr((self.spec, seen.descr, ranges)).encode()).hexdigest()[:16]

    @property
    def status(self) -> Array:
        """[rows] PLAYING, OVER or CUT."""
        return self._sheet.status.copy()

    @property
    def step(self) -> Step:
        """What the players see now, in new arrays."""
        return self._sheet.copy()

    def reset(self, seed: Seeds = None, rows: Array | None = None) -> Step:
        """Start new games in all rows, or in those marked by the booleans `rows`; reseeded if a seed is given."""
        chosen = np.ones(self.rows, bool) if rows is None else np.asarray(rows, bool)
        if chosen.shape != (self.rows,):
            raise LudusError(f"rows must be {self.rows} booleans, not an array of shape {chosen.shape}")
        if self._games.one_seed and not isinstance(seed, int | np.integer | None):
            raise LudusError(f"all rows of {self.name} share one generator; give one number as seed, not one per row")
        seeds = None if seed is None else row_seeds(seed, self.rows)
        if chosen.any():
            self._games.open(chosen, seeds)
        return self.step

    def advance(self, actions: ArrayLike) -> Step:
        """Play one action in every game; finished games restart and ignore their action."""
        checked = self.check(actions)
        self._sheet.turn()
        self._games.advance(checked)
        return self._sheet.copy()

    def check(self, actions: ArrayLike) -> Array:
        """The actions as int64 or float64; raises LudusError if one is illegal, and then no game has moved."""
        given, (low, high) = read_actions(self.name, self.spec, actions, len(self._lines)), self._limits
        packed = given.copy()
        if np.count_nonzero(self._sheet.idle):
            packed[self._sheet.idle] = low
        legal = (packed >= low) & (packed <= high)
        if np.count_nonzero(legal) != legal.size:
            raise LudusError(self._illegal(int(np.argwhere(~legal)[0][0]), given))
        if self._sheet.masked and not (allowed := self._sheet.mask[self._lines, packed]).all():
            raise LudusError(self._illegal(int(allowed.argmin()), given))
        return packed

    def random_actions(self, seed: int) -> Array:
        """A random legal action for every row."""
        return random_actions(np.random.default_rng(seed), self.spec, self._sheet.mask)

    def measure(self, rows: Array) -> dict[str, Array]:
        """Foreign games have no measures of their own."""
        return {}

    def action_name(self, action: Array | int, row: int = 0, seat: int = -1) -> str:
        """The name of an action; it is the same in every row and for every seat."""
        return self._form.name(action)

    def describe(self, row: int = 0, seat: int = -1) -> str:
        """One game as text: from the bridge's own `text` if it has one, else the observations field by field."""
        if text := getattr(self._games, "text", None):
            return str(text(row))
        lines = range(row * self.spec.views, (row + 1) * self.spec.views)
        who = {line: f"seat {self._sheet.seat[line]}, " if self.spec.seats > 1 else "" for line in lines}
        fields = self._sheet.observation.items()
        return "\n".join(f"{who[line]}{name}: {field[line].tolist()}" for line in lines for name, field in fields)

    def close(self) -> None:
        """Close the environments."""
        self._games.close()

    def fork(self, rows: Sequence[int], seed: int | Sequence[int], seat: int = -1) -> NoReturn:
        raise LudusError(self._no_copies("fork"))

    def save(self) -> NoReturn:
        raise LudusError(self._no_copies("save"))

    def restore(self, snapshot: Snapshot) -> NoReturn:
        raise LudusError(self._no_copies("restore"))

    def scene(self, row: int = 0, seat: int = -1) -> Array:
        """The pixels [H, W, 3] of one game from its own `render`; needs render_mode=rgb_array."""
        try:
            pixels = self._games.render(row)
        except LudusError:
            raise
        except Exception as error:
            raise LudusError(f"{self.name} cannot be drawn: its render failed with {error!r}") from error
        if not isinstance(pixels, np.ndarray):
            raise LudusError(f"{self.name} returns no pixels; open it with render_mode=rgb_array in its name")
        return pixels

    def _no_copies(self, wanted: str) -> str:
        return f"cannot {wanted} {self.name}: the state of a foreign game cannot be copied; play it from its start"

    def _illegal(self, line: int, actions: Array) -> str:
        legal = [self.action_name(choice) for choice in np.flatnonzero(self._sheet.mask[line])[:13]]
        return illegal(self.name, self.spec, line, int(self._sheet.seat[line]), actions[line], legal)


def open_each(open_row: Callable[[int, int | None], None], chosen: Array, seeds: list[int] | None) -> None:
    """Start games in the chosen rows one by one, each with its own seed if seeds are given."""
    for row in np.flatnonzero(chosen).tolist():
        open_row(row, seeds[row] if seeds else None)


def check_rows(rows: int) -> int:
    """Raise LudusError if there is not at least one row."""
    if rows < 1:
        raise LudusError(f"a pool needs at least one row, not {rows}")
    return rows


def row_seeds(seed: int | Sequence[int], rows: int) -> list[int]:
    """A seed for each row: unrelated ones from one number, or the given ones."""
    if isinstance(seed, int | np.integer):
        return [int(key) for key in random.keys(int(seed), rows) >> np.uint64(33)]
    seeds = [int(one) for one in seed]
    if len(seeds) != rows:
        raise LudusError(f"{len(seeds)} seeds were given for {rows} rows; give one number, or one per row")
    if min(seeds) < 0:
        raise LudusError(f"foreign environments need seeds of at least 0, not {min(seeds)}")
    return seeds


def parse_name(prefix: str, text: str) -> tuple[str, dict[str, str]]:
    """`FrozenLake-v1(map_name=8x8)` -> ("FrozenLake-v1", {"map_name": "8x8"})."""
    match = NAME.fullmatch(text)
    if not match:
        raise LudusError(f'"{prefix}:{text}" is not a name; write it like {prefix}:ns/Name-v1(key=value, key=value)')
    _, settings = split_name(re.sub(r"\W", "_", f"{prefix}:{match[1]}", flags=re.ASCII) + (match[2] or ""))
    return match[1], settings


def full_name(prefix: str, identity: str, settings: dict[str, str]) -> str:
    """The name that gives the same environment when opened."""
    inside = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{prefix}:{identity}({inside})" if inside else f"{prefix}:{identity}"


def read_value(text: str) -> bool | int | float | str | None:
    """Convert a text to bool, None, int or float if it looks like one; quoted text stays text."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.IGNORECASE):
        return float(text)
    quoted = re.fullmatch(r"""(["'])(.*)\1""", text, re.DOTALL)
    return quoted[2] if quoted else text


def unknown(prefix: str, identity: str, known: Iterable[str]) -> LudusError:
    """The error for an unknown environment, with similar known names."""
    listed = sorted(known)
    lower = {name.lower(): name for name in listed}
    close = [lower[name] for name in difflib.get_close_matches(identity.lower(), lower, 3, 0.5)]
    hint = f"; did you mean {' or '.join(close)}?" if close else f"; it has {', '.join(listed[:5])} …"
    return LudusError(f'{prefix} has no environment "{identity}"{hint}')


def _limits(spec: Spec) -> tuple[Array, Array]:
    """The lowest and the highest action."""
    if isinstance(spec.actions, Continuous):
        return np.array(spec.actions.low, np.float64), np.array(spec.actions.high, np.float64)
    return np.array(0, np.int64), np.array(spec.actions.n - 1, np.int64)
