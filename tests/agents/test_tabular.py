"""TabularAgent: greedy, uniform among ties, legal, and random in unknown positions."""

import numpy as np
import pytest

from ludus.agents.table import ILLEGAL, Table
from ludus.agents.tabular import TabularAgent, best_of, enter_all
from ludus.bridges import open_pool
from ludus.pool import Pool
from ludus.types import LudusError


@pytest.fixture
def pool():
    return Pool("tictactoe", 16, seed=3, threads=1)


def learn(agent, table, step, values):
    """Write the values [N, A] of a step into the table, as if they had been learned."""
    observations, codes = agent.positions.new_observations(len(step.seat))
    for name, field in step.observation.items():
        observations[name] = field
    places = np.zeros(len(codes), np.int64)
    enter_all(*table.arrays(), codes, agent.positions.lows, agent.positions.weights, agent.positions.count, places)
    table.rows["values"][places] = np.where(step.mask, values, ILLEGAL)


def wander(pool, moves, seed=0):
    """Play random moves."""
    dice = np.random.default_rng(seed)
    for _ in range(moves):
        pool.advance((dice.random(pool.step.mask.shape) * pool.step.mask).argmax(axis=1))
    return pool.step


def drawn(agent, table, step, keys=200):
    """[N, A] the actions that `act` chose at least once."""
    seen = np.zeros(step.mask.shape, bool)
    for key in range(keys):
        decision, memory = agent.act(table, agent.memory(len(step.seat)), step, key)
        seen[np.arange(len(seen)), decision.action] = True
        assert memory == ()
    return seen


def test_best_known_action_is_played(pool):
    agent, step = TabularAgent.of(pool), wander(pool, 2)
    table = agent.init(pool.spec, 0)
    values = np.random.default_rng(1).permutation(144).reshape(16, 9) - 70.0
    learn(agent, table, step, values)
    known = agent.values(table, step)  # rows with equal observations share their values
    for key in range(5):
        decision, _ = agent.act(table, (), step, key)
        np.testing.assert_array_equal(decision.action, known.argmax(axis=1))
        assert (decision.log_prob == 0).all()
    np.testing.assert_array_equal(known[~step.mask], -np.inf)


def test_ties_are_equally_likely(pool):
    agent, step = TabularAgent.of(pool), pool.step
    table = agent.init(pool.spec, 0)
    learn(agent, table, step, np.array([0, 5, 1, 5, 0, 0, 5, -3, 0.0]))
    counts = np.zeros(9)
    for key in range(300):
        decision, _ = agent.act(table, (), step, key)
        counts += np.bincount(decision.action, minlength=9)
    assert set(np.flatnonzero(counts)) == {1, 3, 6}
    assert (abs(counts[[1, 3, 6]] / 4800 - 1 / 3) < 0.03).all()
    np.testing.assert_allclose(np.exp(decision.log_prob), 1 / 3, rtol=1e-6)


def test_illegal_actions_are_never_played(pool):
    """Neither if all legal values are negative, nor if the table has a high value for an illegal action."""
    agent, step = TabularAgent.of(pool), wander(pool, 3)
    table = agent.init(pool.spec, 0)
    learn(agent, table, step, -np.ones((16, 9)))
    table.rows["values"][table.places] = np.where(table.rows["values"][table.places] < -1e29, 7.0, -1.0)
    assert not (drawn(agent, table, step) & ~step.mask).any()


def test_mask_of_the_step_overrides_the_row(pool):
    agent, step = TabularAgent.of(pool), pool.step
    table = agent.init(pool.spec, 0)
    learn(agent, table, step, np.arange(9) - 20.0)
    table.rows["values"][table.places, 4] = ILLEGAL
    assert (agent.values(table, step)[:, 4] == 0.0).all()
    assert (agent.act(table, (), step, 0)[0].action == 4).all()


def test_unknown_positions_are_played_at_random(pool):
    agent, step = TabularAgent.of(pool), wander(pool, 3)
    table = agent.init(pool.spec, 0)
    assert (agent.places(table, step) == -1).all()
    np.testing.assert_array_equal(drawn(agent, table, step), step.mask)
    np.testing.assert_array_equal(agent.choices(table, step), step.mask)


@pytest.mark.parametrize("game", ["tictactoe", "connect4", "goofspiel"])
def test_choices_are_the_possible_actions_of_act(game):
    pool = Pool(game, 12, seed=2, threads=1)
    agent = TabularAgent.of(pool)
    step = wander(pool, 3 * pool.spec.views)
    table = agent.init(pool.spec, 0)
    values = np.random.default_rng(3).integers(0, 3, step.mask.shape)
    values[::3] = 0
    half = len(values) // 2
    learn(
        agent,
        table,
        type(step)({n: f[:half] for n, f in step.observation.items()}, *(f[:half] for f in step[1:])),
        values[:half],
    )
    known = agent.places(table, step) >= 0
    assert known[:half].all() and not known.all()
    np.testing.assert_array_equal(drawn(agent, table, step), agent.choices(table, step))


def test_separate_seats_are_independent(pool):
    agent = TabularAgent.of(pool, "seat")
    step = pool.step
    table = agent.init(pool.spec, 0)
    assert len(table.rows) == 2 * 3**9 == agent.count
    place = agent.places(table, step)
    assert (place == -1).all()
    table.rows["visits"][agent.positions.count :] = 1
    assert (agent.places(table, step) == -1).all()
    second = step._replace(seat=np.ones_like(step.seat))
    assert (agent.places(table, second) == agent.positions.count).all()


def test_separate_hashed_seats_are_independent():
    pool = Pool("connect4", 4, seed=2, threads=1)
    together, apart = TabularAgent.of(pool), TabularAgent.of(pool, "seat")
    table = together.init(pool.spec, 0)
    learn(together, table, pool.step, np.ones((4, 7)))
    assert (together.places(table, pool.step) == 0).all()
    assert (apart.places(table, pool.step) == -1).all()


@pytest.mark.parametrize("value", [0.25, -0.25])
def test_value_of_the_acting_seat(pool, value):
    """Also if all legal values are negative."""
    agent, step = TabularAgent.of(pool), wander(pool, 3)
    table = agent.init(pool.spec, 0)
    learn(agent, table, step, np.full((16, 9), value))
    decision, _ = agent.act(table, (), step, 0)
    assert (step.seat == 1).all()
    np.testing.assert_array_equal(decision.value, np.tile(np.float32([-value, value]), (16, 1)))


def test_value_in_a_game_with_one_seat():
    pool = open_pool("gymnasium:Taxi-v4", 3, 1, threads=1)
    agent = TabularAgent.of(pool)
    table = agent.init(pool.spec, 0)
    learn(agent, table, pool.step, np.arange(6) / 4)
    legal = np.where(pool.step.mask, np.arange(6) / 4, -1.0)
    np.testing.assert_array_equal(agent.act(table, (), pool.step, 0)[0].value[:, 0], legal.max(axis=1))


def test_table_of_another_game_is_rejected(pool):
    agent = TabularAgent.of(pool)
    with pytest.raises(LudusError, match="this table is for another game"):
        agent.places(Table(0, 9), pool.step)
    for count in (0, 3**9 - 1, 2 * 3**9):
        with pytest.raises(LudusError, match=f"this table has {count:,} numbered positions but the game has 19,683"):
            agent.check(Table(count, 9))
    agent.check(agent.init(pool.spec, 0))


def test_zero_rows(pool):
    """A server may request zero rows."""
    agent, step = TabularAgent.of(pool), pool.step
    none = type(step)({name: field[:0] for name, field in step.observation.items()}, *(field[:0] for field in step[1:]))
    decision, _ = agent.act(agent.init(pool.spec, 0), (), none, 0)
    assert decision.action.shape == (0,) and decision.value.shape == (0, 2)


def test_best_of():
    values = np.array([[1.0, 2.0, 2.0], [-np.inf, -5.0, -np.inf]])
    np.testing.assert_array_equal(best_of(values), [[False, True, True], [False, True, False]])
