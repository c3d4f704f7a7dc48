"""The settings of a run: defaults < preset of the game < flags. Only this module reads and writes TOML.

A preset is `presets/<game>.toml`: settings for all algorithms at the top, then sections that override them: [tabular]
for all tabular methods, [sarsa] for one. `run.toml` in the folder of a run contains all its settings.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import pathlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, cast

import tomli_w
import tyro
from typing_extensions import TypeVar

from ludus import algorithms, games, runtimes
from ludus.algorithms.settings import check_ranges, checked, closest, renamed
from ludus.pool import available_cores
from ludus.runtimes import NoSettings
from ludus.types import LudusError, Spec

PRESETS = pathlib.Path(__file__).with_name("presets")
NO_PRESET = "none"
LARGEST_FILE = 2**16
FEWEST_UPDATES, LEAST_ENVS = 8, 16
"""updates of a short run, as far as this number of games at once allows"""
NESTED = {"settings", "runtime_settings"}
"""fields of a run whose own fields are settings of the run"""
Settings = TypeVar("Settings")
Place = TypeVar("Place", default=NoSettings)
"""the settings of the runtime; most have none"""


@dataclass(frozen=True)
class Run(Generic[Settings, Place]):
    """A training run."""

    RENAMED: ClassVar[dict[str, str]] = {
        "rows": "num_envs", "games": "eval_games", "rival": "eval_opponent", "keep": "keep_checkpoints"
    }  # fmt: skip
    """former names, for the error message about an old run.toml"""

    game: Annotated[str, tyro.conf.Positional]
    """the game: tictactoe, gymnasium:Taxi-v4, discretize:cartpole(bins=8)"""
    settings: Annotated[Settings, tyro.conf.arg(name="")]
    """settings of the algorithm"""
    steps: int = 10_000_000
    """decisions to learn from, in total; 1 or more"""
    episodes: int = 0
    """games after which training ends, if that is before all steps are made; 0 for no limit"""
    num_envs: int = 64
    """games that each worker plays at once; 1 or more"""
    seed: int = 0
    """random seed; the same seed and settings give the same result"""
    runtime: str = "local"
    """where workers run: local (in this thread), threads, processes, mpi (ranks of mpiexec), mpi_server, ray"""
    workers: int = 0
    """number of workers; 0 for one per core or rank with tables, and one with networks"""
    chunk: int = 0
    """decisions of a worker between two merges of tables; 0 for a million, or thousands if Python steps the games"""
    evaluations: int = 20
    """evaluations in the whole run; 0 or more"""
    eval_games: int = 400
    """games per evaluation; 1 or more"""
    eval_opponent: str = "random"
    """opponent in evaluations of games with several seats: random, greedy or a run; it selects the best checkpoint"""
    checkpoint_seconds: float = 30.0
    """seconds between checkpoints; 0 or more"""
    keep_checkpoints: int = 3
    """newest checkpoints that are kept, besides the best; 1 or more"""
    log: tuple[Literal["tensorboard", "wandb"], ...] = ()
    """loggers besides metrics.jsonl"""
    runtime_settings: Annotated[Place, tyro.conf.arg(name="")] = cast("Place", NoSettings())  # noqa: RUF009
    """settings of the runtime"""

    def __post_init__(self) -> None:
        kind = runtimes.settings_kind(self.runtime)
        if not isinstance(self.runtime_settings, kind):
            if self.runtime_settings != type(self.runtime_settings)():
                raise LudusError(f"{self.runtime_settings} are not settings of the runtime {self.runtime}")
            object.__setattr__(self, "runtime_settings", kind())
        check_ranges(
            self,
            positive_integers=("steps", "num_envs", "eval_games", "keep_checkpoints"),
            non_negative=("episodes", "workers", "chunk", "evaluations", "checkpoint_seconds"),
        )

    @property
    def algorithm(self) -> str:
        name: str = getattr(self.settings, "method")  # noqa: B009  (of whatever algorithm this is)
        return name

    def replace(self, **changes: object) -> Run[Any]:
        """The same run with other settings, those of the algorithm included: run.replace(learning_rate=0.001)."""
        values = to_dict(self)
        if changes.get("runtime", self.runtime) != self.runtime:  # the other one has other settings
            values = {name: value for name, value in values.items() if name not in field_names(self.runtime_settings)}
        for name, value in changes.items():
            nested = isinstance(value, Mapping) and isinstance(values.get(name), Mapping)
            values[name] = {**values[name], **value} if nested else value  # type: ignore[dict-item]
        return from_dict(values, "this run")


def resolve(game: str, algorithm: str | None = None, variant: str = "", steps: int | None = None) -> Run[Any]:
    """The settings for a game before any flag: its preset, another preset by name (`variant`), or the defaults.

    The variant "none" ignores presets. Default schedules end after `steps`, and a run of fewer steps than that of the
    preset plays fewer games at once, so that it still has several updates.
    """
    check_game(game)
    path = preset_path(game, variant)
    if variant not in ("", NO_PRESET) and not path.is_file():
        there = ", ".join(found.stem.partition(".")[2] for found in PRESETS.glob(f"{preset_path(game).stem}.*.toml"))
        raise LudusError(f'{game} has no preset "{variant}"; it has {there or "only its default preset"}')
    preset = _read_toml(path) if path.is_file() else {}
    sections = {key: preset.pop(key) for key in list(preset) if isinstance(preset[key], dict)}
    known = {*algorithms.families(), *algorithms.names()}
    for name in set(sections) - known:
        raise LudusError(
            f"the preset {path.name} has a section [{name}], which is not an algorithm{closest(name, known)}"
        )
    chosen = algorithm or str(preset.get("algorithm", "q_learning"))
    family = algorithms.family(chosen)
    usual = _defaults(chosen, None if path.is_file() else game, steps)
    merged = usual | preset | sections.get(family, {}) | sections.get(chosen, {}) | {"game": game, "algorithm": chosen}
    run = from_dict(merged, f"the preset {path.name}")
    return run if steps is None else dataclasses.replace(run, num_envs=_fewer_envs(run, steps))


def _fewer_envs(run: Run[Any], steps: int) -> int:
    """The number of games at once with which a run of so many steps has FEWEST_UPDATES, if it collects rollouts.

    It stays a multiple of the parts into which an update divides the games, on one device per core.
    """
    envs, length = run.num_envs, getattr(run.settings, "rollout_length", 0)
    parts = getattr(run.settings, "num_minibatches", 1) * getattr(run.settings, "gradient_accumulation", 1)
    least = math.lcm(LEAST_ENVS, parts * available_cores())
    while envs * length * FEWEST_UPDATES > steps and envs > least and envs // 2 % least == 0:
        envs //= 2
    return envs


def _defaults(algorithm: str, game: str | None, steps: int | None) -> dict[str, Any]:
    """The default settings of an algorithm, which may depend on a game without a preset."""
    adapted: dict[str, Any] = algorithms.settings_kind(algorithm).defaults(
        lambda: _spec_of(game) if game else None, steps
    )
    return adapted


def _spec_of(game: str) -> Spec | None:
    """The spec of one of our games; None for environments of other authors, which must be opened first."""
    return None if set(":@") & set(game.partition("(")[0]) else games.load(game).spec


def check_game(game: str) -> None:
    """Raise LudusError for an unknown game; environments of other authors are checked when they are opened."""
    if not set(":@") & set(game.partition("(")[0]):
        games.load(game)


def preset_path(game: str, variant: str = "") -> pathlib.Path:
    """`presets/gymnasium_Taxi-v4.toml` of `gymnasium:Taxi-v4(is_rainy=true)`; `presets/duel.gpu.toml` of a variant."""
    name, other = (re.sub(r"[^A-Za-z0-9.-]+", "_", word) for word in (game.partition("(")[0], variant))
    return PRESETS / f"{name}{'.' * bool(other)}{other}.toml"


def from_dict(values: Mapping[str, Any], where: str) -> Run[Any]:
    """A run from flat settings; unknown names are errors."""
    for name in ("game", "algorithm"):
        if not isinstance(values.get(name), str):
            raise LudusError(f'{where} has no setting {name}; add {name} = "…"')
    kind = algorithms.settings_kind(values["algorithm"])
    runtime = values.get("runtime", Run.runtime)
    place = runtimes.settings_kind(runtime if isinstance(runtime, str) else Run.runtime)
    ours, theirs = field_names(Run) - NESTED, field_names(kind) - {"method"}
    own = runtime_fields(place, ours | theirs)
    for name in values:
        if name not in ours | theirs | own | {"algorithm"}:
            hint = renamed(name, kind) or renamed(name, Run) or other_runtime(name, str(runtime))
            raise LudusError(f'{where} has an unknown setting "{name}"{hint or closest(name, ours | theirs | own)}')
    settings = {"method": values["algorithm"]} | {name: values[name] for name in theirs & set(values)}
    placed = {name: values[name] for name in own & set(values)}
    common = {name: values[name] for name in ours & set(values)}
    return Run(
        settings=kind(**checked(kind, settings, where)), runtime_settings=place(**checked(place, placed, where)),
        **checked(Run, common, where),
    )  # fmt: skip


def field_names(kind: Any) -> set[str]:
    """The names of the fields of a dataclass."""
    return {field.name for field in dataclasses.fields(kind)}


def runtime_fields(place: Any, taken: set[str]) -> set[str]:
    """The settings of a runtime, which must have other names than those of runs and algorithms."""
    own = field_names(place)
    for name in sorted(own & taken):
        raise LudusError(f'the runtime setting "{name}" of {place.__name__} is a setting of runs already; rename it')
    return own


def other_runtime(name: str, runtime: str) -> str:
    """The runtime that has a setting which `runtime` does not have, as the end of an error message."""
    for other in runtimes.names():
        with contextlib.suppress(LudusError):  # a broken module of another author matters only if it is used
            if name in field_names(runtimes.settings_kind(other)):
                return f'; the runtime "{other}" has it, not "{runtime}"'
    return ""


def to_dict(run: Run[Any, Any]) -> dict[str, Any]:
    """Every setting, flat; `from_dict` of it gives the same run."""
    common = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name not in NESTED}
    settings, place = dataclasses.asdict(run.settings), dataclasses.asdict(run.runtime_settings)
    return {"game": common.pop("game"), "algorithm": settings.pop("method"), **common, **place, **settings}


def to_toml(run: Run[Any]) -> str:
    """The settings as the text of a run.toml."""
    return tomli_w.dumps(to_dict(run))


def read(path: pathlib.Path) -> Run[Any]:
    """The run with the settings in a run.toml."""
    if not path.is_file():
        raise LudusError(
            f'"{path.parent}" is not the folder of a run: it has no {path.name}; ludus runs lists all runs'
        )
    return from_dict(_read_toml(path), f'"{path}"')


def _read_toml(path: pathlib.Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        if len(data) > LARGEST_FILE:
            raise LudusError(f'"{path}" is larger than {LARGEST_FILE} bytes, too large for settings')
        return tomllib.loads(data.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LudusError(f'cannot read the settings in "{path}": {error}') from None
