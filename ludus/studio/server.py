"""The server process: uvicorn around the web application of a studio."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path

import uvicorn

from ludus.evaluation.preparation import prepare_all, stop_all
from ludus.server.access import Rules
from ludus.studio import Studio
from ludus.studio.app import web
from ludus.types import NO_FILES

LARGEST_MESSAGE = 16 * 2**10
"""maximum bytes of a WebSocket message for the server; the studio's own, smaller limit answers with an error message"""


def serve(listening: socket.socket, host: str, token: str, out: Path, warmup: bool) -> None:
    """Serve until SIGTERM or Ctrl-C; trainers that were started continue."""
    os.environ[NO_FILES] = "1"  # also for trainers: names of games come from requests, so they must not open files
    if warmup:
        prepare_all()
    logging.basicConfig(format="ludus: %(message)s", level=logging.WARNING)
    config = uvicorn.Config(
        web(Studio(out), Rules(token, host)), log_config=None, access_log=False, server_header=False,
        ws="websockets-sansio", ws_max_size=LARGEST_MESSAGE, ws_per_message_deflate=False,
        timeout_graceful_shutdown=2, timeout_keep_alive=65, lifespan="on",
    )  # fmt: skip
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        stop_all()
