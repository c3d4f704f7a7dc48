"""Health, metrics, documentation, tokens, CORS, hosts, limits, workers, and how the server ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import httpx
import msgspec
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import ludus
from ludus.cli import serve as command
from ludus.server import messages
from ludus.server.api import documentation
from ludus.server.encoding import Codec
from ludus.types import LudusError

BOARD = {"board": [0] * 9}
TOKEN, ORIGIN = "a-token-of-some-length", "https://page.example"
"""of the fixture `guarded`"""


def test_health_and_documentation(server):
    assert server.http.get("/").text == "OK"
    assert server.http.get("/healthz").text == "alive" and server.http.get("/readyz").text == "ready"
    page = server.http.get("/docs").text
    assert "POST /v1/sessions/{session}/act" in page and not re.findall(r'(?:src|href)="(?!openapi)', page)


def test_every_route_is_described_with_an_example_that_is_accepted(server):
    api = server.get("/openapi.json")
    assert api["openapi"].startswith("3.1")
    kinds = {"NewSession": messages.NewSession, "Act": messages.Act, "NewGame": messages.NewGame, "Move": messages.Move}
    seen = set()
    for operations in api["paths"].values():
        for one in operations.values():
            assert one["summary"] and "default" in one["responses"]
            if content := one.get("requestBody", {}).get("content"):
                name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
                Codec(kinds[name]).decode(msgspec.json.encode(content["application/json"]["example"]), packed=False)
                seen.add(name)
    assert seen == set(kinds)
    for kind, example in ((messages.State, documentation.STATE), (messages.Answer, documentation.ANSWER)):
        msgspec.convert(example, kind)


def test_metrics_count_requests_decisions_and_sessions(server):
    def value(text, name):
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)[1])

    session = server.session()
    route = 'ludus_requests_total{route="/v1/sessions/{session}/act",status="200"}'
    body = {"index": 0, "observation": [0, 0, 0, 0]}
    server.post(f"/v1/sessions/{session}/act", body)
    before = server.http.get("/metrics").text
    server.post(f"/v1/sessions/{session}/act", body | {"index": 1})
    after = server.http.get("/metrics").text
    for name in (route, 'ludus_decisions_total{model="pole"}', 'ludus_batch_rows_count{model="pole"}'):
        assert value(after, name) == value(before, name) + 1
    assert value(after, 'ludus_degraded_total{model="pole"}') == 0
    assert re.search(r'ludus_sessions\{label="pole@\S+"\} [1-9]', after)


def test_this_machine_only_and_no_foreign_pages(server, problem):
    problem(server.http.get("/v1/models", headers={"host": "evil.example"}), 403, "unknown_host")
    problem(server.http.get("/v1/models", headers={"host": "[::1"}), 403, "unknown_host")
    problem(server.http.get("/v1/models", headers={"origin": "http://evil.example"}), 403, "foreign_origin")
    problem(server.http.post("/v1/sessions/x/act", json={}, headers={"host": "evil.example"}), 403, "unknown_host")


def test_the_token_is_required(guarded, problem):
    bare = httpx.Client(base_url=guarded.url)
    with bare:
        for path in ("/", "/healthz", "/readyz", "/docs", "/openapi.json"):
            assert bare.get(path).status_code == 200
        for path in ("/v1/models", "/metrics", "/v1/nothing"):
            answer = bare.get(path)
            problem(answer, 401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
        for given in ("Bearer wrong", f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x"):
            problem(bare.post("/v1/sessions/x/act", json={}, headers={"authorization": given}), 401, "unauthorized")
    assert guarded.get("/v1/models")["models"]
    assert TOKEN not in guarded.log.read_text()


def test_a_web_page_sends_the_token_as_a_subprotocol(guarded):
    place = guarded.url.replace("http", "ws") + "/v1/sessions/x/socket"
    for wrong in (None, ["ludus"], ["ludus", "bearer.wrong"]):
        with pytest.raises(InvalidStatus), connect(place, subprotocols=wrong):
            pass
    with connect(place, subprotocols=["ludus", f"bearer.{TOKEN}"]) as connection:
        assert connection.subprotocol == "ludus"
        connection.send("{}")
        assert json.loads(connection.recv(60))["status"] == 422


def test_pages_of_allowed_origins_may_read_answers(guarded, problem):
    preflight = {"origin": ORIGIN, "access-control-request-method": "POST"}
    for path in ("/v1/sessions", "/v1/sessions/x/act"):
        answer = httpx.options(guarded.url + path, headers=preflight)
        assert answer.status_code == 204 and answer.headers["access-control-allow-origin"] == ORIGIN
        assert "Authorization" in answer.headers["access-control-allow-headers"]
    answer = guarded.http.get("/v1/models", headers={"origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    problem(guarded.http.get("/v1/models", headers={"origin": "https://other.example"}), 403, "foreign_origin")


def test_the_least_recently_used_session_is_gone(guarded, problem):
    first = guarded.session("tictactoe:random")
    for _ in range(3):
        guarded.session("tictactoe:random")
    body = {"index": 0, "observation": BOARD}
    problem(guarded.http.post(f"/v1/sessions/{first}/act", json=body), 410, "session_gone")
    game = guarded.game("tictactoe", ["person", "random"])["id"]
    for _ in range(3):
        guarded.session("tictactoe:random")
    problem(guarded.http.get(f"/v1/games/{game}"), 410, "game_gone")


def test_sigterm_lets_a_running_request_finish(guarded):
    """The last test of this server: it stops accepting, answers what it has begun, and ends."""
    address = (guarded.http.base_url.host, guarded.http.base_url.port)
    body = b'{"model": "tictactoe:random"}'
    head = f"POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\nexpect: 100-continue\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    with socket.create_connection(address, 60) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100"), "the request is running"
        guarded.process.send_signal(signal.SIGTERM)
        while True:  # until nobody listens any more
            try:
                socket.create_connection(address, 60).close()
            except ConnectionRefusedError:
                break
            except ConnectionResetError:  # accepted by the system just before the server closed
                continue
        connection.sendall(body)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 201") and b"connection: close" in answer
    assert guarded.process.wait(60) in (0, -signal.SIGTERM)


def test_each_line_of_the_log_is_json_even_if_games_are_compiled_first(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path / "cold"))
    served = serve(tmp_path / "log", "tictactoe:random")
    served.until_ready()
    served.stop()
    assert {json.loads(line)["event"] for line in served.log.read_text().splitlines()} == {
        "loading",
        "ready",
        "request",
    }


def until(condition, seconds=180.0):
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this has not happened in time"
        time.sleep(0.05)


def test_two_workers_share_sessions_and_one_may_die(serve, tmp_path):
    served = serve(
        tmp_path / "log", "tictactoe:perfect", "--workers", "2", "--store", "sqlite:sessions.db", cwd=tmp_path
    )
    try:
        until(lambda: len(served.lines("ready")) == 2)
        with ludus.Client(served.url) as client:
            session, game = client.session("tictactoe:perfect"), client.game("tictactoe", ["person", "perfect"], seed=1)
        workers = served.workers()
        assert len(workers) == 2
        for turn in range(8):
            # A new connection may reach either worker, also the one that dies: the client asks again.
            with ludus.Client(served.url) as session._client:
                session.act(BOARD)
            with ludus.Client(served.url) as game._client:
                if not game.state.over:
                    game.play(game.moves[0].name)
            if turn == 3:
                os.kill(workers[0], signal.SIGKILL)
        assert session.index == 8 and game.state.move > 4
        until(lambda: served.lines("worker_died"))
        # A worker that is started again accepts no connection before it is ready, because the other one answers.
        statuses = set()
        until(lambda: statuses.add(httpx.get(f"{served.url}/readyz").status_code) or len(served.lines("ready")) == 3)
        assert statuses == {200}
        # What a killed worker has counted in its last second is lost, the rest is not.
        assert 'route="/v1/sessions/{session}/act",status="200"' in served.http.get("/metrics").text
    finally:
        served.stop()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"workers": 2}, "add --store sqlite"),
        ({"workers": 0}, "--workers must be"),
        ({"token": "short"}, "easy to guess"),
        ({"token": "with a space in the middle"}, "no spaces"),
        ({"timeout": 0.0}, "--timeout must be"),
        ({"queue": 0}, "--queue must be"),
        ({"port": 70_000}, "--port"),
        ({"cors": ("example.org",)}, "is not an origin"),
        ({"cors": ("https://example.org/page",)}, "is not an origin"),
        ({"code_list": "missing.txt"}, "missing.txt cannot be read"),
        ({"agents": ()}, "name at least one agent"),
    ],
)
def test_wrong_settings_are_one_sentence(settings, words):
    with pytest.raises(LudusError, match=words):
        command.serve(**{"agents": ("tictactoe:random",), "port": 0, **settings})


def test_an_agent_that_does_not_exist_is_one_sentence():
    arguments = [sys.executable, "-m", "ludus.cli", "serve", "no/such/run", "--port", "0"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "no run or file" in done.stderr and "Traceback" not in done.stderr


def test_missing_packages_are_reported(monkeypatch):
    monkeypatch.delattr("ludus.server.process", raising=False)
    monkeypatch.setitem(sys.modules, "ludus.server.process", None)
    with pytest.raises(LudusError, match=r"pip install 'ludus\[server\]'"):
        command.serve(("tictactoe:random",))
