"""Recall with a memory: store the cue, wait, and answer with it; guess if the cue was not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory, Params
from ludus.games.recall import CUE, QUESTION
from ludus.pool.actions import any_of
from ludus.types import Array, Decision, Step


@dataclass(frozen=True)
class Rememberer(Agent):
    """Its memory is the cue of every row, 0 where none was seen."""

    def memory(self, rows: int) -> Array:
        return np.zeros(rows, np.int64)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Array]:
        symbol, moment = step.observation["symbol"], step.observation["moment"]
        # The memory may be empty, for example when a hint is requested in the middle of a game.
        known = np.where(step.first, 0, memory if len(memory) else 0)
        cue = np.where(moment == CUE, symbol, known)
        action = np.where((moment == QUESTION) & (cue > 0), cue, any_of(step.mask, key))
        value = np.zeros(step.reward.shape, np.float32)
        return Decision(action, np.zeros(len(action), np.float32), value), cue


AGENT = Rememberer()
