"""Names of cards, zones and moves in a position, as one seat sees them.

Set cards and cards chosen from a hidden place have no name for the opponent. Activated and summoned cards are public.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ludus.games.duel import actions, values
from ludus.games.duel.questions import ANSWERS, answer_of, question_of, subject_of
from ludus.games.duel.state import (
    ACTIVATES, ATTACKS, FIELD_ZONE, MOST_ACTIONS, NOBODY, PICKS, PLACES, POSITIONS, REPOSITIONS, SETS_MONSTER,
    SETS_SPELL, SPECIAL_SUMMONS, SUMMONS, UNPICKS,
)  # fmt: skip
from ludus.games.duel.tables import EFFECT_ROWS, ROWS
from ludus.games.duel.tables.words import Card
from ludus.games.duel.tables import words as w
from ludus.dsl import kernel
from ludus.dsl.rows import as_plain, compiling

SOMETHING = "a face-down card"
PLACES_OF = {w.DECK: "deck", w.HAND: "hand", w.GRAVE: "graveyard", w.BANISHED: "banished cards", w.EXTRA: "extra deck"}
POSITION_NAMES = {
    w.UP_ATTACK: "face-up attack", w.DOWN_ATTACK: "face-down attack", w.UP_DEFENSE: "face-up defense",
    w.DOWN_DEFENSE: "face-down defense",
}  # fmt: skip
BARE = (SUMMONS, SPECIAL_SUMMONS, SETS_MONSTER, SETS_SPELL)
"""moves for which the location of the card is obvious"""


@kernel
def survey(states, measured, answers):
    """Compute attack and defense by zone, the name of each action, and the question with its card."""
    state = states[0]
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY:
                measured[player, zone, 0] = values.attack(state, c)
                measured[player, zone, 1] = values.defense(state, c)
                measured[player, zone, 2] = values.negated(state, c)
    for action in range(state.menu_count):
        if state.menu[action] >= 0:
            answers[action] = answer_of(state, state.options[state.menu[action]])
    return question_of(state), subject_of(state)


class Sight:
    """A position as a seat sees it; without a seat, as seen by the player who has to decide."""

    def __init__(self, state: np.void, seat: int = -1) -> None:
        self.state, self.asked = state, int(state["asked"])
        self.seat = self.asked if seat < 0 else seat
        rows = np.array([state], state.dtype)
        self.measured, self.answers = np.zeros((2, 7, 3), np.int64), np.zeros(MOST_ACTIONS, np.int64)
        self.question, self.subject = survey(rows if compiling() else as_plain(rows), self.measured, self.answers)

    def row(self, c: int) -> Card:
        return ROWS[self.state["cards"][c]["code"]]

    def knows(self, c: int) -> bool:
        """Whether the seat knows which card this is."""
        card = self.state["cards"][c]
        place = int(card["place"])
        if place & (w.GRAVE | w.OVERLAY) or (place & (w.ON_FIELD | w.BANISHED) and card["position"] & w.UP):
            return True
        return int(card["controller"]) == self.seat and place != 0

    def name(self, c: int) -> str:
        return self.row(c).name if self.knows(c) else SOMETHING

    def whose(self, player: int) -> str:
        return "" if player == self.seat else "opponent's "

    def zone(self, player: int, place: int, sequence: int) -> str:
        """`m3`, `opponent's s1`, `field`, `e2`; zones are numbered from 1, from their owner's left."""
        if place == w.SZONE:
            return self.whose(player) + ("field" if sequence == FIELD_ZONE else f"s{sequence + 1}")
        return self.whose(player) + (f"m{sequence + 1}" if sequence < 5 else f"e{sequence - 4}")

    def whereabouts(self, c: int) -> str:
        """`in m3`, `of the graveyard`, `under Grenosaurus`."""
        card = self.state["cards"][c]
        place, player = int(card["place"]), int(card["controller"])
        if place & w.ON_FIELD:
            return f"in {self.zone(player, place, int(card['sequence']))}"
        if place == w.OVERLAY:
            return f"under {self.name(int(card['overlaid_on']))}"
        return f"of the {self.whose(player)}{PLACES_OF.get(place, 'duel')}"

    def moves(self) -> list[str]:
        """The names of all actions of the menu, all different."""
        names = [self._move(action) for action in range(int(self.state["menu_count"]))]
        seen, unique = Counter[str](), []
        for name in names:
            seen[name] += 1
            unique.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
        return unique

    def _move(self, action: int) -> str:
        entry = int(self.state["menu"][action])
        if entry < 0:
            return "finish" if entry == actions.FINISH else "more options"
        option = self.state["options"][entry]
        kind, c, value = int(option["kind"]), int(option["card"]), int(option["value"])
        words = ANSWERS[self.answers[action]]
        if kind == PLACES:
            return f"zone {self.zone(c, int(option['effect']), value)}"
        if kind == POSITIONS:
            return POSITION_NAMES[value]
        if kind in BARE or kind in (REPOSITIONS, ACTIVATES, ATTACKS, PICKS, UNPICKS):
            return self._with_card(kind, c, int(option["effect"]), words)
        return words[0].lower() + words[1:]

    def _with_card(self, kind: int, c: int, effect: int, words: str) -> str:
        if self.seat != self.asked and kind in (SETS_MONSTER, SETS_SPELL):
            return f"set a {'monster' if kind == SETS_MONSTER else 'card'}"
        if kind in BARE:
            return f"{words} {self.row(c).name}"
        if kind == REPOSITIONS:
            verb, _, position = words.partition(" ") if words.startswith("to ") else (words, "", "")
            shown = f"{self.row(c).name} {self.whereabouts(c)}"
            return f"turn {shown} to {position}" if position else f"{verb} {shown}"
        if kind == ATTACKS:
            return f"attack with {self.name(c)} {self.whereabouts(c)}" + (" directly" if "directly" in words else "")
        if kind == ACTIVATES:
            return self._activation(c, effect)
        if self.knows(c) and self.state["cards"][c]["place"] == w.HAND:
            return f"{words} {self.name(c)}"
        return f"{words} {self.name(c)} {self.whereabouts(c)}"

    def _activation(self, c: int, effect: int) -> str:
        """Add the text of the effect if the card has several."""
        card = self.row(c)
        line = EFFECT_ROWS[effect].says if effect >= 0 else ""
        several = sum(bool(one.says) for one in card.effects) > 1
        place = "" if self.state["cards"][c]["place"] == w.HAND else f" {self.whereabouts(c)}"
        return f"activate {card.name}{place}" + (f": {line}" if several and line else "")


def move_name(state: np.void, action: int, seat: int = -1) -> str:
    """The name of an action in this position, as a seat may know it; without a seat, for the player who decides."""
    if not 0 <= action < state["menu_count"]:
        return actions.name_of(action)
    return Sight(state, seat).moves()[action]
