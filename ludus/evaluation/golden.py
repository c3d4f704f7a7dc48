"""Golden games: one random game as readable text, which the tests replay line by line.

A changed rule appears as the first line that differs.
"""

from __future__ import annotations

import hashlib
import itertools
import pathlib

import numpy as np
from numpy.typing import ArrayLike

from ludus import games
from ludus.dsl import OVER, PLAYING, bounds
from ludus.evaluation.scaffold import source_checkout
from ludus.pool import Pool
from ludus.types import Array, Continuous, LudusError

SHOWN_STEPS, SHOWN_ACTIONS, SHOWN_NUMBERS, SHOWN_DIGITS = 60, 30, 40, 200
LONGEST = 20_000
"""maximum number of recorded steps"""


def golden_path(name: str) -> pathlib.Path:
    """The file of a golden game: in tests/golden for bundled games in a checkout, else in the user's games folder."""
    game, root = games.split_name(name)[0], source_checkout()
    if root and game in games.bundled():
        return root / "tests" / "golden" / f"{game}.txt"
    return games.games_folder() / f"{game}.golden.txt"


def record(name: str, seed: int) -> str:
    """One random game as text."""
    pool = Pool(name, 1, seed, threads=1)
    lines = [f"game: {pool.name}", f"seed: {seed}", f"fingerprint: {pool.game.fingerprint}"]
    generator = np.random.default_rng(seed)
    total = np.zeros(pool.spec.seats)
    steps = 0
    while pool.status[0] == PLAYING and steps < LONGEST:
        actions = _choose(pool, generator)
        if steps < SHOWN_STEPS:
            lines += ["", f"step {steps}", *_position(pool), *_decision(pool, actions)]
        total += pool.advance(actions).reward[0]
        if steps < SHOWN_STEPS and pool.step.reward[0].any():
            lines.append(f"reward: {_numbers(pool.step.reward[0])}")
        steps += 1
    if steps > SHOWN_STEPS:
        lines += ["", f"… {steps - SHOWN_STEPS} more steps"]
    ending = {PLAYING: "not over", OVER: "OVER"}.get(int(pool.status[0]), "CUT")
    lines += ["", f"{ending} after {steps} steps", *_position(pool), f"total reward: {_numbers(total)}"]
    return "\n".join(lines) + "\n"


def check(text: str) -> str | None:
    """Replay a golden game; returns a message about the first line that differs, or None."""
    header = dict(line.partition(": ")[::2] for line in text.splitlines()[:3])
    if not header.get("game") or not header.get("seed", "").isdigit():
        raise LudusError(
            "this is not a golden game; it must begin with the lines game: NAME, seed: NUMBER, fingerprint: …"
        )
    again = record(header["game"], int(header["seed"]))
    pairs = itertools.zip_longest(text.splitlines(), again.splitlines(), fillvalue="(nothing)")
    for number, (golden, now) in enumerate(pairs, start=1):
        if golden != now:
            return (
                f'line {number} was "{golden}" and is now "{now}"; '
                f"if this is intended, record it again: ludus golden {header['game'].partition('(')[0]}"
            )
    return None


def _choose(pool: Pool, generator: np.random.Generator) -> Array:
    """A random legal action for each view; depends only on the generator, so a replay chooses the same."""
    step, actions = pool.step, pool.spec.actions
    if isinstance(actions, Continuous):
        return generator.uniform(actions.low, actions.high, (len(step.seat), len(actions.low)))
    return np.array([generator.choice(np.flatnonzero(mask)) for mask in step.mask])


def _position(pool: Pool) -> list[str]:
    """The board, and the observation of each view."""
    state = pool.states[0]
    if hasattr(pool.game.rules, "text"):
        board = pool.describe().splitlines()
    else:
        board = [f"{name}: {_numbers(state[name])}" for name in state.dtype.names if name != "key"]
    step = pool.step
    observed = [
        f"observation of seat {seat}: {name} {_digits(pool, name, values[view]) or _numbers(values[view])}"
        for view, seat in enumerate(step.seat)
        for name, values in step.observation.items()
    ]
    return [*(f"  {line}" for line in board), *observed]


def _decision(pool: Pool, actions: Array) -> list[str]:
    """The legal and the chosen action of each seat."""
    lines = []
    for seat, mask, action in zip(pool.step.seat, pool.step.mask, actions, strict=True):
        if not isinstance(pool.spec.actions, Continuous):
            legal = np.flatnonzero(mask)
            shown = ", ".join(pool.action_name(int(choice)) for choice in legal[:SHOWN_ACTIONS])
            more = f" … {len(legal)} in all" if len(legal) > SHOWN_ACTIONS else ""
            lines.append(f"legal for seat {seat}: {shown}{more}")
        lines.append(f"seat {seat} plays: {pool.action_name(action)}")
    return lines


def _digits(pool: Pool, name: str, values: Array) -> str:
    """Arrays declared to contain single digits, one word per row; an empty text for others."""
    low, high = bounds(pool.observation, name)
    if values.dtype.kind not in "iu" or low.size < 2 or low.min() < 0 or high.max() > 9 or low.size > SHOWN_DIGITS:
        return ""
    return " ".join("".join(map(str, row)) for row in values.reshape(-1, values.shape[-1]))


def _numbers(values: ArrayLike) -> str:
    """Small arrays as numbers, rounded to hide differences in the last bit; large ones as a short hash."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        array = np.round(array.astype(float), 4) + 0.0
    if array.size <= SHOWN_NUMBERS:
        return " ".join(f"{number:g}" for number in array.ravel())
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]
    return f"{'x'.join(map(str, array.shape))} numbers, hash {digest}"
