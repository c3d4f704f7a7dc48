"""Demonstrations: games that somebody played are learned from between those that the agent plays itself.

Whoever opens the source says how a file is read, for what reads replays stands above this folder.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ludus.runtimes.job import Job
from ludus.types import Array, Decision, LudusError, Rollout, Step

SUFFIX, TAKEN, REFUSED = ".replay", ".taken", ".refused"
Game = tuple[Sequence[Step], Sequence[Any]]
"""T+1 steps of one row, and the T actions between them"""
Read = Callable[[pathlib.Path], Game]


class Demonstrated:
    """A source that also brings what appears in a folder; files that were learned from are renamed.

    The source below counts its own rollouts alone: to it, learning from others only makes its parameters newer.
    """

    def __init__(self, source: Any, job: Job, folder: pathlib.Path, read: Read) -> None:
        self.source, self.job, self.folder, self.read = source, job, folder, read
        self.version, self.own = 0, 0
        """published by the learner, and rollouts of our own so far"""

    def __iter__(self) -> Iterator[Rollout]:
        for rollout in self.source:
            behind = self.own - rollout.version
            self.own += 1
            yield rollout._replace(version=self.version - behind)
            for path in sorted(self.folder.glob(f"*{SUFFIX}")):
                yield from self._taken(path, rollout)

    def _taken(self, path: pathlib.Path, like: Rollout) -> Iterator[Rollout]:
        try:
            made = list(rollouts_of(self.read(path), like, self.job.steps))
        except LudusError as error:
            path.rename(path.with_name(path.name + REFUSED))
            print(f"ludus: {path.name} is not learned from: {error}", file=sys.stderr, flush=True)
            return
        for rollout in made:
            yield rollout._replace(version=self.version)
        path.rename(path.with_name(path.name + TAKEN))

    def publish(self, params: Any, version: int) -> None:
        self.version = version
        self.source.publish(params, self.own)

    def state(self) -> dict[str, dict[str, Array]]:
        state: dict[str, dict[str, Array]] = self.source.state()
        return state

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        self.source.restore(state)

    def close(self) -> None:
        self.source.close()


def rollouts_of(game: Game, like: Rollout, length: int) -> Iterator[Rollout]:
    """A game in rollouts of the shape that updates were compiled for: pieces of it side by side in the rows.

    What is left over in the last rollout is steps that only open games, from which nobody learns.
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
    """A sentence where this is another game than the one that is played."""
    shown = {name: array.shape[1:] for name, array in step.observation.items()}
    ours = {name: array.shape[2:] for name, array in like.steps.observation.items()}
    if shown != ours or action.shape != like.decisions.action.shape[2:]:
        raise LudusError(f"it shows {shown} and acts by {action.shape}; the game that is learned shows {ours}")


def _piece(steps: Sequence[Step], actions: Sequence[Any], start: int, length: int) -> tuple[list[Step], list[Any]]:
    """T+1 steps and T actions from `start` on; beyond the end, openings."""
    seen, done = list(steps[start : start + length + 1]), list(actions[start : start + length])
    missing = length - len(done)
    closed = seen[-1]._replace(first=np.ones_like(seen[-1].first))
    return seen + [closed] * missing, done + [done[-1]] * missing


def _nothing(steps: Sequence[Step], actions: Sequence[Any], length: int) -> tuple[list[Step], list[Any]]:
    closed = steps[0]._replace(first=np.ones_like(steps[0].first))
    return [closed] * (length + 1), [actions[0]] * length


def _beside(columns: list[tuple[list[Step], list[Any]]], like: Rollout) -> Rollout:
    """Pieces as the rows of one rollout; none of it counts as played by the agent."""
    by_row = [_stacked(seen) for seen, _ in columns]
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


def _stacked(steps: list[Step]) -> Step:
    observation = {name: np.stack([step.observation[name] for step in steps]) for name in steps[0].observation}
    return Step(observation, *(np.stack(parts) for parts in zip(*(step[1:] for step in steps), strict=True)))
