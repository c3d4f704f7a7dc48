"""A service with the two kinds of models that /v0 serves, and clients that send requests to its routes."""

import asyncio

import httpx
import numpy as np
import pytest
from fastapi import FastAPI

from ludus.agents import checkpoint, flax_models
from ludus.agents.checkpoint import Checkpoint, flatten
from ludus.agents.neural import agent as deep
from ludus.agents.neural.networks.settings import ModelArgs
from ludus.bridges import identity_of, open_pool
from ludus.games.duel.tables import ROW_OF
from ludus.server.reference.examples import best, request
from ludus.server.reference.routes import routes
from ludus.server.reference.service import Settings
from ludus.server.service import Service
from ludus.server.service import Settings as Batching
from ludus.server.stores.memory import MemoryStore

OWN, IMPORTED = "duel:trained", "imported"
FOREIGN_CODE = 14558127
"""a card that duel does not have, but the imported model knows"""
SMALL = ModelArgs(
    num_layers=1, num_channels=32, rnn_channels=32, critic_width=16, critic_depth=1, embedding_shape=(300, 16),
    reference=True,
)  # fmt: skip


@pytest.fixture(scope="session")
def imported(tmp_path_factory):
    """A checkpoint as `ludus import` writes it, of a small network with new parameters."""
    pool = open_pool("duel", 1, 0, threads=1)
    agent = deep.agent_of(pool, deep.describe(SMALL, False, False))
    params = flatten(agent.init(pool.spec, 3))
    codes = np.array([FOREIGN_CODE, *sorted(code for code in ROW_OF if code)], np.int64)
    args = deep.describe(SMALL, False, False)
    manifest = checkpoint.describe(identity_of(pool), args, {"kind": "import"})
    pool.close()
    folder = tmp_path_factory.mktemp("imported")
    return checkpoint.save(folder, 0, Checkpoint(manifest, {"params": params | {flax_models.CODES: codes}}))


class Served:
    """A running service, and requests to its routes."""

    def __init__(self, agents, settings=Settings(), store=None):  # noqa: B008
        self.loop = asyncio.new_event_loop()
        self.service = Service(agents, store or MemoryStore(), Batching(batch=1))
        self.run(self.service.start())
        self.use(settings)

    def use(self, settings):
        """Answer with these settings from now on."""
        app = FastAPI()
        app.include_router(routes(self.service, settings))
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def send(self, method, path, **more):
        return self.run(self.client.request(method, path, **more))

    def open(self, model=""):
        return self.send("POST", f"/v0/duels?model={model}" if model else "/v0/duels").json()["duelId"]

    def ask(self, duel, body):
        """The answer to a request that must have the status 200."""
        answer = self.send("POST", f"/v0/duels/{duel}/predict", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def close(self):
        self.run(self.service.close())
        self.loop.close()


class Player:
    """One duel of a client that plays the best action, as the public client does."""

    def __init__(self, served, model=""):
        self.served, self.duel, self.index, self.previous = served, served.open(model), 0, 0

    def ask(self, message, **more):
        """The answer; raises AssertionError for an error."""
        answer = self.served.ask(self.duel, self.request(message, **more))
        assert "error" not in answer, answer
        self.index, self.previous = answer["index"], best(answer)
        return answer["predict_results"]

    def request(self, message, **more):
        return request(message, self.index, self.previous, **more)

    def refused(self, message, **more):
        """The error of a request that changes nothing."""
        return self.served.ask(self.duel, self.request(message, **more))["error"]


@pytest.fixture(scope="session")
def served(imported):
    served = Served([OWN, f"{IMPORTED}={imported}"])
    yield served
    served.close()


@pytest.fixture(params=[OWN, IMPORTED])
def player(served, request):
    return Player(served, request.param)


@pytest.fixture(params=[OWN, IMPORTED])
def model(request):
    return request.param


@pytest.fixture
def play(served):
    """Start a duel with a model."""
    return lambda model: Player(served, model)
