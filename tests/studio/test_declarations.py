"""Rooms of a user's own game and of a Gymnasium environment, by their declarations."""

import pathlib

import numpy as np
import pytest

from ludus import games
from ludus.dsl import Control, Ghost, Instrument
from ludus.studio import wire
from ludus.types import LudusError

GAMES = pathlib.Path(__file__).parent.parent / "user_games"
BOAT = "boat(harbour=5)"


@pytest.fixture
def boat(monkeypatch):
    monkeypatch.setenv("LUDUS_GAMES", str(GAMES))
    return games.load(BOAT)


def opened(served, game, **options):
    """A paused room and its state."""
    name = served.post("/api/rooms", {"game": game, "seats": ["random"], "seed": 1} | options, 201)["room"]
    room = served.studio.rooms.get(name)
    room.command({"do": "set", "paused": True}).result(180)
    return room, served.get(f"/api/rooms/{name}")


def do(room, **message):
    room.command(message).result(180)


def frame_of(room):
    return wire.decode(room.frame())


def test_a_users_game_has_the_controls_and_gauges_it_declares(served, boat):
    facts = next(game for game in served.get("/api/games") if game["name"] == "boat")
    assert facts["playable"] and facts["continuous"] and facts["dashboard"] is None
    room, state = opened(served, BOAT)
    rudder, thrust = state["controls"]
    assert (rudder["name"], rudder["keys"], rudder["low"], rudder["high"]) == ("rudder", [["KeyJ"], ["KeyL"]], -1, 1)
    assert (thrust["neutral"], thrust["axis"], thrust["keys"][1]) == (0, "vertical", ["ArrowUp", "KeyW"])
    names = ["value", "rudder", "thrust", "speed", "distance"]
    assert [gauge["name"] for gauge in state["gauges"]] == names and state["gauges"][3]["unit"] == "kn"
    do(room, do="control", hands="person")
    do(room, do="input", action=[1.0, 1.0])
    do(room, do="tick")
    state = room.table.pool.states[0]
    assert float(state["heading"]) == 4.0
    gauges = frame_of(room).gauges
    assert gauges[1:] == pytest.approx([1.0, 1.0, float(state["speed"]), float(boat.rules.INSTRUMENTS[1].read(state))])


def test_a_users_game_has_a_swarm_that_shares_its_layout(served, boat):
    room, state = opened(served, "boat", swarm=8)
    assert state["swarm"] == 8 and state["can"]["swarm"] and state["layout"] == "harbour"
    for _ in range(5):
        do(room, do="tick")
    states = room.table.pool.states
    assert len(set(states["buoy_x"].tolist())) == 1 and len(np.unique(states["x"])) == 8
    eight = len(frame_of(room).shapes)
    do(room, do="set", swarm=1)
    assert len(frame_of(room).shapes) == eight - 7


def test_a_users_game_has_a_ghost_of_what_it_declares(served, boat):
    room, state = opened(served, BOAT)
    assert state["can"]["ghost"] and state["ghost_part"] == "round"
    do(room, do="set", ghost=True)
    do(room, do="control", hands="person")
    do(room, do="input", action=[0.32, 0.2])
    alone = len(frame_of(room).shapes)
    while not room.runner.stage.ghost.last:
        do(room, do="tick")
        assert not room.table.over and room.state()["move"] < 1000
    assert len(frame_of(room).shapes) == alone + 1
    assert abs(float(room.table.pool.states[0]["turned"])) // 360 == 1


def test_without_a_declaration_the_ghost_repeats_the_last_game(served, boat, monkeypatch):
    monkeypatch.delattr(boat.rules, "GHOST")
    room, state = opened(served, BOAT)
    assert state["ghost_part"] == "game"
    do(room, do="control", hands="person")
    do(room, do="input", action=[0.0, 1.0])
    while not room.table.over:
        do(room, do="tick")
    game = room.state()["move"]
    do(room, do="tick")  # opens the next game
    do(room, do="tick")
    trail = room.runner.stage.ghost
    assert len(trail.last) == game and trail.state()["x"] == trail.last[1]["x"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("CONTROLS", (Control("rudder"),), "1 CONTROLS, but its actions have 2 components"),
        ("INSTRUMENTS", (Instrument("depth", "depth"),), 'the field "depth", which STATE does not have'),
        ("GHOST", Ghost("round", "rounds"), 'the field "rounds", which STATE does not have'),
    ],
)
def test_a_wrong_declaration_is_an_error(served, boat, monkeypatch, name, value, words):
    monkeypatch.setattr(boat.rules, name, value)
    with pytest.raises(LudusError, match=words):
        served.studio.rooms.create(BOAT, ["random"])


def test_pendulum_is_controlled_and_measured_without_a_declaration(served):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pygame")
    agents = served.get("/api/games/gymnasium:Pendulum-v1/agents")
    assert [agent["name"] for agent in agents] == ["random"]
    room, state = opened(served, "gymnasium:Pendulum-v1")
    (control,) = state["controls"]
    assert (control["name"], control["low"], control["neutral"], control["high"]) == ("action 1", -2, 0, 2)
    assert control["keys"] == [["ArrowLeft", "KeyA"], ["ArrowRight", "KeyD"]]
    names = ["value", "action 1", "observation 1", "observation 2", "observation 3"]
    assert [gauge["name"] for gauge in state["gauges"]] == names and state["can"]["control"]
    assert [gauge["kind"] for gauge in state["gauges"]][2:] == ["bar"] * 3 and state["gauges"][4]["high"] == 8
    do(room, do="control", hands="person")
    do(room, do="input", action=[2.0])
    do(room, do="tick")
    seen = frame_of(room)
    assert seen.gauges[1] == 2.0 and seen.shapes.shape == (500, 500, 3)
    assert seen.gauges[2:] == pytest.approx(room.table.pool.step.observation["observation"][0].tolist())


def test_pendulum_has_a_swarm_of_blended_pictures(served):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pygame")
    room, state = opened(served, "gymnasium:Pendulum-v1")
    assert state["can"]["swarm"] and not state["can"]["ghost"]
    do(room, do="set", swarm=4)
    for _ in range(10):
        do(room, do="tick")
    velocities = room.table.pool.step.observation["observation"][:, 2]
    assert room.state()["swarm"] == 4 and len(np.unique(velocities)) == 4
    one, all_four = room.table.pool.scene(0).astype(int), room.runner.stage.shapes.astype(int)
    assert one.shape == all_four.shape and (all_four < one - 20).any(), (
        "the others are drawn darker than the background"
    )


def test_parameters_have_values_for_play_by_hand(served):
    balatro = next(game for game in served.get("/api/games") if game["name"] == "balatro")
    actions = balatro["parameters"]["actions"]
    assert actions["by_hand"] == "all" and actions["options"] == ["direct", "elementary", "all"]
    assert balatro["parameters"]["deck"]["by_hand"] == ""
