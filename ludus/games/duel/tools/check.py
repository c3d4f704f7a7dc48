"""Comparison of our rules with recorded duels: counts by stage, and the first difference of each duel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ludus.games.duel.tools import recorded_duels
from ludus.games.duel.tables import ROWS
from ludus.types import JsonObject, LudusError

NAMES = {card.code: card.name for card in ROWS}
SHOWN = 5
"""how many differences are printed in full"""


class Tally(NamedTuple):
    """The counts of a stage."""

    duels: int = 0
    duels_right: int = 0
    decisions: int = 0
    decisions_right: int = 0
    """up to the first difference of each duel, as the two duels diverge after it"""


class Agreement(NamedTuple):
    """The counts of all stages, and the differences with their positions."""

    stages: dict[int, Tally]
    differences: list[recorded_duels.Difference]


def check(duels: Sequence[JsonObject], report: Callable[[str, int, int], None]) -> Agreement:
    """Replay all duels."""
    if not duels:
        raise LudusError("there is no recorded duel in this file; it should hold one JSON object per line")
    stages: dict[int, Tally] = {}
    differences = []
    for number, duel in enumerate(duels):
        report(f"stage {duel['stage']}, duel {duel['id']}", number, len(duels))
        right, difference = recorded_duels.replay(duel)
        before, whole = stages.get(duel["stage"], Tally()), difference is None
        now = (1, int(whole), len(duel["dec"]), right)
        stages[duel["stage"]] = Tally(*(old + new for old, new in zip(before, now, strict=True)))
        if difference:
            differences.append(difference)
    return Agreement(dict(sorted(stages.items())), differences)


def as_json(found: Agreement) -> JsonObject:
    """The counts by stage and the differences, as data."""
    stages = {str(stage): tally._asdict() for stage, tally in found.stages.items()}
    differences = [
        {
            "duel": one.duel,
            "stage": one.stage,
            "decision": one.decision,
            "what": one.what,
            "ours": one.ours,
            "theirs": one.theirs,
        }
        for one in found.differences
    ]
    return {"stages": stages, "differences": differences}


def table(found: Agreement) -> str:
    """The same as text: one line per stage, then the first differences with card names and the position."""
    lines = ["stage     duels           decisions"]
    for stage, tally in found.stages.items():
        share = 100.0 * tally.decisions_right / max(1, tally.decisions)
        duels, decisions = f"{tally.duels_right} of {tally.duels}", f"{tally.decisions_right:,} of {tally.decisions:,}"
        lines.append(f"{stage:<9} {duels:<15} {decisions:<20} {share:.2f} %")
    for one in found.differences[:SHOWN]:
        lines += [
            "",
            f"{one.duel}, decision {one.decision}: {one.what}",
            f"  ours   {named(one.ours)}",
            f"  theirs {named(one.theirs)}",
        ]
        lines += [f"  {line}" for line in one.position.splitlines()]
    if len(found.differences) > SHOWN:
        lines.append(f"… and {len(found.differences) - SHOWN} more; --json lists all")
    return "\n".join(lines)


def named(value: object) -> object:
    """Replace card codes by names."""
    if isinstance(value, list | tuple):
        return [named(part) for part in value]
    return NAMES.get(value, value) if isinstance(value, int) and value > 9999 else value
