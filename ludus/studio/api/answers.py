"""How routes respond: blocking work runs in threads, errors become JSON with a message."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ludus.types import JsonObject, LudusError

log = logging.getLogger("ludus.studio")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
WORDS = {404: "there is nothing at this address", 405: "this address does not support this HTTP method"}


async def in_thread(work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Run work that blocks or computes in a thread, so that the event loop does not wait."""
    return await anyio.to_thread.run_sync(lambda: work(*args, **kwargs))


def sentence(status: int, text: str, field: str | None = None) -> JSONResponse:
    return JSONResponse({"sentence": text, "field": field}, status, headers={"cache-control": "no-store"})


def answer_errors(app: FastAPI) -> None:
    """Turn every exception of a route into a JSON response with a message."""
    app.add_exception_handler(LudusError, _ludus_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _internal_error)


async def _ludus_error(request: Request, error: Exception) -> JSONResponse:
    return sentence(getattr(error, "status", 400), str(error), getattr(error, "field", None))


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return sentence(422, *message_of(error.errors()[0]))


def message_of(error: JsonObject) -> tuple[str, str | None]:
    """The message for a validation error, and the field it is about."""
    place = [str(part) for part in error["loc"] if part not in ("body", "query", "path")]
    field = ".".join(place) or None
    what = error["msg"][:1].lower() + error["msg"][1:]
    if error["type"] == "json_invalid":
        return "the body is not valid JSON; send a JSON object", None
    if error["type"] == "missing":
        return (f"{field} is missing" if field else "the request has no body; send a JSON object"), field
    return (f"{field}: {what}" if field else what), field


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return sentence(error.status_code, WORDS.get(error.status_code, str(error.detail)))


async def _internal_error(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s", request.method, request.url.path, exc_info=error)
    return sentence(500, "internal error in the studio; its terminal shows the details")
