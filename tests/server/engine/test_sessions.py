"""The protocol of agent sessions: indices, retries, order, limits and errors."""

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.server.problems import Problem
from ludus.server.service import Service, Settings
from ludus.server.stores import Limits, Record
from ludus.server.stores.memory import MemoryStore
from ludus.server.stores.sqlite import SQLiteStore
from ludus.types import LudusError

CUES = [{"symbol": symbol, "moment": moment} for symbol, moment in ((3, 0), (0, 1), (0, 1), (0, 2))]
"""a game of recall: the cue, two waits, and the question, which only an agent with a memory can answer"""


@pytest.fixture(scope="module")
def service(run):
    """One service for the tests that only open sessions; its agents have memory, or draw random numbers."""
    agents = ["recall:scripted", "tictactoe:trained", "dice=tictactoe:random", "car:scripted", "connect4:mcts(5)"]
    made = Service(agents, MemoryStore(), Settings(batch=4))
    run(made.start())
    yield made
    run(made.close())


def problem_of(run, coroutine):
    """The status and code of the problem that a coroutine raises, and what else it says."""
    with pytest.raises(Problem) as raised:
        run(coroutine)
    return raised.value.status, raised.value.code, raised.value.more


def test_a_session_remembers_its_game(service, run):
    session = run(service.open_session("recall:scripted"))
    assert (session.index, session.seat, session.model) == (0, 0, "recall:scripted")
    answers = [run(service.act(session.id, index, seen)) for index, seen in enumerate(CUES)]
    assert [answer.index for answer in answers] == [1, 2, 3, 4]
    assert answers[-1].action == 3
    assert answers[-1].name == service.models["recall:scripted"].actions[3]
    assert answers[-1].probabilities[3] == 1.0


def test_sessions_do_not_mix(service, run):
    async def play(cue):
        session = await service.open_session("recall:scripted")
        for index, seen in enumerate(CUES):
            answer = await service.act(session.id, index, {**seen, "symbol": cue if index == 0 else 0})
        return answer.action

    async def play_all():
        return await asyncio.gather(*[play(cue) for cue in range(1, 9)])

    assert run(play_all()) == list(range(1, 9))


def test_the_last_index_gives_the_same_answer_again(service, run):
    session = run(service.open_session("dice"))
    first = run(service.act(session.id, 0, np.zeros(9)))
    before = service.meters["dice"].requests
    # The observation of a repeated request is not read; the answer is the stored one.
    assert run(service.act(session.id, 0, "nonsense")) == first
    assert service.meters["dice"].requests == before
    assert run(service.act(session.id, 1, np.zeros(9))).index == 2


@pytest.mark.parametrize("index", [-1, 0, 3, 2**40])
def test_another_index_is_refused_and_changes_nothing(service, run, index):
    session = run(service.open_session("dice"))
    for step in range(2):
        run(service.act(session.id, step, np.zeros(9)))
    status, code, more = problem_of(run, service.act(session.id, index, np.zeros(9)))
    assert (status, code, more) == (409, "index_mismatch", {"expected": 2})
    assert run(service.act(session.id, 2, np.zeros(9))).index == 3


def test_the_first_index_is_0(service, run):
    session = run(service.open_session("dice"))
    assert problem_of(run, service.act(session.id, -1, np.zeros(9)))[1] == "index_mismatch"


def test_requests_of_one_session_are_answered_in_order(service, run):
    async def all_at_once():
        session = await service.open_session("recall:scripted")
        return await asyncio.gather(*[service.act(session.id, index, seen) for index, seen in enumerate(CUES)])

    answers = run(all_at_once())
    assert [answer.index for answer in answers] == [1, 2, 3, 4]
    assert answers[-1].action == 3


def test_the_same_request_twice_at_once_counts_once(service, run):
    async def twice():
        session = await service.open_session("dice")
        answers = await asyncio.gather(*[service.act(session.id, 0, np.zeros(9)) for _ in range(3)])
        return answers, await service.act(session.id, 1, np.zeros(9))

    answers, following = run(twice())
    assert answers[0] == answers[1] == answers[2]
    assert following.index == 2


def test_too_many_requests_of_one_session_at_once_are_refused(service, run):
    async def flood():
        session = await service.open_session("dice")
        requests = [service.act(session.id, index, np.zeros(9)) for index in range(60)]
        return await asyncio.gather(*requests, return_exceptions=True)

    answers = run(flood())
    refused = [answer for answer in answers if isinstance(answer, Problem)]
    assert [answer.index for answer in answers[:33]] == list(range(1, 34))
    assert {problem.code for problem in refused} == {"overloaded"}
    assert len(refused) == 60 - 33


BAD = [
    ({"board": [0] * 8}, None, "invalid_observation", "shape"),
    ({"board": [0] * 8 + [3]}, None, "invalid_observation", r"board\[8\] is 3; it must be between 0 and 2"),
    ({"board": [0] * 8 + [-1]}, None, "invalid_observation", "between 0 and 2"),
    ({"board": [0] * 8 + [0.5]}, None, "invalid_observation", "not of type int8"),
    ({"board": [0] * 8 + [256]}, None, "invalid_observation", "not of type int8"),
    ({"board": [0] * 8 + [float("nan")]}, None, "invalid_observation", "NaN"),
    ({"board": [0] * 8 + [10**30]}, None, "invalid_observation", "not an array of numbers"),
    ({"board": [0] * 8 + [None]}, None, "invalid_observation", "not an array of numbers"),
    ({"board": [[0] * 8, [0]]}, None, "invalid_observation", "not an array of numbers"),
    ({"board": "000000000"}, None, "invalid_observation", "not an array of numbers"),
    ({"bored": [0] * 9}, None, "invalid_observation", "has the fields board"),
    ({"board": [0] * 9, "more": 1}, None, "invalid_observation", "has the fields board"),
    ({}, None, "invalid_observation", "has the fields board"),
    (None, None, "invalid_observation", "not an array of numbers"),
    ([0] * 9, [1] * 8, "invalid_mask", "shape"),
    ([0] * 9, [0] * 9, "invalid_mask", "allows no action"),
    ([0] * 9, "111111111", "invalid_mask", "not an array of numbers"),
    ([0] * 9, [[1] * 9] * 2, "invalid_mask", "shape"),
]


@pytest.mark.parametrize(("observation", "mask", "code", "words"), BAD)
def test_a_bad_request_changes_nothing(service, run, observation, mask, code, words):
    session = run(service.open_session("tictactoe:trained"))
    with pytest.raises(Problem, match=words) as raised:
        run(service.act(session.id, 0, observation, mask))
    assert (raised.value.status, raised.value.code) == (422, code)
    assert run(service.act(session.id, 0, [0] * 9)).index == 1


@pytest.mark.parametrize("value", [1e300, float("inf"), float("nan")])
def test_numbers_that_are_not_finite_are_refused(service, run, value):
    session = run(service.open_session("car:scripted"))
    sensors = [0.5] * service.models["car:scripted"].observation["sensors"].shape[0]
    assert problem_of(run, service.act(session.id, 0, [*sensors[1:], value]))[1] == "invalid_observation"
    answer = run(service.act(session.id, 0, sensors))
    assert len(answer.action) == 2
    assert answer.probabilities == []
    assert answer.name


def test_the_mask_is_obeyed(service, run):
    for action in range(9):
        session = run(service.open_session("tictactoe:trained"))
        mask = [place == action for place in range(9)]
        assert run(service.act(session.id, 0, [0] * 9, mask)).action == action


def test_unknown_models_sessions_and_seats_are_errors(service, run):
    status, code, more = problem_of(run, service.open_session("chess:trained"))
    assert (status, code) == (404, "model_not_found")
    assert "dice" in more["models"]
    assert problem_of(run, service.open_session("dice", seat=2))[:2] == (422, "invalid_seat")
    assert problem_of(run, service.open_session("dice", seat=-1))[:2] == (422, "invalid_seat")
    for unknown in ("unknown", "", "a/b", "x" * 200, "\ud800"):
        assert problem_of(run, service.act(unknown, 0, [0] * 9))[:2] == (404, "session_not_found")
        assert problem_of(run, service.close_session(unknown))[:2] == (404, "session_not_found")


def test_agents_that_simulate_the_game_need_a_game_session(service, run):
    status, code, _ = problem_of(run, service.open_session("connect4:mcts(5)"))
    assert (status, code) == (422, "needs_game_session")
    model = service.models["connect4:mcts(5)"]
    assert not model.describe().sessions
    assert hasattr(model.agent, "at")


def test_a_closed_session_is_not_found(service, run):
    session = run(service.open_session("dice"))
    run(service.close_session(session.id))
    assert problem_of(run, service.act(session.id, 0, [0] * 9))[:2] == (404, "session_not_found")
    assert problem_of(run, service.close_session(session.id))[:2] == (404, "session_not_found")


def test_the_seed_of_a_session_decides_its_random_numbers(service, run):
    def play(seed):
        session = run(service.open_session("dice", seed=seed))
        return [run(service.act(session.id, index, [0] * 9)).action for index in range(12)]

    assert play(7) == play(7)
    assert len({tuple(play(seed)) for seed in range(5)}) == 5


def test_models_describe_themselves(service):
    infos = {info.name: info for info in service.describe()}
    info = infos["tictactoe:trained"]
    assert info.kind == "tabular"
    assert info.actions[:2] == ["a1", "b1"]
    assert info.observation["properties"]["board"] == {
        "type": "array", "minItems": 9, "maxItems": 9, "items": {"type": "integer", "minimum": 0, "maximum": 2}
    }  # fmt: skip
    assert infos["recall:scripted"].memory == "state"
    assert infos["recall:scripted"].memory_bytes == 8
    assert len(infos["car:scripted"].low) == 2
    assert infos["car:scripted"].actions == []


def test_expired_and_evicted_sessions_are_gone(backend, serve, run):
    service = serve("tictactoe:random", store=backend.new(Limits(expiry=60, sessions=2)))
    ids = [run(service.open_session("tictactoe:random")).id for _ in range(3)]
    assert problem_of(run, service.act(ids[0], 0, [0] * 9))[:2] == (410, "session_gone")
    assert run(service.act(ids[1], 0, [0] * 9)).index == 1
    run(backend.elapse(61))
    assert problem_of(run, service.act(ids[1], 1, [0] * 9))[:2] == (410, "session_gone")
    assert problem_of(run, service.close_session(ids[1]))[:2] == (410, "session_gone")


def test_a_record_of_another_format_is_an_error(service, run):
    run(service.store.put("strange", Record(0, b"\x91\x01"), None))
    assert problem_of(run, service.act("strange", 0, [0] * 9))[:2] == (410, "session_gone")


def test_a_session_of_a_version_that_is_gone_cannot_go_on(service, run):
    session = run(service.open_session("dice"))
    record = run(service.store.get(session.id))
    old = record._replace(data=record.data.replace(session.version.encode(), b"9.9.9"))
    run(service.store.put("old", old, None))
    assert problem_of(run, service.act("old", 0, [0] * 9))[:2] == (410, "session_gone")


def test_closing_answers_what_is_waiting(run):
    async def check():
        service = Service(["tictactoe:random"], MemoryStore(), Settings(batch=2))
        await service.start()
        ids = [(await service.open_session("tictactoe:random")).id for _ in range(7)]
        requests = [asyncio.create_task(service.act(name, 0, [0] * 9)) for name in ids]
        await asyncio.sleep(0)
        await service.close()
        assert [(await request).index for request in requests] == [1] * 7
        assert [(await service.store.get(name)).counter for name in ids] == [1] * 7
        return service.act(ids[0], 1, [0] * 9)

    assert problem_of(run, run(check()))[:2] == (503, "not_ready")


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        (["runs/nowhere"], 'there is no run or file "runs/nowhere"'),
        (["chess:trained"], "chess"),
        (["tictactoe:strong"], "unknown agent"),
        (["tictactoe:random", "tictactoe:random"], "two models tictactoe:random"),
        (["a=tictactoe:random", "a=connect4:random"], "two models a"),
        (["person=tictactoe:random"], '"person" in a seat means a person'),
    ],
)
def test_agents_that_cannot_be_served_are_errors(run, tmp_path, agents, words):
    service = Service(agents, SQLiteStore(tmp_path / "sessions.db"))
    with pytest.raises(LudusError, match=words):
        run(service.start())
    assert not service.ready


REQUESTS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["next", "last", "older", "later"]), st.booleans(),
              st.integers(0, 8)),
    max_size=25,
)  # fmt: skip
"""session, index, whether the observation is valid, and the only legal action"""


@settings(max_examples=60)
@given(requests=REQUESTS)
def test_sessions_behave_like_a_list_of_answers(service, run, requests):
    async def check():
        ids = [(await service.open_session("dice")).id for _ in range(3)]
        given_before = [[], [], []]
        for session, which, valid, action in requests:
            answers = given_before[session]
            index = len(answers) + {"next": 0, "last": -1, "older": -2, "later": 1}[which]
            mask = [place == action for place in range(9)]
            request = service.act(ids[session], index, [0] * 9 if valid else [9] * 9, mask)
            if which == "last" and answers:
                assert await request == answers[-1]
            elif which == "next" and valid:
                answers.append(await request)
                assert (answers[-1].action, answers[-1].index) == (action, index + 1)
            else:
                with pytest.raises(Problem) as raised:
                    await request
                assert raised.value.code == ("invalid_observation" if which == "next" else "index_mismatch")
        for name, answers in zip(ids, given_before, strict=True):
            assert (await service.act(name, len(answers), [0] * 9)).index == len(answers) + 1

    run(check())
