"""The page of all measurements, from benchmarks/results/*.json, with learning curves."""

from __future__ import annotations

import io
import json
import pathlib
import re
from collections.abc import Mapping

from matplotlib.figure import Figure
from tables import table

RESULTS = pathlib.Path(__file__).parent.parent.parent / "benchmarks" / "results"
POINT = re.compile(r"(.+)/(seed\d+)/(\w+)/(\d+)")
"""a point of a learning curve: learner/seed0/measure/steps"""
NOT_WORDS = re.compile(r"\W+")
Curves = dict[str, dict[str, list[tuple[int, float]]]]
"""points by title and seed"""


def pages() -> dict[str, str | bytes]:
    """The page, its pictures and the JSON files that it links to."""
    made: dict[str, str | bytes] = {}
    sections = ["# Measurements", "All committed results, as measured. [Results](results.md) explains them."]
    for path in sorted(RESULTS.glob("*.json")):
        document = json.loads(path.read_text())
        made[f"benchmarks/results/{path.name}"] = path.read_text()
        sections += [f"## {path.stem}", f"[{path.name}](benchmarks/results/{path.name}){_hardware(document)}"]
        for title, seeds in _curves(document).items():
            picture = f"pictures/curves/{path.stem}_{NOT_WORDS.sub('_', title)}.svg"
            made[picture] = _draw(title, seeds)
            sections.append(f"![{title}]({picture})")
        sections.append(_rows(document))
    return made | {"measurements.md": "\n\n".join(sections) + "\n"}


def _hardware(document: object) -> str:
    if not isinstance(document, dict) or "hardware" not in document:
        return ""
    facts = document["hardware"]
    return f", on {facts['cores']} cores of {facts['processor']}, at commit `{facts['ludus']}`"


def _results(document: object) -> list[Mapping[str, object]]:
    if isinstance(document, list):
        return document
    assert isinstance(document, dict)
    return document.get("results", [document])


def _curves(document: object) -> Curves:
    found: Curves = {}
    for row in _results(document):
        if match := POINT.fullmatch(str(row.get("name"))):
            learner, seed, measure, steps = match.groups()
            found.setdefault(f"{learner}: {measure}", {}).setdefault(seed, []).append((int(steps), float(row["value"])))
    return found


def _draw(title: str, seeds: Mapping[str, list[tuple[int, float]]]) -> bytes:
    """One line per seed."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots()
    for seed, points in seeds.items():
        axes.plot(*zip(*sorted(points), strict=True), marker=".", label=seed)
    axes.set(title=title, xlabel="steps")
    axes.grid(alpha=0.3)
    axes.legend()
    data = io.BytesIO()
    figure.savefig(data, format="svg", metadata={"Date": None})
    return data.getvalue()


def _rows(document: object) -> str:
    rows = [row for row in _results(document) if not POINT.fullmatch(str(row.get("name")))]
    if all("name" in row for row in rows):
        return table(("name", "value", "unit"), [(row["name"], _value(row), row.get("unit", "")) for row in rows])
    return "\n".join(table(("", ""), [(key, _plain(value)) for key, value in row.items()]) for row in rows)


def _value(row: Mapping[str, object]) -> str:
    value = row.get("value")
    return f"{value:,.6g}" if isinstance(value, int | float) else _plain({k: v for k, v in row.items() if k != "name"})


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(one)}" for key, one in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
