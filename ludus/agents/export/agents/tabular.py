"""A table as a function: the number of the position from its observation, and the row of that number."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ludus.agents.export.model import Arrays, Model, inputs_of, outputs_of
from ludus.agents.table import ANY_LEGAL, Table
from ludus.agents.tabular import TabularAgent
from ludus.bridges import AnyPool
from ludus.types import Array, JsonObject, LudusError, PyTree

LARGEST = 2**28
"""bytes of the exported arrays"""


def model_of(agent: TabularAgent, table: Table, pool: AnyPool) -> Model:
    """The function of a table; raises LudusError if its positions are hashed or it is too large."""
    if table.hashed:
        raise LudusError(
            f"the positions of {pool.name} are found by hash, which exported files cannot do; train a deep agent "
            "(--algorithm ppo) and export it"
        )
    arrays = arrays_of(table)
    size = sum(array.nbytes for array in arrays.values())
    if size > LARGEST:
        raise LudusError(f"this table would need {size:,} bytes, but at most {LARGEST:,} can be exported; use ppo")
    return _model(agent, arrays, table, pool)


def restored(description: JsonObject, variables: PyTree, pool: AnyPool) -> Model:
    """The function of a table from its description and its arrays by name."""
    agent = TabularAgent.of(pool, str(description.get("tables", "shared")))
    rows, actions = np.shape(variables["values"])
    known = variables["index"].shape == (agent.count,) and variables["index"].min() >= 0
    if not known or variables["index"].max() >= rows or actions != pool.spec.actions.n:  # type: ignore[union-attr]
        raise LudusError(f"the table of this file does not fit {pool.name}; export it again")
    return _model(agent, variables, None, pool)


def _model(agent: TabularAgent, params: dict[str, Array], table: Table | None, pool: AnyPool) -> Model:
    positions, spec = agent.positions, agent.spec
    fields = {name: positions.record.fields[name][0] for name in positions.record.names or ()}  # type: ignore[index]
    lows, weights = positions.lows.astype(np.int32), positions.weights.astype(np.int32)

    def function(params: PyTree, x: Arrays) -> Arrays:
        codes = [x[name].reshape(x[name].shape[0], -1).astype(jnp.int32) for name in fields]
        place = ((jnp.concatenate(codes, axis=-1) - lows) * weights).sum(axis=-1)
        place = place + positions.count * x["seat"] if agent.apart else place
        row = jnp.asarray(params["index"])[jnp.clip(place, 0, len(params["index"]) - 1)]
        return _decided(jnp.asarray(params["values"])[row], x["mask"], x["seat"], spec.seats, spec.zero_sum)

    shapes = {name: (kind.shape, kind.base) for name, kind in fields.items()}
    inputs = inputs_of(pool.observation, pool.spec, shapes)
    outputs = tuple(outputs_of(pool.spec))
    return Model(function, params, tuple(inputs), outputs, agent, table, params, network="table", ties=True)


def arrays_of(table: Table) -> dict[str, Array]:
    """The visited rows after a row of zeros, and for each position the number of its row."""
    index = np.zeros(table.count, np.int32)
    index[table.places] = np.arange(1, len(table) + 1)
    values = table.rows["values"][table.places]
    known = np.where(values < ANY_LEGAL, 0.0, values).astype(np.float32)
    return {"index": index, "values": np.concatenate([np.zeros((1, table.actions), np.float32), known])}


def _decided(values: Any, mask: Any, seat: Any, seats: int, zero_sum: bool) -> Arrays:
    """All best actions are equally likely, as in `TabularAgent.act`."""
    values = jnp.where(mask, values, -jnp.inf)
    highest = values.max(axis=-1, keepdims=True)
    best = values == highest
    others = -highest / max(seats - 1, 1) if zero_sum else jnp.zeros_like(highest)
    value = jnp.where(seat[:, None] == jnp.arange(seats), highest, others)
    share = best / best.sum(axis=-1, keepdims=True)
    return {"action": jnp.argmax(best, axis=-1).astype(jnp.int32), "probabilities": share, "value": value}
