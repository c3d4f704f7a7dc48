"""Messages between ranks: a little JSON and some arrays in one buffer, and a heartbeat.

Nobody ever waits inside MPI: everything is asked for, tested and given up on in time, so that signals are served and a
dead rank is a sentence. Where MPI tells of a death (`mpiexec --with-ft ulfm`) it is heard at once, else by the silence.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ludus.agents.table import LINE, aligned
from ludus.runtimes.transport.memory import facts_of, find, lay, size_of
from ludus.types import Array, LudusError

LETTER, BEAT = 71, 72
"""tags: a message, or a sign of life"""
BEAT_SECONDS = 1.0
SILENCE_SECONDS = 60.0
"""without a sign of life, after which a rank is taken for dead"""
GRACE_SECONDS = 0.1
"""between a SIGTERM and the moment when those who have not answered are waited for no longer: mpiexec sends it when a
rank has died, and SIGKILL a quarter of a second later; a checkpoint must fit between them"""
SHORTEST_NAP, LONGEST_NAP = 2e-5, 2e-3
"""seconds between two looks into the box: short while messages come often, so that cores are left to those who play"""


class Letter(NamedTuple):
    """A message that has arrived."""

    sender: int
    words: dict[str, Any]
    arrays: dict[str, Array]


class Alarm:
    """Whether this process was sent a SIGTERM, whoever else handles it: Python writes signals into a pipe, too."""

    def __init__(self) -> None:
        self.when = float("inf")
        self.ear, self.mouth = os.pipe()
        os.set_blocking(self.ear, False)
        os.set_blocking(self.mouth, False)
        self.before = -1
        with contextlib.suppress(ValueError):  # only the main thread may ask for it
            self.before = signal.set_wakeup_fd(self.mouth, warn_on_full_buffer=False)

    def check(self) -> None:
        """A sentence, if it is time to give up waiting."""
        with contextlib.suppress(BlockingIOError):
            if signal.SIGTERM in os.read(self.ear, 4096):
                self.when = min(self.when, time.monotonic())
        if time.monotonic() - self.when > GRACE_SECONDS:
            raise LudusError("mpiexec told rank 0 to end (SIGTERM) before all ranks had answered; one may have died")

    def close(self) -> None:
        with contextlib.suppress(ValueError):
            signal.set_wakeup_fd(self.before)
        os.close(self.ear)
        os.close(self.mouth)


class Mail:
    """What a rank sends to `others` and hears from them."""

    def __init__(self, world: Any, others: list[int]) -> None:
        self.world, self.others = world, others
        self.me = int(world.Get_rank())
        self.failed, self.alarm = False, Alarm()
        self.block = load_mpi().BYTE.Create_contiguous(LINE).Commit()
        self.underway: list[tuple[Any, Array]] = []
        self.looked = time.monotonic()
        self.heard = dict.fromkeys(others, self.looked)
        self.closing = threading.Event()
        self.heart = threading.Thread(target=self._beat, daemon=True)
        self.heart.start()

    def send(self, receiver: int, words: Mapping[str, Any], arrays: Mapping[str, Array] | None = None) -> None:
        """Hand over a message; it is on its way when this returns, not there."""
        self.post(receiver, envelope(words, arrays or {}))

    def post(self, receiver: int, buffer: Array) -> None:
        """Send an envelope, which must not be written to any more."""
        with self._mourning():
            self.underway = [(request, kept) for request, kept in self.underway if not request.Test()]
            blocks = [buffer, len(buffer) // LINE, self.block]
            self.underway.append((self.world.Isend(blocks, receiver, LETTER), buffer))

    def look(self) -> Letter | None:
        """The next message, if one is here."""
        self._excuse_pauses()
        with self._mourning():
            while (found := self._probe()) is not None:
                message, sender, tag, blocks = found
                buffer = aligned(blocks * LINE, np.dtype(np.uint8))
                self._finish(message.Irecv([buffer, blocks, self.block]), sender)
                self.heard[sender] = time.monotonic()
                if tag == LETTER:
                    return Letter(sender, *opened(buffer))
        return None

    def _probe(self) -> tuple[Any, int, int, int] | None:
        mpi = load_mpi()
        status = mpi.Status()
        # Only rank 0 minds when another rank dies: the others must not end before it has saved what was learned.
        message = self.world.Improbe(mpi.ANY_SOURCE if self.me == 0 else 0, mpi.ANY_TAG, status)
        if message is None:
            return None
        return message, status.Get_source(), status.Get_tag(), status.Get_count(self.block)

    def _finish(self, request: Any, sender: int) -> None:
        """Wait until a message that has begun to arrive is whole."""
        began = time.monotonic()
        while not request.Test():
            time.sleep(SHORTEST_NAP)
            if time.monotonic() - began > SILENCE_SECONDS:
                raise self._lost(f"rank {sender} fell silent in the middle of a message")

    def wait(self, enough: Callable[[], bool] = lambda: False) -> Letter | None:
        """The next message; None as soon as `enough()`; a sentence when somebody has died."""
        nap = SHORTEST_NAP
        while not enough():
            letter = self.look()
            if letter is not None:
                return letter
            self._check_lives()
            time.sleep(nap)
            nap = min(2 * nap, LONGEST_NAP)
        return None

    def flush(self, seconds: float) -> None:
        """Let what was sent arrive, as far as it does in that time."""
        stop = time.monotonic() + seconds
        while self.underway and time.monotonic() < stop:
            with contextlib.suppress(load_mpi().Exception):
                self.underway = [(request, kept) for request, kept in self.underway if not request.Test()]
            time.sleep(SHORTEST_NAP)

    def _excuse_pauses(self) -> None:
        """Who did not listen cannot blame others for silence."""
        now = time.monotonic()
        if now - self.looked > BEAT_SECONDS:
            self.heard = dict.fromkeys(self.others, now)
        self.looked = now

    def _check_lives(self) -> None:
        self.alarm.check()
        now = time.monotonic()
        silent = [rank for rank in self.others if now - self.heard[rank] > SILENCE_SECONDS]
        if silent:
            raise self._lost(f"rank {silent[0]} has given no sign of life for {SILENCE_SECONDS:g} seconds")

    @contextlib.contextmanager
    def _mourning(self) -> Any:
        """An error of MPI as a sentence: what fails between ranks is a rank that has died."""
        try:
            yield
        except load_mpi().Exception as error:
            raise self._lost(f"{self._dead() or 'a rank'} has died ({error.Get_error_string()})") from None

    def _lost(self, what: str) -> LudusError:
        self.failed = True
        return LudusError(f"{what}; what was learned is in the newest checkpoint: resume it with as many ranks")

    def _dead(self) -> str:
        """Who has died, where MPI knows."""
        with contextlib.suppress(Exception):
            group, mine = self.world.Get_failed(), self.world.Get_group()
            ranks = group.Translate_ranks(range(group.Get_size()), mine)
            return ", ".join(f"rank {rank}" for rank in ranks)
        return ""

    def _beat(self) -> None:
        nothing = np.zeros(0, np.uint8)
        while not self.closing.wait(BEAT_SECONDS):
            with contextlib.suppress(load_mpi().Exception):
                for rank in self.others:
                    # Too small to wait for anybody.
                    self.world.Isend([nothing, 0, self.block], rank, BEAT).Free()

    def close(self) -> None:
        """No more signs of life; what was sent is let go of."""
        self.closing.set()
        self.heart.join()
        self.alarm.close()


class Rank(Protocol):
    """What another rank does for rank 0."""

    def answer(self, letter: Letter) -> None: ...
    def play(self) -> None:
        """Go on with what needs no order."""
        ...

    def idle(self) -> bool:
        """Whether there is nothing to do before the next order."""
        ...

    def close(self) -> None: ...


def envelope(words: Mapping[str, Any], arrays: Mapping[str, Array]) -> Array:
    """Words and arrays as whole cache lines: the length of the words, the words, the arrays."""
    facts = facts_of(arrays)
    text = json.dumps({"words": dict(words), "facts": facts}).encode()
    start = -(-(len(text) + 8) // LINE) * LINE
    buffer = aligned(start + size_of(facts), np.dtype(np.uint8))
    buffer[:8].view(np.int64)[0] = len(text)
    buffer[8 : 8 + len(text)] = np.frombuffer(text, np.uint8)
    lay(buffer[start:], facts, arrays)
    return buffer


def opened(buffer: Array) -> tuple[dict[str, Any], dict[str, Array]]:
    """What is in an envelope."""
    length = int(buffer[:8].view(np.int64)[0])
    letter = json.loads(buffer[8 : 8 + length].tobytes())
    start = -(-(length + 8) // LINE) * LINE
    return letter["words"], find(buffer[start:], letter["facts"])


def load_mpi() -> Any:
    """MPI, or how to get it."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        raise LudusError("the mpi runtime needs mpi4py and an MPI: pip install 'ludus[mpi]'") from None
    return MPI
