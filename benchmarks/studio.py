"""The studio under load: size of pages, frame rate, and the cost of watching for training.

python benchmarks/studio.py              # about four minutes on a quiet machine; writes results/studio.json
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import pathlib
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tyro
import websockets
from playwright.sync_api import Browser, Page
from reporting import RESULTS, publish, tell

from ludus import bench
from ludus.bench import Result
from ludus.studio.process import StudioProcess, chromium

CARS, PAGES = 64, 50
ROUTES = ("", "#/train/car", "#/runs", "#/replays", "#/battle")


def main(seconds: float = 20.0, rounds: int = 3, write: bool = True, json: bool = False) -> None:
    """Measure the studio.

    Args:
        seconds: Length of each measurement of frames or steps.
        rounds: Number of measurements of training with and without a page, alternating.
        write: Save the result in benchmarks/results.
        json: Print one JSON object instead of a table.
    """
    with tempfile.TemporaryDirectory() as folder, StudioProcess(pathlib.Path(folder)) as studio, chromium() as browser:
        results = [*loading(studio, browser)]
        run = studio.post("/api/runs", {"game": "car", "algorithm": "ppo", "values": {"steps": 10**9}})["run"]
        try:
            studio.wait(f"/api/runs/{run}", lambda facts: len(facts["checkpoints"]) > 0, "there is a checkpoint", 300)
            results += [*costs(studio, browser, run, seconds, rounds), *crowd(studio, run, seconds)]
            results += [*smoothness(studio, browser, run, seconds)]
        finally:
            os.kill(_json(pathlib.Path(folder) / run / "trainer.json")["pid"], signal.SIGKILL)
    document = bench.as_json(results) | {"settings": {}}
    publish(document, RESULTS / "studio.json" if write else None, json)


def loading(studio: StudioProcess, browser: Browser) -> Iterator[Result]:
    """Bytes and first paint of the gallery, and bytes of all pages, as transferred and decompressed."""
    tell("size and first paint of pages")
    page = browser.new_page()
    finished: dict[str, Any] = {}
    page.on("requestfinished", lambda request: finished.setdefault(request.url, request))
    weights: dict[str, tuple[int, int]] = {}
    _load(page, studio.url, finished, weights)
    yield from _weighed("gallery", weights)
    for route in ROUTES:
        _load(page, f"{studio.url}/{route}", finished, weights)
    yield from _weighed("all_pages", weights)
    page.close()
    yield Result("studio/gallery/first_paint", statistics.median(_first_paint(studio, browser) for _ in range(5)), "ms")


def _load(page: Page, url: str, finished: dict[str, Any], weights: dict[str, tuple[int, int]]) -> None:
    """Open a page and record the sizes of new files; responses of the API are data, not part of the page."""
    page.goto(url)
    page.wait_for_load_state("networkidle")
    for address in [address for address in finished if address not in weights and "/api/" not in address]:
        request = finished[address]
        weights[address] = request.sizes()["responseBodySize"], len(request.response().body())


def _weighed(name: str, weights: dict[str, tuple[int, int]]) -> Iterator[Result]:
    travelled, unpacked = (sum(part) for part in zip(*weights.values(), strict=True))
    yield Result(f"studio/{name}/weight", travelled / 1000, "kB")
    yield Result(f"studio/{name}/weight_unpacked", unpacked / 1000, "kB")


def _first_paint(studio: StudioProcess, browser: Browser) -> float:
    page = browser.new_page()
    page.goto(studio.url)
    page.wait_for_load_state("networkidle")
    script = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    paint: float = page.evaluate(script)
    page.close()
    return paint


def costs(studio: StudioProcess, browser: Browser, run: str, seconds: float, rounds: int) -> Iterator[Result]:
    """The speed of training while 64 cars are watched, relative to its speed alone, alternating in one run."""
    alone, socket, page = [], [], []
    room = _room(studio, run)
    for number in range(rounds):
        tell(f"cost of watching for training, {number + 1} of {rounds}")
        alone.append(_rate(studio, run, seconds))
        socket.append(_apart(_while_watched(studio, run, room, seconds)))
        with _watching_page(studio, browser, room):
            page.append(_rate(studio, run, seconds))
    yield Result("studio/training/alone", statistics.median(alone), "steps/s")
    yield Result("studio/training/watched", statistics.median(socket), "steps/s")
    shares = [watched / before for watched, before in zip(socket, alone, strict=True)]
    yield Result("studio/training/watched_share", statistics.median(shares), "x")
    shares = [watched / before for watched, before in zip(page, alone, strict=True)]
    # The browser runs on the same cores here; users mostly run it on other cores.
    yield Result("studio/training/watched_share_with_browser_on_the_same_cores", statistics.median(shares), "x")


def _apart(work: Any) -> Any:
    """Run a coroutine in another thread, since the browser's event loop runs in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def _room(studio: StudioProcess, run: str) -> str:
    room: str = studio.post("/api/rooms", {"game": "car", "seats": [f"run:{run}"], "swarm": CARS})["room"]
    return room


def _rate(studio: StudioProcess, run: str, seconds: float) -> float:
    before, begun = studio.get(f"/api/runs/{run}")["steps"], time.perf_counter()
    time.sleep(seconds)
    return (studio.get(f"/api/runs/{run}")["steps"] - before) / (time.perf_counter() - begun)


async def _while_watched(studio: StudioProcess, run: str, room: str, seconds: float) -> float:
    async with websockets.connect(studio.url.replace("http", "ws") + "/ws") as socket:
        await socket.send(json.dumps({"do": "watch", "room": room}))
        reading = asyncio.create_task(_read(socket))
        rate = await asyncio.to_thread(_rate, studio, run, seconds)
        reading.cancel()
    return rate


async def _read(socket: Any) -> None:
    async for _ in socket:
        pass


def crowd(studio: StudioProcess, run: str, seconds: float) -> Iterator[Result]:
    """Fifty pages watch the same run: the lowest frame rate of a page, and the longest gap between frames."""
    tell(f"{PAGES} pages watch one run")
    rates, gaps = _apart(_crowd(studio, _room(studio, run), seconds))
    yield Result(f"studio/crowd/{PAGES}/fewest_frames", min(rates), "/s")
    yield Result(f"studio/crowd/{PAGES}/longest_silence", 1000 * max(gaps), "ms")


async def _crowd(studio: StudioProcess, room: str, seconds: float) -> tuple[list[float], list[float]]:
    counted = await asyncio.gather(*(_count(studio, room, seconds) for _ in range(PAGES)))
    return [rate for rate, _ in counted], [gap for _, gap in counted]


async def _count(studio: StudioProcess, room: str, seconds: float) -> tuple[float, float]:
    async with websockets.connect(studio.url.replace("http", "ws") + "/ws") as socket:
        await socket.send(json.dumps({"do": "watch", "room": room}))
        await _frames(socket, 5.0)  # wait until all pages are connected and the agent is loaded
        times = await _frames(socket, seconds)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    return len(times) / seconds, max(gaps, default=seconds)


async def _frames(socket: Any, seconds: float) -> list[float]:
    times: list[float] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            async for message in socket:
                if isinstance(message, bytes):
                    times.append(time.perf_counter())
    return times


def smoothness(studio: StudioProcess, browser: Browser, run: str, seconds: float) -> Iterator[Result]:
    """Frame rate of a page with 64 cars while training runs, and after it was paused."""
    room = _room(studio, run)
    for name in ("while_training", "training_paused"):
        tell(f"frame rate of a page with {CARS} cars, {name.replace('_', ' ')}")
        with _watching_page(studio, browser, room) as page:
            time.sleep(3.0)
            yield Result(f"studio/{CARS}_cars/{name}", _drawn(page, seconds), "fps")
        studio.post(f"/api/runs/{run}/pause")


@contextlib.contextmanager
def _watching_page(studio: StudioProcess, browser: Browser, room: str) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{studio.url}/#/room/{room}")
    deadline = time.monotonic() + 60.0
    while not page.evaluate("window.ludus?.stage?.fps > 0"):  # the page's CSP forbids wait_for_function
        if time.monotonic() > deadline:
            raise TimeoutError("the page did not draw anything within a minute")
        page.wait_for_timeout(200)
    yield page
    page.close()


def _drawn(page: Page, seconds: float) -> float:
    rates = []
    for _ in range(round(seconds)):
        time.sleep(1.0)
        rates.append(page.evaluate("window.ludus.stage.fps"))
    return statistics.median(rates)


def _json(path: pathlib.Path) -> Any:
    return json.loads(path.read_text())


if __name__ == "__main__":
    tyro.cli(main)
