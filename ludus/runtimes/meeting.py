"""How the processes of one run meet and part; between, JAX carries what they learn.

They meet at the coordinator's port before JAX does, because JAX ends a process that waits in vain without a sentence.
The lines to process 0 stay open, so that it leaves last.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from ludus.types import LudusError

WAIT_SECONDS = 120.0
"""how long the first waits for the last"""
LOST_SECONDS = 2.0
"""after which a process that was lost is known to be"""
RETRY_SECONDS = 0.2
"""between two calls to a process 0 that does not listen yet"""
LONGEST_WORD = 4096


@contextlib.contextmanager
def together(coordinator: str, processes: int, process: int, settings: str) -> Iterator[None]:
    """One of several processes for a while: process 0 is at home at `coordinator`, and all have the same settings."""
    host, port = address_of(coordinator)
    if not 0 <= process < processes:
        raise LudusError(f"of {processes} processes, one is number 0 to {processes - 1}, not {process}")
    mark = hashlib.sha256(f"{processes} {settings}".encode()).hexdigest()
    with contextlib.ExitStack() as lines:
        met = expect(host, port, processes, mark) if process == 0 else {0: call(host, port, process, mark)}
        for line in met.values():
            lines.enter_context(line)
        parted = threading.Event()
        if process:
            threading.Thread(target=_end_with_process_0, args=(met[0], parted), daemon=True).start()
        try:
            _join(coordinator, processes, process)
            yield
        except BaseException as error:
            lost = _lost(error, met)
            if process == 0:
                _dismiss(met.values())
            if lost is None:
                raise
            raise lost from error
        parted.set()
        _part(process, met)


def address_of(coordinator: str) -> tuple[str, int]:
    """`192.168.0.7:4000`"""
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise LudusError(f'"{coordinator}" is no coordinator; write where process 0 runs, like 192.168.0.7:4000')
    return host.strip("[]"), int(port)


def expect(host: str, port: int, processes: int, mark: str) -> dict[int, socket.socket]:
    """Lines to all others, by number, once all have called."""
    until, lines = time.monotonic() + WAIT_SECONDS, dict[int, socket.socket]()
    try:
        with _listening(host, port) as listener:
            while len(lines) < processes - 1:
                listener.settimeout(max(until - time.monotonic(), 0.001))
                line, _ = listener.accept()
                _welcome(line, lines, mark)
    except OSError as error:
        _close(lines.values())
        if not isinstance(error, TimeoutError):
            raise LudusError(
                f"process 0 cannot listen at {host}:{port} ({error.strerror}); give a free port, and a host of its own"
            ) from None
        missing = ", ".join(str(number) for number in range(1, processes) if number not in lines)
        raise LudusError(f"waited {WAIT_SECONDS:g} s for process {missing} of {processes} in vain; start all") from None
    except LudusError:
        _close(lines.values())
        raise
    for line in lines.values():
        line.sendall(b"\n")
    return lines


def _listening(host: str, port: int) -> socket.socket:
    """Where the others were told to call, and nowhere else."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server(address[:2], family=family)


def _welcome(line: socket.socket, lines: dict[int, socket.socket], mark: str) -> None:
    """Take up one that calls; a stranger is left alone."""
    line.settimeout(5.0)
    try:
        said = json.loads(_word(line))
        number, theirs = int(said["process"]), str(said["mark"])
    except (OSError, ValueError, TypeError, KeyError):
        line.close()
        return
    if theirs != mark or number in lines:
        twice = number in lines and theirs == mark
        sentence = f"process {number} was started twice" if twice else f"process {number} has other settings"
        sentence += "; give all processes the same command, but for --process"
        with contextlib.suppress(OSError), line:
            line.sendall(sentence.encode() + b"\n")
        raise LudusError(sentence)
    lines[number] = line


def call(host: str, port: int, process: int, mark: str) -> socket.socket:
    """A line to process 0, once all are there."""
    try:
        line = _called(host, port, time.monotonic() + WAIT_SECONDS)
    except OSError as error:
        raise LudusError(
            f"no coordinator at {host}:{port} within {WAIT_SECONDS:g} s ({error.strerror or error}); "
            "start process 0 there, and let the network through"
        ) from None
    try:
        line.settimeout(WAIT_SECONDS)
        line.sendall(json.dumps({"process": process, "mark": mark}).encode() + b"\n")
        refused = _word(line).decode().strip()
    except OSError:
        refused = f"process 0 at {host}:{port} did not begin; see what it says, then start all processes again"
    if refused:
        line.close()
        raise LudusError(refused)
    return line


def _called(host: str, port: int, until: float) -> socket.socket:
    """Processes are started in any order: try until somebody answers."""
    while True:
        try:
            return socket.create_connection((host, port), timeout=max(until - time.monotonic(), 0.001))
        except OSError:
            if time.monotonic() >= until:
                raise
            time.sleep(RETRY_SECONDS)


def _word(line: socket.socket) -> bytes:
    """One line of text, not longer than any that we send."""
    with line.makefile("rb") as file:
        word = file.readline(LONGEST_WORD)
    if not word.endswith(b"\n"):
        raise ConnectionError("the other side has left")
    return word


def _join(coordinator: str, processes: int, process: int) -> None:
    """JAX from here on knows the devices of all processes."""
    # Ours to tell; its warning of an experiment is about the setting below. Read when JAX is first imported.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from ludus import devices

    devices.start()
    import jax

    config: Any = jax.config
    config.update("jax_enable_preemption_service", False)  # it would take SIGTERM away from us
    config.update("jax_enable_recoverability", True)  # else all die with one, and process 0 could not save
    try:
        jax.distributed.initialize(
            coordinator, processes, process, cluster_detection_method="deactivate",
            initialization_timeout=int(WAIT_SECONDS) + 1, coordinator_bind_address=coordinator,
        )  # fmt: skip
        jax.devices()
    except (RuntimeError, ValueError) as error:
        raise LudusError(f"the processes met, but JAX could not bring them together: {error}") from None


def _end_with_process_0(line: socket.socket, parted: threading.Event) -> None:
    """Without process 0 the others would wait in vain, until JAX kills them without a sentence."""
    line.settimeout(None)
    if _gone(line) and not parted.is_set():
        print("ludus: process 0 has ended before its time; see what it says", file=sys.stderr, flush=True)
        os._exit(1)


def _dismiss(lines: Iterable[socket.socket]) -> None:
    """Process 0 cannot go on; the others hear of it before JAX notices."""
    for line in lines:
        with contextlib.suppress(OSError):
            line.shutdown(socket.SHUT_WR)
    for line in lines:
        line.settimeout(LOST_SECONDS)
        with contextlib.suppress(TimeoutError):
            _gone(line)


def _lost(error: BaseException, lines: dict[int, socket.socket]) -> LudusError | None:
    """What to say where the error comes from the end of another process: JAX speaks of a connection then."""
    if isinstance(error, LudusError) or not isinstance(error, Exception):
        return None
    for number, line in lines.items():
        line.settimeout(LOST_SECONDS)
        with contextlib.suppress(TimeoutError):
            if _gone(line):
                return LudusError(
                    f"process {number} has ended before its time; see what it says, then --resume the run"
                )
    return None


def _gone(line: socket.socket) -> bool:
    """Nobody says anything more on a line: it only ends."""
    try:
        return not line.recv(1)
    except ConnectionError:
        return True


def _part(process: int, lines: dict[int, socket.socket]) -> None:
    """The others leave first: JAX kills whoever is still there when process 0 goes."""
    from jax import distributed

    leave: Any = distributed.shutdown  # JAX has no types for it
    if process == 0:
        for line in lines.values():
            line.settimeout(WAIT_SECONDS)
            with contextlib.suppress(TimeoutError):
                _gone(line)
    leave()
    if process:
        lines[0].shutdown(socket.SHUT_RDWR)


def _close(lines: Iterable[socket.socket]) -> None:
    for line in lines:
        line.close()
