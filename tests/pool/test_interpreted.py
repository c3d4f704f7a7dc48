"""Interpreted rules give the same bytes as compiled ones, so a game can change between them at any step."""

import numpy as np
import pytest

from ludus import games
from ludus.dsl.cache import interpreted
from ludus.pool import Pool

STEPS = 40


def play(pool, steps, first=0):
    """Random play, with everything that a room reads; returns bytes and texts step by step."""
    seen = []
    for step in range(first, first + steps):
        actions = pool.random_actions(step)
        pool.advance(actions)
        shapes = pool.scene() if pool.can_draw else np.zeros(0)
        names = [] if pool.step.mask.shape[1] == 0 else [
            pool.action_name(int(action)) for action in np.flatnonzero(pool.step.mask[0])[:50]
        ]  # fmt: skip
        arrays = (pool.states, pool._rows, pool._observations, shapes)
        seen.append((*(array.tobytes() for array in arrays), names, pool.describe(), pool.describe(seat=0)))
    return seen


@pytest.mark.parametrize("name", games.names())
def test_interpreted_play_equals_compiled_play(name):
    compiled = play(Pool(name, 1, seed=3, threads=1), STEPS)
    with interpreted():
        plain = play(Pool(name, 1, seed=3, threads=1), STEPS)
    for step, (one, other) in enumerate(zip(plain, compiled, strict=True)):
        assert one == other, f"step {step}"


@pytest.mark.parametrize("name", games.names())
def test_a_pool_changes_mode_between_two_steps(name):
    expected = play(Pool(name, 1, seed=4, threads=1), 20)
    with interpreted():
        pool = Pool(name, 1, seed=4, threads=1)
        seen = play(pool, 10)
    assert seen + play(pool, 10, first=10) == expected


def test_nothing_is_compiled_while_interpreting(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path))
    with interpreted():
        pool = Pool(games.load("tictactoe"), 1, threads=1)
        compiled = len(pool.kernel.see.overloads)
        pool.advance([4])
        pool.fork([0], seed=1)
        assert len(pool.kernel.see.overloads) == compiled
    assert not list(tmp_path.rglob("*.nbi"))


def test_the_mode_belongs_to_the_thread_and_ends_with_the_context():
    from concurrent.futures import ThreadPoolExecutor

    from ludus.dsl.cache import interpreting

    with interpreted():
        with ThreadPoolExecutor(1) as other:
            assert not other.submit(interpreting).result()
        with interpreted(False):
            assert not interpreting()
        assert interpreting()
    assert not interpreting()


@pytest.mark.parametrize("first_out", [0, 1])
def test_contexts_may_end_in_any_order(first_out):
    """As those of two coroutines in one thread do."""
    from ludus.dsl.cache import interpreting

    contexts = [interpreted(), interpreted(lambda: True)]
    for context in contexts:
        context.__enter__()
    contexts[first_out].__exit__(None, None, None)
    assert interpreting()
    contexts[1 - first_out].__exit__(None, None, None)
    assert not interpreting()
