"""Problems as application/problem+json, for routes, for the act handler and for WebSockets."""

from __future__ import annotations

import http
import logging

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ludus.server.access import Refused
from ludus.server.encoding import PROBLEM
from ludus.server.problems import Problem
from ludus.types import JsonObject, LudusError

log = logging.getLogger("ludus.server")
WORDS = {
    404: ("not_found", "there is nothing at this address; /docs lists all addresses"),
    405: ("method_not_allowed", "this address does not support this HTTP method"),
}


def problem_of(error: BaseException) -> Problem:
    """The problem for any error; a bug is logged and becomes status 500."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, Refused):
        return Problem(error.status, error.code, error.sentence)
    if isinstance(error, LudusError):
        return Problem(422, "invalid", str(error))
    if isinstance(error, RequestValidationError):
        return Problem(422, "invalid", _message(error.errors()[0]))
    if isinstance(error, HTTPException):
        code, words = WORDS.get(error.status_code, ("http_error", str(error.detail)))
        allowed = (error.headers or {}).get("Allow")
        return Problem(error.status_code, code, words, **({"allow": allowed} if allowed else {}))
    log.error("internal error", exc_info=error)
    return Problem(500, "internal_error", "internal error of the server; its log shows the details")


def _message(error: JsonObject) -> str:
    place = ".".join(str(part) for part in error["loc"][1:])
    return f"{place}: {error['msg'][:1].lower()}{error['msg'][1:]}"[:300]


def facts(problem: Problem) -> JsonObject:
    """A problem as it is sent (RFC 9457)."""
    title = http.HTTPStatus(problem.status).phrase
    fixed = {"type": f"urn:ludus:problem:{problem.code}", "title": title, "status": problem.status}
    fixed |= {"detail": problem.detail, "code": problem.code}
    return {**fixed, **problem.more, **fixed}


def headers_for(problem: Problem) -> dict[str, str]:
    """The headers of a problem besides its content type."""
    headers = {"cache-control": "no-store"}
    if problem.status in (429, 503):
        headers["retry-after"] = str(problem.more.get("retry_after", 1))
    if "allow" in problem.more:
        headers["allow"] = str(problem.more["allow"])
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    if problem.status in (408, 413):
        headers["connection"] = "close"  # the rest of the body is not read
    return headers


def response(problem: Problem) -> Response:
    return Response(msgspec.json.encode(facts(problem)), problem.status, headers_for(problem), PROBLEM)


def answer_errors(app: FastAPI) -> None:
    """Turn every exception of a route into a problem."""
    for kind in (LudusError, Refused, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _handle)


async def _handle(request: Request, error: Exception) -> Response:
    return response(problem_of(error))
