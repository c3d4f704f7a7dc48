"""Who sits in the seats of a game session: persons, served models, agents of the game by name, and runs of one folder.

A request never names a path.
"""

from __future__ import annotations

import contextlib
import pathlib
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator

from ludus import agents, games
from ludus.agents import trained
from ludus.agents.player import Contestant
from ludus.server.problems import Problem
from ludus.training import config
from ludus.training.folder import SETTINGS
from ludus.types import LudusError

NAMED = re.compile(r"best|mcts\([1-9]\d{0,3}\)|lookahead(\(\d{1,3}\))?", re.ASCII)
"""agents besides the kinds of players; the numbers limit how long a request makes the server think"""
RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", re.ASCII)
"""names of runs: no separators, and no dots at the beginning"""
KEPT = 16


class Bench:
    """The agents that play by name, kept for the next game; blocking.

    With a folder of runs, the runs in it also play, each with its best checkpoint.
    """

    def __init__(self, runs: pathlib.Path | None = None) -> None:
        self.runs = runs
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Contestant] = OrderedDict()

    def find(self, name: str, game: games.Game) -> Contestant:
        """The agent of this name and its parameters; raises Problem if the game has no such agent."""
        key = (self.kind(name, game), game.full_name)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        try:
            agent = agents.load(*key)
        except LudusError as error:
            raise Problem(422, "unknown_agent", str(error)) from None
        found = agent, agent.init(game.spec, 0)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    def kind(self, name: str, game: games.Game) -> str:
        """What `agents.load` finds the agent by: its name, or the newest checkpoint of the run of this name."""
        folder = self.run(name)
        return check_agent(name, game) if folder is None else str(trained.newest_in(folder))

    def run(self, name: str) -> pathlib.Path | None:
        """The folder of the run of this name, or None."""
        if self.runs is None or not RUN.fullmatch(name):
            return None
        folder = self.runs / name
        return folder if (folder / SETTINGS).is_file() and not folder.is_symlink() else None

    def trained(self) -> Iterator[tuple[str, str]]:
        """The names of the runs, each with its game; unreadable ones are left out."""
        for folder in sorted(self.runs.iterdir()) if self.runs and self.runs.is_dir() else ():
            if self.run(folder.name):
                with contextlib.suppress(LudusError):
                    yield folder.name, config.read(folder / SETTINGS).game


def check_agent(name: str, game: games.Game) -> str:
    """The name, if it is that of an agent; a name is never used as a path."""
    if name in (*agents.KINDS, *agents.TRAINED) or NAMED.fullmatch(name):
        return name
    shown = "".join(letter if letter.isprintable() else "?" for letter in name[:60])
    known = ", ".join(("person", *agents.kinds_for(game.name), *agents.shipped_kinds(game.name), "mcts(200)"))
    raise Problem(422, "unknown_agent", f'"{shown}" is no agent of {game.name} and no model; there are {known}')
