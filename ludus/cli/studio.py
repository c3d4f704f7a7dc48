"""`ludus studio`."""

from __future__ import annotations

import os
import pathlib
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable

from ludus.cli.application import app, print_json
from ludus.server.listening import address, listen, secret_for
from ludus.types import LudusError

PORT, TRIED = 8765, 50


@app.command
def studio(
    port: int | None = None,
    host: str = "",
    token: str = "",
    out: pathlib.Path = pathlib.Path("runs"),
    servers: tuple[str, ...] = (),
    open: bool = True,
    warmup: bool = True,
    json: bool = False,
) -> None:
    """Open the studio in the browser: watch and play games, train agents and see them learn.

    Args:
        port: Port to listen on, 0 to 65535 (0: any free port); by default the first free port from 8765.
        host: Address for other machines, 0.0.0.0 for all, which then need the token; by default only this machine.
        token: Secret that visitors need, at least 16 characters; random by default when --host is given.
        out: Folder that contains the runs.
        servers: Addresses of ludus serve whose agents can be chosen as players, such as http://localhost:3000.
        open: Open the page in the browser.
        warmup: Compile games in the background that have not been compiled yet.
        json: Print the address as one JSON object instead of text.
    """
    server = _server()
    if servers:
        from ludus.agents.remote import ALLOWED, place_of

        os.environ[ALLOWED] = " ".join(place_of(server).server for server in servers)
    secret = secret_for(host, token)
    listening = listen(host or "127.0.0.1", range(PORT, PORT + TRIED) if port is None else [port])
    place = address(host, listening.getsockname()[1]) + (f"?token={secret}" if secret else "")
    if json:
        print_json({"studio": place, "out": str(out)})
    else:
        print(f"the studio is open at {place} (Ctrl-C closes it; training runs continue)")
    sys.stdout.flush()
    if open and _has_display():
        threading.Timer(0.5, webbrowser.open, [place]).start()
    server(listening, host, secret, out, warmup)


def _server() -> Callable[[socket.socket, str, str, pathlib.Path, bool], None]:
    """The serve function; raises LudusError if the packages of the studio are not installed."""
    try:
        from ludus.studio import server
    except ImportError as missing:
        raise LudusError(f"the studio needs {missing.name}; install it: pip install 'ludus[studio]'") from missing
    return server.serve


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
