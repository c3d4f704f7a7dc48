"""Steps of real play, and the comparison of an exported file with the agent on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ludus.agents.export.metadata import Check
from ludus.agents.export.model import MEMORY, NEXT_MEMORY, Arrays, Model, as_input, for_rows
from ludus.bridges import AnyPool
from ludus.types import Array, LudusError, Step

STEPS = 64
TOLERANCE = 1e-4
NUDGES = (1e-6, -1e-6)
"""A network with a comparison, such as "does this hand reach the goal", may jump at a number that every library rounds
differently. So a row also counts as equal if the agent gives the same for inputs changed by this factor."""
CLOSE = 0.01
"""part of its range by which a continuous action may differ to count as the same"""
RANDOM = 0.2
"""fraction of random moves, so that the games differ"""
Run = Callable[[Arrays], Arrays]
"""inputs to outputs, as arrays of NumPy"""


class Recorded(NamedTuple):
    """One step: the inputs except memory, and what the agent returned."""

    inputs: Arrays
    outputs: Arrays
    """with the memory, and with the agent's own action and value"""
    good: Array | None
    """[N, A] actions that the agent may choose in this step; None for continuous actions"""


def record(model: Model, pool: AnyPool, steps: int = STEPS) -> list[Recorded]:
    """Let the agent play all seats of a pool, and record what it saw and decided."""
    rows, memory = len(pool.step.seat), None
    recorded, dice = [], np.random.default_rng(0)
    for number in range(steps):
        step = pool.step
        decision, memory = model.agent.act(
            model.agent_params, model.agent.memory(rows) if memory is None else memory, step, number
        )
        recorded.append(_recorded(model, step, decision.action, np.asarray(decision.value), memory))
        action = np.where(_marked(dice, pool), pool.random_actions(number), _shaped(decision.action, pool))
        pool.advance(action)
    return recorded


def _marked(dice: np.random.Generator, pool: AnyPool) -> Array:
    """Which games make a random move, as an array that fits the actions of the pool."""
    shape = np.shape(pool.random_actions(0))
    return np.asarray(dice.random(shape[0]) < RANDOM).reshape(-1, *[1] * (len(shape) - 1))


def _shaped(action: Array, pool: AnyPool) -> Array:
    return np.asarray(action).reshape(np.shape(pool.random_actions(0)))


def _recorded(model: Model, step: Step, action: Array, value: Array, memory: object) -> Recorded:
    import jax

    outputs = {f"{NEXT_MEMORY}{number}": np.asarray(leaf) for number, leaf in enumerate(jax.tree.leaves(memory))}
    good = None
    if model.ties:
        good = np.asarray(model.agent.choices(model.agent_params, step))  # type: ignore[attr-defined]
    return Recorded(inputs_for(model, step), {"action": np.asarray(action), "value": value, **outputs}, good)


def inputs_for(model: Model, step: Step) -> Arrays:
    """The inputs for a step, without memory."""
    seen = step.observation if model.read is None else model.read(step.observation)
    known = {**seen, "mask": step.mask, "seat": step.seat, "first": step.first}
    return {port.name: as_input(port, known[port.name]) for port in model.inputs if port.role != "memory"}


def compare(model: Model, recorded: list[Recorded], run: Run, runtime: str) -> Check:
    """Run a file over recorded steps with its own memory, and measure how far it is from the agent."""
    import jax

    function, _ = for_rows(model, len(next(iter(recorded[0].inputs.values()))))
    reference = jax.jit(function)
    rows = len(recorded[0].outputs["value"])
    ports = {port.name: port for port in model.inputs if port.role == "memory"}
    memory: Arrays = {name: np.zeros((rows, *port.shape), port.dtype) for name, port in ports.items()}
    expected, errors, agreed, nudged = dict(memory), [], [], 0
    for step in recorded:
        wanted = _arrays(reference(model.params, {**step.inputs, **expected}))
        found = run({**step.inputs, **memory})
        _check_shapes(wanted, found)
        error = _differences({**wanted, **_plain(step.outputs, wanted)}, found)
        if error.max() > TOLERANCE:
            near = [_arrays(reference(model.params, {**_nudged(step.inputs, by), **expected})) for by in NUDGES]
            closest = np.min([_differences(other, found) for other in near], axis=0)
            nudged += int(((error > TOLERANCE) & (closest <= TOLERANCE)).sum())
            error = np.minimum(error, closest)
        errors.append(error.max())
        agreed.append(_agreement(step, wanted, found, model))
        memory = {name: found[_next(name)] for name in memory}
        expected = {name: wanted[_next(name)] for name in expected}
    return Check(len(recorded), rows, float(np.max(errors)), float(np.mean(agreed)), runtime, nudged)


def _arrays(outputs: Arrays) -> Arrays:
    return {name: np.asarray(array) for name, array in outputs.items()}


def _nudged(inputs: Arrays, by: float) -> Arrays:
    """Inputs with floats changed by about as much as rounding may change them."""
    return {name: array * np.float32(1.0 + by) if array.dtype.kind == "f" else array for name, array in inputs.items()}


def _next(name: str) -> str:
    return NEXT_MEMORY + name.removeprefix(MEMORY)


def _plain(outputs: Arrays, wanted: Arrays) -> Arrays:
    """The outputs of the agent itself that have the form of the file's outputs."""
    return {name: array for name, array in outputs.items() if np.shape(array) == np.shape(wanted[name])}


def _check_shapes(wanted: Arrays, found: Arrays) -> None:
    for name, array in wanted.items():
        if name not in found or found[name].shape != array.shape or found[name].dtype != array.dtype:
            there = f"{found[name].dtype}{list(found[name].shape)}" if name in found else "missing"
            raise LudusError(f"the exported file gives {name} as {there}, not {array.dtype}{list(array.shape)}")


def _differences(wanted: Arrays, found: Arrays) -> Array:
    """[N] the largest difference of any output of each row; of actions by number, their probabilities count."""
    worst = np.zeros(len(found["value"]))
    for name, array in found.items():
        if array.dtype != np.int32:
            theirs = np.asarray(wanted[name], np.float64)
            difference = np.abs(array.astype(np.float64) - theirs).reshape(len(array), -1).max(axis=1, initial=0.0)
            # A NaN is worse than any number.
            worst = np.maximum(worst, np.nan_to_num(difference, nan=np.inf) / max(1.0, np.abs(theirs).max(initial=0.0)))
    return worst


def _agreement(step: Recorded, wanted: Arrays, found: Arrays, model: Model) -> float:
    """The fraction of rows in which the file chooses the agent's action, or one that is as good."""
    if "probabilities" not in found:
        low, high = (np.asarray(end) for end in model.agent.spec.actions)  # type: ignore[attr-defined]
        return float(
            np.mean(np.abs(found["action"] - step.outputs["action"]).max(axis=-1) <= CLOSE * (high - low).max())
        )
    action = found["action"]
    if step.good is not None:
        return float(np.mean(np.take_along_axis(step.good, action[:, None], axis=1)))
    probabilities = wanted["probabilities"]
    chosen = np.take_along_axis(probabilities, action[:, None], axis=1)[:, 0]
    return float(np.mean(chosen >= probabilities.max(axis=1) - TOLERANCE))
