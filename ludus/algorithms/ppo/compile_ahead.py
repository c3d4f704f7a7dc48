"""Compilation in advance: XLA compiles the update in a thread while Numba compiles the rules of the game."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import jax
import numpy as np
from numpy.typing import DTypeLike

from ludus import games
from ludus.agents.neural import agent as deep
from ludus.agents.neural import devices
from ludus.agents.neural.agent import DeepAgent, GameFacts
from ludus.algorithms.ppo import PPO, sharding
from ludus.algorithms.ppo import update as learning
from ludus.algorithms.protocol import Ahead, nothing_ahead
from ludus.pool import compiled_before
from ludus.types import Decision, Discrete, LudusError, PyTree, Rollout, Step


def start(settings: PPO, game_name: str, rows: int, workers: int) -> Ahead:
    """Compile if the rules of the game must be compiled as well; invalid settings are reported where they are used."""
    if ":" in game_name or compiled_before(game := games.load(game_name)):
        return nothing_ahead(game_name, rows, workers)  # the game opens at once, so there is nothing to overlap with
    facts = GameFacts(game.name, game.spec, game.rules.OBSERVATION, getattr(game.rules, "LAYOUT", None))

    def agent_of() -> DeepAgent:
        return deep.agent_for(facts, settings.network, settings.bfloat16, settings.uses_rnd, settings.bptt_length)

    def update() -> None:
        sharding.check_rows(settings, rows, workers * facts.spec.views)
        games_at_once = rows * workers * devices.processes()
        agent = agent_of()
        if agent.packs:
            return  # the lengths of entity sets are not known before games are played
        learning.compile_update(settings, agent, rollout_like(settings, agent, facts, games_at_once))

    updating = _start_thread("update", update)
    return Ahead(_start_thread("learner", lambda: learning.compile_start(settings, agent_of())), updating)


def _start_thread(what: str, compile_it: Callable[[], None]) -> Callable[[], None]:
    """Compile in a thread; returns a function that waits for it."""

    def work() -> None:
        with contextlib.suppress(LudusError):  # the same error is raised again where the settings are used
            compile_it()

    thread = threading.Thread(target=work, name=f"ludus-compiling-{what}", daemon=True)
    thread.start()
    return thread.join


def rollout_like(settings: PPO, agent: DeepAgent, facts: GameFacts, games_at_once: int) -> Rollout:
    """Shapes and dtypes of a rollout."""
    spec, rows = facts.spec, games_at_once * facts.spec.views
    late, wide = settings.rollout_length + 1, spec.seats + agent.curious

    def like(shape: tuple[int, ...], dtype: DTypeLike, times: int = late) -> PyTree:
        return jax.ShapeDtypeStruct((times, rows, *shape), dtype)

    types = {name: facts.observation[name] for name in facts.observation.names or ()}
    observation = {name: like(field.shape, np.dtype(field.base.str)) for name, field in types.items()}
    choices = (spec.actions.n,) if isinstance(spec.actions, Discrete) else (0,)
    steps = Step(
        observation, like(choices, bool), like((), np.int8), like((spec.seats,), np.float32), like((), np.float32),
        like((), bool),
    )  # fmt: skip
    parts = () if isinstance(spec.actions, Discrete) else (len(spec.actions.low),)
    action = like(parts, np.float64 if parts else np.int32, settings.rollout_length)
    made = Decision(action, like((), np.float32, settings.rollout_length), like((wide,), np.float32))
    memory = jax.eval_shape(lambda: agent.memory(rows))
    return Rollout(steps, made, like((), bool, settings.rollout_length), memory, 0, np.zeros(0), {})
