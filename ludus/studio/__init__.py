"""The studio: a page in the browser where games are watched and played, agents trained, compared and kept.

`Studio` is what one server holds; `app.py` is its web, `trainers.py` starts runs, which live on without it.
"""

from __future__ import annotations

import functools
import importlib.util
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus import __version__

if TYPE_CHECKING:
    from ludus.studio.feed import RunsFeed
    from ludus.studio.jobs import Jobs
    from ludus.studio.shelf import Shelf
    from ludus.studio.trainers import Trainers


class Studio:
    """All that the routes of one server share; each part is made when it is first asked for."""

    def __init__(self, out: Path) -> None:
        self.out, self.version, self.boot = out, __version__, secrets.token_hex(8)

    @functools.cached_property
    def deep(self) -> bool:
        """Whether agents with networks can be trained here."""
        return all(importlib.util.find_spec(name) is not None for name in ("jax", "flax", "optax"))

    @functools.cached_property
    def shelf(self) -> Shelf:
        from ludus.studio.shelf import Shelf

        return Shelf(self.out)

    @functools.cached_property
    def trainers(self) -> Trainers:
        from ludus.studio.trainers import Trainers

        return Trainers(self.out)

    @functools.cached_property
    def runs_feed(self) -> RunsFeed:
        from ludus.studio.feed import RunsFeed

        return RunsFeed(self.shelf, self.trainers)

    @functools.cached_property
    def jobs(self) -> Jobs:
        from ludus.studio.jobs import Jobs

        return Jobs()

    @functools.cached_property
    def rooms(self) -> Any:
        from ludus.studio.rooms import Rooms

        return Rooms(self.out, self.shelf)

    def warm(self) -> None:
        """Fetch what the first page will ask for, so that it does not wait."""
        self.shelf.games()
        self.runs_feed.summaries()

    def close(self) -> None:
        """End what lives in this process; trainers go on."""
        made = vars(self)
        for name in ("runs_feed", "jobs", "rooms"):
            if name in made:
                made[name].close()
