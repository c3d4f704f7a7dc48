"""Trained agents: the folder of a run, or one of its checkpoints, as a player."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ludus.agents import checkpoint, flax_models
from ludus.agents.protocol import Agent, Key, Memory, Params
from ludus.agents.table import Table
from ludus.agents.tabular import TabularAgent
from ludus.bridges import AnyPool, identity_of, open_pool
from ludus.files import discovery
from ludus.types import Array, Decision, Discrete, LudusError, Spec, Step

GROUP = "ludus.algorithms"
"""the entry-point group of algorithms by other authors, which may bring their own kinds of agents"""


@dataclass(frozen=True, eq=False)
class Trained(Agent):
    """An agent that brings its parameters along."""

    agent: Any
    """a TabularAgent, DeepAgent or WorldModelAgent; callers use more than the agent protocol"""
    params: Params
    path: pathlib.Path
    manifest: checkpoint.Manifest

    def init(self, spec: Spec, key: Key) -> Params:
        return self.params

    def memory(self, rows: int) -> Memory:
        return self.agent.memory(rows)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        return self.agent.act(params, memory, step, key)

    def choices(self, params: Params, step: Step) -> Array:
        """[N, A] all actions that it may choose."""
        choices: Array = self.agent.choices(params, step)
        return choices


def load(path: str | pathlib.Path, game: str | None = None) -> Trained:
    """The newest checkpoint of a run, or the given one; `game` may have other parameters than in training."""
    folder = newest_in(pathlib.Path(path))
    stored = checkpoint.load(folder)
    pool = open_pool(game or stored.manifest.game, 1, 0, threads=1)
    try:
        checkpoint.check_game(stored, identity_of(pool))
        agent, params = restore(stored, pool)
    finally:
        pool.close()
    return Trained(agent, params, folder, stored.manifest)


def newest_in(path: pathlib.Path) -> pathlib.Path:
    """The checkpoint at a path: itself, or the newest of the run in that folder."""
    if (path / checkpoint.MANIFEST).is_file():
        return path
    if not path.is_dir():
        raise LudusError(f'there is no run "{path}"; ludus runs lists all runs')
    newest = checkpoint.newest(path / "checkpoints") or checkpoint.newest(path)
    if newest is None:
        raise LudusError(f'"{path}" has no checkpoint yet; continue it with: ludus train --resume "{path}"')
    return newest


def restore(stored: checkpoint.Checkpoint, pool: AnyPool) -> tuple[Agent, Params]:
    """The agent and the parameters of a checkpoint, for evaluation (greedy).

    An agent of a kind that is not ours is restored by the algorithm of that name, a module of a user or of an installed
    package with a function `restore_agent(stored, pool)`.
    """
    kind = str(stored.manifest.agent["kind"])
    if kind not in RESTORERS and kind in discovery.names(GROUP, None):
        restored: tuple[Agent, Params] = discovery.load(GROUP, None, kind).restore_agent(stored, pool)
        return restored
    if kind not in RESTORERS:
        raise LudusError(
            f'unknown kind of agent "{kind}" in this checkpoint; this version of ludus has {", ".join(RESTORERS)}'
        )
    return RESTORERS[kind](stored, pool)


def _network(stored: checkpoint.Checkpoint, pool: AnyPool) -> tuple[Agent, Params]:
    from ludus.agents.neural import devices

    devices.start()
    from ludus.agents.neural import agent as deep
    from ludus.agents.neural.networks import variable_shapes

    description, arrays = stored.manifest.agent, dict(stored.arrays.get("params", {}))
    if flax_models.CODES in arrays:
        description, arrays = flax_models.numbered(description, arrays, pool.name)
    agent = deep.agent_of(pool, description)
    params = checkpoint.unflatten(variable_shapes(agent.network), arrays)
    return replace(agent, greedy=True), params


def _world_model(stored: checkpoint.Checkpoint, pool: AnyPool) -> tuple[Agent, Params]:
    from ludus.agents.neural import devices

    devices.start()
    from ludus.agents.neural import world_model

    agent = world_model.agent_of(pool, stored.manifest.agent)
    # Only the EMA parameters are used for evaluation; an exported agent has no others.
    ema = {name: array for name, array in stored.arrays.get("params", {}).items() if name.startswith("ema/")}
    params = checkpoint.unflatten({"ema": world_model.param_shapes(agent)["ema"]}, ema)
    return replace(agent, evaluating=True), params


def _table(stored: checkpoint.Checkpoint, pool: AnyPool) -> tuple[Agent, Params]:
    if not isinstance(pool.spec.actions, Discrete) or "params" not in stored.arrays:
        raise LudusError("this checkpoint should contain a table but does not; use another checkpoint")
    agent = TabularAgent.of(pool, str(stored.manifest.agent.get("tables", "shared")))
    table = Table.from_state(stored.arrays["params"], pool.spec.actions.n, extra=())
    agent.check(table)
    return agent, table


RESTORERS = {"tabular": _table, "mlp": _network, "rnn": _network, "world_model": _world_model}


def count_parameters(params: Params) -> int:
    """The number of learned numbers: of a table, the values of the known positions."""
    if isinstance(params, Table):
        return len(params) * params.actions
    try:
        return sum(np.size(array) for array in checkpoint.flatten(params).values())
    except LudusError:  # the parameters of a named agent may be anything
        return 0
