"""Who sits in the seats of a game session: persons, served models, and agents of the game by name, never by a path."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict

from ludus import agents, games
from ludus.agents.player import Contestant
from ludus.server.problems import Problem
from ludus.types import LudusError

NAMED = re.compile(r"best|mcts\([1-9]\d{0,3}\)|lookahead(\(\d{1,3}\))?", re.ASCII)
"""agents besides the kinds of players; the numbers limit how long a request makes the server think"""
KEPT = 16


class Bench:
    """The agents that play by name, kept for the next game; blocking."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Contestant] = OrderedDict()

    def find(self, name: str, game: games.Game) -> Contestant:
        """The agent of this name and its parameters; raises Problem if the game has no such agent."""
        key = (check_agent(name, game), game.full_name)
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


def check_agent(name: str, game: games.Game) -> str:
    """The name, if it is that of an agent; a name is never used as a path."""
    if name in (*agents.KINDS, *agents.TRAINED) or NAMED.fullmatch(name):
        return name
    shown = "".join(letter if letter.isprintable() else "?" for letter in name[:60])
    known = ", ".join(("person", *agents.kinds_for(game.name), *agents.shipped_kinds(game.name), "mcts(200)"))
    raise Problem(422, "unknown_agent", f'"{shown}" is no agent of {game.name} and no model; there are {known}')
