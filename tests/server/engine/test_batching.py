"""Batches give the same answers as single decisions; failures and overload do no harm."""

import asyncio
import dataclasses
import threading

import numpy as np
import pytest

from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.pool import Pool
from ludus.server import loading
from ludus.server.batching import Batcher, Meter
from ludus.server.problems import Problem
from ludus.server.service import Settings

SMALL = ModelArgs(num_layers=1, num_channels=16, rnn_channels=16, critic_width=16)
STEPS = 3


@pytest.fixture(scope="module")
def folders(tmp_path_factory, save_agent):
    """Runs with untrained networks: an MLP, an LSTM, and one whose parameters are NaN."""
    place = tmp_path_factory.mktemp("agents")

    def broken(params):
        import jax

        return jax.tree.map(lambda array: np.full_like(array, np.nan), params)

    save_agent(place / "mlp", "tictactoe", MLPArgs(width=16, depth=1))
    save_agent(place / "lstm", "recall", SMALL)
    save_agent(place / "broken", "recall", SMALL, change=broken)
    return place


def load(text, most=4, sample=False):
    loaded = loading.load(loading.source_of(str(text)), sample, most)
    loaded.warm(lambda *_: None)
    return loaded


def played(game, rows):
    """Observations, masks and seats of some games after a few random steps."""
    pool = Pool(game, rows, seed=3, threads=1)
    for number in range(2):
        pool.advance(pool.random_actions(number))
    step = pool.step
    for row in range(rows):
        yield {name: field[row] for name, field in step.observation.items()}, step.mask[row], int(step.seat[row])


def play(loaded, games, batches):
    """Answers over a few steps, in batches of the given sizes; each game keeps its memory."""
    memories, found = [loaded.memory_row()] * len(games), []
    for step in range(STEPS):
        at = 0
        for size in batches:
            some = range(at, at + size)
            rows = [loaded.read(*games[game], step == 0, memories[game], game + step) for game in some]
            answers = loaded.decide(rows)
            assert not answers.degraded.any()
            memories[at : at + size] = answers.memory
            found += zip(answers.action, answers.probabilities, answers.value, answers.memory, strict=True)
            at += size
    return found


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize(("agent", "game"), [("mlp", "tictactoe"), ("lstm", "recall"), ("table", "tictactoe")])
def test_batches_decide_like_single_requests(folders, agent, game, sample):
    loaded = load("tictactoe:trained" if agent == "table" else folders / agent, sample=sample)
    games = list(played(game, 7))
    alone, together = play(loaded, games, [1] * 7), play(loaded, games, [4, 3])
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one[0], other[0])
        np.testing.assert_allclose(one[1], other[1], atol=1e-5)
        np.testing.assert_allclose(one[2], other[2], atol=1e-5)
        memories = (np.frombuffer(data, np.float32) for data in (one[3], other[3]))
        np.testing.assert_allclose(*memories, atol=1e-5)


def test_a_served_network_decides_like_the_agent(folders):
    """Probabilities, values and memory are those of the agent in its own process."""
    loaded = load(folders / "lstm")
    pool = Pool("recall", 4, seed=1, threads=1)
    memory, memories = loaded.agent.memory(4), [loaded.memory_row()] * 4
    for step_number in range(4):
        step = pool.step
        decision, memory = loaded.agent.act(loaded.params, memory, step, 0)
        seen = [{name: field[row] for name, field in step.observation.items()} for row in range(4)]
        rows = [loaded.read(seen[row], step.mask[row], 0, step_number == 0, memories[row], 0) for row in range(4)]
        answers = loaded.decide(rows)
        memories = answers.memory
        np.testing.assert_array_equal(answers.action, decision.action)
        np.testing.assert_allclose(answers.value, np.asarray(decision.value)[:, 0], atol=1e-5)
        chosen = answers.probabilities[np.arange(4), answers.action]
        np.testing.assert_allclose(np.log(chosen), decision.log_prob, atol=1e-5)
        np.testing.assert_allclose(answers.probabilities.sum(axis=1), 1, atol=1e-5)
        pool.advance(answers.action)


def test_probabilities_of_a_table_are_those_of_its_best_actions():
    loaded = load("tictactoe:trained")
    board, mask, seat = next(iter(played("tictactoe", 1)))
    answers = loaded.decide([loaded.read(board, mask, seat, True, b"", 0)])
    best = loaded.agent.choices(loaded.params, _step(board, mask, seat))[0]
    np.testing.assert_allclose(answers.probabilities[0], best / best.sum())
    assert best[answers.action[0]]


def _step(board, mask, seat):
    from ludus.types import Step

    one = np.ones(1, np.float32)
    return Step({"board": board["board"][None]}, mask[None], np.array([seat]), np.zeros((1, 2)), one, one > 0)


def test_nan_gives_a_legal_default_and_leaves_the_memory(folders, serve, run):
    service = serve(str(folders / "broken"))
    session = run(service.open_session("broken"))
    before = run(service.store.get(session.id))
    seen = {"symbol": 1, "moment": 0}
    mask = [False] * 9
    mask[4] = mask[6] = True
    answer = run(service.act(session.id, 0, seen, mask))
    assert (answer.action, answer.degraded, answer.value, answer.index) == (4, True, 0.0, 1)
    assert answer.probabilities == [float(action == 4) for action in range(9)]
    assert answer.name == service.models["broken"].actions[4]
    after = run(service.store.get(session.id))
    assert service.models["broken"].memory_row() in before.data
    assert service.models["broken"].memory_row() in after.data
    assert run(service.act(session.id, 0, seen, mask)) == answer
    assert run(service.act(session.id, 1, seen)).action == 0
    assert service.meters["broken"].degraded == 2


class Sometimes:
    """A decider that fails in a way that a test chooses."""

    sizes, most = (), 4

    def __init__(self, inner, fail):
        self.inner, self.fail = inner, fail

    def decide(self, inputs):
        return self.fail(self.inner.decide(inputs))

    def warm(self, blank, tell): ...


def failing(text, fail):
    loaded = load(text)
    return dataclasses.replace(loaded, decider=Sometimes(loaded.decider, fail), seconds={})


def crash(outputs):
    raise RuntimeError("the device is lost")


@pytest.mark.parametrize(
    ("fail", "which"),
    [
        (crash, [True, True, True]),
        (lambda out: out._replace(value=np.array([np.nan, 1.0, 2.0])), [True, False, False]),
        (lambda out: out._replace(action=np.array([99, *out.action[1:]])), [True, False, False]),
        (lambda out: out._replace(action=np.array([*out.action[:2], 0])), [False, False, True]),
    ],
)
def test_only_rows_that_failed_are_degraded(fail, which):
    loaded = failing("tictactoe:trained", fail)
    mask = [False, True, True, True, True, True, True, True, True]
    rows = [loaded.read([1] + [0] * 8, mask, 0, True, b"", 0)] * 3
    answers = loaded.decide(rows)
    assert answers.degraded.tolist() == which
    assert all(answers.action[row] == 1 for row in range(3) if which[row])
    assert np.isfinite(answers.value).all()


def test_a_continuous_default_is_the_middle_of_the_range():
    loaded = failing("car:scripted", crash)
    size = loaded.observation["sensors"].shape[0]
    answers = loaded.decide([loaded.read([0.5] * size, None, 0, True, b"", 0)])
    assert answers.action.tolist() == [[0.0, 0.0]]
    assert answers.degraded.all()


def test_too_many_waiting_rows_are_refused(serve, run):
    service = serve("tictactoe:random", settings=Settings(batch=2, queue=3))
    ids = [run(service.open_session("tictactoe:random")).id for _ in range(5)]

    async def all_at_once():
        return await asyncio.gather(*[service.act(name, 0, [0] * 9) for name in ids], return_exceptions=True)

    answers = run(all_at_once())
    refused = answers[3:]
    assert [answer.index for answer in answers[:3]] == [1, 1, 1]
    assert [(problem.status, problem.code) for problem in refused] == [(503, "overloaded")] * 2
    assert all(problem.more["retry_after"] >= 1 for problem in refused)
    assert run(service.act(ids[4], 0, [0] * 9)).index == 1
    meter = service.meters["tictactoe:random"]
    assert (meter.answers, meter.overloaded, meter.batches) == (4, 2, {2: 1, 1: 2})
    assert service.waiting == {"tictactoe:random": 0}


def test_a_thread_batches_what_has_arrived_meanwhile(run):
    """While the first row is decided, three more arrive; they form one batch."""
    gate, entered, sizes = threading.Event(), threading.Event(), []

    def wait(outputs):
        sizes.append(len(outputs.value))
        entered.set()
        gate.wait()
        return outputs

    async def check():
        loaded = dataclasses.replace(failing("tictactoe:trained", wait), seconds={4: 1.0})
        batcher = Batcher(loaded, 10, Meter())
        row = loaded.read([0] * 9, None, 0, True, b"", 0)
        first = batcher.submit(row)
        await asyncio.to_thread(entered.wait)
        others = [batcher.submit(row) for _ in range(3)]
        abandoned = batcher.submit(row)
        abandoned.cancel()
        gate.set()
        decided = await asyncio.gather(first, *others)
        await batcher.close()
        assert len({one.action for one in decided}) == 1
        assert sizes == [1, 3]
        assert batcher.waiting == 0

    run(check())


def test_a_request_that_times_out_changes_nothing(serve, run, monkeypatch):
    gate = threading.Event()

    def slow(outputs):
        gate.wait()
        return outputs

    loaded = dataclasses.replace(failing("tictactoe:trained", slow), seconds={4: 1.0})
    object.__setattr__(loaded, "warm", lambda tell: None)
    monkeypatch.setattr(loading, "load", lambda *_: loaded)
    service = serve("tictactoe:trained", settings=Settings(batch=4, timeout=0.05))
    session = run(service.open_session("tictactoe:trained"))
    before = run(service.store.get(session.id))
    for _ in range(2):
        with pytest.raises(Problem) as raised:
            run(service.act(session.id, 0, [0] * 9))
        assert (raised.value.status, raised.value.code) == (503, "timeout")
    assert run(service.store.get(session.id)) == before
    assert service.timeouts == 2
    gate.set()
    with pytest.raises(Problem, match="expected is 0"):
        run(service.act(session.id, 1, [0] * 9))
