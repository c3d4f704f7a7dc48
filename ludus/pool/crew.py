"""A crew: threads that wait in compiled code for shares of a step, so that a step of 50 µs gains from a second core.

Waking a sleeping thread costs as much as such a step. So a member first spins, yielding its core to other threads, and
sleeps only after a while without work. It shares an array with the pool, its gate, and no step needs the GIL:

    READY -> POSTED -> CHECKING -> CHECKED -> MOVING -> READY      the pool posts, the member checks, the pool agrees
    READY -> ASLEEP -> READY                                       after about a millisecond; woken by the pool

No game moves before all actions are checked. A share that a member has not begun when the pool is done with its own is
taken back, for example because other processes use the core.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

import numpy as np

from ludus.dsl import kernel, part
from ludus.dsl.intrinsics import copy_byte, copy_word, load_word, swap_word, yield_core
from ludus.dsl.rows import compiling
from ludus.types import Array

STATE, LOW_GAME, HIGH_GAME, ILLEGAL, OUTPUT, OURS, WORDS = 0, 1, 2, 3, 4, 5, 8
"""the words of a gate, which fills a cache line"""
READY, POSTED, CHECKING, CHECKED, MOVING, ASLEEP, STOPPED = range(7)
POLLS, SPINS = 256, 2000
"""reads of the state between two yields of the core, and yields before a member sleeps: about a millisecond"""
NO_GATE: Array = np.zeros(0, np.int64)
NO_GATES: Array = np.zeros((0, WORDS), np.int64)
NO_FIELDS: Array = np.zeros((0, 4), np.int64)
SOURCE, STRIDE, SIZE, OFFSET = range(4)
"""the columns of a table of fields: address of the first record's field, bytes between records, bytes, place in the
output per record"""
PAUSE = 2e-3
"""seconds between two steps after which the crew is not woken: it would be asleep again before the next step"""
Check = Callable[[Array, int], int]
"""of the gates and the address of the output: enters the compiled check; returns the first illegal row, or -1"""
Step = Callable[[int, int, Array, int], object]
"""of the first and last game, a gate and the address of the output: enters the compiled loop"""


@part
def claimed(gate):
    """Wait for a share to be posted; False if there was none for a while, or the crew is stopped."""
    for _ in range(SPINS):
        for _ in range(POLLS):
            state = load_word(gate, STATE)
            if state == POSTED and swap_word(gate, STATE, POSTED, CHECKING):
                return True
            if state == STOPPED:
                return False
        yield_core()
    return not swap_word(gate, STATE, READY, ASLEEP) and swap_word(gate, STATE, POSTED, CHECKING)


@part
def agreed(gate, illegal):
    """Report the first illegal action of a share, or -1; returns whether the games may move."""
    gate[ILLEGAL] = illegal
    swap_word(gate, STATE, CHECKING, CHECKED)
    return left(gate, CHECKED) == MOVING


@part
def left(gate, state):
    """Wait until a gate is no longer in this state; returns the next one."""
    polls = 0
    while load_word(gate, STATE) == state:
        polls += 1
        if polls % POLLS == 0:
            yield_core()
    return load_word(gate, STATE)


@part
def spread(fields, output, low, high):
    """Copy the fields of records low .. high-1 to one array per field, which lie one after the other in the output."""
    for field in range(len(fields)):
        stride, size = fields[field, STRIDE], fields[field, SIZE]
        source, target = fields[field, SOURCE] + low * stride, output + fields[field, OFFSET] + low * size
        words = size // 8
        for _ in range(low, high):
            for word in range(words):
                copy_word(source + 8 * word, target + 8 * word)
            for byte in range(8 * words, size):
                copy_byte(source + byte, target + byte)
            source += stride
            target += size


@part
def post(gates, games, output):
    """Post a share of the games to every member that is ready; the others' shares are ours."""
    shares = len(gates) + 1
    for member in range(len(gates)):
        gate = gates[member]
        gate[LOW_GAME], gate[HIGH_GAME] = games * (member + 1) // shares, games * (member + 2) // shares
        gate[OUTPUT] = output
        gate[OURS] = not swap_word(gate, STATE, READY, POSTED)


@part
def take_back(gate):
    """Whether a share is ours: it was not posted, or no member has begun it."""
    gate[OURS] = gate[OURS] or swap_word(gate, STATE, POSTED, READY)
    return gate[OURS]


@part
def agree(gates, illegal):
    """Wait until all shares are checked and let the games move if nothing is illegal; returns the first illegal row."""
    for member in range(len(gates)):
        gate = gates[member]
        if not gate[OURS]:
            left(gate, CHECKING)
            if gate[ILLEGAL] >= 0 and (illegal < 0 or gate[ILLEGAL] < illegal):
                illegal = gate[ILLEGAL]
    for member in range(len(gates)):
        if not gates[member, OURS]:
            swap_word(gates[member], STATE, CHECKED, MOVING if illegal < 0 else READY)
    return illegal


@kernel
def await_members(gates):
    """Wait until no member is moving games."""
    for member in range(len(gates)):
        left(gates[member], MOVING)


@kernel
def wake_up(gate):
    """Make a member that sleeps ready; False if it does not sleep."""
    return swap_word(gate, STATE, ASLEEP, READY)


class Crew:
    """Threads beside the calling one that each step a share of the games of a pool."""

    def __init__(self, members: int, games: int, actions: Array, check: Check, step: Step) -> None:
        """`check` and `step` read `actions`, an array of numbers.

        They must not refer to the pool, because the crew is stopped when nothing refers to the pool any more.
        """
        self.size, self._actions, self._check, self._step = members + 1, actions, check, step
        self._share, self._called, self._buffer = games // self.size, 0.0, actions
        self._gates: Array = np.zeros((members, WORDS), np.int64)
        self._gates[:, STATE] = ASLEEP
        self._wake = [threading.Semaphore(0) for _ in range(members)]
        for gate, wake in zip(self._gates, self._wake, strict=True):
            threading.Thread(target=_serve, args=(gate, wake, step), name="ludus-crew", daemon=True).start()

    def advance(self, actions: Array, buffer: Array) -> int:
        """One step of all games, whose fields are copied to a buffer; returns the first illegal row, or -1."""
        np.copyto(self._actions, actions.reshape(-1))
        self._buffer = buffer  # keep it as long as members may write to it
        address = buffer.ctypes.data
        try:
            illegal = self._check(self._gates, address)
            if illegal < 0:
                self._move(address)
        finally:
            await_members(self._gates)
        return illegal

    def _move(self, address: int) -> None:
        self._step(0, self._share, NO_GATE, address)
        ours = self._gates[:, OURS] != 0
        if ours.any():
            for gate in self._gates[ours]:
                self._step(gate[LOW_GAME], gate[HIGH_GAME], NO_GATE, address)
            self._rouse()
        self._called = time.perf_counter()

    def stop(self) -> None:
        """End the threads, none of which may have work."""
        self._gates[:, STATE] = STOPPED
        for wake in self._wake:
            wake.release()

    def _rouse(self) -> None:
        """Wake members that sleep, if steps follow each other quickly."""
        if time.perf_counter() - self._called < PAUSE:
            for gate, wake in zip(self._gates, self._wake, strict=True):
                if gate[STATE] == ASLEEP:
                    wake.release()


def _serve(gate: Array, wake: threading.Semaphore, step: Step) -> None:
    """A member: sleep until woken, then step games until none are posted for a while."""
    while True:
        wake.acquire()
        if wake_up(gate):
            step(0, 0, gate, 0)
        elif gate[STATE] == STOPPED:
            return


def crews_work() -> bool:
    """Whether this system and mode have crews."""
    return sys.platform != "win32" and compiling()
