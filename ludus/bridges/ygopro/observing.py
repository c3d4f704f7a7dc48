"""What a player sees of a duel in a real core, written into the arrays of an observation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.blocks import Block, Blocks, Cards
from ludus.bridges.ygopro.choices import FINISH, MOST_OPTIONS, Choice
from ludus.bridges.ygopro.core import LOCATIONS, PLACES
from ludus.bridges.ygopro.dueling import RealDuel
from ludus.bridges.ygopro.messages import OVERLAY, Question
from ludus.types import Array
from ludus.words import record, u8

MOST_CARDS, MOST_HISTORY = 160, 32
MOST_TURN, MOST_AGE, AGE = 16, 16, 12
OBSERVATION = record(
    cards_=(u8, (MOST_CARDS, features.CARD_COLUMNS)), global_=(u8, features.GLOBAL_COLUMNS),
    actions_=(u8, (MOST_OPTIONS, features.ACTION_COLUMNS)), h_actions_=(u8, (MOST_HISTORY, features.HISTORY_COLUMNS)),
    mask_=(u8, (MOST_CARDS, features.MASK_COLUMNS)),
)  # fmt: skip
ORDER = [(place.player, place.location) for place in PLACES[1:]]
NONE: frozenset[int] = frozenset()


class Memory:
    """What each player did, the newest first."""

    def __init__(self) -> None:
        self.rows = np.zeros((2, MOST_HISTORY, features.HISTORY_COLUMNS), np.uint8)
        self.turns = np.zeros((2, MOST_HISTORY), np.int64)

    def note(self, duel: RealDuel, player: int, row: list[int]) -> None:
        """Remember an action; a refusal and the turning of a page are none."""
        if row[features.ACT] == features.CANCEL or not any(row[: features.MESSAGE] + row[features.ACT :]):
            return
        rows, turns = self.rows[player], self.turns[player]
        rows[1:], turns[1:] = rows[:-1].copy(), turns[:-1].copy()
        rows[0], turns[0] = [0, *row[1:], 0, phase_id(duel)], duel.turn

    def write(self, turn: int, player: int, out: Array) -> None:
        out[:] = self.rows[player]
        out[:, AGE] = np.minimum(turn - self.turns[player], MOST_AGE) * (out[:, features.MESSAGE] > 0)


class Eyes:
    """Writes observations; `all_seeing` also of what is hidden, with the mask of what is not."""

    def __init__(self, cards: Cards, all_seeing: bool = False) -> None:
        self._numbers, self._all_seeing = cards.numbers, all_seeing
        self._blocks = Blocks(cards, all_seeing)

    def look(self, duel: RealDuel, player: int) -> Sight:
        """The places in the order of the observation: one's own, then the other's."""
        shown = [card for viewer, card in duel.shown if viewer == player]
        told = dict(zip(ORDER, duel.places[1:], strict=True))
        blocks = {
            (who, where): self._blocks.of(told[who, where], where, who == player, _sequences(shown, who, where))
            for who in (player, 1 - player) for where in LOCATIONS
        }  # fmt: skip
        return Sight(blocks)

    def write(self, view: View, out: dict[str, Array], line: int) -> None:
        """Fill one line of the arrays."""
        duel, player = view.duel, view.player
        _write_cards(view.sight, out["cards_"][line], out["mask_"][line] if self._all_seeing else None)
        out["global_"][line] = _global(duel, player, view.sight, not view.options)
        out["actions_"][line] = 0
        if view.options:
            out["actions_"][line, : len(view.options)] = view.options
        view.memory.write(duel.turn, player, out["h_actions_"][line])

    def options(self, sight: Sight, player: int, choice: Choice | None) -> list[list[int]]:
        """A row for each option on the page."""
        return [self._option(sight, player, choice.question, index) for index in choice.shown] if choice else []

    def _option(self, sight: Sight, player: int, question: Question, index: int) -> list[int]:
        row = features.action_row(question.message)
        if index < 0:
            row[features.FINISH] = int(index == FINISH)
            return row
        card = OPTION_WRITERS[question.message](row, question.options[index], question.facts, player)
        code = sight.refer(row, card) if isinstance(card, list) and card else card
        if code:
            row[features.ID_HIGH : features.ID_LOW + 1] = features.two_bytes(self._numbers.get(code, 0))
        return row


class Sight:
    """All places as a player sees them."""

    def __init__(self, blocks: dict[tuple[int, int], Block]) -> None:
        self.blocks = blocks

    def refer(self, row: list[int], card: list[int]) -> int:
        """Write where a card stands among the cards; its code, or 0 if the player does not know it."""
        controller, location, sequence, code = card[:4]
        place = (sequence, card[4]) if location & OVERLAY else (sequence,)
        start = 0
        for where, block in self.blocks.items():
            if where == (controller, location & ~OVERLAY) and place in block.places:
                number = block.places.index(place)
                row[features.SPEC] = start + number + 1 if start + number < MOST_CARDS else 0
                return code if block.known[number] else 0
            start += len(block.places)
        return code


class View(NamedTuple):
    """What a player sees of a duel, and remembers; without options, it is over."""

    duel: RealDuel
    player: int
    sight: Sight
    options: list[list[int]]
    memory: Memory


def phase_id(duel: RealDuel) -> int:
    """The phase that was announced, and the damage step inside the battle phase."""
    return features.PHASE_IDS[32 if duel.damage_step else duel.phase or 1]


def _sequences(shown: list[list[int]], player: int, location: int) -> frozenset[int]:
    """Which cards of a place were just shown."""
    return frozenset(card[2] for card in shown if card[:2] == [player, location]) if shown else NONE


def _write_cards(sight: Sight, cards: Array, mask: Array | None) -> None:
    rows = np.concatenate([block.rows for block in sight.blocks.values()])[:MOST_CARDS]
    cards[: len(rows)], cards[len(rows) :] = rows, 0
    if mask is not None:
        seen = np.concatenate([block.mask for block in sight.blocks.values()])[:MOST_CARDS]
        mask[: len(seen)], mask[len(seen) :] = seen, 0


def _global(duel: RealDuel, player: int, sight: Sight, over: bool) -> list[int]:
    mine, others = (max(duel.field().points[who], 0) for who in (player, 1 - player))
    return [
        *features.two_bytes(mine), *features.two_bytes(others), min(duel.turn, MOST_TURN), phase_id(duel),
        int(player == 0), int(player == duel.turn_player),
        *(min(block.cards, 255) for block in sight.blocks.values()), int(over),
    ]  # fmt: skip


def _command(row: list[int], option: list[Any], facts: dict[str, Any], player: int) -> list[int]:
    features.of_command(row, option)
    return [*option[1:5], *option[6:]] if option[0] == "chain" else option[1:5]


def _yes(row: list[int], option: str, facts: dict[str, Any], player: int) -> list[int] | int:
    if option == "no":
        row[features.ACT] = features.CANCEL
        return 0
    row[features.ACT], row[features.EFFECT] = features.ACTIVATE, features.effect_id(facts["desc"])
    return facts.get("card") or int(facts["desc"][0])


def _text(row: list[int], option: list[int], facts: dict[str, Any], player: int) -> int:
    row[features.EFFECT] = features.effect_id(option)
    return option[0]


def _card(row: list[int], option: list[int], facts: dict[str, Any], player: int) -> list[int]:
    return option[:5] if option[1] & 0x80 else option[:4]


def _unselect(row: list[int], option: list[Any], facts: dict[str, Any], player: int) -> list[int]:
    row[features.FINISH] = int(option[0] == "finish")
    row[features.ACT] = features.CANCEL * (option[0] == "cancel")
    return option[1:]


def _position(row: list[int], option: int, facts: dict[str, Any], player: int) -> int:
    row[features.POSITION] = features.POSITION_IDS[option]
    return int(facts["code"])


def _zone(row: list[int], option: list[int], facts: dict[str, Any], player: int) -> int:
    row[features.PLACE] = features.place_id(player, option)
    return 0


def _attribute(row: list[int], option: int, facts: dict[str, Any], player: int) -> int:
    row[features.ATTRIBUTE] = features.bit_id(option)
    return 0


def _number(row: list[int], option: int, facts: dict[str, Any], player: int) -> int:
    row[features.NUMBER] = min(option, features.MOST_NUMBER)
    return 0


def _race(row: list[int], option: int, facts: dict[str, Any], player: int) -> int:
    row[features.EFFECT] = features.FIRST_RACE + features.bit_id(option) - 1
    return 0


def _code(row: list[int], option: int, facts: dict[str, Any], player: int) -> int:
    return option


OPTION_WRITERS: dict[str, Any] = {
    "idlecmd": _command, "battlecmd": _command, "chain": _command, "effectyn": _yes, "yesno": _yes, "option": _text,
    "card": _card, "tribute": _card, "sum": _card, "counter": _card, "unselect_card": _unselect, "position": _position,
    "place": _zone, "disfield": _zone, "announce_attrib": _attribute, "announce_number": _number,
    "announce_race": _race, "announce_card": _code, "hand_sign": _number,
}  # fmt: skip
