"""The studio's version, its games, their agents, and the forms with the settings of training runs."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from ludus.studio import Studio
from ludus.studio.api.answers import in_thread
from ludus.types import JsonObject


class Typed(BaseModel):
    """Settings as typed into a form."""

    algorithm: str | None = Field(None, max_length=100)
    values: JsonObject = Field(default_factory=dict, max_length=300)


def routes(studio: Studio) -> APIRouter:
    router = APIRouter(prefix="/api", tags=["games"])

    @router.get("/studio", summary="The version of this studio, and an id that is new at each start")
    async def this_studio() -> JsonObject:
        return {"version": studio.version, "boot": studio.boot, "deep": studio.deep, "out": str(studio.out)}

    @router.get("/games", summary="All games, with their parameters and the algorithms that can learn them")
    async def list_games() -> JSONResponse:
        return JSONResponse(await in_thread(lambda: studio.shelf.games()))

    @router.get("/games/{name}/agents", summary="The agents that can play a game: built-in agents, search, and runs")
    async def list_agents(name: str) -> list[JsonObject]:
        return [offer._asdict() for offer in await in_thread(lambda: studio.shelf.agents(name))]

    @router.get("/forms/{game}", summary="All settings of a training run, with their defaults for the game")
    async def form(game: str, algorithm: str | None = None) -> JsonObject:
        return await in_thread(_form, game, algorithm)

    @router.post("/forms/{game}/check", summary="Check settings without starting a run; returns errors by field")
    async def check(game: str, typed: Typed) -> dict[str, dict[str, str]]:
        return {"errors": await in_thread(_errors, game, typed)}

    return router


def _form(game: str, algorithm: str | None) -> JsonObject:
    from ludus.studio import forms

    return forms.form(game, algorithm)


def _errors(game: str, typed: Typed) -> dict[str, str]:
    from ludus.studio import forms

    return forms.errors(game, typed.algorithm, typed.values)
