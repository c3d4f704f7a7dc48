"""`ludus studio`."""

from __future__ import annotations

import os
import pathlib
import secrets
import socket
import sys
import threading
import webbrowser
from typing import Any

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
        port: Where it listens; 8765, or the next that is free.
        host: Let other machines in under this address, 0.0.0.0 for all addresses; they need the token.
        token: What others must know, at least 16 letters; made up where there is none.
        out: Where the folders of runs lie.
        open: Open the browser.
        warmup: Compile games in the background that never were, so that nobody waits for them later.
        json: Print one JSON object with the address instead.
    """
    server = _server()
    if token and len(token) < LEAST_TOKEN:
        raise LudusError(f"a token of {len(token)} letters is soon guessed; take {LEAST_TOKEN} or more")
    secret = token or (secrets.token_urlsafe(24) if host else "")
    listening = _listen(host or "127.0.0.1", port)
    address = _address(host, listening.getsockname()[1], secret)
    if json:
        print_json({"studio": address, "out": str(out)})
    else:
        print(f"the studio is open at {address} (Ctrl-C closes it; trainers go on)")
    sys.stdout.flush()
    if open and _has_display():
        threading.Timer(0.5, webbrowser.open, [address]).start()
    server(listening, host, secret, out, warmup)


def _server() -> Any:
    """The function that serves; a sentence where the packages for it are missing."""
    try:
        from ludus.studio import serving
    except ImportError as missing:
        raise LudusError(f"the studio needs packages more ({missing.name}): pip install 'ludus[studio]'") from missing
    return serving.serve


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket at the port given, or at the first that is free."""
    for number in [port] if port is not None else range(PORT, PORT + TRIED):
        try:
            return _bound(host, number)
        except OSError as error:
            why = error.strerror or str(error)
        except OverflowError:
            why = "ports go from 0 to 65535"
    place = f"port {port}" if port is not None else f"a port from {PORT} to {PORT + TRIED - 1}"
    raise LudusError(f"cannot listen at {place} of {host}: {why}; choose another with --port")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A studio that was just closed must not keep its own port from the next one.
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
