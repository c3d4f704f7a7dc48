"""Games that somebody else played, as rollouts for algorithms that can learn from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ludus.algorithms.protocol import Replay
from ludus.algorithms.rollout_worker import stack_steps
from ludus.types import Array, Decision, LudusError, Rollout, Step


def rollouts_of(game: Replay, like: Rollout, length: int) -> Iterator[Rollout]:
    """A game as rollouts of the shape that updates were compiled for: pieces of it side by side in the rows.

    The rest of the last rollout is filled with steps that open games, which are not learned from.
    """
    steps, actions = game
    rows = like.own.shape[1]
    if not actions:
        raise LudusError("nothing was played in it")
    _check_alike(steps[0], np.asarray(actions[0]), like)
    starts = list(range(0, len(actions), length))
    while starts:
        pieces, starts = starts[:rows], starts[rows:]
        columns = [_piece(steps, actions, start, length) for start in pieces]
        columns += [_nothing(steps, actions, length)] * (rows - len(columns))
        yield _beside(columns, like)


def _check_alike(step: Step, action: Array, like: Rollout) -> None:
    """Raise LudusError if this is another game than the one that is learned."""
    shown = {name: array.shape[1:] for name, array in step.observation.items()}
    ours = {name: array.shape[2:] for name, array in like.steps.observation.items()}
    if shown != ours or action.shape != like.decisions.action.shape[2:]:
        raise LudusError(f"it shows {shown} and acts by {action.shape}; the game that is learned shows {ours}")


def _piece(steps: Sequence[Step], actions: Sequence[Any], start: int, length: int) -> tuple[list[Step], list[Any]]:
    """T+1 steps and T actions from `start` on; openings after the end."""
    seen, done = list(steps[start : start + length + 1]), list(actions[start : start + length])
    missing = length - len(done)
    closed = seen[-1]._replace(first=np.ones_like(seen[-1].first))
    return seen + [closed] * missing, done + [done[-1]] * missing


def _nothing(steps: Sequence[Step], actions: Sequence[Any], length: int) -> tuple[list[Step], list[Any]]:
    closed = steps[0]._replace(first=np.ones_like(steps[0].first))
    return [closed] * (length + 1), [actions[0]] * length


def _beside(columns: list[tuple[list[Step], list[Any]]], like: Rollout) -> Rollout:
    """Pieces as the rows of one rollout; the agent made none of its decisions."""
    by_row = [stack_steps(seen) for seen, _ in columns]
    observation = {
        name: np.concatenate([row.observation[name] for row in by_row], axis=1) for name in by_row[0].observation
    }
    rest = (np.concatenate(parts, axis=1) for parts in zip(*(row[1:] for row in by_row), strict=True))
    action = np.stack([np.asarray(done) for _, done in columns], axis=1)
    made = Decision(action, np.zeros_like(like.decisions.log_prob), np.zeros_like(like.decisions.value))
    steps = Step(observation, *rest)
    shown = float((~steps.first[1:]).sum())
    return Rollout(
        steps, made, np.zeros_like(like.own), like.memory, 0, np.zeros_like(like.tally), {"demonstrated": shown}
    )
