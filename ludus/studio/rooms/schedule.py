"""The schedule of a room: its pace, and when the next step is due."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ludus.studio.rooms.table import Table

MOVES_PACE, CONTINUOUS_PACE = 1.5, 30.0
"""steps a second of games that declare no PACE"""
LATE = 0.1
"""seconds that a room may be behind its schedule and still catch up"""
REPLY = 0.4
"""seconds until an agent answers a person, at most"""


@dataclass
class Settings:
    """Settings of a room that do not change the game."""

    speed: float = 1.0
    paused: bool = False
    ghost: bool = False
    imagine: bool = False


class Schedule:
    """When the next step is due, by `time.monotonic`."""

    def __init__(self, table: Table, settings: Settings) -> None:
        self._settings = settings
        usual = CONTINUOUS_PACE if table.continuous else MOVES_PACE
        self._pace = float(getattr(table.game.rules, "PACE", usual))
        self.next_step = 0.0

    def period(self) -> float:
        """Seconds between two steps."""
        return 1 / (self._pace * self._settings.speed)

    def restart(self) -> None:
        """The next step is due one period from now."""
        self.next_step = time.monotonic() + self.period()

    def advance(self) -> None:
        """A step was made; a room that is far behind does not catch up."""
        self.next_step = max(self.next_step + self.period(), time.monotonic() - LATE)

    def reply(self) -> None:
        """A person has moved: the answer is due after one period, but at most REPLY seconds."""
        self.next_step = time.monotonic() + min(self.period(), REPLY) - self.period()

    def skip(self) -> None:
        """Start the schedule again from now, without catching up."""
        self.next_step = time.monotonic()
