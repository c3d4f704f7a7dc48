"""The dashboard: plain HTTP addresses to watch one game as a video, to control it, and to train an agent for it.

It serves the first game whose module declares `DASHBOARD`, the name of the algorithm that trains it, with the same
rooms, runs and checkpoints as the rest of the studio. Pictures are encoded once for all viewers, and only while there
are any.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from ludus.studio import Studio
from ludus.studio.api.answers import in_thread
from ludus.studio.refusal import Refusal, unknown
from ludus.types import Array, JsonObject, LudusError

if TYPE_CHECKING:
    from ludus.studio.rooms import Room
    from ludus.studio.rooms.stage import Frame

PREFERRED = ("dreamer", "scripted", "random")
"""agents that play until a run has a checkpoint, in order of preference"""
BOUNDARY = b"frame"
FPS, QUALITY, WIDTH = 20, 70, 640
MOST_VIEWERS = 50
SHOWN = 100
"""maximum number of rewards and of losses that are sent"""
LOSSES = ("loss", "model_loss", "consistency_loss", "reward_loss", "value_loss", "actor_loss")


class Dashboard:
    """One game: its room, the run that trains it, and the viewers of its video."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.lock = studio, threading.Lock()
        self.room: Room | None = None
        self.chosen = ""
        """the agent that was loaded; empty for that of the newest run"""
        self.viewers = 0
        self.picture = b""
        self.fresh = asyncio.Condition()
        self.task: asyncio.Task[None] | None = None

    # These methods block, so they are called in threads.

    @functools.cached_property
    def served(self) -> tuple[str, str]:
        """The game that is served, and the algorithm that trains it."""
        offered = [(game["name"], game["dashboard"]) for game in self.studio.shelf.games() if game["dashboard"]]
        if not offered:
            raise Refusal("no game module declares DASHBOARD, the name of the algorithm that trains the game", 404)
        return offered[0]

    def open_room(self) -> Room:
        """The room of the game, made on first use."""
        with self.lock:
            if self.room is None:
                self.room = self.studio.rooms.create(self.served[0], [self.agent()])
            return self.room

    def runs(self) -> list[JsonObject]:
        """The runs of the game, the newest last."""
        game = self.served[0]
        return [one for one in self.studio.runs_feed.summaries() if one["game"].partition("(")[0] == game]

    def run(self) -> JsonObject | None:
        """The newest run of the game by its algorithm."""
        return next((one for one in reversed(self.runs()) if one["algorithm"] == self.served[1]), None)

    def agent(self) -> str:
        """The agent that plays: the one that was loaded, else the newest run with a checkpoint, else a built-in one."""
        run = self.run()
        if self.chosen or (run and run["checkpoints"]):
            return self.chosen or f"run:{run['name'] if run else ''}"
        offers = [offer.name for offer in self.studio.shelf.agents(self.served[0])]
        return next(name for name in PREFERRED if name in offers)

    def seat(self) -> None:
        """Seat the agent that should play."""
        room, agent = self.open_room(), self.agent()
        if room.state()["seats"] != [agent]:
            self.command({"do": "set", "seats": [agent]})

    def command(self, message: JsonObject) -> None:
        """Send a command to the room and wait until it is done."""
        self.open_room().command(message).result(timeout=60)

    def start(self) -> JsonObject:
        """Train: continue the newest run, or begin one."""
        run = self.run()
        if run is None or run["status"] == "finished":
            name = self._begin_run()
        else:
            name = run["name"]
            folder = self.studio.shelf.run(name)
            if run["status"] == "paused":
                self.studio.trainers.send(folder, "go")
            elif run["status"] != "training":
                self.studio.trainers.start(folder)
        self.chosen = ""
        with contextlib.suppress(LudusError):  # the game may still be opening; it is not paused then
            self.command({"do": "set", "paused": False})
        return {"status": "started", "run": name}

    def _begin_run(self) -> str:
        from ludus.studio import forms

        return self.studio.trainers.begin(forms.run_of(*self.served, {})).name

    def stop(self) -> JsonObject:
        """Let the trainer save and end, and pause the game."""
        run = self.run()
        if run and run["status"] in ("training", "paused"):
            self.studio.trainers.stop(self.studio.shelf.run(run["name"]))
        self.command({"do": "set", "paused": True})
        return {"status": "stopped"}

    def reset(self) -> JsonObject:
        self.command({"do": "again"})
        return {"status": "reset"}

    def toggle(self) -> JsonObject:
        """Give control to the person, or back to the agent."""
        hands = "agent" if self.open_room().state()["control"] == "person" else "person"
        self.command({"do": "control", "hands": hands})
        return {"manual_control": hands == "person"}

    def control(self, values: JsonObject) -> JsonObject:
        """Set the person's action."""
        action = action_of(values, self.open_room().state()["controls"])
        self.command({"do": "input", "action": action})
        return {"action": action}

    def save(self) -> JsonObject:
        """Let the trainer save now; if none is running, name the newest checkpoint."""
        run = self.run()
        if run is None:
            raise Refusal("nothing has been trained yet; /start starts a run", 409)
        folder = self.studio.shelf.run(run["name"])
        if run["status"] in ("training", "paused"):
            self.studio.trainers.send(folder, "save")
            return {"status": "saving", "run": run["name"]}
        return {"status": "saved", "file": f"{run['name']}@{self.studio.shelf.checkpoint(run['name']).name}"}

    def models(self) -> list[str]:
        """Every checkpoint of every run of the game, the newest of the newest run last."""
        from ludus.agents import checkpoint
        from ludus.training.folder import CHECKPOINTS

        found = [one["name"] for one in self.runs()]
        runs = {name: checkpoint.list_checkpoints(self.studio.shelf.run(name) / CHECKPOINTS) for name in found}
        return [f"{name}@{path.name}" for name, paths in runs.items() for path in paths]

    def load(self, file: str) -> JsonObject:
        if file not in self.models():
            raise unknown("model", file, "; /list_models lists all models")
        self.chosen = f"run:{file}"
        self.seat()
        return {"status": "loaded", "file": file}

    def stats(self) -> JsonObject:
        """Rewards, losses and the state of the game."""
        from ludus.studio import metrics

        run, state = self.run(), self.open_room().state()
        columns = metrics.columns_of(self.studio.shelf.run(run["name"])) if run else {}
        loss = next((columns[name] for name in LOSSES if name in columns), None)
        returns = _last(columns.get("episode_return")) or list(state["score"]["returns"])
        scores = _last(columns.get("score")) or returns
        noise = _last(columns.get("exploration_noise"))
        facts = {
            "episode_rewards": returns,
            "training_losses": _last(loss),
            "exploration_rate": noise[-1] if noise else 0.0,
        }
        facts |= {"running": bool(run and run["status"] == "training"), "manual_control": state["control"] == "person"}
        facts |= {
            "best_progress": max(scores, default=0.0),
            "reward": returns[-1] if returns else 0.0,
        }
        facts |= {"run": run["name"] if run else None, "status": run["status"] if run else "new"}
        facts |= {"done": state["over"]}
        return facts | {"episodes": state["score"]["games"], "steps": run["steps"] if run else 0}

    # The video, in the event loop.

    def on_message(self, message: JsonObject) -> None:
        """Ignored: `stats` reads the state of the room when it is requested."""

    def on_frame(self, frame: Frame) -> None:
        """Ignored: the video has its own frame rate."""

    async def video(self) -> AsyncIterator[bytes]:
        """The parts of an endless response, one for each picture."""
        if self.viewers >= MOST_VIEWERS:
            raise Refusal(f"the video already has {MOST_VIEWERS} viewers, the maximum; try again later", 503)
        await in_thread(self.open_room)
        return self._parts()

    async def _parts(self) -> AsyncIterator[bytes]:
        self.viewers += 1
        try:
            if self.task is None or self.task.done():
                self.task = asyncio.create_task(self._draw_pictures())
            while True:
                async with self.fresh:
                    await self.fresh.wait()
                head = b"--%b\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % (BOUNDARY, len(self.picture))
                yield head + self.picture + b"\r\n"
        finally:
            self.viewers -= 1

    async def _draw_pictures(self) -> None:
        """Draw pictures while there are viewers."""
        room = await in_thread(self.open_room)
        await in_thread(room.attach, self)
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
            await in_thread(room.detach, self)

    def jpeg(self) -> bytes:
        from ludus.rendering import images

        room, buffer = self.open_room(), io.BytesIO()
        frame = tuple(room.state()["frame"])
        images.image(room.shapes(), frame, WIDTH / frame[0]).save(buffer, "JPEG", quality=QUALITY)
        return buffer.getvalue()


def _last(column: Array | None) -> list[float]:
    """The last finite numbers of a column."""
    from ludus.studio.metrics import to_json

    return [value for value in to_json(column) if value is not None][-SHOWN:] if column is not None else []


def routes(studio: Studio) -> APIRouter:
    router, dashboard, both = APIRouter(tags=["dashboard"]), Dashboard(studio), ["GET", "POST"]

    @router.get("/video_feed", summary="The game as a video (MJPEG)", response_class=StreamingResponse)
    async def video_feed() -> StreamingResponse:
        kind = f"multipart/x-mixed-replace; boundary={BOUNDARY.decode()}"
        return StreamingResponse(await dashboard.video(), media_type=kind, headers={"cache-control": "no-store"})

    def plain(path: str, summary: str, work: Callable[[], object], methods: list[str]) -> None:
        async def answer() -> object:
            return await in_thread(work)

        for method in methods:
            identity = f"{path[1:]}_{method.lower()}"
            router.add_api_route(path, answer, methods=[method], summary=summary, operation_id=identity)

    plain("/start", "Train: begin a run, or continue the newest", dashboard.start, both)
    plain("/stop", "Stop training, save, and pause the game", dashboard.stop, both)
    plain("/reset", "Begin a new game", dashboard.reset, both)
    plain("/toggle_control", "Give control to the person, or back to the agent", dashboard.toggle, both)
    plain("/save_model", "Save what was learned so far", dashboard.save, both)
    plain("/list_models", "Every saved model", lambda: {"models": dashboard.models()}, ["GET"])
    plain("/stats", "Rewards, losses and the state of the game", dashboard.stats, ["GET"])

    @router.get("/control", summary="Set the person's action, by the names of the controls")
    @router.post("/control", summary="Set the person's action, by the names of the controls, also as JSON")
    async def control(request: Request) -> JsonObject:
        return await in_thread(dashboard.control, await parameters_of(request))

    @router.get("/load_model", summary="Let a saved model play")
    @router.post("/load_model", summary="Let a saved model play")
    async def load_model(file: str) -> JsonObject:
        return await in_thread(dashboard.load, file)

    return router


async def parameters_of(request: Request) -> JsonObject:
    """The parameters of the address, and those of a JSON body if there is one."""
    found: JsonObject = dict(request.query_params)
    if request.method == "POST" and await request.body():
        try:
            body = await request.json()
        except ValueError:
            raise Refusal("the body is not JSON; send numbers by the names of the controls", 422) from None
        found |= body if isinstance(body, dict) else {"action": body}
    return found


def action_of(values: JsonObject, controls: list[JsonObject]) -> list[float]:
    """The action from {"action": [numbers]}, or from numbers by the names of the controls; the others are neutral."""
    action = values.get("action", [values.get(one["name"], one["neutral"]) for one in controls])
    try:
        numbers = [float(one) for one in action]
    except (TypeError, ValueError):
        numbers = []
    pairs = list(zip(numbers, controls, strict=False))
    if len(numbers) != len(controls) or not all(one["low"] <= number <= one["high"] for number, one in pairs):
        ranges = ", ".join(f"{one['name']} from {one['low']:g} to {one['high']:g}" for one in controls)
        raise Refusal(f"an action of this game is {ranges}", 422, "action")
    return numbers
