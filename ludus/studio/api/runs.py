"""Training runs: start, follow, control, export and delete them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from ludus.studio import Studio
from ludus.studio.api.answers import in_thread
from ludus.studio.refusal import Refusal
from ludus.studio.security import LARGEST_AGENT
from ludus.types import JsonObject

IMMUTABLE = {"cache-control": "private, max-age=86400"}


class NewRun(BaseModel):
    """The game, algorithm and settings of a new run."""

    game: str = Field(max_length=500)
    algorithm: str | None = Field(None, max_length=100)
    values: JsonObject = Field(default_factory=dict, max_length=300)


class Longer(BaseModel):
    """The new total number of steps of a continued run."""

    steps: int | None = Field(None, ge=1, le=2**53)


class Notes(BaseModel):
    """The title and tags of a run."""

    title: str | None = Field(None, max_length=200)
    tags: list[str] | None = Field(None, max_length=20)


class Trial(BaseModel):
    """Settings of an evaluation: number of games, opponent and checkpoint."""

    games: int = Field(100, ge=1, le=1_000_000)
    against: str = Field("random", max_length=200)
    checkpoint: str | None = Field(None, max_length=20)


def routes(studio: Studio) -> APIRouter:
    router = APIRouter(prefix="/api", tags=["runs"])
    _queries(router, studio)
    _metrics(router, studio)
    _commands(router, studio)
    _storage(router, studio)
    return router


def _queries(router: APIRouter, studio: Studio) -> None:
    @router.get("/runs", summary="All runs with their status")
    async def list_runs() -> list[JsonObject]:
        return await in_thread(lambda: studio.runs_feed.summaries())

    @router.get("/runs/{name}", summary="A run with its settings, checkpoints and the names of its metrics")
    async def one_run(name: str) -> JsonObject:
        from ludus.studio import details

        return await in_thread(details.run_facts, studio, name)

    @router.get("/runs/{name}/log", summary="The last lines that the trainer of a run printed")
    async def log(name: str, lines: int = Query(200, ge=1, le=5000)) -> dict[str, list[str]]:
        from ludus.training import control

        folder = await in_thread(lambda: studio.shelf.run(name))
        text = await in_thread(control.tail, folder / control.LOG, 2**20)
        return {"lines": text.splitlines()[-lines:]}

    @router.get("/runs/{name}/checkpoints/{step}/thumbnail.webp", summary="A small picture of a checkpoint at play")
    async def thumbnail(name: str, step: str) -> Response:
        from ludus.studio import details

        picture = await in_thread(details.thumbnail, studio, name, step)
        if picture is None:  # deleted by rotation, which happens while a run is trained: no error in the browser
            return Response(status_code=204)
        return Response(picture, media_type="image/webp", headers=IMMUTABLE)

    @router.get("/compare", summary="Several runs side by side, with the settings in which they differ")
    async def compare(runs: list[str] = Query(min_length=1, max_length=50)) -> JsonObject:  # noqa: B008
        from ludus.studio import details

        return await in_thread(details.compared, studio, runs)


def _metrics(router: APIRouter, studio: Studio) -> None:
    @router.get("/runs/{name}/metrics", summary="The metrics of a run as columns, downsampled but with all peaks")
    async def metrics(name: str, points: int = Query(2000, ge=10, le=100_000)) -> JsonObject:
        from ludus.studio import metrics

        folder = await in_thread(lambda: studio.shelf.run(name))
        return await in_thread(metrics.downsampled, folder, points)

    @router.get(
        "/runs/{name}/metrics.csv", summary="All metrics of a run as a CSV table", response_class=StreamingResponse
    )
    async def metrics_csv(name: str) -> StreamingResponse:
        from ludus.studio import metrics

        folder = await in_thread(lambda: studio.shelf.run(name))
        await in_thread(metrics.columns_of, folder)  # raises for an invalid file before the response starts
        headers = {"content-disposition": f'attachment; filename="{folder.name}.csv"'}
        return StreamingResponse(metrics.as_csv(folder), media_type="text/csv; charset=utf-8", headers=headers)


def _commands(router: APIRouter, studio: Studio) -> None:
    @router.post("/runs", status_code=201, summary="Start a training run in a process of its own")
    async def begin(body: NewRun) -> dict[str, str]:
        from ludus.studio import forms

        run = await in_thread(forms.run_of, body.game, body.algorithm, body.values)
        folder = await in_thread(lambda: studio.trainers.begin(run))
        return {"run": folder.name}

    def command(word: str, summary: str, act: Callable[[Studio, str], None]) -> None:
        async def execute(name: str) -> JsonObject:
            await in_thread(act, studio, name)
            return await in_thread(lambda: studio.runs_feed.summary(name))

        router.add_api_route(f"/runs/{{name}}/{word}", execute, methods=["POST"], summary=summary, name=word)

    command("pause", "Pause a run after the current update", _trainer_command("pause"))
    command("step", "Make one update of a paused run", _trainer_command("step"))
    command("save", "Save a checkpoint of a run now", _trainer_command("save"))
    command("resume", "Continue a paused run, or restart the trainer of a stopped one", _resume)
    command(
        "stop",
        "Stop a run after it has saved a checkpoint",
        lambda studio, name: studio.trainers.stop(studio.shelf.run(name)),
    )

    @router.post("/runs/{name}/continue", summary="Continue a run that was stopped, has failed or is finished")
    async def continue_run(name: str, longer: Longer | None = None) -> JsonObject:
        await in_thread(_continue, studio, name, longer.steps if longer else None)
        return await in_thread(lambda: studio.runs_feed.summary(name))

    @router.post("/runs/{name}/evaluate", status_code=202, summary="Evaluate the agent of a run as a job")
    async def evaluate(name: str, trial: Trial) -> dict[str, str]:
        from ludus.studio import contests

        return {"job": (await in_thread(contests.evaluate, studio, name, trial)).id}


def _trainer_command(word: Literal["pause", "step", "save"]) -> Callable[[Studio, str], None]:
    return lambda studio, name: studio.trainers.send(studio.shelf.run(name), word)


def _resume(studio: Studio, name: str) -> None:
    from ludus.training import control

    folder = studio.shelf.run(name)
    if control.state_of(folder).status in ("training", "paused"):
        studio.trainers.send(folder, "go")
    else:
        _continue(studio, name, None)


def _continue(studio: Studio, name: str, steps: int | None) -> None:
    from ludus.studio import bundles, trainers

    folder = studio.shelf.run(name)
    bundles.check_whole(folder)
    studio.trainers.start(folder, trainers.continued(folder, steps))


def _storage(router: APIRouter, studio: Studio) -> None:
    @router.patch("/runs/{name}", summary="Give a run a title and tags")
    async def note(name: str, notes: Notes) -> JsonObject:
        from ludus.studio import details

        await in_thread(details.note, studio, name, notes.title, notes.tags)
        return await in_thread(lambda: studio.runs_feed.summary(name))

    @router.delete("/runs/{name}", summary="Delete a run permanently; confirm must repeat its name")
    async def delete(name: str, confirm: str = "") -> dict[str, str]:
        folder = await in_thread(lambda: studio.shelf.run(name))
        if confirm != name:
            raise Refusal(f'confirm must repeat the name of the run, "{name}"', 409, "confirm")
        await in_thread(lambda: studio.trainers.remove(folder))
        await in_thread(lambda: studio.shelf.forget(name))
        return {"deleted": name}

    @router.get("/runs/{name}/export", summary="The agent of a checkpoint as a zip that another studio can import")
    async def export(name: str, checkpoint: str = Query("newest", max_length=20)) -> Response:
        from ludus.studio import bundles

        data, title = await in_thread(bundles.exported, studio, name, checkpoint)
        headers = {"content-disposition": f'attachment; filename="{title}.zip"'}
        return Response(data, media_type="application/zip", headers=headers)

    @router.post("/agents", status_code=201, summary="Import an agent; the body is a zip made by export")
    async def import_agent(request: Request) -> dict[str, str]:
        from ludus.studio import bundles

        data = await limited(request.stream().__anext__, LARGEST_AGENT)
        return {"run": (await in_thread(bundles.imported, studio, data)).name}


async def limited(more: Callable[[], Awaitable[bytes]], most: int) -> bytes:
    """Read a body of at most `most` bytes within two minutes; raises Refusal otherwise."""
    parts, size = list[bytes](), 0
    try:
        async with asyncio.timeout(120):
            while True:
                parts.append(await more())
                size += len(parts[-1])
                if size > most:
                    raise Refusal(f"the body is larger than {most // 2**20} MB, the limit for an agent", 413)
    except StopAsyncIteration:
        return b"".join(parts)
    except TimeoutError:
        raise Refusal("the agent did not arrive in time; send it again", 408) from None
