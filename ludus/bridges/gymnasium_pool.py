"""Any Gymnasium environment as a pool: compiled if its dynamics are published, else stepped in Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ludus.types import Array, LudusError, Spec

try:
    import gymnasium
except ImportError:
    raise LudusError("names like gymnasium:CartPole-v1 need Gymnasium: pip install 'ludus[gymnasium]'") from None

from ludus.bridges import AnyPool
from ludus.bridges.foreign import ForeignPool, Sheet, check_rows, full_name, open_each, parse_name, read_value, unknown
from ludus.bridges.foreign_spaces import MASK, ActionForm, action_form, carries_mask, observation_record
from ludus.bridges.foreign_spaces import observation_writer as writer
from ludus.bridges.gymnasium_tables import native_game, published_tables
from ludus.bridges.gymnasium_vector import VectorGames
from ludus.pool import Pool

Env = gymnasium.Env[Any, Any]
VectorEnv = gymnasium.vector.VectorEnv[Any, Any, Any]
MAKE_ONLY = {"max_episode_steps": -1}
"""arguments of gymnasium.make that an environment's own vector version would misinterpret"""
Arguments = dict[str, object]
Made = TypeVar("Made")


def open_pool(name: str, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None) -> AnyPool:
    """A pool of `FrozenLake-v1(map_name=8x8)`; the argument `compiled=false` forces Gymnasium's own stepping."""
    check_rows(rows)
    identity, settings = parse_name("gymnasium", name)
    arguments: Arguments = {key: read_value(text) for key, text in settings.items()}
    compiled = arguments.pop("compiled", True)
    if not isinstance(compiled, bool):
        raise LudusError(f"compiled={settings['compiled']} in {name} must be true or false")
    whole_name = full_name("gymnasium", identity, settings)
    first = _make(identity, arguments)
    tables = published_tables(first) if compiled else None
    if tables is not None:
        first.close()
        return Pool(native_game(whole_name, tables), rows, seed, threads)
    if rows > 1 and isinstance(seed, int | np.integer) and _has_vector_form(first, arguments):
        first.close()
        return _vector_pool(whole_name, _make_vector(identity, rows, arguments), seed)
    others = [_make(identity, arguments) for _ in range(rows - 1)]
    return _single_pool(whole_name, [first, *others], seed)


def from_env(make: Callable[[], Env], rows: int, seed: int | Sequence[int] = 0) -> ForeignPool:
    """A pool of `rows` environments created by `make`."""
    envs = [make() for _ in range(check_rows(rows))]
    return _single_pool(_name_of(envs[0]), envs, seed)


def from_vector_env(vector_env: VectorEnv, seed: int | Sequence[int] = 0) -> ForeignPool:
    """A pool around a vector environment with any autoreset mode; closing the pool closes the environment."""
    return _vector_pool(_name_of(vector_env), vector_env, seed)


class SingleGames:
    """One environment per row, stepped one after the other."""

    one_seed = False

    def __init__(self, envs: list[Env], form: ActionForm, sheet: Sheet) -> None:
        self._envs, self._form, self._sheet = envs, form, sheet
        self._moves = [env.step for env in envs]
        space = envs[0].observation_space
        self._write = writer(space, sheet.observation, sheet.allow if carries_mask(space, form) else None)
        self._info_masks = False

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        open_each(self._open_row, chosen, seeds)

    def advance(self, actions: Array) -> None:
        """Step every row. This Python loop runs for every step, so it does only what is necessary."""
        sheet, write = self._sheet, self._write
        rewards = [0.0] * len(self._moves)
        turns = zip(self._moves, self._form.split(actions), sheet.idle.tolist(), strict=True)
        for row, (move, action, idle) in enumerate(turns):
            if idle:
                self._open_row(row, None)
                continue
            observation, rewards[row], terminated, truncated, info = move(action)  # type: ignore[call-overload]
            write(row, observation)
            if terminated or truncated:
                sheet.finish(row, bool(terminated))
            elif info:
                self._read_mask(row, info)
        sheet.reward[:, 0] = rewards

    def render(self, row: int) -> object:
        return self._envs[row].render()

    def close(self) -> None:
        for env in self._envs:
            env.close()

    def _open_row(self, row: int, seed: int | None) -> None:
        observation, info = self._envs[row].reset(seed=seed)
        self._sheet.begin(row)
        self._write(row, observation)
        self._read_mask(row, info)

    def _read_mask(self, row: int, info: Mapping[str, ArrayLike]) -> None:
        if MASK in info and self._sheet.mask.shape[1]:
            self._sheet.allow(row, self._form.mask(info[MASK]))
            self._info_masks = True
        elif self._info_masks:
            self._sheet.mask[row] = True


def _single_pool(name: str, envs: list[Env], seed: int | Sequence[int]) -> ForeignPool:
    env = envs[0]
    form = action_form(env.action_space)
    record = observation_record(env.observation_space, carries_mask(env.observation_space, form))
    spec = Spec(seats=1, actions=form.kind, horizon=_horizon(env))
    return ForeignPool(name, spec, form, record, len(envs), seed, lambda sheet: SingleGames(envs, form, sheet))


def _vector_pool(name: str, env: VectorEnv, seed: int | Sequence[int]) -> ForeignPool:
    form, space = action_form(env.single_action_space), env.single_observation_space
    record = observation_record(space, carries_mask(space, form))
    spec = Spec(seats=1, actions=form.kind, horizon=_horizon(env))
    return ForeignPool(name, spec, form, record, env.num_envs, seed, lambda sheet: VectorGames(env, form, spec, sheet))


def _make(identity: str, arguments: Arguments) -> Env:
    # The env checker inspects only the first step but costs a call in every step; the pool checks actions itself.
    return _call_make(gymnasium.make, identity, {"disable_env_checker": True} | arguments)


def _make_vector(identity: str, rows: int, arguments: Arguments) -> VectorEnv:
    mode = {"num_envs": rows, "vectorization_mode": "vector_entry_point"}
    return _call_make(gymnasium.make_vec, identity, mode | arguments)


def _call_make(make: Callable[..., Made], identity: str, arguments: Arguments) -> Made:
    """Call `make`; exceptions are caused by the name or its arguments, so they become LudusError."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*latest versioned environment.*")
            return make(identity, **arguments)
    except (gymnasium.error.UnregisteredEnv, gymnasium.error.DeprecatedEnv):
        raise unknown("gymnasium", identity, gymnasium.registry) from None
    except Exception as error:
        raise LudusError(
            f'gymnasium cannot make "{identity}" with these arguments: {type(error).__name__}: {error}'
        ) from error


def _has_vector_form(env: Env, arguments: Arguments) -> bool:
    spec = env.spec
    misread = any(arguments.get(key) == value for key, value in MAKE_ONLY.items()) or "disable_env_checker" in arguments
    return bool(spec and spec.vector_entry_point and not spec.additional_wrappers and not misread)


def _horizon(env: Env | VectorEnv) -> int:
    return (env.spec.max_episode_steps if env.spec else None) or 0


def _name_of(env: Env | VectorEnv) -> str:
    return f"gymnasium:{env.spec.id if env.spec else type(env.unwrapped).__name__}"
