"""The metrics of a run as columns: few enough points to draw, and no peak lost among them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ludus import sinks
from ludus.runs.folder import METRICS
from ludus.studio.ledger import stamp_of
from ludus.types import Array

BESIDE = ("step", "seconds", "time")
Columns = dict[str, Array]


def columns_of(folder: Path) -> Columns:
    """Every number that a run wrote down, [lines] by name; none where it has written nothing yet."""
    path = folder / METRICS
    stamp = stamp_of(path)
    return {} if stamp is None else _columns(path, stamp)


@functools.lru_cache(8)
def _columns(path: Path, stamp: Any) -> Columns:
    return sinks.columns(path)


def names_of(folder: Path) -> list[str]:
    return [name for name in columns_of(folder) if name not in BESIDE]


def drawn(folder: Path, points: int) -> dict[str, Any]:
    """The columns with about so many points at most, as JSON has them."""
    columns = thinned(columns_of(folder), points)
    plain = {name: plainly(column) for name, column in columns.items()}
    step, seconds = plain.pop("step", []), plain.pop("seconds", [])
    plain.pop("time", None)
    return {"step": step, "seconds": seconds, "columns": plain}


def thinned(columns: Columns, points: int) -> Columns:
    """Of each bucket of lines the lowest and the highest value of every column, and every line with a score whole."""
    count = len(columns.get("step", ()))
    if count <= points:
        return columns
    scored = np.flatnonzero(~np.isnan(columns["score"])) if "score" in columns else np.zeros(0, np.int64)
    buckets = max((points - len(scored)) // 2, 1)
    edges = np.unique(np.linspace(0, count, buckets + 1).astype(np.int64))
    first, last = edges[:-1], edges[1:] - 1
    places = np.concatenate([first, last, scored])
    # A line with a score comes after the ends of its bucket where they are one line, and is the one that stays.
    order = np.unique(places[::-1], return_index=True)[1]
    return {name: _ends(name, column, first, last, scored)[::-1][order] for name, column in columns.items()}


def _ends(name: str, column: Array, first: Array, last: Array, scored: Array) -> Array:
    if name in BESIDE:
        return np.concatenate([column[first], column[last], column[scored]])
    rest = column.astype(np.float64)
    rest[scored] = np.nan  # these lines stay as they are
    low, high = np.fmin.reduceat(rest, first), np.fmax.reduceat(rest, first)
    falling = column[last] < column[first]
    ends = np.where(falling, high, low), np.where(falling, low, high)
    return np.concatenate([*ends, column[scored]])


def plainly(column: Array) -> list[float | None]:
    """Numbers for JSON, which has no NaN."""
    if column.dtype.kind == "i":
        return column.tolist()
    return [number if finite else None for number, finite in zip(column.tolist(), np.isfinite(column), strict=True)]


def as_csv(folder: Path) -> Iterator[str]:
    """The same as a table, piece by piece."""
    columns = columns_of(folder)
    yield ",".join(json.dumps(name) if "," in name or '"' in name else name for name in columns) + "\r\n"
    rows = zip(*(plainly(column) for column in columns.values()), strict=True)
    lines: list[str] = []
    for row in rows:
        lines.append(",".join("" if value is None else repr(value) for value in row) + "\r\n")
        if len(lines) == 1000:
            yield "".join(lines)
            lines = []
    yield "".join(lines)
