"""Optional declarations of a game for user interfaces: how a person controls it, and what is shown beside its picture.

None of them changes the rules, the observation or the fingerprint of a game.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

HORIZONTAL, VERTICAL = "horizontal", "vertical"


class Control(NamedTuple):
    """How a person controls one component of a continuous action; `CONTROLS` lists one for each component."""

    name: str
    axis: str = HORIZONTAL
    """"horizontal" or "vertical": the direction of the touch slider and of the gamepad stick"""
    keys: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """`KeyboardEvent.code`s that lower and that raise the value; None for the default keys of this component"""
    labels: tuple[str, str, str] = ("", "", "")
    """names of low, neutral and high values ("left", "straight", "right"); if empty, a percentage is shown"""
    seconds: float = 0.0
    """time in seconds for which a key must be held to go from neutral to the bound; 0 for immediately"""


class Instrument(NamedTuple):
    """A number shown during play; `INSTRUMENTS` lists them."""

    name: str
    read: str | Callable[[np.void], float]
    """a field of the state, or a function of the state's record"""
    low: float = 0.0
    high: float = 1.0
    """the range of the gauge"""
    unit: str = ""


class Ghost(NamedTuple):
    """What the ghost replays in a game that has a `token`, declared as `GHOST`; by default the whole last game."""

    part: str
    """name of the replayed part, such as "lap" """
    completed: str | Callable[[np.void], int]
    """number of completed parts: a field of the state, or a function of its record"""
