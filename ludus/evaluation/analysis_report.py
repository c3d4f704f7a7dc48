"""An analysis of a game as text, as plain data and as a plot."""

from __future__ import annotations

import io
import pathlib
from typing import TYPE_CHECKING

import numpy as np

from ludus.evaluation.analysis import RARE, Analysis, SeatResult, Spread, spread_of
from ludus.evaluation.statistics import Interval
from ludus.files import write_atomically
from ludus.types import JsonObject, LudusError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 12
"""names of rare actions that the text lists, and actions that the plot names; the JSON object has all"""
UNUSED = {
    "never_legal": "never legal",
    "rarely_legal": f"legal in fewer than {RARE:.1%} of decisions",
    "never_chosen": "legal but never chosen",
    "rarely_chosen": f"chosen in fewer than {RARE:.1%} of the decisions where legal",
}


def facts(found: Analysis) -> JsonObject:
    """The analysis as plain data for JSON."""
    lengths, counts = np.unique(found.lengths, return_counts=True)
    alone = len(found.seats) == 1
    return {
        "game": found.game, "agent": found.agent, "games": found.games, "cut": found.cut,
        "seats": [_seat_facts(seat, alone) for seat in found.seats],
        "first_player_advantage": _plain(found.first_player_advantage), "draws": _plain(found.draws),
        "length": spread_of(found.lengths)._asdict(), "decisions": spread_of(found.decisions)._asdict(),
        "lengths": dict(zip(map(str, lengths.tolist()), counts.tolist(), strict=True)),
        "forced": found.forced, "branching": _plain(found.branching),
        "actions": [use._asdict() for use in found.actions],
        **{kind: [use.name for use in getattr(found, kind)] for kind in UNUSED},
    }  # fmt: skip


def _plain(value: Interval | Spread | None) -> JsonObject | None:
    return None if value is None else value._asdict()


def _seat_facts(seat: SeatResult, alone: bool) -> JsonObject:
    mean = {"seat": seat.seat, "mean_return": seat.mean_return._asdict()}
    return mean if alone else {**mean, "wins": seat.wins, "draws": seat.draws, "win_rate": seat.win_rate._asdict()}


def as_text(found: Analysis) -> str:
    """The analysis for people."""
    lines = [f"{found.game}: {found.games:,} games by {found.agent} in all seats"]
    return "\n".join([*lines, *_balance_lines(found), *_length_lines(found), *_choice_lines(found)])


def _balance_lines(found: Analysis) -> list[str]:
    if found.draws is None:
        return [f"  score             {_range(found.seats[0].mean_return, '.3f')}"]
    lines = [f"  seat {seat.seat} wins       {_range(seat.win_rate, '.1%')}, draws count half" for seat in found.seats]
    if found.first_player_advantage is not None:
        advantage = found.first_player_advantage
        chance = "more than chance explains" if advantage.low > 0 or advantage.high < 0 else "within chance"
        lines.append(f"  first player      {advantage.estimate * 100:+.1f} points from even: {chance} (95 %)")
    return [*lines, f"  draws             {_range(found.draws, '.1%')}"]


def _length_lines(found: Analysis) -> list[str]:
    cut = f"; {found.cut:,} games were cut off" if found.cut else ""
    lines = [f"  length            {_spread_text(spread_of(found.lengths))} steps{cut}"]
    return [*lines, f"  decisions         {_spread_text(spread_of(found.decisions))} per game"]


def _choice_lines(found: Analysis) -> list[str]:
    if found.branching is None:
        return ["  actions           continuous"]
    lines = [f"  branching factor  {_spread_text(found.branching)}; {found.forced:.1%} of decisions are forced"]
    for kind, meaning in UNUSED.items():
        uses = getattr(found, kind)
        names = ", ".join(use.name for use in uses[:SHOWN]) + (" …" if len(uses) > SHOWN else "")
        lines += [f"  {len(uses)} of {len(found.actions)} actions {meaning}: {names}"] if uses else []
    unused = any(getattr(found, kind) for kind in UNUSED)
    return lines if unused else [*lines, f"  unused actions    none of {len(found.actions)}"]


def _range(value: Interval, form: str) -> str:
    return f"{value.estimate:{form}} ({value.low:{form}} to {value.high:{form}}, 95 %)"


def _spread_text(value: Spread) -> str:
    return f"{value.mean:.1f} on average, {value.low:g} to {value.high:g}, median {value.median:g}"


def check_plot(path: pathlib.Path) -> None:
    """Raise LudusError if no plot can be written to this path."""
    if path.suffix.lower() != ".png":
        raise LudusError(f'cannot write the plot to "{path}"; its name must end in .png')


def plot(path: pathlib.Path, found: Analysis) -> None:
    """Write a PNG with wins or returns by seat, the lengths of games, and how often each action is legal and chosen."""
    from matplotlib.figure import Figure

    check_plot(path)
    figure = Figure(figsize=(12, 4), layout="constrained")
    balance, length, use = figure.subplots(1, 3)
    _draw_balance(balance, found)
    length.hist(found.lengths, bins=min(40, max(1, len(np.unique(found.lengths)))), color="#4c78a8")
    length.set(title="length of a game", xlabel="steps", ylabel="games")
    _draw_actions(use, found)
    figure.suptitle(f"{found.game}: {found.games:,} games by {found.agent}")
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=100)
    write_atomically(path, data.getvalue())


def _draw_balance(axes: Axes, found: Analysis) -> None:
    """Win rate by seat, or the mean return of a game of one seat."""
    values = [seat.mean_return if found.draws is None else seat.win_rate for seat in found.seats]
    errors = np.array([[max(v.estimate - v.low, 0), max(v.high - v.estimate, 0)] for v in values]).T
    finite = np.where(np.isfinite(errors), errors, 0.0)
    names = [f"seat {seat.seat}" for seat in found.seats]
    axes.bar(names, [value.estimate for value in values], yerr=finite, capsize=6, color="#59a14f")
    if found.draws is None:
        axes.set(title="mean return")
        return
    axes.axhline(1 / len(values), color="black", linestyle="--", linewidth=1)
    axes.set(title="win rate (a draw counts half)", ylim=(0, 1))


def _draw_actions(axes: Axes, found: Analysis) -> None:
    """The share of decisions in which each action is legal and in which it is chosen."""
    if not found.actions:
        axes.text(0.5, 0.5, "continuous actions", ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
        return
    total = found.decisions.sum()
    places = np.arange(len(found.actions))
    axes.bar(places, [use.legal / total for use in found.actions], color="#bab0ac", width=0.9, label="legal")
    axes.bar(places, [use.chosen / total for use in found.actions], color="#e15759", width=0.9, label="chosen")
    if len(places) <= SHOWN:
        axes.set_xticks(places, [use.name for use in found.actions], rotation=45, ha="right")
    axes.set(title="actions", xlabel="action", ylabel="share of decisions")
    axes.legend()
