"""The car in the page: it laps, a person takes the wheel, by thumb and gamepad too, and hands it back, 64 of them."""

import re

import pytest
import rooms
from playwright.sync_api import expect

GAMEPAD = """
window.pad = { connected: true, axes: [0, 0, 0, 0], buttons: Array.from({ length: 16 }, () => ({ value: 0 })) };
navigator.getGamepads = () => [null, window.pad, null, null];
window.dispatchEvent(new Event("gamepadconnected"));
"""
"""what a browser shows of one that was plugged in: the only stand-in, as there is no such thing here"""

ROAD = "watch/car(track=3)"
"""one that the driver by rule is known to lap: on one in two hundred it crashes, and on a drawn one it may"""


def heading(studio, room):
    return float(re.search(r"heading ([\d.]+)", rooms.state(studio, room)["words"])[1])


def test_the_car_laps_and_a_person_takes_the_wheel(page, studio):
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")
    page.get_by_role("combobox", name="Speed").select_option("8")
    rooms.wait(studio, room, lambda now: re.search(r"lap [1-9]", now["words"]), "the car has lapped")
    page.get_by_role("combobox", name="Speed").select_option("0.25")
    page.get_by_role("button", name="Take the wheel").first.click()
    rooms.wait(studio, room, lambda now: now["wheel"] == "person", "the wheel is ours")
    before = heading(studio, room)
    page.keyboard.down("ArrowRight")
    rooms.wait(studio, room, lambda now: turned(before, now) > 10, "the car turns right")
    page.keyboard.up("ArrowRight")
    page.keyboard.press("Escape")
    rooms.wait(studio, room, lambda now: now["wheel"] == "agent", "the agent drives again")


def turned(before, now):
    """Degrees to the right since `before`; the other way round the circle it is negative."""
    angle = float(re.search(r"heading ([\d.]+)", now["words"])[1])
    return (angle - before + 180) % 360 - 180


def test_a_swarm_is_drawn(page, studio):
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")
    page.locator("label.choice", has_text="64").click()
    rooms.wait(studio, room, lambda now: now["cars"] == 64, "there are 64 cars")
    page.wait_for_function("window.ludus.stage.fps > 0")


def test_a_thumb_takes_the_wheel_on_a_phone(open_page, studio):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True)
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")
    page.get_by_role("button", name="Take the wheel").first.tap()
    rooms.wait(studio, room, lambda now: now["wheel"] == "person", "the wheel is ours")
    before = heading(studio, room)
    pad = page.locator(".pad.steer").bounding_box()
    page.locator(".pad.steer").scroll_into_view_if_needed()
    pad = page.locator(".pad.steer").bounding_box()
    page.mouse.move(pad["x"] + pad["width"] * 0.5, pad["y"] + pad["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(pad["x"] + pad["width"] * 0.9, pad["y"] + pad["height"] * 0.5)
    rooms.wait(studio, room, lambda now: abs(turned(before, now)) > 10 or now["over"], "the car turns")
    page.mouse.up()


def test_a_gamepad_that_was_there_before_the_room_takes_the_wheel(page, studio):
    page.evaluate(GAMEPAD)
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")
    page.get_by_role("combobox", name="Speed").select_option("0.25")
    page.evaluate("pad.axes[0] = 1")
    page.locator(".offer").get_by_role("button", name="Take the wheel").click()
    rooms.wait(studio, room, lambda now: now["wheel"] == "person", "the wheel is ours")
    before = heading(studio, room)
    now = rooms.wait(studio, room, lambda now: turned(before, now) > 10, "the stick turns the car right")
    page.evaluate("pad.axes[0] = -0.5; pad.buttons[6].value = 1")
    before, fast = heading(studio, room), speed(now)
    rooms.wait(studio, room, lambda now: turned(before, now) < -10, "the stick turns the car left")
    rooms.wait(studio, room, lambda now: speed(now) < fast, "the left trigger brakes")
    page.evaluate("pad.axes[0] = 0.1; pad.buttons[6].value = 0")  # a stick at rest is never quite in the middle
    page.keyboard.press("Escape")
    rooms.wait(studio, room, lambda now: now["wheel"] == "agent", "the agent drives again")


def speed(now):
    return float(re.search(r"speed ([\d.]+)", now["words"])[1])


@pytest.mark.parametrize("game", ["cartpole", "lair", "recall", "goofspiel", "balatro", "connect4"])
def test_every_game_can_be_watched(page, studio, game):
    room = rooms.go(page, studio, f"watch/{game}?agent=random")
    first = rooms.state(studio, room)["move"]
    rooms.wait(studio, room, lambda now: now["move"] != first or now["over"], f"{game} goes on")
    expect(page.locator(".stage canvas")).to_be_visible()
