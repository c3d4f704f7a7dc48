"""Any PettingZoo environment as a pool: AEC environments are alternating, parallel ones simultaneous."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import ArrayLike

from ludus.types import Array, LudusError, Spec

try:
    import pettingzoo
except ImportError:
    raise LudusError("names like pettingzoo:classic/rps-v2 need PettingZoo: pip install 'ludus[pettingzoo]'") from None

from ludus.bridges.foreign import (
    ForeignPool,
    Games,
    Sheet,
    check_rows,
    full_name,
    open_each,
    parse_name,
    read_value,
    unknown,
)
from ludus.bridges.foreign_spaces import MASK, ActionForm, action_form, carries_mask, observation_record
from ludus.bridges.foreign_spaces import observation_writer as writer
from ludus.bridges.spaces import Space
from ludus.dsl import PLAYING

FAMILIES = ("atari", "butterfly", "classic", "sisl")
Arguments = dict[str, object]
Infos = Mapping[str, Mapping[str, ArrayLike]]
Made = TypeVar("Made")


class Environment(Protocol):
    """The common part of PettingZoo's two interfaces, which has no types of its own."""

    possible_agents: list[str]
    agents: list[str]

    def observation_space(self, agent: str) -> Space: ...
    def action_space(self, agent: str) -> Space: ...
    def render(self) -> object: ...
    def close(self) -> None: ...


class TurnEnvironment(Environment, Protocol):
    """`pettingzoo.AECEnv`."""

    agent_selection: str
    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    infos: Infos

    def reset(self, seed: int | None = None) -> None: ...
    def step(self, action: Array | int | None) -> None: ...
    def observe(self, agent: str) -> object: ...


class SimultaneousEnvironment(Environment, Protocol):
    """`pettingzoo.ParallelEnv`."""

    def reset(self, seed: int | None = None) -> tuple[dict[str, object], Infos]: ...
    def step(
        self, actions: Mapping[str, Array | int]
    ) -> tuple[dict[str, object], dict[str, float], dict[str, bool], dict[str, bool], Infos]: ...


Env = TypeVar("Env", bound=Environment)


def open_pool(name: str, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None) -> ForeignPool:
    """A pool of `classic/tictactoe-v3`: simultaneous if the environment has a parallel version, else alternating."""
    identity, settings = parse_name("pettingzoo", name)
    arguments: Arguments = {key: read_value(text) for key, text in settings.items()}
    turns, create = _find(identity)
    whole_name = full_name("pettingzoo", identity, settings)
    make_pool = _simultaneous_pool if turns == "simultaneous" else _turn_pool
    return make_pool(whole_name, lambda: _create(identity, create, arguments), rows, seed)


def from_aec(make: Callable[[], TurnEnvironment], rows: int, seed: int | Sequence[int] = 0) -> ForeignPool:
    """A pool of `rows` AEC environments created by `make`: one seat acts at a time."""
    return _turn_pool("", make, rows, seed)


def from_parallel(make: Callable[[], SimultaneousEnvironment], rows: int, seed: int | Sequence[int] = 0) -> ForeignPool:
    """A pool of `rows` parallel environments created by `make`: all seats act at once."""
    return _simultaneous_pool("", make, rows, seed)


class EnvironmentRows(Generic[Env]):
    """The environments of all rows and the seats of their agents; writes observations and masks into the sheet."""

    def __init__(self, envs: list[Env], form: ActionForm, sheet: Sheet) -> None:
        self.envs, self.form, self.sheet = envs, form, sheet
        self.seats = {agent: seat for seat, agent in enumerate(envs[0].possible_agents)}
        self.terminated = [False] * len(envs)
        """[rows] whether any player of the game has terminated, not only been truncated"""
        space = envs[0].observation_space(envs[0].possible_agents[0])
        self.masked = carries_mask(space, form)
        self.write = writer(space, sheet.observation, sheet.allow if self.masked else None)

    def show(self, line: int, observation: object, info: Mapping[str, ArrayLike]) -> None:
        """Write an observation and its mask; zeros if there is none."""
        if observation is None:
            for field in self.sheet.observation.values():
                field[line] = 0
            self.sheet.mask[line] = True
            return
        self.write(line, observation)
        if MASK in info and self.sheet.mask.shape[1]:
            self.sheet.allow(line, self.form.mask(info[MASK]))
        elif not self.masked:
            self.sheet.mask[line] = True

    def render(self, row: int) -> object:
        return self.envs[row].render()

    def close(self) -> None:
        for env in self.envs:
            env.close()


class TurnGames:
    """AEC environments: a row shows the observation of the agent to act, with the rewards of all seats."""

    one_seed = False

    def __init__(self, rows: EnvironmentRows[TurnEnvironment]) -> None:
        self._rows, self._sheet = rows, rows.sheet
        self.close, self.render = rows.close, rows.render

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        open_each(self._open_row, chosen, seeds)

    def advance(self, actions: Array) -> None:
        rows = self._rows
        turns = zip(rows.envs, rows.form.split(actions), self._sheet.idle.tolist(), strict=True)
        for row, (env, action, idle) in enumerate(turns):
            if idle:
                self._open_row(row, None)
                continue
            env.step(action)
            for agent, reward in env.rewards.items():
                self._sheet.reward[row, rows.seats[agent]] += reward
            self._show_next_agent(row, env)

    def _open_row(self, row: int, seed: int | None) -> None:
        self._rows.terminated[row] = False
        self._rows.envs[row].reset(seed=seed)
        self._sheet.begin(row)
        self._show_next_agent(row, self._rows.envs[row])

    def _show_next_agent(self, row: int, env: TurnEnvironment) -> None:
        """Step dead agents with None until a live one is to act or none is left, then write the observation."""
        rows = self._rows
        for _ in range(len(rows.seats) + 1):
            rows.terminated[row] |= any(env.terminations.values())
            over = all(_ended(env, agent) for agent in env.agents)
            agent = env.agent_selection
            if over or not _ended(env, agent):
                self._sheet.seat[row] = rows.seats[agent]
                rows.show(row, env.observe(agent), env.infos.get(agent, {}))
                if over:
                    self._sheet.finish(row, rows.terminated[row])
                return
            env.step(None)
        raise LudusError(f"{env} never selects a live agent, which PettingZoo requires; check it with its api_test")


class SimultaneousGames:
    """Parallel environments: one line per seat; an agent that has left the game sees zeros and no longer acts."""

    one_seed = False

    def __init__(self, rows: EnvironmentRows[SimultaneousEnvironment]) -> None:
        self._rows, self._sheet = rows, rows.sheet
        self.close, self.render = rows.close, rows.render

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        open_each(self._open_row, chosen, seeds)

    def advance(self, actions: Array) -> None:
        choices, views = self._rows.form.split(actions), self._sheet.views
        for row, status in enumerate(self._sheet.status.tolist()):
            if status != PLAYING:
                self._open_row(row, None)
            else:
                self._move(row, choices[row * views : (row + 1) * views])

    def _open_row(self, row: int, seed: int | None) -> None:
        self._rows.terminated[row] = False
        observations, infos = self._rows.envs[row].reset(seed=seed)
        self._sheet.begin(row)
        self._show(row, observations, infos)

    def _move(self, row: int, choices: Sequence[Array | int]) -> None:
        rows, env = self._rows, self._rows.envs[row]
        actions = {agent: choices[rows.seats[agent]] for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)
        lines = slice(row * self._sheet.views, (row + 1) * self._sheet.views)
        self._sheet.reward[lines] = [rewards.get(agent, 0.0) for agent in rows.seats]
        rows.terminated[row] |= any(terminations.values())
        self._show(row, observations, infos)
        if all(terminations.get(agent) or truncations.get(agent) for agent in env.agents):
            self._sheet.finish(row, rows.terminated[row])

    def _show(self, row: int, observations: dict[str, object], infos: Infos) -> None:
        alive = set(self._rows.envs[row].agents)
        for agent, seat in self._rows.seats.items():
            line = row * self._sheet.views + seat
            self._rows.show(line, observations.get(agent), infos.get(agent, {}))
            self._sheet.idle[line] = agent not in alive
            if agent not in alive:
                self._sheet.mask[line] = True


def _turn_pool(name: str, make: Callable[[], TurnEnvironment], rows: int, seed: int | Sequence[int]) -> ForeignPool:
    envs = [make() for _ in range(check_rows(rows))]

    def start(form: ActionForm, sheet: Sheet) -> Games:
        return TurnGames(EnvironmentRows(envs, form, sheet))

    return _pool(name, "alternating", envs, seed, start)


def _simultaneous_pool(
    name: str, make: Callable[[], SimultaneousEnvironment], rows: int, seed: int | Sequence[int]
) -> ForeignPool:
    envs = [make() for _ in range(check_rows(rows))]

    def start(form: ActionForm, sheet: Sheet) -> Games:
        return SimultaneousGames(EnvironmentRows(envs, form, sheet))

    return _pool(name, "simultaneous", envs, seed, start)


def _pool(
    name: str, turns: str, envs: Sequence[Environment], seed: int | Sequence[int],
    start: Callable[[ActionForm, Sheet], Games],
) -> ForeignPool:  # fmt: skip
    observations, actions = _common_spaces(envs[0])
    form = action_form(actions)
    record = observation_record(observations, carries_mask(observations, form))
    spec = Spec(seats=len(envs[0].possible_agents), actions=form.kind, turns=turns)
    whole_name = name or f"pettingzoo:{envs[0]}"
    return ForeignPool(whole_name, spec, form, record, len(envs), seed, lambda sheet: start(form, sheet))


def _common_spaces(env: Environment) -> tuple[Space, Space]:
    """The observation and the action space, which must be the same for all agents."""
    agents = getattr(env, "possible_agents", None)
    if not agents:
        raise LudusError(f"{env} has no possible_agents, so the number of seats is unknown; define possible_agents")
    pairs = [(env.observation_space(agent), env.action_space(agent)) for agent in agents]
    for agent, pair in zip(agents, pairs, strict=True):
        for mine, first, what in zip(pair, pairs[0], ("observation", "action"), strict=True):
            if mine != first:
                raise LudusError(f"{env}: the {what} spaces of {agents[0]} and {agent} differ, {first} and {mine}; "
                                 "pad them to one space first (SuperSuit's pad wrappers do)")  # fmt: skip
    return pairs[0]


def _ended(env: TurnEnvironment, agent: str) -> bool:
    return bool(env.terminations[agent] or env.truncations[agent])


def _find(identity: str) -> tuple[str, Callable[..., Any]]:
    """The turn order of an environment and the function that creates it; PettingZoo's registry is tried first."""
    for kind, turns in (("parallel", "simultaneous"), ("aec", "alternating")):
        if identity in getattr(pettingzoo, f"{kind}_registry", {}):
            return turns, lambda kind=kind, **arguments: pettingzoo.make(kind, identity, **arguments)
    if identity not in set(_modules()):
        raise unknown("pettingzoo", identity, {*_modules(), *getattr(pettingzoo, "aec_registry", {})})
    path = "pettingzoo." + identity.replace("/", ".").replace("-", "_")
    module = _create(identity, importlib.import_module, {"name": path})
    parallel = getattr(module, "parallel_env", None)
    return ("simultaneous", parallel) if parallel else ("alternating", module.env)


def _create(identity: str, create: Callable[..., Made], arguments: Arguments) -> Made:
    """Call `create`; exceptions are caused by the name or its arguments, so they become LudusError."""
    try:
        return create(**arguments)
    except ImportError as error:
        extra = identity.partition("/")[0]
        raise LudusError(f"{identity} needs more packages ({error}): pip install 'pettingzoo[{extra}]'") from error
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise LudusError(f'pettingzoo cannot make "{identity}" with these arguments: {reason}') from error


def _modules() -> Iterator[str]:
    """The names of PettingZoo's own environments, such as `classic/tictactoe-v3`, from its installed files."""
    for family in FAMILIES:
        package = importlib.util.find_spec(f"pettingzoo.{family}")
        for module in pkgutil.iter_modules(package.submodule_search_locations if package else None):
            name, _, version = module.name.rpartition("_v")
            if version.isdigit():
                yield f"{family}/{name}-v{version}"
