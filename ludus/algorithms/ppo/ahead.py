"""Compiling ahead: while Numba compiles a game's rules, XLA compiles what will learn it, on another core."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from ludus import devices, games
from ludus.agents import deep
from ludus.agents.deep import DeepAgent
from ludus.algorithms.ppo import PPO, learning, sharing
from ludus.pool import compiled_before
from ludus.types import Decision, Discrete, LudusError, Rollout, Spec, Step


class Shown(NamedTuple):
    """What an agent must know of a game before there is a pool of it."""

    game: games.Game
    spec: Spec
    observation: np.dtype[Any]


_under_way: dict[str, threading.Thread] = {}


def start(run: Any) -> None:
    """Begin to compile for a game of ours; what is wrong with the settings is told by those who use them."""
    if ":" in run.game:
        return
    game = games.load(run.game)
    if compiled_before(game):
        return  # nothing to wait for: threads would only take turns
    shown: Any = Shown(game, game.spec, game.rules.OBSERVATION)
    settings: PPO = run.settings

    def agent_of() -> DeepAgent:
        return deep.new_agent(shown, settings.network, settings.bfloat16, settings.curious, settings.truncation)

    def update() -> None:
        sharing.check_rows(settings, run.rows, run.workers * shown.spec.views)
        games_at_once = run.rows * run.workers * devices.processes()
        agent = agent_of()
        if agent.packs:
            return  # how long sets of entities are is known once games were played
        learning.compile_update(settings, agent, rollout_like(settings, agent, shown, games_at_once))

    _begin("update", update)
    _begin("start", lambda: learning.compile_start(settings, agent_of()))


def _begin(what: str, compile_it: Callable[[], None]) -> None:
    def work() -> None:
        with contextlib.suppress(LudusError):  # the same will be met, and told, where nobody is ahead
            compile_it()

    thread = _under_way[what] = threading.Thread(target=work, name=f"ludus-compiling-{what}", daemon=True)
    thread.start()


def wait(what: str) -> None:
    """Until this is compiled, if it was begun: a second try would only take the same time again."""
    if what in _under_way:
        _under_way.pop(what).join()


def rollout_like(settings: PPO, agent: DeepAgent, shown: Shown, games_at_once: int) -> Rollout:
    """A rollout of the right shapes and types, with nothing in it."""
    spec, rows = shown.spec, games_at_once * shown.spec.views
    late, wide = settings.length + 1, spec.seats + agent.curious

    def like(shape: tuple[int, ...], dtype: Any, times: int = late) -> Any:
        form: Any = jax.ShapeDtypeStruct  # JAX has no types for it
        return form((times, rows, *shape), dtype)

    fields: Any = shown.observation.fields
    observation = {name: like(fields[name][0].shape, np.dtype(fields[name][0].base.str)) for name in fields}
    choices = (spec.actions.n,) if isinstance(spec.actions, Discrete) else (0,)
    steps = Step(
        observation, like(choices, bool), like((), np.int8), like((spec.seats,), np.float32), like((), np.float32),
        like((), bool),
    )  # fmt: skip
    parts = () if isinstance(spec.actions, Discrete) else (len(spec.actions.low),)
    action = like(parts, np.float64 if parts else np.int32, settings.length)
    made = Decision(action, like((), np.float32, settings.length), like((wide,), np.float32))
    memory = jax.eval_shape(lambda: agent.memory(rows))
    return Rollout(steps, made, like((), bool, settings.length), memory, 0, np.zeros(0), {})
