"""Routes of game sessions, in which the server plays the rules and the agents."""

from __future__ import annotations

import io
from typing import Annotated

import anyio.to_thread
import msgspec
from fastapi import APIRouter, Header, Query, Request, Response, WebSocket

from ludus.evaluation import replays
from ludus.rendering import images
from ludus.server import socket
from ludus.server.api.documentation import MOVE, NEW_GAME, OPENED, STATE, answers, body
from ludus.server.api.reading import answer, read
from ludus.server.encoding import Codec
from ludus.server.games import Games
from ludus.server.messages import Look, Move, NewGame, OpenedGame, State
from ludus.server.metrics import Metrics
from ludus.types import Array

SeatNumber = Annotated[int | None, Query(ge=0, lt=64, description="the seat whose view to show")]
SeatKey = Annotated[str, Header(alias="X-Seat-Key", max_length=100, description="needed if the game hides something")]
PICTURES = {"svg": "image/svg+xml", "png": "image/png"}


def routes(games: Games, metrics: Metrics) -> APIRouter:
    router = APIRouter(prefix="/v1/games", tags=["games"])
    opening, moving, looking = Codec(NewGame), Codec(Move), Codec(Look)
    anything = Codec(dict[str, msgspec.Raw])

    @router.post("", status_code=201, summary="Open a game", responses=answers(OpenedGame, OPENED, 201),
                 openapi_extra=body(NewGame, NEW_GAME))  # fmt: skip
    async def open_game(request: Request) -> Response:
        return answer(request, await games.open(await read(request, opening)), 201)

    @router.get("/{game}", summary="The state, as a seat sees it", responses=answers(State, STATE))
    async def state(request: Request, game: str, seat: SeatNumber = None, key: SeatKey = "") -> Response:
        return answer(request, await games.state(game, seat, key))

    @router.post("/{game}/moves", summary="Play a move; then the agents move", responses=answers(State, STATE),
                 openapi_extra=body(Move, MOVE))  # fmt: skip
    async def move(request: Request, game: str, key: SeatKey = "") -> Response:
        wanted = await read(request, moving)
        return answer(request, await games.move(game, _with_key(wanted, key)))

    @router.get("/{game}/picture.svg", summary="The picture as SVG", response_class=Response,
                responses=answers(None, media=PICTURES["svg"]))  # fmt: skip
    async def vector(game: str, seat: SeatNumber = None, key: SeatKey = "") -> Response:
        shapes, frame = await games.scene(game, seat, key)
        return _picture(images.svg(shapes, frame).encode(), "svg")

    @router.get("/{game}/picture.png", summary="The picture as PNG", response_class=Response,
                responses=answers(None, media=PICTURES["png"]))  # fmt: skip
    async def pixels(game: str, seat: SeatNumber = None, key: SeatKey = "") -> Response:
        shapes, frame = await games.scene(game, seat, key)
        return _picture(await anyio.to_thread.run_sync(lambda: _png(shapes, frame)), "png")

    @router.get("/{game}/replay", summary="The game as a file for ludus replay", response_class=Response,
                responses=answers(None, media="application/octet-stream"))  # fmt: skip
    async def replay(game: str) -> Response:
        content = replays.packed(await games.replay(game))
        name = f'attachment; filename="{game}{replays.SUFFIX}"'
        return Response(content, 200, {"content-disposition": name}, "application/octet-stream")

    @router.delete("/{game}", status_code=204, summary="End a game", responses=answers(None, status=204))
    async def delete(game: str, key: SeatKey = "") -> Response:
        await games.delete(game, key)
        return Response(status_code=204)

    @router.websocket("/{game}/socket")
    async def game_socket(websocket: WebSocket, game: str) -> None:
        given = websocket.headers.get("x-seat-key", "")

        async def handle(message: bytes, packed: bool) -> State:
            if "move" in anything.decode(message, packed):
                return await games.move(game, _with_key(moving.decode(message, packed), given))
            look = looking.decode(message, packed)
            return await games.state(game, look.seat, look.key or given)

        await socket.serve(websocket, handle, metrics)

    return router


def _with_key(move: Move, key: str) -> Move:
    return move if move.key else msgspec.structs.replace(move, key=key)


def _picture(content: bytes, kind: str) -> Response:
    # A picture opened as a page must not run scripts.
    headers = {"cache-control": "no-store", "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return Response(content, 200, headers, PICTURES[kind])


def _png(shapes: Array, frame: images.Frame) -> bytes:
    buffer = io.BytesIO()
    images.image(shapes, frame).save(buffer, "PNG")
    return buffer.getvalue()
