"""Rooms, where games are watched and played, and saved replays."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from ludus.studio import Studio
from ludus.studio.api.answers import in_thread
from ludus.studio.refusal import Refusal
from ludus.types import JsonObject, LudusError

if TYPE_CHECKING:
    from ludus.studio.rooms import Room


class NewRoom(BaseModel):
    """The game and its players: an agent's name or "person" for each seat."""

    game: str = Field(max_length=500)
    seats: list[str] = Field(default_factory=list, max_length=64)
    seed: int | None = Field(None, ge=0, lt=2**63)
    swarm: int = Field(1, ge=1, le=4096)


class Lesson(BaseModel):
    """The run that learns from a demonstration."""

    run: str = Field(max_length=500)


def routes(studio: Studio) -> APIRouter:
    router = APIRouter(prefix="/api", tags=["rooms"])
    _rooms(router, studio)
    _replays(router, studio)
    return router


def _rooms(router: APIRouter, studio: Studio) -> None:
    @router.post("/rooms", status_code=201, summary="Open a room for a game")
    async def open_room(body: NewRoom) -> dict[str, str]:
        make = lambda: studio.rooms.create(body.game, body.seats, seed=body.seed, swarm=body.swarm)  # noqa: E731
        room = await in_thread(make)
        return {"room": room.id}

    @router.get("/rooms/{name}", summary="The state of a room")
    async def room_state(name: str) -> JsonObject:
        return await in_thread(lambda: room_of(studio, name).state())

    @router.post("/rooms/{name}/replay", summary="Save the game of a room as a replay")
    async def keep_replay(name: str) -> dict[str, str]:
        from ludus.studio import archive

        return {"replay": await in_thread(lambda: archive.keep(studio, room_of(studio, name).replay()))}

    @router.post("/rooms/{name}/demonstration", summary="Add the game of a room to the demonstrations of a run")
    async def demonstrate(name: str, body: Lesson) -> dict[str, str]:
        return {"demonstration": await in_thread(_add_demonstration, studio, name, body.run)}

    @router.get("/rooms/{name}/picture.png", summary="The current picture of a room")
    async def picture(name: str) -> Response:
        data = await in_thread(_png, studio, name)
        return Response(data, media_type="image/png", headers={"cache-control": "no-store"})


def room_of(studio: Studio, name: str) -> Room:
    """The room of this name; raises Refusal with status 404 if there is none."""
    try:
        return studio.rooms.get(name)
    except LudusError as error:
        raise Refusal(str(error), 404) from None


def _add_demonstration(studio: Studio, name: str, run: str) -> str:
    from ludus.training import config, demonstrations
    from ludus.training.folder import SETTINGS

    folder = studio.shelf.run(run)
    return demonstrations.show(folder, config.read(folder / SETTINGS), room_of(studio, name).replay()).stem


def _png(studio: Studio, name: str) -> bytes:
    from ludus.rendering import images

    room, buffer = room_of(studio, name), io.BytesIO()
    images.image(room.shapes(), tuple(room.state()["frame"])).save(buffer, "PNG")
    return buffer.getvalue()


def _replays(router: APIRouter, studio: Studio) -> None:
    @router.get("/replays", summary="All saved replays, newest first")
    async def list_replays() -> list[JsonObject]:
        from ludus.studio import archive

        return await in_thread(archive.listed, studio.out)

    @router.get("/replays/{name}", summary="A replay with its moves")
    async def one_replay(name: str) -> JsonObject:
        from ludus.studio import archive

        return await in_thread(archive.details, studio.out, name)

    @router.get(
        "/replays/{name}/frames", summary="All pictures of a replay in the socket's frame format, each with its length"
    )
    async def replay_frames(name: str) -> Response:
        from ludus.studio import archive

        data = await in_thread(archive.frames, studio.out, name)
        return Response(data, media_type="application/octet-stream", headers={"cache-control": "no-cache"})

    @router.delete("/replays/{name}", summary="Delete a replay permanently")
    async def delete_replay(name: str) -> dict[str, str]:
        from ludus.studio import archive

        path = await in_thread(archive.path_of, studio.out, name)
        await in_thread(lambda: path.unlink(missing_ok=True))
        return {"deleted": name}
