"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; vertical bars and line ends in cells are escaped."""
    lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
