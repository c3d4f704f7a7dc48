"""Golden games: one random game written out for people to read, and replayed line by line by the tests.

A rule that changes shows as the first line that differs, in the words of the game.
"""

from __future__ import annotations

import hashlib
import itertools
import pathlib
from typing import Any

import numpy as np

from ludus import games
from ludus.pool import Pool
from ludus.scaffold import source_checkout
from ludus.types import Array, Continuous, LudusError
from ludus.words import OVER, PLAYING, bounds

SHOWN_STEPS, SHOWN_ACTIONS, SHOWN_NUMBERS, SHOWN_DIGITS = 60, 30, 40, 200
LONGEST = 20_000
"""steps after which a game without an end is left alone"""


def golden_path(name: str) -> pathlib.Path:
    """Where the golden game of a game lies: in the tests of a source checkout, else beside your games."""
    game = games.split_name(name)[0]
    root = source_checkout()
    return root / "tests" / "golden" / f"{game}.txt" if root else games.games_folder() / f"{game}.golden.txt"


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
    """Replay a golden game; a sentence about the first line that differs, or None."""
    header = dict(line.partition(": ")[::2] for line in text.splitlines()[:3])
    if not header.get("game") or not header.get("seed", "").isdigit():
        raise LudusError("a golden game begins with the lines game: NAME, seed: NUMBER, fingerprint: …")
    again = record(header["game"], int(header["seed"]))
    pairs = itertools.zip_longest(text.splitlines(), again.splitlines(), fillvalue="(nothing)")
    for number, (golden, now) in enumerate(pairs, start=1):
        if golden != now:
            return (
                f'line {number} was "{golden}" and now is "{now}"; '
                f"if that is meant, record it anew: ludus golden {header['game'].partition('(')[0]}"
            )
    return None


def _choose(pool: Pool, generator: np.random.Generator) -> Array:
    """A random legal action for each view; drawn from the generator alone, so a replay draws the same."""
    step, actions = pool.step, pool.spec.actions
    if isinstance(actions, Continuous):
        return generator.uniform(actions.low, actions.high, (len(step.seat), len(actions.low)))
    return np.array([generator.choice(np.flatnonzero(mask)) for mask in step.mask])


def _position(pool: Pool) -> list[str]:
    """The board, and what each view observes."""
    state = pool.states[0]
    if hasattr(pool.game.rules, "text"):
        board = pool.game.rules.text(state).splitlines()
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
    """Who may do what, and who does what."""
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
    """Arrays declared to hold single digits, a word a row; nothing for all others."""
    low, high = bounds(pool.observation, name)
    if values.dtype.kind not in "iu" or low.size < 2 or low.min() < 0 or high.max() > 9 or low.size > SHOWN_DIGITS:
        return ""
    return " ".join("".join(map(str, row)) for row in values.reshape(-1, values.shape[-1]))


def _numbers(values: Any) -> str:
    """Small arrays as numbers, rounded so that a last bit does not show; large ones as a short hash."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        array = np.round(array.astype(float), 4) + 0.0
    if array.size <= SHOWN_NUMBERS:
        return " ".join(f"{number:g}" for number in array.ravel())
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]
    return f"{'x'.join(map(str, array.shape))} numbers, hash {digest}"
