"""Start, pause and stop training runs. Each trainer is a process of its own, in its own session: it continues when the
studio is closed, and a studio that is opened later finds it through the files in its run folder."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from ludus.files import write_atomically
from ludus.studio.refusal import Refusal
from ludus.training import config, control, runs
from ludus.training.folder import SETTINGS
from ludus.training.trainer_process import forget_unstarted, launch
from ludus.types import JsonObject

LIVING = ("training", "paused")
MOST_TRAINERS = 16
PATIENCE = 20.0
"""seconds after which a second request to stop is sent to the trainer, which then ends at once"""
NOTES = "notes.json"


class Trainers:
    """The trainers of the runs in a folder."""

    def __init__(self, out: Path) -> None:
        self.out, self.lock = out, threading.RLock()
        self.children: list[tuple[str, subprocess.Popen[bytes]]] = []
        self.stop_requests: dict[tuple[str, int], float] = {}

    def begin(self, run: config.Run[object]) -> Path:
        """Create a new run and start its trainer."""
        folder = runs.prepare(run, self.out)
        self.start(folder)
        return folder

    def start(self, folder: Path, steps: int | None = None) -> None:
        """Start a trainer for a run that has none, optionally with a new total number of steps."""
        with self.lock:
            self.reap()
            _check_idle(folder)
            if len(self.children) >= MOST_TRAINERS:
                raise Refusal(f"{MOST_TRAINERS} runs are being trained, the maximum; stop one first", 409)
            self.children.append((folder.name, launch(folder, steps)))

    def send(self, folder: Path, word: str) -> None:
        """Send "go", "pause", "step" or "save" to a running trainer, which reads it between two updates."""
        self.reap()
        if control.state_of(folder).status not in LIVING:
            raise Refusal(f'"{folder.name}" is not being trained now; continue it first', 409)
        control.send(folder, word)

    def stop(self, folder: Path) -> None:
        """Ask a trainer to save and end; a second call after PATIENCE seconds ends it at once."""
        self.reap()
        trainer = control.trainer_of(folder)
        if control.state_of(folder).status not in LIVING or not trainer:
            raise Refusal(f'"{folder.name}" is not being trained now, so it cannot be stopped', 409)
        key = (folder.name, trainer["pid"])
        if time.monotonic() - self.stop_requests.get(key, -PATIENCE) >= PATIENCE:
            self.stop_requests[key] = time.monotonic()
            with contextlib.suppress(ProcessLookupError):  # it has ended in the meantime
                os.kill(trainer["pid"], signal.SIGTERM)

    def reap(self) -> None:
        """Forget child processes that have ended; one that was stopped before it began to train has not failed."""
        with self.lock:
            ended = [one for one in self.children if one[1].poll() is not None]
            self.children = [one for one in self.children if one not in ended]
        for name, child in ended:
            forget_unstarted(self.out / name, child)

    def remove(self, folder: Path) -> None:
        """Delete a run that is not being trained."""
        self.reap()
        _check_idle(folder, "stop it before deleting it")
        # Rename first, so that a listing never sees a partly deleted run.
        try:
            doomed = folder.rename(folder.with_name(f".{folder.name}.{time.time_ns()}.deleted"))
        except OSError as error:
            raise Refusal(f'cannot delete "{folder.name}": {error.strerror}', 409) from None
        shutil.rmtree(doomed, ignore_errors=True)
        for picture in (self.out / ".studio" / "thumbnails").glob(f"{folder.name}@*"):
            picture.unlink(missing_ok=True)


def _check_idle(folder: Path, advice: str = "stop it first") -> None:
    if control.state_of(folder).status in LIVING:
        raise Refusal(f'"{folder.name}" is being trained; {advice}', 409)


def continued(folder: Path, steps: int | None) -> int | None:
    """The new total number of steps of a continued run, None if unchanged; raises Refusal if too small."""
    run, made = config.read(folder / SETTINGS), newest_steps(folder)
    wanted = run.steps if steps is None else steps
    if wanted <= made:
        raise Refusal(f"the run has already made {made:,} steps; give a larger total number of steps", 422, "steps")
    return None if wanted == run.steps else wanted


def newest_steps(folder: Path) -> int:
    from ludus.agents import checkpoint
    from ludus.training.folder import CHECKPOINTS

    newest = checkpoint.newest(folder / CHECKPOINTS)
    return 0 if newest is None else checkpoint.read_manifest(newest).steps


def notes_of(folder: Path) -> JsonObject:
    """The title and tags of a run; empty if there are none or the file is damaged."""
    try:
        found = json.loads((folder / NOTES).read_bytes()[:65_536])
    except (OSError, ValueError):
        found = {}
    title, tags = (found.get("title"), found.get("tags")) if isinstance(found, dict) else (None, None)
    kept = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return {"title": title if isinstance(title, str) else "", "tags": kept}


def write_notes(folder: Path, notes: JsonObject) -> None:
    write_atomically(folder / NOTES, json.dumps(notes, ensure_ascii=False).encode())
