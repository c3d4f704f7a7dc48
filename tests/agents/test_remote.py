"""Served agents as players: addresses, errors of servers, and games against the real server."""

import http.server
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from ludus import agents
from ludus.agents import remote
from ludus.cli import run
from ludus.evaluation import battle, scores
from ludus.games import load
from ludus.pool import Pool
from ludus.types import NO_FILES, LudusError

MODEL = {"name": "some", "game": "tictactoe", "fingerprint": load("tictactoe").fingerprint, "sessions": True}


@pytest.mark.parametrize(
    ("url", "server", "model"),
    [
        ("http://localhost:3000/connect4-0001", "http://localhost:3000", "connect4-0001"),
        ("https://Example.org/tictactoe:mcts(20)/", "https://example.org", "tictactoe:mcts(20)"),
        ("http://[::1]:3000", "http://[::1]:3000", ""),
        ("http://a/with%20space", "http://a", "with space"),
    ],
)
def test_addresses_have_a_server_and_a_model(url, server, model):
    assert remote.place_of(url) == (server, model)


@pytest.mark.parametrize(
    "url", ["http://", "http:///x", "http://a:99999/x", "http://user@a/x", "http://a/x?y", "http://a/x#y", "http://a/é",
            "http://a/\r\nX: y", "http://[::1/x"],
)  # fmt: skip
def test_other_addresses_are_refused(url):
    with pytest.raises(LudusError, match="is not the address of an agent"):
        agents.load(url, "tictactoe")


def test_requests_may_only_name_allowed_servers(monkeypatch):
    """A studio or a server must not connect to addresses that its visitors choose."""
    monkeypatch.setenv(NO_FILES, "1")
    with pytest.raises(LudusError, match=r"http://127\.0\.0\.1:1 are not allowed here"):
        agents.load("http://127.0.0.1:1/x", "tictactoe")
    monkeypatch.setenv(remote.ALLOWED, "http://127.0.0.1:1/ http://other")
    assert remote.place_of("http://127.0.0.1:1/x").model == "x"
    with pytest.raises(LudusError, match="not allowed"):
        remote.place_of("http://127.0.0.1:12/x")


def test_a_server_that_is_away_is_an_error():
    with pytest.raises(LudusError, match=r"http://127.0.0.1:1 does not answer \(Connection refused\)"):
        agents.load("http://127.0.0.1:1/x", "tictactoe")


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers with what the test has set, as a broken server or another program may do."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, content = self.server.answers[self.path.rpartition("/")[2]]
        self.rfile.read(int(self.headers.get("content-length", 0)))
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        if self.server.hangs_up:
            self.close_connection = True

    do_POST = do_DELETE = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def other_program():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def broken(other_program):
    """A server with one model, whose answers can be replaced; its address."""
    decision = {"action": 4, "value": 0.5, "index": 1}
    good = {"models": (200, {"models": [MODEL]}), "sessions": (201, {"id": "a/b"}), "act": (200, decision)}
    other_program.answers, other_program.hangs_up = good | {"a%2Fb": (204, b"")}, False
    other_program.url = f"http://127.0.0.1:{other_program.server_address[1]}"
    return other_program


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, b"<html>"), "something else than JSON"),
        ((200, [1]), "something else than JSON"),
        ((200, {}), "something else than a list of models"),
        ((200, {"models": [{"name": 1}]}), "something else than a list of models"),
        ((200, {"models": []}), "add one of these to the address: none"),
        ((200, {"models": [MODEL | {"name": "other"}]}), 'no model "some"; add one of these to the address: other'),
        ((200, {"models": [MODEL | {"game": "connect4"}]}), "plays connect4, not tictactoe"),
        ((200, {"models": [MODEL | {"fingerprint": "0"}]}), "plays another version of tictactoe"),
        ((200, {"models": [MODEL | {"sessions": False}]}), "simulates the game"),
        ((401, {"code": "token", "detail": "send the token"}), r"refused a request \(401\): send the token"),
        ((500, b"oh"), r"refused a request \(500\): no reason given"),
    ],
)
def test_invalid_models_are_errors(broken, answer, message):
    broken.answers["models"] = answer
    with pytest.raises(LudusError, match=message):
        agents.load(f"{broken.url}/some", "tictactoe")


def decide(url):
    pool = Pool("tictactoe", 3, 0, threads=1)
    agent = agents.load(url, "tictactoe")
    decision, memory = agent.act((), agent.memory(3), pool.step, 0)
    agent.wire.close()
    return decision, memory


@pytest.mark.parametrize("hangs_up", [False, True])
def test_rows_are_decided_by_the_server(broken, hangs_up):
    """Also if it closes every connection after its answer."""
    broken.hangs_up = hangs_up
    decision, memory = decide(f"{broken.url}/some")
    assert decision.action.tolist() == [4, 4, 4]
    assert decision.value.tolist() == [[0.5, 0.0]] * 3
    assert memory["index"].tolist() == [[1, 0]] * 3
    assert sorted(memory["session"][:, 0].tolist()) == [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "answer", "message"),
    [
        ("sessions", (200, {}), "without an id"),
        ("act", (200, {"action": 9, "value": 0.0, "index": 1}), "answered '9', which is no legal action"),
        ("act", (200, {"action": "4", "index": 1}), "no legal action"),
        ("act", (200, {"action": 4}), "no legal action"),
        ("act", (409, {"detail": "expected index 7"}), r"refused a request \(409\): expected index 7"),
        ("act", (410, b""), "no reason given"),
    ],
)
def test_invalid_decisions_are_errors(broken, path, answer, message):
    broken.answers[path] = answer
    with pytest.raises(LudusError, match=message):
        decide(broken.url)


@pytest.fixture(scope="module")
def served():
    """The address of a real server."""
    words = [sys.executable, "-m", "ludus.cli", "serve", "tictactoe:perfect", "recall:trained", "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            url = json.loads(process.stdout.readline())["server"]
            wait_until_ready(url)
            yield url
        finally:
            process.terminate()


def wait_until_ready(url):
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}/readyz"):
                return
        except urllib.error.HTTPError as error:
            error.close()
            time.sleep(0.1)
    pytest.fail("the server does not become ready")


@pytest.fixture(scope="module")
def perfect(served):
    return f"{served}/tictactoe:perfect"


def test_agents_of_allowed_servers_are_offered(served, perfect, monkeypatch):
    monkeypatch.setenv(remote.ALLOWED, f"http://127.0.0.1:9 {served}/")
    assert remote.offered("tictactoe") == [perfect]
    assert remote.offered("recall(cues=4)") == [f"{served}/recall:trained"]
    assert remote.offered("connect4") == []


def test_a_served_agent_plays_like_the_same_agent_here(perfect, served):
    result = battle.battle("tictactoe", [perfect, "perfect"], games=20)
    assert (result.match.wins, result.match.draws, result.match.losses) == (0, 20, 0)
    with urllib.request.urlopen(f"{served}/metrics") as page:
        counts = dict(line.rsplit(" ", 1) for line in page.read().decode().splitlines() if line[0] != "#")
    assert counts['ludus_requests_total{route="/v1/sessions",status="201"}'] == "20.0"


def test_memory_is_kept_on_the_server(served):
    """An agent that must remember an earlier observation; its games run at the same time in many rows."""
    agent = agents.load(f"{served}/recall:trained", "recall")
    score = scores.score("recall", agent, (), 30, 1)
    assert score.interval.estimate == pytest.approx(1.0, abs=0.1)


def test_the_game_of_a_battle_is_that_of_the_served_agent(perfect):
    assert battle.game_of([perfect, "random"], None) == "tictactoe"


def test_a_served_agent_is_evaluated_by_its_address(perfect, capsys):
    run(["evaluate", perfect, "--games", "20", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["agent"] == perfect and facts["game"] == "tictactoe" and facts["losses"] == 0


def test_a_served_agent_has_the_same_decisions(perfect):
    pool, here = Pool("tictactoe", 4, 1, threads=1), agents.load("perfect", "tictactoe")
    there = agents.load(perfect, "tictactoe")
    pool.advance(np.array([0, 2, 4, 8]))
    expected = here.act(here.init(pool.spec, 0), here.memory(4), pool.step, 0)[0].action
    found = there.act((), there.memory(4), pool.step, 0)[0].action
    assert found[2] in (0, 2, 6, 8)
    assert found[0] == expected[0] == 4
