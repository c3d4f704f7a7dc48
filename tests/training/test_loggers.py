"""Sinks: a killed and resumed run leaves the lines of one that never stopped, and the real packages read theirs."""

import json
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.evaluation.statistics import TrainingStatistics
from ludus.training import loggers
from ludus.training.loggers import JsonLines, Several, TensorBoard, WeightsAndBiases, open_sinks
from ludus.types import LudusError


def noon() -> float:
    return 43200.0


def write_steps(path, steps, resume_step=None):
    sink = JsonLines(path, resume_step, noon)
    for step in steps:
        sink.write(step, {"loss": 1 / (step + 1), "naïve": step})
    sink.close()


def test_a_line_by_hand(tmp_path):
    path = tmp_path / "runs" / "metrics.jsonl"
    sink = JsonLines(path, clock=noon)
    sink.write(np.int64(3), {"loss": np.float32(0.5), "games": np.int32(7), "won": True})
    sink.write(4, {"loss": math.nan, "low": -math.inf, "none": None})
    # Read before the file is closed: each line is out as soon as it is written.
    assert path.read_text() == (
        '{"step": 3, "time": 43200.0, "loss": 0.5, "games": 7, "won": 1}\n'
        '{"step": 4, "time": 43200.0, "loss": null, "low": null, "none": null}\n'
    )
    sink.close()


@given(st.dictionaries(st.text(min_size=1).filter(lambda name: name not in ("step", "time")), st.floats()))
def test_numbers_come_back_exactly(tmp_path_factory, metrics):
    path = tmp_path_factory.mktemp("metrics") / "metrics.jsonl"
    sink = JsonLines(path, clock=noon)
    sink.write(1, metrics)
    sink.close()
    (line,) = loggers.read(path)
    expected = {name: value if math.isfinite(value) else None for name, value in metrics.items()}
    assert line == {"step": 1, "time": 43200.0, **expected}


@given(st.integers(0, 10), st.integers(0, 300), st.data())
def test_killed_anywhere_and_resumed_equals_uninterrupted(tmp_path_factory, reached, torn, data):
    folder = tmp_path_factory.mktemp("metrics")
    whole, resumed = folder / "whole.jsonl", folder / "resumed.jsonl"
    write_steps(whole, range(12))
    write_steps(resumed, range(reached + 1))
    kept = resumed.read_bytes()
    checkpoint = data.draw(st.integers(-1, reached))
    last_line = len(kept.splitlines(keepends=True)[-1])
    if checkpoint < reached:  # a checkpoint is written after the lines before it
        resumed.write_bytes(kept[: len(kept) - min(torn, last_line)])
    assert len(loggers.read(resumed)) in (reached, reached + 1)
    write_steps(resumed, range(checkpoint + 1, 12), resume_step=checkpoint)
    assert resumed.read_bytes() == whole.read_bytes()
    assert sorted(file.name for file in folder.iterdir()) == ["resumed.jsonl", "whole.jsonl"]


def test_a_half_written_line_is_repaired_on_open(tmp_path):
    path = tmp_path / "metrics.jsonl"
    write_steps(path, range(2))
    whole = path.read_bytes()
    path.write_bytes(whole + '{"step": 2, "naï'.encode()[:-1])
    assert [line["step"] for line in loggers.read(path)] == [0, 1]
    JsonLines(path).close()
    assert path.read_bytes() == whole


def test_a_line_that_only_lacks_its_end_is_kept(tmp_path):
    path = tmp_path / "metrics.jsonl"
    write_steps(path, range(2))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert [line["step"] for line in loggers.read(path)] == [0, 1]
    JsonLines(path).close()
    assert path.read_bytes() == whole


def test_a_file_in_order_is_not_written_anew(tmp_path):
    path = tmp_path / "metrics.jsonl"
    write_steps(path, range(3))
    before = path.stat().st_ino
    write_steps(path, [], resume_step=2)
    assert path.stat().st_ino == before
    write_steps(path, [], resume_step=1)
    assert path.stat().st_ino != before


def test_the_old_file_stays_where_cutting_fails(tmp_path, monkeypatch):
    path = tmp_path / "metrics.jsonl"
    write_steps(path, range(3))
    before = path.read_bytes()

    def fail(file: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(loggers.os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        JsonLines(path, resume_step=1)
    assert path.read_bytes() == before


def test_columns(tmp_path):
    path = tmp_path / "metrics.jsonl"
    sink = JsonLines(path, clock=noon)
    sink.write(1, {"loss": 0.5})
    sink.write(2, {"loss": math.nan, "score": 3})
    sink.close()
    table = loggers.columns(path)
    assert table["step"].dtype == np.int64
    np.testing.assert_array_equal(table["step"], [1, 2])
    np.testing.assert_array_equal(table["loss"], [0.5, math.nan])
    np.testing.assert_array_equal(table["score"], [math.nan, 3.0])


def test_a_summary_can_be_written_as_it_is(tmp_path):
    statistics = TrainingStatistics(clock=noon)
    statistics.record_episode(2.0)
    sink = JsonLines(tmp_path / "metrics.jsonl", clock=noon)
    sink.write(1, statistics.summary())
    sink.close()
    (line,) = loggers.read(tmp_path / "metrics.jsonl")
    assert line["mean_reward"] == 2.0 and line["mean_step_time"] is None


@pytest.mark.parametrize("broken", ["{", "7", '{"loss": 1}', "", "not json"])
def test_a_broken_line_inside_is_an_error(tmp_path, broken):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 0}\n' + broken + '\n{"step": 2}\n')
    with pytest.raises(LudusError, match=r"line 2 of .*metrics\.jsonl is not a line of metrics"):
        loggers.read(path)


def test_mistakes_get_sentences(tmp_path):
    with pytest.raises(LudusError, match="no metrics file at"):
        loggers.read(tmp_path / "nothing.jsonl")
    sink = JsonLines(tmp_path / "metrics.jsonl")
    with pytest.raises(LudusError, match="give the metric another name"):
        sink.write(1, {"step": 2.0})
    sink.close()
    with pytest.raises(LudusError, match='unknown logger "tensorbord"; did you mean "tensorboard"'):
        open_sinks(["jsonl", "tensorbord"], tmp_path / "run")
    with pytest.raises(LudusError, match="there are jsonl, tensorboard, wandb"):
        open_sinks(["paper"], tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("name", "module"), [("tensorboard", "tensorboard.compat.proto"), ("wandb", "wandb")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(LudusError, match=rf"pip install 'ludus\[{name}\]'"):
        open_sinks(["jsonl", name], tmp_path)


def test_open_sinks_resumes(tmp_path):
    sink = open_sinks(["jsonl", "jsonl"], tmp_path)
    for step in range(4):
        sink.write(step, {"loss": 0.0})
    sink.close()
    sink = open_sinks(["jsonl"], tmp_path, resume_step=1)
    sink.write(2, {"loss": 1.0})
    sink.close()
    assert [(line["step"], line["loss"]) for line in loggers.read(tmp_path / "metrics.jsonl")] == [
        (0, 0),
        (1, 0),
        (2, 1),
    ]


def test_several_close_all_even_where_one_fails():
    closed = []

    class Stubborn:
        def write(self, step, metrics): ...

        def close(self):
            closed.append(self)
            raise OSError("stuck")

    with pytest.raises(OSError, match="stuck"):
        Several([Stubborn(), Stubborn()]).close()
    assert len(closed) == 2


def scalars(folder):
    """What TensorBoard's own reader finds: [(step, value)] by name."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder)).Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_tensorboard_reads_its_events(tmp_path):
    pytest.importorskip("tensorboard", reason="pip install 'ludus[tensorboard]'")
    sink = TensorBoard(tmp_path)
    sink.write(1, {"loss": 0.5, "score": 3, "none": None})
    sink.write(2, {"loss": 0.25})
    assert scalars(tmp_path) == {"loss": [(1, 0.5), (2, 0.25)], "score": [(1, 3.0)]}
    sink.write(3, {"loss": math.nan, "huge": 1e300})
    sink.close()
    assert math.isnan(scalars(tmp_path)["loss"][2][1]) and scalars(tmp_path)["huge"] == [(3, math.inf)]


def test_tensorboard_forgets_what_was_done_again(tmp_path):
    pytest.importorskip("tensorboard", reason="pip install 'ludus[tensorboard]'")
    sink = open_sinks(["tensorboard"], tmp_path)
    for step in range(6):
        sink.write(step, {"loss": 0.0})
    sink.close()
    sink = open_sinks(["tensorboard"], tmp_path, resume_step=2)
    sink.write(3, {"loss": 1.0})
    sink.close()
    assert scalars(tmp_path / "tensorboard")["loss"] == [(0, 0.0), (1, 0.0), (2, 0.0), (3, 1.0)]


@pytest.fixture
def wandb(tmp_path, monkeypatch):
    """The real package, which keeps its files in the test's folder and does not look beyond it."""
    package = pytest.importorskip("wandb", reason="pip install 'ludus[wandb]'")
    for name in ("WANDB_MODE", "WANDB_PROJECT", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("WANDB_CONFIG_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    yield package
    package.teardown()


def test_wandb_leaves_an_offline_run(tmp_path, wandb):
    for resume_step in (None, 1):
        sink = open_sinks(["wandb"], tmp_path / "car-0007", resume_step)
        sink.write(2, {"episode_reward": 0.8125, "none": None})
        sink.write(3, {"episode_reward": math.nan})
        sink.close()
    assert wandb.setup().settings.mode == "offline"  # also what the package itself would send
    wandb.teardown()  # waits for the files
    runs = [file.read_bytes() for file in (tmp_path / "car-0007" / "wandb").glob("offline-run-*/run-*.wandb")]
    assert all(b"episode_reward" in run and b"0.8125" in run for run in runs)
    assert sorted(b"car-0007 from 1" in run for run in runs) == [False, True]


def test_wandb_says_what_is_wrong(tmp_path, wandb, monkeypatch):
    def refuse(**settings):
        raise wandb.Error("no key")

    monkeypatch.setattr(wandb, "init", refuse)
    with pytest.raises(LudusError, match=r"could not open the run \(no key\); WANDB_MODE=offline stores it locally"):
        WeightsAndBiases("car", tmp_path)
    monkeypatch.setenv("WANDB_MODE", "onlin")
    with pytest.raises(LudusError, match='WANDB_MODE is "onlin"; set it to offline, online, disabled'):
        WeightsAndBiases("car", tmp_path)


def test_lines_are_plain_json(tmp_path):
    path = tmp_path / "metrics.jsonl"
    write_steps(path, range(3))
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [0, 1, 2]
