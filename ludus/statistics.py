"""What a run has seen so far, in memory that does not grow with it; and how sure a mean or a win rate is.

A series keeps its moments (count, mean, sum of squared distances) and its newest values. The moments of two series add
up to the moments of both, so workers count apart and merge.
"""

from __future__ import annotations

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

Summary = dict[str, float | None]


class Series:
    """One stream of numbers: its moments for ever, its last `window` values as they came.

    What is not finite is counted apart as `broken`, so that one NaN does not swallow the mean of a week.
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
        """The standard deviation of what was seen: sqrt(sum (x - mean)^2 / n)."""
        return math.sqrt(self.squares / self.count) if self.count else math.nan

    def add(self, values: ArrayLike) -> int:
        """Take in one value or an array of them; the answer is how many there were."""
        given = np.asarray(values, np.float64).ravel()
        finite = given[np.isfinite(given)]
        self.broken += given.size - finite.size
        if finite.size:
            self._remember(finite)
            mean = float(finite.mean())
            squares = float(np.square(finite - mean).sum())
            self._combine(finite.size, mean, squares, float(finite.min()), float(finite.max()))
        return given.size

    def merge(self, other: Series) -> None:
        """Take in all that another series has seen; its newest values count as newer than ours."""
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
        """All of it as plain arrays."""
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


class TrainingStatistics:
    """Episodes, step times and any other metric of a run; `clock` gives seconds."""

    def __init__(self, window: int = WINDOW, clock: Callable[[], float] = time.perf_counter) -> None:
        if window < 1:
            raise LudusError(f"statistics over the last {window} values say nothing; take a window of 1 or more")
        self.window = window
        self.series = {name: Series(window) for name in OWN_SERIES}
        self._clock, self._opened = clock, clock()

    @property
    def total_training_time(self) -> float:
        """Seconds since the run began, the time before it was resumed included."""
        return self._clock() - self._opened

    def record_episode(self, reward: ArrayLike, length: ArrayLike | None = None) -> None:
        """Record one finished episode, or arrays of them."""
        if length is not None and np.shape(length) != np.shape(reward):
            raise LudusError(
                f"rewards {np.shape(reward)} and lengths {np.shape(length)} differ; give one of each a game"
            )
        self.series["reward"].add(reward)
        if length is not None:
            self.series["episode_length"].add(length)

    def record_step_time(self, seconds: ArrayLike) -> None:
        """Record how long a step took, or an array of such times."""
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

    def summary(self) -> Summary:
        """Everything in numbers: {} before anything is recorded, None for what never was.

        `window_` marks what is about the last values only; `broken_` how many were NaN or infinite.
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
        """Take in what another worker has recorded beside us: values add up, the longer time counts."""
        for name, series in other.series.items():
            self.series.setdefault(name, Series(self.window)).merge(series)
        self._opened -= max(0.0, other.total_training_time - self.total_training_time)

    def state(self) -> dict[str, Array]:
        """Everything as plain arrays, for a checkpoint."""
        arrays = {"time": np.array([self.total_training_time]), "window": np.array([self.window], np.int64)}
        for name, series in self.series.items():
            arrays.update({f"series/{name}/{key}": array for key, array in series.state().items()})
        return arrays

    @classmethod
    def from_state(cls, state: Mapping[str, Array], clock: Callable[[], float] = time.perf_counter) -> Self:
        """The statistics that `state` was taken from, going on from there."""
        if "window" not in state or "time" not in state:
            raise LudusError("these are not the saved statistics of a run; take the arrays that `state()` gave")
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
    """The numbers that every series has; those with names of their own come from `summary`."""
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
    """An estimate, and where the truth lies with the confidence that was asked for."""

    estimate: float
    low: float
    high: float


def interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """How sure the mean of some values is; see `interval_of`."""
    numbers = np.asarray(values, np.float64).ravel()
    if not numbers.size:
        raise LudusError("no values, no mean: an interval needs one value to stand on and two to be finite")
    return interval_of(float(numbers.mean()), float(numbers.std()), numbers.size, confidence)


def interval_of(mean: float, std: float, count: int, confidence: float = 0.95) -> Interval:
    """mean ± t s / sqrt(n): s = std sqrt(n / (n - 1)), and t of Student's distribution with n - 1 degrees of freedom.

    `std` is as `summary` gives it, without the correction. One value alone says nothing about its spread: ± infinity.
    """
    if count < 1:
        raise LudusError(f"an interval needs at least one value, not {count}")
    if count == 1:
        return Interval(mean, -math.inf, math.inf)
    half = student(confidence, count - 1) * std / math.sqrt(count - 1)
    return Interval(mean, mean - half, mean + half)


def wilson(wins: float, games: float, confidence: float = 0.95) -> Interval:
    """How sure a win rate p = wins / games is (Wilson 1927); a draw may count as half a win.

    (p + z^2 / 2n ± z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n), with z of the normal distribution.
    """
    if not (games > 0 and 0 <= wins <= games):
        raise LudusError(f"{wins:g} wins of {games:g} games is no win rate; give 0 <= wins <= games and some games")
    rate, z = wins / games, _normal(confidence)
    share = z * z / games
    half = z * math.sqrt(rate * (1 - rate) / games + share / (4 * games))
    low, high = (rate + share / 2 - half) / (1 + share), (rate + share / 2 + half) / (1 + share)
    return Interval(rate, max(low, 0.0) if wins else 0.0, min(high, 1.0) if wins < games else 1.0)


def _normal(confidence: float) -> float:
    """z with P(|Z| < z) = confidence."""
    if not 0 < confidence < 1:
        raise LudusError(f"a confidence lies between 0 and 1, such as 0.95; {confidence:g} does not")
    return NormalDist().inv_cdf((1 + confidence) / 2)


@functools.lru_cache(1024)
def student(confidence: float, degrees: int) -> float:
    """t with P(|T| < t) = confidence, for Student's distribution; good to six digits.

    Many degrees of freedom v (Abramowitz and Stegun 26.7.5): t = z + g1(z) / v + g2(z) / v^2 + ..., z normal.
    Few: halve the range of angles, t = sqrt(v) tan(angle), until the probability is met.
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
