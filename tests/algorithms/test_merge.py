"""Merging tables against the equation in plain Python, over dictionaries of positions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.agents.table import ANY_LEGAL, ILLEGAL, Table
from ludus.agents.tabular import enter_all
from ludus.algorithms.tabular.merge import merge

ACTIONS, POSITIONS = 3, 40
EXTRA = (("counts", np.float32), ("second", np.float32))
NONE = np.zeros(0, np.int64)


def new_table(hashed):
    return Table(0 if hashed else POSITIONS, ACTIONS, EXTRA)


def visit(table, key):
    """The row of a position, added with its illegal action if it is new, as in the compiled loop."""
    codes = np.array([[key]], np.uint64 if table.hashed else np.int64)
    lows, weights = (NONE, NONE) if table.hashed else (np.zeros(1, np.int64), np.ones(1, np.int64))
    before, place = len(table), np.zeros(1, np.int64)
    enter_all(*table.arrays(), codes, lows, weights, table.count, place)
    if len(table) > before:
        table.rows["values"][place[0]] = np.where(np.arange(ACTIONS) == key % ACTIONS, ILLEGAL, 0.0)
    return place[0]


def learn(table, lessons):
    """Each lesson is a position, an action and the change of its value; a new position counts one more visit."""
    for key, action, change in lessons:
        before = len(table)
        row = visit(table, key)
        table.rows["visits"][row] += np.uint64(len(table) - before)
        legal = action if action != key % ACTIONS else (action + 1) % ACTIONS
        table.rows["values"][row, legal] += np.float32(change)
        table.rows["second"][row, legal] -= np.float32(change)
        table.rows["counts"][row, legal] += 1


def content(table):
    """{position: (visits, {field: [A] numbers})}, independent of the order of rows."""
    fields = [name for name in table.rows.dtype.names if name != "visits"]
    rows = {int(key): table.rows[place] for key, place in zip(table.known[: len(table)], table.places, strict=True)}
    return {
        key: (int(row["visits"]), {name: row[name].astype(float).tolist() for name in fields})
        for key, row in rows.items()
    }


def new_position(like):
    values = [value if value < ANY_LEGAL else 0.0 for value in like["values"]]
    return 1, {"values": values, "counts": [0.0] * ACTIONS, "second": [0.0] * ACTIONS}


def by_hand(base, replicas):
    """Q = Σ w Q_k / Σ w over the replicas that changed it, with w their visits; counts are summed."""
    merged = dict(base)
    for replica in replicas:
        for key, (_, fields) in replica.items():
            merged.setdefault(key, new_position(fields))
    result = {}
    for key, (visits, fields) in merged.items():
        new = {name: list(numbers) for name, numbers in fields.items()}
        weighted = [
            (seen - visits, theirs) for seen, theirs in (replica[key] for replica in replicas if key in replica)
        ]
        for name, numbers in fields.items():
            for action, old in enumerate(numbers):
                changed = [(w, theirs[name][action]) for w, theirs in weighted if w and theirs[name][action] != old]
                if changed and name == "counts":
                    new[name][action] = old + sum(value - old for _, value in changed)
                elif changed:
                    new[name][action] = float(np.float32(sum(w * v for w, v in changed) / sum(w for w, _ in changed)))
        result[key] = (visits + sum(w for w, _ in weighted), new)
    return result


lessons = st.lists(
    st.tuples(st.integers(0, POSITIONS - 1), st.integers(0, ACTIONS - 1), st.sampled_from([-1.5, -0.1, 0.3, 2.0])),
    max_size=40,
)


@settings(max_examples=60)
@given(st.booleans(), lessons, st.lists(lessons, min_size=1, max_size=4))
def test_merging_equals_the_equation(hashed, before, lessons_of_replicas):
    """For any order in which the replicas discovered positions."""
    table = new_table(hashed)
    learn(table, before)
    replicas = [table.copy() for _ in lessons_of_replicas]
    for replica, lesson in zip(replicas, lessons_of_replicas, strict=True):
        learn(replica, lesson)
    expected = by_hand(content(table), [content(replica) for replica in replicas])
    mappings = merge(table, replicas)
    assert content(table) == expected
    key_of = dict(zip(table.places.tolist(), table.known[: len(table)].tolist(), strict=True))
    for replica, mapping in zip(replicas, mappings, strict=True):
        assert [key_of[place] for place in mapping.tolist()] == replica.known[: len(replica)].tolist()


@pytest.mark.parametrize("hashed", [False, True], ids=["numbered", "hashed"])
def test_merging_one_replica_copies_it(hashed):
    dice = np.random.default_rng(1)
    table = new_table(hashed)
    learn(table, [(dice.integers(20), dice.integers(3), dice.normal()) for _ in range(50)])
    replica = table.copy()
    learn(replica, [(dice.integers(40), dice.integers(3), dice.normal()) for _ in range(200)])
    (mapping,) = merge(table, [replica])
    assert all(np.array_equal(a, b) for a, b in zip(table.state().values(), replica.state().values(), strict=True))
    np.testing.assert_array_equal(mapping, replica.places)


@pytest.mark.parametrize("hashed", [False, True], ids=["numbered", "hashed"])
def test_unchanged_replicas_change_nothing(hashed):
    table = new_table(hashed)
    learn(table, [(key, key % ACTIONS, 0.5) for key in range(10)])
    before = {name: array.tobytes() for name, array in table.state().items()}
    assert merge(table, []) == []
    merge(table, [table.copy(), table.copy()])
    assert {name: array.tobytes() for name, array in table.state().items()} == before


def test_replicas_that_did_not_change_a_value_have_weight_zero():
    table = new_table(False)
    learn(table, [(4, 0, 1.0)])
    one, other = table.copy(), table.copy()
    learn(one, [(4, 0, 1.0)])
    learn(other, [(4, 2, 5.0)] * 9)
    merge(table, [one, other])
    assert table.rows["values"][4].tolist() == [2.0, ILLEGAL, 45.0]
    assert table.rows["visits"][4] == 12
    assert table.rows["counts"][4].tolist() == [2.0, 0.0, 9.0]


def test_replicas_are_weighted_by_visits():
    table = new_table(False)
    one, other = table.copy(), table.copy()
    learn(one, [(4, 0, 4.0)] * 2)
    learn(other, [(9, 1, 3.0), (4, 0, 1.0)])
    merge(table, [one, other])
    assert table.rows["values"][4, 0] == np.float32((2 * 8.0 + 1 * 1.0) / 3)


def test_a_hashed_table_grows_during_a_merge():
    table = Table(0, ACTIONS)
    replicas = [table.copy(), table.copy()]
    for number, replica in enumerate(replicas):
        for key in range(4000):
            visit(replica, number * 3000 + key)
    mappings = merge(table, replicas)
    assert len(table) == 7000 and len(table.rows) >= 7000
    np.testing.assert_array_equal(table.known[mappings[1]], replicas[1].known[:4000])
    np.testing.assert_array_equal(mappings[0], np.arange(4000))
