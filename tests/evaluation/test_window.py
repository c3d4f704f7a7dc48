"""The window: keys, clicks, the agent, and pictures like those of the other renderers."""

import numpy as np
import pytest

pygame = pytest.importorskip("pygame")

from ludus.dsl import PLAYING  # noqa: E402
from ludus.evaluation import window  # noqa: E402
from ludus.rendering import images  # noqa: E402
from ludus.types import LudusError  # noqa: E402


@pytest.fixture
def opened(monkeypatch):
    """Opens invisible windows with a clock that always reports 1/30 s."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    windows = []

    def open_window(name, against="best", seat=0):
        one = window.Window(window.lay(name, against, seat, 3))
        one.clock = type("Clock", (), {"tick": staticmethod(lambda rate: 1000 / 30)})()
        windows.append(one)
        return one

    yield open_window
    for one in windows:
        one.close()


def press(key, up=False):
    pygame.event.post(pygame.event.Event(pygame.KEYUP if up else pygame.KEYDOWN, key=key))


def click(one, x, y):
    place = round(x * one.scale), round(y * one.scale)
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=place))


def turns(one, count):
    assert all(one.turn() for _ in range(count))


@pytest.mark.parametrize(("key", "direction"), [("K_LEFT", -1), ("K_a", -1), ("K_RIGHT", 1), ("K_d", 1)])
def test_held_keys_turn_the_car(opened, key, direction):
    one = opened("car(track=3, obstacles=0)")
    state = one.table.pool.states
    before = float(state["angle"][0])
    press(getattr(pygame, key))
    press(pygame.K_UP)
    turns(one, 5)
    turned = (float(state["angle"][0]) - before + 180) % 360 - 180
    assert turned == pytest.approx(direction * 25)
    assert state["speed"][0] > 0.8
    press(getattr(pygame, key), up=True)
    turns(one, 4)
    assert (float(state["angle"][0]) - before + 180) % 360 - 180 == pytest.approx(turned)


def test_space_lets_the_agent_play_and_back(opened):
    one = opened("car(track=3)")
    turns(one, 3)
    assert one.table.pool.states["speed"][0] == 0
    press(pygame.K_SPACE)
    turns(one, 60)
    assert one.table.pool.states["travelled"][0] > 0.02 and one.table.total > 0.2
    press(pygame.K_SPACE)
    turns(one, 1)
    assert one.table.is_mine


def test_the_picture_equals_that_of_other_renderers(opened):
    one = opened("car(track=3)")
    press(pygame.K_UP)
    turns(one, 8)
    seen = np.swapaxes(pygame.surfarray.array3d(one.screen), 0, 1).astype(int)
    drawn = images.raster(one.shapes, one.table.pool.spec.frame).astype(int)
    assert seen.shape == drawn.shape
    assert (np.abs(seen - drawn).max(axis=2) > 60).mean() < 0.01


def test_clicks_and_digits_play_and_the_agent_answers(opened):
    one = opened("tictactoe", "perfect")
    click(one, 150, 150)
    turns(one, 25)
    assert int(one.table.pool.states["stones"][0, 0]) == 1 << 4
    turns(one, 25)
    assert one.table.pool.states["moves"][0] == 2 and one.table.is_mine
    press(pygame.K_1)
    turns(one, 50)
    assert one.table.pool.states["moves"][0] == 4
    click(one, 150, 150)
    turns(one, 30)
    assert one.table.pool.states["moves"][0] == 4


def test_both_may_act_at_once(opened):
    one = opened("goofspiel", "random", seat=1)
    turns(one, 30)
    assert one.table.pool.states["round"][0] == 0
    press(pygame.K_5)
    turns(one, 30)
    assert one.table.pool.states["round"][0] == 1 and one.table.pool.states["bids"][0, 1, 0] == 5


def test_arrows_play_moves_with_the_names_of_directions(opened):
    one = opened("lair")
    column = int(one.table.pool.states["column"][0])
    press(pygame.K_LEFT)
    turns(one, 6)
    assert one.table.pool.states["column"][0] == column - 1


def test_r_starts_a_new_game_and_live_games_restart_automatically(opened):
    one = opened("cartpole", "random")
    press(pygame.K_SPACE)
    over, fresh = False, False
    for _ in range(2000):
        one.turn()
        over |= one.table.is_over
        fresh |= over and one.table.pool.status[0] == PLAYING
    assert over and fresh
    press(pygame.K_SPACE)
    press(pygame.K_r)
    turns(one, 2)
    assert one.table.pool.states["moves"][0] == 0 and one.table.total == 0


def test_escape_and_closing_the_window_quit(opened):
    one = opened("tictactoe")
    assert one.turn()
    press(pygame.K_ESCAPE)
    assert not one.turn()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not one.turn()


def test_unchanged_shapes_are_painted_once(opened):
    one = opened("car(track=3)")
    press(pygame.K_UP)
    turns(one, 4)
    assert len(one.painter.still) > 250
    kept = one.painter.surface.copy()
    anew = window.Painter(pygame, kept.get_size(), one.scale * window.SMOOTHING).paint(one.shapes)
    np.testing.assert_array_equal(pygame.surfarray.array3d(anew), pygame.surfarray.array3d(kept))


def test_invalid_arguments_raise_an_error(monkeypatch):
    with pytest.raises(LudusError, match="there is no seat 2"):
        window.lay("tictactoe", "best", 2, 0)
    with pytest.raises(LudusError, match="cannot be played in a window"):
        window.lay("gymnasium:CartPole-v1", "best", 0, 0)
    monkeypatch.setitem(__import__("sys").modules, "pygame", None)
    with pytest.raises(LudusError, match=r"pip install 'ludus\[window\]'"):
        window.Window(window.lay("tictactoe", "best", 0, 0))
