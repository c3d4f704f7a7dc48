"""Screenshots of every page of the studio, in phone and desktop width, light and dark: `make screenshots`."""

from __future__ import annotations

import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

from PIL import Image
from playwright.sync_api import Browser, Page

from ludus.studio.process import StudioProcess, chromium

PICTURES = pathlib.Path(__file__).parent / "pictures" / "studio"
SIZES = {"1280": (1280, 800), "390": (390, 844)}


def main() -> None:
    """Fill a studio with runs, rooms and replays, then take a picture of each page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, StudioProcess(pathlib.Path(folder)) as studio, chromium() as browser:
        routes = fill_studio(studio, browser)
        for theme in ("light", "dark"):
            for width, size in SIZES.items():
                for name, route in routes.items():
                    print(f"{name}, {width} pixels, {theme}", file=sys.stderr, flush=True)
                    take(browser, f"{studio.url}/{route}", PICTURES / f"{name}_{width}_{theme}.webp", size, theme)
        for path in pathlib.Path(folder).glob("*/trainer.json"):
            os.kill(json.loads(path.read_text())["pid"], signal.SIGKILL)


def fill_studio(studio: StudioProcess, browser: Browser) -> dict[str, str]:
    """Start a training run, two finished runs, a replay, a battle and rooms; returns the routes of the pages."""
    request = {"game": "car", "algorithm": "world_model", "values": {}}
    car = studio.post("/api/runs", request)["run"]
    for seed in (1, 2):
        values = {"steps": 3_000_000, "seed": seed}
        run = studio.post("/api/runs", {"game": "tictactoe", "algorithm": "q_learning", "values": values})["run"]
        studio.wait(f"/api/runs/{run}", lambda facts: facts["status"] == "finished", "a run has finished")
    studio.wait(f"/api/runs/{car}", lambda facts: facts["steps"] >= 4000, "the car has trained for 4000 steps", 600)
    rooms = {
        "play": room(studio, "connect4", "person", "mcts(400)"),
        "balatro": room(studio, "balatro(actions=all)", "person"),
        "duel": room(studio, "duel(starts=0)", "person", "greedy"),
        "drive": room(studio, "car(track=7)", f"run:{car}", swarm=1),
        "swarm": room(studio, "car(track=7)", "trained", swarm=64),
    }
    replay = kept_replay(studio, browser)
    prepare_rooms(studio, browser, rooms)
    pages = {
        "gallery": "", "train": "#/train/car", "runs": "#/runs", "run": f"#/run/{car}", "replays": "#/replays",
        "compare": "#/runs?compare=tictactoe-0001,tictactoe-0002", "replay": f"#/replay/{replay}?at=5",
        "battle": f"#/battle?job={finished_battle(studio)}", "reference": "reference",
    }  # fmt: skip
    return pages | {name: f"#/room/{identity}" for name, identity in rooms.items()}


def room(studio: StudioProcess, game: str, *seats: str, swarm: int = 1) -> str:
    identity: str = studio.post("/api/rooms", {"game": game, "seats": list(seats), "seed": 7, "swarm": swarm})["room"]
    return identity


def kept_replay(studio: StudioProcess, browser: Browser) -> str:
    """The replay of a game between two agents."""
    identity = room(studio, "tictactoe", "perfect", "perfect")
    page = open_page(browser, f"{studio.url}/#/room/{identity}", SIZES["1280"], "dark")
    studio.wait(f"/api/rooms/{identity}", lambda room: room["over"], "a game has ended")
    replay: str = studio.post(f"/api/rooms/{identity}/replay")["replay"]
    page.context.close()
    return replay


def finished_battle(studio: StudioProcess) -> str:
    """The job of a finished battle."""
    request = {"game": "tictactoe", "agents": ["perfect", "trained", "mcts(50)", "random"], "games": 40}
    job: str = studio.post("/api/battles", request)["job"]
    studio.wait(f"/api/jobs/{job}", lambda facts: facts["status"] != "running", "a battle has finished", 600)
    return job


def prepare_rooms(studio: StudioProcess, browser: Browser, rooms: dict[str, str]) -> None:
    """Make a few moves in the rooms with a person, and show the predictions of the world model."""
    for name, moves in {"play": ("d", "c", "e"), "balatro": ("select blind", "select card 1", "select card 3")}.items():
        page = open_page(browser, f"{studio.url}/#/room/{rooms[name]}", SIZES["1280"], "dark")
        for move in moves:
            studio.wait(f"/api/rooms/{rooms[name]}", lambda room: room["waiting"], "a move is requested", 600)
            page.locator(f".areas button[aria-label='{move}'], .areas button[aria-label^='{move},']").first.click()
            page.wait_for_timeout(2000)
        page.context.close()
    follow_hints(studio, browser, rooms["duel"])
    page = open_page(browser, f"{studio.url}/#/room/{rooms['drive']}", SIZES["1280"], "dark")
    page.get_by_label("What the agent imagines").check()
    page.wait_for_timeout(1000)
    page.context.close()


def follow_hints(studio: StudioProcess, browser: Browser, identity: str) -> None:
    """Play the suggested moves into the next own turn, and leave a hint visible."""
    page = open_page(browser, f"{studio.url}/#/room/{identity}", SIZES["1280"], "dark")
    while True:
        now = studio.wait(f"/api/rooms/{identity}", lambda room: room["waiting"], "a move is requested", 600)
        page.get_by_role("button", name="Hint").click()
        hint = page.locator(".areas button.hint").first
        hint.wait_for()
        if now["move"] > 20 and "end turn" in [move["name"] for move in now["legal"]]:
            break
        hint.click()
        page.wait_for_timeout(1000)
    page.context.close()


def take(browser: Browser, address: str, path: pathlib.Path, size: tuple[int, int], theme: str) -> None:
    page = open_page(browser, address, size, theme)
    # Screenshots have no scrollbar, so the space reserved for it would be an empty strip.
    page.evaluate("document.documentElement.style.scrollbarGutter = 'auto'")
    page.wait_for_timeout(6000 if "/room/" in address else 2500)
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").save(path, "WEBP", quality=80, method=6)
    page.context.close()


def open_page(browser: Browser, address: str, size: tuple[int, int], theme: str) -> Page:
    scheme = "dark" if theme == "dark" else "light"
    page = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme).new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.locator("h1").first.wait_for()
    return page


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"took all pictures in {time.perf_counter() - started:.0f} s")
