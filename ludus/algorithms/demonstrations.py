"""Recorded games of other players, as rollouts for algorithms that can learn from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ludus.algorithms.protocol import Replay
from ludus.algorithms.rollout_worker import stack_steps
from ludus.types import Array, Decision, LudusError, Rollout, Step

Segment = tuple[list[Step], list[Array]]
"""T+1 steps of one row and the T actions between them"""


def rollouts_of(game: Replay, like: Rollout, length: int) -> Iterator[Rollout]:
    """A game as rollouts of the shape that updates were compiled for: each row holds one segment of the game.

    The rest of the last rollout is filled with first steps of games, which are not learned from.
    """
    steps, actions = game
    rows = like.own.shape[1]
    if not actions:
        raise LudusError("it contains no actions")
    _check_game(steps[0], np.asarray(actions[0]), like)
    starts = list(range(0, len(actions), length))
    while starts:
        chosen, starts = starts[:rows], starts[rows:]
        segments = [_segment(steps, actions, start, length) for start in chosen]
        segments += [_empty_segment(steps, actions, length)] * (rows - len(segments))
        yield _as_rollout(segments, like)


def _check_game(step: Step, action: Array, like: Rollout) -> None:
    """Raise LudusError if this is another game than the one that is trained on."""
    found = {name: array.shape[1:] for name, array in step.observation.items()}
    expected = {name: array.shape[2:] for name, array in like.steps.observation.items()}
    if found != expected or action.shape != like.decisions.action.shape[2:]:
        raise LudusError(
            f"its observations have the shapes {found} and its actions {action.shape}; the game of this run has "
            f"observations {expected} and actions {like.decisions.action.shape[2:]}"
        )


def _segment(steps: Sequence[Step], actions: Sequence[Array], start: int, length: int) -> Segment:
    """T+1 steps and T actions from `start` on, padded with first steps after the end of the game."""
    visited, chosen = list(steps[start : start + length + 1]), list(actions[start : start + length])
    missing = length - len(chosen)
    return visited + [_padding(visited[-1])] * missing, chosen + [chosen[-1]] * missing


def _empty_segment(steps: Sequence[Step], actions: Sequence[Array], length: int) -> Segment:
    return [_padding(steps[0])] * (length + 1), [actions[0]] * length


def _padding(step: Step) -> Step:
    """The step marked as the first of a game, so that it is not learned from."""
    return step._replace(first=np.ones_like(step.first))


def _as_rollout(segments: list[Segment], like: Rollout) -> Rollout:
    """Segments as the rows of one rollout; none of its decisions is marked as the agent's own."""
    by_row = [stack_steps(visited) for visited, _ in segments]
    observation = {
        name: np.concatenate([row.observation[name] for row in by_row], axis=1) for name in by_row[0].observation
    }
    rest = (np.concatenate(parts, axis=1) for parts in zip(*(row[1:] for row in by_row), strict=True))
    action = np.stack([np.asarray(chosen) for _, chosen in segments], axis=1)
    decisions = Decision(action, np.zeros_like(like.decisions.log_prob), np.zeros_like(like.decisions.value))
    steps = Step(observation, *rest)
    notes = {"demonstrated": float((~steps.first[1:]).sum())}
    return Rollout(steps, decisions, np.zeros_like(like.own), like.memory, 0, np.zeros_like(like.tally), notes)
