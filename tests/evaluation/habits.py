"""Agents with fixed behaviour."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludus import agents, games
from ludus.types import Decision


def player(kind, game, spec=None):
    """An agent of the package with its parameters."""
    agent = agents.load(kind, game)
    return agent, agent.init(spec or games.load(game).spec, 0)


def plain(action, step):
    rows = len(step.seat)
    return Decision(np.asarray(action), np.zeros(rows, np.float32), np.zeros(step.reward.shape, np.float32))


@dataclass(frozen=True)
class Always:
    """Always plays the same action."""

    action: int

    def init(self, spec, key):
        return ()

    def memory(self, rows):
        return ()

    def act(self, params, memory, step, key):
        return plain(np.full(len(step.seat), self.action), step), memory


@dataclass(frozen=True)
class Counting:
    """Plays at random, counts its moves in each game in its memory, and compares the count with the board."""

    moved: Any
    """(step) -> [N] moves made so far by the seat to act"""
    compared: list
    """the number of rows compared in each call"""

    def init(self, spec, key):
        return ()

    def memory(self, rows):
        return {"moves": np.full((rows, 1), 77), "nothing": (None, ())}

    def act(self, params, memory, step, key):
        moves = np.where(step.first[:, None], 0, memory["moves"])
        own = step.discount > 0
        np.testing.assert_array_equal(moves[own, 0], self.moved(step)[own])
        self.compared.append(int(own.sum()))
        action = (np.random.default_rng(key).random(step.mask.shape) * step.mask).argmax(axis=1)
        return plain(action, step), {"moves": moves + 1, "nothing": (None, ())}
