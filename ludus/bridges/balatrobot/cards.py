"""Cards as the interface writes them: playing cards, jokers, consumables, vouchers and packs."""

from __future__ import annotations

import functools

import numpy as np

from ludus.bridges.balatrobot.run import Run
from ludus.games.balatro import prices
from ludus.games.balatro.state import JOKER, PLAYING_CARD
from ludus.games.balatro.tables import cards, consumables, jokers, packs, vouchers
from ludus.games.balatro.tables.rules import ASTRONOMER
from ludus.games.balatro.text import gathered
from ludus.types import JsonObject

FIRST_ITEM = 1000
"""ids of items begin here; those of playing cards are their places in the deck, from 1"""
EDITIONS = ("", "FOIL", "HOLO", "POLYCHROME", "NEGATIVE")
ENHANCEMENTS = ("", "BONUS", "MULT", "WILD", "GLASS", "STEEL", "STONE", "GOLD", "LUCKY")
SEALS = tuple(seal.upper() for seal in cards.SEALS)
PACK_KINDS = tuple(kind.lower() for kind in packs.KINDS)
PACK_KEYS = tuple(f"p_{kind}_{size}_1" for kind in PACK_KINDS for size in packs.SIZES)
PACK_NAMES = tuple(f"{kind} Pack" if size == "normal" else f"{size.title()} {kind} Pack"
                   for kind in packs.KINDS for size in packs.SIZES)  # fmt: skip
MOST_PRICES = 20_000
_prices: dict[tuple[int, ...], tuple[int, int, int]] = {}
"""prices by everything that they depend on, because plain Python computes them"""


def set_of(number: int) -> str:
    """The set of a consumable."""
    if number < consumables.FIRST_PLANET:
        return "TAROT"
    return "PLANET" if number < consumables.FIRST_SPECTRAL else "SPECTRAL"


def front(rank: int, suit: int) -> str:
    return f"{cards.SUITS[suit]}_{cards.RANKS[rank]}"


@functools.lru_cache(maxsize=50_000)
def playing_card(
    id: int, rank: int, suit: int, enhancement: int, edition: int, seal: int, flags: int, chips: int, price: int
) -> JsonObject:
    """A playing card; the result is shared, so it must not be changed."""
    modifier = {"seal": SEALS[seal], "edition": EDITIONS[edition], "enhancement": ENHANCEMENTS[enhancement]}
    states = (("debuff", cards.DEBUFFED), ("hidden", cards.FACE_DOWN), ("highlight", cards.SELECTED))
    name = f"{ENHANCEMENTS[enhancement].title()} Card" if enhancement else "Base Card"
    value: JsonObject = {"effect": f"+{chips} chips" if chips else ""}
    value |= {"suit": cards.SUITS[suit], "rank": cards.RANKS[rank]}
    return {
        "id": id, "key": front(rank, suit), "set": "ENHANCED" if enhancement else "DEFAULT", "label": name,
        "value": value, "modifier": {key: word for key, word in modifier.items() if word},
        "state": {key: True for key, bit in states if flags & bit}, "cost": {"sell": max(1, price // 2), "buy": price},
    }  # fmt: skip


def deck_card(number: int, card: tuple[int, ...]) -> JsonObject:
    """A card of the deck, from its number and the fields of its record."""
    return playing_card(number + 1, *card[:6], card[6], prices.CARD_PRICE)


def item(run: Run, thing: np.void, offered: bool = False) -> JsonObject:
    """A joker, a consumable or a playing card that is owned, offered in the shop or in a pack."""
    price, full, sell = prices_of(run, thing)
    buy = price if offered else full
    if thing["kind"] == PLAYING_CARD:
        fields = ("rank", "suit", "enhancement", "edition", "seal")
        flags = cards.DEBUFFED if thing["debuffed"] else 0
        return playing_card(FIRST_ITEM + int(thing["born"]), *(int(thing[field]) for field in fields), flags, 0, buy)
    number = int(thing["number"])
    keys, names = (jokers.KEYS, jokers.NAMES) if thing["kind"] == JOKER else (consumables.KEYS, consumables.NAMES)
    effect = gathered(run.record, thing) if thing["kind"] == JOKER else ""
    return {
        "id": FIRST_ITEM + int(thing["born"]), "key": keys[number], "label": names[number],
        "set": "JOKER" if thing["kind"] == JOKER else set_of(number), "value": {"effect": effect},
        "modifier": _modifier(thing), "state": _state(thing), "cost": {"sell": sell, "buy": buy},
    }  # fmt: skip


def _modifier(thing: np.void) -> JsonObject:
    found: JsonObject = {"edition": EDITIONS[thing["edition"]]} if thing["edition"] else {}
    stickers = int(thing["stickers"])
    if stickers & cards.ETERNAL:
        found["eternal"] = True
    if stickers & cards.PERISHABLE and thing["rounds"] > 0:
        found["perishable"] = int(thing["rounds"])
    if stickers & cards.RENTAL:
        found["rental"] = True
    return found


def _state(thing: np.void) -> JsonObject:
    found = {"debuff": thing["debuffed"], "hidden": thing["face_down"]}
    return {key: True for key, value in found.items() if value}


def prices_of(run: Run, thing: np.void) -> tuple[int, int, int]:
    """The price of an item on the shelf, its full price, and its sell value."""
    record = run.record
    key = (
        *(int(thing[field]) for field in ("kind", "number", "edition", "stickers", "free", "sell_value")),
        _discounts(record),
    )
    if key not in _prices:
        if len(_prices) >= MOST_PRICES:
            _prices.clear()
        rules = (prices.price, prices.full_price, prices.sell_value)
        found = [int(run.by_rule(rule, thing)) for rule in rules]
        _prices[key] = (found[0], found[1], found[2])
    return _prices[key]


def _discounts(record: np.void) -> int:
    """The vouchers and the rule on which prices depend, as bits."""
    owned = record["owned_vouchers"]
    astronomer = bool(record["rules"] & ASTRONOMER)
    return int(owned[prices.CLEARANCE_SALE]) | int(owned[prices.LIQUIDATION]) << 1 | astronomer << 2


def voucher(number: int, place: int, price: int) -> JsonObject:
    """A voucher in the shop."""
    return _offer(2 * FIRST_ITEM + place, vouchers.KEYS[number], "VOUCHER", vouchers.NAMES[number], price)


def pack(kind: int, place: int, price: int) -> JsonObject:
    """A pack in the shop."""
    return _offer(3 * FIRST_ITEM + place, PACK_KEYS[kind], "BOOSTER", PACK_NAMES[kind], price)


def _offer(id: int, key: str, kind: str, label: str, price: int) -> JsonObject:
    return {
        "id": id, "key": key, "set": kind, "label": label, "value": {"effect": ""}, "modifier": {}, "state": {},
        "cost": {"sell": max(1, price // 2), "buy": price},
    }  # fmt: skip
