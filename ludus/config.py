"""The settings of a run: defaults < preset of the game < flags. Nothing else knows about TOML.

A preset is `presets/<game>.toml`: settings for the game at the top, then sections for an algorithm that wants others:
[tabular] for all that learn tables, [sarsa] for one.
`run.toml` in a run's folder holds every setting that the run was made with.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import pathlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

import tyro

from ludus import algorithms
from ludus.types import LudusError

PRESETS = pathlib.Path(__file__).with_name("presets")
LARGEST_FILE = 2**16
Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Run(Generic[Settings]):
    """A training run."""

    game: Annotated[str, tyro.conf.Positional]
    """what is played: tictactoe, gymnasium:Taxi-v4, discretize:cartpole(bins=8)"""
    settings: Annotated[Settings, tyro.conf.arg(name="")]
    """of the algorithm"""
    steps: int = 10_000_000
    """decisions to learn from, in all"""
    rows: int = 64
    """games at once, in each worker"""
    seed: int = 0
    """the same seed and settings end in the same result"""
    runtime: Literal["single", "local", "threads", "processes", "mpi"] = "single"
    """where it is played: here (single; for deep agents local), in threads, in processes, on the ranks of mpiexec"""
    workers: int = 0
    """how many play side by side; 0: one a core (threads, processes), one a rank (mpi)"""
    mode: Literal["reduce", "server"] = "reduce"
    """of mpi: tables are merged, or rank 0 learns what the others play"""
    chunk: int = 0
    """decisions of a worker between two merges; 0: a million, or some thousands where Python steps the games"""
    evaluations: int = 20
    """how often the score is taken, over the whole run"""
    games: int = 400
    """games a score is taken from"""
    rival: str = "random"
    """who a score is taken against, in games for two: random, greedy, a run; the best checkpoint is chosen by it"""
    checkpoint_seconds: float = 30.0
    """seconds between checkpoints"""
    keep: int = 3
    """newest checkpoints that stay, beside the best"""
    log: tuple[Literal["tensorboard", "wandb"], ...] = ()
    """where metrics go besides metrics.jsonl"""

    def __post_init__(self) -> None:
        for name in ("steps", "rows", "games", "keep"):
            if getattr(self, name) < 1:
                raise LudusError(f"{name} is 1 or more, not {getattr(self, name)}")
        for name in ("workers", "chunk", "evaluations", "checkpoint_seconds"):
            if not 0 <= getattr(self, name) < math.inf:
                raise LudusError(f"{name} is a number from 0, not {getattr(self, name)}")

    @property
    def algorithm(self) -> str:
        name: str = getattr(self.settings, "method")  # noqa: B009  (of whatever algorithm this is)
        return name


def resolve(game: str, algorithm: str | None = None, variant: str = "") -> Run[Any]:
    """The settings for a game before any flag: its preset, or one of another name, or defaults where it has none."""
    path = preset_path(game, variant)
    if variant and not path.is_file():
        there = ", ".join(found.stem.partition(".")[2] for found in PRESETS.glob(f"{preset_path(game).stem}.*.toml"))
        raise LudusError(f'{game} has no preset "{variant}"; it has {there or "only the one that needs no name"}')
    preset = _read_toml(path) if path.is_file() else {}
    sections = {key: preset.pop(key) for key in list(preset) if isinstance(preset[key], dict)}
    known = {"tabular", "planning", *algorithms.names()}
    for name in set(sections) - known:
        raise LudusError(f"the preset {path.name} has a section [{name}] for no algorithm{_hint(name, known)}")
    chosen = algorithm or str(preset.get("algorithm", "q_learning"))
    kind = algorithms.settings_kind(chosen).__name__.lower()
    usual = getattr(algorithms.settings_kind(chosen), "RUN", {})
    merged = usual | preset | sections.get(kind, {}) | sections.get(chosen, {}) | {"game": game, "algorithm": chosen}
    return from_dict(merged, f"the preset {path.name}")


def preset_path(game: str, variant: str = "") -> pathlib.Path:
    """`presets/gymnasium_Taxi-v4.toml` of `gymnasium:Taxi-v4(is_rainy=true)`; `presets/duel.gpu.toml` of a variant."""
    name, other = (re.sub(r"[^A-Za-z0-9.-]+", "_", word) for word in (game.partition("(")[0], variant))
    return PRESETS / f"{name}{'.' * bool(other)}{other}.toml"


def from_dict(values: Mapping[str, Any], where: str) -> Run[Any]:
    """A run from flat settings; unknown names are errors."""
    for name in ("game", "algorithm"):
        if not isinstance(values.get(name), str):
            raise LudusError(f'{where} does not say in words which {name} it is for: {name} = "…"')
    kind = algorithms.settings_kind(values["algorithm"])
    ours = {field.name for field in dataclasses.fields(Run)} - {"settings"}
    theirs = {field.name for field in dataclasses.fields(kind)} - {"method"}
    for name in values:
        if name not in ours | theirs | {"algorithm"}:
            raise LudusError(f'{where} has an unknown setting "{name}"{_hint(name, ours | theirs)}')
    settings = {"method": values["algorithm"]} | {name: values[name] for name in theirs & set(values)}
    common = {name: values[name] for name in ours & set(values)}
    return Run(settings=kind(**_checked(kind, settings, where)), **_checked(Run, common, where))


def to_dict(run: Run[Any]) -> dict[str, Any]:
    """Every setting, flat; `from_dict` of it gives the same run."""
    common = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name != "settings"}
    settings = dataclasses.asdict(run.settings)
    return {"game": common.pop("game"), "algorithm": settings.pop("method"), **common, **settings}


def to_toml(run: Run[Any]) -> str:
    """The same as a file."""
    return "".join(f"{name} = {_toml(value)}\n" for name, value in to_dict(run).items())


def read(path: pathlib.Path) -> Run[Any]:
    """The run that a run.toml tells of."""
    if not path.is_file():
        raise LudusError(f'"{path.parent}" is not the folder of a run: it has no {path.name}')
    return from_dict(_read_toml(path), f'"{path}"')


def _checked(kind: Any, values: dict[str, Any], where: str) -> dict[str, Any]:
    """The values as the fields want them: TOML has lists for tuples, and writes 1 where 1.0 is meant."""
    checked, hints = {}, get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name not in values:
            continue
        value = values[field.name]
        if dataclasses.is_dataclass(hints[field.name]):
            checked[field.name] = _nested(hints[field.name], value, f"{where}: {field.name}")
            continue
        default = field.default if field.default is not dataclasses.MISSING else value
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        elif isinstance(default, str) and isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        elif isinstance(default, tuple) and isinstance(value, list):
            value = tuple(value)
        if type(value) is not type(default) and get_origin(hints[field.name]) is not UnionType:
            raise LudusError(f"{where}: {field.name} is {value!r}; it must be like {default!r}")
        words = _words(hints[field.name])
        wrong = [item for item in (value if isinstance(value, tuple) else (value,)) if words and item not in words]
        if wrong:
            raise LudusError(f"{where}: {field.name} is {wrong[0]!r}; it must be one of {', '.join(words)}")
        checked[field.name] = value
    return checked


def _nested(kind: Any, values: Any, where: str) -> Any:
    """Settings inside of settings, like those of a network."""
    if isinstance(values, kind):
        return values
    known = {field.name for field in dataclasses.fields(kind)}
    if not isinstance(values, Mapping):
        raise LudusError(f"{where} is {values!r}; it must be a table of settings")
    for name in values:
        if name not in known:
            raise LudusError(f'{where} has an unknown setting "{name}"{_hint(name, known)}')
    return kind(**_checked(kind, dict(values), where))


def _hint(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f'; did you mean "{close[0]}"?' if close else ""


def _words(hint: Any) -> tuple[Any, ...]:
    """What a field may be, where its type lists it: Literal["a", "b"], or a tuple of such; none where it does not."""
    if get_origin(hint) is tuple:
        hint = get_args(hint)[0]
    return get_args(hint) if get_origin(hint) is Literal else ()


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {_toml(part)}' for name, part in value.items())}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    # A TOML string reads like a JSON string; numbers are written alike in both.
    return json.dumps(value, ensure_ascii=False)


def _read_toml(path: pathlib.Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        if len(data) > LARGEST_FILE:
            raise LudusError(f'"{path}" is too large for settings')
        return tomllib.loads(data.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LudusError(f'cannot read the settings in "{path}": {error}') from None
