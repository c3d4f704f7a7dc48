"""Compilation ahead of time: while Numba compiles the rules of a game, XLA compiles the update on another core."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from ludus import games
from ludus.agents.neural import agent as deep
from ludus.agents.neural import devices
from ludus.agents.neural.agent import DeepAgent
from ludus.algorithms.ppo import PPO, sharding
from ludus.algorithms.ppo import update as learning
from ludus.algorithms.protocol import Ahead, nothing_ahead
from ludus.pool import compiled_before
from ludus.types import Decision, Discrete, LudusError, Rollout, Spec, Step


class Shown(NamedTuple):
    """What an agent must know of a game before there is a pool of it."""

    game: games.Game
    spec: Spec
    observation: np.dtype[Any]


def start(settings: PPO, game_name: str, rows: int, workers: int) -> Ahead:
    """Compile for a game whose rules have to be compiled as well; wrong settings are reported where they are used."""
    if ":" in game_name or compiled_before(game := games.load(game_name)):
        return nothing_ahead(game_name, rows, workers)  # nothing to wait for: threads would only take turns
    shown: Any = Shown(game, game.spec, game.rules.OBSERVATION)

    def agent_of() -> DeepAgent:
        return deep.new_agent(shown, settings.network, settings.bfloat16, settings.curious, settings.truncation)

    def update() -> None:
        sharding.check_rows(settings, rows, workers * shown.spec.views)
        games_at_once = rows * workers * devices.processes()
        agent = agent_of()
        if agent.packs:
            return  # the lengths of entity sets are not known before games are played
        learning.compile_update(settings, agent, rollout_like(settings, agent, shown, games_at_once))

    updating = _begin("update", update)
    return Ahead(_begin("learner", lambda: learning.compile_start(settings, agent_of())), updating)


def _begin(what: str, compile_it: Callable[[], None]) -> Callable[[], None]:
    """Compile in a thread; returns what waits for it, as compiling twice at once would only take longer."""

    def work() -> None:
        with contextlib.suppress(LudusError):  # the same error is raised again where the settings are used
            compile_it()

    thread = threading.Thread(target=work, name=f"ludus-compiling-{what}", daemon=True)
    thread.start()
    return thread.join


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
