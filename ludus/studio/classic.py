"""The small interface of old: one car that is watched as a video, driven or trained by plain addresses.

All of it is done by the same rooms, runs and checkpoints as everything else. Pictures are encoded once for all who
watch, and only while somebody does.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from ludus.studio import Studio
from ludus.studio.api.answers import in_thread
from ludus.studio.refusal import Refusal, unknown
from ludus.types import LudusError

GAME, ALGORITHM = "car", "world_model"
BOUNDARY = b"frame"
FPS, QUALITY, WIDTH = 20, 70, 640
MOST_VIEWERS = 50
SHOWN = 100
"""rewards and losses that are told"""
LOSSES = ("loss", "model_loss", "consistency_loss", "reward_loss", "value_loss", "actor_loss")


class Classic:
    """The one car: its room, the run that trains it, and those who watch."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.lock = studio, threading.Lock()
        self.room: Any = None
        self.chosen = ""
        """the agent that somebody loaded; empty for that of the newest run"""
        self.viewers = 0
        self.picture = b""
        self.fresh = asyncio.Condition()
        self.task: asyncio.Task[None] | None = None

    # What blocks, in threads.

    def open_room(self) -> Any:
        """The room of the car, made on first use."""
        with self.lock:
            if self.room is None:
                self.room = self.studio.rooms.create(GAME, [self.agent()])
            return self.room

    def run(self) -> dict[str, Any] | None:
        """The newest run that learns to drive by a world model."""
        summaries = [one for one in self.studio.runs_feed.summaries() if one["game"].partition("(")[0] == GAME]
        return next((one for one in reversed(summaries) if one["algorithm"] == ALGORITHM), None)

    def agent(self) -> str:
        """Who drives: what was loaded, else the newest run that has learned something, else who comes with the game."""
        run = self.run()
        if self.chosen or (run and run["checkpoints"]):
            return self.chosen or f"run:{run['name'] if run else ''}"
        offers = [offer.name for offer in self.studio.shelf.agents(GAME)]
        return next(name for name in ("dreamer", "scripted", "random") if name in offers)

    def seat(self) -> None:
        """Let the right agent drive."""
        room, agent = self.open_room(), self.agent()
        if room.state()["seats"] != [agent]:
            self.command({"do": "set", "seats": [agent]})

    def command(self, message: dict[str, Any]) -> None:
        """Have the room do something, and wait until it has."""
        self.open_room().command(message).result(timeout=60)

    def start(self) -> dict[str, Any]:
        """Train: go on with the run there is, or begin one."""
        run = self.run()
        if run is None or run["status"] == "finished":
            name = self._begun()
        else:
            name = run["name"]
            folder = self.studio.shelf.run(name)
            if run["status"] == "paused":
                self.studio.trainers.tell(folder, "go")
            elif run["status"] != "training":
                self.studio.trainers.start(folder)
        self.chosen = ""
        with contextlib.suppress(LudusError):  # the game may still be opening; it is not paused then
            self.command({"do": "set", "paused": False})
        return {"status": "started", "run": name}

    def _begun(self) -> str:
        from ludus.studio import forms

        return self.studio.trainers.begin(forms.run_of(GAME, ALGORITHM, {})).name

    def stop(self) -> dict[str, Any]:
        """Let the trainer save and end, and the car stand."""
        run = self.run()
        if run and run["status"] in ("training", "paused"):
            self.studio.trainers.stop(self.studio.shelf.run(run["name"]))
        self.command({"do": "set", "paused": True})
        return {"status": "stopped"}

    def reset(self) -> dict[str, Any]:
        self.command({"do": "again"})
        return {"status": "reset"}

    def toggle(self) -> dict[str, Any]:
        """Hand the wheel over."""
        hands = "agent" if self.open_room().state()["wheel"] == "person" else "person"
        self.command({"do": "wheel", "hands": hands})
        return {"manual_control": hands == "person"}

    def drive(self, action: list[float]) -> dict[str, Any]:
        self.command({"do": "steer", "action": action})
        return {"action": action}

    def save(self) -> dict[str, Any]:
        """Let the trainer save now; where none is at work, the newest checkpoint is what there is."""
        run = self.run()
        if run is None:
            raise Refusal("nothing was trained yet; /start begins", 409)
        folder = self.studio.shelf.run(run["name"])
        if run["status"] in ("training", "paused"):
            self.studio.trainers.tell(folder, "save")
            return {"status": "saving", "run": run["name"]}
        return {"status": "saved", "file": f"{run['name']}@{self.studio.shelf.checkpoint(run['name']).name}"}

    def models(self) -> list[str]:
        """Every checkpoint of every run of the car, the newest of the newest run last."""
        from ludus import checkpoint
        from ludus.runs.folder import CHECKPOINTS

        found = [one["name"] for one in self.studio.runs_feed.summaries() if one["game"].partition("(")[0] == GAME]
        runs = {name: checkpoint.list_checkpoints(self.studio.shelf.run(name) / CHECKPOINTS) for name in found}
        return [f"{name}@{path.name}" for name, paths in runs.items() for path in paths]

    def load(self, file: str) -> dict[str, Any]:
        if file not in self.models():
            raise unknown("model", file, "; /list_models has those that there are")
        self.chosen = f"run:{file}"
        self.seat()
        return {"status": "loaded", "file": file}

    def stats(self) -> dict[str, Any]:
        """How it goes, in the words of old."""
        from ludus.studio import metrics

        run, state = self.run(), self.open_room().state()
        columns = metrics.columns_of(self.studio.shelf.run(run["name"])) if run else {}
        loss = next((columns[name] for name in LOSSES if name in columns), None)
        rewards = columns.get("return")
        told = _last(rewards) or list(state["score"]["returns"])
        scores = _last(columns.get("score")) or told
        noise = _last(columns.get("exploration"))
        facts = {
            "episode_rewards": told,
            "training_losses": _last(loss),
            "exploration_rate": noise[-1] if noise else 0.0,
        }
        facts |= {"running": bool(run and run["status"] == "training"), "manual_control": state["wheel"] == "person"}
        facts |= {"best_progress": max(scores, default=0.0), "reward": told[-1] if told else 0.0, "done": state["over"]}
        facts |= {"run": run["name"] if run else None, "status": run["status"] if run else "new"}
        return facts | {"episodes": state["score"]["games"], "steps": run["steps"] if run else 0}

    # The video, on the event loop.

    def told(self, message: dict[str, Any]) -> None:
        """The room tells of itself; only its picture is wanted."""

    def shown(self, frame: Any) -> None:
        """A new picture, which is drawn when its time comes."""

    async def video(self) -> AsyncIterator[bytes]:
        """Every new picture as a part of an endless answer."""
        if self.viewers >= MOST_VIEWERS:
            raise Refusal(f"{MOST_VIEWERS} watch already; try again later", 503)
        await in_thread(self.open_room)
        return self._parts()

    async def _parts(self) -> AsyncIterator[bytes]:
        self.viewers += 1
        try:
            if self.task is None or self.task.done():
                self.task = asyncio.create_task(self._film())
            while True:
                async with self.fresh:
                    await self.fresh.wait()
                head = b"--%b\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % (BOUNDARY, len(self.picture))
                yield head + self.picture + b"\r\n"
        finally:
            self.viewers -= 1

    async def _film(self) -> None:
        """Draw while somebody watches."""
        await in_thread(self.room.attach, self)
        try:
            seated = 0.0
            while self.viewers:
                begun = time.monotonic()
                if begun - seated > 2.0:
                    seated = begun
                    with contextlib.suppress(LudusError):
                        await in_thread(self.seat)
                self.picture = await in_thread(self.jpeg)
                async with self.fresh:
                    self.fresh.notify_all()
                await asyncio.sleep(max(1 / FPS - (time.monotonic() - begun), 0.005))
        finally:
            await in_thread(self.room.detach, self)

    def jpeg(self) -> bytes:
        from ludus import pictures

        frame = tuple(self.room.state()["frame"])
        buffer = io.BytesIO()
        pictures.image(self.room.shapes(), frame, WIDTH / frame[0]).save(buffer, "JPEG", quality=QUALITY)
        return buffer.getvalue()


def _last(column: Any) -> list[float]:
    """The last numbers of a column, without those that are none."""
    from ludus.studio.metrics import plainly

    return [value for value in plainly(column) if value is not None][-SHOWN:] if column is not None else []


def routes(studio: Studio) -> APIRouter:
    router, classic, both = APIRouter(tags=["classic"]), Classic(studio), ["GET", "POST"]

    @router.get("/video_feed", summary="The car as a video (MJPEG)", response_class=StreamingResponse)
    async def video_feed() -> StreamingResponse:
        kind = f"multipart/x-mixed-replace; boundary={BOUNDARY.decode()}"
        return StreamingResponse(await classic.video(), media_type=kind, headers={"cache-control": "no-store"})

    def plain(path: str, summary: str, work: Any, methods: list[str]) -> None:
        async def answer() -> Any:
            return await in_thread(work)

        for method in methods:
            identity = f"{path[1:]}_{method.lower()}"
            router.add_api_route(path, answer, methods=[method], summary=summary, operation_id=identity)

    plain("/start", "Train the car: begin, or go on", classic.start, both)
    plain("/stop", "Stop training, save, and let the car stand", classic.stop, both)
    plain("/reset", "Begin a new drive", classic.reset, both)
    plain("/toggle_control", "Hand the wheel to the person or back", classic.toggle, both)
    plain("/save_model", "Save what was learned so far", classic.save, both)
    plain("/list_models", "Every saved model", lambda: {"models": classic.models()}, ["GET"])
    plain("/stats", "Rewards, losses and how the car stands", classic.stats, ["GET"])

    @router.get("/control", summary="Steer: steering and throttle from -1 to 1")
    @router.post("/control", summary="Steer: steering and throttle from -1 to 1, also as JSON")
    async def control(request: Request) -> dict[str, Any]:
        action = wanted(await asked(request))
        return await in_thread(classic.drive, action)

    @router.get("/load_model", summary="Let a saved model drive")
    @router.post("/load_model", summary="Let a saved model drive")
    async def load_model(file: str) -> dict[str, Any]:
        return await in_thread(classic.load, file)

    return router


async def asked(request: Request) -> dict[str, Any]:
    """What stands in the address, and in a JSON body if there is one."""
    found: dict[str, Any] = dict(request.query_params)
    if request.method == "POST" and await request.body():
        try:
            body = await request.json()
        except ValueError:
            raise Refusal('the body is not JSON; send {"steering": 0.5, "throttle": 1}', 422) from None
        found |= body if isinstance(body, dict) else {"action": body}
    return found


def wanted(values: dict[str, Any]) -> list[float]:
    """Steering and throttle, as {"steering", "throttle"} or {"action": [steering, throttle]}."""
    action = values.get("action", [values.get("steering", 0.0), values.get("throttle", 0.0)])
    try:
        numbers = [float(one) for one in action]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 2 or not all(-1.0 <= one <= 1.0 for one in numbers):
        raise Refusal("steering and throttle are two numbers from -1 to 1", 422, "action")
    return numbers
