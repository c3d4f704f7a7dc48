"""Networks that are made for one game. A module has the name of its game and declares `NETWORK`, `LAYOUT` or both.

`NETWORK` is a Flax class with the fields and the call of `MLPAgent`; `LAYOUT` describes the observation for every
network. `REFERENCE` has the fields and the call of `RNNAgent`, and computes what the network of another project does.
They are found in this folder, in the folder that LUDUS_NETWORKS names (`ludus_networks` in the current folder
if unset), and among the installed packages that offer the entry-point group `ludus.networks`. Games do not depend on
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ludus.agents.neural.networks.layout import Layout
from ludus.files import discovery
from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.agents.neural.networks import Network

GROUP = "ludus.networks"


class GameNetwork(NamedTuple):
    """The declarations of a module."""

    network: Callable[..., Network] | None = None
    layout: Layout | None = None
    reference: Callable[..., Network] | None = None


def names() -> list[str]:
    """The games that have a network or a layout of their own."""
    return discovery.names(GROUP, __name__)


def find(game: str) -> GameNetwork:
    """The declarations for the game of this name; both are None if there is no module for it."""
    if game not in names():
        return GameNetwork()
    module = discovery.load(GROUP, __name__, game)
    found = GameNetwork(*(getattr(module, declared, None) for declared in ("NETWORK", "LAYOUT", "REFERENCE")))
    if found == GameNetwork():
        raise LudusError(f"{module.__file__} declares neither NETWORK nor LAYOUT; it needs at least one of them")
    if not isinstance(found.layout, Layout | None) or not callable(found.network or Layout):
        raise LudusError(f"{module.__file__}: NETWORK must be a Flax class and LAYOUT a Layout, not {found}")
    return found
