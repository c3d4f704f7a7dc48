"""Settings as plain data: a dataclass from the values of a TOML or JSON file, with every value checked."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from ludus.types import LudusError


def checked(kind: Any, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values as the fields of a dataclass need them: TOML has lists for tuples, and writes 1 for 1.0."""
    hints, found = get_type_hints(kind), {}
    for field in dataclasses.fields(kind):
        if field.name in values:
            value, hint = values[field.name], hints[field.name]
            if dataclasses.is_dataclass(hint):
                found[field.name] = nested(hint, value, f"{where}: {field.name}")
            else:
                found[field.name] = _converted(field, hint, value, where)
    return found


def _converted(field: dataclasses.Field[Any], hint: Any, value: Any, where: str) -> Any:
    """A value in the type of its field; a number is allowed for a text, since a schedule may be a number."""
    if hint is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    try:
        return msgspec.convert(value, hint)
    except msgspec.ValidationError:
        words = choices(hint)
        wrong = [item for item in (value if isinstance(value, list | tuple) else (value,)) if item not in words]
        if words and wrong and isinstance(wrong[0], str):
            raise LudusError(f"{where}: {field.name} is {wrong[0]!r}; it must be one of {', '.join(words)}") from None
        raise LudusError(f"{where}: {field.name} is {value!r}; expected {_example(field, hint)}") from None


def _example(field: dataclasses.Field[Any], hint: Any) -> str:
    has_default = field.default is not dataclasses.MISSING
    return f"a value such as {field.default!r}" if has_default else f"a value of type {getattr(hint, '__name__', hint)}"


def nested(kind: Any, values: Any, where: str) -> Any:
    """Settings inside settings, like those of a network."""
    if isinstance(values, kind):
        return values
    known = {field.name for field in dataclasses.fields(kind)}
    if not isinstance(values, Mapping):
        raise LudusError(f"{where} is {values!r}; it must be a table of settings")
    for name in values:
        if name not in known:
            raise LudusError(f'{where} has an unknown setting "{name}"{renamed(name, kind) or closest(name, known)}')
    return kind(**checked(kind, dict(values), where))


def closest(name: str, known: set[str]) -> str:
    """A suggestion for a name that is not known, as the end of an error message."""
    close = difflib.get_close_matches(name, known, 1)
    return f'; did you mean "{close[0]}"?' if close else ""


def renamed(name: str, kind: Any) -> str:
    """The new name of a former setting, from the table RENAMED of a settings class, as the end of an error message."""
    new = getattr(kind, "RENAMED", {}).get(name)
    return f'; it is now called "{new}": rename it' if new else ""


def check_ranges(
    settings: object,
    positive_integers: Sequence[str] = (),
    unit_interval: Sequence[str] = (),
    non_negative: Sequence[str] = (),
    positive: Sequence[str] = (),
) -> None:
    """Raise LudusError for the first setting outside its range; each argument lists names of settings."""
    for name in positive_integers:
        if getattr(settings, name) < 1:
            raise LudusError(f"{name} must be 1 or more, not {getattr(settings, name)}")
    for name in unit_interval:
        if not 0.0 <= getattr(settings, name) <= 1.0:
            raise LudusError(f"{name} must be between 0 and 1, not {getattr(settings, name):g}")
    for name in non_negative:
        if not 0 <= getattr(settings, name) < math.inf:
            raise LudusError(f"{name} must be 0 or more, not {getattr(settings, name):g}")
    for name in positive:
        if not 0 < getattr(settings, name) < math.inf:
            raise LudusError(f"{name} must be above 0, not {getattr(settings, name):g}")


def choices(hint: Any) -> tuple[Any, ...]:
    """The values that a field may have if its type lists them: Literal["a", "b"], or a tuple of such; else ()."""
    if get_origin(hint) is tuple:
        hint = get_args(hint)[0]
    return get_args(hint) if get_origin(hint) is Literal else ()
