"""The web application of `ludus serve`: routes of FastAPI behind `front`, and what runs beside them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Callable

from fastapi import FastAPI
from starlette.types import Lifespan

from ludus import __version__, games
from ludus.server import logs
from ludus.server.answers import answer_errors, log
from ludus.server.api import documentation, models, operations, sessions
from ludus.server.api import games as playing
from ludus.server.front import Access, Front
from ludus.server.games import Games
from ludus.server.metrics import Metrics
from ludus.server.service import Service
from ludus.types import LudusError

Failed = Callable[[Exception], None]
RELOAD_INTERVAL = 5.0
"""seconds between two looks for better checkpoints"""


def application(
    service: Service, access: Access | None = None, metrics: Metrics | None = None, failed: Failed | None = None,
    late: bool = False,
) -> Front:  # fmt: skip
    """The application for a server such as uvicorn; it answers while models are still being loaded, unless `late`.

    `failed` is called with the error if they cannot be loaded.
    """
    metrics, tables = metrics or Metrics(service.meters), Games(service)
    app = FastAPI(
        title="Ludus server", version=__version__, summary="Game-playing agents over HTTP", docs_url=None,
        redoc_url=None, lifespan=_lifespan(service, tables, metrics, failed, late), redirect_slashes=False,
    )  # fmt: skip
    answer_errors(app)
    app.include_router(models.routes(service))
    app.include_router(sessions.routes(service, metrics))
    app.include_router(playing.routes(tables, metrics))
    app.include_router(operations.routes(service, metrics))
    documentation.install(app)
    return Front(app, service, metrics, access or Access())


def _lifespan(
    service: Service, tables: Games, metrics: Metrics, failed: Failed | None, late: bool
) -> Lifespan[FastAPI]:
    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        loaded = asyncio.Event()
        background = [asyncio.create_task(work) for work in (_run(app, service, failed, loaded), metrics.publish())]
        if late:
            await loaded.wait()
        yield
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        await tables.close()
        await service.close()
        metrics.write()

    return life


def _mount_reference(app: FastAPI, service: Service) -> None:
    """Add the reference API, if a model plays its game; that is known when the models are loaded."""
    if any(games.plain_name(model.game) == "duel" for model in service.models.values()):
        from ludus.server.reference.routes import routes
        from ludus.server.reference.service import Settings

        app.include_router(routes(service, Settings(code_list=service.settings.code_list)))
        app.openapi_schema = None
    elif service.settings.code_list:
        raise LudusError("--code-list is for agents of the duel, and none of these agents plays it; leave it out")


def _tell(model: str, what: str, done: int, total: int) -> None:
    """Log the progress of loading."""
    logs.note("loading", model=model, what=what, done=done, of=total)


async def _run(app: FastAPI, service: Service, failed: Failed | None, loaded: asyncio.Event) -> None:
    """Load the models, then look for better ones from time to time."""
    try:
        await service.start(_tell)
        _mount_reference(app, service)
    except Exception as error:
        if failed is None:
            raise
        failed(error)
        return
    finally:
        loaded.set()
    if failed is not None:
        # This process serves only. Libraries and models stay; to look at them again and again would take the collector
        # longer than the requests take, which allocate many lists.
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000)
    logs.note("ready", models=list(service.models))
    while True:
        await asyncio.sleep(RELOAD_INTERVAL)
        try:
            if renewed := await service.reload():
                logs.note("reloaded", models=renewed)
        except Exception as error:  # a damaged checkpoint must not end the reloading
            log.warning("could not reload: %s", error)
