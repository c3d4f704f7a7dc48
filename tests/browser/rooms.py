"""Shared steps of browser tests: open a room, read its state, click a move."""

import re

from playwright.sync_api import expect


def go(page, studio, route):
    """Open #/play/… or #/watch/… and wait for the room; return its name."""
    page.goto(f"{studio.url}/#/{route}")
    page.wait_for_url(re.compile(r"#/room/[a-z]+"))
    page.locator(".stage canvas").wait_for()
    return re.search(r"#/room/([a-z]+)", page.url)[1]


def state(studio, room):
    return studio.get(f"/api/rooms/{room}")


def wait(studio, room, wanted, what):
    return studio.wait(f"/api/rooms/{room}", wanted, what)


def wait_for_control(page, studio, room):
    """Wait until the person has control, and until the page shows it: keys pressed before that have no effect."""
    wait(studio, room, lambda now: now["control"] == "person" and now["can"]["control"], "we are in control")
    expect(page.locator(".room-line")).to_contain_text("You are in control")


def click_move(page, studio, room, action_name):
    """Click the area of a move when the page shows the position, and wait until it is played."""
    before = state(studio, room)["move"]
    page.locator(f".stage[data-move='{before}']").wait_for()
    area = page.get_by_role("button", name=re.compile(rf"^{re.escape(action_name)}(,|$)")).first
    expect(area).to_be_visible()
    area.click()
    return wait(studio, room, lambda now: now["move"] > before, f"{action_name} was played")


def hint(page, studio, room):
    """Request a hint; return the name of the move."""
    page.get_by_role("button", name="Hint").click()
    return wait(studio, room, lambda now: now["hint"] is not None, "there is a hint")["hint"]["name"]
