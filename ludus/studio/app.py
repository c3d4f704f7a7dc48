"""The web application of the studio: routes, the page and the WebSocket, all behind `security`."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, WebSocket
from starlette.types import Lifespan

from ludus.server.access import Rules
from ludus.studio import Studio, dashboard
from ludus.studio.api import contests, games, pages, rooms, runs
from ludus.studio.api.answers import answer_errors, in_thread, log
from ludus.studio.security import Security


def web(studio: Studio, rules: Rules | None = None) -> Security:
    """The application for a server such as uvicorn."""
    app = FastAPI(
        title="Ludus studio", version=studio.version, summary="Watch, play, train and compare game-playing agents",
        docs_url=None, redoc_url=None, openapi_url="/api/openapi.json", lifespan=_lifespan(studio),
    )  # fmt: skip
    answer_errors(app)
    for part in (games, runs, contests, rooms, dashboard, pages):
        app.include_router(part.routes(studio))

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        from ludus.studio.socket import serve

        await serve(websocket, studio)

    return Security(app, rules or Rules())


def _lifespan(studio: Studio) -> Lifespan[FastAPI]:
    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        # In a daemon thread, so that neither the first page nor the shutdown waits for it.
        threading.Thread(target=_preload, args=[studio], daemon=True).start()
        yield
        await in_thread(studio.close)

    return life


def _preload(studio: Studio) -> None:
    try:
        studio.warm()
    except Exception as error:  # the route that needs it reports the same error again
        log.warning("could not preload games and runs: %s", error)
