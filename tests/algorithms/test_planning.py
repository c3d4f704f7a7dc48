"""Planning against values by hand, known optima, the perfect player, and one method against the other."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_games import garden, small_game

from ludus import agents
from ludus.agents.players.perfect import tictactoe as perfect
from ludus.algorithms.planning import Dynamics, dynamics_of, policy_iteration, value_iteration, value_sweeps
from ludus.algorithms.planning.methods.policy_iteration import evaluate
from ludus.algorithms.planning.methods.value_iteration import action_values, ending_policy
from ludus.dsl import PLAYING
from ludus.pool import Pool
from ludus.types import LudusError

PUBLISHED = (
    "FrozenLake-v1", "FrozenLake-v1(map_name=8x8)", "Taxi-v4", "Taxi-v4(is_rainy=True)", "CliffWalking-v1",
    "CliffWalkingSlippery-v1",
)  # fmt: skip


def tables(following, probability, reward, ends, sign=None, legal=None) -> Dynamics:
    following = np.array(following)
    shape = following.shape
    return Dynamics(
        following, np.array(probability, float), np.array(reward, float), np.array(ends, bool),
        np.ones(shape, np.int8) if sign is None else np.array(sign, np.int8),
        np.ones(shape[:2], bool) if legal is None else np.array(legal, bool),
        np.eye(1, shape[0])[0], np.zeros(shape[0]),
    )  # fmt: skip


def chain() -> Dynamics:
    """Three places in a row: a step costs 1, the last one gives 10; the other action ends the game with reward 2."""
    return tables(
        following=[[[1], [0]], [[2], [0]], [[0], [0]]],
        probability=np.ones((3, 2, 1)),
        reward=[[[-1], [2]], [[-1], [2]], [[10], [2]]],
        ends=[[[0], [1]], [[0], [1]], [[1], [1]]],
    )


def dynamics(name: str) -> Dynamics:
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    from ludus.bridges import open_pool

    return dynamics_of(open_pool(f"gymnasium:{name}", 1, 0))


@pytest.mark.parametrize("method", [value_iteration, policy_iteration])
def test_a_chain_by_hand(method):
    whole = method(chain(), 1.0)
    assert whole.values.tolist() == [8, 9, 10]
    assert whole.action_values.tolist() == [[8, 2], [9, 2], [10, 2]]
    half = method(chain(), 0.5)
    assert half.values.tolist() == [2, 4, 10]  # -1 + 4 / 2 = 1 is less than ending the game
    assert half.policy.tolist() == [1, 0, 0]


def test_a_lottery_by_hand():
    """One state: a try costs 1 and succeeds with probability 1/4, so it costs 4 on average; leaving costs 5."""
    lottery = tables([[[0, 0], [0, 0]]], [[[0.25, 0.75], [1, 0]]], [[[-1, -1], [-5, 99]]], [[[1, 0], [1, 1]]])
    assert value_iteration(lottery).values[0] == pytest.approx(-4, abs=1e-8)
    assert policy_iteration(lottery, policy=np.array([1])).values[0] == pytest.approx(-4, abs=1e-8)


def test_an_opponent_minimises():
    """The first action leaves the choice to an opponent, who takes 3 rather than lose 5; the other one gives -2."""
    duel = tables(
        following=[[[1], [0]], [[0], [0]]],
        probability=np.ones((2, 2, 1)),
        reward=[[[0], [-2]], [[3], [-5]]],
        ends=[[[0], [1]], [[1], [1]]],
        sign=[[[-1], [1]], [[1], [1]]],
    )
    for method in (value_iteration, policy_iteration):
        assert method(duel).values.tolist() == [-2, 3]
        assert method(duel).action_values[0].tolist() == [-3, -2]


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("gamma", [1.0, 0.95])
def test_both_methods_agree(name, gamma):
    table = dynamics(name)
    values, policies = value_iteration(table, gamma), policy_iteration(table, gamma)
    np.testing.assert_allclose(values.values, policies.values, atol=1e-6)
    for plan in (values, policies):
        played = evaluate(table, plan.policy, gamma, 1e-12, 100_000)
        np.testing.assert_allclose(played.values, values.values, atol=1e-6)


def test_known_optima():
    lake, cliff, taxi = dynamics("FrozenLake-v1"), dynamics("CliffWalking-v1"), dynamics("Taxi-v4")
    assert value_iteration(lake, 1.0, 1e-13).values @ lake.start == pytest.approx(14 / 17, abs=1e-9)
    assert value_iteration(cliff).values @ cliff.start == -13
    assert value_iteration(taxi).values @ taxi.start == pytest.approx(7.93)
    large = dynamics("FrozenLake-v1(map_name=8x8)")
    assert value_iteration(large).values @ large.start == pytest.approx(
        1, abs=1e-6
    )  # waiting is free, so the goal is always reached


def test_tables_describe_the_pool():
    from ludus.bridges import open_pool

    pool = open_pool("gymnasium:FrozenLake-v1", 4000, 3)
    table = dynamics_of(pool)
    plan = value_iteration(table)
    assert np.allclose(table.probability.sum(axis=2), 1) and table.start[0] == 1
    before = pool.step.observation["observation"]
    assert (table.observations["observation"][before] == before).all()
    counts = np.zeros(16)
    action = plan.policy[before]
    np.add.at(counts, pool.advance(action).observation["observation"], 1 / 4000)
    expected = np.zeros(16)
    np.add.at(expected, table.next[0, action[0]], table.probability[0, action[0]])
    np.testing.assert_allclose(counts, expected, atol=0.03)


def stones(board: np.ndarray) -> tuple[int, int]:
    powers = 1 << np.arange(9)
    return int((board == 1) @ powers), int((board == 2) @ powers)


@pytest.fixture(scope="module")
def tictactoe() -> Dynamics:
    return dynamics_of(Pool("tictactoe", 1))


def test_tictactoe_is_solved_in_every_position(tictactoe):
    assert tictactoe.legal.shape == (5478, 9)
    running = tictactoe.legal.any(axis=1)
    assert running.sum() == 4520
    plan = value_iteration(tictactoe)
    assert plan.values[0] == 0 and tictactoe.start[0] == 1
    assert plan.sweeps == 2  # the first solves the game, the second changes nothing
    expected = [perfect.value(*stones(board)) for board in tictactoe.observations["board"][running]]
    assert plan.values[running].tolist() == expected
    assert not plan.values[~running].any()
    np.testing.assert_array_equal(policy_iteration(tictactoe).values, plan.values)


def test_a_policy_is_looked_up_by_observations(tictactoe):
    policy = value_iteration(tictactoe).policy
    place = {board.tobytes(): number for number, board in enumerate(tictactoe.observations["board"])}
    pool, opponent = Pool("tictactoe", 200, 1), agents.load("random", "tictactoe")
    running, total = np.ones(200, bool), np.zeros(200)
    for turn in range(9):
        boards = pool.step.observation["board"]
        mine = policy[[place[board.tobytes()] for board in boards]]
        theirs = opponent.act(pool.spec, (), pool.step, turn)[0].action
        total += pool.advance(np.where(pool.step.seat == 1, mine, theirs)).reward[:, 1] * running
        running &= pool.status == PLAYING
    assert total.min() == 0 and total.mean() > 0.6


def test_a_game_with_too_many_states_raises_an_error():
    with pytest.raises(LudusError, match="connect4 has more than 1,000 states"):
        dynamics_of(Pool("connect4", 1), limit=1000)


def test_the_limit_itself_is_allowed():
    assert len(dynamics_of(Pool("tictactoe", 1), limit=5478).legal) == 5478
    with pytest.raises(LudusError, match="more than 5,477 states"):
        dynamics_of(Pool("tictactoe", 1), limit=5477)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("goofspiel", "all seats act at once"), ("car", "actions are continuous"), ("cartpole", "is not deterministic")],
)
def test_games_that_cannot_be_planned_raise_an_error(name, reason):
    with pytest.raises(LudusError, match=reason):
        dynamics_of(Pool(name, 1))


COUNT = small_game('''
"""Count: three steps; DIE is replaced by a constant or a random number."""
POINT = record(x=i8, die=i8)
SPEC = Spec(seats=1, actions=Discrete(2), horizon=3)
STATE = record(**HEAD, moves=i8, points=(POINT, 2))
OBSERVATION = record(moves=within(0, 3, i8))

@rule
def step(state, action, reward):
    state.points[action].x += 1
    state.points[1].die = DIE
    reward[0] = state.points[0].x
    state.moves += 1
    if state.moves == 3:
        state.status = OVER
''')


@pytest.fixture
def plant(tmp_path, monkeypatch, request):
    return garden(tmp_path, monkeypatch, request)


def test_states_with_nested_records_are_distinguished(plant):
    table = dynamics_of(Pool(plant("count_plain", COUNT.replace("DIE", "0")), 1))
    assert len(table.legal) == 1 + 2 + 3 + 4  # how often each action was taken, in any order
    assert value_iteration(table).values[0] == 1 + 2 + 3


def test_random_numbers_in_a_game_are_detected(plant):
    pool = Pool(plant("count_dice", COUNT.replace("DIE", "random.below(state, 2)")), 1)
    with pytest.raises(LudusError, match="count_dice is not deterministic"):
        dynamics_of(pool)


def test_other_games_without_tables_raise_an_error():
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    from ludus.bridges import open_pool

    pool = open_pool("gymnasium:Blackjack-v1", 1, 0)
    with pytest.raises(LudusError, match="Blackjack-v1 does not publish its dynamics"):
        dynamics_of(pool)
    pool.close()


def test_of_equal_actions_one_that_ends_the_game_is_chosen():
    """Waiting costs nothing, so with gamma 1 it has the same value as ending, but waiting forever gives nothing."""
    waiting = tables([[[0], [0]]], np.ones((1, 2, 1)), [[[0], [1]]], [[[0], [1]]])
    plan = value_iteration(waiting)
    assert plan.action_values.tolist() == [[1, 1]]
    assert plan.policy.tolist() == [1]


def test_value_sweeps_is_an_iterator_of_sweeps():
    seen = list(itertools.islice(value_sweeps(dynamics("FrozenLake-v1"), 0.9), 30))
    assert [sweep.number for sweep in seen] == list(range(1, 31))
    assert seen[-1].change < seen[10].change < seen[3].change


def test_a_policy_that_never_ends_raises_an_error_with_gamma_1():
    cliff = dynamics("CliffWalking-v1")
    up = np.zeros(48, np.int64)
    with pytest.raises(LudusError, match="still change by 1 after 1,000 sweeps with gamma 1"):
        policy_iteration(cliff, 1.0, max_sweeps=1000, policy=up)
    assert policy_iteration(cliff, 0.99, policy=up).values[36] == pytest.approx(-(1 - 0.99**13) / 0.01)


def test_the_initial_policy_ends_the_game_wherever_possible():
    for name in PUBLISHED:
        table = dynamics(name)
        costly = table._replace(reward=-np.ones(table.reward.shape))
        values = evaluate(costly, ending_policy(table), 1.0, 1e-6, 100_000).values
        assert np.isfinite(values).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"next": np.full((3, 2, 1), 3)}, "from 0 to 2"),
        ({"next": np.full((3, 2, 1), -1)}, "from 0 to 2"),
        ({"reward": np.zeros((3, 2))}, "the same shape"),
        ({"legal": np.ones((2, 2), bool)}, "legal must have the shape"),
        ({"probability": np.full((3, 2, 1), 0.9)}, "must sum to 1"),
    ],
)
def test_invalid_tables_raise_an_error(change, message):
    for method in (value_iteration, policy_iteration):
        with pytest.raises(LudusError, match=message):
            method(chain()._replace(**change))


def test_invalid_arguments_raise_an_error():
    with pytest.raises(LudusError, match=r"gamma must be between 0 and 1, not 1\.5"):
        value_iteration(chain(), 1.5)
    with pytest.raises(LudusError, match="a policy must be 3 actions from 0 to 1"):
        policy_iteration(chain(), policy=np.array([0, 2, 0]))
    restricted = chain()._replace(legal=np.array([[1, 0], [1, 1], [1, 1]], bool))
    with pytest.raises(LudusError, match="not legal in its state"):
        policy_iteration(restricted, policy=np.array([1, 0, 0]))


@st.composite
def random_dynamics(draw) -> Dynamics:
    """A few states, actions and outcomes of any kind, also with illegal actions and terminal states."""
    shape = tuple(draw(st.integers(1, most)) for most in (6, 3, 3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    probability = generator.random(shape) * (generator.random(shape) < 0.7)
    probability[..., 0] += 1e-3
    return tables(
        generator.integers(0, shape[0], shape), probability / probability.sum(axis=2, keepdims=True),
        generator.normal(size=shape), generator.random(shape) < 0.2, draw(st.sampled_from([1, -1])) * np.ones(shape),
        generator.random(shape[:2]) < 0.8,
    )  # fmt: skip


def bellman(table: Dynamics, values: np.ndarray, gamma: float) -> np.ndarray:
    """The action values in plain NumPy."""
    later = np.where(table.ends, 0.0, gamma * table.sign * values[table.next])
    worth = (table.probability * (table.reward + later)).sum(axis=2)
    return np.where(table.legal, worth, -np.inf)


@given(random_dynamics(), st.floats(0, 0.95))
def test_values_satisfy_the_bellman_equation(table, gamma):
    plan = value_iteration(table, gamma, 1e-12)
    worth = bellman(table, plan.values, gamma)
    np.testing.assert_allclose(plan.action_values, worth, atol=1e-12)
    np.testing.assert_allclose(action_values(table, plan.values, gamma), worth, atol=1e-12)
    expected = np.where(table.legal.any(axis=1), worth.max(axis=1), 0.0)
    np.testing.assert_allclose(plan.values, expected, atol=1e-10)


@given(random_dynamics(), st.floats(0, 0.95))
def test_both_methods_agree_for_one_seat(table, gamma):
    alone = table._replace(sign=np.ones_like(table.sign))
    expected = value_iteration(alone, gamma, 1e-12).values
    np.testing.assert_allclose(policy_iteration(alone, gamma).values, expected, atol=1e-6)
