"""Flattened choices compared with NumPy's arithmetic, at the limits of int64; wrappers pass check_env."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")

import gymnasium
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from ludus.bridges.flatten import (
    LARGEST,
    FlattenMultiDiscreteActions,
    FlattenMultiDiscreteObservations,
    choices,
    combinations,
    flatten_index,
    unflatten_index,
)
from ludus.types import LudusError

WHOLE = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64]


@given(st.lists(st.integers(1, 100), min_size=1, max_size=6), st.integers(0), st.sampled_from(WHOLE))
def test_flattening_is_numpys_row_major_order(sizes, number, dtype):
    index = number % math.prod(sizes)
    parts = unflatten_index(index, np.array(sizes, dtype))
    assert parts.tolist() == [int(part) for part in np.unravel_index(index, sizes)]
    assert flatten_index(parts.astype(dtype), np.array(sizes, dtype)) == index


def test_arrays_keep_their_leading_axes():
    sizes = [3, 4, 5]
    index = np.arange(60, dtype=np.int16).reshape(2, 30)
    parts = unflatten_index(index, sizes)
    assert parts.shape == (2, 30, 3)
    assert flatten_index(parts, sizes).tolist() == index.tolist()
    assert len({tuple(row) for row in parts.reshape(-1, 3).tolist()}) == 60


def test_small_types_do_not_wrap():
    sizes = np.array([100, 100, 100], np.int8)
    assert combinations(sizes) == 1_000_000
    assert flatten_index(np.array([99, 99, 99], np.int8), sizes) == 999_999
    assert unflatten_index(np.int32(999_999), sizes).tolist() == [99, 99, 99]


@pytest.mark.parametrize("sizes", [[LARGEST], [2**31, 2**31], [2**62, 1, 1], [7, 7, 73, 127, 337, 92737, 649657]])
def test_the_largest_numbers_round_trip(sizes):
    last = math.prod(sizes) - 1
    parts = unflatten_index(last, sizes)
    assert parts.tolist() == [size - 1 for size in sizes]
    assert flatten_index(parts, sizes) == last


def test_too_many_combinations_raise():
    with pytest.raises(LudusError, match="9223372036854775808 combinations"):
        combinations([2**21, 2**21, 2**21])
    with pytest.raises(LudusError, match="combinations"):
        combinations(np.full(40, 127, np.int8))


@pytest.mark.parametrize(
    ("parts", "sizes", "message"),
    [
        ([1, 3], [2, 3], "3 is not a number from 0 to 2"),
        ([-1, 0], [2, 3], "-1 is not a number from 0 to 1"),
        ([0, 0, 0], [2, 3], "2 sizes need 2 parts"),
        ([0.0, 1.0], [2, 3], "not float64"),
        ([0, 0], [2, 0], "at least 1"),
        ([2**64, 0], [2, 2], "not object"),
        (np.array([2**64 - 1, 0], np.uint64), [2, 2], "not a number from 0 to 1"),
    ],
)
def test_invalid_parts_raise(parts, sizes, message):
    with pytest.raises(LudusError, match=message):
        flatten_index(parts, sizes)


def test_invalid_indices_raise():
    with pytest.raises(LudusError, match="6 is not a number from 0 to 5"):
        unflatten_index([0, 6], [2, 3])
    with pytest.raises(LudusError, match="not float64"):
        unflatten_index(0.5, [2, 3])


class Locks(gymnasium.Env):
    """Dials to set; the observation is the random state of other dials."""

    def __init__(self, action_space, observation_space):
        self.action_space, self.observation_space = action_space, observation_space
        self.seen = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._look(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.seen.append(np.array(action))
        return self._look(), 0.0, False, False, {}

    def _look(self):
        sizes, start = choices(self.observation_space)
        return (start + self.np_random.integers(0, sizes)).astype(self.observation_space.dtype)


DIALS = spaces.MultiDiscrete([3, 100], dtype=np.int8, start=[-1, 20])
GRID = spaces.MultiDiscrete([[2, 3], [4, 5]])


@pytest.mark.parametrize("space", [DIALS, GRID, spaces.MultiBinary(5), spaces.MultiBinary([2, 2])])
def test_flat_actions_reach_every_combination(space):
    inner = Locks(space, spaces.MultiBinary(1))
    env = FlattenMultiDiscreteActions(inner)
    env.reset(seed=0)
    for action in range(int(env.action_space.n)):
        env.step(action)
    assert len({tuple(parts.ravel().tolist()) for parts in inner.seen}) == env.action_space.n


@pytest.mark.parametrize("space", [DIALS, GRID, spaces.MultiBinary(5)])
def test_different_observations_have_different_numbers(space):
    env = FlattenMultiDiscreteObservations(Locks(spaces.Discrete(2), space))
    space.seed(0)
    samples = [space.sample() for _ in range(300)]
    flat = [env.observation(sample) for sample in samples]
    assert all(env.observation_space.contains(index) for index in flat)
    assert len(set(flat)) == len({sample.tobytes() for sample in samples})


# check_env warns about every wrapped environment; other warnings are errors.
@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version.*:UserWarning")
@pytest.mark.parametrize("wrapper", [FlattenMultiDiscreteActions, FlattenMultiDiscreteObservations])
def test_wrapped_environments_pass_check_env(wrapper):
    check_env(wrapper(Locks(DIALS, GRID)), skip_render_check=True)


def test_spaces_that_need_no_flattening_raise():
    with pytest.raises(LudusError, match="nothing to flatten"):
        FlattenMultiDiscreteActions(gymnasium.make("CartPole-v1"))
