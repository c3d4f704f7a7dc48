"""Random play of Balatro on every deck and stake, with bounds checks: checks masks and the consistency of states.

python benchmarks/soak_balatro.py --decisions 1000000
"""

from __future__ import annotations

import numpy as np
import tyro
from soaking import Progress, play

from ludus.games.balatro.state import MOST_CARDS, MOST_CONSUMABLES, MOST_IN_HAND, MOST_JOKERS
from ludus.games.balatro.tables import decks
from ludus.pool import Pool

ROWS, CHUNK = 128, 200
WAYS = ("actions=direct", "actions=all", "actions=direct, scale=0.001, endless=yes", "actions=all, scale=0.0001")
"""variants to play; long games cover many more situations"""


def complaint(pool: Pool) -> str:
    """The first inconsistency in the states, or an empty string."""
    states = pool.states
    for field, most in {"card_count": MOST_CARDS, "hand_count": MOST_IN_HAND, "joker_count": MOST_JOKERS,
                        "consumable_count": MOST_CONSUMABLES}.items():  # fmt: skip
        if not ((states[field] >= 0) & (states[field] <= most)).all():
            return f"{field} is {states[field].min()} to {states[field].max()}"
    for state in states:
        held = np.concatenate([state["hand"][: state["hand_count"]], state["pile"][: state["pile_count"]]])
        if len(set(held.tolist())) != len(held) or (len(held) and held.max() >= state["card_count"]):
            return f"hand and pile have the cards {sorted(held.tolist())}, of {state['card_count']} cards"
        if not state["score"] >= 0 or np.isnan(state["required"]):
            return f"the score is {state['score']} of {state['required']}"
        if state["money"] < -20 * max(1, state["joker_count"]) and state["stake"] < decks.STAKES.index("orange"):
            return f"the money is {state['money']}"
    return ""


def main(
    decisions: int = 1_000_000, only_decks: tuple[str, ...] = decks.NAMES, only_stakes: tuple[str, ...] = decks.STAKES
) -> None:
    """Play every deck with every stake.

    Args:
        decisions: Decisions for each deck and stake, divided among the variants.
        only_decks: The decks to play.
        only_stakes: The stakes to play.
    """
    pairs = [(deck, stake) for deck in only_decks for stake in only_stakes]
    progress = Progress(len(pairs))
    for deck, stake in pairs:
        made = 0
        for seed, way in enumerate(WAYS):
            name = f"balatro(deck={deck}, stake={stake}, {way})"
            made += play(name, decisions // len(WAYS), seed, complaint, ROWS, CHUNK)
        progress.tell(f"{deck}, {stake}", made)


if __name__ == "__main__":
    tyro.cli(main)
