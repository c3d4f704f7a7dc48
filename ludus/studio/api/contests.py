"""Battles between agents, and the jobs that run them."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from ludus.studio import Studio
from ludus.studio.api.answers import in_thread
from ludus.types import JsonObject


class NewBattle(BaseModel):
    """The game, the agents and the number of games of a battle."""

    game: str = Field(max_length=500)
    agents: list[str] = Field(max_length=100)
    games: int = Field(100, ge=2, le=1_000_000)


def routes(studio: Studio) -> APIRouter:
    router = APIRouter(prefix="/api", tags=["jobs"])

    @router.post("/battles", status_code=202, summary="Start a round robin between agents as a job")
    async def fight(body: NewBattle) -> dict[str, str]:
        from ludus.studio import contests

        job = await in_thread(contests.fight, studio, body.game, body.agents, body.games)
        return {"job": job.id}

    @router.get("/jobs", summary="The most recent jobs, oldest first")
    async def list_jobs() -> list[JsonObject]:
        return [job.facts() for job in list(studio.jobs.kept.values())]

    @router.get("/jobs/{name}", summary="The progress of a job, and its result at the end")
    async def get_job(name: str) -> JsonObject:
        return studio.jobs.get(name).facts()

    @router.post("/jobs/{name}/stop", summary="Stop a job")
    async def stop_job(name: str) -> JsonObject:
        job = studio.jobs.get(name)
        job.stop.set()
        return job.facts()

    return router
