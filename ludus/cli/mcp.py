"""`ludus mcp`."""

from __future__ import annotations

import pathlib
import sys
from types import ModuleType

from ludus.cli.application import app, print_json
from ludus.types import LudusError

PORT = 3010
MOST_SESSIONS, MOST_STEPS = 100_000, 100_000_000


@app.command
def mcp(
    http: bool = False,
    port: int = PORT,
    token: str = "",
    out: pathlib.Path = pathlib.Path("runs"),
    session_expiry: float = 24 * 3600.0,
    max_sessions: int = 1000,
    max_steps: int = MOST_STEPS,
    timeout: float = 120.0,
    json: bool = False,
) -> None:
    """Serve games and agents to language models by the Model Context Protocol: play, advise, train, evaluate.

    Args:
        http: Listen on a port of this machine instead of standard input and output.
        port: Port to listen on with --http, 0 to 65535 (0: any free port).
        token: Secret that clients send with --http, at least 16 characters; by default that in the environment variable
            LUDUS_SERVER_TOKEN, or none.
        out: Folder that contains the runs; agents of its runs can be named by the name of the run.
        session_expiry: Seconds after which an unused game is removed.
        max_sessions: Number of games; above it the least recently used one is removed.
        max_steps: Maximum steps of a run that a client starts.
        timeout: Seconds after which a call whose agents still think is answered with an error.
        json: With --http, print the address as one JSON object instead of text.
    """
    _check(session_expiry, max_sessions, max_steps, timeout)
    transport = _transport()
    options = transport.Options(out, session_expiry, max_sessions, timeout, max_steps)
    if not http:
        transport.serve_stdio(options)
        return
    from ludus.server.listening import address, listen, secret_for

    secret = secret_for("", token)
    with listen("127.0.0.1", [port]) as listening:
        place = address("", listening.getsockname()[1]).rstrip("/") + transport.PATH
        if json:
            print_json({"mcp": place, "token": secret})
        else:
            print(f"serving MCP at {place} (Ctrl-C ends it)")
        sys.stdout.flush()
        transport.serve_http(options, listening, secret)


def _check(session_expiry: float, max_sessions: int, max_steps: int, timeout: float) -> None:
    for flag, value in (("session-expiry", session_expiry), ("timeout", timeout)):
        if not 0 < value < 1e9:
            raise LudusError(f"--{flag} must be more than 0 and less than a billion, not {value:g}")
    for flag, count, most in (("max-sessions", max_sessions, MOST_SESSIONS), ("max-steps", max_steps, MOST_STEPS)):
        if not 1 <= count <= most:
            raise LudusError(f"--{flag} must be 1 to {most}, not {count}")


def _transport() -> ModuleType:
    """The module that serves; raises LudusError if its packages are not installed."""
    try:
        from ludus.server.mcp import transport
    except ImportError as missing:
        raise LudusError(f"the MCP server needs {missing.name}; install it: pip install 'ludus[mcp]'") from missing
    return transport
