"""Tables: positions are found again after any order of insertion, growth, and storage."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.agents import table as tables
from ludus.agents.table import ANY_LEGAL, ILLEGAL, LINE, SMALLEST, Table, positions_of, row_dtype
from ludus.agents.tabular import enter_all, find_all
from ludus.dsl import f32, i8, i16, record, within
from ludus.types import LudusError

ACTIONS = 5
EXTRA = (("counts", np.float32),)
NUMBERED = positions_of("dots", record(dots=within(0, 3, i8, 4)))
HASHED = positions_of("board", record(board=within(-100, 100, i8, 8), clock=within(0, 999, i16)))


def enter(table, positions, rows):
    """Assign a row to every position, after growing the table, as learners do."""
    observations, codes = positions.new_observations(len(rows))
    write(observations, rows)
    while table.hashed and len(table) + len(rows) > len(table.rows):
        table.grow()
    places = np.zeros(len(rows), np.int64)
    enter_all(*table.arrays(), codes, positions.lows, positions.weights, positions.count, places)
    return places


def find(table, positions, rows):
    observations, codes = positions.new_observations(len(rows))
    write(observations, rows)
    places, seats = np.full(len(rows), -7), np.zeros(len(rows), np.int64)
    find_all(table.rows, table.index, codes, positions.lows, positions.weights, seats, False, positions.count, places)
    return places


def write(observations, rows):
    numbers = np.asarray(rows)
    for name in observations.dtype.names:
        width = observations.dtype[name].shape[0] if observations.dtype[name].shape else 1
        observations[name], numbers = numbers[:, :width].reshape(observations[name].shape), numbers[:, width:]


def filled(positions, rows, extra=()):
    """A table with some rows, all with different values."""
    table = Table(positions.count, ACTIONS, extra)
    places = enter(table, positions, rows)
    for number, name in enumerate(name for name in table.rows.dtype.names if name != "visits"):
        table.rows[name][places] = np.arange(len(rows) * ACTIONS).reshape(-1, ACTIONS) + 1000 * number
    return table


def same(one, other):
    a, b = one.state(), other.state()
    return list(a) == list(b) and all((a[n].dtype, a[n].tobytes()) == (b[n].dtype, b[n].tobytes()) for n in a)


dots = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=60)
cells = st.lists(st.integers(-100, 100), min_size=8, max_size=8)
boards = st.lists(st.builds(lambda board, clock: [*board, clock], cells, st.integers(0, 999)), min_size=1, max_size=60)


@pytest.mark.parametrize("extra", [(), EXTRA], ids=["plain", "extra"])
@pytest.mark.parametrize("positions", [NUMBERED, HASHED], ids=["numbered", "hashed"])
def test_table_round_trips(positions, extra):
    rows = np.random.default_rng(1).integers(0, 4, (50, 4 if positions is NUMBERED else 9))
    table = filled(positions, rows, extra)
    again = Table.from_state(table.state(), ACTIONS, extra)
    assert same(table, again)
    np.testing.assert_array_equal(find(again, positions, rows), find(table, positions, rows))
    np.testing.assert_array_equal(
        again.rows["values"][find(again, positions, rows)], table.rows["values"][find(table, positions, rows)]
    )
    assert same(
        Table.from_state(Table(positions.count, ACTIONS, extra).state(), ACTIONS, extra),
        Table(positions.count, ACTIONS, extra),
    )


@given(dots)
def test_every_numbered_position_is_found_again(rows):
    table = Table(NUMBERED.count, ACTIONS)
    places = enter(table, NUMBERED, rows)
    distinct = {tuple(row) for row in rows}
    assert len(table) == len(distinct) == len(set(places.tolist()))
    np.testing.assert_array_equal(find(table, NUMBERED, rows), places)
    others = [row for row in np.ndindex(4, 4, 4, 4) if row not in distinct]
    assert (find(table, NUMBERED, others) == -1).all()
    assert [np.ravel_multi_index(row[::-1], (4, 4, 4, 4)) for row in rows] == places.tolist()


@given(boards, boards)
def test_every_hashed_position_is_found_again(rows, others):
    table = Table(0, ACTIONS)
    places = enter(table, HASHED, rows)
    distinct = list(dict.fromkeys(map(tuple, rows)))
    assert len(table) == len(distinct)
    assert [places[rows.index(list(row))] for row in distinct] == list(range(len(distinct)))  # the order of discovery
    np.testing.assert_array_equal(find(table, HASHED, rows), places)
    strangers = [row for row in others if tuple(row) not in set(distinct)]
    assert (find(table, HASHED, np.reshape(strangers, (-1, 9))) == -1).all()


def test_grow_keeps_every_row():
    rows = np.random.default_rng(2).integers(-100, 100, (3 * SMALLEST, 9))
    rows = rows[np.unique(rows, axis=0, return_index=True)[1]]
    table = Table(0, ACTIONS, EXTRA)
    for part in np.array_split(rows, 7):
        places = enter(table, HASHED, part)
        table.rows["values"][places] = part[:, :ACTIONS]
        table.rows["counts"][places] = part[:, -ACTIONS:]
    assert len(table.rows) == 4 * SMALLEST and len(table) == len(rows)
    places = find(table, HASHED, rows)
    np.testing.assert_array_equal(places, np.arange(len(rows)))
    np.testing.assert_array_equal(table.rows["values"][places], rows[:, :ACTIONS])
    np.testing.assert_array_equal(table.rows["counts"][places], rows[:, -ACTIONS:])
    before = table.state()
    table.grow()
    assert all(np.array_equal(before[name], array) for name, array in table.state().items())
    np.testing.assert_array_equal(find(table, HASHED, rows), places)
    assert same(table, Table.from_state(before, ACTIONS, EXTRA))


def test_copy_is_independent():
    table = filled(HASHED, np.arange(90).reshape(10, 9))
    twin = table.copy()
    assert same(table, twin)
    twin.rows["values"][3] = 7
    enter(twin, HASHED, np.arange(100, 109).reshape(1, 9) % 100)
    assert len(table) == 10 and (table.rows["values"][3] != 7).all()
    twin.grow()
    table.take(twin)
    assert same(table, twin) and len(table.rows) == len(twin.rows)


@pytest.mark.parametrize("actions", [1, 7, 9, 14, 15, 300])
def test_rows_are_aligned_to_cache_lines(actions):
    dtype = row_dtype(actions, EXTRA)
    assert dtype.itemsize % LINE == 0 and dtype.fields["visits"][1] == dtype.itemsize - 8
    ends = sorted((offset, offset + kind.itemsize) for kind, offset, *_ in dtype.fields.values())
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ends))
    assert Table(10, actions, EXTRA).rows.ctypes.data % LINE == 0


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("known", lambda array: array * np.uint64(0)),
        ("known", lambda array: np.where(np.arange(len(array)) == 1, array[0], array)),
        ("known", lambda array: array.astype(np.int64)),
        ("known", lambda array: array[:-1]),
        ("known", lambda array: array.reshape(-1, 2)),
        ("count", lambda array: np.array([-1])),
        ("count", lambda array: np.array([2**60])),
        ("count", lambda array: np.array([1.5])),
        ("count", lambda array: array[:0]),
        ("count", lambda array: np.array(5)),
        ("values", lambda array: array[:, :-1]),
        ("values", lambda array: array.astype(np.float64)),
        ("values", lambda array: np.where(array == array.max(), np.float32("nan"), array)),
        ("values", lambda array: np.where(array == array.max(), np.float32("inf"), array)),
        ("visits", lambda array: array * np.uint64(0)),
        ("visits", lambda array: array.astype(np.float32)),
        ("counts", lambda array: array.T),
    ],
)
@pytest.mark.parametrize("positions", [NUMBERED, HASHED], ids=["numbered", "hashed"])
def test_damaged_tables_raise(positions, name, harm):
    rows = np.array([[i % 4, i // 4, 0, 0] if positions is NUMBERED else [i] * 9 for i in range(6)])
    state = filled(positions, rows, EXTRA).state()
    with pytest.raises(LudusError, match=r"damaged|needs .* GiB"):
        Table.from_state(state | {name: harm(state[name])}, ACTIONS, EXTRA)


def test_positions_beyond_the_size_raise():
    state = filled(NUMBERED, [[0, 1, 2, 3], [1, 1, 1, 1]]).state()
    for beyond in (2**63, 2**63 - 1, NUMBERED.count):
        known = np.array([0, beyond], np.uint64)
        with pytest.raises(LudusError, match="it contains positions beyond its size"):
            Table.from_state(state | {"known": known}, ACTIONS)


def test_table_of_another_method_raises():
    state = filled(NUMBERED, [[0, 1, 2, 3]]).state()
    with pytest.raises(LudusError, match="it has no counts"):
        Table.from_state(state, ACTIONS, EXTRA)
    assert (
        len(Table.from_state(filled(NUMBERED, [[0, 1, 2, 3]], EXTRA).state(), ACTIONS)) == 1
    )  # additional columns are ignored


def test_positions_are_numbered_if_possible():
    assert NUMBERED.count == 4**4 and HASHED.count == 0
    assert positions_of("edge", record(cell=within(0, 1, i8, 24))).count == 2**24
    assert positions_of("beyond", record(cell=within(0, 1, i8, 25))).count == 0
    assert positions_of("signed", record(cell=within(-3, 3, i8, 2))).lows.tolist() == [-3, -3]
    with pytest.raises(LudusError, match="speed is continuous, but a table needs discrete positions"):
        positions_of("car", record(gear=within(0, 3, i8), speed=within(0.0, 1.0, f32)))


def test_too_little_memory_raises(monkeypatch):
    monkeypatch.setattr(tables, "available_memory", lambda: 2**19)
    with pytest.raises(LudusError, match=r"a table of 1,000,000 positions needs 0\.1 GiB, but 0\.0 GiB are free"):
        Table(1_000_000, ACTIONS)
    table = Table(0, ACTIONS)
    with pytest.raises(LudusError, match=r"8,192 positions"):
        table.grow()
    assert len(table.rows) == SMALLEST


def test_illegal_values_are_far_below_legal_ones():
    assert ILLEGAL < ANY_LEGAL < -1e20
