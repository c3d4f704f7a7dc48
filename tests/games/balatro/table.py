"""A game for testing rules: cards, jokers and money can be set, and actions are called by name."""

from __future__ import annotations

from typing import Any

from ludus.games.balatro.actions import END, name_of
from ludus.games.balatro.state import BOSS, CONSUMABLE, JOKER, PHASES, PLAYING_HAND
from ludus.games.balatro.tables import blinds, cards, consumables, jokers, tags, vouchers
from ludus.pool import Pool

ACTIONS = {name_of(action): action for action in range(END)}
LATER = 1e9
"""a required score that is never reached"""


class Table:
    """One game in which everything can be set; `deck=plasma` and the like are parameters of the game."""

    def __init__(self, seed: str = "7LB2WVPK", **parameters: Any) -> None:
        given = ", ".join(f"{key}={value}" for key, value in {"seed": seed, "actions": "all", **parameters}.items())
        self.pool = Pool(f"balatro({given})", 1, threads=1)

    @property
    def state(self) -> Any:
        return self.pool.states[0]

    def __getitem__(self, field: str) -> Any:
        return self.state[field]

    @property
    def phase(self) -> str:
        return PHASES[self.state["phase"]]

    def set(self, **fields: Any) -> Table:
        """Set fields of the record."""
        states = self.pool.states.copy()
        for field, value in fields.items():
            states[0][field] = value
        self.pool.put(states)
        return self

    def do(self, *names: str) -> Table:
        """Carry out actions, one after the other: `do("select blind", "play 1,2")`."""
        for name in names:
            self.pool.advance([ACTIONS[name]])
        return self

    @property
    def legal(self) -> set[str]:
        return {name for name, action in ACTIONS.items() if self.pool.step.mask[0, action]}

    @property
    def reward(self) -> float:
        return float(self.pool.step.reward[0, 0])

    def own(self, *keys: str, **fields: Any) -> Table:
        """Add jokers, all with these fields."""
        states = self.pool.states.copy()
        state = states[0]
        for key in keys:
            joker = state["jokers"][int(state["joker_count"])]
            state["born"] += 1
            joker["kind"], joker["number"], joker["born"] = JOKER, jokers.number_of(key), state["born"]
            joker["value"] = jokers.START[joker["number"]]
            for field, value in fields.items():
                joker[field] = value
            state["joker_count"] += 1
        self.pool.put(states)
        return self

    def keep(self, *keys: str) -> Table:
        """Add consumables."""
        states = self.pool.states.copy()
        state = states[0]
        for key in keys:
            item = state["consumables"][int(state["consumable_count"])]
            state["born"] += 1
            item["kind"], item["number"], item["born"] = CONSUMABLE, consumables.KEYS.index(key), state["born"]
            state["consumable_count"] += 1
        self.pool.put(states)
        return self

    def redeem(self, *keys: str) -> Table:
        """Add vouchers, without the immediate effects of buying them."""
        states = self.pool.states.copy()
        for key in keys:
            states[0]["owned_vouchers"][vouchers.KEYS.index(key)] = 1
        self.pool.put(states)
        return self

    def hold(self, *keys: str) -> Table:
        """Hold tags."""
        states = self.pool.states.copy()
        for key in keys:
            states[0]["tags"][int(states[0]["tag_count"])] = tags.KEYS.index(key)
            states[0]["tag_count"] += 1
        self.pool.put(states)
        return self

    def face(self, key: str) -> Table:
        """Make this the next blind."""
        number = blinds.KEYS.index(key)
        return self.set(blind=min(number, BOSS), boss=max(number, BOSS))

    def deal(self, text: str, required: float = LATER, **marks: Any) -> Table:
        """Go to the middle of a blind with exactly these cards in hand, in this order: `deal("AS KH TD")`.

        They are the first cards of the deck, rewritten; all others are in the pile. `marks` are fields of all of them.
        """
        if self.state["phase"] != PLAYING_HAND:
            self.do("select blind")
        states = self.pool.states.copy()
        state = states[0]
        names = text.split()
        for number, name in enumerate(names):
            card = state["cards"][number]
            card["rank"], card["suit"] = cards.RANKS.index(name[0]), cards.SUITS.index(name[1])
            card["flags"] = 0
            for field, value in marks.items():
                card[field] = value
        state["hand_count"], state["hand"][: len(names)] = len(names), range(len(names))
        rest = range(len(names), int(state["card_count"]))
        state["pile_count"], state["pile"][: len(rest)] = len(rest), rest
        state["required"] = required
        self.pool.put(states)
        return self

    def hand(self) -> list[str]:
        """The cards in hand, from left to right."""
        return [self.name(number) for number in self.state["hand"][: self.state["hand_count"]]]

    def name(self, number: int) -> str:
        card = self.state["cards"][number]
        return f"{cards.RANKS[card['rank']]}{cards.SUITS[card['suit']]}"

    def owned(self) -> list[str]:
        """The jokers, from left to right."""
        return [jokers.KEYS[joker["number"]] for joker in self.state["jokers"][: self.state["joker_count"]]]

    def kept(self) -> list[str]:
        """The consumables."""
        return [
            consumables.KEYS[item["number"]] for item in self.state["consumables"][: self.state["consumable_count"]]
        ]

    def value(self, place: int = 0) -> float:
        """The value of a joker."""
        return float(self.state["jokers"][place]["value"])
