"""How routes answer: blocking work in threads, errors as sentences."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ludus.types import LudusError

log = logging.getLogger("ludus.studio")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
WORDS = {404: "there is nothing at this address", 405: "this address takes another method"}


async def in_thread(work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """What may wait for a disk or reckon for a while, so that the event loop never does."""
    return await anyio.to_thread.run_sync(lambda: work(*args, **kwargs))


def sentence(status: int, text: str, field: str | None = None) -> JSONResponse:
    return JSONResponse({"sentence": text, "field": field}, status, headers={"cache-control": "no-store"})


def answer_errors(app: FastAPI) -> None:
    """Whatever goes wrong is told in a sentence, and the server lives on."""
    app.add_exception_handler(LudusError, _mendable)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _unexpected)


async def _mendable(request: Request, error: Exception) -> JSONResponse:
    return sentence(getattr(error, "status", 400), str(error), getattr(error, "field", None))


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return sentence(422, *told(error.errors()[0]))


def told(error: Any) -> tuple[str, str | None]:
    """The first thing that is wrong with a request, and the field it is about."""
    place = [str(part) for part in error["loc"] if part not in ("body", "query", "path")]
    field = ".".join(place) or None
    what = error["msg"][:1].lower() + error["msg"][1:]
    if error["type"] == "json_invalid":
        return "the body is not JSON; send an object", None
    if error["type"] == "missing":
        return (f"{field} is missing" if field else "the request lacks its body; send a JSON object"), field
    return (f"{field}: {what}" if field else what), field


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return sentence(error.status_code, WORDS.get(error.status_code, str(error.detail)))


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s", request.method, request.url.path, exc_info=error)
    return sentence(500, "something went wrong in the studio that should not have; its terminal shows what")
