"""Bodies of requests and answers of routes, in JSON or msgpack."""

from __future__ import annotations

from typing import TypeVar

from fastapi import Request, Response

from ludus.server.encoding import Codec, encode, is_packed, wants_packed

Body = TypeVar("Body")


async def read(request: Request, codec: Codec[Body]) -> Body:
    """The checked body of a request."""
    packed = is_packed(request.headers.get("content-type", ""))
    return codec.decode(await request.body(), packed)


def answer(request: Request, value: object, status: int = 200) -> Response:
    """An answer in the format that the request asks for."""
    sent = request.headers.get("content-type", "")
    content, kind = encode(value, wants_packed(request.headers.get("accept", ""), bool(sent) and is_packed(sent)))
    return Response(content, status, {"cache-control": "no-store"}, kind)
