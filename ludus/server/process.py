"""The processes of `ludus serve`: one, or several workers that accept connections of one socket."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import resource
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from types import FrameType

import uvicorn

from ludus.dsl.cache import quiet
from ludus.server import logs
from ludus.server.connections import BoundedProtocol
from ludus.server.metrics import FOLDER, Metrics
from ludus.server.socket import LARGEST_MESSAGE
from ludus.types import NO_FILES, LudusError

DRAIN = 10.0
"""seconds that running requests may take after SIGTERM"""
RESTART = 1.0
"""seconds before a worker that has died is started again"""
FAILED = 3
"""exit status of a worker whose models cannot be loaded, which is not started again"""


@dataclass(frozen=True)
class Plan:
    """What to serve and how; every worker gets a copy."""

    agents: tuple[str, ...]
    host: str = ""
    token: str = field(default="", repr=False)
    origins: tuple[str, ...] = ()
    store: str = "memory"
    session_expiry: float = 3600.0
    max_sessions: int = 10_000
    timeout: float = 10.0
    queue: int = 256
    code_list: str = ""


def check_workers(workers: int, store: str) -> None:
    """Raise LudusError if these workers cannot share their sessions."""
    if workers > 1 and store == "memory":
        raise LudusError(
            f"{workers} workers cannot share sessions in the memory of one; add --store sqlite:sessions.db or "
            "--store redis://localhost"
        )


def serve(plan: Plan, listening: socket.socket, workers: int) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    os.environ[NO_FILES] = "1"  # names of games come from requests, so they must not open files
    # Every decision is waited for at once, so handing it to another thread of JAX costs more than a small batch takes.
    os.environ.setdefault("JAX_CPU_ENABLE_ASYNC_DISPATCH", "0")
    if workers == 1:
        run(plan, listening)
    else:
        supervise(plan, listening, workers)


def run(plan: Plan, listening: socket.socket, late: bool = False) -> None:
    """Serve in this process. `late`: accept no connection before the models are loaded, because others answer."""
    from ludus.server.access import Rules
    from ludus.server.app import application
    from ludus.server.front import Access
    from ludus.server.service import Service, Settings
    from ludus.server.stores import Limits, store_of

    logs.set_up()
    _raise_limit_of_files()
    store = store_of(plan.store, Limits(plan.session_expiry, plan.max_sessions))
    service = Service(plan.agents, store, Settings(queue=plan.queue, timeout=plan.timeout, code_list=plan.code_list))
    errors: list[Exception] = []

    def failed(error: Exception) -> None:
        errors.append(error)
        server.should_exit = True

    shared = os.environ.get(FOLDER)
    metrics = Metrics(service.meters, pathlib.Path(shared) if shared else None)
    access = Access(Rules(plan.token, plan.host), plan.origins)
    config = uvicorn.Config(
        application(service, access, metrics, failed, late), http=BoundedProtocol, loop="uvloop", lifespan="on",
        log_config=None, access_log=False, server_header=False, date_header=False, proxy_headers=False,
        callback_notify=_parent_watch(), timeout_notify=1, ws="websockets-sansio", ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False, timeout_graceful_shutdown=int(DRAIN), timeout_keep_alive=75,
    )  # fmt: skip
    server = uvicorn.Server(config)
    with quiet():  # each line of the log is JSON
        server.run(sockets=[listening])
    if errors:
        raise errors[0]


def _raise_limit_of_files() -> None:
    """Allow as many open connections as the system permits."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _parent_watch() -> Callable[[], Awaitable[None]] | None:
    """For workers, a function that ends this process if its supervisor was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return None

    async def look() -> None:
        if os.getppid() != parent.pid:
            signal.raise_signal(signal.SIGTERM)

    return look


def supervise(plan: Plan, listening: socket.socket, workers: int) -> None:
    """Run several workers; one that dies is started again."""
    folder = tempfile.mkdtemp(prefix="ludus-metrics-")
    os.environ[FOLDER] = folder
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    running = {place: _start(plan, listening) for place in range(workers)}
    first = set(running.values())
    try:
        while not stopping:
            time.sleep(0.1)
            for place, process in running.items():
                if not process.is_alive():
                    if process in first and process.exitcode == FAILED:
                        raise LudusError("the workers cannot load the agents; see the messages above")
                    others = any(one.is_alive() for one in running.values())
                    running[place] = _restart(process, plan, listening, others)
    finally:
        _stop(list(running.values()))
        shutil.rmtree(folder, ignore_errors=True)


def _start(plan: Plan, listening: socket.socket, late: bool = False) -> BaseProcess:
    # A new interpreter, because JAX does not survive a fork.
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(plan, listening, late), daemon=True)
    process.start()
    return process


def _restart(dead: BaseProcess, plan: Plan, listening: socket.socket, late: bool) -> BaseProcess:
    logs.note("worker_died", pid=dead.pid, exitcode=dead.exitcode)
    time.sleep(RESTART)
    return _start(plan, listening, late)


def _work(plan: Plan, listening: socket.socket, late: bool) -> None:
    """One worker."""
    try:
        run(plan, listening, late)
    except LudusError as error:
        logs.note("failed", error=str(error))
        raise SystemExit(FAILED) from None


def _stop(workers: list[BaseProcess]) -> None:
    """Let all workers finish what runs, and end those that take too long."""
    for worker in workers:
        if worker.is_alive() and worker.pid:
            os.kill(worker.pid, signal.SIGTERM)
    deadline = time.monotonic() + DRAIN + 5.0
    for worker in workers:
        worker.join(max(0.0, deadline - time.monotonic()))
        if worker.is_alive():
            worker.kill()
            worker.join()
