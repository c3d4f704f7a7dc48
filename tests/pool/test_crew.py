"""Threads that step shares of a pool: the same results as one thread, and nothing moves if an action is illegal."""

import gc
import threading
import time

import numpy as np
import pytest

from ludus.dsl.rows import compiling
from ludus.pool import Pool, crew
from ludus.types import LudusError

pytestmark = pytest.mark.skipif(not crew.crews_work(), reason="crews need compiled rules and a POSIX system")
ROWS = 101


def with_crew(name, threads, seed=3):
    pool = Pool(name, ROWS, seed=seed, threads=threads)
    pool.worth_a_member, pool.worth_a_thread = 1e-12, 1e6
    return pool


def everything(step):
    return [*step.observation.values(), *step[1:]]


def crew_threads():
    return [thread for thread in threading.enumerate() if thread.name == "ludus-crew"]


@pytest.mark.parametrize("threads", [2, 3, 5])
@pytest.mark.parametrize("game", ["tictactoe", "goofspiel", "cartpole", "car"])
def test_a_crew_gives_the_same_steps_as_one_thread(game, threads):
    assert compiling()
    alone, together = Pool(game, ROWS, seed=3, threads=1), with_crew(game, threads)
    for move in range(60):
        actions = alone.random_actions(move)
        one, other = alone.advance(actions), together.advance(actions)
        assert all(
            np.array_equal(mine, theirs) for mine, theirs in zip(everything(one), everything(other), strict=True)
        )
        if move % 20 == 0:
            time.sleep(0.01)  # members fall asleep
    assert together._crew is not None and np.array_equal(alone.save().states, together.save().states)
    together.close()


@pytest.mark.parametrize("bad_row", [0, 40, ROWS - 1])
def test_no_game_moves_if_an_action_is_illegal(bad_row):
    pool = with_crew("tictactoe", 3)
    for move in range(3):
        pool.advance(pool.random_actions(move))
    before, actions = pool.save(), pool.random_actions(9)
    actions[bad_row] = np.flatnonzero(~pool.step.mask[bad_row])[0]
    for _ in range(3):
        with pytest.raises(LudusError, match=f"of row {bad_row} is not legal"):
            pool.advance(actions)
    after = pool.save()
    assert all(np.array_equal(one, other) for one, other in zip(before[2:], after[2:], strict=True))
    pool.advance(pool.random_actions(10))
    pool.close()


def test_steps_are_never_written_again():
    pool = with_crew("connect4", 2)
    steps = [pool.advance(pool.random_actions(move)) for move in range(30)]
    copies = [[array.copy() for array in everything(step)] for step in steps]
    for move in range(30):
        pool.advance(pool.random_actions(move))
    for step, kept in zip(steps, copies, strict=True):
        assert all(np.array_equal(now, then) for now, then in zip(everything(step), kept, strict=True))
    pool.close()


def test_members_end_with_their_pool():
    before = set(crew_threads())
    closed, forgotten = with_crew("tictactoe", 2), with_crew("tictactoe", 2)
    for pool in (closed, forgotten):
        pool.advance(pool.random_actions(0))
    members = set(crew_threads()) - before
    assert len(members) == 2
    closed.close()
    del forgotten, pool
    gc.collect()
    for member in members:
        member.join(60)
        assert not member.is_alive()
