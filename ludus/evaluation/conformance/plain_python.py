"""Checks that compiled kernels behave exactly like plain Python, and that narrow integers do not overflow.

Numba reads NUMBA_DISABLE_JIT when it is imported, so plain play runs in a separate process.
"""

from __future__ import annotations

import functools
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np

from ludus import games
from ludus.dsl import random
from ludus.dsl.rows import as_plain, bare
from ludus.evaluation.conformance.trials import Play, Trial, build, pairs_of_fields, record
from ludus.types import Array, DType, LudusError

ROWS, STEPS, SEED = 2, 150, 26


def widened(dtype: DType) -> DType:
    """The same record with 64 bits for every integer."""
    fields = [(name, *_wide(dtype[name])) for name in dtype.names or ()]
    return np.dtype(fields, align=True)


def _wide(field: DType) -> tuple[DType, tuple[int, ...]]:
    narrow = field.base.kind in "iu" and field.base.itemsize < 8
    return (np.dtype(np.int64) if narrow else field.base, field.shape)


def play_plainly(name: str, wide: bool) -> Play:
    """Random play through the uncompiled kernels; call it in a process with NUMBA_DISABLE_JIT."""

    def prepare(array: Array) -> Array:
        layout = bare(array.dtype)
        holds_numbers = layout in (bare(game.rules.STATE), bare(game.rules.OBSERVATION))
        return as_plain(array.astype(widened(layout))) if wide and holds_numbers else array

    game = games.load(name)
    with np.errstate(all="ignore"):
        return record(build(game, random.keys(SEED, ROWS), prepare), STEPS, SEED)


def write_plays(name: str, folder: pathlib.Path) -> None:
    """The work of the uncompiled process: play with the game's own records and with wide ones."""
    for wide in (False, True):
        for part, array in play_plainly(name, wide)._asdict().items():
            array.tofile(_file(folder, part, wide))


@functools.lru_cache(maxsize=2)
def plain_plays(trial: Trial) -> tuple[Play, Play]:
    """Plain play of a game, with its own records and with wide ones."""
    with tempfile.TemporaryDirectory(prefix="ludus-plain-") as folder:
        command = [sys.executable, "-m", "ludus.evaluation.conformance", "--plain", trial.game.full_name, folder]
        environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
        process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if process.returncode:
            raise LudusError(f"as plain Python the rules fail: {process.stderr.strip().splitlines()[-1]}")
        return _read(trial, pathlib.Path(folder), wide=False), _read(trial, pathlib.Path(folder), wide=True)


@functools.lru_cache(maxsize=2)
def compiled_play(trial: Trial) -> Play:
    """The same games with compiled kernels."""
    return record(build(trial.game, random.keys(SEED, ROWS)), STEPS, SEED)


def compiled_equals_plain(trial: Trial) -> str:
    """Compiled rules do exactly what they do as plain Python."""
    for name, compiled, plain in _fields(compiled_play(trial), plain_plays(trial)[0]):
        if compiled.tobytes() != plain.tobytes():
            step, left, right = _first_difference(compiled, plain)
            return (
                f"{name} is {left} compiled and {right} as plain Python after step {step}; "
                "if it is float32 mixed with other numbers, write np.float64(…) around the field"
            )
    return ""


def numbers_do_not_wrap(trial: Trial) -> str:
    """No integer of the state or the observation overflows its type."""
    for name, narrow, wide in _fields(compiled_play(trial), plain_plays(trial)[1]):
        if narrow.dtype.kind in "iu" and not np.array_equal(narrow, wide):
            step, left, right = _first_difference(narrow, wide)
            return f"{name} is {left} after step {step}, but {right} with 64 bits; {narrow.dtype} is too narrow"
    return ""


def _fields(left: Play, right: Play) -> Iterator[tuple[str, Array, Array]]:
    for part in ("states", "rows", "observations"):
        for name, first, second in pairs_of_fields(getattr(left, part), getattr(right, part)):
            yield f"{name} of the {part}", first, second


def _first_difference(left: Array, right: Array) -> tuple[int, object, object]:
    place = tuple(np.argwhere((left != right) & ~((left != left) & (right != right)))[:1].ravel())
    return (int(place[0]), left[place], right[place]) if place else (0, "0 or NaN", "a different 0 or NaN")


def _read(trial: Trial, folder: pathlib.Path, wide: bool) -> Play:
    rules, kernel = trial.game.rules, trial.kernel
    dtypes = {"states": rules.STATE, "rows": kernel.ROW, "observations": rules.OBSERVATION, "actions": kernel.ACTION}
    if wide:
        dtypes |= {"states": widened(rules.STATE), "observations": widened(rules.OBSERVATION)}
    lengths = {part: STEPS if part == "actions" else STEPS + 1 for part in dtypes}
    return Play(
        **{
            part: np.fromfile(_file(folder, part, wide), dtype).reshape(lengths[part], -1)
            for part, dtype in dtypes.items()
        }
    )


def _file(folder: pathlib.Path, part: str, wide: bool) -> pathlib.Path:
    return folder / f"{part}-{'wide' if wide else 'narrow'}"


CHECKS = (compiled_equals_plain, numbers_do_not_wrap)
