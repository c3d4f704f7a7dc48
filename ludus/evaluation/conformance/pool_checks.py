"""Checks of the operations of the pool: replay, memory bounds, observing, forks, snapshots, threads."""

from __future__ import annotations

import numpy as np

from ludus.dsl import OVER, random
from ludus.dsl.draw import CANVAS
from ludus.evaluation.conformance.trials import (
    ROWS,
    STEPS,
    Arena,
    Trial,
    advance,
    build,
    choose,
    different_field,
    filled,
    replay,
    same,
)
from ludus.pool import Pool
from ludus.types import Array

CANARY, GUARD_BYTES = 0xA5, 2**14
"""the byte that must not change, and the minimum number of such bytes on each side of a game"""


def same_key_same_game(trial: Trial) -> str:
    """The same keys and actions give the same bytes in every row."""
    views = np.arange(ROWS * trial.game.spec.views).reshape(ROWS, -1)[::-1].ravel()
    again = replay(build(trial.game, trial.keys[::-1]), trial.play.actions[:, ::-1])
    for what, before, after in (
        ("state", trial.play.states, again.states[:, ::-1]),
        ("row", trial.play.rows, again.rows[:, views]),
        ("observation", trial.play.observations, again.observations[:, views]),
    ):
        if field := different_field(before, after):
            return f"the {what} differs in {field} when the same game is played twice; use only state.key for chance"
    return ""


def neighbours_stay_untouched(trial: Trial) -> str:
    """A step changes nothing outside the row's own bytes."""
    guards, views, generator = GUARD_BYTES // trial.game.rules.STATE.itemsize + 1, trial.game.spec.views, _dice()
    arena = _between_canaries(trial, guards)
    ours = arena._replace(actions=arena.actions[guards:-guards], rows=arena.rows[guards * views : -guards * views])
    for step in range(STEPS):
        if step:
            choose(ours, generator)
        given = (arena.blank.tobytes(), arena.actions.tobytes())
        advance(arena, guards, guards + 1)
        for what, array in (("state", arena.states), ("row", arena.rows), ("observation", arena.observations)):
            if not _canaries_live(array, guards * len(array) // len(arena.states)):
                return f"step {step} wrote outside its own {what}; look for an index beyond the end of a field"
        if given != (arena.blank.tobytes(), arena.actions.tobytes()):
            return f"step {step} wrote into its action or into the parameters of all games"
    return ""


def looking_changes_nothing(trial: Trial) -> str:
    """observe, legal and scene do not change the state, and scene draws only on its canvas."""
    states = trial.sample(200)
    before = states.copy()
    trial.seen(states)
    if field := different_field(before, states):
        return f"observe or legal changes the state's {field}"
    if not hasattr(trial.game.rules, "scene"):
        return ""
    canvases = filled(3, CANVAS, CANARY)
    for index in range(len(states)):
        trial.kernel.draw_scene(states, index, index % trial.game.spec.seats, canvases[1:2])
    if field := different_field(before, states):
        return f"scene changes the state's {field}"
    return "" if _canaries_live(canvases, 1) else "scene wrote outside its canvas"


def opening_forgets(trial: Trial) -> str:
    """A game opened over old bytes equals a new one, including its observations."""
    dirty = build(trial.game, trial.keys)
    for array in (dirty.states, dirty.rows, dirty.observations):
        array.view(np.uint8)[:] = CANARY
    dirty.states["key"], dirty.states["status"] = trial.keys, OVER
    again = replay(dirty, trial.play.actions)
    for what, fresh, old in zip(("state", "row", "observation"), trial.play[:3], again[:3], strict=True):
        if field := different_field(fresh, old):
            return f"the {what}'s {field} depends on its previous content; write all of it every time"
    pool = Pool(trial.game, ROWS, 5, threads=1)
    pool.play_randomly(30)
    pool.reset(5)
    return (
        ""
        if _same_content(pool, Pool(trial.game, ROWS, 5, threads=1))
        else "a reset pool differs from a fresh one of the same seed"
    )


def forks_have_their_own_dice(trial: Trial) -> str:
    """A fork has the same observations and other random numbers, and does not change the original game."""
    pool = _played_pool(trial)
    before = pool.states.copy()
    twin = pool.fork([*range(ROWS), 0], seed=6)
    again = [*range(ROWS), 0]
    if not same(pool.states, before):
        return "forking changes the original game"
    rows, observations = trial.seen(pool.states[again])
    twin_rows, twin_observations = trial.seen(twin.states)
    if not same(rows, twin_rows) or not same(observations, twin_observations):
        return "a fork has another observation or mask than the original; they must not depend on state.key"
    keys = np.concatenate([twin.states["key"], pool.states["key"]])
    return "" if len(np.unique(keys)) == len(keys) else "a fork has the same random key as the original or another fork"


def snapshots_continue(trial: Trial) -> str:
    """A restored snapshot equals the saved game and continues exactly like it."""
    pool, other = _played_pool(trial), Pool(trial.game, ROWS, 8, threads=1)
    snapshot = pool.save()
    other.restore(snapshot)
    for step in range(40):
        if not _same_content(pool, other):
            return f"{step} steps after it was restored, a snapshot differs from the original game"
        actions = pool.random_actions(step)
        pool.advance(actions)
        other.advance(actions)
    return ""


def threads_do_not_matter(trial: Trial) -> str:
    """One, two and eight threads give the same bytes."""
    pools = [Pool(trial.game, 64, 9, threads) for threads in (1, 2, 8)]
    for pool in pools:
        pool.worth_a_thread = 1e-9  # use all threads even for little work
        pool.play_randomly(25)
        pool.close()
    for pool in pools[1:]:
        if not _same_content(pools[0], pool):
            return f"{pool.threads} threads give other results than one; rules must read and write only their arguments"
    return ""


def _between_canaries(trial: Trial, guards: int) -> Arena:
    """One game with `guards` rows of canary bytes on each side."""
    arena = build(trial.game, random.keys(23, 2 * guards + 1))
    views = trial.game.spec.views
    for array, guard in ((arena.states, guards), (arena.rows, guards * views), (arena.observations, guards * views)):
        array[:guard].view(np.uint8)[:] = CANARY
        array[-guard:].view(np.uint8)[:] = CANARY
    return arena


def _canaries_live(array: Array, guard: int) -> bool:
    """Whether the first and the last `guard` records still contain only canary bytes."""
    return all(bool((side.view(np.uint8) == CANARY).all()) for side in (array[:guard], array[-guard:]))


def _dice() -> np.random.Generator:
    return np.random.default_rng(23)


def _played_pool(trial: Trial) -> Pool:
    pool = Pool(trial.game, ROWS, 7, threads=1)
    pool.play_randomly(7)
    return pool


def _same_content(left: Pool, right: Pool) -> bool:
    return all(map(np.array_equal, left.save()[2:], right.save()[2:]))


CHECKS = (
    neighbours_stay_untouched, same_key_same_game, looking_changes_nothing, opening_forgets, forks_have_their_own_dice,
    snapshots_continue, threads_do_not_matter,
)  # fmt: skip
