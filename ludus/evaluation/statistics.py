"""Statistics of a run in constant memory; and confidence intervals of means and win rates.

A series keeps its moments (count, mean, sum of squared deviations) and its newest values. Moments of two series can be
merged, so workers count separately.
"""

from __future__ import annotations

import collections
import functools
import math
import time
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from ludus.types import Array, LudusError

WINDOW = 1000
OWN_SERIES = ("reward", "episode_length", "step_time")
NOT_AVERAGED = {
    "step", "time", "seconds", "decisions", "episodes", "episode_return", "episode_return/seat0", "episode_length",
    "return_std", "return_min", "return_max", "mean_reward",
}  # fmt: skip
"""metrics of an update that are counted by the series above"""

Summary = dict[str, float | None]


class Series:
    """A stream of numbers: the moments of all values, and the last `window` values.

    Values that are not finite are only counted, as `broken`, so that one NaN does not spoil the mean.
    """

    def __init__(self, window: int = WINDOW) -> None:
        self.window = window
        self.count, self.broken = 0, 0
        self.mean, self.squares = 0.0, 0.0
        self.low, self.high = math.inf, -math.inf
        self.recent: Array = np.empty(0)
        """the newest values, oldest first"""

    @property
    def std(self) -> float:
        """The standard deviation of all values: sqrt(sum (x - mean)^2 / n)."""
        return math.sqrt(self.squares / self.count) if self.count else math.nan

    def add(self, values: ArrayLike) -> int:
        """Add one value or an array of values; returns their number."""
        given = np.asarray(values, np.float64).ravel()
        finite = given[np.isfinite(given)]
        self.broken += given.size - finite.size
        if finite.size:
            self._remember(finite)
            mean = float(finite.mean())
            squares = float(np.square(finite - mean).sum())
            self._combine(finite.size, mean, squares, float(finite.min()), float(finite.max()))
        return given.size

    def add_moments(self, count: int, mean: float, std: float, low: float, high: float) -> None:
        """Add `count` values of which only the moments are known; their mean counts as one newest value."""
        if count:
            self._remember(np.array([mean]))
            self._combine(count, mean, std * std * count, low, high)

    def merge(self, other: Series) -> None:
        """Add all values of another series; its newest values count as newer than those of this one."""
        self.broken += other.broken
        if other.count:
            self._remember(other.recent)
            self._combine(other.count, other.mean, other.squares, other.low, other.high)

    def _remember(self, values: Array) -> None:
        self.recent = np.concatenate([self.recent, values[-self.window :]])[-self.window :]

    def _combine(self, count: int, mean: float, squares: float, low: float, high: float) -> None:
        """Add the moments of b to ours, a (Chan, Golub, LeVeque 1979), with d = mean_b - mean_a and n = n_a + n_b:

        mean = mean_a + d n_b / n,  squares = squares_a + squares_b + d^2 n_a n_b / n.
        """
        total, distance = self.count + count, mean - self.mean
        self.mean += distance * (count / total)
        self.squares += squares + distance * distance * (self.count * (count / total))
        self.count, self.low, self.high = total, min(self.low, low), max(self.high, high)

    def state(self) -> dict[str, Array]:
        """The whole state as arrays."""
        return {
            "counts": np.array([self.window, self.count, self.broken], np.int64),
            "moments": np.array([self.mean, self.squares, self.low, self.high], np.float64),
            "recent": self.recent.copy(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> Self:
        """The series that `state` was taken from."""
        window, count, broken = state["counts"].tolist()
        series = cls(window)
        series.count, series.broken = count, broken
        series.mean, series.squares, series.low, series.high = state["moments"].tolist()
        series.recent = np.array(state["recent"], np.float64)
        return series


def episodes_of(metrics: Mapping[str, float | None]) -> tuple[int, float]:
    """The number of episodes that ended in an update, and their mean return for the first seat; 0 if it is unknown."""
    mean = metrics.get("episode_return", metrics.get("episode_return/seat0"))
    return (int(metrics.get("episodes") or 0), mean) if mean is not None else (0, 0.0)


class RecentMean:
    """The mean of the newest values, which arrive in groups of known size and mean.

    It covers the newest whole groups that together have at least `count` values.
    """

    def __init__(self, count: int = 100) -> None:
        self.count, self.total = count, 0
        self.groups = collections.deque[tuple[int, float]]()

    def add(self, size: int, mean: float) -> None:
        if size:
            self.groups.append((size, mean))
            self.total += size
            while self.total - self.groups[0][0] >= self.count:
                self.total -= self.groups.popleft()[0]

    @property
    def mean(self) -> float | None:
        return sum(size * mean for size, mean in self.groups) / self.total if self.total else None


class TrainingStatistics:
    """Episodes, step times and any other metric of a run; `clock` gives seconds."""

    def __init__(self, window: int = WINDOW, clock: Callable[[], float] = time.perf_counter) -> None:
        if window < 1:
            raise LudusError(f"the window of statistics must be 1 or more, not {window}")
        self.window = window
        self.series = {name: Series(window) for name in OWN_SERIES}
        self._clock, self._opened = clock, clock()
        self._seconds = 0.0
        """of training, up to the update recorded last"""

    @property
    def total_training_time(self) -> float:
        """Seconds since the run began, including the time before it was resumed."""
        return self._clock() - self._opened

    def record_episode(self, reward: ArrayLike, length: ArrayLike | None = None) -> None:
        """Record one finished episode, or arrays of them."""
        if length is not None and np.shape(length) != np.shape(reward):
            raise LudusError(
                f"rewards {np.shape(reward)} and lengths {np.shape(length)} differ; give one of each per game"
            )
        self.series["reward"].add(reward)
        if length is not None:
            self.series["episode_length"].add(length)

    def record_step_time(self, seconds: ArrayLike) -> None:
        """Record the duration of a step in seconds, or an array of durations."""
        self.series["step_time"].add(seconds)

    def record_metric(self, name: str, value: ArrayLike) -> None:
        """Record one value of any other metric, or an array of them."""
        if name in OWN_SERIES:
            raise LudusError(
                f'"{name}" is counted by record_episode and record_step_time; give the metric another name'
            )
        if name not in self.series:
            self.series[name] = Series(self.window)
        self.series[name].add(value)

    def record_update(self, metrics: Mapping[str, float | None]) -> None:
        """Record the metrics of one update of a run, as in a line of `metrics.jsonl`.

        Of the games that ended in it only the moments are known: all of the return, the mean of the length.
        """
        known = {name: value for name, value in metrics.items() if value is not None}
        games, mean = episodes_of(known)
        if games:
            low, high = known.get("return_min", mean), known.get("return_max", mean)
            self.series["reward"].add_moments(games, mean, known.get("return_std", 0.0), low, high)
            length = known["episode_length"]
            self.series["episode_length"].add_moments(games, length, 0.0, length, length)
        seconds = known.get("seconds", 0.0)
        if known.get("decisions", 0.0) > 0 and seconds > self._seconds:
            self.record_step_time((seconds - self._seconds) / known["decisions"])
        self._seconds = max(seconds, self._seconds)
        for name in known.keys() - NOT_AVERAGED:
            self.record_metric(name, known[name])

    def summary(self) -> Summary:
        """All statistics; {} before anything is recorded, None for series without values.

        `window_` marks statistics of the last values only, `broken_` the number of NaN or infinite values.
        """
        if not any(series.count or series.broken for series in self.series.values()):
            return {}
        reward, length, step_time = (self.series[name] for name in OWN_SERIES)
        summary: Summary = {
            "total_episodes": reward.count + reward.broken,
            "mean_reward": _known(reward, reward.mean),
            "std_reward": _known(reward, reward.std),
            "min_reward": _known(reward, reward.low),
            "max_reward": _known(reward, reward.high),
            "mean_episode_length": _known(length, length.mean),
            "total_training_time": self.total_training_time,
            "mean_step_time": _known(step_time, step_time.mean),
        }
        for name, series in self.series.items():
            summary.update(_describe(name, series))
        return summary

    def merge(self, other: TrainingStatistics) -> None:
        """Merge the statistics of a parallel worker: values are combined, the longer time is kept."""
        for name, series in other.series.items():
            self.series.setdefault(name, Series(self.window)).merge(series)
        self._opened -= max(0.0, other.total_training_time - self.total_training_time)

    def state(self) -> dict[str, Array]:
        """The whole state as arrays, for a checkpoint."""
        arrays = {"time": np.array([self.total_training_time]), "window": np.array([self.window], np.int64)}
        for name, series in self.series.items():
            arrays.update({f"series/{name}/{key}": array for key, array in series.state().items()})
        return arrays

    @classmethod
    def from_state(cls, state: Mapping[str, Array], clock: Callable[[], float] = time.perf_counter) -> Self:
        """Restore the statistics from `state` and continue from there."""
        if "window" not in state or "time" not in state:
            raise LudusError("these are not the saved statistics of a run; pass the arrays returned by `state()`")
        statistics = cls(int(state["window"][0]), clock)
        statistics._opened -= float(state["time"][0])
        names = [key.removeprefix("series/").removesuffix("/counts") for key in state if key.endswith("/counts")]
        for name in names:
            parts = {part: state[f"series/{name}/{part}"] for part in ("counts", "moments", "recent")}
            statistics.series[name] = Series.from_state(parts)
        return statistics


def _known(series: Series, number: float) -> float | None:
    return number if series.count else None


def _describe(name: str, series: Series) -> Summary:
    """The statistics of any series; those with special names are in `summary`."""
    summary: Summary = {f"broken_{name}": series.broken} if series.broken else {}
    if not series.count:
        return summary
    low, middle, high = np.percentile(series.recent, [10, 50, 90]).tolist()
    summary |= {f"window_mean_{name}": float(series.recent.mean()), f"window_median_{name}": middle}
    summary |= {f"window_p10_{name}": low, f"window_p90_{name}": high}
    if name not in OWN_SERIES:
        summary |= {f"mean_{name}": series.mean, f"std_{name}": series.std}
        summary |= {f"min_{name}": series.low, f"max_{name}": series.high, f"last_{name}": float(series.recent[-1])}
    return summary


class Interval(NamedTuple):
    """An estimate and its confidence interval."""

    estimate: float
    low: float
    high: float


def interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """The confidence interval of the mean of values; see `interval_of`."""
    numbers = np.asarray(values, np.float64).ravel()
    if not numbers.size:
        raise LudusError("an interval needs at least one value, and two to be finite; none was given")
    return interval_of(float(numbers.mean()), float(numbers.std()), numbers.size, confidence)


def interval_of(mean: float, std: float, count: int, confidence: float = 0.95) -> Interval:
    """mean ± t s / sqrt(n): s = std sqrt(n / (n - 1)), and t of Student's distribution with n - 1 degrees of freedom.

    `std` is the uncorrected one, as in `summary`. The interval of a single value is infinite.
    """
    if count < 1:
        raise LudusError(f"an interval needs at least one value, not {count}")
    if count == 1:
        return Interval(mean, -math.inf, math.inf)
    half = student(confidence, count - 1) * std / math.sqrt(count - 1)
    return Interval(mean, mean - half, mean + half)


def wilson(wins: float, games: float, confidence: float = 0.95) -> Interval:
    """The confidence interval of a win rate p = wins / games (Wilson 1927); a draw may count as half a win.

    (p + z^2 / 2n ± z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n), with z of the normal distribution.
    """
    if not (games > 0 and 0 <= wins <= games):
        raise LudusError(
            f"{wins:g} wins of {games:g} games is not a win rate; expected 0 <= wins <= games and games > 0"
        )
    rate, z = wins / games, _normal(confidence)
    share = z * z / games
    half = z * math.sqrt(rate * (1 - rate) / games + share / (4 * games))
    low, high = (rate + share / 2 - half) / (1 + share), (rate + share / 2 + half) / (1 + share)
    return Interval(rate, max(low, 0.0) if wins else 0.0, min(high, 1.0) if wins < games else 1.0)


def _normal(confidence: float) -> float:
    """z with P(|Z| < z) = confidence."""
    if not 0 < confidence < 1:
        raise LudusError(f"a confidence must be between 0 and 1, such as 0.95, not {confidence:g}")
    return NormalDist().inv_cdf((1 + confidence) / 2)


@functools.lru_cache(1024)
def student(confidence: float, degrees: int) -> float:
    """t with P(|T| < t) = confidence, for Student's distribution; accurate to six digits.

    Many degrees of freedom v (Abramowitz and Stegun 26.7.5): t = z + g1(z) / v + g2(z) / v^2 + ..., z normal.
    Few: bisection over angles, t = sqrt(v) tan(angle), until the probability is reached.
    """
    z = _normal(confidence)
    if degrees > 200:
        g1 = (z**3 + z) / 4
        g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + g1 / degrees + g2 / degrees**2 + g3 / degrees**3
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if _within(angle, degrees) < confidence else (low, angle)
    return math.sqrt(degrees) * math.tan((low + high) / 2)


def _within(angle: float, degrees: int) -> float:
    """P(|T| < sqrt(v) tan(angle)) (Abramowitz and Stegun 26.7.3 and 26.7.4), with c = cos(angle), s = sin(angle).

    v even: s (1 + 1/2 c^2 + 1·3/(2·4) c^4 + ... to c^(v-2)).
    v odd: 2/π (angle + s (c + 2/3 c^3 + 2·4/(3·5) c^5 + ... to c^(v-2))).
    """
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = term if degrees > 1 else 0.0
    for power in range(2 + odd, degrees - 1, 2):
        term *= math.cos(angle) ** 2 * (power - 1) / power
        total += term
    return (angle + math.sin(angle) * total) * 2 / math.pi if odd else math.sin(angle) * total
