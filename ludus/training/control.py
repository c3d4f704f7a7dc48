"""Control and status of a run in progress, by small files in its folder.

The trainer holds a lock on the folder. It writes `trainer.json` at the start and removes it after a regular end, so a
`trainer.json` without the lock means that the trainer failed. Between updates it reads a command from `control`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ludus.agents import checkpoint
from ludus.files import write_atomically
from ludus.training import config
from ludus.training.folder import CHECKPOINTS, METRICS, SETTINGS
from ludus.types import LudusError

TRAINER, CONTROL, LOG = "trainer.json", "control", "log.txt"
COMMANDS = ("go", "pause", "step", "save")
NAP = 0.05
LOCK_SECONDS = 0.5
"""how long to try to get the lock; status queries hold it for an instant"""
STARTING_SECONDS = 300.0
"""after which a trainer that never took the lock counts as failed"""
BEGINNING = "== ludus train"
"""first line of the log of each trainer"""
PASSING = ("ludus: compiling", "ludus: stopping")
"""messages that are not the reason of a failure"""
KILLED = "the trainer was killed before it could save; resume the run to continue from its newest checkpoint"


class State(NamedTuple):
    """The status of a run in one word, and the reason if it failed."""

    status: str
    sentence: str | None = None


@contextmanager
def sole_trainer(folder: Path) -> Iterator[None]:
    """Lock the folder, because two processes must not train the same run; the lock ends with the process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot lock a folder
            if not _locked(descriptor):
                raise LudusError(f'"{folder}" is being trained by another process; stop that process first')
        with _trainer_file(folder):
            yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Try to get the lock for half a second."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(NAP)


@contextmanager
def _trainer_file(folder: Path) -> Iterator[None]:
    """Remove `trainer.json` after a regular end, or write the error into it; that of another trainer is not changed."""
    try:
        yield
    except Exception as error:
        what = str(error) if isinstance(error, LudusError) else f"the trainer failed: {error!r:.300}"
        if _is_ours(us := trainer_of(folder)):
            _write(folder, us | {"failed": what})
        raise
    except BaseException:  # interrupted, or the generator was closed
        _remove(folder)
        raise
    _remove(folder)


def announce(folder: Path) -> None:
    """Write `trainer.json`: this process trains the run from now on."""
    before = trainer_of(folder)
    started = {"started": before["started"]} if _is_ours(before) and "started" in before else {}
    _write(folder, {"pid": os.getpid(), "since": time.time(), **started})


def _is_ours(trainer: dict[str, Any]) -> bool:
    return bool(trainer) and trainer["pid"] == os.getpid()


def _remove(folder: Path) -> None:
    if _is_ours(trainer_of(folder)):
        (folder / TRAINER).unlink(missing_ok=True)


def _write(folder: Path, facts: dict[str, Any]) -> None:
    """Write `trainer.json`; training continues even if the disk is full."""
    with contextlib.suppress(LudusError):
        write_atomically(folder / TRAINER, json.dumps(facts).encode())


class Control:
    """Commands for the trainer in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.paused, self.save_requested = folder, False, False
        self.trainer = trainer_of(folder)
        stamp = _stamp(folder / CONTROL)
        # A command from before the start of this trainer was meant for an earlier one.
        is_new = stamp[0] >= self.trainer.get("started", math.inf) * 1e9
        self.stamp = (0, 0) if is_new else stamp

    def poll(self) -> str:
        """Read and apply a new command; "" if there is none."""
        self.save_requested = False
        stamp = _stamp(self.folder / CONTROL)
        if stamp == self.stamp:
            return ""
        self.stamp = stamp
        command = _read(self.folder / CONTROL)
        self.save_requested = command == "save"
        if command in ("go", "pause", "step"):
            self.paused = command != "go"
        return command

    @property
    def wants_save(self) -> bool:
        """Whether to save now: on request, or because the run is paused and will be inspected."""
        return self.save_requested or self.paused

    def hold(self, stop: Callable[[], bool]) -> bool:
        """Wait while the run is paused; `step` allows one update. Returns whether `stop` ended the wait."""
        if not self.paused:
            return False
        self._write_paused(True)
        command, stopped = "", False
        while self.paused and command != "step" and not (stopped := stop()):
            command = self.poll()
            if not command:
                time.sleep(NAP)
        self._write_paused(False)
        return stopped

    def _write_paused(self, paused: bool) -> None:
        _write(self.folder, self.trainer | {"paused": paused})


def send(folder: Path, command: str) -> None:
    """Send a command to the trainer of a run."""
    if command not in COMMANDS:
        raise LudusError(f'unknown command "{command}"; expected one of {", ".join(COMMANDS)}')
    write_atomically(folder / CONTROL, command.encode())


def trainer_of(folder: Path) -> dict[str, Any]:
    """The contents of `trainer.json`; {} if there is none that can be read."""
    try:
        facts = json.loads((folder / TRAINER).read_bytes()[:4096])
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) and type(facts.get("pid")) is int else {}


def state_of(folder: Path) -> State:
    """training, paused, stopped, finished, failed or new."""
    trainer = trainer_of(folder)
    if not trainer:
        return _idle_state(folder)
    if is_held(folder):
        return State("paused" if trainer.get("paused") else "training")
    trainer = trainer_of(folder)  # it may have ended in the meantime
    if not trainer:
        return _idle_state(folder)
    if is_starting(trainer):
        return State("training")
    return State("failed", failure(folder, trainer))


def is_starting(trainer: dict[str, Any]) -> bool:
    """Whether the process was just started and does not hold the lock yet."""
    begun = trainer.get("started")
    return "since" not in trainer and begun is not None and time.time() - begun < STARTING_SECONDS and is_alive(trainer)


def is_alive(trainer: dict[str, Any]) -> bool:
    try:
        os.kill(trainer["pid"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_held(folder: Path) -> bool:
    """Whether a trainer holds the lock of the folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # this file system has no locks, so check the process
        return is_alive(trainer_of(folder) or {"pid": 2**22 + 1})
    finally:
        os.close(descriptor)
    return False


def failure(folder: Path, trainer: dict[str, Any]) -> str:
    """Why a trainer failed: the error it wrote, the last message of its log, or that it was killed."""
    return str(trainer.get("failed") or last_message(folder) or KILLED)


def last_message(folder: Path) -> str | None:
    """The error at the end of the last trainer's log, if there is one."""
    text = tail(folder / LOG).rpartition(BEGINNING)[2]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if lines[-1].startswith("ludus: ") and not lines[-1].startswith(PASSING):
        return lines[-1].removeprefix("ludus: ")
    broken = any(line.startswith("Traceback") for line in lines)
    return f"the trainer failed: {lines[-1][:300]}" if broken else None


def tail(path: Path, size: int = 2**16) -> str:
    """The end of a file as text."""
    try:
        with path.open("rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - size, 0))
            return file.read(size).decode(errors="replace")
    except OSError:
        return ""


def _idle_state(folder: Path) -> State:
    newest = checkpoint.newest(folder / CHECKPOINTS)
    if newest is None:
        return State("stopped" if (folder / METRICS).is_file() else "new")
    try:
        manifest, run = checkpoint.read_manifest(newest), config.read(folder / SETTINGS)
    except LudusError as error:
        return State("failed", str(error))
    done = manifest.steps >= run.steps or manifest.metrics.get("finished") == 1.0
    return State("finished" if done else "stopped")


def _stamp(path: Path) -> tuple[int, int]:
    try:
        facts = path.stat()
    except OSError:
        return (0, 0)
    return facts.st_mtime_ns, facts.st_ino


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(16).decode(errors="replace").strip()
    except OSError:
        return ""
