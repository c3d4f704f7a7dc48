"""`ludus serve`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Annotated

import tyro

from ludus.cli.application import app, print_json
from ludus.server.listening import address, listen, secret_for
from ludus.types import LudusError

AgentNames = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="AGENT…")]
MOST_WORKERS = 64


@app.command
def serve(
    agents: AgentNames,
    port: int = 3000,
    host: str = "",
    token: str = "",
    cors: tuple[str, ...] = (),
    workers: int = 1,
    store: str = "memory",
    session_expiry: float = 3600.0,
    max_sessions: int = 10_000,
    timeout: float = 10.0,
    queue: int = 256,
    code_list: str = "",
    json: bool = False,
) -> None:
    """Serve agents over HTTP: programs ask for decisions, people play games against them.

    Args:
        agents: Runs, checkpoints, exported files, or agents with their game (connect4:mcts(200)); name=AGENT names one.
        port: Port to listen on, 0 to 65535 (0: any free port).
        host: Address for other machines, 0.0.0.0 for all, which then need the token; by default only this machine.
        token: Secret that clients send, at least 16 characters; by default that in the environment variable
            LUDUS_SERVER_TOKEN, or a random one when --host is given.
        cors: Origins of web pages that may use the server, such as https://example.org.
        workers: Number of processes; more than one need a shared --store.
        store: Where sessions are kept: memory, sqlite:FILE or redis://HOST[:PORT][/DB].
        session_expiry: Seconds after which an unused session is removed.
        max_sessions: Number of sessions; above it the least recently used one is removed.
        timeout: Seconds after which a request that still waits is answered 503.
        queue: Decisions that may wait for a model; more are answered 503.
        code_list: For agents of the duel: file with the codes of the cards that /v0 accepts, one per line.
        json: Print the address as one JSON object instead of text.
    """
    process = _process()
    _check_words(agents, cors, code_list)
    _check(workers, session_expiry, max_sessions, timeout, queue)
    process.check_workers(workers, store)
    secret = secret_for(host, token)
    listening = listen(host or "127.0.0.1", [port])
    place = address(host, listening.getsockname()[1]).rstrip("/")
    if json:
        print_json({"server": place, "token": secret, "models": list(agents)})
    else:
        needed = f"; clients send the header Authorization: Bearer {secret}" if host and not token else ""
        print(f"serving at {place} (Ctrl-C ends it), documentation at {place}/docs{needed}")
    sys.stdout.flush()
    plan = process.Plan(agents, host, secret, cors, store, session_expiry, max_sessions, timeout, queue, code_list)
    with listening:
        process.serve(plan, listening, workers)


def _check_words(agents: tuple[str, ...], cors: tuple[str, ...], code_list: str) -> None:
    from ludus.server.access import is_origin

    if not agents:
        raise LudusError("name at least one agent, like ludus serve runs/car-0001, or ludus serve connect4:perfect")
    for origin in cors:
        if origin != "*" and not is_origin(origin):
            raise LudusError(
                f'--cors "{origin}" is not an origin; write scheme, host and port: https://example.org:8443'
            )
    if code_list:
        from ludus.server.reference.encodings import read_code_list

        read_code_list(code_list)


def _check(workers: int, session_expiry: float, max_sessions: int, timeout: float, queue: int) -> None:
    if not 1 <= workers <= MOST_WORKERS:
        raise LudusError(f"--workers must be 1 to {MOST_WORKERS}, not {workers}")
    for flag, value in (("session-expiry", session_expiry), ("max-sessions", max_sessions), ("timeout", timeout)):
        if not 0 < value < 1e9:
            raise LudusError(f"--{flag} must be more than 0 and less than a billion, not {value:g}")
    if not 1 <= queue <= 100_000:
        raise LudusError(f"--queue must be 1 to 100000, not {queue}")


def _process() -> ModuleType:
    """The module that serves; raises LudusError if the packages of the server are not installed."""
    try:
        from ludus.server import process
    except ImportError as missing:
        raise LudusError(f"the server needs {missing.name}; install it: pip install 'ludus[server]'") from missing
    return process
