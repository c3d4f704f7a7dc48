"""Statistics: streams agree with NumPy, resumed statistics continue exactly, intervals agree with tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.evaluation.statistics import (
    Interval,
    RecentMean,
    Series,
    TrainingStatistics,
    interval,
    interval_of,
    student,
    wilson,
)
from ludus.types import LudusError

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)
pieces = st.lists(st.lists(st.floats(-1e6, 1e6), max_size=40), min_size=1, max_size=6)


class Clock:
    """A clock that the test sets."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def recorded(episodes, lengths=None, window=1000):
    statistics = TrainingStatistics(window, Clock())
    statistics.record_episode(episodes, lengths)
    return statistics


def assert_describes(series, whole):
    """The series agrees with NumPy on all its values."""
    assert series.count == len(whole)
    if whole:
        scale = max(1.0, np.abs(whole).max())
        assert series.mean == pytest.approx(np.mean(whole), abs=1e-10 * scale)
        assert series.std == pytest.approx(np.std(whole), rel=1e-9, abs=1e-9 * scale)
        assert (series.low, series.high) == (np.min(whole), np.max(whole))


@given(pieces)
def test_a_stream_in_pieces_equals_the_whole(parts):
    series, whole = Series(window=25), [value for part in parts for value in part]
    for part in parts:
        assert series.add(part) == len(part)
    assert_describes(series, whole)
    assert series.recent.tolist() == whole[-25:]


@given(values)
def test_one_by_one_equals_all_at_once(whole):
    series = Series()
    for value in whole:
        series.add(value)
    assert_describes(series, whole)


@given(pieces)
def test_merged_workers_equal_the_whole(parts):
    merged, whole = Series(window=30), [value for part in parts for value in part]
    for part in parts:
        worker = Series(window=30)
        worker.add(part)
        merged.merge(worker)
    assert_describes(merged, whole)
    assert merged.recent.tolist() == whole[-30:]


def test_far_from_zero_the_variance_keeps_its_digits():
    series, rng = Series(), np.random.default_rng(0)
    parts = [1e9 + rng.normal(size=100) for _ in range(50)]
    for part in parts:
        series.add(part)
    assert series.std == pytest.approx(np.std(np.concatenate(parts)), rel=1e-6)


def test_memory_does_not_grow():
    series = Series(window=10)
    for _ in range(100):
        series.add(np.arange(1000.0))
    assert series.count == 100_000
    assert series.recent.tolist() == list(np.arange(990.0, 1000.0))
    assert (series.recent.base if series.recent.base is not None else series.recent).size <= 20


def test_values_that_are_not_finite_are_counted_separately():
    statistics = recorded([1.0, math.nan, 3.0, math.inf])
    summary = statistics.summary()
    assert (summary["total_episodes"], summary["broken_reward"]) == (4, 2)
    assert (summary["mean_reward"], summary["max_reward"]) == (2.0, 3.0)


def test_a_recent_mean_by_hand():
    recent = RecentMean(count=10)
    assert recent.mean is None
    recent.add(0, 99.0)
    assert recent.mean is None
    recent.add(4, 1.0)
    recent.add(8, 2.0)
    assert recent.mean == (4 * 1 + 8 * 2) / 12  # eight alone are too few
    recent.add(3, 5.0)
    assert recent.mean == (8 * 2 + 3 * 5) / 11
    recent.add(50, -1.0)
    assert recent.mean == -1.0


def test_nothing_recorded_is_an_empty_summary():
    assert TrainingStatistics().summary() == {}


def test_summary_by_hand():
    clock = Clock()
    statistics = TrainingStatistics(clock=clock)
    statistics.record_episode(1.0, 10)
    statistics.record_episode(np.array([2.0, 6.0]), np.array([20, 60]))
    statistics.record_step_time([0.25, 0.75])
    statistics.record_metric("loss", 4.0)
    statistics.record_metric("loss", [2.0, 0.0])
    clock.now += 7.5
    summary = statistics.summary()
    expected = {
        "total_episodes": 3,
        "mean_reward": 3.0,
        "std_reward": pytest.approx(np.std([1, 2, 6])),
        "min_reward": 1.0,
        "max_reward": 6.0,
        "mean_episode_length": 30.0,
        "total_training_time": 7.5,
        "mean_step_time": 0.5,
        "window_mean_reward": 3.0,
        "window_median_reward": 2.0,
        "window_p10_reward": pytest.approx(1.2),
        "window_p90_reward": pytest.approx(5.2),
        "mean_loss": 2.0,
        "min_loss": 0.0,
        "max_loss": 4.0,
        "last_loss": 0.0,
        "window_mean_loss": 2.0,
    }
    assert {key: summary[key] for key in expected} == expected


def test_the_window_forgets_and_the_rest_does_not():
    summary = recorded(np.arange(100.0), window=10).summary()
    assert summary["mean_reward"] == 49.5
    assert summary["window_mean_reward"] == 94.5


def test_series_without_values_are_none():
    statistics = TrainingStatistics(clock=Clock())
    statistics.record_step_time(0.5)
    summary = statistics.summary()
    assert summary["total_episodes"] == 0
    assert summary["mean_reward"] is None and summary["mean_episode_length"] is None
    assert summary["mean_step_time"] == 0.5
    assert recorded([1.0]).summary()["mean_step_time"] is None


@given(values, values)
def test_merge_adds_up_everything(ours, theirs):
    statistics, other = recorded(ours, ours), recorded(theirs, theirs)
    other.record_metric("loss", theirs)
    statistics.merge(other)
    assert_describes(statistics.series["reward"], ours + theirs)
    assert_describes(statistics.series["episode_length"], ours + theirs)
    assert_describes(statistics.series["loss"], theirs)
    assert_describes(other.series["reward"], theirs)


def test_merged_time_is_that_of_the_slowest_worker():
    quick, slow = Clock(), Clock()
    statistics, other = TrainingStatistics(clock=quick), TrainingStatistics(clock=slow)
    quick.now, slow.now = 105.0, 109.0
    statistics.merge(other)
    assert statistics.total_training_time == 9.0
    other.merge(statistics)
    assert other.total_training_time == 9.0


@given(pieces, pieces)
def test_a_resumed_run_continues_exactly(before, after):
    def record(statistics, parts):
        for part in parts:
            statistics.record_episode(part, part)
            statistics.record_metric("loss/value", part)

    clock = Clock()
    statistics = TrainingStatistics(window=30, clock=clock)
    record(statistics, before)
    clock.now += 8.0
    state = {name: np.array(array) for name, array in sorted(statistics.state().items())}
    resumed = TrainingStatistics.from_state(state, clock)
    assert resumed.summary() == statistics.summary()
    record(statistics, after)
    record(resumed, after)
    clock.now += 0.5
    assert resumed.summary() == statistics.summary()
    assert resumed.total_training_time == 8.5


def test_state_goes_through_safetensors():
    safetensors = pytest.importorskip("safetensors.numpy", reason="pip install safetensors")
    statistics = recorded([1.0, 2.0], [3, 4])
    state = safetensors.load(safetensors.save(statistics.state()))
    assert TrainingStatistics.from_state(state, Clock()).summary() == statistics.summary()


def test_state_is_a_copy():
    statistics = recorded([1.0, 2.0])
    state = statistics.state()
    state["series/reward/recent"][:] = 99.0
    assert statistics.summary()["window_mean_reward"] == 1.5
    resumed = TrainingStatistics.from_state(state, Clock())
    state["series/reward/recent"][:] = 0.0
    assert resumed.summary()["window_mean_reward"] == 99.0


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: recorded([1.0, 2.0], [3.0]), r"rewards \(2,\) and lengths \(1,\) differ"),
        (lambda: recorded([1.0]).record_metric("reward", 1.0), "give the metric another name"),
        (lambda: TrainingStatistics(window=0), "must be 1 or more"),
        (lambda: TrainingStatistics.from_state({}), "not the saved statistics"),
        (lambda: interval([]), "an interval needs at least one value"),
        (lambda: interval_of(0.0, 1.0, 0), "at least one value, not 0"),
        (lambda: interval([1.0, 2.0], 1.5), "between 0 and 1, such as 0.95, not 1.5"),
        (lambda: wilson(1, 0), "1 wins of 0 games"),
        (lambda: wilson(11, 10), "is not a win rate"),
        (lambda: wilson(-1, 10), "is not a win rate"),
    ],
)
def test_invalid_values_raise_errors(mistake, message):
    with pytest.raises(LudusError, match=message):
        mistake()


@pytest.mark.parametrize(
    ("confidence", "degrees", "table"),
    [
        (0.95, 1, 12.7062),
        (0.95, 2, 4.3027),
        (0.95, 3, 3.1824),
        (0.95, 4, 2.7764),
        (0.95, 10, 2.2281),
        (0.95, 30, 2.0423),
        (0.95, 120, 1.9799),
        (0.95, 1000, 1.9623),
        (0.95, 10**9, 1.9600),
        (0.99, 1, 63.6567),
        (0.99, 5, 4.0321),
        (0.99, 60, 2.6603),
        (0.90, 9, 1.8331),
        (0.50, 7, 0.7111),
        (0.999, 20, 3.8495),
    ],
)
def test_student_agrees_with_tables(confidence, degrees, table):
    assert student(confidence, degrees) == pytest.approx(table, abs=6e-5)


def test_both_methods_for_student_agree():
    assert student(0.95, 200) == pytest.approx(student(0.95, 201), rel=1e-4)
    assert student(0.95, 200) > student(0.95, 201) > student(0.95, 202)


def test_interval_by_hand():
    # Mean 3, s^2 = 2.5, s / sqrt(5) = 0.70711, t(4) = 2.77645.
    assert interval([1, 2, 3, 4, 5]) == pytest.approx((3.0, 1.03676, 4.96324), abs=1e-5)
    assert interval_of(3.0, math.sqrt(2.0), 5) == pytest.approx(interval([1, 2, 3, 4, 5]))
    assert interval([7.0]) == Interval(7.0, -math.inf, math.inf)


def test_intervals_have_the_stated_coverage():
    rng = np.random.default_rng(1)
    held = [found.low <= 5.0 <= found.high for found in map(interval, rng.normal(5.0, 2.0, (2000, 6)))]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("wins", "games", "confidence", "low", "high"),
    [
        (8, 10, 0.95, 0.49016, 0.94332),
        (0, 10, 0.95, 0.0, 0.27753),
        (10, 10, 0.95, 0.72247, 1.0),
        (520, 1000, 0.99, 0.47931, 0.56043),
        (1, 2, 0.95, 0.09453, 0.90547),
        (0.5, 1, 0.95, 0.05462, 0.94538),  # at p = 1/2 it is 1/2 ± z / (2 sqrt(n + z^2))
    ],
)
def test_wilson_agrees_with_known_numbers(wins, games, confidence, low, high):
    assert wilson(wins, games, confidence) == pytest.approx((wins / games, low, high), abs=1e-5)


def test_updates_of_a_run_add_up_to_the_statistics_of_its_games():
    """Two updates with the games [1, 3] and [8]: the same moments as if the games were recorded one by one."""
    statistics, games = TrainingStatistics(clock=Clock()), TrainingStatistics(clock=Clock())
    first = {"episodes": 2.0, "episode_return": 2.0, "return_std": 1.0, "return_min": 1.0, "return_max": 3.0}
    statistics.record_update(first | {"episode_length": 5.0, "decisions": 10.0, "seconds": 1.0, "entropy": 0.5})
    statistics.record_update({"episodes": 0.0, "decisions": 10.0, "seconds": 3.0, "entropy": 0.3, "score": None})
    last = {"episodes": 1.0, "episode_return": 8.0, "return_std": 0.0, "return_min": 8.0, "return_max": 8.0}
    statistics.record_update(last | {"episode_length": 8.0, "decisions": 10.0, "seconds": 4.0, "entropy": 0.1})
    games.record_episode([1.0, 3.0, 8.0], [4, 6, 8])
    found, wanted = statistics.summary(), games.summary()
    for name in ("total_episodes", "mean_reward", "std_reward", "min_reward", "max_reward", "mean_episode_length"):
        assert found[name] == pytest.approx(wanted[name]), name
    assert found["mean_step_time"] == pytest.approx((0.1 + 0.2 + 0.1) / 3)
    assert found["mean_entropy"] == pytest.approx(0.3) and found["last_entropy"] == pytest.approx(0.1)
