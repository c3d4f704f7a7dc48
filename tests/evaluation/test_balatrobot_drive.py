"""Playing the real Balatro, without it: moves that the interface cannot express, and the panel."""

import io

import numpy as np
import pytest
from rich.console import Console

from ludus.agents.players.expert import balatro as expert
from ludus.bridges.balatrobot import debugging
from ludus.bridges.balatrobot.client import released
from ludus.bridges.balatrobot.moves import Request
from ludus.bridges.balatrobot.protocol import METHODS
from ludus.bridges.balatrobot.run import Run
from ludus.dsl.rows import new_rows
from ludus.evaluation.balatrobot import Driver, Turn
from ludus.evaluation.balatrobot_panel import panel, picture
from ludus.games.balatro import actions as a

TURN = Turn("ante 1", "play 1", Request("play", {"cards": [0]}), 4, {"play 1": 0.75, "discard 2": 0.25}, "sell joker 1")


@pytest.fixture
def shop():
    """A shop with a planet and a joker, and with money."""
    run = Run("red", "white", "7LB2WVPK", actions="direct", endless="no")
    run.take(a.SELECT_BLIND)
    debugging.change(run, {"chips": 10**9, "money": 100})
    run.take(a.PLAY)
    run.take(a.CASH_OUT)
    return run


def driver_that_wants(run, action, methods, monkeypatch):
    driver = Driver(run, "random", methods, think=None)
    monkeypatch.setattr(driver, "_decide", lambda: action)
    return driver


def test_what_the_game_offers_is_played_as_the_agent_wants(shop, monkeypatch):
    turn, action = driver_that_wants(shop, a.BUY_AND_USE, tuple(METHODS), monkeypatch).turn(0)
    assert action == a.BUY_AND_USE and turn.wanted == "" and str(turn.request) == "buy_and_use card 0"


def test_without_a_method_a_consumable_is_bought_first(shop, monkeypatch):
    turn, action = driver_that_wants(shop, a.BUY_AND_USE, released(), monkeypatch).turn(0)
    assert action == a.BUY and turn.wanted == "buy and use shop 1" and str(turn.request) == "buy card 0"


def test_without_room_for_it_the_shop_is_left(shop, monkeypatch):
    for _ in range(2):
        debugging.add(shop, {"key": "c_fool"})
    assert driver_that_wants(shop, a.BUY_AND_USE, released(), monkeypatch).turn(0)[1] == a.LEAVE


def test_with_an_open_pack_the_agent_does_not_see_its_consumables(shop):
    """The interface does not let it use them then."""
    debugging.add(shop, {"key": "c_pluto"})
    shop.take(a.BUY_PACK)
    driver = Driver(shop, "random", released(), think=None)
    seen = set()
    for _ in range(60):
        turn, action = driver.turn(0)
        seen.add(turn.request.method)
        assert shop.mask[action]
    assert seen == {"pack"} and shop.record["consumable_count"] == 1


def test_the_moves_that_the_expert_considered():
    work = new_rows(1, expert.WORK)[0]
    work["count"], work["candidates"][:2], work["wins"][:2] = 2, (a.PLAY, a.DISCARD), (32.0, 8.0)
    assert expert.considered(work) == {a.PLAY: 1.0, a.DISCARD: 0.25}


def test_an_agent_with_values_shows_them(shop):
    driver = Driver(shop, "random", tuple(METHODS), think=lambda player, pool: {a.LEAVE: 0.5, a.REROLL: 0.9})
    turn, _ = driver.turn(0)
    assert list(turn.thoughts.items()) == [("reroll", 0.9), ("leave", 0.5)]
    assert np.isfinite(list(turn.thoughts.values())).all()


def test_the_panel_shows_the_table_the_thoughts_and_the_move():
    console = Console(file=io.StringIO(), width=80)
    console.print(picture(TURN))
    shown = console.file.getvalue()
    assert "ante 1" in shown and "0.750  ███████" in shown and "move 5: play 1 (instead of sell joker 1)" in shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "quiet", "wanted"),
    [
        (io.StringIO(), False, "5: play 1 instead of sell joker 1 (play 1 0.75, discard 2 0.25)\n"),
        (io.StringIO(), True, ""),
        (Terminal(), False, "move 5: play 1"),
    ],
)
def test_where_the_panel_is_shown(stream, quiet, wanted):
    with panel(stream, quiet) as show:
        show(TURN)
    assert wanted in stream.getvalue() if wanted else not stream.getvalue()
