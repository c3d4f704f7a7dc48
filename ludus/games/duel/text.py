"""A duel in words, for golden games and terminals: both sides of the field, and what is asked."""

import numpy as np

from ludus.games.duel.state import (
    DECK_PILE, EXTRA_PILE, GRAVE_PILE, HAND_PILE, MESSAGES, NO_QUESTION,
)  # fmt: skip
from ludus.games.duel.tables import ROWS
from ludus.games.duel.tables.words import UP

PHASES = {1: "draw", 2: "standby", 4: "main 1", 8: "battle", 256: "main 2", 512: "end"}


def text(state: np.void) -> str:
    """The whole position, with both hands."""
    lines = [f"turn {state['turn']}, player {state['turn_player']}, {PHASES.get(int(state['told_phase']), 'opening')}"]
    for player in (1, 0):
        lines += _side(state, player)
    if state["question"] != NO_QUESTION and state["status"] == 0:
        lines.append(f"player {state['asked']}: {MESSAGES[state['question']]}")
    return "\n".join(lines)


def _side(state: np.void, player: int) -> list[str]:
    sizes, cards = state["sizes"][player], state["cards"]

    def name(c: int) -> str:
        card = cards[c]
        shown = ROWS[card["code"]].name
        return shown if card["position"] & UP or card["place"] & 2 else f"({shown})"

    hand = ", ".join(name(c) for c in state["piles"][player, HAND_PILE, : sizes[HAND_PILE]])
    counts = f"deck {sizes[DECK_PILE]}, graveyard {sizes[GRAVE_PILE]}, extra {sizes[EXTRA_PILE]}"
    zones = [f"  {zone}: {', '.join(name(c) for c in state[zone][player] if c)}" for zone in ("monsters", "spells")]
    return [f"player {player}: {state['life'][player]} life points, {counts}", f"  hand: {hand}", *zones]
