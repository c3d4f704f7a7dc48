"""The catalogue of games: a game is a module named after its file; `car(track=7)` is a game with a parameter.

Games are found in this folder, in the folder LUDUS_GAMES (default: `ludus_games` in the current folder), and in
installed packages with entry points in the group `ludus.games`.
"""

from __future__ import annotations

import difflib
import hashlib
import keyword
import pathlib
import re
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludus.dsl import Parameter, bounds
from ludus.dsl.protocol import check
from ludus.dsl.rows import new_rows
from ludus.files import discovery
from ludus.files.source_errors import home_of, python_error
from ludus.types import Array, LudusError, Spec

GROUP = "ludus.games"
"""the entry-point group of games"""
USUAL_PACE = 1.5
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
FULL_NAME = re.compile(rf"\s*({NAME.pattern}(?:@{NAME.pattern})?)\s*(?:\((.*)\))?\s*", re.DOTALL)
"""`duel`, or `duel@ygopro` for the same game in another engine, with parameters in brackets"""


_homes: dict[str, str] = {}
"""for each imported game, its file, or its folder if it is a package"""


class Game(NamedTuple):
    """A game's module and the values of its parameters; `Pool.game` is one.

    >>> import ludus
    >>> game = ludus.Pool("tictactoe").game
    >>> game.name, game.title, game.spec.seats
    ('tictactoe', 'Tic-tac-toe', 2)
    """

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
        """The title from the module docstring: `CartPole` from "CartPole: push a cart …"."""
        return (self.rules.__doc__ or self.name).strip().partition(":")[0]

    @property
    def summary(self) -> str:
        """The first line of the module docstring, after the title."""
        return (self.rules.__doc__ or "").strip().partition("\n")[0].partition(":")[2].strip()

    @property
    def pace(self) -> float:
        """Comfortable playback speed in steps per second: PACE of the module, else USUAL_PACE."""
        return float(getattr(self.rules, "PACE", USUAL_PACE))

    @property
    def full_name(self) -> str:
        """The name with the parameters that differ from their defaults; `load` accepts it."""
        parameters = parameters_of(self.rules)
        changed = [f"{key}={value}" for key, value in self.settings.items() if value != parameters[key].default]
        return f"{self.name}({', '.join(changed)})" if changed else self.name

    @property
    def fingerprint(self) -> str:
        """A hash of SPEC, STATE and OBSERVATION, on which agents and checkpoints depend."""
        seen = self.rules.OBSERVATION
        ranges = [[end.tolist() for end in bounds(seen, name)] for name in seen.names]
        facts = (self.spec, self.rules.STATE.descr, seen.descr, ranges)
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]

    def blank(self) -> Array:
        """One state of zeros with the parameters set: the input of `init`, except for the key."""
        state = new_rows(1, self.rules.STATE)
        for key, parameter in parameters_of(self.rules).items():
            state[key] = parse_setting(self.name, key, parameter, self.settings[key])
        return state


def parameters_of(rules: ModuleType) -> dict[str, Parameter]:
    """The parameters that a game declares."""
    parameters: dict[str, Parameter] = getattr(rules, "PARAMETERS", {})
    return parameters


def parse_setting(game: str, key: str, parameter: Parameter, text: str) -> ArrayLike:
    """The value of one parameter; raises LudusError with the game and the parameter if the text is invalid."""
    try:
        return parameter.parse(text)
    except LudusError as error:
        raise LudusError(f"{game}: {key}={text} is not allowed: {error}; it is {parameter.meaning}") from None


def split_name(full_name: str) -> tuple[str, dict[str, str]]:
    """`car(track=7, width=30)` -> ("car", {"track": "7", "width": "30"})."""
    match = FULL_NAME.fullmatch(full_name)
    if not match:
        raise LudusError(f'"{full_name}" is not the name of a game; write it like car or car(track=7, obstacles=0)')
    settings: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in (match[2] or "").split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value or key in settings:
            raise LudusError(f'"{part}" in "{full_name}" is not a new parameter=value pair; write it like track=7')
        settings[key] = value
    return match[1], settings


def plain_name(full_name: str) -> str:
    """The name without parameters and without the engine that plays it: `duel` of `duel@ygopro(core=…)`."""
    return full_name.partition("(")[0].partition("@")[0].strip()


def load(full_name: str, **overrides: object) -> Game:
    """Load a game by its name, with parameters in brackets or as keywords."""
    if not isinstance(full_name, str):
        raise LudusError(f'{full_name!r} is not the name of a game; expected for example "tictactoe"')
    name, settings = split_name(full_name)
    rules = find(name)
    parameters = parameters_of(rules)
    settings |= {key: str(value) for key, value in overrides.items()}
    for key in settings:
        if key not in parameters:
            known = ", ".join(f"{k} ({p.meaning})" for k, p in parameters.items()) or "none"
            raise LudusError(f'{name} has no parameter "{key}"; it has: {known}')
    return Game(name, rules, {key: _normalized(name, key, p, settings.get(key)) for key, p in parameters.items()})


def _normalized(game: str, key: str, parameter: Parameter, text: str | None) -> str:
    """A valid setting, normalised to the text of the default if it has the same value (`40.0` for `40`)."""
    if text is None:
        return parameter.default
    value, default = (parse_setting(game, key, parameter, either) for either in (text, parameter.default))
    return parameter.default if np.array_equal(value, default) else text


class Listing(NamedTuple):
    """One line of the catalogue: a game, or the reason why it cannot be loaded."""

    name: str
    game: Game | None
    error: str = ""


def catalogue() -> list[Listing]:
    """All games by name, including modules that cannot be loaded as a game."""
    return [_listing(name) for name in discovery.names(GROUP, __name__)]


def _listing(name: str) -> Listing:
    try:
        check_name(name)
        return Listing(name, load(name))
    except LudusError as error:
        return Listing(name, None, str(error))


def names() -> list[str]:
    """The names of all games that `load` finds, including those whose modules contain errors."""
    return list(filter(_is_name, discovery.names(GROUP, __name__)))


def bundled() -> list[str]:
    """The games that come with ludus."""
    return discovery.bundled(__name__)


def check_name(name: str) -> None:
    """Raise LudusError if the text is not a valid name of a game."""
    if not _is_name(name):
        raise LudusError(
            f'"{name}" cannot name a game; begin with a letter and use only the letters a to z and A to Z, digits '
            "and _, like hex or four_in_a_row"
        )


def _is_name(name: str) -> bool:
    return bool(NAME.fullmatch(name)) and not keyword.iskeyword(name)


def games_folder() -> pathlib.Path:
    """The folder of the user's own games."""
    return discovery.local_folder(GROUP)


def find(name: str) -> ModuleType:
    """Import the module of a game and check it."""
    check_name(name.partition("@")[0])
    if name not in bundled() and name not in discovery.names(GROUP, __name__):
        close = difflib.get_close_matches(name, names(), 1)
        hint = f'did you mean "{close[0]}"? ' if close else ""
        raise LudusError(f'unknown game "{name}"; {hint}ludus games lists all')
    rules = discovery.load(GROUP, __name__, name)
    _homes[name] = home_of(str(rules.__file__))
    check(name, rules)
    return rules


def mistake(error: BaseException) -> LudusError | None:
    """The error for an exception raised in the source of a game; None for any other exception."""
    return python_error(error, _homes.values())
