"""Checks of the pool protocol. Each check takes `open_pool`, a function that opens the pool with the same seed."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from ludus.bridges import AnyPool, identity_of, pool_state, restore_pool
from ludus.dsl import CUT, OVER, PLAYING
from ludus.pool import Pool
from ludus.types import Array, Continuous, LudusError, Step

ROWS, STEPS, MAX_STEPS = 3, 12, 600
OpenPool = Callable[[], AnyPool]
CAPABILITIES = ("can_fork", "can_save", "can_draw", "names_moves")


def arrays_of(step: Step) -> list[Array]:
    return [*step.observation.values(), *step[1:]]


def equal_steps(left: Step, right: Step) -> bool:
    return all(np.array_equal(*pair, equal_nan=True) for pair in zip(arrays_of(left), arrays_of(right), strict=True))


def play(pool: AnyPool, steps: int = STEPS, seed: int = 0) -> list[Step]:
    return [pool.advance(pool.random_actions(seed + number)) for number in range(steps)]


def pools_declare_their_capabilities(open_pool: OpenPool) -> None:
    """Every member of the protocol is there, and capabilities are True or False."""
    pool = open_pool()
    members = [name for name in vars(AnyPool) if not name.startswith("_")]
    assert set(CAPABILITIES) | {"compiled", "advance", "save"} <= set(members)
    assert [name for name in [*members, *AnyPool.__annotations__] if not hasattr(pool, name)] == []
    assert all(isinstance(getattr(pool, name), bool) for name in CAPABILITIES)
    assert pool.compiled is None or isinstance(pool.compiled, Pool)


def steps_follow_the_spec(open_pool: OpenPool) -> None:
    """The arrays of a step have the shapes given by the spec and the observation record."""
    pool = open_pool()
    spec, views = pool.spec, pool.rows * pool.spec.views
    actions = 0 if isinstance(spec.actions, Continuous) else spec.actions.n
    opening = pool.step
    assert opening.first.all() and (pool.status == PLAYING).all() and pool.status.shape == (pool.rows,)
    for step in (opening, *play(pool)):
        assert step.mask.shape == (views, actions) and (actions == 0 or step.mask.any(axis=1).all())
        assert step.seat.shape == step.discount.shape == step.first.shape == (views,)
        assert step.reward.shape == (views, spec.seats)
        assert ((step.seat >= 0) & (step.seat < spec.seats)).all()
        assert tuple(step.observation) == pool.observation.names
        for name, field in step.observation.items():
            assert field.shape == (views, *pool.observation[name].shape)


def seeds_determine_the_games(open_pool: OpenPool) -> None:
    """The same seed and the same actions give the same steps."""
    left, right = open_pool(), open_pool()
    for one, other in zip(play(left), play(right), strict=True):
        assert equal_steps(one, other)
    assert equal_steps(left.reset(7), right.reset(7))


def steps_are_never_written_again(open_pool: OpenPool) -> None:
    """The arrays of a step do not change when the pool advances."""
    pool = open_pool()
    step = pool.step
    before = [array.copy() for array in arrays_of(step)]
    play(pool)
    pool.reset(5)
    assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(arrays_of(step), before, strict=True))


def ended_games_restart(open_pool: OpenPool) -> None:
    """The step after the last one starts a new game; the discount is 0 for termination and 1 for truncation."""
    pool = open_pool()
    for number in range(MAX_STEPS):
        before = pool.status
        step = pool.advance(pool.random_actions(number))
        views = pool.spec.views
        assert np.array_equal(step.first[::views], before != PLAYING)
        assert (step.discount[::views][pool.status == OVER] == 0).all()
        assert (step.discount[::views][pool.status == CUT] == 1).all()
        if (before != PLAYING).any():
            return
    assert pool.spec.horizon == 0 or pool.spec.horizon > MAX_STEPS, "no game has ended"


def illegal_actions_move_nothing(open_pool: OpenPool) -> None:
    """An action that is out of range raises LudusError, and no game moves."""
    pool = open_pool()
    bad = pool.random_actions(0)
    bad[0] = 10**6
    before = pool.step
    with pytest.raises(LudusError):
        pool.advance(bad)
    with pytest.raises(LudusError):
        pool.check(bad)
    assert equal_steps(pool.step, before)


def saved_games_continue_exactly(open_pool: OpenPool) -> None:
    """With `can_save`, `save` and `restore` work, also through a checkpoint; otherwise they raise LudusError."""
    pool = open_pool()
    play(pool)
    if not pool.can_save:
        assert pool_state(pool) == {}
        with pytest.raises(LudusError, match="cannot save"):
            pool.save()
        return
    snapshot, state, now = pool.save(), pool_state(pool), pool.step
    later = play(pool, seed=50)
    for restore in (lambda: pool.restore(snapshot), lambda: restore_pool(pool, state)):
        restore()
        assert equal_steps(pool.step, now)
        assert all(equal_steps(*pair) for pair in zip(play(pool, seed=50), later, strict=True))
    with pytest.raises(LudusError, match="another"):
        pool.restore(snapshot._replace(fingerprint="somebody else's"))


def forks_are_independent(open_pool: OpenPool) -> None:
    """With `can_fork`, a fork starts like its rows and does not change them; otherwise `fork` raises LudusError."""
    pool = open_pool()
    play(pool)
    if not pool.can_fork:
        with pytest.raises(LudusError, match="cannot fork"):
            pool.fork([0], 1)
        return
    before = pool.step
    fork = pool.fork([2, 0], 1)
    views = np.arange(pool.spec.views)
    rows = (np.array([2, 0])[:, None] * pool.spec.views + views).ravel()
    assert fork.rows == 2 and np.array_equal(fork.step.mask, before.mask[rows])
    play(fork)
    fork.close()
    assert equal_steps(pool.step, before)


def actions_and_games_have_texts(open_pool: OpenPool) -> None:
    """Actions have names and games have descriptions in every row, with and without a seat."""
    pool = open_pool()
    actions = pool.random_actions(0)
    for row in range(pool.rows):
        for seat in (-1, *range(pool.spec.seats)):
            assert isinstance(pool.action_name(actions[row * pool.spec.views], row, seat), str)
            assert isinstance(pool.describe(row, seat), str)


def pictures_are_arrays(open_pool: OpenPool) -> None:
    """With `can_draw`, a game has a picture; a foreign environment may need a render mode for it."""
    pool, reason = open_pool(), ""
    try:
        assert isinstance(pool.scene(0), np.ndarray) == pool.can_draw
    except LudusError as error:
        reason = str(error)
    assert not reason or not pool.can_draw or re.search("render.mode", reason)


def measures_have_one_value_per_row(open_pool: OpenPool) -> None:
    """Every measure has one number for each selected row."""
    pool = open_pool()
    assert all(np.shape(values) == (2,) for values in pool.measure(np.arange(pool.rows) != 1).values())


def names_identify_games(open_pool: OpenPool) -> None:
    """Two pools of one game have one name and one fingerprint."""
    assert identity_of(open_pool()) == identity_of(open_pool())


CHECKS = (
    pools_declare_their_capabilities, steps_follow_the_spec, seeds_determine_the_games, steps_are_never_written_again,
    ended_games_restart, illegal_actions_move_nothing, saved_games_continue_exactly, forks_are_independent,
    actions_and_games_have_texts, pictures_are_arrays, measures_have_one_value_per_row, names_identify_games,
)  # fmt: skip
