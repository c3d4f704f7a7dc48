"""Whether the state that the game reports is that of our engine, field by field.

Compared are the fields that the rules determine. Left out are texts, which depend on the language; ids; the pictures of
packs; and, outside of a blind, the order of the pile and what remains of the last round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ludus.bridges.balatrobot.protocol import (
    BLIND_SELECT,
    GAME_OVER,
    MENU,
    PACK,
    ROUND_EVAL,
    SELECTING_HAND,
    SHOP,
    Value,
)  # fmt: skip
from ludus.types import JsonObject

PRECISION = 1e-12
"""relative difference of equal scores: the game writes 14 digits"""
ALWAYS = ("state", "seed", "ante_num", "round_num")
PREFIXES = ("e_", "m_", "b_", "stake_")
HAND_FIELDS = ("level", "chips", "mult", "played", "played_this_round")
ROUND_FIELDS = ("hands_left", "hands_played", "discards_left", "discards_used", "chips")
ABSENT = "nothing"


class Difference(NamedTuple):
    """A field in which the game and our engine differ."""

    field: str
    game: Value
    ours: Value

    def __str__(self) -> str:
        return f"{self.field}: the game says {self.game!r}, Ludus says {self.ours!r}"


def difference(game: JsonObject, ours: JsonObject) -> Difference | None:
    """The first field in which two GameStates differ, or None."""
    if game.get("state") != ours["state"]:
        return Difference("state", game.get("state", ABSENT), ours["state"])
    theirs, own = dict(facts(game)), dict(facts(ours))
    for name in sorted({*theirs, *own}, key=_order):
        one, other = theirs.get(name, ABSENT), own.get(name, ABSENT)
        if not same(one, other):
            return Difference(name, one, other)
    return None


def _order(name: str) -> tuple[bool, bool, str]:
    """Counts before contents, so that an added card is reported as such."""
    return "[" in name, not name.endswith("count"), name


def same(one: Value, other: Value) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    return math.isclose(one, other, rel_tol=PRECISION) if numbers else bool(type(one) is type(other) and one == other)


def facts(state: JsonObject) -> Iterator[tuple[str, Value]]:
    """The compared fields by their paths."""
    name = state.get("state")
    yield "won", state.get("won") is True
    for field in ALWAYS:
        yield field, state.get(field, ABSENT)
    for field in ("deck", "stake"):
        yield field, word(state.get(field, ABSENT))
    if name in (MENU, GAME_OVER):
        return
    yield "money", state.get("money", ABSENT)
    yield "used_vouchers", sorted(mapping(state.get("used_vouchers")))
    for hand, row in mapping(state.get("hands")).items():
        yield from _fields(f"hands.{hand}", row, HAND_FIELDS)
    for part, where in PARTS:
        if name in where:
            yield from part(state)


def word(value: Value) -> Value:
    """FOIL for FOIL of the release 1.5.2 and for e_foil of newer ones, RED for Red and b_red."""
    if not isinstance(value, str):
        return value
    prefix = next((one for one in PREFIXES if value.startswith(one)), "")
    return value.removeprefix(prefix).upper()


def mapping(value: Value) -> JsonObject:
    """An object; an empty one may be written as an empty array."""
    return value if isinstance(value, dict) else {}


def _fields(path: str, value: Value, names: tuple[str, ...]) -> Iterator[tuple[str, Value]]:
    for name in names:
        yield f"{path}.{name}", mapping(value).get(name, ABSENT)


def _round(state: JsonObject) -> Iterator[tuple[str, Value]]:
    yield from _fields("round", state.get("round"), ROUND_FIELDS)


def _reroll(state: JsonObject) -> Iterator[tuple[str, Value]]:
    yield from _fields("round", state.get("round"), ("reroll_cost",))


def _blinds(state: JsonObject) -> Iterator[tuple[str, Value]]:
    for name in ("small", "big", "boss"):
        yield from _fields(f"blinds.{name}", mapping(state.get("blinds")).get(name), ("name", "status", "score"))
        if name != "boss":
            blind = mapping(mapping(state.get("blinds")).get(name))
            yield f"blinds.{name}.tag_name", mapping(blind.get("tag")).get("name", blind.get("tag_name", ABSENT))


def cards_in(state: JsonObject, area: str) -> list[JsonObject]:
    """The cards of an area."""
    found = mapping(state.get(area)).get("cards")
    return [mapping(card) for card in found] if isinstance(found, list) else []


def _area(
    area: str, describe: Callable[[JsonObject], JsonObject], limit: bool = False
) -> Callable[[JsonObject], Iterator[tuple[str, Value]]]:
    def part(state: JsonObject) -> Iterator[tuple[str, Value]]:
        content = cards_in(state, area)
        yield f"{area}.count", len(content)
        if limit:
            yield f"{area}.limit", mapping(state.get(area)).get("limit", ABSENT)
        for place, card in enumerate(content):
            for name, value in describe(card).items():
                yield f"{area}.cards[{place}].{name}", value

    return part


def _mixed_pile(state: JsonObject) -> Iterator[tuple[str, Value]]:
    """The pile without its order."""
    content = [tuple(sorted(playing_card(card).items())) for card in cards_in(state, "cards")]
    yield "cards.count", len(content)
    yield "cards", sorted(map(repr, content))


def playing_card(card: JsonObject) -> JsonObject:
    modifier = mapping(card.get("modifier"))
    return {"key": card.get("key")} | {name: word(modifier.get(name)) for name in ("enhancement", "edition", "seal")}


def card_in_hand(card: JsonObject) -> JsonObject:
    state = mapping(card.get("state"))
    return playing_card(card) | {name: bool(state.get(name)) for name in ("debuff", "hidden")}


def owned(card: JsonObject) -> JsonObject:
    """A joker or consumable of the player."""
    modifier, state = mapping(card.get("modifier")), mapping(card.get("state"))
    found = {name: word(modifier.get(name)) for name in ("edition", "eternal", "perishable", "rental")}
    found |= {name: bool(state.get(name)) for name in ("debuff", "hidden")}
    return {"key": card.get("key"), **found, "cost.sell": mapping(card.get("cost")).get("sell")}


def offered(card: JsonObject) -> JsonObject:
    """A card, voucher or pack in the shop, or a card in a pack without its price."""
    modifier = mapping(card.get("modifier"))
    names = ("edition", "eternal", "perishable", "rental", "enhancement", "seal")
    return {"key": _plain_key(card.get("key")), **{name: word(modifier.get(name)) for name in names}}


def priced(card: JsonObject) -> JsonObject:
    return offered(card) | {"cost.buy": mapping(card.get("cost")).get("buy")}


def _plain_key(key: Value) -> Value:
    """The key of a pack without the number of its picture, which our engine does not have."""
    return key.rpartition("_")[0] if isinstance(key, str) and key.startswith("p_") else key


PARTS: tuple[tuple[Callable[[JsonObject], Iterator[tuple[str, Value]]], tuple[str, ...]], ...] = (
    (_round, (SELECTING_HAND, ROUND_EVAL)),
    (_reroll, (SHOP,)),
    (_blinds, (BLIND_SELECT, SELECTING_HAND)),
    (_area("jokers", owned, limit=True), (BLIND_SELECT, SELECTING_HAND, ROUND_EVAL, SHOP, PACK)),
    (_area("consumables", owned, limit=True), (BLIND_SELECT, SELECTING_HAND, ROUND_EVAL, SHOP, PACK)),
    (_area("hand", card_in_hand, limit=True), (SELECTING_HAND,)),
    (_area("hand", card_in_hand), (PACK,)),
    (_area("cards", playing_card), (SELECTING_HAND, PACK)),
    (_mixed_pile, (BLIND_SELECT, ROUND_EVAL, SHOP)),
    (_area("shop", priced), (SHOP,)),
    (_area("vouchers", priced), (SHOP,)),
    (_area("packs", priced), (SHOP,)),
    (_area("pack", offered), (PACK,)),
)
"""parts of the state, and the states of the game in which they are compared"""
