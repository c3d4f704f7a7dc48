"""Routes for operators: whether the server is alive and ready, metrics, and the documentation."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from ludus.server.api.documentation import answers, page
from ludus.server.metrics import Metrics
from ludus.server.problems import Problem
from ludus.server.service import Service

PLAIN = "text/plain"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def routes(service: Service, metrics: Metrics) -> APIRouter:
    router = APIRouter(tags=["operations"])

    @router.get("/", summary="Answers OK", response_class=Response, responses=answers(None, "OK", media=PLAIN))
    async def root() -> Response:
        return Response("OK", media_type=PLAIN)

    @router.get("/healthz", summary="Whether the process is alive", response_class=Response,
                responses=answers(None, "alive", media=PLAIN))  # fmt: skip
    async def alive() -> Response:
        return Response("alive", media_type=PLAIN)

    @router.get("/readyz", summary="Whether all models are loaded and compiled", response_class=Response,
                responses=answers(None, "ready", media=PLAIN))  # fmt: skip
    async def ready() -> Response:
        if not service.ready:
            raise Problem(503, "not_ready", "the models are being loaded and compiled", retry_after=1)
        return Response("ready", media_type=PLAIN)

    @router.get("/metrics", summary="Metrics for Prometheus", response_class=Response,
                responses=answers(None, media=PLAIN))  # fmt: skip
    async def numbers() -> Response:
        return Response(metrics.page(await service.store.counts()), media_type=CONTENT_TYPE_LATEST)

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        headers = {"content-security-policy": POLICY}
        return Response(page(request.app.openapi()), 200, headers, "text/html; charset=utf-8")

    return router
