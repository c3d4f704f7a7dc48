"""Every page at two widths and in two themes: no axe violations, no overflow, and keyboard navigation."""

import itertools

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect

ROUTES = {
    "gallery": "", "train": "#/train", "train a car": "#/train/car", "runs": "#/runs", "run": "#/run/{run}",
    "replays": "#/replays", "replay": "#/replay/{replay}", "battle": "#/battle", "play": "#/room/{board}",
    "balatro": "#/room/{cards}", "duel": "#/room/{duel}", "drive": "#/room/{car}", "reference": "reference",
    "nowhere": "#/nowhere",
}  # fmt: skip


@pytest.fixture(scope="module")
def things(studio):
    """A finished run, a replay and four rooms."""
    values = {"steps": 1_000_000}
    run = studio.post("/api/runs", {"game": "tictactoe", "algorithm": "q_learning", "values": values})["run"]
    studio.wait(f"/api/runs/{run}", lambda facts: facts["status"] == "finished", "the run is finished")
    board = studio.post("/api/rooms", {"game": "tictactoe", "seats": ["person", "perfect"], "seed": 1})["room"]
    cards = studio.post("/api/rooms", {"game": "balatro(actions=all)", "seats": ["person"], "seed": 1})["room"]
    duel = studio.post("/api/rooms", {"game": "duel(starts=0)", "seats": ["person", "greedy"], "seed": 1})["room"]
    studio.wait(f"/api/rooms/{duel}", lambda now: now["waiting"], "the cards are dealt", 600)
    car = studio.post("/api/rooms", {"game": "car", "seats": ["scripted"], "seed": 1})["room"]
    replay = studio.post(f"/api/rooms/{board}/replay")["replay"]
    return {"run": run, "board": board, "cards": cards, "duel": duel, "car": car, "replay": replay}


@pytest.mark.parametrize("name", ROUTES)
def test_a_page_is_accessible_and_fits(open_page, things, name):
    page = open_page(ROUTES[name].format(**things), reduced_motion="reduce")
    expect(page.locator("h1").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    for width, theme in itertools.product((1280, 390), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found = Axe().run(page, options={"resultTypes": ["violations"]})["violations"]
        nodes = [(item["id"], [node["html"][:160] for node in item["nodes"]][:3]) for item in found]
        assert not nodes, (width, theme)
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, (width, theme)


def test_from_the_gallery_to_a_game_by_keyboard_alone(page):
    page.locator("article.card").first.wait_for()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Play Tic-tac-toe":
            break
    page.keyboard.press("Enter")
    page.locator(".areas button:not([hidden])").first.wait_for()


def test_no_request_goes_to_another_host(open_page, studio):
    page = open_page()
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    for route in ("#/train/car", "#/runs", "#/battle", "reference", ""):
        page.goto(f"{studio.url}/{route}")
        page.wait_for_load_state("networkidle")
    assert requested
    assert all(url.startswith((studio.url, "data:", "blob:")) for url in requested)
