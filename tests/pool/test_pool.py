"""The pool: returned arrays never change, rejected actions change nothing, forks and snapshots are exact."""

import numpy as np
import pytest

from ludus.dsl import PLAYING, random
from ludus.pool import Pool
from ludus.types import LudusError


def content(pool: Pool) -> bytes:
    return b"".join(part.tobytes() for part in pool.save()[2:])


def arrays(step) -> list:
    return [*step.observation.values(), *step[1:]]


@pytest.mark.parametrize("name", ["tictactoe", "goofspiel", "car"])
def test_returned_arrays_are_never_written_again(name):
    pool = Pool(name, 6, 1, threads=1)
    kept, copies = [], []
    for seed in range(40):
        step = pool.step
        kept.append(arrays(step))
        copies.append([array.copy() for array in arrays(step)])
        pool.advance(pool.random_actions(seed))
    pool.play_randomly(20)
    pool.restore(pool.fork(range(6), 1).save())
    pool.reset(2)
    for now, then in zip(kept, copies, strict=True):
        assert all(map(np.array_equal, now, then))


def test_writing_into_returned_arrays_changes_no_game():
    pool, clean = Pool("goofspiel", 5, 1), Pool("goofspiel", 5, 1)
    for seed in range(30):
        actions = clean.random_actions(seed)
        step = pool.advance(actions.copy())
        clean.advance(actions)
        for array in arrays(step):
            array[...] = 1
        assert content(pool) == content(clean)


def test_the_pool_keeps_no_reference_to_actions():
    pool, twin = Pool("connect4", 3, 1), Pool("connect4", 3, 1)
    actions = np.zeros(3, np.int64)
    pool.advance(actions)
    actions[:] = 5
    twin.advance([0, 0, 0])
    assert content(pool) == content(twin)


REFUSED = [
    ("tictactoe", np.zeros((2, 1), int), "tictactoe expects actions of shape (2,), not (2, 1)"),
    ("tictactoe", np.zeros(3, int), "tictactoe expects actions of shape (2,), not (3,)"),
    ("tictactoe", 4, "tictactoe expects actions of shape (2,), not ()"),
    ("tictactoe", [4.0, 4.0], "tictactoe expects int64 actions, not float64"),
    ("tictactoe", ["a1", "b2"], "tictactoe expects int64 actions, not str64"),
    ("tictactoe", [None, 0], "tictactoe expects int64 actions, not object"),
    ("tictactoe", [0, 9], "action 9 of row 1 is not legal for seat 1; legal actions: a1, b1, c1, a2, c2, a3, b3, c3"),
    ("tictactoe", [-1, 0], "action -1 of row 0 is not legal"),
    ("tictactoe", [0, 4], "action 4 of row 1 is not legal for seat 1; legal actions: a1, b1, c1, a2, c2, a3, b3, c3"),
    ("tictactoe", np.array([0, 2**63], np.uint64), "of row 1 is not legal"),
    ("goofspiel", [0, 0, 0, 13], "action 13 of row 3 is not legal for seat 1"),
    ("goofspiel", [0, 0], "goofspiel expects actions of shape (4,), not (2,)"),
    ("car", [[0, 0], [0, np.nan]], "action [0.0, nan] of row 1 is not within -1 to 1, -1 to 1"),
    ("car", [[0, 1.01], [0, 0]], "action [0.0, 1.01] of row 0 is not within -1 to 1, -1 to 1"),
    ("car", [[0, 0], [-np.inf, 0]], "action [-inf, 0.0] of row 1 is not within"),
    ("car", [0.5, 0.5], "car expects actions of shape (2, 2), not (2,)"),
    ("car", [[0, 0], [0, 0j]], "car expects float64 actions, not complex128"),
    ("car", [[0, 0], [0]], "rows of equal length"),
]


@pytest.mark.parametrize(("name", "actions", "sentence"), REFUSED)
def test_an_illegal_action_raises_an_error_and_moves_nothing(name, actions, sentence):
    pool = Pool(name, 2, 1)
    if name == "tictactoe":
        pool.advance([4, 4])
    before, step = content(pool), pool.step
    with pytest.raises(LudusError) as refusal:
        pool.advance(actions)
    assert sentence in str(refusal.value)
    assert content(pool) == before
    assert pool.step is step


@pytest.mark.parametrize(("rows", "threads"), [(0, 1), (-3, 1), (2, -1)])
def test_a_pool_without_rows_or_threads_is_refused(rows, threads):
    with pytest.raises(LudusError, match="at least one row and one thread"):
        Pool("tictactoe", rows, 0, threads)


@pytest.mark.parametrize("seed", [[1], [1, 2, 3]])
def test_a_wrong_number_of_seeds_is_refused(seed):
    pool = Pool("goofspiel", 2, 0)
    before = content(pool)
    with pytest.raises(LudusError, match=f"{len(seed)} seeds were given for 2 rows; give one number, or one per row"):
        pool.reset(seed)
    assert content(pool) == before


@pytest.mark.parametrize("seed", [1.5, [1.5, 2], ["a", "b"], [None, 1]])
def test_a_seed_that_is_not_an_integer_is_refused(seed):
    pool = Pool("goofspiel", 2, 0)
    before = content(pool)
    with pytest.raises(LudusError, match="seed"):
        pool.reset(seed)
    assert content(pool) == before


@pytest.mark.parametrize("rows", [[True], [[True, False]], np.ones(3, bool)])
def test_rows_to_reset_are_one_boolean_per_row(rows):
    pool = Pool("goofspiel", 2, 0)
    with pytest.raises(LudusError, match="rows must be 2 booleans"):
        pool.reset(rows=rows)


def test_row_i_of_many_seeds_is_the_game_of_that_seed():
    many = Pool("goofspiel", 3, [5, 6, 2**70 + 1])
    for row, seed in enumerate([5, 6, 2**70 + 1]):
        assert Pool("goofspiel", 1, seed).states[0] == many.states[row]


def test_only_the_chosen_rows_restart():
    pool = Pool("connect4", 4, 1)
    pool.advance([0, 1, 2, 3])
    step = pool.reset(rows=np.array([False, True, False, True]))
    assert step.first.tolist() == [False, True, False, True]
    assert pool.states["moves"].tolist() == [1, 0, 1, 0]


def test_only_the_chosen_rows_move():
    pool, every = Pool("connect4", 5, 1), Pool("connect4", 5, 1)
    step = pool.advance([0, 1, 2, 3, 4], rows=[True, False, True, True, False])
    moved = every.advance([0, 1, 2, 3, 4])
    assert pool.states["moves"].tolist() == [1, 0, 1, 1, 0]
    assert step.first.tolist() == [False, True, False, False, True]
    for row in (0, 2, 3):
        assert np.array_equal(step.observation["board"][row], moved.observation["board"][row])
    assert not step.observation["board"][[1, 4]].any()
    step = pool.advance([0, 1, 2, 3, 4], rows=np.array([False, True, False, False, True]))
    assert np.array_equal(step.observation["board"], moved.observation["board"])
    with pytest.raises(LudusError, match="rows must be 5 booleans"):
        pool.advance([0] * 5, rows=[True])


def test_finished_games_ignore_their_action_and_restart():
    pool = Pool("cartpole(horizon=1)", 2, 1)
    assert pool.advance([0, 1]).first.tolist() == [False, False]
    step = pool.advance([99, -5])
    assert step.first.tolist() == [True, True]
    assert step.reward.sum() == 0


def test_a_fork_has_other_random_numbers():
    pool = Pool("goofspiel", 1, 3)
    twin = pool.fork([0] * 200, seed=4)
    assert len(np.unique(np.append(twin.states["key"], pool.states["key"]))) == 201
    assert (twin.states["prizes"] == pool.states["prizes"]).all()
    twin.reset()
    assert len(np.unique(twin.states["prizes"], axis=0)) > 150


def test_a_fork_with_the_seed_of_its_pool_has_other_random_numbers():
    pool = Pool("tictactoe", 4, seed=9)
    assert not set(pool.fork([0, 1, 2, 3], seed=9).states["key"]) & set(pool.states["key"])


def test_a_fork_for_a_seat_resamples_hidden_information():
    pool = Pool("goofspiel", 1, 3)
    pool.advance([3, 5])
    twin = pool.fork([0] * 200, seed=4, seat=0)
    assert (twin.states["prizes"][:, :2] == pool.states["prizes"][0, :2]).all()
    assert len(np.unique(twin.states["prizes"], axis=0)) > 190
    assert (twin.step.observation["prize"] == pool.step.observation["prize"][0]).all()


@pytest.mark.parametrize("rows", [[], [0, 4], [-1]])
def test_a_fork_of_nonexistent_rows_is_refused(rows):
    with pytest.raises(LudusError, match="fork expects rows from 0 to 3"):
        Pool("tictactoe", 4, 1).fork(rows, 1)


def test_a_fork_continues_from_the_state_of_its_source():
    pool = Pool("tictactoe", 3, 1)
    pool.play_randomly(4)
    before = content(pool)
    twin = pool.fork([2, 0], seed=9)
    assert twin.step.mask.tolist() == pool.step.mask[[2, 0]].tolist()
    twin.play_randomly(3)
    assert content(pool) == before


def test_a_snapshot_of_another_game_is_refused():
    with pytest.raises(LudusError, match="this snapshot is of another game or another version of connect4"):
        Pool("connect4", 2, 1).restore(Pool("tictactoe", 2, 1).save())


def test_a_snapshot_of_another_size_is_refused_and_nothing_is_restored():
    pool = Pool("connect4", 2, 1)
    before = content(pool)
    with pytest.raises(LudusError, match="this snapshot has 3 rows and the pool has 2"):
        pool.restore(Pool("connect4", 3, 1).save())
    assert content(pool) == before


def test_a_snapshot_is_not_changed_by_play():
    pool = Pool("car", 2, 1)
    snapshot = pool.save()
    before = [part.copy() for part in snapshot[2:]]
    pool.play_randomly(30)
    assert all(map(np.array_equal, before, snapshot[2:]))


def test_random_play_continues_exactly_from_a_snapshot():
    pool = Pool("connect4", 4, 1)
    pool.play_randomly(5)
    snapshot = pool.save()
    pool.play_randomly(10)
    played = content(pool)
    pool.restore(snapshot)
    pool.play_randomly(10)
    assert content(pool) == played


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_stepping_by_hand_does_not_depend_on_threads(threads):
    one, many = Pool("tictactoe", 64, 1, threads=1), Pool("tictactoe", 64, 1, threads=threads)
    many.worth_a_thread = 1e-9
    for seed in range(12):
        actions = one.random_actions(seed)
        one.advance(actions)
        many.advance(actions)
        assert content(one) == content(many)
    many.close()


def test_random_play_counts_decisions():
    pool = Pool("cartpole(horizon=4)", 3, 1)
    assert pool.play_randomly(5) == 12
    assert (pool.status == PLAYING).all()


def test_random_play_in_parts_is_random_play_at_once():
    whole, parts = Pool("connect4", 4, 1), Pool("connect4", 4, 1)
    whole.play_randomly(30)
    parts.play_randomly(10)
    parts.play_randomly(20)
    assert content(whole) == content(parts)


def test_a_waiting_seat_can_be_observed():
    pool = Pool("tictactoe", 2, 1)
    pool.advance([0, 4])
    assert pool.look(0, 0)["board"].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert pool.look(1, 1)["board"].tolist() == [0, 0, 0, 0, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("ask", [Pool.look, Pool.scene])
@pytest.mark.parametrize(("row", "seat"), [(7, 0), (-1, 0), (0, 5)])
def test_a_nonexistent_row_or_seat_is_refused(ask, row, seat):
    with pytest.raises(LudusError):
        ask(Pool("tictactoe", 2, 1), row, seat)


def test_one_seed_gives_unrelated_rows():
    assert len(np.unique(Pool("goofspiel", 64, 1).states["key"])) == 64
    assert random.keys(1, 2)[0] != random.keys(1, 2)[1]
