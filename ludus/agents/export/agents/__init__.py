"""How each kind of agent becomes a `Model`: a module for each kind, with the functions `model_of` and `restored`."""

from __future__ import annotations

from typing import Any

from ludus.agents.export.metadata import Metadata
from ludus.agents.export.model import Model, reads_only_used_inputs
from ludus.bridges import AnyPool, open_pool
from ludus.files import discovery
from ludus.types import JsonObject, LudusError, PyTree

SAME = {"mlp": "network", "rnn": "network"}
"""kinds of agents whose module has another name"""


def model_of(description: JsonObject, agent: Any, params: PyTree, pool: AnyPool) -> Model:
    """The function of an agent that a checkpoint describes."""
    return reads_only_used_inputs(_module(description).model_of(agent, params, pool))


def from_variables(metadata: Metadata, variables: PyTree) -> Model:
    """The function of an agent from its variables by name, as a file without a function contains them."""
    pool = open_pool(metadata.game, 1, 0, threads=1)
    try:
        model: Model = _module(metadata.agent).restored(metadata.agent, variables, pool)
        return reads_only_used_inputs(model)
    finally:
        pool.close()


def _module(description: JsonObject) -> Any:
    kind = str(description.get("kind"))
    name = SAME.get(kind, kind)
    if name not in discovery.bundled(__name__):
        raise LudusError(f'agents of the kind "{kind}" cannot be exported; networks, world models and tables can')
    return discovery.load_bundled(__name__, name)
