"""Tiles: exact edges, the same tiles compiled and wrapped, names that give the same tiles again, and errors."""

from __future__ import annotations

import doctest
import hashlib
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus import games
from ludus.bridges import open_pool
from ludus.bridges.discretize import Discretize, discretized_game, measured_ranges, plan, tiles
from ludus.dsl import bounds, f32, f64, i8, i16, i32, record, u8, within
from ludus.dsl.rows import new_rows
from ludus.evaluation import conformance
from ludus.evaluation.conformance.plain_python import CHECKS as PLAIN_CHECKS
from ludus.evaluation.conformance.trials import Trial
from ludus.pool import Pool, binding
from ludus.types import Continuous, Discrete, LudusError, Spec

LIMITS = "-2.4:2.4/-3:3/-0.21:0.21/-2:2"
ONE_SEAT = Spec(seats=1, actions=Discrete(2))
MIXED = '''"""Mixed: a die, a position and a grid, seen by two seats that take turns."""

from ludus.dsl import HEAD, OVER, Discrete, Spec, f32, f64, i8, i32, integer, random, record, rule, within

SPEC = Spec(seats=2, actions=Discrete(3), horizon=9)
PARAMETERS = {"length": integer(9, 1, 9, "moves of a game")}
STATE = record(**HEAD, length=i32, moves=i32, die=i8, place=f64)
OBSERVATION = record(
    die=within(1, 6, i8), grid=within(0, (1.0, 2.0), f32, 3, 2), place=within(-2, 2, f32), moves=within(0, 99, i32)
)


@rule
def init(state):
    state.die = 1 + random.below(state, 6)


@rule
def step(state, action, reward):
    state.die = 1 + random.below(state, 6)
    state.place = random.uniform(state, -2.0, 2.0)
    state.seat = 1 - state.seat
    state.moves += 1
    reward[0] = action
    if state.moves >= state.length:
        state.status = OVER


@rule
def legal(state, seat, mask):
    for action in range(3):
        mask[action] = 1


@rule
def observe(state, seat, out):
    out.die = state.die
    for row in range(3):
        out.grid[row, 0] = (state.moves + row) % 2
        out.grid[row, 1] = (state.die + seat + row) % 3
    out.place = state.place if seat == 0 else -state.place
    out.moves = state.moves * 11


def action_name(action):
    return str(action)
'''


def never():
    raise AssertionError("all ranges are declared, so nothing must be measured")


def tiling_of(low, high, bins):
    return plan("game", ONE_SEAT, record(x=within(low, high, f64)), bins, None, never)


def wrapped(tiling, values):
    return tiles(tiling.edges, np.array(values, np.float64).reshape(-1, 1))[:, 0].tolist()


def steps_of(pool, turns=60):
    step = pool.step
    for turn in range(turns):
        yield step
        step = pool.advance(pool.random_actions(turn))


def assert_same_steps(left, right, turns=60):
    for one, other in zip(steps_of(left, turns), steps_of(right, turns), strict=True):
        assert one.observation.keys() == other.observation.keys()
        for name in one.observation:
            assert one.observation[name].dtype == other.observation[name].dtype
            assert one.observation[name].tolist() == other.observation[name].tolist()
        for mine, theirs in zip(one[1:], other[1:], strict=True):
            assert mine.tolist() == theirs.tolist()


@pytest.fixture
def mixed(tmp_path, monkeypatch):
    (tmp_path / "mixed.py").write_text(MIXED)
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    return games.load("mixed")


@pytest.fixture(scope="module")
def compiled_tile():
    """The compiled rule of a tiled game, for three components with different bins and limits."""
    return discretized_game(games.load("cartpole"), "7/8/3/1", "-1:1/-0.1:0.3/1000000:1000003/").rules


# Edges


def test_a_value_on_an_edge_belongs_to_the_upper_tile():
    tiling = tiling_of(-2, 2, 4)
    below = [np.nextafter(edge, -math.inf) for edge in (-1.0, 0.0, 1.0)]
    assert wrapped(tiling, [-2, -1, 0, 1, 2]) == [0, 1, 2, 3, 3]
    assert wrapped(tiling, below) == [0, 1, 2]


def test_values_beyond_the_limits_fall_into_the_outermost_tiles():
    assert wrapped(tiling_of(-2, 2, 4), [-math.inf, -1e300, -2.001, 2.001, 1e300, math.inf]) == [0, 0, 0, 3, 3, 3]


def test_nan_belongs_to_tile_0(compiled_tile):
    assert wrapped(tiling_of(-2, 2, 4), [math.nan]) == [0]
    assert [compiled_tile.tile(math.nan, component) for component in range(4)] == [0, 0, 0, 0]


def test_one_bin_ignores_a_component(compiled_tile):
    assert wrapped(tiling_of(-2, 2, 1), [-math.inf, -1, 0, 1, math.inf]) == [0] * 5
    assert [compiled_tile.tile(value, 3) for value in (-math.inf, -1.0, 0.5, math.inf)] == [0] * 4


@given(st.lists(st.floats(allow_nan=True), min_size=1), st.integers(1, 300), st.floats(-1e9, 1e9), st.floats(1e-3, 1e9))
def test_tiles_are_in_range_and_monotonic(values, bins, low, span):
    tiling = tiling_of(low, low + span, bins)
    found = wrapped(tiling, values)
    assert all(0 <= tile < bins for tile in found)
    ordered = wrapped(tiling, sorted(value for value in values if not math.isnan(value)))
    assert ordered == sorted(ordered)


@given(st.integers(0, 3), st.one_of(st.floats(), st.floats(-2, 2), st.floats(999_999, 1_000_004)))
def test_the_compiled_tile_equals_the_wrapped_one(compiled_tile, component, value):
    tiling = plan("cartpole", ONE_SEAT, games.load("cartpole").rules.OBSERVATION, "7/8/3/1",
                  "-1:1/-0.1:0.3/1000000:1000003/", never)  # fmt: skip
    found = tiles(tiling.edges, np.full((1, 4), value))[0, component]
    assert compiled_tile.tile(value, component) == found


def test_the_compiled_tile_is_exact_at_every_edge(compiled_tile):
    tiling = plan("cartpole", ONE_SEAT, games.load("cartpole").rules.OBSERVATION, "7/8/3/1",
                  "-1:1/-0.1:0.3/1000000:1000003/", never)  # fmt: skip
    assert [len(edges) for edges in tiling.edges] == [6, 7, 2, 0]
    for component, edges in enumerate(tiling.edges):
        for upper, edge in enumerate(edges, start=1):
            assert compiled_tile.tile(edge, component) == upper
            assert compiled_tile.tile(np.nextafter(edge, -math.inf), component) == upper - 1


def test_integers_with_few_values_keep_them():
    seen = record(x=within(0, 1, f32), few=within(-2, 3, i8), many=within(0, 255, u8))
    tiling = plan("game", ONE_SEAT, seen, 8, None, never)
    assert tiling.bins == (8, 6, 8)
    found = tiles(tiling.edges, np.array([[0.5, -2, 31], [0.5, 0, 32], [0.5, 3, 255]]))
    assert found.tolist() == [[4, 0, 0], [4, 2, 1], [4, 5, 7]]


def test_the_record_has_the_range_of_every_component():
    tiling = plan("game", ONE_SEAT, record(x=within(0, 1, f32, 2), few=within(0, 2, i8)), "5/1/9", None, never)
    low, high = bounds(tiling.observation, "tiles")
    assert (low.tolist(), high.tolist()) == ([0, 0, 0], [4, 0, 2])
    assert tiling.observation["tiles"].base == np.dtype(i16)


# Limits


def test_undeclared_limits_are_measured_and_written_with_three_digits():
    seen = record(x=within((0, -math.inf, -math.inf, 0), (1, math.inf, 5, 3.4028235e38), f32, 4), count=i32)
    column = np.arange(1001) * 1.2345
    tiling = plan("game", ONE_SEAT, seen, 8, None, lambda: np.stack([column] * 5, 1))
    assert tiling.limits_text == "0:1/12.3:1220/12.3:24.6/0:1220/12:1220"
    assert measured_ranges(np.array([[7.0, math.nan], [7.0, math.inf]])) == [(7.0, 14.0), (0.0, 1.0)]


def test_ignored_components_are_not_measured():
    seen = record(x=within((-math.inf, 0), (math.inf, 1), f32, 2))
    tiling = plan("game", ONE_SEAT, seen, "1/4", None, never)
    assert (tiling.limits_text, tiling.bins, tiling.high) == ("", (1, 4), (1.0, 1.0))


def test_empty_limits_use_the_declared_range():
    tiling = plan("game", ONE_SEAT, record(x=within(0, (1, 4.8), f32, 2)), 4, "/-1:1", never)
    assert tiling.limits_text == "0:1/-1:1"
    assert plan("game", ONE_SEAT, record(x=within(0, (1, 4.8), f32, 2)), 4, [None, (-1, 1)], never) == tiling


def test_measuring_depends_neither_on_rows_nor_on_seed():
    names = {open_pool("discretize:cartpole", rows, seed).name for rows, seed in ((1, 0), (5, 9))}
    assert len(names) == 1
    assert names.pop().startswith("discretize:cartpole(bins=8, limits=-4.8:4.8/-")


# Native games


def test_a_native_game_stays_native():
    pool = open_pool(f"discretize:cartpole(bins=8, limits={LIMITS})", 3, 1)
    assert isinstance(pool, Pool)
    assert pool.observation.names == ("tiles",)
    assert pool.game.title == "CartPole in tiles"
    assert pool.spec == games.load("cartpole").spec
    assert len(pool.scene()) > 3
    assert pool.describe().startswith("step 0: cart")
    assert pool.action_name(1) == "right"


def test_native_equals_wrapped():
    native = open_pool(f"discretize:cartpole(bins=5/6/7/8, limits={LIMITS})", 16, 4)
    around = Discretize(Pool("cartpole", 16, 4), (5, 6, 7, 8), LIMITS)
    assert native.name == around.name
    assert native.observation == around.observation
    assert_same_steps(native, around, 120)


def test_native_equals_wrapped_for_every_kind_of_field(mixed):
    native, around = Pool(discretized_game(mixed, 4), 8, 2), Discretize(Pool(mixed, 8, 2), 4)
    assert native.name == around.name == "discretize:mixed(bins=4)"
    assert_same_steps(native, around)
    inner, seen = Pool(mixed, 8, 2), native.reset(2).observation["tiles"]
    values = np.concatenate([inner.step.observation[n].reshape(8, -1) for n in mixed.rules.OBSERVATION.names], 1)
    low, high = np.array([1] + [0] * 6 + [-2, 0]), np.array([7, 1, 2, 1, 2, 1, 2, 2, 100])
    assert seen.tolist() == np.clip((values - low) / (high - low) * 4 // 1, 0, 3).astype(int).tolist()
    for seat in (0, 1):
        before = native.save().states
        native.look(3, seat)
        assert (native.save().states == before).all()
    assert native.look(3, 0)["tiles"].tolist() != native.look(3, 1)["tiles"].tolist()


class TiledTrial(Trial):
    """The trial of the conformance suite, for a game that only `open_pool` can open."""

    def __init__(self, pool):
        self.game, self.kernel = pool.game, binding.bind(pool.game.name, pool.game.rules)


NATIVE_CHECKS = [check for check in conformance.CHECKS if check not in PLAIN_CHECKS]


@pytest.fixture(scope="module")
def trial():
    return TiledTrial(open_pool("discretize:cartpole(bins=8)", 1))


@pytest.mark.parametrize("check", NATIVE_CHECKS, ids=lambda check: check.__name__)
def test_a_tiled_game_passes_the_conformance_checks(trial, check):
    assert check(trial) == ""


@pytest.mark.parametrize("check", NATIVE_CHECKS, ids=lambda check: check.__name__)
def test_a_tiled_game_of_two_seats_passes_the_conformance_checks(mixed, check):
    assert check(TiledTrial(Pool(discretized_game(mixed, 4), 1))) == ""


PLAY = """
import hashlib
from ludus.bridges import open_pool
pool, total = open_pool({name!r}, 3, 5), hashlib.sha256()
for turn in range(80):
    step = pool.advance(pool.random_actions(turn))
    total.update(step.observation["tiles"].tobytes() + step.reward.tobytes() + pool.states["status"].tobytes())
print(total.hexdigest())
"""


@pytest.mark.parametrize("name", [f"cartpole(bins=8, limits={LIMITS})", "mixed(bins=5)"])
def test_compiled_equals_plain_python(mixed, name):
    done = subprocess.run(
        [sys.executable, "-c", PLAY.format(name=f"discretize:{name}")], env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    pool, total = open_pool(f"discretize:{name}", 3, 5), hashlib.sha256()
    for turn in range(80):
        step = pool.advance(pool.random_actions(turn))
        total.update(step.observation["tiles"].tobytes() + step.reward.tobytes() + pool.states["status"].tobytes())
    assert done.stdout.strip() == total.hexdigest()


def test_equal_tilings_share_a_module():
    first, again, other = (discretized_game(games.load("cartpole"), bins, LIMITS) for bins in (8, "8", 9))
    assert first.rules is again.rules
    assert first.rules is not other.rules


def test_every_module_has_its_own_compiled_code():
    """Compiled code refers to its module by name, so games with different settings must not share a cache folder."""
    games_in_tiles = [discretized_game(games.load("cartpole", horizon=h), 8, LIMITS) for h in (500, 100)]
    assert len({game.rules.__name__ for game in games_in_tiles}) == 2
    assert len({binding.digest(binding.KERNEL, game.rules) for game in games_in_tiles}) == 2


def test_an_edited_inner_game_gets_a_new_module(mixed, tmp_path, monkeypatch):
    before = discretized_game(mixed, 4).rules
    (tmp_path / "mixed.py").write_text(MIXED.replace("reward[0] = action", "reward[0] = 7 - action"))
    monkeypatch.delitem(sys.modules, "ludus_games_mixed")
    after = discretized_game(games.load("mixed"), 4).rules
    assert before.__name__ != after.__name__
    assert Pool(discretized_game(games.load("mixed"), 4), 1, 0).advance([2]).reward[0, 0] == 5


# Names and settings


@pytest.mark.parametrize("name", ["cartpole", "cartpole(bins=1/1/6/12)", f"cartpole(limits={LIMITS}, horizon=20)"])
def test_the_name_opens_the_same_tiles(name):
    pool = open_pool(f"discretize:{name}", 4, 3)
    again = open_pool(pool.name, 4, 3)
    assert (again.name, again.game.fingerprint) == (pool.name, pool.game.fingerprint)
    assert again.game.rules is pool.game.rules
    assert_same_steps(pool, again)


def test_settings_are_passed_to_the_inner_game():
    pool = open_pool(f"discretize:cartpole(horizon=3, bins=4, limits={LIMITS})", 2, 0)
    assert pool.name == f"discretize:cartpole(bins=4, limits={LIMITS}, horizon=3)"
    assert [pool.advance([0, 1]).first.any() for _ in range(4)] == [False, False, False, True]
    assert pool.game.settings == {"horizon": "3"}


def test_native_games_ignore_render_mode_and_draw_shapes():
    pool = open_pool(f"discretize:cartpole(limits={LIMITS}, render_mode=rgb_array)", 1)
    assert "render_mode" not in pool.name
    assert pool.scene().dtype.names


def test_fingerprints_depend_on_the_tiling():
    tiled = [open_pool(f"discretize:cartpole(bins=8, limits={limits})", 1) for limits in (LIMITS, f"-1:1{LIMITS[8:]}")]
    assert len({pool.game.fingerprint for pool in tiled}) == 2
    around = [Discretize(Pool("cartpole", 1), 8, limits) for limits in (LIMITS, f"-1:1{LIMITS[8:]}", LIMITS)]
    assert around[0].fingerprint == around[2].fingerprint != around[1].fingerprint
    assert around[0].name == tiled[0].game.full_name


# Any pool


def test_the_example_in_the_docstring_runs():
    found = doctest.DocTestFinder().find(Discretize, "Discretize", globs={"Discretize": Discretize, "Pool": Pool})
    results = [doctest.DocTestRunner().run(example) for example in found]
    assert sum(result.attempted for result in results) == 2
    assert not any(result.failed for result in results)


def test_a_wrapped_pool_passes_everything_else_through():
    inner = Pool("cartpole", 3, 1)
    pool = Discretize(inner, 8, LIMITS)
    assert (pool.rows, pool.spec, pool.action_name(0), pool.describe(2)) == (3, inner.spec, "left", inner.describe(2))
    assert pool.scene(1).tobytes() == inner.scene(1).tobytes()
    saved = pool.save()
    pool.advance([0, 1, 0])
    twin = pool.fork([2, 0], seed=8)
    assert twin.step.observation["tiles"].tolist() == pool.step.observation["tiles"][[2, 0]].tolist()
    assert pool.restore(saved).observation["tiles"].tolist() == pool.reset(1).observation["tiles"].tolist()
    assert pool.status.tolist() == [0, 0, 0]
    with pytest.raises(LudusError, match="action 2 of row 1 is not legal"):
        pool.check([0, 2, 0])
    pool.close()


def test_measuring_does_not_change_a_native_pool():
    inner = Pool("cartpole", 2, 1)
    before = inner.save().states
    pool = Discretize(inner)
    assert (inner.save().states == before).all()
    assert pool.name == open_pool("discretize:cartpole", 1).name


# Foreign games


@pytest.mark.parametrize("rows", [1, 3])
def test_a_gymnasium_environment_in_tiles(rows):
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    name = f"gymnasium:CartPole-v1(bins=6, limits={LIMITS}, sutton_barto_reward=true)"
    pool, inner = open_pool(f"discretize:{name}", rows, 2), open_pool("gymnasium:CartPole-v1", rows, 2)
    assert isinstance(pool, Discretize)
    assert pool.name == f"discretize:{name}"
    rewards = set()
    for tiled, plain in zip(steps_of(pool), steps_of(inner), strict=True):
        values = plain.observation["observation"].astype(np.float64)
        low, high = np.array([-2.4, -3, -0.21, -2]), np.array([2.4, 3, 0.21, 2])
        assert (tiled.observation["tiles"] == np.clip((values - low) / (high - low) * 6 // 1, 0, 5)).all()
        assert tiled.first.tolist() == plain.first.tolist()
        rewards |= set(tiled.reward.ravel().tolist())
    assert rewards == {0.0, -1.0}
    assert open_pool(pool.name, 2, 2).fingerprint == pool.fingerprint


def test_limits_of_a_gymnasium_environment_are_measured_in_a_separate_pool():
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    pool = open_pool("discretize:gymnasium:CartPole-v1(bins=6)", 2, 2)
    assert pool.name.startswith("discretize:gymnasium:CartPole-v1(bins=6, limits=-4.8:4.8/-")
    assert_same_steps(pool, open_pool(pool.name, 2, 2))


def test_a_given_foreign_pool_is_measured_and_reset():
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    pools = [Discretize(open_pool("gymnasium:CartPole-v1", 2, seed)) for seed in (2, 2)]
    assert all(pool.step.first.all() for pool in pools)
    assert_same_steps(*pools)


def test_foreign_pools_have_names_and_fingerprints():
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    cart, again, acrobot, copter = (
        open_pool(f"gymnasium:{name}", rows)
        for name, rows in (("CartPole-v1", 1), ("CartPole-v1", 2), ("Acrobot-v1", 1), ("MountainCar-v0", 1))
    )
    assert cart.name == "gymnasium:CartPole-v1"
    assert cart.fingerprint == again.fingerprint
    assert len({cart.fingerprint, acrobot.fingerprint, copter.fingerprint}) == 3


def test_a_pettingzoo_environment_in_tiles():
    pettingzoo = pytest.importorskip("pettingzoo", reason="pip install 'ludus[pettingzoo]'")
    spaces = pytest.importorskip("gymnasium").spaces
    from ludus.bridges.pettingzoo_pool import from_parallel

    class Scales(pettingzoo.ParallelEnv):
        """Two players see the same weight with opposite signs."""

        metadata = {"name": "scales"}  # noqa: RUF012
        possible_agents = ("left", "right")

        def observation_space(self, agent):
            return spaces.Box(-1, 1, (1,), np.float32)

        def action_space(self, agent):
            return spaces.Discrete(2)

        def reset(self, seed=None, options=None):
            self.agents, self.weight = list(self.possible_agents), 0.0
            return self._look(), {agent: {} for agent in self.agents}

        def step(self, actions):
            self.weight += 0.3 * (actions["left"] - actions["right"])
            over = dict.fromkeys(self.agents, abs(self.weight) > 0.8)
            return self._look(), dict.fromkeys(self.agents, 0.0), over, dict.fromkeys(self.agents, False), {}

        def _look(self):
            return {a: np.array([w], np.float32) for a, w in zip(self.agents, (self.weight, -self.weight), strict=True)}

    pool = Discretize(from_parallel(Scales, 2), 4)
    found = [pool.advance([1, 0, 0, 1]).observation["tiles"][:, 0].tolist() for _ in range(3)]
    assert found == [[2, 1, 1, 2], [3, 0, 0, 3], [3, 0, 0, 3]]
    assert pool.status.tolist() == [1, 1]


# Errors


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("car", "car has continuous actions, .* or choose another game"),
        ("tictactoe", "tictactoe needs no discretize: .* open it as tictactoe"),
        ("cartpole(bins=0)", 'bins "0" is not a whole number from 1'),
        ("cartpole(bins=-3)", 'bins "-3" is not a whole number from 1'),
        ("cartpole(bins=2.5)", 'bins "2.5" is not'),
        ("cartpole(bins=40000)", "to 32767"),
        ("cartpole(bins=3/4)", r"2 bins were given, but the observation has 4 components \(motion\[0\], motion\[1\]"),
        ("cartpole(limits=1:2)", "1 limits were given, but the observation has 4 components"),
        ("cartpole(limits=2:1///)", r'limits "2:1" of motion\[0\] are not two numbers low:high, the lower first'),
        ("cartpole(limits=0:inf///)", 'limits "0:inf"'),
        ("cartpole(limits=/nan:1//)", 'limits "nan:1"'),
        ("cartpole(limits=1:2:3///)", 'limits "1:2:3"'),
        ("cartpole(limits=a:b///)", 'limits "a:b"'),
        ("cartpole(limits=1:1.0000000000000002//0:1/)", "cannot have 8 tiles from 1 to 1"),
        ("cartpole(bins=2, limits=-1e308:1e308//0:1/)", "cannot have 2 tiles"),
        ("cartpole(bins=2, limits=0:1e-320//0:1/)", "cannot have 2 tiles"),
        ("cartpole(bins=2, bins=3)", "is not a new parameter=value pair"),
        ("cartpole(gravity=2)", 'cartpole has no parameter "gravity"'),
        ("cartpole(", "write it like discretize:cartpole"),
        ("cartpol", 'did you mean "cartpole"'),
        ("nowhere:x", 'unknown prefix "nowhere:"'),
    ],
)
def test_invalid_names_raise(name, message):
    with pytest.raises(LudusError, match=message):
        open_pool(f"discretize:{name}", 1)


def test_invalid_tilings_raise():
    with pytest.raises(LudusError, match=r"limits .* of few are not two whole numbers"):
        plan("game", ONE_SEAT, record(x=within(0, 1, f32), few=within(0, 5, i8)), 3, "0:1/0:2.5", never)
    with pytest.raises(LudusError, match="has 2000 numbers in its observation"):
        plan("game", ONE_SEAT, record(x=within(0, 1, f32, 2000)), 3, None, never)
    with pytest.raises(LudusError, match="continuous actions"):
        plan("game", Spec(1, Continuous((0,), (1,))), record(x=within(0, 1, f32)), 3, None, never)
    with pytest.raises(LudusError, match="limits"):
        plan("game", ONE_SEAT, record(x=within(0, 1, f32)), 3, [5], never)


def test_a_state_field_named_untiled_raises(mixed, tmp_path):
    (tmp_path / "clash.py").write_text(MIXED.replace("die=i8, place=f64)", "die=i8, place=f64, untiled=i8)"))
    with pytest.raises(LudusError, match="rename it"):
        discretized_game(games.load("clash"), 4)


def test_the_record_of_a_tiled_state_has_no_padding(mixed):
    rules = discretized_game(mixed, 4).rules
    untiled = rules.STATE["untiled"]
    assert set(untiled.names) - {"gap_at_the_end"} == set(mixed.rules.OBSERVATION.names)
    assert sum(untiled[name].itemsize for name in untiled.names) == untiled.itemsize
    assert new_rows(3, rules.STATE).tobytes() == bytes(3 * rules.STATE.itemsize)
