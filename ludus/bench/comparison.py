"""Two measurements side by side: ratios, their noise, and regressions.

Speeds are divided by the speed of a reference loop that was measured with them, so that results of another machine, or
of the same machine at a busier time, can be compared.
"""

from __future__ import annotations

import json
import pathlib
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ludus.bench import Result, readable
from ludus.types import JsonObject, LudusError

SIZES = {"MB": -1, "x": 1}
"""units that do not depend on the speed of the machine; -1 if less is better"""


class Baseline(NamedTuple):
    """Earlier results."""

    results: Mapping[str, Result]
    reference: float | None
    """iterations/s of the reference loop; None if it was not measured"""


class Measured(NamedTuple):
    """One run of a suite."""

    results: Sequence[Result]
    reference: float


class Row(NamedTuple):
    """One measurement before and after."""

    name: str
    unit: str
    before: float
    after: float
    """median of the runs"""
    ratio: float
    """above 1 is better; median of the runs, corrected by the reference loop"""
    noise: float
    """half the range of the ratios, relative to their median"""
    regressed: bool
    """whether even the best run is worse than the threshold allows"""


def read(path: pathlib.Path) -> Baseline:
    """Results that `ludus bench … --json` printed."""
    try:
        document = json.loads(path.read_text())
        results = [
            Result(one["name"], float(one["value"]), one["unit"]) for one in document["results"] if "value" in one
        ]
        reference = document.get("reference")
        return Baseline({one.name: one for one in results}, None if reference is None else float(reference))
    except OSError as error:
        raise LudusError(f'cannot read "{path}": {error.strerror}') from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LudusError(f'"{path}" is not a result of ludus bench; write one with ludus bench pool --json') from None


def compare(before: Baseline, runs: Sequence[Measured], threshold: float) -> list[Row]:
    """Rows of the speeds and sizes that both have; scores of agents are not compared."""
    return [row for one in runs[0].results if (row := _row(before, runs, one, threshold)) is not None]


def _row(before: Baseline, runs: Sequence[Measured], one: Result, threshold: float) -> Row | None:
    earlier = before.results.get(one.name)
    if earlier is None or not earlier.value or _direction(one.unit) == 0:
        return None
    pairs = [(found.value, run.reference) for run in runs for found in run.results if found.name == one.name]
    ratios = [_ratio(earlier, value, before.reference, reference) for value, reference in pairs]
    ratio = statistics.median(ratios)
    noise = (max(ratios) - min(ratios)) / 2 / ratio
    after = statistics.median(value for value, _ in pairs)
    return Row(one.name, one.unit, earlier.value, after, ratio, noise, max(ratios) < 1.0 - threshold)


def _direction(unit: str) -> int:
    """1 if more is better, -1 if less is better, 0 for units that are not compared."""
    return 1 if unit.endswith("/s") else -1 if unit == "s" else SIZES.get(unit, 0)


def _ratio(earlier: Result, value: float, before: float | None, now: float) -> float:
    direction = _direction(earlier.unit)
    ratio = (value / earlier.value) ** direction
    if before is None or earlier.unit in SIZES:
        return ratio
    return ratio * (before / now)


def lines(rows: Sequence[Row], before: Baseline, runs: Sequence[Measured]) -> Iterator[str]:
    """A table for people."""
    yield f"{'':<44} {'before':>10} {'after':>10} {'ratio':>7} {'noise':>7}"
    for row in rows:
        mark = "  REGRESSION" if row.regressed else ""
        values = f"{readable(row.before):>10} {readable(row.after):>10}"
        yield f"{row.name:<44} {values} {row.ratio:>6.2f}x {100 * row.noise:>5.0f} %{mark}"
    yield f"{_reference(before, runs)}; {sum(row.regressed for row in rows)} of {len(rows)} regressed"


def _reference(before: Baseline, runs: Sequence[Measured]) -> str:
    now = statistics.median(run.reference for run in runs)
    if before.reference is None:
        return "the earlier results have no reference loop, so speeds are compared as they are"
    return f"the reference loop runs {now / before.reference:.2f}x as fast as before; ratios are corrected by this"


def facts(rows: Sequence[Row], before: Baseline, runs: Sequence[Measured], threshold: float) -> JsonObject:
    """The comparison as plain data."""
    now = statistics.median(run.reference for run in runs)
    reference = {"before": before.reference, "after": now}
    return {"threshold": threshold, "reference": reference, "rows": [row._asdict() for row in rows]}
