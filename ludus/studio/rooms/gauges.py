"""Gauges: numbers that are sent with every frame. The critic's value, the action, and the instruments of the game."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ludus.dsl import bounds
from ludus.dsl.interfaces import HORIZONTAL, Control, Instrument
from ludus.studio.foreign import AnyGame
from ludus.studio.rooms.controls import controls_of, neutral
from ludus.studio.rooms.table import Table
from ludus.types import Array, Continuous, LudusError

MOST_OBSERVED = 8
"""maximum components of an observation that are shown if a game declares no instruments"""


class Gauge(NamedTuple):
    """One number of a frame as the page shows it."""

    name: str
    kind: str
    """"trace", "dial", "centered" (a bar from the neutral value), "bar" or "number" """
    low: float = 0.0
    high: float = 1.0
    neutral: float = 0.0
    labels: tuple[str, str, str] = ("", "", "")
    unit: str = ""


def gauges_of(table: Table) -> list[Gauge]:
    """The gauges of a game, in the order of the numbers of a frame."""
    actions, found = table.spec.actions, list[Gauge]()
    if isinstance(actions, Continuous):
        found.append(Gauge("value", "trace"))
        limits = zip(actions.low, actions.high, neutral(table.spec).tolist(), strict=True)
        found += [_control(control, *ends) for control, ends in zip(controls_of(table.game), limits, strict=True)]
    declared = instruments_of(table.game)
    found += [Gauge(one.name, "bar", one.low, one.high, unit=one.unit) for one in declared]
    return found if declared else found + _observed(table)


def _control(control: Control, low: float, high: float, rest: float) -> Gauge:
    kind = "dial" if control.axis == HORIZONTAL else "centered"
    return Gauge(control.name, kind, low, high, rest, control.labels)


def _observed(table: Table) -> list[Gauge]:
    """The observation of a continuous game that declares no instruments, if it is small."""
    if not _shows_observation(table):
        return []
    record, found = table.observation, list[Gauge]()
    for name in record.names or ():
        low, high = (np.ravel(end).astype(float) for end in bounds(record, name))
        for k, (least, most) in enumerate(zip(low, high, strict=True)):
            bounded = np.isfinite(most - least) and most - least < 1e6
            words = name if len(low) == 1 else f"{name} {k + 1}"
            found.append(Gauge(words, "bar", least, most) if bounded else Gauge(words, "number"))
    return found


def _shows_observation(table: Table) -> bool:
    record = table.observation
    size = sum(int(np.prod(record[name].shape)) for name in record.names or ())
    return table.continuous and not instruments_of(table.game) and size <= MOST_OBSERVED


def instruments_of(game: AnyGame) -> tuple[Instrument, ...]:
    """The INSTRUMENTS that a game declares."""
    declared: tuple[Instrument, ...] = getattr(game.rules, "INSTRUMENTS", ())
    for one in declared:
        check_field(game, "INSTRUMENTS", one.read)
    return declared


def check_field(game: AnyGame, where: str, read: object) -> None:
    """Raise an error if a declaration names a field that the state does not have."""
    if isinstance(read, str) and read not in game.rules.STATE.names:
        raise LudusError(f'{game.name}: {where} reads the field "{read}", which STATE does not have')


def read_state(state: np.void, read: str | Callable[[np.void], float]) -> float:
    """A field of a state's record, or what a function makes of it."""
    return float(state[read] if isinstance(read, str) else read(state))


def readings(table: Table, value: float, action: Array) -> tuple[float, ...]:
    """The numbers of the gauges after a step of row 0."""
    numbers = [value, *(float(part) for part in action)] if table.continuous else []
    if (pool := table.pool.compiled) is not None:
        numbers += [read_state(pool.states[0], one.read) for one in instruments_of(table.game)]
    if _shows_observation(table):
        observed = table.pool.step.observation
        numbers += [float(one) for name in table.observation.names or () for one in np.ravel(observed[name][0])]
    return tuple(numbers)
