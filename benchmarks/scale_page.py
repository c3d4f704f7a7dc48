"""The tables of docs/scale.md, made from results/scale.json between two marks in the page."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence
from typing import Any

from ludus.bench import readable
from ludus.files import write_atomically

HERE = pathlib.Path(__file__).parent
PAGE, RESULTS = HERE.parent / "docs" / "scale.md", HERE / "results" / "scale.json"
BEGIN, END = "<!-- {}: made by benchmarks/scale.py -->", "<!-- end of {} -->"
COSTS = {
    "decisions": "decisions in a rollout", "rollout": "rollout, MB", "params": "parameters, MB",
    "play": "play a rollout, ms", "contention": "longer if all cores play, ×",
    "update/1": "update with 1 rollout, ms", "update/2": "2 rollouts, ms", "update/4": "4 rollouts, ms",
    "beside": "update beside workers that play, longer by ×", "left": "cores left for these workers",
    "publish": "publish parameters, ms", "order": "call a worker, ms",
    "carry": "Ray's part of a unit on the learner's node, ms", "carry_remote": "on another node, ms",
    "fetch": "get a rollout of the same node, ms", "fetch_remote": "of another node, ms",
}  # fmt: skip


def write(document: dict[str, Any], page: pathlib.Path = PAGE) -> None:
    """Replace the tables of the page."""
    write_atomically(page, replaced(page.read_text(), document).encode())


def replaced(text: str, document: dict[str, Any]) -> str:
    """The text of the page with the tables of these results."""
    for name, table in tables(document).items():
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text


def tables(document: dict[str, Any]) -> dict[str, str]:
    """Each table by its name."""
    values = {row["name"]: row["value"] for row in document["results"]}
    games, settings = list(document["details"]), document["settings"]
    found = {"costs": _costs(values, games), "check": _check(values, games, document["details"])}
    for name in (name for name in settings if name.count("/") == 1):
        found[name.removeprefix("scale/")] = _cluster(name, values, games, settings)
    return found


def _costs(values: dict[str, float], games: Sequence[str]) -> str:
    rows = [[text, *(_number(values[f"scale/inputs/{game}/{key}"]) for game in games)] for key, text in COSTS.items()]
    return _table(["measured", *games], rows)


def _number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _check(values: dict[str, float], games: Sequence[str], details: dict[str, Any]) -> str:
    rows = []
    for game in games:
        for nodes in details[game]["runs"]:
            name = f"scale/here/{game}/{nodes}"
            rates = [f"{values[f'{name}/{kind}']:,.0f}" for kind in ("predicted", "measured")]
            ages = [f"{values[f'{name}/age_seconds/{kind}']:.2f}" for kind in ("predicted", "measured")]
            versions = [f"{values[f'{name}/age/{kind}']:.0f}" for kind in ("predicted", "measured")]
            error = 100.0 * (values[f"{name}/predicted_over_measured"] - 1.0)
            rows.append([game, nodes, *rates, f"{error:+.0f} %", " / ".join(versions), " / ".join(ages)])
    ages = ["age in versions, predicted / measured", "age in seconds, predicted / measured"]
    return _table(["game", "nodes", "predicted steps/s", "measured steps/s", "error", *ages], rows)


def _cluster(name: str, values: dict[str, float], games: Sequence[str], settings: dict[str, Any]) -> str:
    """A row for each number of nodes: steps/s, age and bound of each game."""
    numbers = sorted(int(row.rsplit("/", 1)[1]) for row in settings if row.startswith(f"{name}/{games[0]}/"))
    rows = [
        [f"{number:,}", *(_cell(f"{name}/{game}/{number}", values, settings) for game in games)] for number in numbers
    ]
    return _table(["nodes", *games], rows)


def _cell(name: str, values: dict[str, float], settings: dict[str, Any]) -> str:
    age = values[f"{name}/age_seconds"]
    return f"{readable(values[name])}, {age:,.{0 if age >= 10 else 2}f} s, {settings[name]}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def stored() -> dict[str, Any]:
    """The committed results."""
    document: dict[str, Any] = json.loads(RESULTS.read_text())
    return document
