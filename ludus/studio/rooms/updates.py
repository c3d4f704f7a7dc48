"""Replace the agents of runs that are still training when a newer checkpoint appears."""

from __future__ import annotations

from ludus.studio.rooms.players import is_run
from ludus.studio.rooms.table import Table
from ludus.types import LudusError

INTERVAL = 1.0
"""seconds between two checks for a newer checkpoint"""


class AgentUpdates:
    """Replaces the agents of runs at a table when there is a newer checkpoint."""

    def __init__(self, table: Table) -> None:
        self._table, self._last = table, 0.0
        self._seen: dict[str, object] = {}

    def apply(self, now: float) -> bool:
        """Look for newer checkpoints, at most once per interval; return whether an agent was replaced."""
        if now < self._last + INTERVAL:
            return False
        self._last = now
        updated = [self._update(name) for name in filter(is_run, set(self._table.agent_names()))]
        return any(updated)

    def _update(self, name: str) -> bool:
        try:
            newest = self._table.shelf.newer(name)
            if self._seen.setdefault(name, newest) == newest:
                return False
            self._seen[name] = newest
            self._table.renew(name)
        except LudusError:
            return False  # the run was deleted, or its checkpoint is being replaced: keep the old agent
        return True
