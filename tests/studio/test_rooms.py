"""Rooms with real games and agents: play, watch, control, save and restore."""

import json
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from ludus import agents, games
from ludus.evaluation import preparation, replays, show
from ludus.pool import binding
from ludus.studio import wire
from ludus.studio.rooms import Rooms, persistence
from ludus.types import LudusError

PATIENCE = 240.0
"""seconds after which a test fails; compiling may take long"""


class Shelf:
    """Agents without runs; `runs` maps the name of a run to an agent and its version."""

    def __init__(self):
        self.runs = {}

    def agent(self, name, game):
        name = self.runs[name][0] if name in self.runs else name
        agent = agents.load(name, game)
        return agent, agent.init(games.load(game).spec, 0)

    def newer(self, name):
        return self.runs[name][1]


class Listener:
    """Keeps all messages and frames."""

    def __init__(self):
        self.states, self.frames, self.errors = [], [], []
        self.changed = threading.Condition()

    def on_message(self, message):
        with self.changed:
            (self.states if message["kind"] == "room" else self.errors).append(message)
            self.changed.notify_all()

    def on_frame(self, frame):
        with self.changed:
            self.frames.append(frame)
            self.changed.notify_all()

    def until(self, wanted):
        """The first state from now on for which `wanted` is true."""
        return self.ever(wanted, max(len(self.states) - 1, 0))

    def ever(self, wanted, since=0):
        """The first state since the beginning for which `wanted` is true."""

        def found():
            return next((state for state in self.states[since:] if wanted(state)), None)

        with self.changed:
            assert self.changed.wait_for(lambda: self.errors or found(), PATIENCE)
            assert not self.errors, self.errors
            return found()

    def until_frames(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.frames) >= count, PATIENCE)


@pytest.fixture
def rooms(tmp_path):
    made = Rooms(tmp_path, Shelf())
    yield made
    made.close()


def watch(rooms, *args, **options):
    room, listener = rooms.create(*args, **options), Listener()
    room.attach(listener)
    listener.until(lambda state: "is loading" not in state["words"])
    return room, listener


def do(room, **message):
    room.command(message).result(PATIENCE)


def act(room, listener, name):
    """Play a move by its name when the room waits for it."""
    state = listener.until(lambda state: state["waiting"])
    action = next(one["action"] for one in state["legal"] if one["name"] == name)
    do(room, do="act", action=action, move=state["move"])


def test_a_person_against_the_perfect_player(rooms):
    room, listener = watch(rooms, "tictactoe", ["person", "perfect"], seed=5)
    for _ in range(5):
        state = listener.until(lambda state: state["waiting"] or state["over"])
        if state["over"]:
            break
        assert (state["seat"], state["you"], state["kind"]) == (0, [0], "room")
        act(room, listener, state["legal"][0]["name"])
    over = listener.until(lambda state: state["over"])
    assert over["result"] == "You lose." and over["returns"] == [-1.0, 1.0]  # the first free cell is a bad move
    assert over["score"] == {"games": 1, "returns": [-1.0]} and not over["waiting"] and over["legal"] == []
    assert over["move"] == len(over["moves"]) == len(over["history"]) and over["history"][-1] == -1.0
    do(room, do="again", seed=6)
    fresh = listener.until(lambda state: state["waiting"])
    assert (fresh["move"], fresh["over"], fresh["result"], fresh["seed"]) == (0, False, None, 6)


def test_undo_goes_back_to_the_last_decision_of_the_person(rooms):
    room, listener = watch(rooms, "tictactoe", ["person", "perfect"], seed=5)
    opening = listener.until(lambda state: state["waiting"])
    assert not opening["can"]["undo"]
    act(room, listener, "a1")
    second = listener.until(lambda state: state["waiting"] and state["move"] == 2)
    act(room, listener, second["legal"][0]["name"])
    listener.until(lambda state: state["move"] == 4)
    do(room, do="undo")
    again = room.state()
    for field in ("move", "legal", "words", "moves", "seat", "returns", "waiting"):
        assert again[field] == second[field]
    do(room, do="undo")
    assert room.state()["words"] == opening["words"] and room.state()["last"] is None
    with pytest.raises(LudusError, match="no move to undo"):
        do(room, do="undo")


def test_the_last_move_of_a_finished_game_can_be_undone(rooms):
    room, listener = watch(rooms, "tictactoe", ["person", "person"])
    for name in ("a1", "b1", "a2", "b2"):
        act(room, listener, name)
    before = listener.until(lambda state: state["move"] == 4)
    act(room, listener, "a3")
    assert listener.until(lambda state: state["over"])["result"] == "Seat 1 wins."
    do(room, do="undo")
    assert {**room.state(), "thoughts": None, "history": None} == {**before, "thoughts": None, "history": None}


def test_a_hint_is_the_move_of_the_strongest_agent(rooms):
    room, listener = watch(rooms, "tictactoe", ["person", "random"], seed=1)
    do(room, do="hint")
    hint = room.state()["hint"]
    legal = {one["action"]: one["name"] for one in room.state()["legal"]}
    assert legal[hint["action"]] == hint["name"] and not room.state()["thinking"]
    act(room, listener, hint["name"])
    assert listener.until(lambda state: state["move"])["hint"] is None


def test_a_hint_comes_with_the_thoughts_of_its_agent(rooms):
    room, _ = watch(rooms, "goofspiel", ["person", "random"], seed=1)
    assert room.state()["thoughts"] is None, "the random agent has no thoughts, and no hint was requested"
    do(room, do="hint")
    thoughts, hint = room.state()["thoughts"], room.state()["hint"]
    assert thoughts["agent"] == "trained" and hint["name"] in thoughts["names"].values()


def test_the_perfect_player_shows_the_value_of_every_move(rooms):
    room, listener = watch(rooms, "tictactoe", ["person", "person"])
    for name in ("a1", "b1"):  # b1 loses: a3 and others win by force
        act(room, listener, name)
    thoughts = listener.until(lambda state: state["move"] == 2 and state["thoughts"])["thoughts"]
    assert (thoughts["agent"], thoughts["unit"], thoughts["values"]) == ("perfect", "value", [1.0, -1.0])
    assert set(thoughts["moves"].values()) >= {1.0} and len(thoughts["moves"]) == 7
    history = room.state()["history"]
    assert history == [0.0, 1.0]


def test_a_move_must_be_legal_and_chosen_in_the_present_position(rooms):
    room, listener = watch(rooms, "tictactoe", ["person", "perfect"])
    state = listener.until(lambda state: state["waiting"])
    with pytest.raises(LudusError, match="at move 7"):
        do(room, do="act", action=4, move=7)
    with pytest.raises(LudusError, match="not allowed"):
        do(room, do="act", action=9, move=0)
    act(room, listener, "b2")
    with pytest.raises(LudusError, match=r"at move 0|person"):
        do(room, do="act", action=0, move=0)
    assert state["move"] == 0 and room.state()["move"] >= 1


@pytest.mark.parametrize("message", [
    {"do": "fly"}, {"do": "act", "action": 1.5, "move": 0}, {"do": "act", "action": True, "move": 0}, {"do": "act"},
    {"do": "set", "speed": 1e9}, {"do": "set", "speed": "fast"}, {"do": "set", "color": 3},
    {"do": "input", "action": []},
    {"do": "input", "action": [float("nan"), 0]}, {"do": "control", "hands": "foot"}, {"do": "set", "swarm": 0},
    {"do": "set", "seats": "person"}, {"do": "again", "seed": -1}, {"do": ["act"]},
])  # fmt: skip
def test_malformed_commands_are_rejected_at_once(rooms, message):
    room, _ = watch(rooms, "tictactoe", ["perfect", "perfect"])
    with pytest.raises(LudusError, match=r"should be|has no field|unknown command"):
        room.command(message)


def test_impossible_commands_are_errors(rooms):
    room, _ = watch(rooms, "tictactoe", ["perfect", "perfect"])
    for message, words in [
        ({"do": "control", "hands": "person"}, "no continuous control"), ({"do": "input", "action": [0, 0]}, "control"),
        ({"do": "set", "swarm": 8}, "cannot be shown as a swarm"), ({"do": "set", "seats": ["perfect"]}, "2 seats"),
        ({"do": "set", "seats": ["perfect", "nobody"]}, "nobody"), ({"do": "tick"}, "pause"), ({"do": "hint"}, "turn"),
    ]:  # fmt: skip
        with pytest.raises(LudusError, match=words):
            do(room, **message)
    assert room.state()["seats"] == ["perfect", "perfect"]


def test_agents_play_game_after_game(rooms):
    room, listener = watch(rooms, "tictactoe", ["perfect", "random"])
    do(room, do="set", speed=16.0)
    state = listener.until(lambda state: state["score"]["games"] >= 2)
    assert min(state["score"]["returns"]) >= 0  # perfect never loses
    do(room, do="set", paused=True)
    games_played = room.state()["score"]["games"]
    for _ in range(10):
        do(room, do="tick")
    assert room.state()["score"]["games"] > games_played


def test_a_new_opponent_continues_the_game(rooms):
    room, listener = watch(rooms, "tictactoe", ["person", "random"])
    act(room, listener, "b2")
    listener.until(lambda state: state["waiting"] and state["move"] == 2)
    words = room.state()["words"]
    do(room, do="set", seats=["mcts(50)", "person"])
    assert room.state()["you"] == [1] and room.state()["words"] == words
    state = listener.until(lambda state: state["waiting"] and state["move"] == 3)
    assert state["last"]["seat"] == 0


def test_search_shows_its_thoughts_and_plays_the_most_visited_move(rooms):
    _, listener = watch(rooms, "tictactoe", ["mcts(50)", "person"])
    thoughts = listener.ever(lambda state: state["thoughts"] and state["move"] == 0)["thoughts"]
    assert (thoughts["agent"], thoughts["unit"]) == ("mcts(50)", "chance")
    assert sum(thoughts["moves"].values()) == pytest.approx(1, abs=0.01)
    best = max(thoughts["moves"], key=thoughts["moves"].get)
    assert listener.ever(lambda state: state["move"] == 1)["last"]["action"] == int(best)


def test_a_room_is_restored_after_a_restart(rooms, tmp_path):
    room, listener = watch(rooms, "tictactoe", ["person", "perfect"], seed=9)
    act(room, listener, "b2")
    before = listener.until(lambda state: state["waiting"] and state["move"] == 2)
    rooms.close()
    other = Rooms(tmp_path, Shelf())
    try:
        found, again = other.get(room.id), Listener()
        found.attach(again)
        state = again.until(lambda state: state["waiting"])
        for field in ("room", "game", "seats", "move", "words", "moves", "legal", "seed", "returns"):
            assert state[field] == before[field]
        do(found, do="undo")
        assert found.state()["move"] == 0
    finally:
        other.close()


def test_a_damaged_file_is_an_error(rooms, tmp_path):
    room, listener = watch(rooms, "tictactoe", ["person", "perfect"])
    act(room, listener, "b2")
    listener.until(lambda state: state["waiting"] and state["move"] == 2)
    rooms.close()
    path = persistence.path_of(rooms.folder, room.id)
    facts = json.loads(path.read_text())
    other = Rooms(tmp_path, Shelf())
    changes = [{"actions": ["a"]}, {"more": 1}, {"seed": -4}, {"game": "chss"}, {"history": [True]}, {"format": 1}]
    for damage in [b"", b"[]", b"{", *(json.dumps(facts | change).encode() for change in changes)]:
        path.write_bytes(damage)
        with pytest.raises(LudusError):
            other.get(room.id)
    path.write_text(json.dumps(facts | {"actions": [4, 4]}))
    failing, listener = other.get(room.id), Listener()
    failing.attach(listener)
    with listener.changed:
        assert listener.changed.wait_for(lambda: listener.errors or failing.state()["over"], PATIENCE)
    assert "not legal" in failing.state()["result"]
    other.close()


@pytest.mark.parametrize("name", ["../../etc/pas", "abcdefghij", "ABCDEFGHIJ", "", "abcdefghij\n"])
def test_an_unknown_room_is_an_error(rooms, name):
    with pytest.raises(LudusError, match="there is no room"):
        rooms.get(name)


def test_the_room_that_was_unwatched_for_longest_is_closed(rooms, monkeypatch):
    monkeypatch.setattr("ludus.studio.rooms.MOST_ROOMS", 2)
    first, listener = watch(rooms, "tictactoe", ["perfect", "perfect"])
    second = rooms.create("tictactoe", ["person", "perfect"])
    third = rooms.create("tictactoe", ["perfect", "perfect"])
    third.attach(listener)
    assert set(rooms._open) == {first.id, third.id}
    with pytest.raises(LudusError, match="all are watched"):
        rooms.create("tictactoe", ["perfect", "perfect"])
    first.detach(listener)
    assert rooms.get(second.id).number not in (third.number,)


def test_a_person_plays_a_simultaneous_game(rooms):
    room, listener = watch(rooms, "goofspiel", ["person", "random"], seed=3)
    for turn in range(13):
        state = listener.until(lambda state, turn=turn: state["waiting"] and state["move"] == turn)
        assert state["seat"] == 0 and len(state["legal"]) == 13 - turn
        do(room, do="act", action=state["legal"][0]["action"], move=turn)
    over = listener.until(lambda state: state["over"])
    assert over["result"] in ("You win!", "You lose.", "A draw.")
    assert [name.split(" / ")[0] for name in over["moves"]] == [f"bid {card}" for card in range(1, 14)]
    do(room, do="undo")
    assert room.state()["move"] == 12 and len(room.state()["legal"]) == 1


def test_two_persons_choose_one_after_the_other_in_a_simultaneous_game(rooms):
    room, listener = watch(rooms, "goofspiel", ["person", "person"], seed=3)
    state = listener.until(lambda state: state["waiting"])
    do(room, do="act", action=4, move=0)
    assert room.state()["seat"] == 1 and room.state()["move"] == 0
    do(room, do="act", action=7, move=0)
    assert room.state()["moves"] == ["bid 5 / bid 8"] and state["seat"] == 0


def test_balatro_with_elementary_actions(rooms):
    room, listener = watch(rooms, "balatro(actions=elementary, seed=LUDUS)", ["person"])
    for move in range(12):
        state = listener.until(lambda state, move=move: state["waiting"] and state["move"] == move)
        do(room, do="act", action=state["legal"][-1]["action"], move=move)
    state = listener.until(lambda state: state["move"] == 12)
    replay = room.replay()
    assert replay.actions.tolist() == room.table.actions and replay.ending == "open" and replay.agents == ("person",)
    do(room, do="undo")
    assert room.state()["move"] == 11
    assert len(listener.frames[-1].rows) > 20
    replays.verify(replay)


def test_listeners_get_the_same_bytes_and_a_slow_one_a_whole_frame(rooms):
    room, quick = watch(rooms, "car(track=3)", ["scripted"])
    second = Listener()
    room.attach(second)
    quick.until_frames(20)
    do(room, do="set", paused=True)
    common = {frame.number: frame for frame in quick.frames}
    assert len(second.frames) > 2
    shapes, seen = None, -1
    for frame in second.frames:
        assert common[frame.number] is frame
        shapes, seen = wire.decode(frame.after(seen), shapes).shapes, frame.number
    assert np.array_equal(shapes, wire.decode(room.frame()).shapes)
    whole, change = second.frames[-1].after(3), second.frames[-1].after(second.frames[-2].number)
    assert wire.decode(whole).whole and len(change) < len(whole) / 5


def test_a_swarm_of_64_is_drawn(rooms):
    room, listener = watch(rooms, "car", ["scripted"], swarm=64, seed=11)
    listener.until_frames(40)
    do(room, do="set", paused=True)
    alone = len(wire.decode(room.frame()).shapes) - 63 * 2
    do(room, do="set", swarm=1)
    assert len(wire.decode(room.frame()).shapes) == alone
    assert room.state()["move"] > 30 and room.state()["swarm"] == 1


def test_a_swarm_spreads_over_one_track(rooms):
    room, listener = watch(rooms, "car", ["scripted"], swarm=16, seed=11)
    listener.until_frames(40)
    do(room, do="set", paused=True)
    states = room.table.pool.states
    assert set(states["seed"].tolist()) == {11}
    assert len(np.unique(states["x"])) == 16
    do(room, do="again")
    assert (
        len(set(room.table.pool.states["seed"].tolist())) == 1
        and room.table.pool.states["seed"][0] == room.state()["seed"]
    )


def test_a_person_takes_control_and_gives_it_back(rooms):
    room, listener = watch(rooms, "car(track=3, obstacles=0)", ["scripted"])
    do(room, do="set", paused=True)
    with pytest.raises(LudusError, match="take control first"):
        do(room, do="input", action=[1, 0])
    room.command({"do": "control", "hands": "person"}, listener).result(PATIENCE)
    angle = float(room.table.pool.states["angle"][0])
    do(room, do="input", action=[1.0, 9.0])
    do(room, do="tick")
    assert (float(room.table.pool.states["angle"][0]) - angle) % 360 == pytest.approx(5.0)
    gauges = wire.decode(room.frame()).gauges
    assert [gauge["name"] for gauge in room.state()["gauges"]] == ["value", "steering", "throttle", "speed"]
    assert gauges[1:3] == [1.0, 1.0]
    assert gauges[3] == pytest.approx(float(room.table.pool.states["speed"][0]), rel=1e-5)
    other = Listener()
    room.attach(other)
    room.detach(other)
    do(room, do="tick")
    assert room.state()["control"] == "person"
    room.detach(listener)
    do(room, do="tick")
    assert room.state()["control"] == "agent"
    assert room.replay().agents == ("person",)


def test_a_person_has_control_from_the_start_and_restarts_after_a_crash(rooms):
    room, listener = watch(rooms, "car(track=3)", ["person"])
    assert room.state()["control"] == "person" and room.state()["you"] == [0]
    do(room, do="input", action=[1.0, 1.0])
    over = listener.until(lambda state: state["over"])
    assert "points" in over["result"] and not over["waiting"]
    time.sleep(1.2)
    assert room.state()["over"]
    do(room, do="again", seed=4)
    assert not room.state()["over"]


def test_a_ghost_repeats_the_last_lap(rooms):
    room, _ = watch(rooms, "car(track=3, obstacles=0)", ["scripted"])
    do(room, do="set", paused=True, ghost=True)
    before = len(wire.decode(room.frame()).shapes)
    while not room.runner.stage.ghost.last:
        do(room, do="tick")
        assert room.state()["move"] < 1000
    lap = room.runner.stage.ghost.last
    do(room, do="tick")
    shapes = wire.decode(room.frame()).shapes
    assert len(shapes) == before + 2
    ghost = shapes[before]
    state = lap[len(room.runner.stage.ghost.present)]
    assert (float(ghost["x"]) + 12, float(ghost["y"]) + 7) == (
        pytest.approx(state["x"][0], abs=0.1),
        pytest.approx(state["y"][0], abs=0.1),
    )
    do(room, do="set", ghost=False)
    assert len(wire.decode(room.frame()).shapes) == before


def test_the_replay_of_a_continuous_game_ends_in_the_same_state(rooms):
    room, listener = watch(rooms, "car", ["scripted"], seed=21)
    listener.until_frames(30)
    do(room, do="set", paused=True)
    replay = room.replay()
    assert replay.game == "car(track=21)" and len(replay.actions) == room.state()["move"]
    *_, last = replays.steps(replay)
    assert last.states.tobytes() == room.table.pool.states[:1].tobytes()


def test_a_newer_checkpoint_replaces_the_agent(rooms):
    rooms.shelf.runs["run:mine"] = "random", "000001"
    room, listener = watch(rooms, "tictactoe", ["run:mine", "random"])
    do(room, do="set", speed=16.0)
    listener.until(lambda state: state["score"]["games"] >= 1)
    better = agents.load("perfect", "tictactoe")
    assert room.table.players[0].agent is not better
    rooms.shelf.runs["run:mine"] = "perfect", "000002"
    listener.until(lambda state: room.table.players[0].agent is better)


def test_an_unwatched_room_pauses(rooms):
    room, listener = watch(rooms, "car(track=3)", ["scripted"])
    listener.until_frames(5)
    room.detach(listener)
    do(room, do="set", ghost=True)
    tick = room.runner.tick
    time.sleep(0.3)
    assert room.runner.tick == tick


def test_a_foreign_game_is_watched_as_pixels(rooms, monkeypatch):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pygame")
    spec = show.open_drawable("gymnasium:CartPole-v1", 0).spec
    monkeypatch.setattr(rooms.shelf, "agent", lambda name, game: (agents.load("random", "car"), spec))
    room, listener = watch(rooms, "gymnasium:CartPole-v1", ["random"])
    listener.until_frames(2)
    assert wire.decode(room.frame()).shapes.shape == (400, 600, 3) and room.state()["can"]["undo"] is False
    with pytest.raises(LudusError, match="module"):
        rooms.create("gymnasium:os:CartPole-v1", ["random"])


def test_invalid_rooms_are_refused(rooms):
    for game, seats, swarm, words in [
        ("tictactoe", ["person"], 1, "2 seats"), ("chss", ["person"], 1, "unknown game"),
        ("tictactoe", ["person", "chess"], 1, "unknown agent"), ("car", ["scripted"], 65, "a swarm has 1 to 64 games"),
        ("tictactoe", ["perfect", "perfect"], 2, "cannot be shown as a swarm"),
    ]:  # fmt: skip
        with pytest.raises(LudusError, match=words):
            rooms.create(game, seats, swarm=swarm)


class Dreamer:
    """A scripted driver with a world model that predicts driving straight at full speed, with nothing near."""

    def __init__(self, agent):
        self.agent, self.calls = agent, 0

    def memory(self, rows):
        return ()

    def act(self, params, memory, step, key):
        return self.agent.act(params, memory, step, key)

    def imagine(self, params, step, horizon, key=0):
        self.calls += 1
        assert step.seat.shape == (1,)
        return SimpleNamespace(observations=np.ones((horizon + 1, 1, 6)), actions=np.zeros((horizon, 1, 2)))


def test_the_imagined_and_the_real_path_are_drawn(rooms, monkeypatch):
    dreamer = Dreamer(agents.load("scripted", "car"))
    monkeypatch.setattr(rooms.shelf, "agent", lambda name, game: (dreamer, ()))
    room, _ = watch(rooms, "car(track=3, obstacles=0)", ["dreamer"])
    assert room.state()["can"]["imagine"]
    do(room, do="set", paused=True)
    before, moves = len(wire.decode(room.frame()).shapes), room.state()["move"]
    do(room, do="set", imagine=True)
    for _ in range(21):
        do(room, do="tick")
    imagination = room.runner.stage.imagination
    assert dreamer.calls == 1 and len(imagination.real) == 21 and room.state()["move"] == moves + 21
    extra = wire.decode(room.frame()).shapes[before:]
    assert len(extra) == 20 + 5 * 5 + 20  # the imagined path, tips of rays at every fourth step, the real path
    lengths = np.hypot(extra["w"] - extra["x"], extra["h"] - extra["y"])[:20]
    assert lengths == pytest.approx(np.full(20, 5.0), abs=0.1)
    do(room, do="tick")
    assert dreamer.calls == 2 and len(room.runner.stage.imagination.real) == 1
    do(room, do="set", imagine=False)
    assert len(wire.decode(room.frame()).shapes) == before


def test_settings_do_not_make_an_agent_decide_twice(rooms, monkeypatch):
    """An agent with a memory would remember the position twice."""
    room, listener = watch(rooms, "tictactoe", ["perfect", "perfect"])
    do(room, do="set", paused=True)
    listener.until(lambda state: state["paused"] and state["thoughts"])
    plan = room.runner.deliberation.plan
    do(room, do="set", speed=2.0)
    assert room.runner.deliberation.plan is plan is not None


def test_commands_wait_until_the_game_is_open(rooms):
    room = rooms.create("tictactoe", ["person", "perfect"])
    do(room, do="act", action=4, move=0)
    assert room.state()["moves"] == ["b2"]
    other = rooms.create("tictactoe", ["person", "perfect"])
    assert len(other.shapes()) > 4 and other.replay().ending == "open"


def test_a_room_plays_while_its_game_is_compiled_and_searchers_follow(rooms, tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(binding, "_bound", {})
    room, listener = watch(rooms, "tictactoe", ["person", "mcts(50)"], seed=1)
    first = listener.until(lambda state: state["waiting"])
    assert first["preparing"]["agents"] == ["mcts(50)"] and 0 <= first["preparing"]["done"] < 1
    act(room, listener, "b2")
    moved = listener.until(lambda state: state["move"] == 1)
    assert moved["preparing"] and not moved["over"], "the move was made before the compiler was done"
    answered = listener.until(lambda state: state["move"] == 2 and state["waiting"])
    assert answered["preparing"] is None
    assert not room.table.interpreted and preparation.is_prepared(room.table.game)


def test_a_network_plays_without_thoughts_while_its_game_is_compiled(rooms, tmp_path, monkeypatch):
    """Its evaluation is another program of JAX, for which the first move would wait."""
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(binding, "_bound", {})
    room, listener = watch(rooms, "connect4", ["trained", "person"], seed=1)
    first = listener.until(lambda state: state["waiting"])
    assert first["preparing"] and first["move"] == 1
    listener.until(lambda state: state["preparing"] is None)
    assert not any(state["thoughts"] for state in listener.states if state["preparing"])
    act(room, listener, first["legal"][0]["name"])
    listener.until(lambda state: state["move"] == 3 and state["waiting"] and state["thoughts"])
