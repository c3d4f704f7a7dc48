"""What a network needs: memory per row, and milliseconds of a forward pass."""

from __future__ import annotations

import statistics
import time

import numpy as np

from ludus.agents.protocol import Agent, Params
from ludus.types import JsonObject, PyTree, Step

BATCHES = (1, 8, 64)
PASSES, SECONDS = 30, 0.5
"""passes that are timed for each batch, fewer if they take longer than this"""


def footprint(agent: Agent, params: Params, step: Step) -> JsonObject:
    """Bytes that the agent remembers per row; for each batch the median milliseconds of a decision, and megabytes.

    All rows of a batch are the first row of `step`. The first pass, which compiles, is not counted. Megabytes are those
    of the parameters and of the memory of all rows; what the computation needs in between is not included.
    """
    learned = nbytes(params)
    batches = [
        {
            "rows": rows,
            "milliseconds": 1e3 * forward_seconds(agent, params, step, rows),
            "megabytes": (learned + nbytes(agent.memory(rows))) / 1e6,
        }
        for rows in BATCHES
    ]
    return {"memory_per_row": nbytes(agent.memory(1)), "batches": batches}


def nbytes(tree: PyTree) -> int:
    """The bytes of all arrays of a tree."""
    import jax

    return sum(leaf.nbytes for leaf in jax.tree.leaves(tree))


def forward_seconds(agent: Agent, params: Params, step: Step, rows: int) -> float:
    """The median time in which the agent decides for so many rows, from the observation to the action."""
    import jax

    batch = jax.tree.map(lambda array: np.repeat(array[:1], rows, axis=0), step)
    memory, times = agent.memory(rows), list[float]()
    agent.act(params, memory, batch, 0)
    while len(times) < PASSES and sum(times) < SECONDS:
        begun = time.perf_counter()
        agent.act(params, memory, batch, 0)  # its action is an array of NumPy, so the computation is finished
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def lines(found: JsonObject) -> list[str]:
    """The same as text."""
    shown = [f"{'memory':<11} {found['memory_per_row']:>12,} bytes per row"]
    for batch in found["batches"]:
        name = f"{batch['rows']} row{'s' if batch['rows'] > 1 else ''}"
        shown.append(f"  {name:<20} {batch['milliseconds']:>12.3f} ms {batch['megabytes']:>9.3f} MB")
    return shown
