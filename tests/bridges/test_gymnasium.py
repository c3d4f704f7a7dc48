"""Our solo games seen through Gymnasium: its own checker, and row by row the same games whichever door is taken."""

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
from ludus.types import Discrete, LudusError
from ludus.words import OVER, f32, f64, i8, i64, record, within

SOLO = {
    spec.kwargs["game"]: spec.id
    for spec in gymnasium.registry.values()
    if str(spec.entry_point) == f"{bridge.__name__}:LudusEnv"
}
UNBOUNDED = "ignore:.*A Box observation space m(in|ax)imum value is -?infinity"
"""Gymnasium says so of its own CartPole too"""


def legal_action(game, generator, mask=None):
    """A random action, among those that the mask allows."""
    actions = game.spec.actions
    if isinstance(actions, Discrete):
        return generator.choice(np.flatnonzero(mask))
    return generator.uniform(actions.low, actions.high).astype(np.float32)


def short(name):
    """A game's parameters for games of few steps, where it lets one choose."""
    return {"horizon": 20} if "horizon" in games.load(name).settings else {}


def rows_of(data, row):
    """One row of a batched observation."""
    return {name: values[row] for name, values in data.items()} if isinstance(data, dict) else data[row]


def test_every_solo_game_is_registered_once():
    solo = {name for name in games.names() if games.load(name).spec.seats == 1}
    assert set(SOLO) == solo >= {"car", "cartpole"}
    assert SOLO["car"] == "ludus/Car-v0"
    assert SOLO["cartpole"] == "ludus/CartPole-v0"
    before = dict(gymnasium.registry)
    bridge.register_games()
    assert gymnasium.registry == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("raise RuntimeError('the author slept')", "mine is not offered to Gymnasium: the author slept"),
        ('"""CartPole: mine."""\nfrom ludus.games.cartpole import *', "ludus/CartPole-v0 is cartpole already"),
    ],
)
def test_a_game_that_cannot_be_offered_is_a_warning(tmp_path, monkeypatch, text, sentence):
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    with pytest.warns(UserWarning, match=sentence):
        bridge.register_games()


def test_a_game_of_ones_own_is_offered(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text('"""My own broom-stick: up!"""\nfrom ludus.games.cartpole import *')
    monkeypatch.setenv("LUDUS_GAMES", str(tmp_path))
    monkeypatch.setattr(gymnasium.envs.registration, "registry", gymnasium.registry.copy())
    monkeypatch.setattr(gymnasium, "registry", gymnasium.envs.registration.registry)
    bridge.register_games()
    assert gymnasium.registry["ludus/Myownbroomstick-v0"].kwargs == {"game": "mine"}


def test_without_gymnasium_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(LudusError, match=r"needs Gymnasium: pip install ludus\[gymnasium\]"):
        runpy.run_path(bridge.__file__)


@pytest.mark.filterwarnings(UNBOUNDED)
@pytest.mark.parametrize("name", SOLO)
def test_gymnasium_checks_the_environment(name, monkeypatch):
    env = gymnasium.make(SOLO[name]).unwrapped
    play = env.step

    def step(action):
        # The checker knows nothing of masks, so its illegal choices become the first legal one.
        mask = env.pool.step.mask[0]
        return play(action if not len(mask) or mask[action] else mask.argmax())

    monkeypatch.setattr(env, "step", step)
    check_env(env)


def test_cartpole_has_gymnasiums_own_spaces():
    ours, theirs = gymnasium.make("ludus/CartPole-v0"), gymnasium.make("CartPole-v1")
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space


def test_records_become_spaces():
    choice, box = gymnasium.spaces.Discrete, gymnasium.spaces.Box
    layout = record(suit=within(0, 3, i8), lead=within(-2, 2, i8), chips=i64, weight=f64, map=within(0, 1, f32, 2, 3))
    space = spaces.observation_space(layout)
    assert space["suit"] == choice(4)
    assert space["lead"] == choice(5, start=-2)
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
    with pytest.raises(LudusError, match='car: width=99 will not do: "99" is not a number from 25 to 40'):
        gymnasium.make_vec("ludus/Car-v0", num_envs=2, width=99)


def test_a_game_for_two_is_sent_to_pettingzoo():
    with pytest.raises(LudusError, match=r'tictactoe has 2 seats .* use ludus.bridges.pettingzoo.env\("tictactoe"\)'):
        bridge.LudusEnv("tictactoe")


@pytest.mark.parametrize("name", SOLO)
def test_vector_rows_are_the_single_environments(name):
    """Row i is the environment seeded with seed + i, also across the ends of games."""
    rows, steps, game = 4, 400, games.load(name)
    vector = gymnasium.make_vec(SOLO[name], num_envs=rows, **short(name))
    singles = [gymnasium.make(SOLO[name], **short(name)) for _ in range(rows)]
    generator = np.random.default_rng(0)
    batch, infos = vector.reset(seed=5)
    observations = [single.reset(seed=5 + row) for row, single in enumerate(singles)]
    assert vector.observation_space.contains(batch)
    ended, ends = np.zeros(rows, bool), 0
    for _ in range(steps):
        for row, (observation, info) in enumerate(observations):
            assert data_equivalence(observation, rows_of(batch, row), exact=True)
            assert "action_mask" not in info or np.array_equal(info["action_mask"], infos["action_mask"][row])
        actions = [legal_action(game, generator, info.get("action_mask")) for _, info in observations]
        batch, rewards, terminated, truncated, infos = vector.step(np.array(actions))
        for row, single in enumerate(singles):
            if ended[row]:
                observations[row] = single.reset()
                told = (0.0, False, False)
            else:
                observation, *told, info = single.step(actions[row])
                observations[row] = observation, info
            assert (rewards[row], terminated[row], truncated[row]) == tuple(told)
        ended = terminated | truncated
        ends += ended.sum()
    assert ends > 0 or not short(name)
    assert rewards.dtype == np.float64


@pytest.mark.parametrize("name", SOLO)
def test_the_pool_tells_what_gymnasiums_own_loop_tells(name):
    """Everything is equal, types and infos included."""
    ours = gymnasium.make_vec(SOLO[name], num_envs=3, **short(name))
    loop = gymnasium.make_vec(SOLO[name], num_envs=3, vectorization_mode="sync", **short(name))
    assert (ours.observation_space, ours.action_space) == (loop.observation_space, loop.action_space)
    assert ours.metadata == loop.metadata
    assert data_equivalence(ours.reset(seed=2), loop.reset(seed=2), exact=True)
    for turn in range(200):
        actions = ours.pool.random_actions(turn)
        assert data_equivalence(ours.step(actions), loop.step(actions), exact=True)


@pytest.mark.parametrize("name", SOLO)
def test_same_seed_same_data(name):
    first, second = (gymnasium.make_vec(SOLO[name], num_envs=3) for _ in range(2))
    assert data_equivalence(first.reset(seed=[3, 9, 4]), second.reset(seed=[3, 9, 4]), exact=True)
    for turn in range(100):
        actions = first.unwrapped.pool.random_actions(turn)
        assert data_equivalence(first.step(actions), second.step(actions), exact=True)


def test_without_a_seed_games_differ_and_go_on():
    observations = [gymnasium.make("ludus/CartPole-v0").reset()[0] for _ in range(3)]
    assert len({observation.tobytes() for observation in observations}) == 3
    env = gymnasium.make("ludus/CartPole-v0")
    series = [[env.reset(seed=seed)[0] for seed in (4, None, None)] for _ in range(2)]
    assert data_equivalence(*series, exact=True)
    assert not np.array_equal(series[0][0], series[0][1])


def test_make_vec_is_the_pool_itself():
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
    """Push to where the pole falls; this keeps it up for ever."""
    x, velocity, angle, spin = observation
    return int(3 * angle + spin + 0.1 * velocity + 0.05 * x > 0)


def test_cartpole_is_cut_off_at_500():
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


def test_car_is_cut_off_at_its_horizon():
    env = gymnasium.make_vec("ludus/Car-v0", num_envs=3, horizon=20)
    env.reset(seed=0)
    told = [env.step(np.zeros((3, 2), np.float32)) for _ in range(22)]
    assert [truncated.tolist() for _, _, _, truncated, _ in told] == [[False] * 3] * 19 + [[True] * 3] + [
        [False] * 3
    ] * 2
    assert not any(terminated.any() for _, _, terminated, _, _ in told)
    assert told[20][1].tolist() == [0.0] * 3


def test_cartpole_moves_as_gymnasiums_own():
    """The same state and push give the same next state to 1e-12, and the same end."""
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
    ("game", "action", "sentence"),
    [
        ("ludus/CartPole-v0", 2, "cartpole: action 2 of row 0 is not legal for seat 0; legal are left, right"),
        ("ludus/CartPole-v0", -1, "action -1 of row 0 is not legal"),
        ("ludus/CartPole-v0", 1.0, "cartpole wants int64 actions, not float64"),
        ("ludus/CartPole-v0", "left", "cartpole wants int64 actions, not str"),
        ("ludus/CartPole-v0", None, "cartpole wants int64 actions, not object"),
        ("ludus/CartPole-v0", [0, 1], r"cartpole wants actions of shape \(1,\), not \(1, 2\)"),
        ("ludus/Car-v0", [np.nan, 0.0], r"car: action \[nan, 0.0\] of row 0 is not within -1 to 1, -1 to 1"),
        ("ludus/Car-v0", [np.inf, 0.0], r"action \[inf, 0.0\] of row 0 is not within"),
        ("ludus/Car-v0", [0.0], r"car wants actions of shape \(1, 2\), not \(1, 1\)"),
        ("ludus/Car-v0", [[0.0], [1.0, 2.0]], "actions must be numbers in rows of equal length"),
    ],
)
def test_bad_actions_are_refused(game, action, sentence):
    env = gymnasium.make(game)
    env.reset(seed=0)
    before = env.unwrapped.pool.states.tobytes()
    for error in (gymnasium.error.InvalidAction, LudusError):
        with pytest.raises(error, match=sentence):
            env.step(action)
    assert env.unwrapped.pool.states.tobytes() == before


def test_one_bad_action_moves_no_row():
    env = gymnasium.make_vec("ludus/CartPole-v0", num_envs=3)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0, 0, 0])
    env.reset(seed=0)
    before = env.pool.states.tobytes()
    with pytest.raises(gymnasium.error.InvalidAction, match="action 7 of row 1 is not legal"):
        env.step([0, 7, 1])
    assert env.pool.states.tobytes() == before
    env.step([0, 1, 1])


def test_rounded_bounds_are_inside():
    env = gymnasium.make("ludus/Car-v0", track=1)
    env.reset(seed=0)
    observation, *_ = env.step(np.array([0.0, np.nextafter(np.float32(1), np.float32(2))]))
    env.reset(seed=0)
    assert np.array_equal(observation, env.step(np.array([0.0, 1.0]))[0])


def test_reset_mask_opens_the_marked_rows():
    env = gymnasium.make_vec("ludus/CartPole-v0", num_envs=3)
    env.reset(seed=0, options={"reset_mask": np.array([True, False, False])})
    before, *_ = env.step([0, 0, 0])
    after, _ = env.reset(seed=0, options={"reset_mask": np.array([False, True, False])})
    assert [np.array_equal(before[row], after[row]) for row in range(3)] == [True, False, True]
    assert np.array_equal(after[1], gymnasium.make("ludus/CartPole-v0").reset(seed=1)[0])
    with pytest.raises(LudusError, match="reset_mask wants one boolean a row, not int64"):
        env.reset(options={"reset_mask": np.array([0, 1, 2])})
    with pytest.raises(LudusError, match="rows must be 3 booleans"):
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


def test_the_pool_knows_when_games_are_over():
    env = gymnasium.make_vec("ludus/CartPole-v0", num_envs=2).unwrapped
    env.reset(seed=0)
    env.pool.states["x"][0] = 5.0
    _, _, terminated, truncated, infos = env.step([0, 0])
    assert terminated.tolist() == [True, False]
    assert not truncated.any()
    assert env.pool.status.tolist() == [OVER, 0]
    assert infos["action_mask"].dtype == np.int8
    assert infos["_action_mask"].all()
