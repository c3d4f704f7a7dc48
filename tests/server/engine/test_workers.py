"""Several workers on one store, death by `kill -9`, and new checkpoints while serving."""

import asyncio
import json
import shutil
import signal
import subprocess
import sys

import pytest

from ludus.agents.neural.networks.settings import MLPArgs
from ludus.server.problems import Problem
from ludus.server.service import Service, Settings
from ludus.server.stores import Limits
from ludus.server.stores.sqlite import SQLiteStore

BOARD = [1, 2, 0, 0, 1, 0, 0, 2, 0]
WORKER = """
import asyncio, json, sys
from ludus.server.service import Service
from ludus.server.stores.sqlite import SQLiteStore

def seen(session, index):
    return {"symbol": session % 8 + 1 if index == 0 else 0, "moment": 0 if index == 0 else 1 + index % 2}

async def main(path, known):
    service = Service(["recall:scripted", "dice=tictactoe:random"], SQLiteStore(path))
    await service.start()
    for number in range(len(known), 6):
        session = await service.open_session("recall:scripted", seed=number)
        print(json.dumps(["open", session.id]), flush=True)
        known.append([session.id, 0])
    async def play(number, id, index):
        while True:
            answer = await service.act(id, index, seen(number, index))
            print(json.dumps(["act", number, index, answer.action]), flush=True)
            index += 1
    await asyncio.gather(*[play(number, id, index) for number, (id, index) in enumerate(known)])

asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
"""


def undisturbed(run, serve, steps):
    """The answers of sessions that nothing interrupts."""
    scope = {}
    exec(WORKER[WORKER.index("def seen") : WORKER.index("async def main")], scope)
    service = serve("recall:scripted")

    async def play(number):
        session = await service.open_session("recall:scripted", seed=number)
        return [(await service.act(session.id, i, scope["seen"](number, i))).action for i in range(steps)]

    return [run(play(number)) for number in range(6)]


def killed_after(path, known, lines):
    """What a worker has acknowledged until it was killed: ids, and actions by session and index."""
    command = [sys.executable, "-c", WORKER, str(path), json.dumps(known)]
    ids, acts = [], {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        for line in worker.stdout:
            # The last line may be cut off in the middle.
            if not line.endswith("\n"):
                break
            kind, *facts = json.loads(line)
            if kind == "open":
                ids.append(facts[0])
            else:
                acts[facts[0], facts[1]] = facts[2]
            if len(acts) == lines:
                worker.send_signal(signal.SIGKILL)
    assert worker.returncode == -signal.SIGKILL
    return ids, acts


def test_no_acknowledged_step_is_lost_when_a_worker_is_killed(tmp_path, run, serve):
    path, known, acts = tmp_path / "sessions.db", [], {}
    for lines in (100, 251):
        ids, new = killed_after(path, known, lines)
        repeated = {key: action for key, action in new.items() if key in acts}
        assert all(acts[key] == action for key, action in repeated.items())
        acts |= new
        known = known or [[name, 0] for name in ids]
        # A client goes on with the request whose answer it has not seen.
        known = [[name, sum(session == number for session, _ in acts)] for number, (name, _) in enumerate(known)]

    async def check():
        store = SQLiteStore(path)
        await store.open()
        for name, index in known:
            # What was acknowledged is stored, and at most one step whose answer was lost.
            assert (await store.get(name)).counter - index in (0, 1)
        await store.close()

    run(check())
    longest = max(index for _, index in known)
    expected = undisturbed(run, serve, longest)
    assert {key: expected[key[0]][key[1]] for key in acts} == acts
    assert len(acts) == sum(index for _, index in known) > 300


@pytest.fixture
def pair(shared, run):
    """Two workers whose agents decide differently, so that two answers to one request would be seen."""
    services = [Service([f"x={agent}"], shared.new(Limits()), Settings(batch=4))
                for agent in ("tictactoe:random", "tictactoe:perfect")]  # fmt: skip
    for service in services:
        run(service.start())
    yield services
    for service in services:
        run(service.close())


def test_two_workers_never_answer_a_request_differently(pair, run):
    async def check():
        session = await pair[0].open_session("x")
        seen = {"symbol": 0, "moment": 2}
        for index in range(20):
            both = await asyncio.gather(*[worker.act(session.id, index, [0] * 9) for worker in pair])
            assert both[0] == both[1]
            # Whichever worker is asked again, the answer is the same.
            again = await asyncio.gather(*[worker.act(session.id, index, [0] * 9) for worker in reversed(pair)])
            assert again == both

    run(check())


def test_any_worker_answers_any_session(shared, run, serve):
    first = serve("recall:scripted", store=shared.new(Limits()))
    second = serve("recall:scripted", store=shared.new(Limits()))
    session = run(first.open_session("recall:scripted"))
    steps = [{"symbol": 5, "moment": 0}, {"symbol": 0, "moment": 1}, {"symbol": 0, "moment": 2}]
    answers = [
        run(worker.act(session.id, i, seen))
        for i, (worker, seen) in enumerate(zip((first, second, first), steps, strict=True))
    ]
    assert answers[-1].action == 5
    run(second.close_session(session.id))
    with pytest.raises(Problem, match="no session"):
        run(first.act(session.id, 3, steps[1]))


@pytest.fixture
def folder(tmp_path, save_agent):
    """A run with one checkpoint."""
    save_agent(tmp_path / "run" / "checkpoints", "tictactoe", MLPArgs(width=8, depth=1))
    return tmp_path / "run"


def test_new_sessions_use_a_new_checkpoint(folder, save_agent, serve, run):
    service = serve(str(folder), settings=Settings(batch=1))
    old = run(service.open_session("run"))
    before = run(service.act(old.id, 0, BOARD))
    assert run(service.reload()) == []
    save_agent(folder / "checkpoints", "tictactoe", MLPArgs(width=8, depth=1), number=2, seed=5)
    assert run(service.reload()) == ["run"]
    new = run(service.open_session("run"))
    assert [session.version.partition("-")[0] for session in (old, new)] == ["000001", "000002"]
    assert run(service.act(new.id, 0, BOARD)).probabilities != before.probabilities
    # The old session goes on with its own version.
    same = run(service.act(old.id, 1, BOARD))
    assert same.probabilities == pytest.approx(before.probabilities)
    assert len(service._served) == 2
    run(service.close_session(old.id))
    assert run(service.reload()) == []
    assert len(service._served) == 1
    assert service.describe()[0].version == new.version


def test_the_best_checkpoint_is_served(folder, save_agent, serve, run):
    save_agent(folder / "checkpoints", "tictactoe", MLPArgs(width=8, depth=1), number=2, seed=1, score=0.5)
    save_agent(folder / "checkpoints", "tictactoe", MLPArgs(width=8, depth=1), number=3, seed=2, score=0.1)
    service = serve(str(folder), settings=Settings(batch=1))
    assert service.models["run"].version.startswith("000002-")


def test_a_damaged_checkpoint_is_not_served(folder, serve, run, caplog):
    service = serve(str(folder), settings=Settings(batch=1))
    damaged = shutil.copytree(folder / "checkpoints" / "000001", folder / "checkpoints" / "000002")
    (damaged / "params.safetensors").write_bytes(b"nothing")
    (damaged / "manifest.json").write_text(
        (damaged / "manifest.json").read_text().replace('"sha256": "', '"sha256": "0')
    )
    assert run(service.reload()) == []
    assert "keeps its version 000001" in caplog.text
    assert run(service.open_session("run")).version.startswith("000001-")


def test_a_session_goes_on_after_a_restart_with_a_newer_checkpoint(folder, save_agent, serve, run, tmp_path):
    path = tmp_path / "sessions.db"
    first = Service([str(folder)], SQLiteStore(path), Settings(batch=1))
    run(first.start())
    session = run(first.open_session("run"))
    before = run(first.act(session.id, 0, BOARD))
    run(first.close())
    save_agent(folder / "checkpoints", "tictactoe", MLPArgs(width=8, depth=1), number=2, seed=5)
    second = serve(str(folder), store=SQLiteStore(path), settings=Settings(batch=1))
    assert second.models["run"].version.startswith("000002-")
    assert run(second.act(session.id, 0, BOARD)) == before
    assert run(second.act(session.id, 1, BOARD)).probabilities == pytest.approx(before.probabilities)
    # A worker that does not have the old version, and cannot load it any more, cannot go on.
    shutil.rmtree(folder / "checkpoints" / "000001")
    third = serve(str(folder), store=SQLiteStore(path), settings=Settings(batch=1))
    with pytest.raises(Problem, match="no longer served"):
        run(third.act(session.id, 2, BOARD))
    assert run(second.act(session.id, 2, BOARD)).index == 3
