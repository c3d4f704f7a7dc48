"""Networks for one game are found by the name of the game: in the package, in a local folder, by an entry point."""

import sys

import pytest

from ludus import games
from ludus.agents.neural.agent import new_agent
from ludus.agents.neural.networks import games as game_networks
from ludus.agents.neural.networks.mlp import MLPAgent
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.pool import Pool
from ludus.types import LudusError

NETWORK = """
from ludus.agents.neural.networks.mlp import MLPAgent

class WideNet(MLPAgent):
    pass

NETWORK = WideNet
"""
LAYOUT = """
from ludus.agents.neural.networks.layout import Field, Layout, Shown

SHOWN = (Shown("motion", (4,), "float32"),)
LAYOUT = Layout(SHOWN, (Field("motion", (4,), "number", (-9.0,), (9.0,)),))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_NETWORKS", str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name == "some_network" or name.startswith("ludus_networks_")]:
        del sys.modules[name]


def network_of(game: str, **args):
    pool = Pool(game, 1)
    return new_agent(pool, MLPArgs(width=4, **args)).network


def test_every_bundled_network_belongs_to_a_bundled_game():
    assert set(game_networks.names()) <= set(games.bundled())
    for name in game_networks.names():
        assert game_networks.find(name) != game_networks.GameNetwork()


def test_game_without_a_network_uses_the_mlp(folder):
    assert game_networks.find("tictactoe") == game_networks.GameNetwork()
    assert type(network_of("tictactoe")) is MLPAgent


def test_network_in_a_local_folder_is_used_for_its_game(folder):
    (folder / "tictactoe.py").write_text(NETWORK)
    assert type(network_of("tictactoe")).__name__ == "WideNet"
    assert type(network_of("tictactoe", own=False)) is MLPAgent
    assert type(network_of("goofspiel")) is MLPAgent


def test_network_of_an_installed_package_is_used(folder, monkeypatch):
    (folder / "site" / "net-1.0.dist-info").mkdir(parents=True)
    (folder / "site" / "some_network.py").write_text(NETWORK)
    (folder / "site" / "net-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: net\nVersion: 1.0\n")
    points = "[ludus.networks]\ntictactoe = some_network\n"
    (folder / "site" / "net-1.0.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(folder / "site"))
    assert type(network_of("tictactoe")).__name__ == "WideNet"


def test_layout_without_a_network_is_used_by_the_mlp(folder):
    (folder / "cartpole.py").write_text(LAYOUT)
    network = network_of("cartpole")
    assert type(network) is MLPAgent and network.layout.globals[0].low == (-9.0,)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise RuntimeError('no luck')\n", "tictactoe.py:1: RuntimeError: no luck"),
        ("LAYUOT = 3\n", "declares neither NETWORK nor LAYOUT"),
        ("LAYOUT = 3\n", "LAYOUT a Layout"),
        ("NETWORK = 3\n", "NETWORK must be a Flax class"),
    ],
)
def test_invalid_network_raises_only_for_its_game(folder, text, reason):
    (folder / "tictactoe.py").write_text(text)
    with pytest.raises(LudusError, match=reason):
        network_of("tictactoe")
    assert type(network_of("goofspiel")) is MLPAgent
