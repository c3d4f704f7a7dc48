"""Q-learning in three forms: values by hand, and the same bits from each form."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.algorithms.tabular.forms import FORMS, QLearning, plain, vectorised
from ludus.dsl import random
from ludus.types import LudusError

STATES, ACTIONS = 4, 3
EACH = pytest.mark.parametrize("form", FORMS)
places, moves = st.integers(0, STATES - 1), st.integers(0, ACTIONS - 1)
masks = st.lists(st.booleans(), min_size=ACTIONS, max_size=ACTIONS).filter(any)
numbers = st.floats(-1e20, 1e20)
updates = st.tuples(places, moves, numbers, places, st.booleans(), masks, st.sampled_from([1.0, -1.0]))
batches = st.lists(updates, max_size=40)
rates = st.fixed_dictionaries(
    {"learning_rate": st.floats(1e-6, 1.0), "gamma": st.floats(0, 1), "exploration": st.floats(0, 1)}
)


def learners(**settings):
    return [QLearning(form, STATES, ACTIONS, **settings) for form in FORMS]


def columns(batch):
    """Updates as the arguments of batch_update."""
    kinds = (np.int64, np.int64, np.float64, np.int64, bool, bool, np.float64)
    given = zip(*batch, strict=True) if batch else ([],) * 7
    shaped = [np.array(list(column), kind) for column, kind in zip(given, kinds, strict=True)]
    shaped[5] = shaped[5].reshape(-1, ACTIONS)
    return shaped


def one_by_one(learner, batch):
    for update in batch:
        learner.update(*update)


@EACH
def test_updates_by_hand(form):
    q = QLearning(form, 3, 2, learning_rate=0.5, gamma=0.5)
    q.update(1, 0, 4.0, 2, terminated=True)
    assert q.table[1].tolist() == [2.0, 0.0]  # 0 + 0.5 (4 - 0)
    q.update(0, 1, 1.0, 1, terminated=False)
    assert q.table[0].tolist() == [0.0, 1.0]  # 0 + 0.5 (1 + 0.5 * 2 - 0)
    q.update(0, 1, 1.0, 1, terminated=False, next_mask=[False, True])
    assert q.table[0].tolist() == [0.0, 1.0]  # 1 + 0.5 (1 + 0.5 * 0 - 1)
    q.update(0, 0, 0.0, 1, terminated=False, sign=-1.0)
    assert q.table[0].tolist() == [-0.5, 1.0]  # 0 + 0.5 (0 - 0.5 * 2 - 0)
    q.batch_update([0, 0], [1, 1], [3.0, 3.0], [2, 2], [True, True])
    assert q.table[0].tolist() == [-0.5, 2.5]  # 1 -> 2 -> 2.5
    assert q.table.dtype == np.float32 and q.table.shape == (3, 2)


@EACH
def test_a_value_is_rounded_once(form):
    q = QLearning(form, 1, 1, learning_rate=0.1)
    expected = np.float32(0.0)
    for reward in (0.1, 1 / 3, 1e-9, 7e7, -0.3):
        q.update(0, 0, reward, 0, True)
        expected = np.float32(float(expected) + 0.1 * (reward - float(expected)))
        assert q.table[0, 0] == expected


@given(batches, rates)
def test_all_forms_learn_the_same_bits(batch, settings):
    expected = QLearning("list", STATES, ACTIONS, **settings)
    one_by_one(expected, batch)
    for learner in learners(**settings):
        learner.batch_update(*columns(batch))
        assert learner.table.tobytes() == expected.table.tobytes()
    for learner in learners(**settings):
        one_by_one(learner, batch)
        assert learner.table.tobytes() == expected.table.tobytes()


@given(st.lists(st.tuples(places, masks, st.booleans()), max_size=30), batches, rates, st.integers(0, 2**64 - 1))
def test_all_forms_choose_the_same_actions(choices, batch, settings, seed):
    expected = None
    for learner in learners(**settings, seed=seed):
        learner.batch_update(*columns(batch))
        singly = [learner.select_action(*choice) for choice in choices]
        states = np.array([state for state, *_ in choices], np.int64)
        legal = np.array([mask for _, mask, _ in choices], bool).reshape(-1, ACTIONS)
        chosen = [singly, learner.select_actions(states, legal).tolist(), learner.select_actions(states).tolist()]
        expected = expected or chosen
        assert chosen == expected
        assert all(mask[action] for action, (_, mask, _) in zip(chosen[0], choices, strict=True))
        assert legal[np.arange(len(states)), chosen[1]].all()


@EACH
def test_select_actions_equals_single_calls_of_select_action(form):
    one, many = (QLearning(form, STATES, ACTIONS, exploration=0.5, seed=3) for _ in range(2))
    states = np.arange(200) % STATES
    assert many.select_actions(states).tolist() == [one.select_action(int(state)) for state in states]
    assert one.select_action(0) == many.select_action(0)


@EACH
def test_ties_are_broken_evenly_and_exploration_has_its_probability(form):
    q = QLearning(form, 1, 4, learning_rate=1.0, exploration=0.2, seed=1)
    q.batch_update([0, 0], [1, 3], [1.0, 1.0], [0, 0], [True, True])
    greedy = np.bincount(q.select_actions(np.zeros(4000, np.int64), explore=False), minlength=4)
    assert greedy[0] == greedy[2] == 0 and abs(greedy[1] - 2000) < 130  # four standard deviations
    tried = np.bincount(q.select_actions(np.zeros(4000, np.int64)), minlength=4)
    assert abs(tried[0] + tried[2] - 400) < 80
    q.rates = dataclasses.replace(q.rates, exploration=0.0)
    assert np.bincount(q.select_actions(np.zeros(400, np.int64)), minlength=4)[[0, 2]].tolist() == [0, 0]


@EACH
def test_repeated_updates_converge_where_summed_errors_diverge(form):
    count, rate, naive = 16, 0.5, np.zeros((1, 1))
    q = QLearning(form, 1, 1, learning_rate=rate)
    states = np.zeros(count, np.int64)
    for _ in range(20):
        np.add.at(naive, (states, states), rate * (1.0 - naive[states, states]))
        q.batch_update(states, states, np.ones(count), states, np.ones(count, bool))
    assert abs(naive[0, 0]) > 1e12
    assert q.table[0, 0] == 1.0


@given(st.sampled_from(list(FORMS)), st.sampled_from(list(FORMS)), batches, batches, rates)
def test_a_restored_state_continues_exactly(form, other, before, after, settings):
    q = QLearning(form, STATES, ACTIONS, **settings, seed=7)
    q.batch_update(*columns(before))
    q.select_actions([0, 1, 2])
    twin = QLearning.from_state(other, {name: array.copy() for name, array in q.state().items()})
    for learner in (q, twin):
        learner.batch_update(*columns(after))
    assert q.table.tobytes() == twin.table.tobytes()
    assert q.select_actions(np.arange(40) % STATES).tolist() == twin.select_actions(np.arange(40) % STATES).tolist()
    assert q.rates == twin.rates


@EACH
def test_the_table_is_a_copy(form):
    q = QLearning(form, 2, 2)
    q.table[:] = 5.0
    assert not q.table.any()


GOOD = {"states": [0, 1], "actions": [0, 1], "rewards": [1.0, 2.0], "next_states": [1, 0], "terminated": [False, True]}


@EACH
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"states": [0, STATES]}, "states must be between 0 and 3, not 4 at index 1"),
        ({"states": [-1, 0]}, "-1 at index 0"),
        ({"states": [0.0, 1.0]}, "whole numbers, not float64"),
        ({"states": [[0, 1]]}, "shape"),
        ({"states": [[0], [0, 1]]}, "rows of the same length"),
        ({"actions": [0, ACTIONS]}, "actions must be between 0 and 2"),
        ({"actions": [0]}, "actions must have the shape"),
        ({"rewards": [1.0, np.nan]}, "finite"),
        ({"rewards": [np.inf, 1.0]}, "finite"),
        ({"next_states": [0, 9]}, "next_states must be between"),
        ({"terminated": [0.5, 1.0]}, "booleans"),
        ({"next_masks": np.zeros((2, ACTIONS), bool)}, "next_masks: no action is legal at index 0"),
        ({"next_masks": np.ones((2, ACTIONS + 1), bool)}, "shape"),
        (
            {"masks": [[True, True, True], [True, False, True]]},
            "update 1 has the action 1, which is not legal in its mask",
        ),
        ({"signs": [1.0, 0.5]}, "signs must be 1"),
    ],
)
def test_an_invalid_batch_raises_an_error_and_changes_nothing(form, wrong, message):
    q = QLearning(form, STATES, ACTIONS)
    q.batch_update(**GOOD)
    before = q.state()
    with pytest.raises(LudusError, match=message.replace("(", r"\(")):
        q.batch_update(**{**GOOD, **wrong})
    assert all(before[name].tobytes() == array.tobytes() for name, array in q.state().items())


@EACH
def test_an_invalid_call_raises_an_error_and_changes_nothing(form):
    q = QLearning(form, STATES, ACTIONS)
    before = q.state()
    for call, message in [
        (lambda: q.update(STATES, 0, 0.0, 0, True), "a state must be a whole number from 0 to 3, not 4"),
        (lambda: q.update(0, -1, 0.0, 0, True), "an action must be a whole number from 0 to 2, not -1"),
        (lambda: q.update(0, 0, 0.0, 1.5, True), "not 1.5"),
        (lambda: q.update(0, 0, float("nan"), 0, True), "not nan"),
        (lambda: q.update(0, 0, 0.0, 0, False, next_mask=[False] * ACTIONS), "next_mask: no action is legal"),
        (lambda: q.update(0, 0, 0.0, 0, False, mask=[False, True, True]), "not legal in state 0 according to its mask"),
        (lambda: q.update(0, 0, 0.0, 0, False, sign=2.0), "sign 1 or -1"),
        (lambda: q.select_action(-1), "not -1"),
        (lambda: q.select_action(0, [False] * ACTIONS), "at least one must be"),
        (lambda: q.select_action(0, [True]), "shape"),
        (lambda: q.select_actions([0, 99]), "99 at index 1"),
        (lambda: q.select_actions([0, 1], [[True] * ACTIONS, [False] * ACTIONS]), "no action is legal at index 1"),
    ]:
        with pytest.raises(LudusError, match=message):
            call()
    assert all(before[name].tobytes() == array.tobytes() for name, array in q.state().items())


@EACH
def test_the_mask_after_the_end_of_a_game_may_be_empty(form):
    q = QLearning(form, STATES, ACTIONS, learning_rate=1.0)
    q.update(0, 0, 2.0, 1, True, next_mask=[False] * ACTIONS)
    q.batch_update([1], [0], [3.0], [1], [True], next_masks=np.zeros((1, ACTIONS), bool))
    assert q.table[:2, 0].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": 1.5}, "learning_rate"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"gamma": -0.1}, "gamma"),
        ({"gamma": 1.1}, "gamma"),
        ({"exploration": 2}, "exploration"),
        ({"states": 0}, "at least one state"),
        ({"form": "numba"}, "known are list, numpy, compiled"),
    ],
)
def test_invalid_settings_raise_an_error(settings, message):
    with pytest.raises(LudusError, match=message):
        QLearning(**{"form": "list", "states": 2, "actions": 2, **settings})


def test_the_fastest_form_is_the_default():
    assert type(QLearning(states=2, actions=2).form) is type(QLearning("compiled", 2, 2).form)


def test_invalid_states_raise_an_error():
    good = QLearning("list", 2, 2).state()
    with pytest.raises(LudusError, match="it has no key"):
        QLearning.from_state("list", {name: array for name, array in good.items() if name != "key"})
    for name, bad in (("table", good["table"].astype(np.float64)), ("table", good["table"] * np.nan), ("rates", [1.0])):
        with pytest.raises(LudusError, match="damaged"):
            QLearning.from_state("list", {**good, name: np.asarray(bad)})


@given(st.integers(0, 2**64 - 1))
def test_all_forms_mix_bits_like_the_games(bits):
    assert plain.mix(bits) == int(random.mix(np.uint64(bits)))
    assert vectorised.mix(np.array([bits], np.uint64)).tolist() == [plain.mix(bits)]


@given(st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 6)), max_size=40))
def test_a_batch_is_split_only_at_dependent_updates(steps):
    writes, reads = (np.array([step[side] for step in steps], np.int64) for side in (0, 1))
    parts = [(part.start, part.stop) for part in vectorised.independent(writes, reads)]
    expected, start = [], 0
    for place in range(len(steps)):
        changed = set(writes[start:place].tolist()) - {-1}
        if changed & set(steps[place]):
            expected.append((start, place))
            start = place
    assert parts == [*expected, (start, len(steps))] if steps else parts == []


def test_the_compiled_form_gives_the_same_table_without_compilation():
    script = (
        "from ludus.algorithms.tabular.forms import QLearning; import numpy as np\n"
        "q = QLearning('compiled', 5, 3, exploration=0.5, seed=2); dice = np.random.default_rng(0)\n"
        "for _ in range(5):\n"
        "    s, n, r = dice.integers(0, 5, 30), dice.integers(0, 5, 30), dice.standard_normal(30)\n"
        "    q.batch_update(s, q.select_actions(s), r, n, r > 1); q.update(1, q.select_action(1), 0.3, 2, False)\n"
        "print(q.table.tobytes().hex())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", script], env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True, text=True, check=True,
        ).stdout
        for disabled in "01"
    }  # fmt: skip
    assert len(outputs) == 1 and len(outputs.pop().strip()) == 2 * 4 * 15
