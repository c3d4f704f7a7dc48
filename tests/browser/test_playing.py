"""Playing in the page: tic-tac-toe, Connect Four, Balatro, a duel, two pages, a restart, a battle."""

import os
import re

import pytest
import rooms
from playwright.sync_api import expect

from ludus.studio.process import StudioProcess


def test_a_game_of_tictactoe_is_drawn_against_the_perfect_player(page, studio):
    room = rooms.go(page, studio, "play/tictactoe?agent=perfect")
    now = rooms.wait(studio, room, lambda now: now["waiting"], "it is our turn")
    while not now["over"]:
        move = rooms.hint(page, studio, room)
        rooms.click_move(page, studio, room, move)
        now = rooms.wait(studio, room, lambda now: now["waiting"] or now["over"], "it is our turn again")
    assert now["returns"] == [0.0, 0.0]
    expect(page.locator(".room-line")).to_contain_text("draw", ignore_case=True)
    page.get_by_role("button", name="Save replay").click()
    page.get_by_role("link", name="Open the replay").click()
    expect(page.get_by_role("slider")).to_have_attribute("max", "9")


def test_undo_takes_both_moves_back(page, studio):
    room = rooms.go(page, studio, "play/tictactoe?agent=random")
    rooms.wait(studio, room, lambda now: now["waiting"], "it is our turn")
    rooms.click_move(page, studio, room, "b2")
    rooms.wait(studio, room, lambda now: now["waiting"] and now["move"] == 2, "the opponent has moved")
    page.get_by_role("button", name="Undo").click()
    after = rooms.wait(studio, room, lambda now: now["move"] == 0, "both moves are taken back")
    assert "b2" in [move["name"] for move in after["legal"]]


def test_connect_four_by_keyboard_alone(page, studio):
    room = rooms.go(page, studio, "play/connect4?agent=random")
    rooms.wait(studio, room, lambda now: now["waiting"], "it is our turn")
    areas = page.locator(".areas button:not([hidden])")
    expect(areas.first).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('area')"):
            break
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    rooms.wait(studio, room, lambda now: now["move"] >= 2 and now["waiting"], "we moved and were answered")


def test_a_blind_of_balatro_by_clicking(page, studio):
    room = rooms.go(page, studio, "play/balatro")
    rooms.wait(studio, room, lambda now: now["waiting"], "the game is dealt")
    rooms.click_move(page, studio, room, "select blind")
    score = 0
    for _ in range(4):
        for place in range(1, 6):
            now = rooms.click_move(page, studio, room, f"select card {place}")
        assert "play selected" in [move["name"] for move in now["legal"]]
        now = rooms.click_move(page, studio, room, "play selected")
        score += 1
        if now["over"] or "cash out" in [move["name"] for move in now.get("legal", [])]:
            break
    assert score >= 1
    assert now["over"] or "cash out" in [move["name"] for move in now["legal"]], "four hands end a blind, won or lost"


def test_turns_of_a_duel_by_clicking(page, studio):
    page.set_default_timeout(600_000)  # no game takes longer to compile
    room = rooms.go(page, studio, "play/duel(starts=0)?agent=greedy&seed=7")
    now = rooms.wait(studio, room, lambda now: now["waiting"], "the cards are dealt")
    canvas, played = page.locator(".stage canvas"), []
    before = canvas.screenshot()
    while played.count("end turn") < 2:
        move = answer([move["name"] for move in now["legal"]])
        played.append(move)
        rooms.click_move(page, studio, room, move)
        now = rooms.wait(studio, room, lambda now: now["waiting"], "it is our turn again")
    assert any(move.startswith("zone ") for move in played), "a card was played"
    assert canvas.screenshot() != before
    hint = rooms.hint(page, studio, room)
    expect(page.locator(".area.hint").first).to_have_attribute("aria-label", re.compile(re.escape(hint)))
    expect(page.get_by_role("heading", name="What Lookahead thinks")).to_be_visible()
    expect(page.locator(".thought-list li").first).to_contain_text(re.compile(r"[+−-]?\d"))
    expect(page.locator(".value-bar")).to_contain_text("%")
    page.get_by_role("button", name="New game").click()
    page.get_by_role("dialog").get_by_role("button", name="New game").click()
    rooms.wait(studio, room, lambda now: now["move"] == 0 and now["waiting"], "another duel has begun")


@pytest.mark.parametrize("game", ["balatro", "duel"])
def test_a_large_game_is_played_before_it_is_compiled(browser, tmp_path, game):
    """From the click on a game to the first move, on a machine that has compiled nothing."""
    cache = {"LUDUS_CACHE": str(tmp_path / "cache")}
    with StudioProcess(tmp_path / "runs", {**os.environ, **cache}) as studio, browser.new_page() as page:
        page.goto(studio.url)
        page.locator(f"a[href*='#/play/{game}']").first.click()
        page.wait_for_url(re.compile(r"#/room/[a-z]+"))
        room = re.search(r"#/room/([a-z]+)", page.url)[1]
        before = rooms.wait(studio, room, lambda now: now["waiting"], "it is our turn")
        page.locator(f".stage[data-move='{before['move']}']").wait_for()
        page.locator(".areas button:not([hidden])").first.click()
        after = rooms.wait(studio, room, lambda now: now["move"] > before["move"], "the move was made")
        assert after["preparing"] is not None, "the move was made before the compiler was done"


def answer(names):
    """Summon or set a card if possible, decline everything else, and end the turn; otherwise the first move."""
    for beginning in ("summon ", "set ", "pass", "no", "end turn"):
        for name in names:
            if name.startswith(beginning):
                return name
    return names[0]


def test_two_pages_see_the_same_game_and_one_may_reload(open_page, studio):
    first = open_page()
    room = rooms.go(first, studio, "play/tictactoe?agent=random")
    second = open_page(f"#/room/{room}")
    rooms.wait(studio, room, lambda now: now["waiting"], "it is our turn")
    rooms.click_move(first, studio, room, "b2")
    now = rooms.wait(studio, room, lambda now: now["waiting"] and now["move"] == 2, "the opponent has moved")
    for page in (first, second):
        expect(page.locator(".areas button:not([hidden])")).to_have_count(7)
    first.reload()
    expect(first.locator(".areas button:not([hidden])")).to_have_count(7)
    rooms.click_move(second, studio, room, now["legal"][0]["name"])
    expect(first.locator(".room-line")).to_contain_text("Your move")
    rooms.wait(studio, room, lambda now: now["move"] == 4 or now["over"], "the second page moved")


def test_the_page_reconnects_after_a_restart_of_the_server(open_page, studio):
    page = open_page()
    room = rooms.go(page, studio, "play/tictactoe?agent=random")
    rooms.wait(studio, room, lambda now: now["waiting"], "it is our turn")
    rooms.click_move(page, studio, room, "b2")
    rooms.wait(studio, room, lambda now: now["waiting"] and now["move"] == 2, "the opponent has moved")
    studio.stop()
    expect(page.locator("#banner")).to_be_visible()
    studio.start()
    expect(page.locator("#banner")).to_be_hidden()
    now = rooms.wait(studio, room, lambda now: now["move"] == 2 and now["waiting"], "the game is restored")
    rooms.click_move(page, studio, room, now["legal"][0]["name"])
    open_page.errors_allowed = True  # the browser logs every failed attempt to connect


def test_a_battle_of_three_agents_is_rated_and_watched(page, studio):
    page.goto(f"{studio.url}/#/battle?game=tictactoe")
    expect(page.get_by_role("checkbox", name=re.compile("^Perfect"))).to_be_checked()
    for agent in page.get_by_role("checkbox").all():
        agent.uncheck()
    begin = page.get_by_role("button", name="Start the battle")
    expect(begin).to_be_disabled()
    for name in ("Perfect", r"Search \(50\)", "Random"):
        page.get_by_role("checkbox", name=re.compile(f"^{name}")).check()
    expect(page.get_by_role("status").filter(has_text="3 agents, 3 pairs")).to_be_visible()
    page.get_by_label("Games per pair").fill("40")
    begin.click()
    ratings = page.get_by_role("region", name="Ratings in tictactoe").get_by_role("row")
    ratings.first.wait_for()
    expect(ratings).to_have_count(4)
    rated = [int(ratings.nth(place).get_by_role("cell").nth(1).inner_text()) for place in (1, 2, 3)]
    assert rated == sorted(rated, reverse=True) and abs(sum(rated) / 3 - 1500) < 2
    expect(ratings.nth(1)).to_contain_text("perfect")
    page.reload()  # the address of a battle is enough to find it again
    page.get_by_role("button", name=re.compile(r"^perfect took \d+ percent of the points from random")).click()
    page.wait_for_url(re.compile(r"#/room/[a-z]+"))
    room = rooms.state(studio, page.url.rpartition("/")[2])
    assert room["seats"] == ["perfect", "random"]
