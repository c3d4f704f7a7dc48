"""The catalogue: a game is a module, its name is its file name, and `car(track=7)` names it with its parameters.

Games are found in this folder, in the folder that LUDUS_GAMES names (`ludus_games` beside you if unset), and among the
installed packages that offer the entry-point group `ludus.games`.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import pathlib
import pkgutil
import re
import sys
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ludus.types import Array, Continuous, LudusError, Spec
from ludus.words import HEAD, Parameter, bounds
from ludus.words.rows import new_rows

NEEDED = ("SPEC", "STATE", "OBSERVATION", "init", "step", "observe", "action_name")
USUAL_PACE = 1.5
NAME = re.compile(r"\s*([A-Za-z_][\w.]*(?:@\w+)?)\s*(?:\((.*)\))?\s*", re.DOTALL)
"""`duel`, or `duel@ygopro` for the same game in somebody else's engine, and parameters in brackets"""


class Game(NamedTuple):
    """A game's module and the values of its parameters."""

    name: str
    rules: ModuleType
    settings: dict[str, str]
    """every parameter as text, defaults included"""

    @property
    def spec(self) -> Spec:
        spec: Spec = self.rules.SPEC
        return spec

    @property
    def title(self) -> str:
        """`CartPole` of "CartPole: push a cart …"."""
        return (self.rules.__doc__ or self.name).strip().partition(":")[0]

    @property
    def summary(self) -> str:
        """The rest of the first line of the module's text."""
        return (self.rules.__doc__ or "").strip().partition("\n")[0].partition(":")[2].strip()

    @property
    def pace(self) -> float:
        """Steps a second at which one likes to watch: the module's PACE, else time to see each move."""
        return float(getattr(self.rules, "PACE", USUAL_PACE))

    @property
    def full_name(self) -> str:
        """The name with the parameters that differ from their defaults; `load` of it gives this game again."""
        parameters = parameters_of(self.rules)
        changed = [f"{key}={value}" for key, value in self.settings.items() if value != parameters[key].default]
        return f"{self.name}({', '.join(changed)})" if changed else self.name

    @property
    def fingerprint(self) -> str:
        """Changes whenever what agents and checkpoints rely on changes: SPEC, STATE, OBSERVATION."""
        seen = self.rules.OBSERVATION
        ranges = [[end.tolist() for end in bounds(seen, name)] for name in seen.names]
        facts = (self.spec, self.rules.STATE.descr, seen.descr, ranges)
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]

    def blank(self) -> Array:
        """One state of zeros with the parameters written in: what `init` is given, apart from the key."""
        state = new_rows(1, self.rules.STATE)
        for key, parameter in parameters_of(self.rules).items():
            state[key] = parse_setting(self.name, key, parameter, self.settings[key])
        return state


def parameters_of(rules: ModuleType) -> dict[str, Parameter]:
    """The parameters a game declares."""
    parameters: dict[str, Parameter] = getattr(rules, "PARAMETERS", {})
    return parameters


def parse_setting(game: str, key: str, parameter: Parameter, text: str) -> Any:
    """The value of one parameter, or a sentence that names game and parameter."""
    try:
        return parameter.parse(text)
    except LudusError as error:
        raise LudusError(f"{game}: {key}={text} will not do: {error}; it is {parameter.meaning}") from None


def split_name(full_name: str) -> tuple[str, dict[str, str]]:
    """`car(track=7, width=30)` -> ("car", {"track": "7", "width": "30"})."""
    match = NAME.fullmatch(full_name)
    if not match:
        raise LudusError(f'"{full_name}" is not the name of a game; write it like car or car(track=7, obstacles=0)')
    settings: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in (match[2] or "").split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value or key in settings:
            raise LudusError(f'"{part}" in "{full_name}" is not a new parameter=value pair; write it like track=7')
        settings[key] = value
    return match[1], settings


def load(full_name: str, **overrides: object) -> Game:
    """Find a game by its name, with parameters in brackets or as keywords."""
    name, settings = split_name(full_name)
    rules = find(name)
    parameters = parameters_of(rules)
    settings |= {key: str(value) for key, value in overrides.items()}
    for key in settings:
        if key not in parameters:
            known = ", ".join(f"{k} ({p.meaning})" for k, p in parameters.items()) or "none"
            raise LudusError(f'{name} has no parameter "{key}"; it has: {known}')
    return Game(name, rules, {key: _plainly(name, key, p, settings.get(key)) for key, p in parameters.items()})


def _plainly(game: str, key: str, parameter: Parameter, text: str | None) -> str:
    """A setting that parses, written as the default where it means the same (`40.0` for `40`)."""
    if text is None:
        return parameter.default
    value, default = (parse_setting(game, key, parameter, either) for either in (text, parameter.default))
    return parameter.default if np.array_equal(value, default) else text


def names() -> list[str]:
    """Every game that `load` finds, by name."""
    here = [module.name for module in pkgutil.iter_modules(__path__)]
    return sorted({*here, *_folder_games(), *_plugins()})


def games_folder() -> pathlib.Path:
    """Where a user's own games lie."""
    return pathlib.Path(os.environ.get("LUDUS_GAMES", "ludus_games"))


def find(name: str) -> ModuleType:
    """The module of a game, checked to be one."""
    if importlib.util.find_spec(f"ludus.games.{name}") if name.isidentifier() else None:
        rules = importlib.import_module(f"ludus.games.{name}")
    elif name in _folder_games():
        rules = _import_file(name, _folder_games()[name])
    elif name in _plugins():
        rules = _plugins()[name].load()
    else:
        close = difflib.get_close_matches(name, names(), 1)
        hint = f' did you mean "{close[0]}"?' if close else ""
        raise LudusError(f'unknown game "{name}";{hint} (ludus games lists all)')
    check(name, rules)
    return rules


def check(name: str, rules: ModuleType) -> None:
    """Refuse a module that lacks a part of a game."""
    missing = [part for part in NEEDED if not hasattr(rules, part)]
    if not missing and not isinstance(rules.SPEC.actions, Continuous) and not hasattr(rules, "legal"):
        missing = ["legal"]
    if missing:
        raise LudusError(f"{name} is not a game yet: {rules.__file__} lacks {', '.join(missing)}")
    for field in (*HEAD, *parameters_of(rules)):
        if field not in rules.STATE.names:
            raise LudusError(f"{name}: STATE lacks the field {field}; begin it with record(**HEAD, …)")


def _folder_games() -> dict[str, pathlib.Path]:
    folder = games_folder()
    return {path.stem: path for path in sorted(folder.glob("[!_]*.py"))} if folder.is_dir() else {}


def _plugins() -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group="ludus.games")}


def _import_file(name: str, path: pathlib.Path) -> ModuleType:
    module_name = f"ludus_games_{name}"
    loaded = sys.modules.get(module_name)
    if loaded is not None and loaded.__file__ == str(path.resolve()):
        return loaded
    spec = importlib.util.spec_from_file_location(module_name, path.resolve())
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception:
        del sys.modules[module_name]
        raise
    return module
