"""Click areas: every action that a person needs has an area; also the car's `dream`."""

import numpy as np
import pytest

from ludus import games
from ludus.dsl import draw
from ludus.games import car
from ludus.pool import Pool

CLICKED = ("tictactoe", "connect4", "goofspiel", "cartpole", "lair", "recall")


def areas(shapes) -> dict[int, tuple[float, float, float, float]]:
    found = shapes[shapes["kind"] == draw.AREA]
    places = {int(a["color"]): tuple(float(a[name]) for name in "xywh") for a in found}
    assert len(places) == len(found)
    return places


@pytest.mark.parametrize("name", CLICKED)
def test_every_legal_move_has_its_own_click_area(name):
    pool = Pool(name, 1, [5], threads=1)
    for move in range(60):
        places = areas(pool.scene(seat=0 if pool.spec.turns == "simultaneous" else -1))
        assert set(np.flatnonzero(pool.step.mask[0]).tolist()) <= set(places)
        boxes = sorted(places.values())
        for one, (x, y, w, h) in enumerate(boxes):
            for other in boxes[one + 1 :]:
                apart = x + w <= other[0] or other[0] + other[2] <= x or y + h <= other[1] or other[1] + other[3] <= y
                assert apart
        pool.advance(pool.random_actions(move))
        if pool.status[0]:
            pool.reset()


def test_a_click_in_the_middle_of_a_square_takes_that_square():
    pool = Pool("tictactoe", 1, [0], threads=1)
    x, y, w, h = areas(pool.scene())[5]
    assert (x + w / 2, y + h / 2) == (250, 150) and pool.action_name(5) == "c2"


def test_each_player_of_goofspiel_sees_their_own_hand():
    pool = Pool("goofspiel", 1, [0], threads=1)
    pool.advance([12, 0])
    bottom = [pool.scene(seat=seat) for seat in range(2)]
    numbers = [
        {bytes(s["text"][: s["letters"]]).decode() for s in shapes if s["kind"] == draw.TEXT and s["y"] == 292}
        for shapes in bottom
    ]
    assert numbers == [{str(n) for n in range(1, 13)}, {str(n) for n in range(2, 14)}]


def test_games_declare_a_playback_speed():
    assert [games.load(name).pace for name in ("car", "cartpole", "tictactoe")] == [30, 50, 1.5]


def test_a_dream_with_true_observations_is_the_path_driven():
    pool = Pool("car(track=3)", 1, [0], threads=1)
    actions = np.random.default_rng(0).uniform([-1, 0.2], [1, 1], (15, 2))
    state, seen, way, tips = pool.states[0].copy(), [], [], []
    for action in actions:
        seen.append(pool.advance(action[None]).observation["sensors"][0])
        way.append((pool.states["x"][0], pool.states["y"][0]))
        heading = np.radians(pool.states["angle"][0]) + car.RAY_ANGLES
        reach = pool.states["sensors"][0, :, None]
        tips.append(np.array(way[-1]) + reach * np.stack([np.cos(heading), np.sin(heading)], 1))
    points, ends = car.dream(state, np.array(seen), actions)
    assert points.shape == (16, 2) and ends.shape == (15, car.RAYS, 2)
    np.testing.assert_allclose(points[0], [state["x"], state["y"]])
    np.testing.assert_allclose(points[1:], way, atol=1e-4)
    np.testing.assert_allclose(ends, tips, atol=1e-4)


def test_the_token_of_a_car_is_its_body_in_a_colour():
    pool = Pool("car(track=3)", 2, 0, threads=1)
    canvas = draw.new_canvas()
    for row in range(2):
        car.token(pool.states[row], canvas[0], 0x123456 + row)
    shapes = canvas[0]["shapes"][: canvas[0]["count"]]
    assert len(shapes) == 4 and shapes["color"][::2].tolist() == [0x123456, 0x123457]
    middle = shapes[0]["x"] + shapes[0]["w"] / 2, shapes[0]["y"] + shapes[0]["h"] / 2
    np.testing.assert_allclose(middle, [pool.states["x"][0], pool.states["y"][0]], atol=1e-3)
