"""Compiled dynamics compared with the environments that publish them: exact tables, and the same games."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")

import gymnasium
from gymnasium import wrappers

from ludus.bridges import open_pool
from ludus.bridges.foreign import ForeignPool
from ludus.bridges.gymnasium_tables import native_game, published_tables
from ludus.dsl import CUT, OVER, PLAYING, bounds
from ludus.pool import Pool

PUBLISHED = [
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}),
    ("FrozenLake-v1", {"success_rate": 1.0}),
    ("Taxi-v4", {}),
    ("Taxi-v4", {"is_rainy": True}),
    ("CliffWalking-v1", {}),
    ("CliffWalkingSlippery-v1", {}),
]


@pytest.mark.parametrize(("name", "arguments"), PUBLISHED)
def test_tables_equal_the_published_dynamics(name, arguments):
    env = gymnasium.make(name, **arguments)
    tables = published_tables(env)
    inner = env.unwrapped
    for state, row in inner.P.items():
        for action, listed in row.items():
            possible = [outcome for outcome in listed if outcome[0] > 0]
            chances = np.diff(tables.CUMULATIVE[state, action, : len(possible) - 1], prepend=0.0)
            assert chances.tolist() == pytest.approx([outcome[0] for outcome in possible[:-1]], abs=1e-15)
            assert (tables.CUMULATIVE[state, action, len(possible) - 1 :] == 2).all()
            for place, (_, following, reward, ends) in enumerate(possible):
                assert tables.NEXT[state, action, place] == following
                assert tables.REWARD[state, action, place] == reward
                assert tables.ENDS[state, action, place] == ends
    starts = np.zeros(len(inner.P))
    starts[tables.STARTS] = np.diff(tables.START_CUMULATIVE, prepend=0.0)
    assert starts == pytest.approx(inner.initial_state_distrib)
    assert tables.SIZES[3] == (env.spec.max_episode_steps or 0)


def test_masks_of_the_environment_are_used():
    taxi = gymnasium.make("Taxi-v4")
    assert published_tables(taxi).LEGAL.tolist() == [taxi.unwrapped.action_mask(state).tolist() for state in range(500)]
    assert published_tables(gymnasium.make("FrozenLake-v1")).LEGAL.all()


class DoubledReward(gymnasium.Wrapper):
    """A wrapper that changes the dynamics without declaring it."""

    def step(self, action):
        observation, reward, *rest = self.env.step(action)
        return observation, 2 * reward, *rest


@pytest.mark.parametrize(
    "make",
    [
        lambda: DoubledReward(gymnasium.make("FrozenLake-v1")),
        lambda: wrappers.TransformReward(gymnasium.make("FrozenLake-v1"), lambda reward: reward + 1),
        lambda: wrappers.TimeAwareObservation(gymnasium.make("FrozenLake-v1")),
        lambda: gymnasium.make("FrozenLake-v1", render_mode="ansi"),
        lambda: gymnasium.make("Taxi-v4", fickle_passenger=True),
        lambda: gymnasium.make("Blackjack-v1"),
        lambda: gymnasium.make("CartPole-v1"),
    ],
)
def test_environments_without_complete_tables_are_not_compiled(make):
    assert published_tables(make()) is None


def test_tables_that_disagree_with_the_environment_are_not_compiled():
    env = gymnasium.make("CliffWalking-v1")
    env.unwrapped.P[7][1] = [(1.0, 9, -1, False)]
    assert published_tables(env) is not None  # the environment itself uses this table
    honest = dict(env.unwrapped.P)
    env.unwrapped.step = lambda action: (0, -1.0, False, False, {})
    assert published_tables(env) is None
    del env.unwrapped.step
    env.unwrapped.P = {**honest, 7: {0: [(1.0, 7, 0, False)]}}
    assert published_tables(env) is None


def test_deterministic_games_equal_the_environment():
    pool = open_pool("gymnasium:FrozenLake-v1(is_slippery=False, max_episode_steps=9)", 3, seed=5)
    assert isinstance(pool, Pool)
    assert pool.spec.horizon == 9
    envs = [gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=9) for _ in range(3)]
    seen = [env.reset(seed=0)[0] for env in envs]
    kinds = set()
    generator = np.random.default_rng(0)
    step = pool.step
    for _ in range(300):
        assert step.observation["observation"].tolist() == seen
        status = pool.status.copy()
        actions = generator.choice([0, 1, 1, 2, 2, 3], 3)  # mostly down and right, towards the goal
        step = pool.advance(actions)
        for row, env in enumerate(envs):
            if status[row] != PLAYING:
                seen[row] = env.reset()[0]
                assert (step.first[row], step.reward[row, 0], step.discount[row]) == (True, 0, 1)
                continue
            seen[row], reward, terminated, truncated, _ = env.step(int(actions[row]))
            assert step.reward[row, 0] == reward
            assert step.discount[row] == (0 if terminated else 1)
            assert pool.status[row] == (OVER if terminated else CUT if truncated else PLAYING)
            kinds.add((terminated, truncated, reward))
    assert {(True, False, 0), (True, False, 1), (False, True, 0)} <= kinds, "holes, the goal and the time limit"


def test_taxi_equals_the_environment():
    """The original is set to the initial state of the compiled one, and then follows the same actions."""
    pool = open_pool("gymnasium:Taxi-v4", 8, seed=1)
    assert pool.name == "gymnasium:Taxi-v4"
    assert [int(bound) for bound in bounds(pool.observation, "observation")] == [0, 499]
    envs = [gymnasium.make("Taxi-v4") for _ in range(8)]
    step, ends = pool.step, 0
    for turn in range(450):
        actions = pool.random_actions(turn)
        before, status = step, pool.status.copy()
        step = pool.advance(actions)
        for row, env in enumerate(envs):
            if status[row] != PLAYING or turn == 0:
                env.reset()
                env.unwrapped.s = int((step if status[row] != PLAYING else before).observation["observation"][row])
            if status[row] != PLAYING:
                assert step.mask[row].tolist() == env.unwrapped.action_mask(env.unwrapped.s).astype(bool).tolist()
                continue
            observation, reward, terminated, truncated, info = env.step(int(actions[row]))
            assert (step.observation["observation"][row], step.reward[row, 0]) == (observation, reward)
            assert pool.status[row] == (OVER if terminated else CUT if truncated else PLAYING)
            assert step.mask[row].tolist() == ([True] * 6 if terminated or truncated else info["action_mask"].tolist())
            ends += terminated or truncated
    assert ends >= 16


def test_frequencies_match_the_published_probabilities():
    """Frequencies of 200 000 slippery steps are within five standard errors of the published probabilities."""
    pool = open_pool("gymnasium:FrozenLake-v1", 500, seed=3)
    table = gymnasium.make("FrozenLake-v1").unwrapped.P
    generator = np.random.default_rng(0)
    counts = np.zeros((16, 4, 16))
    step = pool.step
    for _ in range(400):
        actions, before = generator.integers(0, 4, 500), step.observation["observation"]
        moved = pool.status == PLAYING
        step = pool.advance(actions)
        np.add.at(counts, (before[moved], actions[moved], step.observation["observation"][moved]), 1)
    chances = np.zeros_like(counts)
    for state, row in table.items():
        for action, listed in row.items():
            for chance, following, _, _ in listed:
                chances[state, action, following] += chance
    tries = counts.sum(axis=2, keepdims=True)
    assert (counts[chances == 0] == 0).all()
    error = np.sqrt(tries * chances * (1 - chances)) + 1e-9
    assert (np.abs(counts - tries * chances) <= 5 * error + 0.5).all()


def test_initial_states_match_the_published_distribution():
    pool = open_pool("gymnasium:Taxi-v4", 30_000, seed=2)
    wanted = 30_000 * gymnasium.make("Taxi-v4").unwrapped.initial_state_distrib
    counts = np.bincount(pool.step.observation["observation"], minlength=500)
    assert (counts[wanted == 0] == 0).all()
    assert (np.abs(counts - wanted) <= 6 * np.sqrt(wanted)).all()


def test_seeds_determine_the_games():
    streams = []
    for seed in (7, 7, 8):
        pool = open_pool("gymnasium:FrozenLake-v1", 20, seed)
        streams.append(np.stack([pool.advance(np.full(20, t % 4)).observation["observation"] for t in range(30)]))
    assert (streams[0] == streams[1]).all()
    assert (streams[0] != streams[2]).any()


def test_compiled_false_steps_the_environment_in_python():
    pool = open_pool("gymnasium:FrozenLake-v1(compiled=false)", 2)
    assert isinstance(pool, ForeignPool)
    assert pool.name == "gymnasium:FrozenLake-v1(compiled=false)"
    compiled = open_pool("gymnasium:FrozenLake-v1", 2)
    assert pool.spec == compiled.spec
    assert pool.observation == compiled.observation


def test_different_tables_get_different_rules():
    """A time limit is not one of the environment's tables, but must be part of the key of the compile cache."""
    short = published_tables(gymnasium.make("CliffWalking-v1", max_episode_steps=3))
    long = published_tables(gymnasium.make("CliffWalking-v1", max_episode_steps=4))
    assert native_game("short", short).rules is not native_game("long", long).rules
    assert native_game("short", short).rules is native_game("again", short).rules
    assert native_game("short", short).spec.horizon == 3
