"""Check that a module is a game. Every mistake raises a LudusError with file, line and what to write instead."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType

import numpy as np

from ludus.dsl import HEAD, Parameter
from ludus.dsl.cache import plain_python
from ludus.files.source_errors import explain, line_of, short_path
from ludus.types import Continuous, Discrete, LudusError, Spec

NEEDED = ("SPEC", "STATE", "OBSERVATION", "init", "step", "observe", "action_name")
RULES = {
    "init": "state",
    "step": "state, action, reward",
    "legal": "state, seat, mask",
    "observe": "state, seat, out",
    "scene": "state, seat, canvas",
    "redeal": "state, seat",
    "token": "state, canvas, color",
}
FUNCTIONS = {"action_name": "action", "text": "state", "text_for": "state, seat", "move_name": "state, action, seat"}
TURNS = ("alternating", "simultaneous")
EXAMPLE = "write it like SPEC = Spec(seats=2, actions=Discrete(9), horizon=9)"


def check(name: str, rules: ModuleType) -> None:
    """Raise LudusError if a module lacks a part of a game or a part has the wrong type."""
    _check_parts(name, rules)
    _check_spec(rules)
    for record in ("STATE", "OBSERVATION"):
        _check_record(rules, record)
    _check_fields(rules)
    for rule, arguments in RULES.items():
        if hasattr(rules, rule):
            _check_rule(rules, rule, arguments)
    for function, arguments in FUNCTIONS.items():
        if hasattr(rules, function):
            _check_arguments(rules, function, arguments)


def _wrong(rules: ModuleType, name: str, reason: str) -> LudusError:
    return explain(line_of(str(rules.__file__), name), reason)


def _check_parts(name: str, rules: ModuleType) -> None:
    missing = [part for part in NEEDED if not hasattr(rules, part)]
    if not hasattr(rules, "legal") and not isinstance(
        getattr(getattr(rules, "SPEC", None), "actions", None), Continuous
    ):
        missing.append("legal")
    if missing:
        there = {part.lower(): part for part in vars(rules)}
        found = [there[part.lower()] for part in missing if part.lower() in there]
        hint = f"; it has {', '.join(found)}, but names must match exactly" if found else ""
        path = short_path(str(rules.__file__))
        raise LudusError(f"{name} is not a game yet: {path} lacks {', '.join(missing)}{hint}")


def _check_spec(rules: ModuleType) -> None:
    spec = rules.SPEC
    if not isinstance(spec, Spec):
        raise _wrong(rules, "SPEC", f"SPEC is a {type(spec).__name__}; {EXAMPLE}")
    reason = _actions_reason(spec.actions) or _spec_reason(spec)
    if reason:
        raise _wrong(rules, "SPEC", reason)


def _actions_reason(actions: object) -> str:
    """The mistake in the actions of a SPEC, or an empty string."""
    if isinstance(actions, Discrete):
        return "" if _whole(actions.n, 1) else f"Discrete({actions.n!r}) has no actions; give a whole number from 1"
    if not isinstance(actions, Continuous):
        wanted = "Discrete(9) for nine choices, or Continuous((-1.0,), (1.0,)) for one number from -1 to 1"
        return f"the actions of SPEC are {actions!r}; write {wanted}"
    low, high = (ends if isinstance(ends, tuple) else None for ends in actions)
    if not low or not high or len(low) != len(high):
        return f"{actions} needs two tuples of the same length, like Continuous((-1.0, 0.0), (1.0, 1.0))"
    ordered = all(_finite(start) and _finite(end) and start < end for start, end in zip(low, high, strict=True))
    return "" if ordered else f"{actions} needs finite numbers, each low below its high"


def _spec_reason(spec: Spec) -> str:
    """The mistake in the other fields of a SPEC, or an empty string."""
    if not _whole(spec.seats, 1) or spec.seats > 127:
        return f"SPEC has {spec.seats!r} seats; give a whole number from 1 to 127"
    if spec.turns not in TURNS:
        return f"the turns of SPEC are {spec.turns!r}; they must be {' or '.join(map(repr, TURNS))}"
    if not _whole(spec.horizon, 0):
        return f"the horizon of SPEC is {spec.horizon!r}; give the maximum number of steps of a game, or 0 for no limit"
    if spec.zero_sum and spec.seats < 2:
        return "zero_sum is for games of two seats or more, and SPEC has one"
    sizes = spec.frame if isinstance(spec.frame, tuple) else ()
    if len(sizes) != 2 or not all(_whole(size, 1) for size in sizes):
        return f"the frame of SPEC is {spec.frame!r}; give width and height in pixels, like (480, 480)"
    return ""


def _whole(value: object, low: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= low


def _finite(value: object) -> bool:
    return isinstance(value, int | float | np.number) and math.isfinite(value)


def _check_record(rules: ModuleType, name: str) -> None:
    value = getattr(rules, name)
    if not isinstance(value, np.dtype):
        given = "the function record" if inspect.isfunction(value) else f"a {type(value).__name__}"
        raise _wrong(rules, name, f"{name} is {given}; write it like {name} = record(board=(i8, 9))")
    if not value.names:
        raise _wrong(rules, name, f"{name} has no fields; write it like {name} = record(board=(i8, 9))")


def _check_fields(rules: ModuleType) -> None:
    """Check that the state has the fields of HEAD and one field for each parameter."""
    parameters = getattr(rules, "PARAMETERS", {})
    if not isinstance(parameters, Mapping) or not all(isinstance(one, Parameter) for one in parameters.values()):
        raise _wrong(rules, "PARAMETERS", 'PARAMETERS is not like {"size": integer(3, 1, 9, "what it means")}')
    for field in HEAD:
        if field not in rules.STATE.names:
            raise _wrong(rules, "STATE", f"STATE lacks the field {field}; begin it with record(**HEAD, …)")
    for field, parameter in parameters.items():
        if field not in rules.STATE.names:
            raise _wrong(rules, "STATE", f"STATE lacks the field {field}, which holds the parameter {field}")
        try:
            parameter.parse(parameter.default)
        except LudusError as error:
            raise _wrong(rules, "PARAMETERS", f"the default of {field} is not allowed: {error}") from None


def _check_rule(rules: ModuleType, name: str, arguments: str) -> None:
    function = getattr(rules, name)
    if isinstance(function, FunctionType) and not plain_python():
        raise _wrong(rules, name, f"{name} is a plain Python function; write @rule above it")
    _check_arguments(rules, name, arguments)


def _check_arguments(rules: ModuleType, name: str, arguments: str) -> None:
    """Check that a function takes the expected number of arguments; their names are free."""
    function = getattr(rules, name)
    if not callable(function):
        raise _wrong(
            rules, name, f"{name} is a {type(function).__name__}; it must be a function: def {name}({arguments})"
        )
    signature = _signature(function)
    try:
        signature.bind(*arguments.split(", "))
    except TypeError:
        given = ", ".join(signature.parameters)
        raise _wrong(rules, name, f"{name} takes ({given}); it must take ({arguments})") from None


def _signature(function: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(getattr(function, "py_func", function))
