"""The emulator over real sockets in a process of its own, our agents playing through it, and servers that misbehave."""

import contextlib
import http.client
import json
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ludus import cli
from ludus.bench.balatrobot import compare, emulator
from ludus.bridges.balatrobot.client import Client, released
from ludus.bridges.balatrobot.emulator import Emulator
from ludus.bridges.balatrobot.protocol import METHODS, Refusal
from ludus.evaluation.balatrobot import Result, drive
from ludus.types import LudusError

HEALTH = json.dumps({"jsonrpc": "2.0", "method": "health", "id": 1}).encode()


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with emulator("--folder", str(tmp_path_factory.mktemp("saves"))) as port:
        yield port


@pytest.fixture
def client(port):
    with Client(port, keep=True) as client:
        client.call("menu")
        yield client


def request(port, method="POST", path="/", body=HEALTH, **headers):
    """Status, headers and JSON of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())


def sent(port, data, most=65_536):
    """Everything that comes back for these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(data)
        parts = []
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(most):
                parts.append(part)
        return b"".join(parts)


def test_random_runs_over_the_socket_are_identical_to_the_engine_in_this_process(client):
    count = compare(client, runs=5, seed=4, longest=60)
    assert count.runs == 5 and count.moves > 50


def test_answers_are_json(port):
    status, headers, answer = request(port)
    assert (status, answer) == (200, {"jsonrpc": "2.0", "result": {"status": "ok"}, "id": 1})
    assert headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("status", "call"),
    [
        (405, {"method": "GET"}),
        (404, {"path": "/x"}),
        (400, {"body": b" " * 70_000}),
        (403, {"Host": "example.org"}),
        (403, {"Origin": "https://example.org"}),
    ],
)
def test_requests_that_never_reach_the_game(port, status, call):
    found, _, answer = request(port, **call)
    assert found == status and answer["error"]["code"] == -32001 and answer["id"] is None


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n\r\n", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 90_000,
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n" + b"x" * 90_000,
        b"\x16\x03\x01\x02\x00",
    ],
)  # fmt: skip
def test_bytes_that_are_no_request_are_answered_400_and_nobody_else_is_disturbed(port, data):
    assert sent(port, data).startswith(b"HTTP/1.1 400 ")
    assert request(port)[0] == 200


def test_several_requests_in_one_connection_are_answered_in_order(port):
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n"
    bodies = [HEALTH.replace(b'"id": 1', b'"id": %d' % number) for number in range(3)]
    kept = b"".join(head % (len(body), b"") + body for body in bodies[:2])
    answers = sent(port, kept + head % (len(bodies[2]), b"Connection: close\r\n") + bodies[2])
    assert [part.split(b'"id":')[1][:1] for part in answers.split(b"HTTP/1.1 200 OK")[1:]] == [b"0", b"1", b"2"]


def test_a_client_that_reads_late_gets_all_answers(port, client):
    client.call("start", deck="RED", stake="WHITE")
    body = HEALTH.replace(b"health", b"gamestate")
    request = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n" + body
    kept, last = request % (len(body), b""), request % (len(body), b"Connection: close\r\n")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        sender = threading.Thread(target=connection.sendall, args=(kept * 600 + last,))
        sender.start()
        time.sleep(0.2)
        answers = b"".join(iter(lambda: connection.recv(2**20), b""))
        sender.join(20)
    assert answers.count(b"HTTP/1.1 200 OK") == 601 and len(answers) > 5_000_000


def test_a_body_may_be_announced(port):
    head = (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    )
    answers = sent(port, head % len(HEALTH) + HEALTH)
    assert answers.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


def test_files_stay_in_the_folder(client):
    client.call("start", deck="RED", stake="WHITE", seed="1")
    path = client.call("save", path="../../escaped.jkr")["path"]
    assert path.endswith("/escaped.jkr") and "saves" in path and ".." not in path
    client.call("load", path="escaped.jkr")


def test_the_client_knows_the_methods(client):
    assert client.methods() == tuple(METHODS)
    with pytest.raises(Refusal, match="the game refuses play: play is not allowed in MENU"):
        client.call("play", cards=[0])


def test_an_agent_plays_through_the_interface(client):
    *turns, result = drive(client, "random", "yellow", "green", "7LB2WVPK")
    assert isinstance(result, Result) and result.moves == len(turns) > 4 and result.seed == "7LB2WVPK"
    assert turns[0].action == "select blind" and "ante 1" in turns[0].table
    assert not result.won and str(result).startswith("seed 7LB2WVPK: lost in ante 1")


def run(monkeypatch, *words):
    """A command of the command line, in this process."""
    monkeypatch.setattr(sys, "argv", ["ludus", "balatro", *words])
    cli.main()


def test_drive_prints_moves_and_results(port, capsys, monkeypatch):
    run(monkeypatch, "drive", "--port", str(port), "--agent", "random", "--seed", "1", "--games", "2")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("1: ") and sum(line.startswith("seed ") for line in lines) == 2
    run(monkeypatch, "drive", "--port", str(port), "--agent", "random", "--seed", "1", "--json")
    assert json.loads(capsys.readouterr().out)["results"][0]["seed"] == "1"


class Liar:
    """A server that answers as the emulator does, until `spoil` changes an answer to the n-th request."""

    def __init__(self, spoil):
        self.emulator, self.spoil, self.count = Emulator(key=0), spoil, 0
        self.stopped = threading.Event()
        """set at the end, for answers that never come"""
        liar = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = body.replace(b'"b_red"', b'"RED"').replace(b'"stake_white"', b'"WHITE"')
                liar.count += 1
                answer = liar.spoil(liar, liar.count, json.loads(liar.emulator.answer(body)))
                if answer is None:
                    return
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True, kwargs={"poll_interval": 0.01}).start()
        return self.server.server_address[1]

    def __exit__(self, *_):
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()


def driven(spoil, timeout=20.0):
    """The error of a random agent that plays through a server with spoiled answers."""
    with Liar(spoil) as port, Client(port, timeout=timeout) as client, pytest.raises(LudusError) as raised:
        list(drive(client, "random", seed="7LB2WVPK"))
    return str(raised.value)


def from_request(number):
    """Apply a change to the results of all requests from this one on: 1 discover, 2 menu, 3 start, 4 first move."""

    def decorator(change):
        def spoil(liar, count, answer):
            if count >= number and "result" in answer:
                change(answer["result"])
            return answer

        return spoil

    return decorator


def test_the_first_disagreement_stops_the_run_and_is_named():
    error = driven(from_request(4)(lambda state: state.update(money=state["money"] + 3)))
    wanted = (
        r"after move 1 \((select|skip)\) of the run on seed 7LB2WVPK, in ante 1, the game and Ludus disagree about "
        r"money: the game says 7, Ludus says 4"
    )
    assert re.fullmatch(wanted, error)
    error = driven(from_request(3)(lambda state: state["blinds"]["boss"].update(name="The Hook")))
    assert error == (
        "after move 0 (start) of the run on seed 7LB2WVPK, in ante 1, the game and Ludus disagree about "
        "blinds.boss.name: the game says 'The Hook', Ludus says 'The Club'"
    )


def test_a_game_in_another_state_is_a_disagreement():
    error = driven(from_request(4)(lambda state: state.update(state="SHOP")))
    assert "disagree about state: the game says 'SHOP', Ludus says" in error


def test_a_game_that_hides_its_seed_cannot_be_followed():
    assert "does not report the seed" in driven(from_request(3)(lambda state: state.pop("seed")))


def test_a_game_that_never_settles_is_given_up():
    error = driven(from_request(4)(lambda state: state.update(state="HAND_PLAYED")), timeout=0.5)
    assert "is still in the state HAND_PLAYED 0.5 s after" in error


def test_a_game_that_settles_late_is_waited_for():
    def moving(liar, count, answer):
        if count in (4, 5):
            answer["result"]["state"] = "DRAW_TO_HAND"
        return answer

    with Liar(moving) as port, Client(port) as client:
        *_, result = drive(client, "random", seed="7LB2WVPK")
    assert result.moves > 3


def test_an_older_game_is_driven_with_its_own_methods():
    """The release 1.5.2 offers fewer methods; a game without rpc.discover is taken for it."""

    def old(liar, count, answer):
        listed = answer.get("result", {}).get("methods")
        if listed:
            answer["result"]["methods"] = [one for one in listed if one["name"] in released()]
        return answer

    def older(liar, count, answer):
        if count == 1:
            return {"jsonrpc": "2.0", "error": {"code": -32001, "message": "unknown"}, "id": answer["id"]}
        return answer

    for spoil in (old, older):
        with Liar(spoil) as port, Client(port) as client:
            assert client.methods() == released() and "sort" not in released()
            *_, result = drive(client, "random", seed="7LB2WVPK")
        assert result.moves > 3


@pytest.mark.parametrize("refusals", [1, 2])
def test_newer_games_have_other_words_for_deck_and_stake(refusals):
    def newer(liar, count, answer):
        if 3 <= count < 3 + refusals:
            liar.emulator.call("menu", {})
            return {"jsonrpc": "2.0", "error": {"code": -32001, "message": "Expected a b_* key"}, "id": answer["id"]}
        if "deck" in answer["result"]:
            answer["result"].update(deck="b_red", stake="stake_white")
        return answer

    with Liar(newer) as port, Client(port) as client:
        *_, result = drive(client, "random", seed="7LB2WVPK")
    assert result.moves > 3


def test_an_unknown_deck_is_refused_once():
    with Liar(lambda liar, count, answer: answer) as port, Client(port) as client:
        with pytest.raises(Refusal, match='the game refuses start: "deck" must be one of RED, BLUE'):
            next(drive(client, "random", deck="pink"))
        assert client._id == 3


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (b"<html>", "did not answer rpc.discover in JSON-RPC"),
        (b"[" * 100_000, "did not answer rpc.discover in JSON-RPC"),
        (b"[]", "did not answer rpc.discover in JSON-RPC"),
        ({"jsonrpc": "2.0", "id": 1}, "neither its result nor an error"),
        ({"jsonrpc": "2.0", "id": 99, "result": {}}, "neither its result nor an error"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": "x"}}, "malformed error"),
        (None, "broke during rpc.discover"),
    ],
)
def test_what_is_not_the_game_is_one_clear_sentence(answer, wanted):
    error = driven(lambda liar, count, honest: answer)
    assert wanted in error and "\n" not in error


def test_a_game_that_hangs_or_is_not_there():
    def hang(liar, count, answer):
        liar.stopped.wait(20)

    begin = time.monotonic()
    assert "has not answered rpc.discover within 0.3 s" in driven(hang, timeout=0.3)
    assert time.monotonic() - begin < 10
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Client(port) as client, pytest.raises(LudusError, match="nothing listens at"):
        client.methods()


def test_a_game_that_refuses_a_legal_move_is_one_clear_sentence():
    def refuse(liar, count, answer):
        if count == 4:
            return {"jsonrpc": "2.0", "error": {"code": -32003, "message": "no"}, "id": answer["id"]}
        return answer

    assert driven(refuse).startswith("the game refuses ")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("drive", "7LB2WVPK"), "use --seed"),
        (("drive", "--games", "0"), "--games must be at least 1"),
        (("drive", "--port", "0"), "--port 1 to 65535"),
        (("drive", "--delay", "-1"), "--delay at least 0"),
        (("emulate", "--port", "0", "--folder", "/dev/null/x"), "cannot be made"),
        (("emulate", "x"), "takes no seed or file"),
        (("emulate", "--port", "-1"), "cannot listen on port -1"),
        (("drive", "--deck", "pink", "--port", "1"), "nothing listens at"),
    ],
)
def test_wrong_arguments(words, wanted, capsys, monkeypatch):
    with pytest.raises(SystemExit):
        run(monkeypatch, *words)
    assert wanted in capsys.readouterr().err
