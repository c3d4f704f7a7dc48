"""The tutorials as pages: comments of a script become text, the rest becomes code."""

from __future__ import annotations

import ast
import itertools
import pathlib
import re

TUTORIALS = pathlib.Path(__file__).parent.parent / "tutorials"
PICTURES = TUTORIALS.parent / "pictures"
ORDER = ("designer", "pig", "tictactoe", "car")
"""the first tutorials; others follow by name"""
LEFT = re.compile(r"^# ?", re.MULTILINE)


def paths() -> list[str]:
    names = [path.stem for path in TUTORIALS.glob("*.py")]
    return [f"tutorials/{name}.md" for name in sorted(names, key=_place)]


def _place(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER)), name


def pages() -> dict[str, str | bytes]:
    return {f"tutorials/{path.stem}.md": _page(path) for path in TUTORIALS.glob("*.py")}


def _page(path: pathlib.Path) -> str:
    source = path.read_text()
    title, _, intro = (ast.get_docstring(ast.parse(source)) or path.stem).partition("\n")
    body = source[source.index('"""', 3) + 3 :].strip("\n")
    parts = [f"# {title.rstrip('.')}", intro.strip(), f"[The file]({path.name}){{ download }}", *_pictures(path.stem)]
    return "\n\n".join([*parts, *_blocks(body)]) + "\n"


def _pictures(name: str) -> list[str]:
    found = sorted([*PICTURES.glob(f"{name}_learning.png"), *PICTURES.glob(f"{name}.gif")])
    return [f"![{path.stem}](../pictures/{path.name})" for path in found]


def _blocks(body: str) -> list[str]:
    """Numbered comments at the left margin start sections; they and the code between them alternate."""
    grouped = itertools.groupby(body.splitlines(), key=lambda line: line.startswith("#"))
    blocks = []
    for is_text, lines in grouped:
        text = "\n".join(lines).strip("\n")
        if text:
            blocks.append(_text(LEFT.sub("", text)) if is_text else f"```python\n{text}\n```")
    return blocks


def _text(comment: str) -> str:
    """A comment as Markdown: "3. Title. Text" is a heading and text; the indentation of its lines is removed."""
    lines = [line.removeprefix("   ") for line in comment.splitlines()]
    head, dot, rest = lines[0].partition(". ")
    if not (dot and head.isdigit()):
        return "\n".join(lines)
    title, stop, first = re.sub(r"([.:]) ", r"\1\n", rest, count=1).partition("\n")
    return f"## {head}. {title.rstrip('.:')}\n\n" + "\n".join([first, *lines[1:]] if stop else lines[1:])
