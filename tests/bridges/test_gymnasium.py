"""Ludus games through Gymnasium: its own checker, and vector environments compared with single ones row by row."""

import runpy
import sys

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="pip install ludus[gymnasium]")

import gymnasium
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode

from ludus import games
from ludus.bridges import gymnasium as bridge
from ludus.bridges import spaces
from ludus.dsl import OVER, f32, f64, i8, i64, record, within
from ludus.types import LudusError

GAMES = {
    spec.kwargs["game"]: spec.id
    for spec in gymnasium.registry.values()
    if str(spec.entry_point) == f"{bridge.__name__}:LudusEnv"
}
UNBOUNDED = "ignore:.*A Box observation space m(in|ax)imum value is -?infinity"
"""Gymnasium gives this warning for its own CartPole too"""


def short(name):
    """Parameters for short games, if the game has such a parameter."""
    return {"horizon": 20} if "horizon" in games.load(name).settings else {}


def test_every_game_is_registered_once():
    assert set(GAMES) == set(games.names())
    assert GAMES["car"] == "ludus/Car-v0"
    assert GAMES["cartpole"] == "ludus/CartPole-v0"
    assert GAMES["tictactoe"] == "ludus/TicTacToe-v0"
    assert GAMES["connect4"] == "ludus/Connect4-v0"
    before = dict(gymnasium.registry)
    bridge.register_games()
    assert gymnasium.registry == before


def test_a_game_that_cannot_be_registered_causes_a_warning(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("raise RuntimeError('the author slept')")
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    with pytest.warns(
        UserWarning, match="mine is not registered with Gymnasium: .*mine.py:1: RuntimeError: the author slept"
    ):
        bridge.register_games()


def test_two_games_with_the_same_id_raise():
    with pytest.raises(LudusError, match="ludus/Car-v0 is already the game car; rename CAR"):
        bridge.register(games.load("car")._replace(name="CAR"))


def test_a_user_game_is_registered(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text('"""My own broom-stick: up!"""\nfrom ludus.games.cartpole import *')
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    monkeypatch.setattr(gymnasium.envs.registration, "registry", gymnasium.registry.copy())
    monkeypatch.setattr(gymnasium, "registry", gymnasium.envs.registration.registry)
    bridge.register_games()
    assert gymnasium.registry["ludus/Mine-v0"].kwargs == {"game": "mine"}


def test_the_error_without_gymnasium_has_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(LudusError, match=r"needs Gymnasium: pip install ludus\[gymnasium\]"):
        runpy.run_path(bridge.__file__)


@pytest.mark.filterwarnings(UNBOUNDED)
@pytest.mark.parametrize("name", GAMES)
def test_gymnasium_checks_the_environment(name):
    check_env(gymnasium.make(GAMES[name]).unwrapped)


def test_cartpole_has_gymnasiums_own_spaces():
    ours, theirs = gymnasium.make("ludus/CartPole-v0"), gymnasium.make("CartPole-v1")
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space


def test_records_become_spaces():
    choice, box = gymnasium.spaces.Discrete, gymnasium.spaces.Box
    layout = record(
        suit=within(0, 3, i8), rank=within(1, 13, i8), lead=within(-2, 2, i8), chips=i64, weight=f64,
        map=within(0, 1, f32, 2, 3),
    )  # fmt: skip
    space = spaces.observation_space(layout)
    assert space["suit"] == choice(4)
    assert space["rank"] == choice(14)
    assert space["lead"] == box(-2, 2, (), i8)
    assert space["chips"] == box(np.array(np.iinfo(i64).min), np.array(np.iinfo(i64).max), dtype=i64)
    assert space["weight"] == box(-np.inf, np.inf, (), f64)
    assert space["map"] == box(0, 1, (2, 3), f32)
    values = {name: np.zeros(3, layout)[name] for name in layout.names}
    assert space.contains(spaces.fit_row(values, space, 1))
    assert gymnasium.vector.utils.batch_space(space, 3).contains(spaces.fit_batch(values, space))
    assert spaces.observation_space(record(map=within(0, 1, f32, 2, 3))) == box(0, 1, (2, 3), f32)


def test_parameters_are_keywords():
    env = gymnasium.make("ludus/Car-v0", track=7, obstacles=0).unwrapped
    env.reset(seed=1)
    assert env.pool.name == "car(track=7, obstacles=0)"
    assert env.pool.states[0]["seed"] == 7
    with pytest.raises(LudusError, match='car has no parameter "wheels"; it has: track'):
        gymnasium.make("ludus/Car-v0", wheels=4)
    with pytest.raises(LudusError, match='car: width=99 is not allowed: "99" is not a number from 25 to 40'):
        gymnasium.make_vec("ludus/Car-v0", num_envs=2, width=99)


@pytest.mark.parametrize("name", GAMES)
def test_vector_rows_equal_single_environments(name):
    """Results equal Gymnasium's own loop over single environments seeded with seed + i, including types."""
    ours = gymnasium.make_vec(GAMES[name], num_envs=3, **short(name))
    loop = gymnasium.make_vec(GAMES[name], num_envs=3, vectorization_mode="sync", **short(name))
    assert (ours.observation_space, ours.action_space) == (loop.observation_space, loop.action_space)
    assert ours.metadata == loop.metadata
    ours.action_space.seed(1)
    result = ours.reset(seed=2)
    assert data_equivalence(result, loop.reset(seed=2), exact=True)
    ends = 0
    for turn in range(200):
        assert ours.observation_space.contains(result[0])
        # Every second step uses only legal actions.
        masks = tuple(result[-1]["action_mask"]) if turn % 2 and "action_mask" in result[-1] else None
        actions = ours.action_space.sample(mask=masks)
        result = ours.step(actions)
        assert data_equivalence(result, loop.step(actions), exact=True)
        ends += (result[2] | result[3]).sum()
    assert ends > 0 or games.load(name).spec.horizon > 200
    assert [array.dtype for array in result[1:4]] == [np.float64, bool, bool]


@pytest.mark.parametrize("name", GAMES)
def test_same_seed_same_data(name):
    first, second = (gymnasium.make_vec(GAMES[name], num_envs=3) for _ in range(2))
    first.action_space.seed(1)
    for _ in range(2):  # a second time after a reset of the same environments
        assert data_equivalence(first.reset(seed=[3, 9, 4]), second.reset(seed=[3, 9, 4]), exact=True)
        for _ in range(40):
            actions = first.action_space.sample()
            assert data_equivalence(first.step(actions), second.step(actions), exact=True)


def test_without_a_seed_games_differ():
    observations = [gymnasium.make("ludus/CartPole-v0").reset()[0] for _ in range(3)]
    assert len({observation.tobytes() for observation in observations}) == 3
    env = gymnasium.make("ludus/CartPole-v0")
    series = [[env.reset(seed=seed)[0] for seed in (4, None, None)] for _ in range(2)]
    assert data_equivalence(*series, exact=True)
    assert not np.array_equal(series[0][0], series[0][1])


def test_make_vec_uses_one_pool():
    env = gymnasium.make_vec("ludus/CartPole-v0", num_envs=1024)
    assert type(env.unwrapped) is bridge.LudusVectorEnv
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert env.pool.rows == 1024
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    counted.reset(seed=0)
    for _ in range(40):
        *_, infos = counted.step(counted.action_space.sample())
    assert infos["episode"]["l"].max() > 8
    counted.close()


def balance(observation):
    """Push in the direction in which the pole falls, which keeps it upright."""
    x, velocity, angle, spin = observation
    return int(3 * angle + spin + 0.1 * velocity + 0.05 * x > 0)


def test_cartpole_is_truncated_at_500():
    env = gymnasium.make("ludus/CartPole-v0")
    observation, _ = env.reset(seed=0)
    ends = []
    for _ in range(500):
        observation, reward, terminated, truncated, _ = env.step(balance(observation))
        assert reward == 1.0
        ends.append((terminated, truncated))
    assert ends == [(False, False)] * 499 + [(False, True)]
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step\(\)"):
        env.step(0)


def test_car_is_truncated_at_its_horizon():
    env = gymnasium.make_vec("ludus/Car-v0", num_envs=3, horizon=20)
    env.reset(seed=0)
    result = [env.step(np.zeros((3, 2), np.float32)) for _ in range(22)]
    assert [truncated.tolist() for _, _, _, truncated, _ in result] == [[False] * 3] * 19 + [[True] * 3] + [
        [False] * 3
    ] * 2
    assert not any(terminated.any() for _, _, terminated, _, _ in result)
    assert result[20][1].tolist() == [0.0] * 3


def test_cartpole_has_the_dynamics_of_gymnasium():
    """The same state and action give the same next state to 1e-12, and the same end."""
    generator, rows = np.random.default_rng(0), 200
    ours = gymnasium.make_vec("ludus/CartPole-v0", num_envs=rows).unwrapped
    theirs = gymnasium.make("CartPole-v1").unwrapped
    ours.reset(seed=0)
    theirs.reset(seed=0)
    fields = ("x", "velocity", "angle", "spin")
    for _ in range(20):
        for field, reach in zip(fields, (2.3, 3.0, 0.2, 3.0), strict=True):
            ours.pool.states[field] = generator.uniform(-reach, reach, rows)
        ours.pool.states["status"] = 0
        before = [tuple(state[field] for field in fields) for state in ours.pool.states]
        actions = generator.integers(2, size=rows)
        _, rewards, terminated, _, _ = ours.step(actions)
        for row in range(rows):
            theirs.state, theirs.steps_beyond_terminated = before[row], None
            _, reward, over, _, _ = theirs.step(actions[row])
            after = [ours.pool.states[row][field] for field in fields]
            assert np.allclose(after, theirs.state, rtol=0, atol=1e-12)
            assert (rewards[row], terminated[row]) == (reward, over)


@pytest.mark.parametrize(
    ("game", "action", "message"),
    [
        ("ludus/CartPole-v0", 2, "cartpole: action 2 of row 0 is not legal for seat 0; legal actions: left, right"),
        ("ludus/CartPole-v0", -1, "action -1 of row 0 is not legal"),
        ("ludus/CartPole-v0", 1.0, "cartpole expects int64 actions, not float64"),
        ("ludus/CartPole-v0", "left", "cartpole expects int64 actions, not str"),
        ("ludus/CartPole-v0", None, "cartpole expects int64 actions, not object"),
        ("ludus/CartPole-v0", [0, 1], r"cartpole expects actions of shape \(1,\), not \(1, 2\)"),
        ("ludus/Car-v0", [np.nan, 0.0], r"car: action \[nan, 0.0\] of row 0 is not within -1 to 1, -1 to 1"),
        ("ludus/Car-v0", [np.inf, 0.0], r"action \[inf, 0.0\] of row 0 is not within"),
        ("ludus/Car-v0", [0.0], r"car expects actions of shape \(1, 2\), not \(1, 1\)"),
        ("ludus/Car-v0", [[0.0], [1.0, 2.0]], "actions must be numbers in rows of equal length"),
    ],
)
def test_invalid_actions_raise(game, action, message):
    env = gymnasium.make(game, illegal="raise")
    env.reset(seed=0)
    before = env.unwrapped.pool.states.tobytes()
    for error in (gymnasium.error.InvalidAction, LudusError):
        with pytest.raises(error, match=message):
            env.step(action)
    assert env.unwrapped.pool.states.tobytes() == before


def test_one_invalid_action_moves_no_row():
    env = gymnasium.make_vec("ludus/CartPole-v0", num_envs=3)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0, 0, 0])
    env.reset(seed=0)
    before = env.pool.states.tobytes()
    with pytest.raises(gymnasium.error.InvalidAction, match="action 7 of row 1 is not legal"):
        env.step([0, 7, 1])
    assert env.pool.states.tobytes() == before
    env.step([0, 1, 1])


def test_actions_beyond_a_bound_by_rounding_are_clipped():
    env = gymnasium.make("ludus/Car-v0", track=1)
    env.reset(seed=0)
    observation, *_ = env.step(np.array([0.0, np.nextafter(np.float32(1), np.float32(2))]))
    env.reset(seed=0)
    assert np.array_equal(observation, env.step(np.array([0.0, 1.0]))[0])


def test_reset_mask_resets_the_marked_rows():
    env = gymnasium.make_vec("ludus/CartPole-v0", num_envs=3)
    env.reset(seed=0, options={"reset_mask": np.array([True, False, False])})
    before, *_ = env.step([0, 0, 0])
    after, _ = env.reset(seed=0, options={"reset_mask": np.array([False, True, False])})
    assert [np.array_equal(before[row], after[row]) for row in range(3)] == [True, False, True]
    assert np.array_equal(after[1], gymnasium.make("ludus/CartPole-v0").reset(seed=1)[0])
    with pytest.raises(LudusError, match=r"reset_mask must be 3 booleans, not int64 of shape \(3,\)"):
        env.reset(options={"reset_mask": np.array([0, 1, 2])})
    with pytest.raises(LudusError, match="reset_mask must be 3 booleans, not bool of shape"):
        env.reset(options={"reset_mask": np.array([True])})


def test_render_modes():
    picture = gymnasium.make("ludus/Car-v0", track=7, render_mode="rgb_array")
    picture.reset(seed=0)
    frame = picture.render()
    assert frame.shape == (600, 800, 3)
    assert frame.dtype == np.uint8
    assert len(np.unique(frame.reshape(-1, 3), axis=0)) > 5
    text = gymnasium.make_vec("ludus/Car-v0", num_envs=2, track=7, render_mode="ansi")
    text.reset(seed=0)
    assert [line.startswith("track 7 lap 0") for line in text.render()] == [True, True]
    assert bridge.LudusVectorEnv("car", 2).render() is None
    with pytest.raises(LudusError, match='car has no render mode "depth"; it has: rgb_array, ansi'):
        bridge.LudusEnv("car", render_mode="depth")


def test_the_status_of_the_pool_after_the_end_of_a_game():
    env = gymnasium.make_vec("ludus/CartPole-v0", num_envs=2).unwrapped
    env.reset(seed=0)
    env.pool.states["x"][0] = 5.0
    _, _, terminated, truncated, infos = env.step([0, 0])
    assert terminated.tolist() == [True, False]
    assert not truncated.any()
    assert env.pool.status.tolist() == [OVER, 0]
    assert infos["action_mask"].dtype == np.int8
    assert infos["_action_mask"].all()
