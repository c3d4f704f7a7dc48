"""Checks of recorded random play: masks, lengths, ranges, rewards, endings."""

from __future__ import annotations

import numpy as np

from ludus.dsl import CUT, OVER, PLAYING, bounds, random
from ludus.evaluation.conformance.trials import ROWS, Trial, advance, build, choose
from ludus.types import Array, Continuous

LONG_PLAY = 3000
"""steps of random play within which every observation must have changed"""


def masks_are_never_empty(trial: Trial) -> str:
    """While a game runs, at least one action is legal, and masks contain only 0 and 1."""
    if isinstance(trial.game.spec.actions, Continuous):
        return ""
    masks = trial.play.rows["mask"]
    if masks.max() > 1:
        return f"a mask contains {masks.max()}; legal must write 0 or 1"
    empty = _running_views(trial) & ~masks.any(axis=2)
    if empty.any():
        return f"{_where(trial, empty)}: the game runs but no action is legal; let legal allow one, or end the game"
    return ""


def seats_exist(trial: Trial) -> str:
    """The seat to act is one of the game's seats."""
    seats = trial.play.states["seat"]
    wrong = (seats < 0) | (seats >= trial.game.spec.seats)
    if wrong.any():
        return (
            f"{_where(trial, wrong)}: seat {seats[wrong][0]} is to act; the seats are 0 to {trial.game.spec.seats - 1}"
        )
    return ""


def games_end_within_the_horizon(trial: Trial) -> str:
    """Random play ends within SPEC.horizon steps (0: no limit)."""
    arena, generator = build(trial.game, trial.keys), np.random.default_rng(21)
    advance(arena)
    running = np.ones(ROWS, bool)
    for _ in range(trial.game.spec.horizon):
        choose(arena, generator)
        advance(arena)
        running &= arena.states["status"] == PLAYING
        if not running.any():
            return ""
    if trial.game.spec.horizon == 0:
        return ""
    return (
        f"{running.sum()} of {ROWS} random games still run after {trial.game.spec.horizon} steps; "
        "end them, cut them, or declare a longer horizon (0 for none)"
    )


def observations_stay_in_range(trial: Trial) -> str:
    """Observations stay inside the ranges they declare."""
    dtype = trial.game.rules.OBSERVATION
    for name in dtype.names:
        (low, high), values = bounds(dtype, name), trial.play.observations[name]
        outside = ~((values >= low) & (values <= high))
        if outside.any():
            place = tuple(np.argwhere(outside)[0])
            component = place[2:]
            return (
                f"{_component(name, component)} is {values[place]:g} at step {place[0]}; "
                f"it is declared to stay within {low[component]:g} to {high[component]:g}"
            )
    return ""


def observations_vary(trial: Trial) -> str:
    """Every component of the observation varies in random play, unless it is declared constant."""
    first, still = trial.play.observations[0, 0], _never_moving(trial)
    _drop_moved(still, first, trial.play.observations)
    arena, generator = build(trial.game, random.keys(22, 2 * ROWS)), np.random.default_rng(22)
    advance(arena)
    for _ in range(LONG_PLAY):
        if not any(left.any() for left in still.values()):
            return ""
        choose(arena, generator)
        advance(arena)
        _drop_moved(still, first, arena.observations)
    name = next(name for name, left in still.items() if left.any())
    component = tuple(np.argwhere(still[name])[0]) if still[name].shape else ()
    return (
        f"{_component(name, component)} is {first[name][component]:g} in all random play; "
        "remove it, declare it constant with within(value, value, …), or list it in RARELY_SEEN"
    )


def rewards_are_finite(trial: Trial) -> str:
    """Rewards are finite numbers."""
    wrong = ~np.isfinite(trial.play.rows["reward"]).all(axis=2)
    return f"{_where(trial, wrong)}: a reward is not a finite number" if wrong.any() else ""


def zero_sum_sums_to_zero(trial: Trial) -> str:
    """If SPEC says zero_sum, the rewards of every step sum to zero."""
    wrong = np.abs(trial.play.rows["reward"].sum(axis=2)) > 1e-6
    if not trial.game.spec.zero_sum or not wrong.any():
        return ""
    rewards = trial.play.rows["reward"][wrong][0].tolist()
    return f"{_where(trial, wrong)}: the rewards {rewards} do not sum to zero, but SPEC says zero_sum"


def status_and_discount_are_valid(trial: Trial) -> str:
    """The status is PLAYING, OVER or CUT; the discount is 0 for OVER and else 1; a game opens as PLAYING."""
    status, rows = trial.play.states["status"], trial.play.rows
    wrong = ~np.isin(status, (PLAYING, OVER, CUT))
    if wrong.any():
        return f"{_where(trial, wrong)}: the status is {status[wrong][0]}, not PLAYING, OVER or CUT"
    wrong = rows["discount"] != np.where(_views(trial, status) == OVER, 0, 1)
    if wrong.any():
        return (
            f"{_where(trial, wrong)}: the discount is {rows['discount'][wrong][0]:g}; it must be 0 for OVER and else 1"
        )
    wrong = (rows["first"] == 1) & (_views(trial, status) != PLAYING)
    return (
        f"{_where(trial, wrong)}: the game is over as soon as it opens; let init leave it PLAYING"
        if wrong.any()
        else ""
    )


def first_follows_every_end(trial: Trial) -> str:
    """A step is `first` exactly when it opens a game, and its rewards are 0."""
    ended, rows = trial.play.states["status"] != PLAYING, trial.play.rows
    due = _views(trial, np.concatenate([np.ones_like(ended[:1]), ended[:-1]]))
    wrong = rows["first"] != due
    if wrong.any():
        return f"{_where(trial, wrong)}: first is {rows['first'][wrong][0]} but should be {int(due[wrong][0])}"
    wrong = (rows["first"] == 1) & rows["reward"].any(axis=2)
    return f"{_where(trial, wrong)}: the step that opens a game has a reward" if wrong.any() else ""


def _views(trial: Trial, values: Array) -> Array:
    """[T, N] of games -> [T, N * views] of rows."""
    return np.repeat(values, trial.game.spec.views, axis=1)


def _running_views(trial: Trial) -> Array:
    return _views(trial, trial.play.states["status"] == PLAYING)


def _where(trial: Trial, wrong: Array) -> str:
    step, row = np.argwhere(wrong)[0]
    return f"step {step}, row {row}"


def _component(name: str, component: tuple[int, ...]) -> str:
    return f"observation {name}{list(map(int, component)) if component else ''}"


def _never_moving(trial: Trial) -> dict[str, Array]:
    """The components that must vary: all except those with a range of one value or listed in RARELY_SEEN."""
    dtype, rarely = trial.game.rules.OBSERVATION, getattr(trial.game.rules, "RARELY_SEEN", ())
    ranges = {name: bounds(dtype, name) for name in dtype.names if name not in rarely}
    return {name: np.asarray(low != high) for name, (low, high) in ranges.items()}


def _drop_moved(still: dict[str, Array], first: Array, observations: Array) -> None:
    for name, left in still.items():
        values = observations[name].reshape(-1, *left.shape)
        still[name] = left & (values == first[name]).all(axis=0)


CHECKS = (
    masks_are_never_empty, seats_exist, games_end_within_the_horizon, observations_stay_in_range, observations_vary,
    rewards_are_finite, zero_sum_sums_to_zero, status_and_discount_are_valid, first_follows_every_end,
)  # fmt: skip
