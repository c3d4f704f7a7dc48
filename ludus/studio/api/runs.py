"""Training runs: begin them, watch them, steer them, keep what they learned."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from ludus.studio import Studio
from ludus.studio.api.answers import in_thread
from ludus.studio.refusal import Refusal
from ludus.studio.security import LARGEST_AGENT

IMMUTABLE = {"cache-control": "private, max-age=86400"}


class NewRun(BaseModel):
    """What to train, and how."""

    game: str = Field(max_length=500)
    algorithm: str | None = Field(None, max_length=100)
    values: dict[str, Any] = Field(default_factory=dict, max_length=300)


class Longer(BaseModel):
    """How long a run goes on."""

    steps: int | None = Field(None, ge=1, le=2**53)


class Notes(BaseModel):
    """What a run is called, and how it is marked."""

    title: str | None = Field(None, max_length=200)
    tags: list[str] | None = Field(None, max_length=20)


class Trial(BaseModel):
    """How an agent is put to the test."""

    games: int = Field(100, ge=1, le=1_000_000)
    against: str = Field("random", max_length=200)
    checkpoint: str | None = Field(None, max_length=20)


def routes(studio: Studio) -> APIRouter:
    router = APIRouter(prefix="/api", tags=["runs"])
    _reading(router, studio)
    _measured(router, studio)
    _steering(router, studio)
    _keeping(router, studio)
    return router


def _reading(router: APIRouter, studio: Studio) -> None:
    @router.get("/runs", summary="Every run and how it stands")
    async def list_runs() -> list[dict[str, Any]]:
        return await in_thread(lambda: studio.runs_feed.summaries())

    @router.get("/runs/{name}", summary="A run with its settings, checkpoints and the names of its metrics")
    async def one_run(name: str) -> dict[str, Any]:
        from ludus.studio import details

        return await in_thread(details.run_facts, studio, name)

    @router.get("/runs/{name}/log", summary="The last lines that the trainer of a run printed")
    async def log(name: str, lines: int = Query(200, ge=1, le=5000)) -> dict[str, list[str]]:
        from ludus.runs import control

        folder = await in_thread(lambda: studio.shelf.run(name))
        text = await in_thread(control.tail, folder / control.LOG, 2**20)
        return {"lines": text.splitlines()[-lines:]}

    @router.get("/runs/{name}/checkpoints/{step}/thumbnail.webp", summary="A small picture of a checkpoint at play")
    async def thumbnail(name: str, step: str) -> Response:
        from ludus.studio import details

        picture = await in_thread(details.thumbnail, studio, name, step)
        return Response(picture, media_type="image/webp", headers=IMMUTABLE)

    @router.get("/compare", summary="Several runs beside each other, with the settings in which they differ")
    async def compare(runs: list[str] = Query(min_length=1, max_length=50)) -> dict[str, Any]:  # noqa: B008
        from ludus.studio import details

        return await in_thread(details.compared, studio, runs)


def _measured(router: APIRouter, studio: Studio) -> None:
    @router.get("/runs/{name}/metrics", summary="The metrics of a run as columns, thinned without losing peaks")
    async def metrics(name: str, points: int = Query(2000, ge=10, le=100_000)) -> dict[str, Any]:
        from ludus.studio import metrics

        folder = await in_thread(lambda: studio.shelf.run(name))
        return await in_thread(metrics.drawn, folder, points)

    @router.get("/runs/{name}/metrics.csv", summary="All metrics of a run as a table", response_class=StreamingResponse)
    async def metrics_csv(name: str) -> StreamingResponse:
        from ludus.studio import metrics

        folder = await in_thread(lambda: studio.shelf.run(name))
        await in_thread(metrics.columns_of, folder)  # what is wrong with the file is told before the first line
        headers = {"content-disposition": f'attachment; filename="{folder.name}.csv"'}
        return StreamingResponse(metrics.as_csv(folder), media_type="text/csv; charset=utf-8", headers=headers)


def _steering(router: APIRouter, studio: Studio) -> None:
    @router.post("/runs", status_code=201, summary="Begin a training run in a process of its own")
    async def begin(wish: NewRun) -> dict[str, str]:
        from ludus.studio import forms

        run = await in_thread(forms.run_of, wish.game, wish.algorithm, wish.values)
        folder = await in_thread(lambda: studio.trainers.begin(run))
        return {"run": folder.name}

    def steered(word: str, summary: str, act: Callable[[Studio, str], None]) -> None:
        async def steer(name: str) -> dict[str, Any]:
            await in_thread(act, studio, name)
            return await in_thread(lambda: studio.runs_feed.summary(name))

        router.add_api_route(f"/runs/{{name}}/{word}", steer, methods=["POST"], summary=summary, name=word)

    steered("pause", "Let a run pause after the update it is making", _telling("pause"))
    steered("step", "Let a paused run make one update", _telling("step"))
    steered("save", "Let a run save a checkpoint now", _telling("save"))
    steered("resume", "Let a paused run go on, or start the trainer of a stopped one again", _resume)
    steered("stop", "Let a run save and end", lambda studio, name: studio.trainers.stop(studio.shelf.run(name)))

    @router.post("/runs/{name}/continue", summary="Go on with a run that was stopped, has failed or is finished")
    async def go_on(name: str, longer: Longer | None = None) -> dict[str, Any]:
        await in_thread(_continue, studio, name, longer.steps if longer else None)
        return await in_thread(lambda: studio.runs_feed.summary(name))

    @router.post("/runs/{name}/evaluate", status_code=202, summary="Let the agent of a run play in earnest, as a job")
    async def evaluate(name: str, trial: Trial) -> dict[str, str]:
        from ludus.studio import contests

        return {"job": (await in_thread(contests.evaluate, studio, name, trial)).id}


def _telling(word: Literal["pause", "step", "save"]) -> Callable[[Studio, str], None]:
    return lambda studio, name: studio.trainers.tell(studio.shelf.run(name), word)


def _resume(studio: Studio, name: str) -> None:
    from ludus.runs import control

    folder = studio.shelf.run(name)
    if control.state_of(folder).status in ("training", "paused"):
        studio.trainers.tell(folder, "go")
    else:
        _continue(studio, name, None)


def _continue(studio: Studio, name: str, steps: int | None) -> None:
    from ludus.studio import bundles, trainers

    folder = studio.shelf.run(name)
    bundles.check_whole(folder)
    studio.trainers.start(folder, trainers.continued(folder, steps))


def _keeping(router: APIRouter, studio: Studio) -> None:
    @router.patch("/runs/{name}", summary="Give a run a title and tags")
    async def note(name: str, notes: Notes) -> dict[str, Any]:
        from ludus.studio import details

        await in_thread(details.note, studio, name, notes.title, notes.tags)
        return await in_thread(lambda: studio.runs_feed.summary(name))

    @router.delete("/runs/{name}", summary="Delete a run for good; confirm repeats its name")
    async def delete(name: str, confirm: str = "") -> dict[str, str]:
        folder = await in_thread(lambda: studio.shelf.run(name))
        if confirm != name:
            raise Refusal(f'to delete "{name}" with all that it learned, confirm its name', 409, "confirm")
        await in_thread(lambda: studio.trainers.remove(folder))
        await in_thread(lambda: studio.shelf.forget(name))
        return {"deleted": name}

    @router.get("/runs/{name}/export", summary="A checkpoint's agent as a zip that another studio can import")
    async def export(name: str, checkpoint: str = Query("newest", max_length=20)) -> Response:
        from ludus.studio import bundles

        data, title = await in_thread(bundles.exported, studio, name, checkpoint)
        headers = {"content-disposition": f'attachment; filename="{title}.zip"'}
        return Response(data, media_type="application/zip", headers=headers)

    @router.post("/agents", status_code=201, summary="Import an agent: the zip that export gives, as the body")
    async def bring(request: Request) -> dict[str, str]:
        from ludus.studio import bundles

        data = await limited(request.stream().__anext__, LARGEST_AGENT)
        return {"run": (await in_thread(bundles.imported, studio, data)).name}


async def limited(more: Callable[[], Awaitable[bytes]], most: int) -> bytes:
    """A body of at most so many bytes that comes within two minutes."""
    parts, size = list[bytes](), 0
    try:
        async with asyncio.timeout(120):
            while True:
                parts.append(await more())
                size += len(parts[-1])
                if size > most:
                    raise Refusal(f"an agent has at most {most // 2**20} MB", 413)
    except StopAsyncIteration:
        return b"".join(parts)
    except TimeoutError:
        raise Refusal("the agent did not arrive in time; send it again", 408) from None
