"""The settings of a run as a form, generated from the dataclasses of the settings.

The help is the docstring under each field, the choices come from its type, the values from the game's preset.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import UnionType
from typing import Literal, NamedTuple, get_args, get_origin, get_type_hints

from ludus import algorithms, runtimes
from ludus.studio import shelf
from ludus.studio.refusal import Refusal, unknown
from ludus.training import config
from ludus.types import JsonObject, LudusError

HIDDEN = ("game", "settings", "runtime_settings", "method")
PLAIN = (
    "steps", "seed", "learning_rate", "exploration", "exploration_noise", "gamma", "policy", "agent", "ent_coef",
    "opponents", "evaluations",
)  # fmt: skip
"""settings that are shown at first; all others are advanced"""
CHECKPOINT_SECONDS = 5.0
"""seconds between checkpoints of runs started here, because the studio shows the newest checkpoint at play"""
LONGEST_TEXT = 2000
TITLES = {"ppo": "PPO", "mlp": "Network (mlp)", "model": "Network (rnn)"}


class Entry(NamedTuple):
    """One setting: its name, type, value and choices."""

    name: str
    """with dots for settings of a nested dataclass"""
    kind: str
    hint: object
    value: object
    help: str
    choices: tuple[object, ...]
    group: str


def form(game: str, algorithm: str | None) -> JsonObject:
    """All settings of a run of this game and algorithm, in groups."""
    run, offered = preset(game, algorithm)
    groups: dict[str, list[JsonObject]] = {}
    for entry in entries(run):
        groups.setdefault(entry.group, []).append(_field(entry))
    listed = [{"title": title, "fields": fields} for title, fields in groups.items()]
    return {"game": run.game, "algorithm": run.algorithm, "algorithms": offered, "groups": listed}


def preset(game: str, algorithm: str | None) -> tuple[config.Run[object], list[str]]:
    """The run with its default settings, and the algorithms that can learn the game."""
    found = shelf.load_game(game)
    offered = shelf.algorithms_for(found)
    chosen = algorithm or offered[0]
    if chosen not in offered:
        known = f"; algorithms for {found.name}: {', '.join(offered)}"
        raise (
            unknown("algorithm", chosen, known)
            if chosen not in algorithms.names()
            else Refusal(f"{chosen} cannot learn {found.name}; choose one of {', '.join(offered)}", 422, "algorithm")
        )
    run = config.resolve(found.full_name, chosen)
    usual = config.Run.checkpoint_seconds
    if run.checkpoint_seconds == usual:
        run = dataclasses.replace(run, checkpoint_seconds=CHECKPOINT_SECONDS)
    return run, offered


def entries(run: config.Run[object]) -> list[Entry]:
    """The settings of a run, of its algorithm, and of the algorithm's nested dataclasses."""
    title = TITLES.get(run.algorithm, run.algorithm.replace("_", " ").capitalize())
    return [*_entries(run, "", "Run"), *_entries(run.settings, "", title)]


def _entries(owner: object, prefix: str, group: str) -> Iterator[Entry]:
    assert dataclasses.is_dataclass(owner) and not isinstance(owner, type)
    kind = type(owner)
    hints, helps = get_type_hints(kind), help_of(kind)
    for field in dataclasses.fields(owner):
        value = getattr(owner, field.name)
        if not prefix and field.name in HIDDEN:
            continue
        if dataclasses.is_dataclass(value):
            yield from _entries(value, f"{prefix}{field.name}.", _title(field.name))
            continue
        hint = hints[field.name]
        choices = _choices(kind, field.name, hint)
        yield Entry(
            prefix + field.name, _kind_of(hint, value, choices), hint, value, helps.get(field.name, ""), choices, group
        )


def _title(name: str) -> str:
    return TITLES.get(name, name.replace("_", " ").capitalize())


def _choices(owner: type, name: str, hint: object) -> tuple[object, ...]:
    """The allowed values of a setting, if its type or the package lists them; otherwise empty."""
    from ludus.algorithms import tabular

    if owner is tabular.Tabular and name == "policy":
        return tuple(tabular.names("policy"))
    if owner is config.Run and name == "runtime":
        return tuple(runtimes.names())
    inner = get_args(hint)[0] if get_origin(hint) is tuple else hint
    return get_args(inner) if get_origin(inner) is Literal else ()


def _kind_of(hint: object, value: object, choices: tuple[object, ...]) -> str:
    if get_origin(hint) is tuple or (get_origin(hint) is UnionType and isinstance(value, tuple)):
        return "list"
    if choices:
        return "choice"
    return {bool: "switch", int: "integer", float: "number"}.get(type(value), "text")


def _field(entry: Entry) -> JsonObject:
    value = list(entry.value) if isinstance(entry.value, tuple) else entry.value
    plain = value if not isinstance(value, float) or math.isfinite(value) else str(value)
    facts = {"name": entry.name, "kind": entry.kind, "value": plain, "help": entry.help}
    facts |= {"choices": list(entry.choices)} if entry.choices else {}
    return facts | {"advanced": entry.name not in PLAIN}


@functools.cache
def help_of(kind: type) -> dict[str, str]:
    """The docstring under each field of a dataclass, read from its source."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            found[field.target.id] = " ".join(str(text.value.value).split())
    return found


def errors(game: str, algorithm: str | None, values: JsonObject) -> dict[str, str]:
    """Errors in typed values, by field; empty if all are valid."""
    return _checked(game, algorithm, values)[1]


def run_of(game: str, algorithm: str | None, values: JsonObject) -> config.Run[object]:
    """The run with these values; raises Refusal for the first invalid field."""
    run, wrong = _checked(game, algorithm, values)
    for field, sentence in wrong.items():
        raise Refusal(sentence, 422, field or None)
    assert run is not None
    return run


def _checked(game: str, algorithm: str | None, values: JsonObject) -> tuple[config.Run[object] | None, dict[str, str]]:
    start, _ = preset(game, algorithm)
    known = {entry.name: entry for entry in entries(start)}
    wrong = {name[:100]: "unknown setting" for name in values if name not in known}
    parsed: JsonObject = {}
    for name in [name for name in values if name in known]:
        try:
            parsed[name] = parse(known[name], values[name])
        except LudusError as error:
            wrong[name] = str(error)
    changed = {name: value for name, value in parsed.items() if value != known[name].value}
    wrong |= _errors_alone(start, changed)
    if wrong:
        return None, wrong
    try:
        return _build_run(start, changed), {}
    except LudusError as error:
        return None, {named_in(str(error), changed): str(error)}


def _errors_alone(start: config.Run[object], changed: JsonObject) -> dict[str, str]:
    """Errors of the fields that are invalid on their own, so that all are reported and not only the first."""
    wrong = {}
    for name, value in changed.items():
        try:
            _build_run(start, {name: value})
        except LudusError as error:
            # A value may be valid only together with another one, so check all changes together too.
            if _fails_with_all(start, changed):
                wrong[name] = str(error)
    return wrong


def _fails_with_all(start: config.Run[object], changed: JsonObject) -> bool:
    try:
        _build_run(start, changed)
    except LudusError:
        return True
    return False


def _build_run(start: config.Run[object], changed: JsonObject) -> config.Run[object]:
    """The run with these settings; the dataclasses raise LudusError for invalid combinations."""
    values = config.to_dict(start)
    for name, value in changed.items():
        place, _, inner = name.rpartition(".")
        target = functools.reduce(lambda part, key: part[key], place.split("."), values) if place else values
        target[inner] = value
    return config.from_dict(values, "this run")


def named_in(sentence: str, names: Iterable[str]) -> str:
    """The field that an error message is about: the changed field that it names first."""
    found = {name: re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", sentence) for name in names}
    places = {name: match.start() for name, match in found.items() if match}
    return min(places, key=lambda name: places[name], default=next(iter(names), ""))


def parse(entry: Entry, typed: object) -> object:
    """Convert a typed value to the type of the field; raises LudusError if it is invalid."""
    if isinstance(typed, str) and len(typed) > LONGEST_TEXT:
        raise LudusError(f"at most {LONGEST_TEXT} characters are allowed")
    if entry.kind == "choice" and typed not in entry.choices:
        raise LudusError(f"choose one of {', '.join(map(str, entry.choices))}")
    return PARSERS[entry.kind](entry, typed)


def _integer(entry: Entry, typed: object) -> int:
    number = _number(entry, typed)
    if number != int(number) or abs(number) > 2**53:
        raise LudusError(f"expected a whole number, not {_shown(typed)}")
    return int(number)


def _number(entry: Entry, typed: object) -> float:
    """Parse a number; `1e6`, `1 000 000`, `1_000_000` and 1000000 are the same."""
    text = re.sub(r"(?<=\d)[ _'  ](?=\d)", "", typed.strip()) if isinstance(typed, str) else typed
    try:
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise ValueError
        number = float(text)
    except (TypeError, ValueError, OverflowError):
        raise LudusError(f"expected a number, not {_shown(typed)}") from None
    if not math.isfinite(number):
        raise LudusError(f"expected a finite number, not {_shown(typed)}")
    return number


def _switch(entry: Entry, typed: object) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if isinstance(typed, bool):
        return typed
    if str(typed).strip().lower() not in words:
        raise LudusError(f"expected yes or no, not {_shown(typed)}")
    return words[str(typed).strip().lower()]


def _text(entry: Entry, typed: object) -> str:
    if not isinstance(typed, str | int | float) or isinstance(typed, bool):
        raise LudusError(f"expected text, not {_shown(typed)}")
    text = str(typed).strip()
    if not text.isprintable():
        raise LudusError("the text contains characters that cannot be printed; remove them")
    if "/" in text:
        raise LudusError("paths are not allowed here; name an agent by its kind")
    return text


def _list(entry: Entry, typed: object) -> object:
    """Parse a list; `a, b` and ["a", "b"] are the same. Items are converted to the item type of the field."""
    parts = [part for part in re.split(r"[,\s]+", typed) if part] if isinstance(typed, str) else typed
    if not isinstance(parts, list) or len(parts) > 100:
        raise LudusError(f"expected a list, not {_shown(typed)}")
    hint = next((one for one in get_args(entry.hint) if get_origin(one) is tuple), entry.hint)
    inner = get_args(hint)[0] if get_args(hint) else str
    if inner is int:
        return tuple(_integer(entry, part) for part in parts)
    words = tuple(_text(entry, part) for part in parts)
    wrong = [word for word in words if entry.choices and word not in entry.choices]
    if wrong:
        raise LudusError(f"choose among {', '.join(map(str, entry.choices))}, not {_shown(wrong[0])}")
    return words


def _shown(typed: object) -> str:
    return json.dumps(typed, ensure_ascii=False, default=str)[:60]


PARSERS: dict[str, Callable[[Entry, object], object]] = {
    "integer": _integer, "number": _number, "switch": _switch, "text": _text, "list": _list,
    "choice": lambda entry, typed: typed,
}  # fmt: skip
