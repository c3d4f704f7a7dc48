"""The car's distances and progress compared with brute force over all segments, for all reachable positions."""

import drive
import numpy as np
import pytest
import slow_road

MET = {
    "at random": ("car", 250, 1, 200, 20),
    "fast": ("car", 250, 2, 400, 25, 1.3),
    "fast without obstacles": ("car(obstacles=0)", 100, 3, 400, 20, 1.2),
    "fast on a narrow road": ("car(width=25, obstacles=3)", 150, 4, 300, 20, 0.9),
    "among many obstacles": ("car(obstacles=10)", 150, 5, 300, 20, 0.8),
}


@pytest.fixture(params=MET, scope="module")
def states(request):
    return drive.states_met(*MET[request.param])


def test_distances_of_driving_cars_are_exact(states):
    assert len(states) > 1500
    np.testing.assert_allclose(states["sensors"], slow_road.sensors(states), rtol=0, atol=1e-6)


def test_progress_of_driving_cars_is_exact(states):
    _, progress = slow_road.nearest(states)
    np.testing.assert_allclose((states["progress"] - progress + 0.5) % 1, 0.5, rtol=0, atol=1e-9)


def test_a_car_crashes_exactly_off_the_road_or_in_an_obstacle(states):
    gap, _ = slow_road.nearest(states)
    stones = states["stones"].astype(float) - np.stack([states["x"], states["y"]], -1)[:, None]
    there = np.arange(10) < states["obstacles"][:, None]
    hit = (there & (np.linalg.norm(stones, axis=-1) <= slow_road.STONE)).any(axis=1)
    assert np.array_equal(states["status"] == 1, (gap > states["width"]) | hit)


@pytest.mark.parametrize("name", ["car", "car(width=25)", "car(obstacles=10)", "car(width=31.5, obstacles=1)"])
def test_distances_are_exact_anywhere_on_the_road_in_any_direction(name):
    states = drive.states_placed(name, 2500, 6)
    np.testing.assert_allclose(states["sensors"], slow_road.sensors(states), rtol=0, atol=1e-6)


def test_fast_driving_reaches_top_speed_and_completes_laps():
    """The sample of fast driving contains top speed and complete laps."""
    states = drive.states_met(*MET["fast"])
    assert states["speed"].max() > 4.5 and states["laps"].max() >= 1 and (states["status"] == 1).any()
    assert len(np.unique(states["seed"])) > 250


def test_brute_force_matches_a_straight_road_by_hand():
    """A ring stretched into two long straights: distances to the edge at 0, 22.5 and 45 degrees, and to an obstacle."""
    states = np.zeros(1, drive.Pool("car", 1).states.dtype)
    corner = np.array([[0, 0], [1000, 0], [1000, 500], [0, 500]], float)
    states["points"] = np.concatenate(
        [np.linspace(corner[i], corner[(i + 1) % 4], 25, endpoint=False) for i in range(4)]
    )
    states["x"], states["y"], states["width"] = 500, 10, 40
    root = np.sqrt(2)
    side = 30 / np.sin(np.pi / 8)
    np.testing.assert_allclose(slow_road.sensors(states)[0], [50 * root, 50 / np.sin(np.pi / 8), 150, side, 30 * root])
    states["obstacles"], states["stones"][0, 0] = 1, (560, 10)
    np.testing.assert_allclose(slow_road.sensors(states)[0, 2], 50)
    assert np.allclose(slow_road.nearest(states), [[10], [0.125]])
