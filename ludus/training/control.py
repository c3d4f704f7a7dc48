"""How a run under way is talked to, and how it stands: small files in its folder, which outlive whoever wrote them.

The trainer writes `trainer.json` while it has the lock of the folder, and takes it away at a good end; one that lies
there without the lock tells of a trainer that failed. It reads a word from `control` between two updates.
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
WORDS = ("go", "pause", "step", "save")
NAP = 0.05
LOCK_SECONDS = 0.5
"""for which a lock is tried: whoever asks how a run stands holds it for an instant"""
STARTING_SECONDS = 300.0
"""after which a trainer that never took the lock counts as lost"""
BEGINNING = "== ludus train"
"""what the log of each trainer begins with"""
PASSING = ("ludus: compiling", "ludus: stopping")
"""what is said on the way, not at the end"""
KILLED = "the trainer was killed before it could save; continue goes on from its newest checkpoint"


class State(NamedTuple):
    """How a run stands, in a word, and why it failed."""

    status: str
    sentence: str | None = None


@contextmanager
def sole_trainer(folder: Path) -> Iterator[None]:
    """Two processes that train the same run would mix their records; the lock dies with its process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot lock a folder
            if not _locked(descriptor):
                raise LudusError(f'"{folder}" is being trained by another process; stop that first')
        with _farewell(folder):
            yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Whether the lock could be had within half a second."""
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
def _farewell(folder: Path) -> Iterator[None]:
    """At a good end `trainer.json` goes; after an error it says why. One of another trainer is not touched."""
    try:
        yield
    except Exception as error:
        what = str(error) if isinstance(error, LudusError) else f"the trainer met an error: {error!r:.300}"
        if _is_ours(us := trainer_of(folder)):
            _write(folder, us | {"failed": what})
        raise
    except BaseException:  # somebody ended it, or the loop around it
        _take_away(folder)
        raise
    _take_away(folder)


def announce(folder: Path) -> None:
    """This process trains the run from now on."""
    before = trainer_of(folder)
    started = {"started": before["started"]} if _is_ours(before) and "started" in before else {}
    _write(folder, {"pid": os.getpid(), "since": time.time(), **started})


def _is_ours(trainer: dict[str, Any]) -> bool:
    return bool(trainer) and trainer["pid"] == os.getpid()


def _take_away(folder: Path) -> None:
    if _is_ours(trainer_of(folder)):
        (folder / TRAINER).unlink(missing_ok=True)


def _write(folder: Path, facts: dict[str, Any]) -> None:
    """Where the disk is full, training matters more."""
    with contextlib.suppress(LudusError):
        write_atomically(folder / TRAINER, json.dumps(facts).encode())


class Control:
    """What somebody asks of the trainer in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.paused, self.save_asked = folder, False, False
        self.trainer = trainer_of(folder)
        stamp = _stamp(folder / CONTROL)
        # A word that was said before this trainer was started was meant for another.
        meant = stamp[0] >= self.trainer.get("started", math.inf) * 1e9
        self.stamp = (0, 0) if meant else stamp

    def hear(self) -> str:
        """The word that is new, taken to heart; nothing where there is none."""
        self.save_asked = False
        stamp = _stamp(self.folder / CONTROL)
        if stamp == self.stamp:
            return ""
        self.stamp = stamp
        word = _read(self.folder / CONTROL)
        self.save_asked = word == "save"
        if word in ("go", "pause", "step"):
            self.paused = word != "go"
        return word

    @property
    def wants_save(self) -> bool:
        """Now: because somebody asked, or because who looks at a paused run means to see it as it is."""
        return self.save_asked or self.paused

    def hold(self, stop: Callable[[], bool]) -> bool:
        """Wait while it is paused, all saved; `step` lets one update pass. The answer is whether a stop ended it."""
        if not self.paused:
            return False
        self._tell(True)
        word, stopped = "", False
        while self.paused and word != "step" and not (stopped := stop()):
            word = self.hear()
            if not word:
                time.sleep(NAP)
        self._tell(False)
        return stopped

    def _tell(self, paused: bool) -> None:
        _write(self.folder, self.trainer | {"paused": paused})


def say(folder: Path, word: str) -> None:
    """Leave a word for the trainer."""
    if word not in WORDS:
        raise LudusError(f'a trainer knows {", ".join(WORDS)}, not "{word}"')
    write_atomically(folder / CONTROL, word.encode())


def trainer_of(folder: Path) -> dict[str, Any]:
    """What `trainer.json` says; nothing where there is none that can be read."""
    try:
        facts = json.loads((folder / TRAINER).read_bytes()[:4096])
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) and type(facts.get("pid")) is int else {}


def state_of(folder: Path) -> State:
    """training, paused, stopped, finished, failed or new."""
    trainer = trainer_of(folder)
    if not trainer:
        return _at_rest(folder)
    if is_held(folder):
        return State("paused" if trainer.get("paused") else "training")
    trainer = trainer_of(folder)  # it may have come to its end meanwhile
    if not trainer:
        return _at_rest(folder)
    if is_starting(trainer):
        return State("training")
    return State("failed", failure(folder, trainer))


def is_starting(trainer: dict[str, Any]) -> bool:
    """Whether a process that was just started has not come to the lock yet."""
    begun = trainer.get("started")
    return "since" not in trainer and begun is not None and time.time() - begun < STARTING_SECONDS and lives(trainer)


def lives(trainer: dict[str, Any]) -> bool:
    try:
        os.kill(trainer["pid"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_held(folder: Path) -> bool:
    """Whether a trainer has the lock of the folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no locks on this file system: the process is all there is to ask
        return lives(trainer_of(folder) or {"pid": 2**22 + 1})
    finally:
        os.close(descriptor)
    return False


def failure(folder: Path, trainer: dict[str, Any]) -> str:
    """Why a trainer is gone that did not say goodbye: its own word, that of its log, or that it was killed."""
    return str(trainer.get("failed") or last_words(folder) or KILLED)


def last_words(folder: Path) -> str | None:
    """The sentence that the last trainer ended with, if its log has one."""
    text = tail(folder / LOG).rpartition(BEGINNING)[2]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if lines[-1].startswith("ludus: ") and not lines[-1].startswith(PASSING):
        return lines[-1].removeprefix("ludus: ")
    broken = any(line.startswith("Traceback") for line in lines)
    return f"the trainer met an error: {lines[-1][:300]}" if broken else None


def tail(path: Path, size: int = 2**16) -> str:
    """The end of a file as text."""
    try:
        with path.open("rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - size, 0))
            return file.read(size).decode(errors="replace")
    except OSError:
        return ""


def _at_rest(folder: Path) -> State:
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
