"""What every pool promises, asked of any pool. A check is a function of `opened`, which opens the pool anew."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from ludus.bridges import AnyPool, identity_of, pool_state, restore_pool
from ludus.dsl import CUT, OVER, PLAYING
from ludus.pool import Pool
from ludus.types import Array, Continuous, LudusError, Step

ROWS, STEPS, LONGEST = 3, 12, 600
Opened = Callable[[], AnyPool]
CAPABILITIES = ("can_fork", "can_save", "can_draw", "names_moves")


def arrays(step: Step) -> list[Array]:
    return [*step.observation.values(), *step[1:]]


def same(left: Step, right: Step) -> bool:
    return all(np.array_equal(*pair, equal_nan=True) for pair in zip(arrays(left), arrays(right), strict=True))


def play(pool: AnyPool, steps: int = STEPS, seed: int = 0) -> list[Step]:
    return [pool.advance(pool.random_actions(seed + number)) for number in range(steps)]


def pools_declare_their_capabilities(opened: Opened) -> None:
    """Every member of the protocol is there, and capabilities are True or False."""
    pool = opened()
    members = [name for name in vars(AnyPool) if not name.startswith("_")]
    assert set(CAPABILITIES) | {"compiled", "advance", "save"} <= set(members)
    assert [name for name in [*members, *AnyPool.__annotations__] if not hasattr(pool, name)] == []
    assert all(isinstance(getattr(pool, name), bool) for name in CAPABILITIES)
    assert pool.compiled is None or isinstance(pool.compiled, Pool)


def steps_follow_the_spec(opened: Opened) -> None:
    """The arrays of a step have the shapes that the spec and the observation record say."""
    pool = opened()
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


def one_seed_gives_one_game(opened: Opened) -> None:
    """The same seed and the same actions give the same steps."""
    left, right = opened(), opened()
    for one, other in zip(play(left), play(right), strict=True):
        assert same(one, other)
    assert same(left.reset(7), right.reset(7))


def steps_are_never_written_again(opened: Opened) -> None:
    """The arrays of a step stay as they are while the pool moves on."""
    pool = opened()
    step = pool.step
    before = [array.copy() for array in arrays(step)]
    play(pool)
    pool.reset(5)
    assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(arrays(step), before, strict=True))


def games_that_ended_open_anew(opened: Opened) -> None:
    """The step after the end of a game opens the next one, and the discount tells an end from a time limit."""
    pool = opened()
    for number in range(LONGEST):
        before = pool.status
        step = pool.advance(pool.random_actions(number))
        views = pool.spec.views
        assert np.array_equal(step.first[::views], before != PLAYING)
        assert (step.discount[::views][pool.status == OVER] == 0).all()
        assert (step.discount[::views][pool.status == CUT] == 1).all()
        if (before != PLAYING).any():
            return
    assert pool.spec.horizon == 0 or pool.spec.horizon > LONGEST, "no game has ended"


def illegal_actions_move_nothing(opened: Opened) -> None:
    """An action that is out of range is refused with a `LudusError`, and no game has moved."""
    pool = opened()
    bad = pool.random_actions(0)
    bad[0] = 10**6
    before = pool.step
    with pytest.raises(LudusError):
        pool.advance(bad)
    with pytest.raises(LudusError):
        pool.check(bad)
    assert same(pool.step, before)


def saved_games_go_on_exactly(opened: Opened) -> None:
    """`save` and `restore` work where the pool says so, also by way of a checkpoint; else both are refused."""
    pool = opened()
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
        assert same(pool.step, now)
        assert all(same(*pair) for pair in zip(play(pool, seed=50), later, strict=True))
    with pytest.raises(LudusError, match="another"):
        pool.restore(snapshot._replace(fingerprint="somebody else's"))


def forks_are_apart(opened: Opened) -> None:
    """A fork shows what its rows show and leaves them alone, where the pool can be forked; else it is refused."""
    pool = opened()
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
    assert same(pool.step, before)


def texts_are_texts(opened: Opened) -> None:
    """Actions and games have names for every row, with and without a seat."""
    pool = opened()
    actions = pool.random_actions(0)
    for row in range(pool.rows):
        for seat in (-1, *range(pool.spec.seats)):
            assert isinstance(pool.action_name(actions[row * pool.spec.views], row, seat), str)
            assert isinstance(pool.describe(row, seat), str)


def pictures_are_arrays(opened: Opened) -> None:
    """A game has a picture where the pool says so; another's environment may still ask for a render mode."""
    pool, reason = opened(), ""
    try:
        assert isinstance(pool.scene(0), np.ndarray) == pool.can_draw
    except LudusError as error:
        reason = str(error)
    assert not reason or not pool.can_draw or re.search("render.mode", reason)


def measures_are_by_row(opened: Opened) -> None:
    """What a game counts is one number for each row that is asked for."""
    pool = opened()
    assert all(np.shape(values) == (2,) for values in pool.measure(np.arange(pool.rows) != 1).values())


def names_identify_games(opened: Opened) -> None:
    """Two pools of one game have one name and one fingerprint."""
    assert identity_of(opened()) == identity_of(opened())


CHECKS = (
    pools_declare_their_capabilities, steps_follow_the_spec, one_seed_gives_one_game, steps_are_never_written_again,
    games_that_ended_open_anew, illegal_actions_move_nothing, saved_games_go_on_exactly, forks_are_apart,
    texts_are_texts, pictures_are_arrays, measures_are_by_row, names_identify_games,
)  # fmt: skip
