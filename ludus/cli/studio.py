"""`ludus studio`."""

from __future__ import annotations

import os
import pathlib
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable

from ludus.cli.application import app, print_json
from ludus.types import LudusError

PORT, TRIED = 8765, 50
LEAST_TOKEN = 16


@app.command
def studio(
    port: int | None = None,
    host: str = "",
    token: str = "",
    out: pathlib.Path = pathlib.Path("runs"),
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
        open: Open the page in the browser.
        warmup: Compile games in the background that have not been compiled yet.
        json: Print the address as one JSON object instead of text.
    """
    server = _server()
    if token and len(token) < LEAST_TOKEN:
        raise LudusError(f"--token has {len(token)} characters, which is easy to guess; use {LEAST_TOKEN} or more")
    secret = token or (secrets.token_urlsafe(24) if host else "")
    listening = _listen(host or "127.0.0.1", port)
    address = _address(host, listening.getsockname()[1], secret)
    if json:
        print_json({"studio": address, "out": str(out)})
    else:
        print(f"the studio is open at {address} (Ctrl-C closes it; training runs continue)")
    sys.stdout.flush()
    if open and _has_display():
        threading.Timer(0.5, webbrowser.open, [address]).start()
    server(listening, host, secret, out, warmup)


def _server() -> Callable[[socket.socket, str, str, pathlib.Path, bool], None]:
    """The serve function; raises LudusError if the packages of the studio are not installed."""
    try:
        from ludus.studio import server
    except ImportError as missing:
        raise LudusError(f"the studio needs {missing.name}; install it: pip install 'ludus[studio]'") from missing
    return server.serve


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on the given port, or on the first free one."""
    for number in [port] if port is not None else range(PORT, PORT + TRIED):
        try:
            return _bound(host, number)
        except OSError as error:
            why = error.strerror or str(error)
        except OverflowError:
            why = "a port is a number from 0 to 65535"
    place = f"port {port}" if port is not None else f"a port from {PORT} to {PORT + TRIED - 1}"
    raise LudusError(f"cannot listen on {place} of {host}: {why}; choose another with --port")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Without SO_REUSEADDR the port of a studio closed a moment ago is still taken.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except BaseException:
        listening.close()
        raise
    return listening


def _address(host: str, port: int, secret: str) -> str:
    name = "localhost" if not host else socket.gethostname() if host in ("0.0.0.0", "::") else host
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/" + (f"?token={secret}" if secret else "")


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
