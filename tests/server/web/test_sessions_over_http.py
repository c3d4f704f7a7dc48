"""Agent sessions over HTTP: every route, every error, JSON and msgpack, and requests that nobody should send."""

import json
import random

import msgpack
import pytest

POLE = {"motion": [0.01, -0.02, 0.03, 0.04]}
JSON = {"content-type": "application/json"}


def act(server, session, index, observation=POLE, **more):
    return server.http.post(f"/v1/sessions/{session}/act", json={"index": index, "observation": observation, **more})


def test_models_say_what_they_need(server, problem):
    models = {one["name"]: one for one in server.get("/v1/models")["models"]}
    assert set(models) == {"pole", "best", "search"}
    pole = server.get("/v1/models/pole")
    assert pole == models["pole"] and pole["actions"] == ["left", "right"] and pole["sessions"]
    assert pole["observation"]["properties"]["motion"]["maxItems"] == 4
    assert not models["search"]["sessions"]
    problem(server.http.get("/v1/models/nothing"), 404, "model_not_found")


def test_a_session_from_its_opening_to_its_end(server, problem):
    opened = server.post("/v1/sessions", {"model": "pole"}, 201)
    session = opened["id"]
    assert opened["index"] == 0 and opened["model"] == "pole"
    first = act(server, session, 0, mask=[True, True]).json()
    assert first["action"] in (0, 1) and first["name"] in ("left", "right") and first["index"] == 1
    assert sum(first["probabilities"]) == pytest.approx(1, abs=1e-5) and first["degraded"] is False
    assert act(server, session, 0).json() == first, "the same request again gives the same answer"
    assert act(server, session, 1, POLE["motion"]).json()["index"] == 2, "the only field needs no name"
    assert problem(act(server, session, 5), 409, "index_mismatch")["expected"] == 2
    assert server.get(f"/v1/sessions/{session}") == opened | {"index": 2}
    assert server.http.delete(f"/v1/sessions/{session}").status_code == 204
    problem(act(server, session, 2), 404, "session_not_found")
    problem(server.http.get(f"/v1/sessions/{session}"), 404, "session_not_found")
    problem(server.http.delete(f"/v1/sessions/{session}"), 404, "session_not_found")


def test_msgpack_gives_the_same_answers(server):
    one, other = (server.session(seed=3) for _ in range(2))
    packed = {"content-type": "application/msgpack"}
    body = msgpack.packb({"index": 0, "observation": POLE, "mask": [1, 1]})
    answer = server.http.post(f"/v1/sessions/{one}/act", content=body, headers=packed)
    assert answer.headers["content-type"] == "application/msgpack"
    assert msgpack.unpackb(answer.content) == act(server, other, 0, mask=[1, 1]).json()
    wanted = server.http.get("/v1/models/pole", headers={"accept": "application/msgpack"})
    assert msgpack.unpackb(wanted.content) == server.get("/v1/models/pole")
    mixed = server.http.post(f"/v1/sessions/{one}/act", content=body, headers=packed | {"accept": "application/json"})
    assert mixed.json()["index"] == 1
    opened = server.http.post("/v1/sessions", content=msgpack.packb({"model": "pole"}), headers=packed)
    assert opened.status_code == 201 and msgpack.unpackb(opened.content)["index"] == 0


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "malformed"),
        (b"{", 400, "malformed"),
        (b"[" * 200_000, 422, "invalid"),
        (b'{"index":0,"observation":' + b"[" * 200_000 + b"]" * 200_000 + b"}", 400, "malformed"),
        (b'{"index":0,"observation":{"motion":[NaN,0,0,0]}}', 400, "malformed"),
        (b'{"index":0,"observation":{"motion":[1e400,0,0,0]}}', 422, "invalid"),
        (b'{"index":0,"observation":{"motion":[1' + b"0" * 500 + b",0,0,0]}}", 422, "invalid_observation"),
        (b'{"index":0,"observation":{"motion":"\\ud800"}}', 400, "malformed"),
        (b'{"index":0,"observation":{"motion":"abc"}}', 422, "invalid_observation"),
        (b'{"index":0,"observation":{"motion":[1,2,3]}}', 422, "invalid_observation"),
        (b'{"index":0,"observation":{"motion":[[1,2],[3]]}}', 422, "invalid_observation"),
        (b'{"index":0,"observation":{"other":[1,2,3,4]}}', 422, "invalid_observation"),
        (b'{"index":0,"observation":null}', 422, "invalid_observation"),
        (b'{"index":0,"observation":[0,0,0,0],"mask":[1]}', 422, "invalid_mask"),
        (b'{"index":0,"observation":[0,0,0,0],"mask":[0,0]}', 422, "invalid_mask"),
        (b'{"index":0,"observation":[0,0,0,0],"mask":{"a":1}}', 422, "invalid_mask"),
        (b'{"index":-1,"observation":[0,0,0,0]}', 422, "invalid"),
        (b'{"index":1.5,"observation":[0,0,0,0]}', 422, "invalid"),
        (b'{"index":100000000000000000000,"observation":[0,0,0,0]}', 422, "invalid"),
        (b'{"observation":[0,0,0,0]}', 422, "invalid"),
        (b'{"index":0,"observation":[0,0,0,0],"more":1}', 422, "invalid"),
        (b"\xff\xfe", 400, "malformed"),
    ],
)
def test_a_bad_body_is_a_problem_and_changes_nothing(server, problem, body, status, code):
    session = server.session(seed=1)
    problem(server.http.post(f"/v1/sessions/{session}/act", content=body, headers=JSON), status, code)
    assert act(server, session, 0).json()["index"] == 1


def test_bad_msgpack_is_a_problem(server, problem):
    session, packed = server.session(), {"content-type": "application/x-msgpack"}
    path = f"/v1/sessions/{session}/act"
    for body in (b"", b"\xc1", b"\x81"):
        problem(server.http.post(path, content=body, headers=packed), 400, "malformed")
    for body in (b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff"):
        problem(server.http.post(path, content=body, headers=packed), 422, "invalid")
    for value in (float("nan"), float("inf"), b"bytes", msgpack.Timestamp(1, 0), msgpack.ExtType(5, b"x")):
        body = msgpack.packb({"index": 0, "observation": {"motion": [0.0, 0.0, 0.0, value]}})
        problem(server.http.post(path, content=body, headers=packed), 422, "invalid_observation")
    assert act(server, session, 0).status_code == 200


def test_wrong_requests_are_problems(server, problem):
    session = server.session()
    problem(server.http.get("/v1/nothing"), 404, "not_found")
    problem(server.http.get("/v1/models/"), 404, "not_found")
    problem(act(server, "%2e%2e%2f%2e%2e", 0), 404, "session_not_found")
    assert problem(server.http.put("/v1/models"), 405, "method_not_allowed")["allow"] == "GET"
    found = server.http.get(f"/v1/sessions/{session}/act")
    assert problem(found, 405, "method_not_allowed") and found.headers["allow"] == "POST"
    problem(server.http.post(f"/v1/sessions/{session}/act", data={"index": 0}), 415, "unsupported_media_type")
    problem(server.http.post("/v1/sessions", content="{}"), 415, "unsupported_media_type")
    problem(server.http.post("/v1/sessions", json={"model": "nothing"}), 404, "model_not_found")
    problem(server.http.post("/v1/sessions", json={"model": "/etc/passwd"}), 404, "model_not_found")
    problem(server.http.post("/v1/sessions", json={"model": "pole", "seat": 1}), 422, "invalid_seat")
    problem(server.http.post("/v1/sessions", json={"model": "pole", "seat": "x"}), 422, "invalid")
    problem(server.http.post("/v1/sessions", json={"model": "search"}), 422, "needs_game_session")
    problem(act(server, "no-such-session", 0), 404, "session_not_found")
    for name in ("a" * 3000, "%00", "%ff", "a%2fb"):
        problem(act(server, name, 0), 404, "session_not_found")


def test_a_large_body_is_refused_and_the_connection_closed(server, problem):
    answer = server.http.post("/v1/sessions", content=b" " * (2**20 + 1), headers=JSON)
    problem(answer, 413, "too_large")
    assert answer.headers["connection"] == "close"
    endless = (b" " * 2**16 for _ in range(64))  # without Content-Length
    problem(server.http.post("/v1/sessions", content=endless, headers=JSON), 413, "too_large")


def test_mutated_requests_never_fail_inside(server):
    """Bytes changed at random in a valid request: an answer or a problem, and the session lives on."""
    dice, session = random.Random(1), server.session()
    valid = json.dumps({"index": 0, "observation": POLE, "mask": [1, 1]}).encode()
    for _ in range(300):
        body = bytearray(valid)
        for _ in range(dice.randint(1, 4)):
            body[dice.randrange(len(body))] = dice.randrange(256)
        answer = server.http.post(f"/v1/sessions/{session}/act", content=bytes(body), headers=JSON)
        assert answer.status_code in (200, 400, 409, 422), (body, answer.text)
    index = server.get(f"/v1/sessions/{session}")["index"]
    assert act(server, session, index).status_code == 200


def test_every_answer_has_a_request_id(server):
    assert server.http.get("/").headers["x-request-id"]
    assert server.http.get("/", headers={"x-request-id": "mine-7"}).headers["x-request-id"] == "mine-7"
    assert server.http.get("/", headers={"x-request-id": 'bad"id'}).headers["x-request-id"] != 'bad"id'
    bad = server.http.post("/v1/sessions/x/act", content="{", headers=JSON | {"x-request-id": "mine-8"})
    assert bad.headers["x-request-id"] == "mine-8" == bad.json()["request"]
    assert any(line["id"] == "mine-8" and line["status"] == 400 for line in server.lines("request"))
