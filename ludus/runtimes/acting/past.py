"""Past selves: copies of the parameters, taken now and then, to play against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ludus import checkpoint
from ludus.types import Array

PREFIX = "past_"


class Past:
    """At most `kept` copies, one of every `every` versions; versions are counted on when a run is resumed."""

    def __init__(self, every: int, kept: int) -> None:
        self.every, self.kept, self.wanted = every, kept, False
        self.base, self.newest = 0, 0
        self.selves: dict[int, Any] = {}

    def take(self, params: Any, version: int) -> None:
        """Keep these, if it is their turn and somebody wants them."""
        self.newest = self.base + version
        if self.wanted and self.newest % self.every == 0 and self.newest not in self.selves:
            # An actor may still choose as of one version ago, so one more than `kept` stays.
            kept = sorted(self.selves)[-self.kept :]
            self.selves = {known: self.selves[known] for known in kept} | {self.newest: params}

    def choose(self, version: int, dice: int) -> Any:
        """One of those that were known at a version, by a throw of dice."""
        known = sorted(self.selves)
        eligible = [number for number in known if number <= self.base + version][-self.kept :] or known[:1]
        return self.selves[eligible[dice % len(eligible)]]

    def state(self) -> dict[str, dict[str, Array]]:
        if not self.wanted:
            return {}
        selves = {f"{PREFIX}{number:06d}": checkpoint.flatten(params) for number, params in self.selves.items()}
        return {"past": {"version": np.array([self.newest], np.int64)}} | selves

    def restore(self, state: Mapping[str, Mapping[str, Array]], like: Any) -> None:
        if "past" not in state:
            return
        self.base = int(state["past"]["version"][0])
        names = [name for name in state if name.startswith(PREFIX)]
        self.selves = {int(name.removeprefix(PREFIX)): checkpoint.unflatten(like, dict(state[name])) for name in names}
