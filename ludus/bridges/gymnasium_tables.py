"""Environments that publish their dynamics (`env.unwrapped.P`), read as tables and run as a native game."""

from __future__ import annotations

import hashlib
import importlib.util
import pathlib
import sys
from types import ModuleType
from typing import NamedTuple, Protocol, TypeGuard

import gymnasium
import numpy as np
from gymnasium import spaces, wrappers

from ludus.games import Game
from ludus.types import Array

TEMPLATE = pathlib.Path(__file__).with_name("dynamics.py")
HARMLESS = (wrappers.TimeLimit, wrappers.OrderEnforcing, wrappers.PassiveEnvChecker)
"""wrappers that do not change the dynamics"""
LARGEST_TABLE = 120_000
"""maximum number of entries; Numba does not cache compiled code with tables of more than a megabyte"""
Env = gymnasium.Env[object, int]


class TabularEnv(Protocol):
    """The attributes of an environment that publishes its dynamics."""

    observation_space: spaces.Discrete
    action_space: spaces.Discrete
    P: dict[int, dict[int, list[tuple[float, int, float, bool]]]]
    """by state and action, the outcomes: probability, next state, reward, terminated"""
    initial_state_distrib: Array
    s: int

    def action_mask(self, state: int) -> Array: ...
    def step(self, action: int) -> tuple[int, float, bool, bool, object]: ...


class Tables(NamedTuple):
    """The dynamics of one environment, in the form that `dynamics.py` uses."""

    SIZES: Array
    NEXT: Array
    CUMULATIVE: Array
    REWARD: Array
    ENDS: Array
    STARTS: Array
    START_CUMULATIVE: Array
    LEGAL: Array

    @property
    def digest(self) -> str:
        total = hashlib.sha256()
        for table in self:
            total.update(repr(table.shape).encode() + table.tobytes())
        return total.hexdigest()[:16]


def published_tables(env: Env) -> Tables | None:
    """The tables of an environment, or None if it publishes none or they do not describe it completely."""
    inner = env.unwrapped
    if not _only_harmless(env) or env.render_mode is not None or not _publishes(inner):
        return None
    # Taxi's fickle passenger changes the destination in `step`, which the published table does not include.
    if getattr(inner, "fickle_passenger", False):
        return None
    try:
        tables = _read_tables(env, inner)
        return tables if tables is not None and _env_agrees(inner, tables) else None
    except Exception:  # `P` has another format, or the environment's state cannot be set to check it
        return None


def native_game(name: str, tables: Tables) -> Game:
    """The tables as a native game, one module per process for the same tables."""
    module_name = f"ludus_dynamics_{tables.digest}"
    rules = sys.modules.get(module_name) or _run_template(module_name, tables)
    rules.__doc__ = f"{name.removeprefix('gymnasium:')}: the published dynamics of Gymnasium's environment"
    return Game(name, rules, {})


def _run_template(module_name: str, tables: Tables) -> ModuleType:
    spec = importlib.util.spec_from_file_location(module_name, TEMPLATE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(tables._asdict())
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module


def _only_harmless(env: Env) -> bool:
    while isinstance(env, gymnasium.Wrapper):
        if type(env) not in HARMLESS:
            return False
        env = env.env
    return True


def _publishes(inner: Env) -> TypeGuard[TabularEnv]:
    states, actions = inner.observation_space, inner.action_space
    if not (isinstance(states, spaces.Discrete) and isinstance(actions, spaces.Discrete)):
        return False
    dynamics = getattr(inner, "P", None)
    if states.start or actions.start or not isinstance(dynamics, dict):
        return False
    complete = all(set(dynamics.get(state, ())) == set(range(int(actions.n))) for state in range(int(states.n)))
    return complete and np.shape(getattr(inner, "initial_state_distrib", ())) == (states.n,)


def _read_tables(env: Env, inner: TabularEnv) -> Tables | None:
    states, actions = int(inner.observation_space.n), int(inner.action_space.n)
    # Outcomes with probability 0 are left out, so that rounding cannot select one of them.
    outcomes = [[[o for o in inner.P[s][a] if o[0] > 0] for a in range(actions)] for s in range(states)]
    most = max(len(listed) for row in outcomes for listed in row)
    if states * actions * most > LARGEST_TABLE:
        return None
    shape = (states, actions, most)
    following, reward, ends = np.zeros(shape, np.int64), np.zeros(shape, np.float64), np.zeros(shape, np.uint8)
    cumulative = np.full(shape, 2.0)
    for state, row in enumerate(outcomes):
        for action, listed in enumerate(row):
            chances = np.cumsum([outcome[0] for outcome in listed])
            if not listed or abs(chances[-1] - 1) > 1e-6:
                return None
            cumulative[state, action, : len(listed) - 1] = chances[:-1]
            for place, outcome in enumerate(listed):
                _, following[state, action, place], reward[state, action, place], ends[state, action, place] = outcome
    if following.min() < 0 or following.max() >= states:
        return None
    sizes = np.array([*shape, (env.spec.max_episode_steps if env.spec else None) or 0])
    starts = np.flatnonzero(inner.initial_state_distrib)
    chances = np.cumsum(np.asarray(inner.initial_state_distrib)[starts])
    return Tables(sizes, following, cumulative, reward, ends, starts, chances, _legal(env, inner))


def _legal(env: Env, inner: TabularEnv) -> Array:
    """[states, actions] from the environment's own `action_mask(state)`, if it has one."""
    states, actions = int(inner.observation_space.n), int(inner.action_space.n)
    _, info = env.reset(seed=0)
    if "action_mask" not in info or not callable(getattr(inner, "action_mask", None)):
        return np.ones((states, actions), np.uint8)
    legal = np.array([inner.action_mask(state) for state in range(states)], bool)
    return (legal | ~legal.any(axis=1, keepdims=True)).astype(np.uint8)


def _env_agrees(inner: TabularEnv, tables: Tables) -> bool:
    """Whether the environment agrees with its tables: every action is tried once in every state."""
    states, actions, _, _ = tables.SIZES
    return all(_transition_agrees(inner, tables, state, action) for state in range(states) for action in range(actions))


def _transition_agrees(inner: TabularEnv, tables: Tables, state: int, action: int) -> bool:
    inner.s = state
    following, reward, terminated, truncated, _ = inner.step(action)
    seen = (tables.NEXT[state, action] == following) & (tables.REWARD[state, action] == reward)
    return bool(not truncated and (seen & (tables.ENDS[state, action] == terminated)).any())
