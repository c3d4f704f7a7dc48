"""What the tests of rooms do again and again: go to a game, read its state, click a move."""

import re

from playwright.sync_api import expect


def go(page, studio, route):
    """Open #/play/… or #/watch/… and wait for the room; its name is told."""
    page.goto(f"{studio.url}/#/{route}")
    page.wait_for_url(re.compile(r"#/room/[a-z]+"))
    page.locator(".stage canvas").wait_for()
    return re.search(r"#/room/([a-z]+)", page.url)[1]


def state(studio, room):
    return studio.get(f"/api/rooms/{room}")


def wait(studio, room, wanted, what):
    return studio.wait(f"/api/rooms/{room}", wanted, what)


def click_move(page, studio, room, action_name):
    """Click the area of a move once the page shows the position, and wait until the room has taken it."""
    before = state(studio, room)["move"]
    page.locator(f".stage[data-move='{before}']").wait_for()
    area = page.get_by_role("button", name=re.compile(rf"^{re.escape(action_name)}(,|$)")).first
    expect(area).to_be_visible()
    area.click()
    return wait(studio, room, lambda now: now["move"] > before, f"{action_name} was played")


def hint(page, studio, room):
    """Ask for a hint; the name of the move that is hinted at."""
    page.get_by_role("button", name="Hint").click()
    return wait(studio, room, lambda now: now["hint"] is not None, "there is a hint")["hint"]["name"]
