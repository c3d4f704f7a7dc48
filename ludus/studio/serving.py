"""The server process: uvicorn around the web of a studio, until somebody ends it."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path

import uvicorn

from ludus.studio import Studio, warming
from ludus.studio.app import web
from ludus.studio.security import Rules
from ludus.types import NO_FILES

LARGEST_MESSAGE = 16 * 2**10
"""bytes of a message on a socket; what is longer than the studio's own limit, and not longer than this, is told so"""


def serve(listening: socket.socket, host: str, token: str, out: Path, warmup: bool) -> None:
    """Serve until SIGTERM or Ctrl-C; trainers that were started go on."""
    os.environ[NO_FILES] = "1"  # also for the trainers: the name of a game comes with a request
    if warmup:
        warming.prepare_all()
    logging.basicConfig(format="ludus: %(message)s", level=logging.WARNING)
    config = uvicorn.Config(
        web(Studio(out), Rules(token, host)), log_config=None, access_log=False, server_header=False,
        ws="websockets-sansio", ws_max_size=LARGEST_MESSAGE, ws_per_message_deflate=False,
        timeout_graceful_shutdown=2, timeout_keep_alive=65, lifespan="on",
    )  # fmt: skip
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        warming.stop()
