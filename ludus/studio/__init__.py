"""The studio: a web application to watch and play games, and to train, compare and store agents.

`Studio` is the state of one server, `app.py` its web application; `trainers.py` starts runs as processes of their own.
"""

from __future__ import annotations

import functools
import importlib.util
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from ludus import __version__

if TYPE_CHECKING:
    from ludus.studio.feed import RunsFeed
    from ludus.studio.jobs import Jobs
    from ludus.studio.rooms import Rooms
    from ludus.studio.shelf import Shelf
    from ludus.studio.trainers import Trainers


class Studio:
    """The state that the routes of one server share; each part is created on first use."""

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
    def rooms(self) -> Rooms:
        from ludus.studio.rooms import Rooms

        return Rooms(self.out, self.shelf)

    def warm(self) -> None:
        """Load what the first page requests, and then what trained opponents need, so that both open quickly."""
        self.shelf.games()
        self.runs_feed.summaries()
        if self.deep:
            from ludus.agents.neural import agent  # noqa: F401  (imports JAX and Flax)

    def close(self) -> None:
        """Close the parts that run in this process; trainers continue."""
        made = vars(self)
        for name in ("runs_feed", "jobs", "rooms"):
            if name in made:
                made[name].close()
