"""Networks that are used where `mlp.network` names them. A module declares `NETWORK`, a Flax class as for one game.

They are found in this folder, and where `ludus.agents.neural.networks.games` finds those of other authors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ludus.agents.neural.networks.games import GROUP
from ludus.files import discovery
from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.agents.neural.networks import Network


def names() -> list[str]:
    """The names of the networks."""
    return discovery.names(GROUP, __name__)


def find(name: str) -> Callable[..., Network] | None:
    """The network of this name; None if there is no module for it."""
    if name not in names():
        return None
    module = discovery.load(GROUP, __name__, name)
    network: Callable[..., Network] | None = getattr(module, "NETWORK", None)
    if not callable(network):
        raise LudusError(f"{module.__file__} has no NETWORK, so mlp.network cannot be {name}; declare a Flax class")
    return network
