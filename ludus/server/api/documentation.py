"""The OpenAPI of the server: schemas from the msgspec types, and an example of every request and answer."""

from __future__ import annotations

import html
import json
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from ludus.server.encoding import JSON, MSGPACK, PROBLEM
from ludus.server.messages import Act, Legal, Look, Move, NewGame, NewSession, OpenedGame, Played, State
from ludus.server.model import ModelInfo
from ludus.server.sessions import Answer, SessionInfo
from ludus.types import JsonObject

REFERENCE = "#/components/schemas/"


class ProblemDetails(msgspec.Struct, frozen=True):
    """An error (RFC 9457). `code` is stable; some problems have more fields."""

    type: str
    title: str
    status: int
    detail: str
    code: str


TYPES = (Act, Answer, Legal, Look, ModelInfo, Move, NewGame, NewSession, OpenedGame, Played, ProblemDetails,
         SessionInfo, State)  # fmt: skip
NEW_SESSION = {"model": "cartpole", "seat": 0}
SESSION = {"id": "2JhmPz0kQm1gkq4n", "model": "cartpole", "version": "000000200000", "seat": 0, "index": 0}
ACT = {"index": 0, "observation": {"state": [0.01, -0.02, 0.03, 0.04]}, "mask": [1, 1]}
ANSWER = {"action": 1, "name": "right", "probabilities": [0.2, 0.8], "value": 93.5, "index": 1, "degraded": False}
NEW_GAME = {"game": "connect4", "seats": ["person", "mcts(200)"], "seed": 7}
MOVE = {"move": 0, "seat": 0, "name": "d"}
STATE = {
    "id": "game-5f0c", "game": "tictactoe", "seats": ["person", "perfect"], "move": 0, "turn": [0], "over": False,
    "result": None, "scores": [0.0, 0.0], "hidden": False, "seat": 0, "text": ". . .\n. . .\n. . .",
    "observation": {"board": [0, 0, 0, 0, 0, 0, 0, 0, 0]}, "legal": [{"action": 0, "name": "a3"}], "low": [],
    "high": [], "last": [],
}  # fmt: skip
OPENED = {"id": "game-5f0c", "keys": {"0": "VZ3LwOhZ0bM2dYp1"}, "state": STATE}
PROBLEM_EXAMPLE = {
    "type": "urn:ludus:problem:index_mismatch", "title": "Conflict", "status": 409, "code": "index_mismatch",
    "detail": "this session expects index 4, not 9",
}  # fmt: skip


def answers(
    kind: type | None, example: Any = None, status: int = 200, media: str = JSON
) -> dict[int | str, JsonObject]:
    """The `responses` of a route."""
    schema: JsonObject = {"$ref": REFERENCE + kind.__name__} if kind else {"type": "string"}
    content: JsonObject = {media: {"schema": schema, **({} if example is None else {"example": example})}}
    if kind:
        content[MSGPACK] = {"schema": schema}
    fine = {"description": "Success", **({"content": content} if status != 204 else {})}
    return {status: fine, "default": _problem()}


def _problem() -> JsonObject:
    schema = {"$ref": REFERENCE + ProblemDetails.__name__}
    return {"description": "Error", "content": {PROBLEM: {"schema": schema, "example": PROBLEM_EXAMPLE}}}


def body(kind: type, example: JsonObject) -> JsonObject:
    """The `openapi_extra` of a route with a body."""
    schema = {"$ref": REFERENCE + kind.__name__}
    content = {JSON: {"schema": schema, "example": example}, MSGPACK: {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


def install(app: FastAPI) -> None:
    """Let the application describe itself, including the route that `front` answers."""

    def openapi() -> JsonObject:
        if not app.openapi_schema:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _described(app: FastAPI) -> JsonObject:
    made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    _, components = msgspec.json.schema_components(TYPES, ref_template=REFERENCE + "{name}")
    made.setdefault("components", {}).setdefault("schemas", {}).update(components)
    made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    made["security"] = [{}, {"token": []}]
    made["paths"]["/v1/sessions/{session}/act"] = {"post": _act()}
    return made


def _act() -> JsonObject:
    parameter = {"name": "session", "in": "path", "required": True, "schema": {"type": "string"}}
    responses = {str(status): content for status, content in answers(Answer, ANSWER).items()}
    return {
        "tags": ["sessions"], "summary": "Ask the agent for a decision", "operationId": "act",
        "parameters": [parameter], "description": Act.__doc__, **body(Act, ACT), "responses": responses,
    }  # fmt: skip


def page(schema: JsonObject) -> str:
    """The OpenAPI as one page of HTML without scripts."""
    shown = [_operation(path, method, one) for path, operations in schema["paths"].items()
             for method, one in operations.items()]  # fmt: skip
    schemas = "".join(f"<h3>{name}</h3>{_code(one)}" for name, one in sorted(schema["components"]["schemas"].items()))
    title = f"{html.escape(schema['info']['title'])} {html.escape(schema['info']['version'])}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"><style>body{font:16px/1.5 system-ui;max-width:60rem;'
        "margin:2rem auto;padding:0 1rem;color-scheme:light dark}pre{overflow:auto;padding:.6rem;border:1px solid "
        "#8886;border-radius:6px}</style></head><body>"
        f'<h1>{title}</h1><p>JSON or msgpack over HTTP; <a href="openapi.json">openapi.json</a>. '
        f"Errors are problem+json.</p>{''.join(shown)}<h2>Schemas</h2>{schemas}</body></html>"
    )


def _operation(path: str, method: str, one: JsonObject) -> str:
    words = html.escape(one.get("description") or "")
    parts = [
        f"<h2>{method.upper()} {html.escape(path)}</h2><p><b>{html.escape(one.get('summary', ''))}</b> {words}</p>"
    ]
    examples = [one.get("requestBody", {}), *one["responses"].values()]
    for found in (each.get("content", {}).get(JSON, {}).get("example") for each in examples):
        parts += [_code(found)] if found is not None else []
    return "".join(parts)


def _code(value: object) -> str:
    return f"<pre>{html.escape(json.dumps(value, indent=1))}</pre>"
