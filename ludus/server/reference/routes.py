"""The routes of /v0; everything else is in `service`."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from ludus.server.reference import requests as r
from ludus.server.reference.service import Duels, Settings
from ludus.server.service import Service

JSON = "application/json"
NAMED = (r.PredictRequest, r.PredictResponse, r.CreateResponse, r.ErrorResponse)


def routes(service: Service, settings: Settings = Settings()) -> APIRouter:  # noqa: B008
    """The router of /v0; raises LudusError for a code list that cannot be read."""
    duels, router = Duels(service, settings), APIRouter(prefix="/v0", tags=["reference API"])

    @router.post("/duels", responses=_answers("CreateResponse"), response_class=Response)
    async def create_duel(model: str = "") -> Response:
        """Start a duel. `model` is an addition of Ludus: which of several served agents plays."""
        return Response(await duels.create(model), media_type=JSON)

    @router.delete("/duels/{duelId}", status_code=204, response_class=Response)
    async def delete_duel(duelId: str) -> Response:  # noqa: N803
        """Forget a duel; an unknown one is no error."""
        await duels.delete(duelId)
        return Response(status_code=204, media_type=JSON)

    @router.post(
        "/duels/{duelId}/predict", response_class=Response,
        responses=_answers("PredictResponse", "ErrorResponse") | {422: {"description": "Validation Error"}},
        openapi_extra={"requestBody": {"required": True, "content": {JSON: {"schema": SCHEMAS["PredictRequest"]}}}},
    )  # fmt: skip
    async def duel_predict(duelId: str, request: Request) -> Response:  # noqa: N803
        """The probabilities of the legal actions. Errors of the duel have status 200 and the field `error`."""
        try:
            asked = r.read(await request.body())
        except r.InvalidError as invalid:
            return JSONResponse({"detail": invalid.detail}, 422)
        return Response(await duels.predict(duelId, asked), media_type=JSON)

    return router


def _schemas() -> dict[str, Any]:
    """JSON Schemas of requests and answers, without references, by name."""
    schemas, components = msgspec.json.schema_components(NAMED, ref_template="{name}")
    return {kind.__name__: _inlined(schema, components) for kind, schema in zip(NAMED, schemas, strict=True)}


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    """A schema with every reference replaced by what it refers to; no schema here is recursive."""
    if isinstance(schema, list):
        return [_inlined(part, components) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(components[schema["$ref"]], components)
    # The mapping of a discriminator would refer to components by name.
    return {key: _inlined(part, components) for key, part in schema.items() if key != "discriminator"}


SCHEMAS = _schemas()


def _answers(*names: str) -> dict[int | str, dict[str, Any]]:
    """The description of the answers with status 200."""
    schemas = [SCHEMAS[name] for name in names]
    content = {JSON: {"schema": {"anyOf": schemas} if len(schemas) > 1 else schemas[0]}}
    return {200: {"description": "Successful Response", "content": content}}
