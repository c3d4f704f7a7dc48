"""Changes of runs: only new lines are read, none is lost, and only followers receive them."""

import asyncio
import json
import math
import time

import numpy as np
import pytest

from ludus.studio import Studio, metrics
from ludus.studio.jobs import Jobs
from ludus.studio.ledger import Ledger
from ludus.training import config, runs
from ludus.types import LudusError


def write(folder, *lines, mode="a"):
    with (folder / "metrics.jsonl").open(mode) as file:
        for line in lines:
            file.write(line if isinstance(line, str) else json.dumps(line) + "\n")


@pytest.fixture
def folder(tmp_path):
    return runs.prepare(config.resolve("tictactoe"), tmp_path / "runs")


def test_a_ledger_reads_each_line_once(folder):
    ledger = Ledger(folder)
    assert ledger.update() == ([], False) and ledger.summary()["status"] == "new"
    write(folder, {"step": 1, "loss": 2.0}, {"step": 2, "score": 0.5, "score_low": 0.4, "score_high": 0.6})
    ledger.update()
    write(folder, {"step": 3, "seconds": 9.0, "steps_per_second": 7.0}, '{"step": 4, "lo')
    assert [line["step"] for line in ledger.update()[0]] == [3], "an incomplete line is not read yet"
    write(folder, 'ss": 1.0}\n')
    assert ledger.update() == ([{"step": 4, "loss": 1.0}], False)
    summary = ledger.summary()
    assert (summary["steps"], summary["score"], summary["low"], summary["high"]) == (4, 0.5, 0.4, 0.6)


def test_truncated_and_replaced_metrics_are_detected(folder):
    ledger = Ledger(folder)
    write(folder, *({"step": step} for step in range(10)))
    ledger.update()
    write(folder, {"step": 1}, {"step": 2}, mode="w")
    assert ledger.update() == ([], True) and ledger.summary()["steps"] == 2
    (folder / "other").write_text('{"step": 77, "score": 1.0}\n' * 50)
    (folder / "other").replace(folder / "metrics.jsonl")
    assert ledger.update()[1] and ledger.summary()["steps"] == 77
    (folder / "metrics.jsonl").unlink()
    assert ledger.update()[1] and ledger.summary()["steps"] == 0


def test_a_long_file_is_read_from_its_end(folder, monkeypatch):
    write(folder, {"step": 0, "score": 0.25}, *({"step": step, "x": "." * 90} for step in range(1, 20_000)))
    ledger = Ledger(folder)
    ledger.update()
    assert ledger.summary()["steps"] == 19_999 and ledger.summary()["score"] == 0.25
    assert ledger.position == (folder / "metrics.jsonl").stat().st_size


def test_invalid_lines_are_skipped(folder):
    write(folder, "garbage\n", "[]\n", {"step": 5}, '{"step": "x"}\n')
    ledger = Ledger(folder)
    ledger.update()
    assert ledger.summary()["steps"] == 5
    (folder / "run.toml").write_text("num_envs = ")
    ledger.update()
    assert ledger.summary()["status"] == "failed" and "run.toml" in ledger.summary()["sentence"]


async def until(condition):
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("timeout")


def test_followers_receive_new_lines_until_they_leave(folder):
    async def scenario():
        feed, received, other = Studio(folder.parent).runs_feed, [], []
        leave = feed.follow(folder.name, received.append)
        await until(lambda: received)
        assert received[0]["kind"] == "run" and received[0]["lines"] == [] and received[0]["summary"]["status"] == "new"
        write(folder, {"step": 1})
        feed.summaries()  # a request by someone else consumes no lines
        await until(lambda: len(received) > 1)
        leave_other = feed.follow(folder.name, other.append)
        write(folder, {"step": 2}, {"step": 3})
        await until(lambda: len([line for message in received for line in message["lines"]]) == 3)
        assert [line["step"] for message in received for line in message["lines"]] == [1, 2, 3]
        leave(), leave_other()
        await until(feed.task.done)
        count = len(received)
        write(folder, {"step": 4})
        feed.summaries()
        assert len(received) == count and not feed.waiting
        with pytest.raises(LudusError, match="there is no run"):
            feed.follow("../x", received.append)

    asyncio.run(scenario())


def test_watchers_are_notified_when_the_list_changes(folder):
    async def scenario():
        feed, received = Studio(folder.parent).runs_feed, []
        leave = feed.changed(received.append)
        await until(lambda: feed.sent_list is not None)
        assert received == []
        runs.prepare(config.resolve("tictactoe"), folder.parent)
        await until(lambda: received)
        assert received == [{"kind": "runs"}]
        leave()
        await until(feed.task.done)

    asyncio.run(scenario())


def test_downsampling_keeps_every_peak_and_every_score():
    generator = np.random.default_rng(0)
    loss = generator.normal(size=100_000)
    loss[[123, 77_777]] = 50.0, -60.0
    score = np.full(100_000, np.nan)
    score[[5, 50_000, 99_999]] = 1.0, 2.0, 3.0
    columns = {"step": np.arange(100_000), "loss": loss, "score": score, "gap": np.full(100_000, np.nan)}
    few = metrics.thinned(columns, 1000)
    assert len(few["step"]) <= 1003 and (np.diff(few["step"]) > 0).all()
    assert {few["loss"].max(), few["loss"].min()} == {50.0, -60.0}
    assert few["step"][~np.isnan(few["score"])].tolist() == [5, 50_000, 99_999]
    assert np.isnan(few["gap"]).all() and few["step"][0] == 0 and few["step"][-1] == 99_999
    assert metrics.thinned(columns, 100_000) is columns


def test_nan_and_infinity_become_null():
    assert metrics.to_json(np.array([1.0, np.nan, np.inf])) == [1.0, None, None]


def test_jobs_are_limited_and_old_ones_are_dropped():
    jobs = Jobs()
    done = []
    for _ in range(30):
        done.append(jobs.start("x", lambda tell: {"value": math.nan, "list": (np.float64(1.5),)}))
        while done[-1].status == "running":
            done[-1].stop.wait(0.01)
    assert done[0].facts()["result"] == {"value": None, "list": [1.5]}
    assert len(jobs.kept) <= 20 and done[-1].id in jobs.kept
    with pytest.raises(LudusError, match="there is no job"):
        jobs.get("x")
    waiting = [
        jobs.start("x", lambda tell: [tell("x", 0, 1) or time.sleep(0.01) for _ in range(10**6)]) for _ in range(20)
    ]
    with pytest.raises(LudusError, match="20 jobs are running or waiting"):
        jobs.start("x", lambda tell: None)
    jobs.close()
    for job in waiting:
        while job.status == "running":
            job.stop.wait(0.01)
            time.sleep(0.01)
    assert {job.status for job in waiting} == {"stopped"}


def test_a_failed_job_has_an_error_message(caplog):
    jobs = Jobs()

    def refuse(tell):
        raise LudusError("not today")

    for work, sentence in ((refuse, "not today"), (lambda tell: 1 / 0, "internal error")):
        job = jobs.start("x", work)
        while job.status == "running":
            job.stop.wait(0.01)
        assert job.status == "failed" and job.sentence.startswith(sentence)
