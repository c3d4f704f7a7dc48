"""The car's rules: movement, rewards, direction of laps, and the end of a game."""

import drive
import numpy as np
import pytest

from ludus import agents
from ludus.dsl import CUT, OVER, PLAYING
from ludus.dsl.draw import new_canvas
from ludus.evaluation.conformance.picture_checks import canvas_complaint
from ludus.games.car import MIRROR
from ludus.pool import Pool

EMPTY = "car(track=7, obstacles=0)"
GO, WAIT = [[0.0, 1.0]], [[0.0, 0.0]]


def turn_around(pool: Pool) -> None:
    pool.states["angle"] = (pool.states["angle"] + 180) % 360


def drive_until(pool: Pool, done, fast: float = 0.6) -> float:
    """Drive by rule until `done`; returns the sum of rewards."""
    total = 0.0
    for _ in range(2000):
        if done(pool.states[0]):
            return total
        total += float(pool.advance(drive.by_rule(pool.step.observation["sensors"], fast)).reward[0, 0])
        assert pool.status[0] == PLAYING
    raise AssertionError("the car never got there")


def test_the_car_turns_then_speeds_up_then_moves():
    pool = Pool(EMPTY, 1, 1)
    before = pool.states[0].copy()
    pool.advance([[1.0, 1.0]])
    after = pool.states[0]
    assert after["angle"] == pytest.approx((before["angle"] + 5) % 360)
    assert after["speed"] == pytest.approx(0.2)
    assert after["x"] == pytest.approx(before["x"] + 0.2 * np.cos(np.radians(after["angle"])))
    assert after["y"] == pytest.approx(before["y"] + 0.2 * np.sin(np.radians(after["angle"])))
    pool.advance([[-1.0, -0.5]])
    assert pool.states[0]["angle"] == pytest.approx(before["angle"])
    assert pool.states[0]["speed"] == pytest.approx(0.2 - 0.1 - 0.002)


def test_speed_stays_between_standing_and_five():
    pool = Pool("car", 400, 3)
    speeds = []
    for step in range(150):
        pool.advance(np.where(step < 100, 1.0, -1.0) * np.ones((400, 2)) * [0, 1])
        speeds.append(pool.states["speed"].copy())
    assert np.max(speeds) == 5.0 and np.min(speeds) == 0.0


def test_the_car_starts_on_the_line_along_the_road():
    states = Pool("car", 200, 4).states
    way = states["points"][:, 1].astype(float) - states["points"][:, 0]
    assert np.array_equal(np.stack([states["x"], states["y"]], -1), states["points"][:, 0])
    np.testing.assert_allclose(states["angle"], np.degrees(np.arctan2(way[:, 1], way[:, 0])))
    assert (states["speed"] == 0).all() and (states["travelled"] == 0).all()


def test_the_observation_is_distances_and_speed_as_shares():
    pool = Pool("car", 50, 5)
    pool.play_randomly(40)
    seen = pool.step.observation["sensors"]
    np.testing.assert_allclose(seen[:, :5], pool.states["sensors"] / 150, rtol=1e-6)
    np.testing.assert_allclose(seen[:, 5], pool.states["speed"] / 5, rtol=1e-6)


def test_a_lap_pays_ten_for_progress_and_one_for_each_tenth():
    pool = Pool(EMPTY, 1, 1)
    total = drive_until(pool, lambda state: state["travelled"] >= 1)
    state = pool.states[0]
    assert state["laps"] == 1 and state["checkpoints"] == 10
    assert total == pytest.approx(10 * state["travelled"] + 10, abs=1e-4)
    total += drive_until(pool, lambda state: state["laps"] == 2)
    assert total == pytest.approx(10 * pool.states[0]["travelled"] + 20, abs=1e-4)


def test_no_lap_is_counted_before_the_line_is_reached():
    pool = Pool(EMPTY, 1, 1)
    drive_until(pool, lambda state: state["travelled"] > 0.99, fast=0.3)
    assert pool.states[0]["laps"] == 0 and pool.states[0]["checkpoints"] == 9


def test_crossing_the_line_backwards_and_forth_again_is_no_lap():
    pool = Pool(EMPTY, 1, 1)
    turn_around(pool)
    pool.advance(WAIT)
    total = drive_until(pool, lambda state: state["travelled"] < -0.05, fast=0.3)
    assert pool.states[0]["progress"] > 0.9
    assert total == pytest.approx(10 * pool.states[0]["travelled"], abs=1e-4)
    turn_around(pool)
    pool.advance(WAIT)
    drive_until(pool, lambda state: state["travelled"] > 0.05, fast=0.3)
    assert pool.states[0]["laps"] == 0 and pool.states[0]["checkpoints"] == 0


def test_a_whole_lap_backwards_is_no_lap():
    pool = Pool(EMPTY, 1, 1)
    turn_around(pool)
    pool.advance(WAIT)
    total = drive_until(pool, lambda state: state["travelled"] < -1.05)
    assert pool.states[0]["laps"] == 0 and pool.states[0]["checkpoints"] == 0
    assert total < -10


def test_a_checkpoint_is_rewarded_once():
    pool = Pool(EMPTY, 1, 1)
    total = drive_until(pool, lambda state: state["travelled"] > 0.12, fast=0.3)
    assert pool.states[0]["checkpoints"] == 1
    for way_point in (lambda state: state["travelled"] < 0.08, lambda state: state["travelled"] > 0.12):
        turn_around(pool)
        total += float(pool.advance(WAIT).reward[0, 0])
        total += drive_until(pool, way_point, fast=0.3)
    assert pool.states[0]["checkpoints"] == 1
    assert total == pytest.approx(10 * pool.states[0]["travelled"] + 1, abs=1e-4)


def test_leaving_the_road_is_a_crash():
    pool = Pool(EMPTY, 1, 1)
    travelled = 0.0
    while pool.status[0] == PLAYING:
        travelled = float(pool.states[0]["travelled"])
        step = pool.advance(GO)
    made = float(pool.states[0]["travelled"]) - travelled
    assert pool.status[0] == OVER and step.discount[0] == 0
    assert step.reward[0, 0] == pytest.approx(10 * made - 5, abs=1e-5)
    assert (pool.states[0]["sensors"] == 0).all()


def test_touching_an_obstacle_is_a_crash():
    pool = Pool("car(track=7, obstacles=1)", 1, 1)
    stone = pool.states["stones"][0, 0].astype(float)
    pool.states["x"], pool.states["y"] = stone[0] + 9.9, stone[1]
    pool.states["segment"] = np.linalg.norm(pool.states["points"][0] - stone, axis=1).argmin()
    step = pool.advance(WAIT)
    assert pool.status[0] == OVER and step.discount[0] == 0
    assert (pool.states[0]["sensors"].min(), pool.states[0]["sensors"].max()) == (0, 0)


def test_the_horizon_cuts_and_keeps_the_discount():
    pool = Pool("car(horizon=50)", 3, 1)
    for _ in range(50):
        assert (pool.status == PLAYING).all()
        step = pool.advance(np.zeros((3, 2)))
        assert (step.reward == 0).all()
    assert (pool.status == CUT).all() and (step.discount == 1).all()


def test_a_crash_on_the_last_step_is_a_crash():
    steps = 0
    pool = Pool(EMPTY, 1, 1)
    while pool.status[0] == PLAYING:
        pool.advance(GO)
        steps += 1
    last = Pool(f"car(track=7, obstacles=0, horizon={steps})", 1, 1)
    for _ in range(steps):
        step = last.advance(GO)
    assert last.status[0] == OVER and step.discount[0] == 0


def test_rewards_do_not_depend_on_the_clock():
    early, late = (Pool("car(track=7, obstacles=0, horizon=100000)", 1, 1) for _ in range(2))
    for _ in range(5000):
        assert late.advance(WAIT).reward[0, 0] == 0
    for step in range(400):
        actions = drive.by_rule(early.step.observation["sensors"])
        assert early.advance(actions).reward[0, 0] == late.advance(actions).reward[0, 0], step


def test_driving_backwards_takes_back_what_was_paid():
    pool = Pool(EMPTY, 1, 1)
    there = drive_until(pool, lambda state: state["travelled"] > 0.09, fast=0.3)
    turn_around(pool)
    back = float(pool.advance(WAIT).reward[0, 0])
    back += drive_until(pool, lambda state: state["travelled"] < 0.001, fast=0.3)
    assert there + back == pytest.approx(10 * pool.states[0]["travelled"], abs=1e-4)


@pytest.mark.parametrize("name", ["car(obstacles=10)", "car(width=25)"])
def test_the_picture_stays_in_its_frame_up_to_the_crash(name):
    """Cars thrown at the edge of the road at full speed, where the track comes nearest to the frame."""
    pool = Pool(name, 400, 6)
    offset = pool.states["points"].astype(float) - [400, 300]
    outermost = np.abs(offset[..., 1]).argmax(axis=1)
    rows = np.arange(400)
    outward = np.sign(offset[rows, outermost, 1])
    pool.states["x"] = pool.states["points"][rows, outermost, 0]
    pool.states["y"] = pool.states["points"][rows, outermost, 1] + outward * (pool.states["width"] - 0.5)
    pool.states["angle"], pool.states["speed"], pool.states["segment"] = 90 * outward, 5.0, outermost
    pool.advance(np.ones((400, 2)) * [0, 1])
    assert (pool.status == OVER).mean() > 0.9
    for row in rows:
        canvas = new_canvas()
        pool.kernel.draw_scene(pool.states, row, 0, canvas)
        assert canvas_complaint(canvas[0], pool.spec) == ""


def test_in_a_mirror_the_game_goes_on_by_the_same_rules():
    plain, mirrored = Pool("car", 16, seed=4), Pool("car", 16, seed=4)
    states = mirrored.states
    for field in ("points", "stones"):
        states[field][..., 1] = 600.0 - states[field][..., 1]
    states["y"], states["angle"] = 600.0 - states["y"], -states["angle"] % 360.0
    dice, drift, driver = np.random.default_rng(1), np.zeros((16, 2)), agents.load("scripted", "car")
    for moment in range(300):
        drift = 0.9 * drift + 0.2 * dice.normal(size=drift.shape)
        decision, _ = driver.act(driver.init(plain.spec, 0), driver.memory(16), plain.step, moment)
        actions = np.clip(decision.action + drift, -1.0, 1.0)
        step, other = plain.advance(actions), mirrored.advance(actions * MIRROR.actions)
        if (plain.status != 0).any():
            break
        np.testing.assert_allclose(
            other.observation["sensors"], step.observation["sensors"][:, list(MIRROR.seen)], atol=2e-3
        )
        np.testing.assert_allclose(other.reward, step.reward, atol=1e-3)
    assert moment > 50
