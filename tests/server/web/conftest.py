"""Servers in processes of their own, for the tests that talk to them over HTTP."""

import json
import pathlib
import signal
import subprocess
import sys
import time

import httpx
import pytest

PATIENCE = 180.0
"""seconds to wait; long enough for a slow machine that compiles first"""
TOKEN = "a-token-of-some-length"
ORIGIN = "https://page.example"


class Served:
    """A `ludus serve` process and a client."""

    def __init__(self, log, *arguments, cwd=None):
        self.log = log
        command = [sys.executable, "-m", "ludus.cli", "serve", *arguments, "--port", "0", "--json"]
        with log.open("w") as stderr:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=cwd)
        line = self.process.stdout.readline()
        assert line, log.read_text()
        self.facts = json.loads(line)
        self.url = self.facts["server"].replace("localhost", "127.0.0.1")
        headers = {"authorization": f"Bearer {self.facts['token']}"} if self.facts["token"] else {}
        self.http = httpx.Client(base_url=self.url, timeout=PATIENCE, headers=headers)

    def until_ready(self):
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            if self.http.get("/readyz").status_code == 200:
                return self
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def get(self, path, status=200, **options):
        return self._checked(self.http.get(path, **options), status)

    def post(self, path, body=None, status=200, **options):
        return self._checked(self.http.post(path, json=body, **options), status)

    def session(self, model="pole", **more):
        return self.post("/v1/sessions", {"model": model, **more}, 201)["id"]

    def game(self, game, seats, seed=1):
        """A new game; agents that simulate it wait until it is compiled."""
        body, deadline = {"game": game, "seats": seats, "seed": seed}, time.monotonic() + PATIENCE
        while (answer := self.http.post("/v1/games", json=body)).status_code == 503 and time.monotonic() < deadline:
            assert answer.json()["code"] in ("compiling", "timeout") and int(answer.headers["retry-after"]) >= 1
            time.sleep(0.5)
        return self._checked(answer, 201)

    def _checked(self, answer, status):
        assert answer.status_code == status, answer.text
        return answer.json()

    def lines(self, event):
        """The lines of the log about an event."""
        found = [json.loads(line) for line in self.log.read_text().split("\n") if line.startswith("{")]
        return [line for line in found if line["event"] == event]

    def workers(self):
        """The processes that have this one as parent and listen too."""
        pid = self.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(one) for one in children if b"spawn_main" in pathlib.Path(f"/proc/{one}/cmdline").read_bytes()]

    def stop(self):
        self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.stdout.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server with a network, a perfect player and a search, without a token."""
    log = tmp_path_factory.mktemp("server") / "log"
    served = Served(log, "pole=cartpole:trained", "best=tictactoe:perfect", "search=tictactoe:mcts(20)")
    yield served.until_ready()
    assert served.stop() in (0, -signal.SIGTERM)
    assert not served.lines("log"), "nothing failed unexpectedly"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server with a token and an allowed origin, whose numbers of sessions and in the queue are small."""
    log = tmp_path_factory.mktemp("guarded") / "log"
    served = Served(log, "tictactoe:random", "--token", TOKEN, "--cors", ORIGIN, "--max-sessions", "3")
    yield served.until_ready()
    served.stop()


@pytest.fixture(scope="session")
def serve():
    """The class of servers, for tests that start one of their own."""
    return Served


@pytest.fixture(scope="session")
def problem():
    """A function that returns the problem that an answer must be."""

    def check(answer, status, code):
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        found = answer.json()
        assert (found["status"], found["code"]) == (status, code)
        assert found["title"] and found["detail"] and found["type"] == f"urn:ludus:problem:{code}"
        return found

    return check
