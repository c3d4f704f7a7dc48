"""What somebody else played: replays in the folder `demonstrations` of a run are learned from while it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ludus import replays
from ludus.config import Run
from ludus.games import split_name
from ludus.runs.folder import DEMONSTRATIONS
from ludus.runs.keeping import job_of
from ludus.runtimes import Source
from ludus.runtimes.demonstrations import Demonstrated, Game
from ludus.types import LudusError


def demonstrated(folder: Path, run: Run[Any], source: Source) -> Source:
    """The source with what is shown to the run besides, if its algorithm can learn from others."""
    if not teachable(run):
        return source
    return Demonstrated(source, job_of(run), folder / DEMONSTRATIONS, _read)


def teachable(run: Run[Any]) -> bool:
    """Whether a run learns from what others play."""
    return bool(getattr(run.settings, "DEMONSTRATIONS", False))


def show(folder: Path, run: Run[Any], replay: replays.Replay) -> Path:
    """Put a game where the run finds it; a sentence if it cannot learn from it."""
    if not teachable(run):
        raise LudusError(f"{run.algorithm} learns from its own play alone; show games to a run of world_model")
    if split_name(replay.game)[0] != split_name(run.game)[0]:
        raise LudusError(f"a game of {replay.game} teaches nothing about {run.game}")
    if not len(replay.actions):
        raise LudusError("nothing was played yet; drive a little first")
    place = folder / DEMONSTRATIONS
    place.mkdir(exist_ok=True)
    number = 1 + sum(1 for path in place.iterdir() if not path.name.startswith("."))
    path = place / f"{number:04d}{replays.SUFFIX}"
    replays.save(path, replay)
    return path


def _read(path: Path) -> Game:
    replay = replays.load(path)
    return [pool.step for pool in replays.steps(replay)], list(replay.actions)
