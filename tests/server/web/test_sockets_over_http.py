"""WebSockets: one message each way, errors as problems, and the connection stays open."""

import json

import msgpack
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

POLE = {"motion": [0.01, -0.02, 0.03, 0.04]}


def socket(server, path, **options):
    return connect(server.url.replace("http", "ws") + path, **options)


def ask(connection, message):
    connection.send(message if isinstance(message, str | bytes) else json.dumps(message))
    answer = connection.recv(60)
    return msgpack.unpackb(answer) if isinstance(answer, bytes) else json.loads(answer)


def test_a_session_in_json_and_msgpack(server):
    session, twin = server.session(seed=1), server.session(seed=1)
    with socket(server, f"/v1/sessions/{session}/socket") as connection:
        first = ask(connection, {"index": 0, "observation": POLE})
        assert first == server.post(f"/v1/sessions/{twin}/act", {"index": 0, "observation": POLE})
        assert ask(connection, msgpack.packb({"index": 1, "observation": POLE}))["index"] == 2
        assert ask(connection, {"index": 7, "observation": POLE})["code"] == "index_mismatch"
        for bad in ("{", "[" * 100_000, '{"index": NaN}', '"\\ud800"', b"\xc1", b""):
            assert ask(connection, bad)["status"] in (400, 422)
        assert ask(connection, {"index": 2, "observation": POLE})["index"] == 3, "the connection is still open"
        assert server.http.get("/metrics").text.count("ludus_sockets 1.0") == 1


def test_a_game(server):
    opened = server.game("goofspiel", ["person", "random"])
    with socket(server, f"/v1/games/{opened['id']}/socket") as connection:
        assert ask(connection, {"seat": 0})["code"] == "key_required"
        assert ask(connection, {"move": 0, "action": 2})["code"] == "key_required"
        seen = ask(connection, {"seat": 0, "key": opened["keys"]["0"]})
        assert seen == opened["state"]
        after = ask(connection, {"move": 0, "action": 2, "key": opened["keys"]["0"]})
        assert after["move"] == 1 and after["last"][0]["name"] == "bid 3"
        assert ask(connection, [1])["status"] == 422
        assert ask(connection, {})["seat"] is None


def test_unknown_ids_and_large_messages(server):
    with socket(server, "/v1/sessions/nothing/socket") as connection:
        assert ask(connection, {"index": 0, "observation": POLE})["code"] == "session_not_found"
        connection.send(" " * (2**20 + 1))
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(60)
        assert closed.value.rcvd.code == 1009
    assert server.session()


def test_access_is_checked_before_the_handshake(server):
    for options in ({"origin": "http://evil.example"}, {"additional_headers": {"host": "evil.example"}}):
        with pytest.raises(InvalidStatus) as refused, socket(server, "/v1/sessions/x/socket", **options):
            pass
        assert refused.value.response.status_code == 403
