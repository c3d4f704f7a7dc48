"""Gymnasium environments as pools: the same steps in every autoreset mode, with the environment's own values."""

from __future__ import annotations

import functools
import importlib
import sys

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")

import gymnasium
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

from ludus.bridges import open_pool
from ludus.bridges.foreign import ForeignPool, read_value, row_seeds
from ludus.bridges.gymnasium_pool import from_env, from_vector_env
from ludus.dsl import CUT, OVER, PLAYING, bounds
from ludus.types import LudusError

MODES = list(AutoresetMode)


class Counter(gymnasium.Env):
    """Counts its steps up to `length`, where it ends; an action of 1 is the only legal one on odd counts."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, length=4, truncates=False, masks=""):
        self.length, self.truncates, self.masks = length, truncates, masks
        self.action_space = spaces.Discrete(3)
        count = spaces.Box(0, 100, (1,), np.int32)
        legal = spaces.Box(0, 1, (3,), np.int8)
        self.observation_space = spaces.Dict(count=count, action_mask=legal) if masks == "observation" else count
        self.count, self.closed = 0, False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return self._look()

    def step(self, action):
        assert action in (0, 1, 2)
        assert self.count < self.length, "no step may follow the end"
        assert not self.masks or self._legal()[action], "the action must be legal"
        self.count += 1
        over = self.count == self.length
        observation, info = self._look()
        return observation, 10.0 * self.count, over and not self.truncates, over and self.truncates, info

    def close(self):
        self.closed = True

    def _look(self):
        count = np.array([self.count], np.int32)
        if self.masks == "observation":
            return {"count": count, "action_mask": self._legal()}, {}
        return count, {"action_mask": self._legal()} if self.masks else {}

    def _legal(self):
        return np.array([0, 1, 0] if self.count % 2 else [1, 0, 1], np.int8)


class CustomCounters(VectorEnv):
    """A custom vector environment, in mode SAME_STEP or DISABLED."""

    def __init__(self, lengths, mode, obeys_mask=True):
        self.lengths, self.obeys_mask = np.array(lengths), obeys_mask
        self.metadata = {"autoreset_mode": mode}
        self.num_envs = len(lengths)
        self.single_action_space, self.single_observation_space = spaces.Discrete(3), spaces.Box(0, 100, (1,), np.int32)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.counts = np.zeros(self.num_envs, np.int32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        rows = options["reset_mask"] if options and self.obeys_mask else np.ones(self.num_envs, bool)
        self.counts[rows] = 0
        return self.counts[:, None].copy(), {}

    def step(self, actions):
        assert self.action_space.contains(actions)
        assert (self.counts < self.lengths).all()
        self.counts += 1
        over = self.counts == self.lengths
        rewards, final, infos = 10.0 * self.counts, self.counts[:, None].copy(), {}
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            infos = {"final_obs": final}
            self.counts[over] = 0
        return self.counts[:, None].copy(), rewards, over, np.zeros_like(over), infos


def check_counting(pool, lengths, cut=False, opening=0, turns=40):
    """Rows show 0, 1, …, L, 0, 1, … with the right flags; `opening` is the first count of later games."""
    expected, begins = [0] * len(lengths), set()
    step = pool.reset(3)
    for turn in range(turns):
        counts = step.observation.get("count", step.observation.get("observation"))[:, 0].tolist()
        assert counts == expected, turn
        for row, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            last = count == length
            assert pool.status[row] == ((CUT if cut else OVER) if last else PLAYING)
            assert step.discount[row] == (0 if last and not cut else 1)
            assert bool(step.first[row]) == (turn == 0 or row in begins)
            assert step.reward[row].tolist() == [0 if step.first[row] else 10 * count]
            assert step.mask[row].all() or not last
        begins = {row for row, count in enumerate(expected) if count == lengths[row]}
        expected = [opening if count == lengths[row] else count + 1 for row, count in enumerate(expected)]
        step = pool.advance(pool.random_actions(turn))


LENGTHS = (4, 1, 7)


@pytest.mark.parametrize("masks", ["", "info", "observation"])
@pytest.mark.parametrize("truncates", [False, True])
def test_single_environments(masks, truncates):
    lengths = iter(LENGTHS)
    pool = from_env(lambda: Counter(next(lengths), truncates, masks), 3)
    check_counting(pool, LENGTHS, truncates)
    assert pool.observation.names == (("count",) if masks == "observation" else ("observation",))


@pytest.mark.parametrize("masks", ["", "info", "observation"])
@pytest.mark.parametrize("truncates", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_every_autoreset_mode(mode, truncates, masks):
    makes = [functools.partial(Counter, length, truncates, masks) for length in LENGTHS]
    check_counting(from_vector_env(SyncVectorEnv(makes, autoreset_mode=mode)), LENGTHS, truncates)


@pytest.mark.parametrize("mode", MODES)
def test_environments_in_processes(mode):
    makes = [functools.partial(Counter, length, False, "info") for length in LENGTHS[:2]]
    # Spawned, since a fork may hang if other tests in this process have started threads.
    pool = from_vector_env(AsyncVectorEnv(makes, context="spawn", autoreset_mode=mode))
    check_counting(pool, LENGTHS[:2], turns=16)
    pool.close()


@pytest.mark.parametrize("mode", MODES)
def test_rows_that_end_in_the_same_step(mode):
    pool = from_vector_env(SyncVectorEnv([functools.partial(Counter, 3)] * 2, autoreset_mode=mode))
    check_counting(pool, (3, 3))


def test_custom_same_step_games_start_after_one_action():
    check_counting(from_vector_env(CustomCounters((4, 5, 7), AutoresetMode.SAME_STEP)), (4, 5, 7), opening=1)


def test_custom_disabled_games_are_reset_by_mask():
    check_counting(from_vector_env(CustomCounters((4, 2, 7), AutoresetMode.DISABLED)), (4, 2, 7))


def test_custom_games_that_ignore_reset_mask_raise():
    pool = from_vector_env(CustomCounters((2, 5), AutoresetMode.DISABLED, obeys_mask=False))
    pool.advance([0, 0])
    pool.advance([0, 0])
    with pytest.raises(LudusError, match="did not mark"):
        pool.advance([0, 0])


def test_custom_games_without_final_obs_raise():
    env = CustomCounters((1, 5), AutoresetMode.SAME_STEP)
    pool = from_vector_env(env)
    inner, env.step = env.step, lambda actions: (*inner(actions)[:4], {})
    with pytest.raises(LudusError, match="final_obs"):
        pool.advance([0, 0])


def test_a_vector_environment_must_declare_its_autoreset_mode():
    env = CustomCounters((1, 5), AutoresetMode.SAME_STEP)
    env.metadata = {}
    with pytest.raises(LudusError, match="autoreset_mode"):
        from_vector_env(env)


@pytest.mark.parametrize("mode", MODES)
def test_some_rows_can_be_reset(mode):
    makes = [functools.partial(Counter, length) for length in (2, 2, 5)]
    for pool in (
        from_vector_env(SyncVectorEnv(makes, autoreset_mode=mode)),
        from_env(functools.partial(Counter, 2), 3),
    ):
        pool.advance([0, 0, 0])
        before = pool.advance([0, 0, 0])
        step = pool.reset(rows=[True, False, False])
        assert step.observation["observation"][:, 0].tolist() == [0, 2, before.observation["observation"][2, 0]]
        assert step.first.tolist() == [True, False, False]
        assert pool.status.tolist()[:2] == [PLAYING, OVER]
        assert pool.reset(rows=[False] * 3).first.tolist() == [True, False, False]
        assert pool.advance([0, 0, 0]).observation["observation"][:2, 0].tolist() == [1, 0]
    with pytest.raises(LudusError, match="3 booleans"):
        pool.reset(rows=[True])


def test_custom_vector_environments_reset_all_rows_only():
    pool = from_vector_env(CustomCounters((4, 4), AutoresetMode.SAME_STEP))
    with pytest.raises(LudusError, match="some rows only"):
        pool.reset(rows=[True, False])
    with pytest.raises(LudusError, match="one number"):
        pool.reset([1, 2])


@pytest.mark.parametrize(("name", "turns"), [("CartPole-v1", 150), ("MountainCar-v0", 210), ("Pendulum-v1", 210)])
def test_rows_equal_the_bare_environment(name, turns):
    """Each row equals the bare environment with the same seed and actions."""
    pool = from_env(lambda: gymnasium.make(name), 3, seed=[11, 12, 13])
    envs = [gymnasium.make(name) for _ in range(3)]
    seen = [env.reset(seed=seed)[0] for env, seed in zip(envs, (11, 12, 13), strict=True)]
    step, statuses = pool.step, set()
    for turn in range(turns):
        assert step.observation["observation"].tolist() == [observation.tolist() for observation in seen]
        assert step.observation["observation"].dtype == envs[0].observation_space.dtype
        before, actions = pool.status, pool.random_actions(turn)
        step = pool.advance(actions)
        for row, env in enumerate(envs):
            if before[row] != PLAYING:
                seen[row] = env.reset()[0]
                continue
            action = actions[row].astype(np.float32) if actions.ndim > 1 else actions[row]
            seen[row], reward, terminated, truncated, _ = env.step(action)
            assert step.reward[row, 0] == np.float32(reward)
            assert pool.status[row] == (OVER if terminated else CUT if truncated else PLAYING)
        statuses |= set(pool.status.tolist())
    assert statuses == {PLAYING, OVER if name == "CartPole-v1" else CUT}


def test_cartpole_uses_its_own_vector_form():
    pool = open_pool("gymnasium:CartPole-v1", 4, seed=5)
    assert pool.name == "gymnasium:CartPole-v1"
    assert pool.spec.horizon == 500
    ended = 0
    for turn in range(200):
        before = pool.status
        step = pool.advance(pool.random_actions(turn))
        assert (step.first == (before != PLAYING)).all()
        assert (step.reward[:, 0] == np.where(step.first, 0, 1)).all()
        assert (np.abs(step.observation["observation"][step.first]) <= 0.05).all()
        ended += (pool.status == OVER).sum()
    assert ended > 10
    with pytest.raises(LudusError, match="one generator"):
        pool.reset([1, 2, 3, 4])


def test_one_seed_per_row_by_name():
    both = open_pool("gymnasium:CartPole-v1", 2, seed=[8, 9]).step.observation["observation"]
    for row, seed in enumerate((8, 9)):
        assert both[row].tolist() == gymnasium.make("CartPole-v1").reset(seed=seed)[0].tolist()


def test_max_episode_steps_of_minus_1_removes_the_time_limit():
    pool = open_pool("gymnasium:CartPole-v1(max_episode_steps=-1)", 2)
    assert pool.spec.horizon == 0
    assert (pool.advance([0, 1]).discount == 1).all()
    assert (pool.status == PLAYING).all()


@pytest.mark.parametrize("name", ["Blackjack-v1", "CartPole-v1", "FrozenLake-v1(compiled=false)", "Pendulum-v1"])
def test_the_same_seed_and_actions_give_the_same_stream(name):
    def stream(seed):
        pool = open_pool(f"gymnasium:{name}", 3, 1)
        pool.reset(seed)
        steps = [pool.advance(pool.random_actions(turn)) for turn in range(40)]
        return np.concatenate([np.ravel(field) for step in steps for field in step.observation.values()])

    first, second, other = stream(7), stream(7), stream(8)
    assert first.tolist() == second.tolist()
    assert first.tolist() != other.tolist()


def test_rows_with_one_seed_differ():
    observations = open_pool("gymnasium:Pendulum-v1", 30, seed=0).step.observation["observation"]
    assert len({row.tobytes() for row in observations}) == 30
    assert len(set(row_seeds(0, 100))) == 100
    assert not set(row_seeds(0, 100)) & set(row_seeds(1, 100))
    assert all(0 <= seed < 2**31 for seed in row_seeds(3, 100))
    for wrong in ([1, 2], [1, 2, -3]):
        with pytest.raises(LudusError, match="seeds"):
            row_seeds(wrong, 3)


def test_a_reset_without_a_seed_continues_the_random_stream():
    pool = open_pool("gymnasium:Pendulum-v1", 2, seed=0)
    env = gymnasium.make("Pendulum-v1")
    env.reset(seed=row_seeds(0, 2)[1])
    assert pool.reset().observation["observation"][1].tolist() == env.reset()[0].tolist()


def test_blackjack_has_a_field_for_each_part():
    pool = open_pool("gymnasium:Blackjack-v1(natural=True)", 5)
    assert pool.observation.names == ("observation_0", "observation_1", "observation_2")
    assert [int(bounds(pool.observation, name)[1]) for name in pool.observation.names] == [31, 10, 1]
    for turn in range(50):
        step = pool.advance(pool.random_actions(turn))
        assert (step.observation["observation_0"] >= 2).all()


def test_masks_of_taxi():
    pool = open_pool("gymnasium:Taxi-v4(compiled=false)", 3)
    taxi = gymnasium.make("Taxi-v4").unwrapped
    for turn in range(60):
        step = pool.advance(pool.random_actions(turn))
        for row, state in enumerate(step.observation["observation"]):
            assert step.mask[row].tolist() == taxi.action_mask(state).astype(bool).tolist()


INVALID = [
    ([0], "shape"),
    ([[0, 0]], "shape"),
    ([[0], [0, 1]], "equal length"),
    ([0.0, 1.0], "int64 actions, not float64"),
    ([np.nan, 0], "int64 actions, not float64"),
    (["a", "b"], "int64 actions, not"),
    ([0, 3], "action 3 of row 1 is not legal"),
    ([-1, 0], "action -1 of row 0 is not legal"),
    (np.array([2**64 - 1, 0], np.uint64), "of row 0 is not legal"),
    ([0, 1], "action 1 of row 1 is not legal for seat 0; legal actions: 0, 2"),
]


@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize(("actions", "message"), INVALID)
def test_an_invalid_action_moves_nothing(actions, message, vector):
    make = functools.partial(Counter, 4, False, "info")
    pool = from_vector_env(SyncVectorEnv([make] * 2)) if vector else from_env(make, 2)
    before = pool.step
    with pytest.raises(LudusError, match=message):
        pool.advance(actions)
    for old, new in zip(before[1:], pool.step[1:], strict=True):
        assert old.tolist() == new.tolist()
    assert pool.advance([0, 2]).observation["observation"].tolist() == [[1], [1]]


@pytest.mark.parametrize("actions", [[[np.nan], [0]], [[0], [2.1]], [[np.inf], [0]], [0, 0], [["x"], ["y"]]])
def test_an_invalid_float_action_moves_nothing(actions):
    pool = open_pool("gymnasium:Pendulum-v1", 2)
    before = pool.step.observation["observation"]
    with pytest.raises(LudusError, match=r"within -2 to 2|shape|float64 actions"):
        pool.advance(actions)
    assert pool.step.observation["observation"].tolist() == before.tolist()


def test_ended_rows_ignore_their_action():
    pool = from_env(functools.partial(Counter, 1), 2)
    pool.advance([0, 0])
    assert pool.advance([99, -5]).first.all()


def test_returned_steps_are_never_written_again():
    pool = from_env(functools.partial(Counter, 3, False, "info"), 2)
    kept = [pool.step, *(pool.advance([turn % 2, turn % 2]) for turn in range(3))]
    assert [step.observation["observation"][0, 0] for step in kept] == [0, 1, 2, 3]
    for step in kept:
        for array in (*step.observation.values(), *step[1:]):
            array[...] = 1
    assert pool.step.observation["observation"].tolist() == [[3], [3]]
    assert pool.advance([0, 0]).mask.tolist() == [[True, False, True]] * 2


def test_a_foreign_state_cannot_be_copied():
    pool = from_env(Counter, 1)
    for call in (lambda: pool.fork([0], 1), pool.save, lambda: pool.restore(None)):
        with pytest.raises(LudusError, match="state of a foreign game cannot be copied"):
            call()
    assert pool.name == "gymnasium:Counter"
    assert pool.describe() == "observation: [0]"


def test_closing_the_pool_closes_the_environments():
    envs = [Counter(), Counter()]
    unused = iter(envs)
    from_env(lambda: next(unused), 2).close()
    assert all(env.closed for env in envs)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("FrozenLak-v1", "did you mean FrozenLake-v1"),
        ("frozenlake-v1", "did you mean FrozenLake-v1"),
        ("FrozenLake-v9", "did you mean FrozenLake-v1"),
        ("nobody/Nothing-v0", 'no environment "nobody/Nothing-v0"'),
        ("FrozenLake-v1(map_name=9x9)", "cannot make"),
        ("FrozenLake-v1(wings=2)", "unexpected keyword argument 'wings'"),
        ("FrozenLake-v1(map_name)", "not a new parameter=value pair"),
        ("FrozenLake-v1(compiled=7)", "must be true or false"),
        ("Frozen Lake", "is not a name"),
        ("no_such_module:Env-v0", "cannot make"),
    ],
)
def test_invalid_names_raise(name, message):
    with pytest.raises(LudusError, match=message):
        open_pool(f"gymnasium:{name}", 1)


def test_a_pool_needs_rows():
    with pytest.raises(LudusError, match="at least one row"):
        open_pool("gymnasium:CartPole-v1", 0)
    with pytest.raises(LudusError, match="at least one row"):
        from_env(Counter, 0)


def test_names_with_arguments_open_the_same_pool():
    pool = open_pool("gymnasium:CartPole-v1( sutton_barto_reward = true,max_episode_steps=20 )", 1)
    assert isinstance(pool, ForeignPool)
    assert pool.name == "gymnasium:CartPole-v1(sutton_barto_reward=true, max_episode_steps=20)"
    assert pool.spec.horizon == 20
    assert open_pool(pool.name, 1).name == pool.name


VALUES = [
    ("true", True), ("False", False), ("none", None), ("12", 12), ("-3", -3), ("0.5", 0.5), ("1e-3", 1e-3),
    ("8x8", "8x8"), ("'12'", "12"), ('"a b"', "a b"), ("1_000", "1_000"), ("nan", "nan"), ("a()", "a()"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values_are_read_without_evaluating(text, value):
    assert read_value(text) == value
    assert type(read_value(text)) is type(value)


def test_the_error_for_a_missing_package_has_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "ludus.bridges.gymnasium_pool")
    with pytest.raises(LudusError, match=r"pip install 'ludus\[gymnasium\]'"):
        open_pool("gymnasium:CartPole-v1", 1)
    monkeypatch.undo()
    assert importlib.import_module("ludus.bridges.gymnasium_pool")


def test_pictures_of_foreign_games():
    pool = open_pool("gymnasium:FrozenLake-v1(render_mode=rgb_array)", 1)
    pixels = pool.scene()
    assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.std() > 10
    with pytest.raises(LudusError, match="render_mode=rgb_array"):
        open_pool("gymnasium:FrozenLake-v1(render_mode=ansi)", 1).scene()
    with pytest.raises(LudusError, match="cannot be drawn"):
        from_env(Counter, 1).scene()
