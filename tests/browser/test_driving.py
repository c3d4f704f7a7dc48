"""Continuous control in the page by keys, touch and gamepad, of the car and of a user's own game; and swarms."""

import pathlib
import re

import pytest
import rooms
from playwright.sync_api import expect

GAMES = pathlib.Path(__file__).parent.parent / "user_games"
"""additional games of the studio in this file"""
GAMEPAD = """
window.pad = { connected: true, axes: [0, 0, 0, 0], buttons: Array.from({ length: 16 }, () => ({ value: 0 })) };
navigator.getGamepads = () => [null, window.pad, null, null];
window.dispatchEvent(new Event("gamepadconnected"));
"""
"""a simulated gamepad, because there is no real one"""

ROAD = "watch/car(track=3)"
"""a track on which the scripted driver is known to complete laps; it crashes on about one in two hundred"""


def heading(studio, room):
    return float(re.search(r"heading ([\d.]+)", rooms.state(studio, room)["words"])[1])


def test_the_car_laps_and_a_person_takes_control(page, studio):
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")
    page.get_by_role("combobox", name="Speed").select_option("8")
    rooms.wait(studio, room, lambda now: re.search(r"lap [1-9]", now["words"]), "the car has lapped")
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")  # on the straight road of the start
    page.get_by_role("combobox", name="Speed").select_option("0.25")
    page.get_by_role("button", name="Take control").first.click()
    rooms.wait_for_control(page, studio, room)
    before = heading(studio, room)
    page.keyboard.down("ArrowUp")  # a car that rolls to a stop does not turn
    page.keyboard.down("ArrowRight")
    rooms.wait(studio, room, lambda now: turned(before, now) > 10, "the car turns right")
    page.keyboard.up("ArrowUp")
    page.keyboard.up("ArrowRight")
    page.keyboard.press("Escape")
    rooms.wait(studio, room, lambda now: now["control"] == "agent", "the agent is in control again")


def turned(before, now):
    """Degrees to the right since `before`, negative to the left."""
    angle = float(re.search(r"heading ([\d.]+)", now["words"])[1])
    return (angle - before + 180) % 360 - 180


def test_a_swarm_is_drawn(page, studio):
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")
    page.locator("label.choice", has_text="64").click()
    rooms.wait(studio, room, lambda now: now["swarm"] == 64, "there are 64 cars")
    page.wait_for_function("window.ludus.stage.fps > 0")


def test_touch_sliders_control_the_game_on_a_phone(open_page, studio):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True)
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")
    page.get_by_role("button", name="Take control").first.tap()
    rooms.wait_for_control(page, studio, room)
    before = heading(studio, room)
    slider = page.locator(".pad[data-control=steering]")
    slider.scroll_into_view_if_needed()
    pad = slider.bounding_box()
    page.mouse.move(pad["x"] + pad["width"] * 0.5, pad["y"] + pad["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(pad["x"] + pad["width"] * 0.9, pad["y"] + pad["height"] * 0.5)
    rooms.wait(studio, room, lambda now: abs(turned(before, now)) > 10 or now["over"], "the car turns")
    page.mouse.up()


def test_a_gamepad_connected_before_the_room_was_opened_controls_the_game(page, studio):
    page.evaluate(GAMEPAD)
    room = rooms.go(page, studio, f"{ROAD}?agent=scripted")
    page.get_by_role("combobox", name="Speed").select_option("0.25")
    page.evaluate("pad.axes[0] = 1")
    page.locator(".offer").get_by_role("button", name="Take control").click()
    rooms.wait_for_control(page, studio, room)
    before = heading(studio, room)
    now = rooms.wait(studio, room, lambda now: turned(before, now) > 10, "the stick turns the car right")
    page.evaluate("pad.axes[0] = -0.5; pad.buttons[6].value = 1")
    before, fast = heading(studio, room), speed(now)
    rooms.wait(studio, room, lambda now: turned(before, now) < -10, "the stick turns the car left")
    rooms.wait(studio, room, lambda now: speed(now) < fast, "the left trigger brakes")
    page.evaluate("pad.axes[0] = 0.1; pad.buttons[6].value = 0")  # a stick at rest is not exactly in the middle
    page.keyboard.press("Escape")
    rooms.wait(studio, room, lambda now: now["control"] == "agent", "the agent is in control again")


def test_a_users_game_is_controlled_by_the_keys_it_declares(page, studio):
    room = rooms.go(page, studio, "play/boat(harbour=5)")
    rooms.wait_for_control(page, studio, room)
    expect(page.locator(".control-help")).to_contain_text("rudder JL")
    page.keyboard.down("l")
    rooms.wait(studio, room, lambda now: abs(turned(0, now)) > 10, "the boat turns")
    expect(page.locator(".gauge", has_text="rudder").locator("output")).to_have_text("starboard 100%")
    page.keyboard.up("l")
    expect(page.locator(".gauge", has_text="rudder").locator("output")).to_have_text("ahead")
    expect(page.locator(".gauge", has_text="speed").locator("output")).to_contain_text("kn")
    expect(page.get_by_label("Ghost of the last round")).to_be_visible()
    expect(page.get_by_role("group", name="Games at once")).to_be_visible()


def test_a_gymnasium_environment_is_drawn_and_controlled(page, studio):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pygame")
    room = rooms.go(page, studio, "play/gymnasium:Pendulum-v1")
    page.locator(".stage-note").wait_for(state="hidden")
    canvas = "document.querySelector('.stage canvas')"
    middle = f"{canvas}.getContext('2d').getImageData({canvas}.width / 2, {canvas}.height / 2, 1, 1).data[0]"
    page.wait_for_function(f"() => {middle} < 60")  # the black pivot of the pendulum
    rooms.wait_for_control(page, studio, room)
    page.keyboard.down("ArrowLeft")
    expect(page.locator(".gauge", has_text="action 1").locator("output")).to_have_text("−100%")
    assert rooms.state(studio, room)["control"] == "person"


def speed(now):
    return float(re.search(r"speed ([\d.]+)", now["words"])[1])


@pytest.mark.parametrize("game", ["cartpole", "lair", "recall", "goofspiel", "balatro", "connect4"])
def test_every_game_can_be_watched(page, studio, game):
    room = rooms.go(page, studio, f"watch/{game}?agent=random")
    first = rooms.state(studio, room)["move"]
    rooms.wait(studio, room, lambda now: now["move"] != first or now["over"], f"{game} continues")
    expect(page.locator(".stage canvas")).to_be_visible()
