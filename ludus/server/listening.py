"""The socket that the server or the studio listens on, its address, and the token that visitors need."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Sequence

from ludus.types import LudusError

WAITING = 2048
"""connections that may wait to be accepted"""
LEAST_TOKEN = 16
TOKEN = "LUDUS_SERVER_TOKEN"
"""environment variable with the token to require, which a command line would show to other users of the machine"""


def listen(host: str, ports: Sequence[int]) -> socket.socket:
    """A socket that listens on the first of these ports that is free; 0 is any free port."""
    for number in ports:
        try:
            return _bound(host, number)
        except OSError as error:
            why = error.strerror or str(error)
        except OverflowError:
            why = "a port is a number from 0 to 65535"
    place = f"port {ports[0]}" if len(ports) == 1 else f"a port from {ports[0]} to {ports[-1]}"
    raise LudusError(f"cannot listen on {place} of {host}: {why}; choose another with --port")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Without SO_REUSEADDR the port of a server closed a moment ago is still taken.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(WAITING)
    except BaseException:
        listening.close()
        raise
    return listening


def address(host: str, port: int) -> str:
    """The address under which a browser reaches the socket."""
    name = "localhost" if not host else socket.gethostname() if host in ("0.0.0.0", "::") else host
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def secret_for(host: str, token: str) -> str:
    """The token to require: the given one, that of the environment, or a random one if other machines are admitted."""
    token = token or os.environ.get(TOKEN, "")
    if token and len(token) < LEAST_TOKEN:
        raise LudusError(f"--token has {len(token)} characters, which is easy to guess; use {LEAST_TOKEN} or more")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise LudusError("--token may contain only letters, digits and signs of ASCII, and no spaces")
    return token or (secrets.token_urlsafe(24) if host else "")
