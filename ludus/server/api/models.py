"""Routes of models: what is served."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from ludus.server.api.documentation import REFERENCE, answers
from ludus.server.api.reading import answer
from ludus.server.encoding import JSON, MSGPACK
from ludus.server.model import ModelInfo
from ludus.server.problems import Problem
from ludus.server.service import Service


def routes(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1/models", tags=["models"])
    reference = {"$ref": REFERENCE + ModelInfo.__name__}
    schema = {"type": "object", "required": ["models"], "properties": {"models": {"type": "array", "items": reference}}}
    listed = {"description": "Success", "content": {JSON: {"schema": schema}, MSGPACK: {"schema": schema}}}

    @router.get("", summary="All served models", responses={**answers(ModelInfo), 200: listed})
    async def models(request: Request) -> Response:
        return answer(request, {"models": service.describe()})

    @router.get("/{name}", summary="One model", responses=answers(ModelInfo))
    async def model(request: Request, name: str) -> Response:
        found = next((one for one in service.describe() if one.name == name), None)
        if found is None:
            known = ", ".join(service.models)
            raise Problem(404, "model_not_found", f"there is no model of this name; there are {known}")
        return answer(request, found)

    return router
