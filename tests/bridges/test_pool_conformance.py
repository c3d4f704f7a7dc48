"""Every kind of pool passes every check of the pool protocol: compiled pools and those of every bridge."""

import contextlib

import pytest
from pool_checks import CHECKS, ROWS

from ludus import bridges, games
from ludus.bridges.discretize import Discretize
from ludus.pool import Pool

KINDS = {(game.spec.turns, type(game.spec.actions)): game.name for game in map(games.load, games.bundled())}
"""one game for each combination of turn order and type of actions"""
EXAMPLES = {
    "gymnasium": ("CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "FrozenLake-v1(compiled=false)"),
    "pettingzoo": ("classic/tictactoe-v3", "classic/rps-v2"),
    "discretize": ("cartpole(bins=4)", "gymnasium:MountainCar-v0(bins=4)"),
}
NAMES = [*KINDS.values(), *(f"{prefix}:{name}" for prefix, names in EXAMPLES.items() for name in names)]
WRAPPED = "Discretize(Pool)"
"""a wrapped compiled pool, which cannot be opened by name"""


def test_every_bridge_is_checked():
    assert set(EXAMPLES) == set(bridges.PREFIXES)
    assert set(bridges.ENGINES) == {"duel@ygopro"}  # checked in ygopro/test_ygopro_pool.py


@pytest.fixture
def opened(request):
    """A function that opens the pool with the same seed at every call; all are closed at the end."""
    with contextlib.ExitStack() as stack:

        def open_one():
            name = request.param
            pool = Discretize(Pool("cartpole", ROWS, 3), 4) if name == WRAPPED else bridges.open_pool(name, ROWS, 3)
            stack.callback(pool.close)
            return pool

        yield open_one


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("opened", [*NAMES, WRAPPED], indirect=True)
def test_pool_passes_the_check(opened, check):
    check(opened)


def test_every_capability_is_both_present_and_absent():
    """The suite has pools with and without each capability, so that every branch of the checks runs."""
    pools = [bridges.open_pool(name, ROWS) for name in NAMES]
    for name in ("can_fork", "can_save"):
        assert {getattr(pool, name) for pool in pools} == {True, False}
    assert {pool.compiled is None for pool in pools} == {True, False}
    for pool in pools:
        pool.close()
