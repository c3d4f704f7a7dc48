"""Random duels with all decks, with bounds checks: checks masks, states, and that observations reveal nothing hidden.

python benchmarks/soak_duel.py --decisions 1000000
"""

from __future__ import annotations

import sys
from json import dumps

import numpy as np
import tyro
from soaking import Progress, play

from ludus import bench
from ludus.dsl import PLAYING
from ludus.games.duel import SPEC, ydk
from ludus.games.duel.state import DECK_PILE, PICKS
from ludus.games.duel.tables import ROWS as CARDS
from ludus.games.duel.tables import words as w
from ludus.pool import Pool
from ludus.types import Array

ROWS, STEPS = 8, 200
DECKS = (*ydk.names(), "random", "any")
PAIRS = (*zip(DECKS, (*DECKS[1:], DECKS[0]), strict=True), ("random", "random"), ("any", "any"))
"""pairs of decks: every deck once in each seat"""
MAIN_CARDS = [row for row, card in enumerate(CARDS) if row and not card.types & (w.EXTRA_DECK | w.TOKEN)]


class Watcher:
    """Checks a pool of duels after every step."""

    def __init__(self, name: str, seed: int) -> None:
        self.duels = self.longest = self.compared = 0
        self._ages = np.zeros(ROWS, np.int64)
        self._twin, self._dice = Pool(name, 1, threads=1), np.random.default_rng(seed)

    def look(self, pool: Pool) -> str:
        """The first inconsistency, or an empty string."""
        self._ages = np.where(pool.step.first, 0, self._ages + 1)
        self.duels += int((pool.status != PLAYING).sum())
        self.longest = max(self.longest, int(self._ages.max()))
        if self.longest > SPEC.horizon:
            return f"a duel has {self.longest} decisions; the maximum is {SPEC.horizon}"
        row = int(self._dice.integers(ROWS))
        return misplaced(pool.states[row]) or self._leak(pool, row, 0) or self._leak(pool, row, 1)

    def _leak(self, pool: Pool, row: int, seat: int) -> str:
        """The fields of an observation that change with hidden cards, or an empty string."""
        self.compared += 1
        self._twin.states[0] = pool.states[row]
        disguise(self._twin.states[0], seat, self._dice)
        shown, wanted = self._twin.look(0, seat), pool.look(row, seat)
        changed = [name for name in wanted if shown[name].tobytes() != wanted[name].tobytes()]
        return f"seat {seat} sees hidden cards in {', '.join(changed)}" if changed else ""


def disguise(state: Array, seat: int, dice: np.random.Generator) -> None:
    """Replace all cards hidden from a seat, and shuffle both decks."""
    cards, place, options = state["cards"], state["cards"]["place"], state["options"][: state["option_count"]]
    lies_open = (cards["position"] & w.UP != 0) & ~np.isin(place, (w.DECK, w.HAND, w.EXTRA)) | (place == w.OVERLAY)
    hidden = (cards["code"] > 0) & (cards["controller"] != seat) & ~lies_open
    if seat == state["asked"]:  # a player who picks from the opponent's hand sees it
        picked = options["card"][options["kind"] == PICKS]
        hidden[picked] &= place[picked] != w.HAND
    cards["code"][hidden] = state["codes"][hidden] = dice.choice(MAIN_CARDS, hidden.sum())
    for player in range(2):
        deck = state["piles"][player, DECK_PILE, : state["sizes"][player, DECK_PILE]]
        deck[:] = dice.permutation(deck)
        cards["sequence"][deck] = np.arange(len(deck))


def misplaced(state: Array) -> str:
    """An error message if the locations of cards are inconsistent, or an empty string."""
    piles = [state["piles"][p, k, : state["sizes"][p, k]] for p in range(2) for k in range(state["sizes"].shape[1])]
    field = np.concatenate([state["monsters"].ravel(), state["spells"].ravel()])
    field = field[field > 0]
    below = [state["cards"]["overlay"][c][: state["cards"]["overlays"][c]] for c in field]
    lying = np.concatenate([*piles, field, *below]).tolist()
    twice = sorted({c for c in lying if lying.count(c) > 1})
    if twice or not all(state["cards"]["code"][lying]):
        return f"cards {twice} are in two places at once, of {sorted(lying)}"
    return ""


def bytes_played(threads: int) -> list[bytes]:
    """The content of a pool after random play."""
    pool = Pool("duel(deck1=any, deck2=any)", 8 * ROWS, 1, threads=threads)
    pool.play_randomly(STEPS)
    pool.close()
    return [part.tobytes() for part in pool.save()[2:]]


def main(decisions: int = 1_000_000, json: bool = False) -> None:
    """Play duels with every deck, and compare play on one thread and on two.

    Args:
        decisions: Total decisions, divided among the pairs of decks.
        json: Print one JSON object; progress lines go to stderr.
    """
    progress, watchers = Progress(len(PAIRS), quiet=json), []
    for seed, (deck1, deck2) in enumerate(PAIRS):
        name = f"duel(deck1={deck1}, deck2={deck2})"
        watchers.append(Watcher(name, seed))
        made = play(name, decisions // len(PAIRS), seed, watchers[-1].look, ROWS, chunk=1)
        progress.tell(f"{deck1} against {deck2}", made)
    if bytes_played(threads=1) != bytes_played(threads=2):
        sys.exit("the duels played on two threads differ from those on one thread")
    results = [
        bench.Result("soak_duel/decisions", progress.decisions, "decisions"),
        bench.Result("soak_duel/duels", sum(watcher.duels for watcher in watchers), "duels"),
        bench.Result("soak_duel/longest", max(watcher.longest for watcher in watchers), "decisions"),
        bench.Result("soak_duel/compared", sum(watcher.compared for watcher in watchers), "observations"),
        bench.Result("soak_duel/seconds", round(progress.seconds, 1), "s"),
    ]
    if json:
        print(dumps(bench.as_json(results)))
    else:
        print(", ".join(f"{result.name.partition('/')[2]}: {result.value:,}" for result in results))


if __name__ == "__main__":
    tyro.cli(main)
