"""Routes of agent sessions, in which the caller plays the game. `front` answers `act`."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response, WebSocket

from ludus.server import socket
from ludus.server.api.documentation import NEW_SESSION, SESSION, answers, body
from ludus.server.api.reading import answer, read
from ludus.server.encoding import Codec
from ludus.server.messages import Act, NewSession
from ludus.server.metrics import Metrics
from ludus.server.service import Service
from ludus.server.sessions import Answer, SessionInfo


def routes(service: Service, metrics: Metrics) -> APIRouter:
    router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
    opening, acting = Codec(NewSession), Codec(Act)

    @router.post("", status_code=201, summary="Open a session", responses=answers(SessionInfo, SESSION, 201),
                 openapi_extra=body(NewSession, NEW_SESSION))  # fmt: skip
    async def open_session(request: Request) -> Response:
        wanted = await read(request, opening)
        return answer(request, await service.open_session(wanted.model, wanted.seat, wanted.seed), 201)

    @router.get("/{session}", summary="The state of a session", responses=answers(SessionInfo, SESSION))
    async def session_info(request: Request, session: str) -> Response:
        return answer(request, await service.session(session))

    @router.delete("/{session}", status_code=204, summary="End a session", responses=answers(None, status=204))
    async def close_session(session: str) -> Response:
        await service.close_session(session)
        return Response(status_code=204)

    @router.websocket("/{session}/socket")
    async def session_socket(websocket: WebSocket, session: str) -> None:
        async def act(message: bytes, packed: bool) -> Answer:
            wanted = acting.decode(message, packed)
            return await service.act(session, wanted.index, wanted.observation, wanted.mask)

        await socket.serve(websocket, act, metrics)

    return router
