"""The metrics of a run as columns, downsampled for charts such that minima and maxima remain."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ludus.studio.ledger import Stamp, stamp_of
from ludus.training import loggers
from ludus.training.folder import METRICS
from ludus.types import Array, JsonObject

AXES = ("step", "seconds", "time")
Columns = dict[str, Array]


def columns_of(folder: Path) -> Columns:
    """All metrics of a run, arrays [lines] by name; empty if there are none yet."""
    path = folder / METRICS
    stamp = stamp_of(path)
    return {} if stamp is None else _columns(path, stamp)


@functools.lru_cache(8)
def _columns(path: Path, stamp: Stamp) -> Columns:
    return loggers.columns(path)


def names_of(folder: Path) -> list[str]:
    return [name for name in columns_of(folder) if name not in AXES]


def downsampled(folder: Path, points: int) -> JsonObject:
    """The columns with at most about `points` points each, as JSON data."""
    columns = thinned(columns_of(folder), points)
    plain = {name: to_json(column) for name, column in columns.items()}
    step, seconds = plain.pop("step", []), plain.pop("seconds", [])
    plain.pop("time", None)
    return {"step": step, "seconds": seconds, "columns": plain}


def thinned(columns: Columns, points: int) -> Columns:
    """For each bucket of lines keep the minimum and maximum of every column; keep all lines with a score unchanged."""
    count = len(columns.get("step", ()))
    if count <= points:
        return columns
    scored = np.flatnonzero(~np.isnan(columns["score"])) if "score" in columns else np.zeros(0, np.int64)
    buckets = max((points - len(scored)) // 2, 1)
    edges = np.unique(np.linspace(0, count, buckets + 1).astype(np.int64))
    first, last = edges[:-1], edges[1:] - 1
    places = np.concatenate([first, last, scored])
    # If a line with a score is also the end of a bucket, `unique` on the reversed order keeps the scored line.
    order = np.unique(places[::-1], return_index=True)[1]
    return {name: _ends(name, column, first, last, scored)[::-1][order] for name, column in columns.items()}


def _ends(name: str, column: Array, first: Array, last: Array, scored: Array) -> Array:
    if name in AXES:
        return np.concatenate([column[first], column[last], column[scored]])
    rest = column.astype(np.float64)
    rest[scored] = np.nan  # lines with a score are kept unchanged
    low, high = np.fmin.reduceat(rest, first), np.fmax.reduceat(rest, first)
    falling = column[last] < column[first]
    ends = np.where(falling, high, low), np.where(falling, low, high)
    return np.concatenate([*ends, column[scored]])


def to_json(column: Array) -> list[float | None]:
    """Numbers for JSON: NaN and infinity become None."""
    if column.dtype.kind == "i":
        return column.tolist()
    return [number if finite else None for number, finite in zip(column.tolist(), np.isfinite(column), strict=True)]


def as_csv(folder: Path) -> Iterator[str]:
    """All columns as CSV text, in pieces of 1000 lines."""
    columns = columns_of(folder)
    yield ",".join(json.dumps(name) if "," in name or '"' in name else name for name in columns) + "\r\n"
    rows = zip(*(to_json(column) for column in columns.values()), strict=True)
    lines: list[str] = []
    for row in rows:
        lines.append(",".join("" if value is None else repr(value) for value in row) + "\r\n")
        if len(lines) == 1000:
            yield "".join(lines)
            lines = []
    yield "".join(lines)
