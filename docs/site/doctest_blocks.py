"""Examples in docstrings (`>>> …`) become blocks of code; Markdown alone would show them as quotations."""

from __future__ import annotations

import re

import griffe

EXAMPLE = re.compile(r"(?:^ *>>> .*\n?(?:^ *\S.*\n?)*\n?)+", re.MULTILINE)


class DoctestBlocks(griffe.Extension):
    """Rewrites docstrings when they are read."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(match: re.Match[str]) -> str:
    lines = [line.strip() if line.strip().startswith(">>>") else line for line in match[0].strip().splitlines()]
    return "\n```pycon\n" + "\n".join(lines) + "\n```\n\n"
