"""An agent as one function with memory in and out: what every exporter writes.

Inputs and outputs are named arrays; the first axis is the rows. Whole numbers are int32, other numbers float32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ludus.agents.export.metadata import Port, Role
from ludus.agents.protocol import Agent
from ludus.types import Array, Discrete, DType, LudusError, PyTree, Spec

Arrays = dict[str, Any]
"""arrays by the name of the input or output"""
Function = Callable[[PyTree, Arrays], Arrays]
"""(parameters, inputs) to outputs"""
SYMBOL = "b"
MEMORY, NEXT_MEMORY = "memory_", "next_memory_"


@dataclass(frozen=True, eq=False)
class Model:
    """The function of an agent, its parameters, and the agent itself to compare with."""

    function: Function
    params: PyTree
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    agent: Agent
    """plays greedily; the function must decide the same"""
    agent_params: PyTree
    variables: PyTree
    """nested dicts of everything learned, for files without a function"""
    memory: str = "none"
    network: str = ""
    read: Callable[[Mapping[str, Array]], Mapping[str, Array]] | None = None
    """computes the features that the function reads instead of observations"""
    ties: bool = False


def for_rows(model: Model, rows: int | None) -> tuple[Function, dict[str, jax.ShapeDtypeStruct]]:
    """The function for a number of rows, or for any number if None, and the shapes of its inputs."""
    shapes = {port.name: (port.shape, np.dtype(port.dtype)) for port in model.inputs}
    if rows is not None:
        return model.function, _shaped(shapes, rows)
    (symbol,) = jax.export.symbolic_shape(SYMBOL)

    # Networks compute with the number of rows, which must be a number: so JAX adds the axis afterwards.
    def function(params: PyTree, inputs: Arrays) -> Arrays:
        def one(row: Arrays) -> Arrays:
            outputs = model.function(params, {name: array[None] for name, array in row.items()})
            return {name: array[0] for name, array in outputs.items()}

        return jax.vmap(one)(inputs)

    return function, _shaped(shapes, symbol)


def _shaped(shapes: dict[str, tuple[tuple[int, ...], DType]], rows: Any) -> dict[str, jax.ShapeDtypeStruct]:
    make: Any = jax.ShapeDtypeStruct  # JAX has no types for it
    return {name: make((rows, *shape), dtype) for name, (shape, dtype) in shapes.items()}


def inputs_of(observation: DType, spec: Spec, fields: Mapping[str, tuple[tuple[int, ...], Any]]) -> list[Port]:
    """The inputs for a game: its fields (or features) by shape and type, the mask, the seat and `first`."""
    found = [_observed(name, shape, np.dtype(kind), observation) for name, (shape, kind) in fields.items()]
    found += [Port("mask", "mask", (spec.actions.n,), "bool")] if isinstance(spec.actions, Discrete) else []
    taken = {port.name for port in found if port.role == "observation"} & {"mask", "seat", "first"}
    if taken:
        raise LudusError(f"the observation has a field {taken.pop()}, which is the name of another input; rename it")
    return [*found, Port("seat", "seat", (), "int32"), Port("first", "first", (), "bool")]


def outputs_of(spec: Spec) -> list[Port]:
    """The outputs for a game, without memory."""
    value = Port("value", "value", (spec.seats,), "float32")
    if isinstance(spec.actions, Discrete):
        return [Port("action", "action", (), "int32"), _numbers("probabilities", (spec.actions.n,)), value]
    size = (len(spec.actions.low),)
    return [_numbers("action", size), _numbers("mean", size), _numbers("std", size), value]


def memory_ports(leaves: list[Any]) -> tuple[list[Port], list[Port]]:
    """Inputs and outputs for the arrays [1, ...] of a memory."""
    kinds = [(tuple(leaf.shape[1:]), "bool" if leaf.dtype == bool else "float32") for leaf in leaves]
    return tuple(  # type: ignore[return-value]
        [Port(f"{stem}{number}", "memory", shape, kind) for number, (shape, kind) in enumerate(kinds)]  # type: ignore[arg-type]
        for stem in (MEMORY, NEXT_MEMORY)
    )


def _numbers(role: Role, shape: tuple[int, ...]) -> Port:
    return Port(role, role, shape, "float32")


def _observed(name: str, shape: tuple[int, ...], kind: DType, observation: DType) -> Port:
    if kind.kind == "b":
        return Port(name, "observation", shape, "bool")
    declared = name in (observation.names or ())
    low, high = _range(observation, name) if declared else (None, None)
    if kind.kind == "u" and kind.itemsize >= 4 and (high is None or high >= 2**31):
        raise LudusError(f"{name} contains whole numbers above {2**31 - 1}, which exported files cannot read")
    return Port(name, "observation", shape, "float32" if kind.kind == "f" else "int32", low, high, kind.name)


def _range(observation: DType, name: str) -> tuple[float | None, float | None]:
    from ludus.dsl import bounds

    ends = [np.asarray(end, np.float64) for end in bounds(observation, name)]
    low, high = float(ends[0].min()), float(ends[1].max())
    return (low if np.isfinite(low) else None), (high if np.isfinite(high) else None)


def reads_only_used_inputs(model: Model) -> Model:
    """The model without the inputs that have no effect on its outputs, such as `first` of a network without memory."""
    function, shapes = for_rows(model, 1)
    used: set[int] = set(jax.export.export(jax.jit(lambda x: function(model.params, x)))(shapes).module_kept_var_idx)
    kept = {name for place, name in enumerate(sorted(shapes)) if place in used}
    inputs = tuple(port for port in model.inputs if port.name in kept or port.role == "memory")
    blank = {port.name: port for port in model.inputs if port not in inputs}

    def with_blanks(params: PyTree, inputs: Arrays) -> Arrays:
        rows = next(iter(inputs.values())).shape[0]
        zeros = {name: jax.numpy.zeros((rows, *port.shape), port.dtype) for name, port in blank.items()}
        return model.function(params, {**inputs, **zeros})

    return replace(model, function=with_blanks, inputs=inputs)


def as_input(port: Port, array: Array) -> Array:
    """An array with the type of an input."""
    return np.ascontiguousarray(array, port.dtype)
