"""How much of a duel is luck: what players win who try every option in copies of the duel, played on to its end.

Both know how their opponent plays, and play on greedily themselves. One of them looks at hidden cards and at the order
of both decks, which no honest player can; the other deals anew what it cannot know. Between them lies what a good
player of the starter decks may hope for.

python benchmarks/duel_ceiling.py --games 100 --playouts 24        # about half an hour on one core
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import tyro
from reporting import RESULTS, publish, tell

from ludus import agents, bench
from ludus.bench import Result
from ludus.pool import Pool
from ludus.statistics import wilson
from ludus.types import Array, Step

ROWS, PLACE, LONGEST = 12, 11, 140
"""duels side by side; the question for a zone, which hardly matters; steps after which life points tell who wins"""
HABIT = 0.05
"""what another option must bring more than the greedy one, so that chance alone does not change it"""
GREEDY = agents.load("greedy", "duel")


def main(games: int = 100, playouts: int = 24, write: bool = True, json: bool = False) -> None:
    """Measure it.

    Args:
        games: Duels against each opponent, for each of the two players.
        playouts: Copies that are played to the end for every option.
        write: Keep the result in benchmarks/results.
        json: Print one JSON object instead of a table.
    """
    results = []
    for honest in (False, True):
        for opponent in ("first", "greedy"):
            name = f"duel_ceiling/{'honest' if honest else 'clairvoyant'}/{opponent}"
            won = share_won(opponent, games, playouts, honest, name)
            results += [Result(f"{name}{part}", value, "won") for part, value in won.items()]
    document = bench.as_json(results) | {"settings": {}, "games": games, "playouts": playouts}
    publish(document, RESULTS / "duel_ceiling.json" if write else None, json)


def share_won(opponent: str, games: int, playouts: int, honest: bool, name: str) -> dict[str, float]:
    """Duels won of those played, from both seats alike, with the 95 % interval."""
    pool, other = Pool("duel", ROWS, seed=31), agents.load(opponent, "duel")
    params, seats, begun = other.init(pool.spec, 0), np.arange(ROWS) % 2, time.monotonic()
    wins = played = moment = 0
    while played < games:
        step, moment = pool.step, moment + 1
        actions = np.asarray(other.act(params, (), step, moment)[0].action).copy()
        mine = (step.seat == seats) & (step.discount != 0)
        actions[mine] = greedy_actions(step)[mine]
        for seat in range(2):
            thinker = Thinker(seat, playouts, honest, other, params)
            thinker.think(pool, np.flatnonzero(mine & (seats == seat)), moment, actions)
        ended = np.flatnonzero((step := pool.advance(actions)).discount == 0)
        wins, played = wins + int((step.reward[ended, seats[ended]] > 0).sum()), played + len(ended)
        if len(ended):
            tell(f"{name}: {wins} of {played} won, {time.monotonic() - begun:.0f} s")
    interval = wilson(wins, played)
    return {"": wins / played, "/low": interval.low, "/high": interval.high}


def greedy_actions(step: Step) -> Array:
    return np.asarray(GREEDY.act((), (), step, 0)[0].action)


class Thinker(NamedTuple):
    """Who tries options out, in one seat, against somebody whose ways it knows."""

    seat: int
    playouts: int
    honest: bool
    other: Any
    params: Any

    def think(self, pool: Pool, rows: Array, moment: int, actions: Array) -> None:
        """Write the options that turned out best into `actions`, where there is something to think about."""
        step = pool.step
        rows = rows[(step.mask[rows].sum(axis=1) > 1) & (step.observation["actions_"][rows, 0, 3] != PLACE)]
        tries = [(row, option) for row in rows for option in np.flatnonzero(step.mask[row])]
        if not tries:
            return
        sources, options = np.repeat(np.array(tries), self.playouts, axis=0).T
        copies = pool.fork(sources.tolist(), moment, self.seat if self.honest else -1)
        # What can be done may depend on what was dealt anew; such a copy tells of another option.
        offered = copies.step.mask[np.arange(len(options)), options]
        options = np.where(offered, options, copies.step.mask.argmax(axis=1))
        worth = self.played_on(copies, options)
        copies.close()
        for row in rows:
            means = {
                option: worth[(sources == row) & (options == option)].mean() + HABIT * (option == actions[row])
                for option in np.unique(options[sources == row])
            }
            actions[row] = max(means, key=lambda option: means[option])

    def played_on(self, copies: Pool, first: Array) -> Array:
        """What each copy brings, if one plays greedily after the first action, and the other as it always does."""
        step = copies.advance(first)
        worth, over = step.reward[:, self.seat].copy(), step.discount == 0
        for moment in range(LONGEST):
            if over.all():
                return worth
            theirs = np.asarray(self.other.act(self.params, (), step, moment)[0].action)
            step = copies.advance(np.where(step.seat == self.seat, greedy_actions(step), theirs))
            ending = (step.discount == 0) & ~over
            worth[ending], over = step.reward[ending, self.seat], over | ending
        life = copies.states["life"][~over].astype(float)
        worth[~over] = np.clip((life[:, self.seat] - life[:, 1 - self.seat]) / 8000, -0.8, 0.8)
        return worth


if __name__ == "__main__":
    tyro.cli(main)
