"""Checks of hidden information: future random numbers, and what `redeal` may change."""

from __future__ import annotations

import numpy as np

from ludus.dsl import PLAYING, random
from ludus.dsl.draw import new_canvas
from ludus.dsl.rows import new_rows
from ludus.evaluation.conformance.trials import Trial, different_field, same
from ludus.types import Array


def dice_stay_hidden(trial: Trial) -> str:
    """A different state.key changes neither the observation, nor the mask, nor the picture."""
    states = trial.sample(400)
    others = states.copy()
    others["key"] = random.keys(24, len(others))
    for what, left, right in zip(("mask", "observation"), trial.seen(states), trial.seen(others), strict=True):
        if field := different_field(left, right):
            where = "the mask" if what == "mask" else f"observation {field}"
            return f"{where} changes with state.key, so it reveals future random numbers; compute it from other fields"
    if hasattr(trial.game.rules, "scene") and any(
        _shapes(trial, states, row) != _shapes(trial, others, row) for row in range(0, len(states), 20)
    ):
        return "the scene changes with state.key, so it reveals future random numbers"
    return ""


def redeal_is_honest(trial: Trial) -> str:
    """redeal for a seat changes nothing that this seat observes, and changes something that it does not."""
    if not hasattr(trial.game.rules, "redeal"):
        return ""
    states, changed = trial.sample(200, PLAYING), False
    for seat in range(trial.game.spec.seats):
        dealt = _redealt(trial, states, seat)
        if not same(_observed(trial, states, seat), _observed(trial, dealt, seat)):
            return f"redeal for seat {seat} changes what seat {seat} observes"
        mine = _acting(trial, states, seat)
        before, after = (trial.seen(either)[0]["mask"][mine] for either in (states, dealt))
        if not np.array_equal(before, after):
            return f"redeal for seat {seat} changes the mask of seat {seat}"
        dealt["key"] = states["key"]
        changed |= not same(states, dealt)
    return "" if changed else "redeal never changes anything; redeal what the seat cannot see, or remove redeal"


def _shapes(trial: Trial, states: Array, row: int) -> bytes:
    canvas = new_canvas()
    trial.kernel.draw_scene(states, row, 0, canvas)
    return canvas.tobytes()


def _redealt(trial: Trial, states: Array, seat: int) -> Array:
    dealt = new_rows(len(states), states.dtype)
    trial.kernel.fork(states, np.arange(len(states)), random.keys(25 + seat, len(states)), dealt, seat)
    return dealt


def _observed(trial: Trial, states: Array, seat: int) -> Array:
    """The observations of one seat, whichever seat is to act."""
    seen = new_rows(len(states), trial.game.rules.OBSERVATION)
    for index in range(len(states)):
        trial.kernel.look(states, index, seat, seen[index : index + 1])
    return seen


def _acting(trial: Trial, states: Array, seat: int) -> Array:
    """The views in which this seat is to act."""
    return trial.seen(states)[0]["seat"] == seat


CHECKS = (dice_stay_hidden, redeal_is_honest)
