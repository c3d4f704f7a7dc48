"""A studio to talk to: its web in this process, with a folder of its own."""

import time
import warnings

import pytest

with warnings.catch_warnings():
    # It would rather have a client that is not out yet.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from ludus.studio import Studio
from ludus.studio.app import web

PATIENCE = 180.0
"""seconds for what takes moments: a slow machine compiles first"""


class Served:
    """A studio, and somebody who asks it."""

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

    def begin(self, **wish):
        """A run of tic-tac-toe without end, unless told otherwise; its name."""
        values = {"steps": 10**9, "chunk": 20_000, "games": 20, **wish.pop("values", {})}
        wish = {"game": "tictactoe", "algorithm": "q_learning", "values": values} | wish
        return self.post("/api/runs", wish, 201)["run"]

    def until(self, path, wanted):
        """Ask until the answer is as wanted."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            answer = self.get(path)
            if wanted(answer):
                return answer
            time.sleep(0.2)  # who asks more often takes the time of whom it waits for
        raise AssertionError(f"waited in vain; the last answer was {answer}")

    def close(self):
        """End everything, also trainers that a test left behind."""
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
