"""A studio in this process with its own folder, and a client for its web application."""

import time
import warnings

import pytest

with warnings.catch_warnings():
    # Starlette warns that it prefers a newer HTTP client.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from ludus.studio import Studio
from ludus.studio.app import web

PATIENCE = 180.0
"""seconds to wait; long enough for a slow machine that compiles first"""


class Served:
    """A studio and an HTTP client."""

    def __init__(self, out):
        self.out, self.studio = out, Studio(out)
        self.client = TestClient(web(self.studio), base_url="http://localhost:8765", raise_server_exceptions=False)

    def get(self, path, status=200, **options):
        return self._answer(self.client.get(path, **options), status)

    def post(self, path, body=None, status=200, **options):
        return self._answer(self.client.post(path, json=body, **options), status)

    def _answer(self, answer, status):
        assert answer.status_code == status, answer.text
        return answer.json()

    def begin(self, **options):
        """Start a run, by default an endless one of tic-tac-toe; return its name."""
        values = {"steps": 10**9, "chunk": 20_000, "eval_games": 20, **options.pop("values", {})}
        body = {"game": "tictactoe", "algorithm": "q_learning", "values": values} | options
        return self.post("/api/runs", body, 201)["run"]

    def until(self, path, wanted):
        """Poll until `wanted(answer)` is true."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            answer = self.get(path)
            if wanted(answer):
                return answer
            time.sleep(0.2)  # frequent requests would slow down the trainer
        raise AssertionError(f"timeout; the last answer was {answer}")

    def close(self):
        """Stop the studio and all trainers."""
        for summary in self.studio.runs_feed.summaries():
            if summary["status"] in ("training", "paused"):
                self.studio.trainers.stop(self.out / summary["name"])
        for _, child in list(self.studio.trainers.children):
            child.terminate()
            child.wait(PATIENCE)
        self.studio.close()


@pytest.fixture
def served(tmp_path):
    studio = Served(tmp_path / "runs")
    with studio.client:
        yield studio
        studio.close()
