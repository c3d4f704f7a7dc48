"""Every supported space of Gymnasium as fields and actions; every other one raises a LudusError."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")

import gymnasium
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ludus.bridges.gymnasium_pool import from_env, from_vector_env
from ludus.dsl import bounds
from ludus.types import Continuous, Discrete, LudusError


class Echo(gymnasium.Env):
    """Shows samples of any space and remembers the actions it was given."""

    def __init__(self, observation_space=None, action_space=None, info=None):
        self.observation_space = observation_space or spaces.Discrete(2)
        self.action_space = action_space or spaces.Discrete(2)
        self.info, self.actions, self.shown = info or {}, [], []

    def reset(self, *, seed=None, options=None):
        self.observation_space.seed(seed)
        return self._look(), self.info

    def step(self, action):
        assert self.action_space.contains(action), action
        self.actions.append(action)
        return self._look(), 0.0, False, False, self.info

    def _look(self):
        self.shown.append(self.observation_space.sample())
        return self.shown[-1]


NESTED = spaces.Dict(
    {
        "camera": spaces.Box(0, 255, (4, 4, 3), np.uint8),
        "body": spaces.Dict(
            {"speed": spaces.Box(-np.inf, np.inf, (), np.float64), "gear": spaces.Discrete(5, start=-1)}
        ),
        "hands": spaces.Tuple([spaces.MultiBinary(4), spaces.MultiDiscrete([3, 4], start=[10, 20])]),
    }
)


def test_nested_observations_become_named_fields():
    envs = [Echo(NESTED) for _ in range(3)]
    unused = iter(envs)
    pool = from_env(lambda: next(unused), 3, seed=4)
    assert set(pool.observation.names) == {"camera", "body_speed", "body_gear", "hands_0", "hands_1"}
    for _ in range(5):
        step = pool.advance([0, 1, 0])
        for row, env in enumerate(envs):
            shown = env.shown[-1]
            assert (step.observation["camera"][row] == shown["camera"]).all()
            assert step.observation["body_speed"][row] == shown["body"]["speed"]
            assert step.observation["body_gear"][row] == shown["body"]["gear"]
            assert (step.observation["hands_0"][row] == shown["hands"][0]).all()
            assert (step.observation["hands_1"][row] == shown["hands"][1]).all()
    assert step.observation["camera"].dtype == np.uint8
    assert [bound.tolist() for bound in bounds(pool.observation, "hands_1")] == [[10, 20], [12, 23]]
    assert [int(bound) for bound in bounds(pool.observation, "body_gear")] == [-1, 3]
    assert bounds(pool.observation, "body_speed")[1] == np.inf


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_nested_observations_in_vector_environments(mode):
    envs = [Echo(NESTED, spaces.MultiDiscrete([2, 3], start=[5, 6])) for _ in range(2)]
    vector_env = SyncVectorEnv([lambda env=env: env for env in envs], autoreset_mode=mode)
    pool = from_vector_env(vector_env, seed=[1, 2])
    step = pool.advance([5, 0])
    assert [env.actions[-1].tolist() for env in envs] == [[6, 8], [5, 6]]
    for row, env in enumerate(envs):
        assert (step.observation["camera"][row] == env.shown[-1]["camera"]).all()
        assert step.observation["body_gear"][row] == env.shown[-1]["body"]["gear"]
        assert (step.observation["hands_1"][row] == env.shown[-1]["hands"][1]).all()


@pytest.mark.parametrize(
    "space",
    [
        spaces.Text(5),
        spaces.Sequence(spaces.Discrete(2)),
        spaces.Graph(spaces.Discrete(2), None),
        spaces.OneOf([spaces.Discrete(2)]),
        spaces.Dict(inside=spaces.Tuple([spaces.Text(5)])),
    ],
)
def test_unsupported_spaces_raise(space):
    name = "Text" if isinstance(space, spaces.Dict) else type(space).__name__
    with pytest.raises(LudusError, match=f"observations of the space {name}"):
        from_env(lambda: Echo(space), 1)
    with pytest.raises(LudusError, match=f"actions of the space {type(space).__name__}"):
        from_env(lambda: Echo(action_space=space), 1)


def test_two_fields_with_the_same_name_raise():
    space = spaces.Dict({"a_b": spaces.Discrete(2), "a": spaces.Dict(b=spaces.Discrete(2))})
    with pytest.raises(LudusError, match="both be called a_b"):
        from_env(lambda: Echo(space), 1)


@pytest.mark.parametrize(
    ("space", "kind", "action", "given", "name"),
    [
        (spaces.Discrete(3, start=-1), Discrete(3), 0, -1, "-1"),
        (spaces.Discrete(3), Discrete(3), 2, 2, "2"),
        (spaces.MultiDiscrete([2, 3, 4]), Discrete(24), 23, [1, 2, 3], "1, 2, 3"),
        (spaces.MultiDiscrete([2, 100], dtype=np.int8, start=[5, 20]), Discrete(200), 199, [6, 119], "6, 119"),
        (spaces.MultiBinary(3), Discrete(8), 5, [1, 0, 1], "1, 0, 1"),
        (spaces.Box(-2, 2, (2, 1), np.float32), Continuous((-2, -2), (2, 2)), [0.5, -1], [[0.5], [-1]], "0.5, -1"),
        (spaces.Box(0, 255, (2,), np.uint8), Continuous((0, 0), (255, 255)), [7.6, 255], [8, 255], "7.6, 255"),
    ],
)
def test_actions_reach_the_environment_in_its_own_form(space, kind, action, given, name):
    env = Echo(action_space=space)
    pool = from_env(lambda: env, 1)
    assert pool.spec.actions == kind
    pool.advance([action])
    assert np.asarray(env.actions[-1]).tolist() == given
    assert pool.action_name(action) == name
    assert pool.step.mask.shape == (1, kind.n if isinstance(kind, Discrete) else 0)


def test_unbounded_actions_raise():
    with pytest.raises(LudusError, match="no bounds"):
        from_env(lambda: Echo(action_space=spaces.Box(-np.inf, 1, (2,))), 1)
    with pytest.raises(LudusError, match="387420489 combinations"):
        from_env(lambda: Echo(action_space=spaces.MultiDiscrete([9] * 9)), 1)


def test_masks_of_several_choices_are_flattened():
    space, info = (
        spaces.MultiDiscrete([2, 3]),
        {"action_mask": (np.array([1, 0], np.int8), np.array([0, 1, 1], np.int8))},
    )
    pool = from_env(lambda: Echo(action_space=space, info=info), 2)
    assert pool.step.mask.tolist() == [[False, True, True, False, False, False]] * 2
    with pytest.raises(LudusError, match="legal actions: 0, 1, 0, 2"):
        pool.advance([1, 3])


def test_an_empty_mask_allows_every_action():
    pool = from_env(lambda: Echo(info={"action_mask": np.zeros(2, np.int8)}), 1)
    assert pool.step.mask.tolist() == [[True, True]]
    with pytest.raises(LudusError, match="3 entries, but there are 2 actions"):
        from_env(lambda: Echo(info={"action_mask": np.zeros(3, np.int8)}), 1)
