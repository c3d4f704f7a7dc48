"""The duel's state machine names its steps and argument slots; none of them is a literal number."""

import ast
import pathlib

import pytest

from ludus.games import duel

SOURCES = sorted(pathlib.Path(duel.__file__).parent.rglob("*.py"))


def has_number(node):
    """Whether an expression contains an integer literal; True and False do not count."""
    return any(isinstance(part, ast.Constant) and type(part.value) is int for part in ast.walk(node))


def is_called(node, name):
    """Whether an expression is a field of this name, or a local variable."""
    return name == (node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else "")


def is_next(value):
    """Whether a value is a step plus one, the next step."""
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and is_called(value.left, "step")


def is_numbered(node):
    """Whether a literal number is a step or the index of an argument slot."""
    if isinstance(node, ast.Subscript):
        return is_called(node.value, "args") and has_number(node.slice)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(is_called(side, "step") for side in sides) and any(map(has_number, sides))
    if isinstance(node, ast.Assign) and any(is_called(target, "step") for target in node.targets):
        return has_number(node.value) and not is_next(node.value)
    return False


def numbered_lines(source):
    return sorted({node.lineno for node in ast.walk(ast.parse(source)) if is_numbered(node)})


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_steps_and_slots_have_names(path):
    lines = numbered_lines(path.read_text(encoding="utf-8"))
    assert not lines, f"{path.name}: lines {lines} use a number as a step or slot; name it by a module-level constant"


@pytest.mark.parametrize(
    "line",
    [
        "frame.step = 3",
        "frame.step = 3 if found else CLOSE",
        "frame.step == 3",
        "0 < step < LAST",
        "step in (1, 2)",
        "work.args[3] = 1",
        "args[3]",
        "x = frame.args[0 if own else 1]",
    ],
)
def test_numbers_are_found(line):
    assert numbered_lines(line) == [1]


@pytest.mark.parametrize("line", ["frame.step = step + 1", "frame.step += 1", "frame.step = PAY", "frame.args[AT] = 1"])
def test_named_steps_and_slots_are_accepted(line):
    assert not numbered_lines(line)
