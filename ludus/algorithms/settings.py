"""Settings as plain data: a dataclass from the values of a TOML or JSON file, with every value checked."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ludus.types import LudusError


def checked(kind: Any, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values as the fields of a dataclass need them: TOML has lists for tuples, and writes 1 for 1.0."""
    checked, hints = {}, get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name not in values:
            continue
        value = values[field.name]
        if dataclasses.is_dataclass(hints[field.name]):
            checked[field.name] = nested(hints[field.name], value, f"{where}: {field.name}")
            continue
        default = field.default if field.default is not dataclasses.MISSING else value
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        elif isinstance(default, str) and isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        elif isinstance(default, tuple) and isinstance(value, list):
            value = tuple(value)
        if type(value) is not type(default) and get_origin(hints[field.name]) is not UnionType:
            raise LudusError(f"{where}: {field.name} is {value!r}; expected a value such as {default!r}")
        words = choices(hints[field.name])
        wrong = [item for item in (value if isinstance(value, tuple) else (value,)) if words and item not in words]
        if wrong:
            raise LudusError(f"{where}: {field.name} is {wrong[0]!r}; it must be one of {', '.join(words)}")
        checked[field.name] = value
    return checked


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
