"""Error messages for rules that do not compile: file and line, reason, the line itself, and a hint.

Numba repeats the error of a rule for every rule that calls it, and keeps only the
text; so `Rule.compile` records which rules failed, and the innermost is reported.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import inspect
import os
import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ludus.files.source_errors import Place, explain, lies_in
from ludus.types import LudusError

DEBUG = "To debug the rules as plain Python, put NUMBA_DISABLE_JIT=1 in front of the command."
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PIPELINE = "Failed in nopython mode pipeline"
"""the start of every error message of Numba, repeated for each rule in the call chain"""
OPERATORS = {
    "getitem": "{0} cannot be indexed with {1}",
    "setitem": "an element of {0} cannot be set with the index {1} to {2}",
    "static_setitem": "an element of {0} cannot be set with the index {1} to {2}",
}


class Failure(NamedTuple):
    """A rule that failed to compile."""

    function: Callable[..., object]
    error: BaseException


def compile_error(error: BaseException, failures: list[Failure]) -> LudusError | None:
    """The error for a failed compilation, given the failed rules, innermost first; None if none belongs to a game."""
    # If a function of Ludus was called with wrong types, the mistake is in its caller.
    theirs = [failure for failure in failures if _is_game(failure.function.__code__.co_filename)]
    reported = [failure for failure in theirs if _first_line(failure.error) in _text(error)] or theirs
    if not reported:
        return None
    function, inner = reported[0]
    name = _unknown_name(inner)
    reason = _unknown(function, name, inner) if name else _reason(_text(inner))
    return explain(_place(inner, function, name), f"the rule {function.__name__} does not compile: {reason}", DEBUG)


def _is_game(file: str) -> bool:
    return not lies_in(file, PACKAGE) or lies_in(file, os.path.join(PACKAGE, "games"))


def _text(error: BaseException) -> str:
    """The message without colours, which Numba adds where colorama is installed."""
    return re.sub(r"\x1b\[[\d;]*m", "", str(error))


def _first_line(error: BaseException) -> str:
    lines = [line for line in _text(error).splitlines() if line and not line.startswith(PIPELINE)]
    return lines[0] if lines else ""


def _place(error: BaseException, function: Callable[..., object], name: str) -> Place:
    """The line of the error: from the compiler, else where the rule uses the unknown name, else its first line."""
    location = getattr(error, "loc", None)
    if location is not None and os.path.isfile(location.filename) and location.line:
        return Place(location.filename, location.line)
    if found := re.search(r"(?: at|Raised from) (/[^\n]*?) \((\d+)\)", _text(error)):
        return Place(found[1], int(found[2]))
    code = function.__code__
    with contextlib.suppress(OSError):  # a rule created from a string has no source file
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            used = name in (getattr(node, "id", None), getattr(node, "attr", None))
            if (name and used) or (not name and isinstance(node, ast.With)):
                return Place(code.co_filename, code.co_firstlineno + getattr(node, "lineno", 1) - 1)
    return Place(code.co_filename, code.co_firstlineno)


def _unknown_name(error: BaseException) -> str:
    """The field, attribute or variable that the error reports as unknown."""
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if isinstance(error, AttributeError):
        return str(error.name or "")
    found = re.search(r"(?:NameError: name|Variable|global name) '(\w+)'(?: is not defined)", _text(error))
    return found[1] if found else ""


def _unknown(function: Callable[..., object], name: str, error: BaseException) -> str:
    """A message that names the unknown name and suggests a similar one."""
    names = function.__globals__
    if isinstance(error, KeyError):
        records = [value for value in names.values() if isinstance(value, np.dtype) and value.names]
        what, known = "field", {field for record in records for field in record.names or ()}
    elif isinstance(error, AttributeError):
        what, known = "attribute", set(dir(error.obj))
    else:
        what, known = "variable", {*names, *function.__code__.co_varnames}
    if name in known:
        return f'the {what} "{name}" is used before it has a value'
    close = difflib.get_close_matches(name, known, 1)
    return f'there is no {what} "{name}"' + (f'; did you mean "{close[0]}"?' if close else "")


def _reason(text: str) -> str:
    """Numba's reason as one sentence."""
    lines = [line.strip() for line in text.splitlines() if not line.startswith(PIPELINE)]
    text = _plain("\n".join(lines))
    for pattern, sentence in REASONS:
        if found := re.search(pattern, text):
            return sentence(found) if callable(sentence) else found.expand(sentence)
    return re.split(r"\n|\. Raised from", text.strip())[0]


def _plain(text: str) -> str:
    """Replace Numba's type names with plain words."""
    text = re.sub(r"Literal\[(\w+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"nestedarray\((\w+), (\([^)]*\))\)", r"an array of \1 of shape \2", text)
    text = re.sub(r"Uni(?:Tuple|code)\((\w+) x (\d+)\)", r"\2 numbers", text)
    return _without_records(text).replace("unicode_type", "str")


def _without_records(text: str) -> str:
    """Replace the long type names of records with "a record"."""
    while (start := text.find("Record(")) >= 0:
        depth, end = 1, start + len("Record(")
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = f"{text[:start]}a record{text[end:]}"
    return text


def _no_implementation(found: re.Match[str]) -> str:
    function, types = found[1], found[2].split(", ")
    if function in OPERATORS and len(types) >= 2:
        return OPERATORS[function].format(*types, *types)
    return f"there is no {function}({found[2]}) in compiled code"


def _global(found: re.Match[str]) -> str:
    name, kind = found[1], found[2]
    if kind == "function":
        return f"{name} is a plain Python function; write @rule above it"
    return f"{name} is a {kind}, which rules cannot read; use a number, a tuple or a NumPy array"


REASONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"Exception matching is limited|exception_match", "a rule cannot catch specific exceptions; test with if"),
    (r"'with \(context manager\)", "a rule cannot use with; it reads and writes only its arguments"),
    (r"No implementation of function Function\(<[^>]*?(\w+)>\)[^>]*>>> \w+\(([^\n]*)\)\n", _no_implementation),
    (r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(?:\w+\.)*(\w+)'>", _global),
    (r"Cannot bind 'args=.*' to signature '(.*)' due to \"TypeError: (.*)\"",
     r"a rule with the arguments \1 is called wrongly: \2"),
    (r"Cannot unify (.*) and (.*) for '(\w+)",
     r"\3 is \1 in one place and \2 in another; a variable in a rule must keep one type"),
    (r"Cannot unify (.*) and (.*) for '\$", r"a value is \1 or \2; a value in a rule must have one type"),
    (r"Cannot cast \w+ to (an array of [^\n:]*)", r"one value cannot be stored in \1; write field[:] = value"),
    (r"Cannot cast ([^\n]*) to ([^\n:]*)", r"\1 cannot be stored as \2"),
    (r"Unknown attribute '(\w+)' of type ([^\n]*)", r"\2 has no attribute \1"),
    (r"Cannot resolve setattr: \(([^\n]*)\)\.(\w+) =", r"\1 has no attribute \2 that can be set"),
    (r"opcode \(IMPORT_NAME\)", "a rule cannot import; put the import at the top of the file"),
    (r"opcode \(LOAD_BUILD_CLASS\)", "a rule cannot define a class"),
    (r"Cannot infer the type of variable '(\w+)[^\n]*type: (\w+)",
     r"the type of the elements of \1 (\2) cannot be inferred; use fields of the state instead"),
)  # fmt: skip
