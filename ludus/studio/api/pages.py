"""Static files of the page, cached in memory with gzip and ETags."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import mimetypes
import threading
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

from ludus.studio import Studio
from ludus.studio.api.answers import in_thread
from ludus.studio.refusal import Refusal, unknown

STATIC = Path(__file__).parents[1] / "static"
VENDOR = ("uPlot.iife.js", "uPlot.min.css")
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
TYPES |= {".json": "application/json", ".webmanifest": "application/manifest+json"}


class Stored(NamedTuple):
    """A file with its compressed form and headers."""

    stamp: tuple[int, int]
    body: bytes
    packed: bytes | None
    """the body compressed with gzip; None for files that are not text"""
    type: str
    tag: str


class Files:
    """The files of a folder by relative path; only listed files are served, never symbolic links."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.kept, self.lock = folder, dict[str, Stored](), threading.Lock()
        self.paths = self._listed()

    def get(self, name: str) -> Stored | None:
        """The file of this name, read again if it has changed; None if there is none."""
        if name not in self.paths or not self.paths[name].is_file():
            self.paths = self._listed()
        path = self.paths.get(name)
        if path is None:
            return None
        facts = path.stat()
        stamp = (facts.st_mtime_ns, facts.st_size)
        with self.lock:
            if name not in self.kept or self.kept[name].stamp != stamp:
                self.kept[name] = stored(path.suffix, path.read_bytes(), stamp)
            return self.kept[name]

    def _listed(self) -> dict[str, Path]:
        real = [path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()]
        return {path.relative_to(self.folder).as_posix(): path for path in real}


def stored(suffix: str, body: bytes, stamp: tuple[int, int] = (0, 0)) -> Stored:
    kind = TYPES.get(suffix) or mimetypes.guess_type(f"a{suffix}")[0] or "application/octet-stream"
    text = kind.startswith("text/") or suffix in TYPES
    packed = gzip.compress(body, 9, mtime=0) if text else None
    tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    return Stored(stamp, body, packed, f"{kind}; charset=utf-8" if text else kind, tag)


def answer(request: Request, file: Stored) -> Response:
    """The file, or status 304 if the browser already has it."""
    headers = {"etag": file.tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if file.tag in known:
        return Response(status_code=304, headers=headers)
    if file.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, media_type=file.type, headers=headers | {"content-encoding": "gzip"})
    return Response(file.body, media_type=file.type, headers=headers)


def routes(studio: Studio) -> APIRouter:
    router, static, vendor = APIRouter(include_in_schema=False), Files(STATIC), Files(_vendor_folder())

    @router.api_route("/", methods=["GET", "HEAD"])
    async def page(request: Request) -> Response:
        return await _file(request, static, "index.html")

    @router.get("/reference")
    async def reference(request: Request) -> Response:
        return await _file(request, static, "reference.html")

    @router.get("/static/pictures/{game}.webp")
    async def picture(request: Request, game: str) -> Response:
        file = await in_thread(static.get, f"pictures/{game}.webp")
        return answer(request, file or stored(".webp", await in_thread(lambda: studio.shelf.picture(game))))

    @router.get("/static/{name:path}")
    async def static_file(request: Request, name: str) -> Response:
        return await _file(request, static, name)

    @router.get("/vendor/uplot/{name}")
    async def vendor_file(request: Request, name: str) -> Response:
        if name not in VENDOR:
            raise unknown("file", name)
        if not vendor.folder.is_dir():
            raise Refusal("charts need the uPlot package; install it: pip install 'ludus[studio]'", 404)
        return await _file(request, vendor, name)

    return router


async def _file(request: Request, files: Files, name: str) -> Response:
    file = await in_thread(files.get, name)
    if file is None:
        raise unknown("file", name)
    return answer(request, file)


def _vendor_folder() -> Path:
    found = importlib.util.find_spec("uplot")
    return Path(found.origin).parent / "static" if found and found.origin else Path("/nonexistent")
