"""`ludus bench serve`: the load, the deaths and the mutations reach a real server, and what they count is right."""

import asyncio
import json
import random

import pytest

pytest.importorskip("uvloop", reason="pip install 'ludus[server]'")

from ludus.bench import load, mutations, serve
from ludus.bench.killing import same
from ludus.bench.served import Caller, observation, served
from ludus.types import LudusError


@pytest.fixture(scope="module")
def server():
    with served("net=cartpole:trained") as one:
        yield one
        assert not one.logged()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("rate", [0.0, 100.0])
def test_the_load_is_answered_and_goes_on_where_it_ended(server, packed, rate):
    ids = [server.open_session("net") for _ in range(3)]
    shown = observation(server.schema("net"))
    targets = [load.target(one, shown, None, packed) for one in ids]
    for _ in range(2):
        report = load.run(load.Job(server.port, packed, targets, 0.3, 0.1, rate))
        assert report.rate > 0 and 0 < report.p50 <= report.p99 and not report.refused and not report.degraded
        assert [server.get(f"/v1/sessions/{one}")["index"] for one in ids] == report.indices
        targets = [load.Target(one.before, one.after, at) for one, at in zip(targets, report.indices, strict=True)]
    assert all(report.indices)


def test_refused_requests_are_counted(server):
    targets = [load.target("nobody", observation(server.schema("net")), None, False)]
    report = load.run(load.Job(server.port, False, targets, 0.1, 0.0, 50.0))
    assert report.rate == 0 and set(report.refused) == {"404"}
    with pytest.raises(LudusError, match="refused"):
        serve.checked(report)


def test_a_caller_sees_answers_and_closed_connections(server):
    async def calls():
        caller = Caller(server.port)
        found = [await caller.call(*one) for one in (("GET", "/healthz"), ("HEAD", "/healthz"), ("GET", "/nothing"))]
        with pytest.raises(ConnectionError):
            await caller.send(b"POST /v1/sess", last=True)
        found.append(await caller.call("GET", "/v1/models"))
        await caller.close()
        return found

    alive, head, nothing, models = asyncio.run(calls())
    assert (alive.status, alive.body) == (200, b"alive") and head.body == b"" and nothing.status == 404
    assert models.json()["models"][0]["name"] == "net"


def test_mutations_change_the_request_and_are_repeatable():
    request = mutations.Request("POST", "/v1/sessions/x/act", b'{"index": 0, "observation": [1, 2]}')
    for kind in ("body", "bytes", "path", "method", "header"):
        made = [[mutations.changed_at(kind, request, random.Random(seed)) for seed in range(40)] for _ in range(2)]
        assert made[0] == made[1] and len(set(made[0])) > 5
        assert sum(one != request for one in made[0]) > 20


def test_answers_are_compared_with_the_tolerance_of_rounding():
    answer = {"action": 0, "name": "a", "probabilities": [0.5, 0.5], "value": 1.0, "index": 1}
    assert same(answer, json.loads(json.dumps(answer)))
    assert same(answer, answer | {"value": 1.00001, "action": 1, "name": "b"}), "the actions are equally probable"
    assert not same(answer, answer | {"value": 1.01})
    assert not same(answer, answer | {"index": 2})
    sure = answer | {"probabilities": [0.9, 0.1]}
    assert not same(sure, sure | {"action": 1})


def test_unknown_parts_are_named():
    with pytest.raises(LudusError, match="rnn160"):
        list(serve.suite(["nothing"], serve.Settings(), lambda *_: None))
