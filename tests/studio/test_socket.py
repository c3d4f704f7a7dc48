"""The WebSocket of a page: commands, messages, frames, and reasons to close it."""

import json
import time

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from ludus import agents, games
from ludus.studio import socket, wire
from ludus.studio.rooms import Rooms
from ludus.types import LudusError


class Shelf:
    def agent(self, name, game):
        agent = agents.load(name, game)
        return agent, agent.init(games.load(game).spec, 0)

    def newer(self, name):
        return None


class Feed:
    """A feed that sends a message at once and records its followers."""

    def __init__(self):
        self.followers, self.listeners = [], []

    def follow(self, name, callback):
        if name != "car-0001":
            raise LudusError(f'there is no run "{name}"')
        self.followers.append(name)
        callback({"kind": "run", "run": name, "summary": {}, "lines": []})
        return lambda: self.followers.remove(name)

    def changed(self, callback):
        self.listeners.append(callback)
        callback({"kind": "runs"})
        return lambda: self.listeners.remove(callback)


class Studio:
    def __init__(self, out):
        self.boot, self.version = "b00t", "1.2.3"
        self.rooms, self.runs_feed = Rooms(out, Shelf()), Feed()


@pytest.fixture
def studio(tmp_path):
    made = Studio(tmp_path)
    yield made
    made.rooms.close()


@pytest.fixture
def client(studio):
    async def endpoint(websocket):
        await socket.serve(websocket, studio)

    with TestClient(Starlette(routes=[WebSocketRoute("/ws", endpoint)])) as client:
        yield client


def until(ws, wanted, frames=None):
    """The next JSON message for which `wanted` is true; frames received before it are added to `frames`."""
    while True:
        message = ws.receive()
        if message["type"] == "websocket.close":
            raise WebSocketDisconnect(message["code"], message["reason"])
        if message.get("bytes") is not None and frames is not None:
            frames.append(message["bytes"])
        if message.get("text") is not None:
            message = json.loads(message["text"])
            if wanted(message):
                return message


def next_frame(ws):
    while True:
        message = ws.receive()
        if message.get("bytes") is not None:
            return message["bytes"]


def test_a_game_is_played_over_the_socket(client, studio):
    room = studio.rooms.create("tictactoe", ["person", "perfect"], seed=2)
    with client.websocket_connect("/ws") as ws:
        assert ws.receive_json() == {"kind": "hello", "boot": "b00t", "version": "1.2.3"}
        ws.send_json({"do": "watch", "room": room.id})
        frames = []
        state = until(ws, lambda message: message.get("waiting"), frames)
        ws.send_json({"do": "act", "room": room.id, "action": 4, "move": 0})
        moved = until(ws, lambda message: message["kind"] == "room" and message["move"] == 2, frames)
        frame = wire.decode(frames[0])
        assert frame.whole and frame.room == state["number"] and len(frame.shapes) > 4
        assert moved["moves"][0] == "b2"
        ws.send_json({"do": "undo", "room": room.id})
        assert until(ws, lambda message: message["kind"] == "room" and message["move"] == 0)["waiting"]


def test_changes_follow_a_whole_frame(client, studio):
    room = studio.rooms.create("car(track=3)", ["scripted"])
    with client.websocket_connect("/ws") as ws:
        ws.send_json({"do": "watch", "room": room.id})
        seen = wire.decode(next_frame(ws))
        assert seen.whole
        kinds = []
        for _ in range(10):
            seen = wire.decode(next_frame(ws), seen.shapes)
            kinds.append(seen.whole)
        assert not all(kinds) and len(seen.gauges) == 4
        ws.send_json({"do": "watch", "room": room.id})  # a second view of the same page needs a whole frame
        for _ in range(1000):
            if (seen := wire.decode(next_frame(ws), seen.shapes)).whole:
                break
        assert seen.whole


def test_a_failed_command_is_an_error_message_and_the_socket_stays_open(client, studio):
    room = studio.rooms.create("tictactoe", ["person", "perfect"])
    with client.websocket_connect("/ws") as ws:
        ws.send_json({"do": "undo", "room": room.id})
        assert "does not watch this room" in until(ws, lambda message: message["kind"] == "error")["sentence"]
        ws.send_text('{"do": "watch", "room": "\\ud800"}')
        assert "there is no room" in until(ws, lambda message: message["kind"] == "error")["sentence"]
        ws.send_json({"do": "watch", "room": "nosuchroom"})
        assert until(ws, lambda message: message["kind"] == "error")["sentence"].startswith("there is no room")
        ws.send_json({"do": "watch", "room": room.id})
        until(ws, lambda message: message.get("waiting"))
        for command, words in [
            ({"do": "undo"}, "no move to undo"), ({"do": "act", "action": 4, "move": 3}, "at move 3"),
            ({"do": "act", "action": "b2", "move": 0}, "should be"), ({"do": "set", "speed": -1}, "should be"),
        ]:  # fmt: skip
            ws.send_json({"room": room.id, **command})
            error = until(ws, lambda message: message["kind"] == "error")
            assert words in error["sentence"] and error["room"] == room.id
        ws.send_json({"do": "act", "room": room.id, "action": 4, "move": 0})
        until(ws, lambda message: message["kind"] == "room" and message["move"] == 2)


@pytest.mark.parametrize("text", [
    "", "[]", "{", "null", '{"do": "fly"}', '{"do": "watch"}', '{"do": "watch", "room": 3}',
    '{"do": "follow", "run": ""}',
    '{"do": NaN}', json.dumps({"do": "list", "more": "x" * 5000}), "[" * 3000, '{"do": ["act"], "room": "abcdefghij"}',
])  # fmt: skip
def test_malformed_messages_close_the_socket(client, text):
    with client.websocket_connect("/ws") as ws, client.websocket_connect("/ws") as other:
        assert ws.receive_json()["kind"] == "hello"
        ws.send_text(text)
        with pytest.raises(WebSocketDisconnect) as closed:
            ws.receive_json()
        assert closed.value.code == 1008 and closed.value.reason
        other.send_json({"do": "list"})
        assert until(other, lambda message: message["kind"] == "runs")


def test_bytes_close_the_socket(client):
    with client.websocket_connect("/ws") as ws:
        assert ws.receive_json()["kind"] == "hello"
        ws.send_bytes(b"{}")
        with pytest.raises(WebSocketDisconnect):
            ws.receive_json()


def test_a_flood_closes_the_socket(client):
    with client.websocket_connect("/ws") as ws:
        assert ws.receive_json()["kind"] == "hello"
        for _ in range(socket.PER_SECOND * 3):
            ws.send_json({"do": "list"})
        with pytest.raises(WebSocketDisconnect) as closed:
            until(ws, lambda message: False)
        assert "messages in one second" in closed.value.reason


def test_a_page_that_disconnects_gives_control_back(client, studio):
    room = studio.rooms.create("car(track=3, obstacles=0)", ["scripted"])
    with client.websocket_connect("/ws") as ws:
        ws.send_json({"do": "watch", "room": room.id})
        until(ws, lambda message: message["kind"] == "room" and message["can"]["control"])
        ws.send_json({"do": "control", "room": room.id, "hands": "person"})
        until(ws, lambda message: message["kind"] == "room" and message["control"] == "person")
        assert room.runner.takeover.holder is not None
    for _ in range(200):
        if room.state()["control"] == "agent" and not room.watched:
            break
        time.sleep(0.05)
    assert room.state()["control"] == "agent" and not room.watched


def test_runs_are_followed_until_the_page_disconnects(client, studio):
    feed = studio.runs_feed
    with client.websocket_connect("/ws") as ws:
        ws.send_json({"do": "follow", "run": "car-0001"})
        assert until(ws, lambda message: message["kind"] == "run")["run"] == "car-0001"
        ws.send_json({"do": "follow", "run": "car-0002"})
        assert "no run" in until(ws, lambda message: message["kind"] == "error")["sentence"]
        ws.send_json({"do": "list"})
        until(ws, lambda message: message["kind"] == "runs")
        assert feed.followers == ["car-0001"] and len(feed.listeners) == 1
        ws.send_json({"do": "unfollow", "run": "car-0001"})
        ws.send_json({"do": "unfollow", "run": "car-0001"})
        ws.send_json({"do": "follow", "run": "car-0001"})
        until(ws, lambda message: message["kind"] == "run")
        assert feed.followers == ["car-0001"]
    for _ in range(200):
        if not feed.followers:
            break
        time.sleep(0.05)
    assert feed.followers == [] and feed.listeners == []


def test_the_number_of_sockets_is_limited(client, monkeypatch):
    monkeypatch.setattr(socket, "MOST_SOCKETS", 1)
    with client.websocket_connect("/ws") as ws:
        assert ws.receive_json()["kind"] == "hello"
        with client.websocket_connect("/ws") as second, pytest.raises(WebSocketDisconnect) as closed:
            second.receive_json()
        assert closed.value.code == 1013


def test_a_slow_page_has_one_waiting_frame_and_is_closed_if_it_never_reads():
    import asyncio

    class Frozen:
        """A socket whose other end does not read."""

        async def send_text(self, text):
            await asyncio.Event().wait()

    class Picture:
        def __init__(self, number):
            self.number = number

    async def scenario():
        page = socket.Page(Frozen(), None)
        watcher = socket.Watcher(page, None)
        page.watchers["a"] = watcher
        writer, overflow = asyncio.create_task(page.write()), asyncio.create_task(page.wait_for_overflow())
        page.enqueue({"kind": "hello"})
        for number in range(5):
            watcher.on_frame(Picture(number))
            watcher.on_message({"kind": "room", "move": number})
        await asyncio.sleep(0.01)
        assert (watcher.frame.number, watcher.state["move"]) == (4, 4)
        for number in range(socket.MOST_WAITING + 2):
            page.enqueue({"kind": "run", "run": "car-0001", "lines": [number]})
        with pytest.raises(socket.Malformed, match="does not read"):
            await overflow
        assert len(page._waiting) <= socket.MOST_WAITING
        writer.cancel()

    asyncio.run(scenario())
