"""Demonstrations: replays in the folder `demonstrations` of a run are added to its experience."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ludus import runtimes
from ludus.algorithms.protocol import Groups, LearnsFromReplays, Metrics, Replay
from ludus.evaluation import replays
from ludus.games import split_name
from ludus.runtimes import Source
from ludus.training.config import Run
from ludus.training.folder import DEMONSTRATIONS
from ludus.training.opened import Opened
from ludus.types import Array, LudusError

TAKEN, REFUSED = ".taken", ".refused"
Read = Callable[[Path], Replay]


def read(path: Path) -> Replay:
    """The steps and actions of a replay."""
    replay = replays.load(path)
    return [pool.step for pool in replays.steps(replay)], list(replay.actions)


def with_demonstrations(folder: Path, opened: Opened) -> Source[Any]:
    """The source, and between its rounds the replays that appear in the run's folder, if its algorithm can use them."""
    source, algorithm = opened.source, opened.run.settings
    if not isinstance(algorithm, LearnsFromReplays):
        return source
    return Demonstrated(source, algorithm, folder / DEMONSTRATIONS)


class Demonstrated:
    """A source that also brings the replays that appear in a folder; files that were used are renamed.

    The source below counts its own rounds only: updates with replays just make its parameters newer.
    """

    def __init__(self, source: Source[Any], algorithm: LearnsFromReplays, folder: Path, read: Read = read) -> None:
        self.source, self.algorithm, self.folder, self.read = source, algorithm, folder, read
        self.job = source.job
        self.version, self.own = 0, 0
        """published by the learner, and rounds of the source so far"""

    def __iter__(self) -> Iterator[list[Any]]:
        for units in self.source:
            behind = self.own - units[0].version
            self.own += 1
            yield [unit._replace(version=self.version - behind) for unit in units]
            for path in sorted(self.folder.glob(f"*{replays.SUFFIX}")):
                yield from self._taken(path, units)

    def _taken(self, path: Path, like: list[Any]) -> Iterator[list[Any]]:
        try:
            made = list(self.algorithm.demonstrations(self.read(path), like, self.job.steps))
        except LudusError as error:
            path.rename(path.with_name(path.name + REFUSED))
            print(f"ludus: the demonstration {path.name} was rejected: {error}", file=sys.stderr, flush=True)
            return
        for unit in made:
            yield [unit._replace(version=self.version)]
        path.rename(path.with_name(path.name + TAKEN))

    def publish(self, params: Any, version: int) -> None:
        self.version = version
        self.source.publish(params, self.own)

    def state(self) -> Groups:
        return self.source.state()

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        self.source.restore(state)

    def metrics(self) -> Metrics:
        return runtimes.metrics(self.source)

    def agree(self, *wishes: bool) -> tuple[bool, ...]:
        return self.source.agree(*wishes)

    def close(self) -> None:
        self.source.close()


def show(folder: Path, run: Run[Any], replay: replays.Replay) -> Path:
    """Add a game to the demonstrations of a run; raises LudusError if it cannot learn from it."""
    if not isinstance(run.settings, LearnsFromReplays):
        raise LudusError(f"{run.algorithm} cannot learn from demonstrations; choose a run of world_model")
    if split_name(replay.game)[0] != split_name(run.game)[0]:
        raise LudusError(f"this is a game of {replay.game}, but the run trains {run.game}")
    if not len(replay.actions):
        raise LudusError("the game has no moves yet; play first")
    place = folder / DEMONSTRATIONS
    place.mkdir(exist_ok=True)
    number = 1 + sum(1 for path in place.iterdir() if not path.name.startswith("."))
    path = place / f"{number:04d}{replays.SUFFIX}"
    replays.save(path, replay)
    return path
