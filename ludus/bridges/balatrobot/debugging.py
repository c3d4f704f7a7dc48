"""What the interface can change outside of the rules: `add`, `set`, and the order of consumables.

The rules that it needs run as plain Python, so nothing is compiled for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludus.bridges.balatrobot.cards import EDITIONS, ENHANCEMENTS, PACK_KEYS, SEALS
from ludus.bridges.balatrobot.protocol import BAD_REQUEST, INVALID_STATE, NOT_ALLOWED, SELECTING_HAND, SHOP, Refusal
from ludus.bridges.balatrobot.run import Run, applied
from ludus.dsl.rows import as_plain
from ludus.games.balatro import deck, generation, holdings, randomness, shop
from ludus.games.balatro.state import CONSUMABLE, JOKER, MOST_CARDS, MOST_IN_HAND, MOST_VOUCHERS
from ludus.games.balatro.tables import cards, consumables, jokers, vouchers
from ludus.types import JsonObject

RICHEST, MOST = 2_000_000_000, 30_000
"""the largest values of money and of the counters of a run"""
MOST_ANTES = 39
FRONTS = {f"{suit}_{rank}": (rank_at, suit_at)
          for suit_at, suit in enumerate(cards.SUITS) for rank_at, rank in enumerate(cards.RANKS)}  # fmt: skip
PARTS = (("seal", SEALS), ("edition", EDITIONS), ("enhancement", ENHANCEMENTS))


def add(run: Run, params: JsonObject) -> None:
    """Add a joker, consumable, playing card, voucher or pack by its key."""
    key = params["key"]
    marks = {name: _number(name, words, params.get(name, "")) for name, words in PARTS}
    if key in FRONTS:
        _add_playing_card(run, *FRONTS[key], marks, params)
    elif key in jokers.KEYS[1:]:
        _add_joker(run, jokers.KEYS.index(key), marks, params)
    elif key in consumables.KEYS[1:]:
        _add_consumable(run, consumables.KEYS.index(key), marks, params)
    elif key in vouchers.KEYS:
        _refuse_marks(params, "a voucher")
        _add_voucher(run, vouchers.KEYS.index(key))
    elif (kind := key.rpartition("_")[0] + "_1") in PACK_KEYS:
        _refuse_marks(params, "a pack")
        _add_pack(run, PACK_KEYS.index(kind))
    else:
        raise Refusal(BAD_REQUEST, f'"{key[:60]}" is not the key of a card, like j_joker, c_fool, S_A or v_blank')


def _number(name: str, words: tuple[str, ...], given: str) -> int:
    if given not in words:
        raise Refusal(BAD_REQUEST, f'"{name}" must be one of {", ".join(filter(None, words))}')
    return words.index(given)


def _refuse_marks(params: JsonObject, what: str, allowed: Sequence[str] = ()) -> None:
    """Refuse parameters that this kind of card does not have."""
    for name in params:
        if name != "key" and name not in allowed and params[name] is not False:
            raise Refusal(BAD_REQUEST, f'{what} cannot have "{name}"')


def _add_joker(run: Run, number: int, marks: dict[str, int], params: JsonObject) -> None:
    _refuse_marks(params, "a joker", ("edition", "eternal", "perishable", "rental"))
    if params.get("eternal") and not jokers.CAN_BE_ETERNAL[number]:
        raise Refusal(BAD_REQUEST, f"{jokers.NAMES[number]} is never eternal")
    if params.get("eternal") and params.get("perishable"):
        raise Refusal(BAD_REQUEST, "a joker is not both eternal and perishable")
    if params.get("perishable", 0) > 255:
        raise Refusal(BAD_REQUEST, '"perishable" must be at most 255')
    states = run.pool.states.copy()
    state: Any = as_plain(states)[0]
    if applied(holdings.joker_room, state) + (marks["edition"] == cards.NEGATIVE) <= 0:
        raise Refusal(NOT_ALLOWED, "all joker slots are full")
    if state.joker_count >= len(state.acts_as):
        raise Refusal(NOT_ALLOWED, "the engine holds no more jokers")
    item = state.jokers[state.joker_count]
    applied(generation.blank_item, state, item, JOKER, number)
    item.edition = marks["edition"]
    item.stickers = _stickers(params)
    item.rounds = params.get("perishable", 0)
    applied(holdings.keep_joker, state)
    run.pool.put(states)


def _stickers(params: JsonObject) -> int:
    stickers = ((cards.ETERNAL, "eternal"), (cards.PERISHABLE, "perishable"), (cards.RENTAL, "rental"))
    return sum(bit for bit, name in stickers if params.get(name))


def _add_consumable(run: Run, number: int, marks: dict[str, int], params: JsonObject) -> None:
    _refuse_marks(params, "a consumable", ("edition",))
    if marks["edition"] not in (0, cards.NEGATIVE):
        raise Refusal(BAD_REQUEST, "a consumable can only be NEGATIVE")
    states = run.pool.states.copy()
    state: Any = as_plain(states)[0]
    room = applied(holdings.consumable_room, state) + (marks["edition"] == cards.NEGATIVE)
    if room <= 0 or state.consumable_count >= len(state.consumables):
        raise Refusal(NOT_ALLOWED, "all consumable slots are full")
    item = state.consumables[state.consumable_count]
    applied(generation.blank_item, state, item, CONSUMABLE, number)
    item.edition = marks["edition"]
    state.consumable_count += 1
    run.pool.put(states)


def _add_playing_card(run: Run, rank: int, suit: int, marks: dict[str, int], params: JsonObject) -> None:
    """Add a card to the hand and the deck."""
    _refuse_marks(params, "a playing card", ("seal", "edition", "enhancement"))
    if run.state != SELECTING_HAND:
        raise Refusal(INVALID_STATE, f"a playing card can only be added in {SELECTING_HAND}")
    if marks["edition"] == cards.NEGATIVE:
        raise Refusal(BAD_REQUEST, "a playing card is never NEGATIVE")
    states = run.pool.states.copy()
    state: Any = as_plain(states)[0]
    if state.card_count >= MOST_CARDS or state.hand_count >= MOST_IN_HAND:
        raise Refusal(NOT_ALLOWED, "the deck or the hand is full")
    applied(deck.add_card, state, rank, suit, marks["enhancement"], marks["edition"], marks["seal"], True)
    run.pool.put(states)


def _add_voucher(run: Run, number: int) -> None:
    record = run.record
    if run.state != SHOP:
        raise Refusal(INVALID_STATE, f"a voucher can only be added in {SHOP}")
    offered = int(record["offered_vouchers"])
    if offered >= MOST_VOUCHERS or number in record["vouchers"][:offered] or record["owned_vouchers"][number]:
        raise Refusal(NOT_ALLOWED, "this voucher is offered or owned already, or the shop has no room for it")
    states = run.pool.states.copy()
    states["vouchers"][0, offered] = number
    states["offered_vouchers"] += 1
    states["tag_vouchers"] += 1
    run.pool.put(states)


def _add_pack(run: Run, kind: int) -> None:
    """Add a pack in the place of one that is sold."""
    if run.state != SHOP:
        raise Refusal(INVALID_STATE, f"a pack can only be added in {SHOP}")
    sold = np.flatnonzero(run.record["packs"] == shop.SOLD_OUT)
    if not len(sold):
        raise Refusal(NOT_ALLOWED, "the shop has no room for another pack; buy one first")
    states = run.pool.states.copy()
    states["packs"][0, sold[0]], states["packs_free"][0, sold[0]] = kind, 0
    run.pool.put(states)


def change(run: Run, params: JsonObject) -> None:
    """Set values of a run."""
    if not params:
        raise Refusal(BAD_REQUEST, "set needs at least one of money, chips, ante, round, hands, discards, shop")
    if params.get("shop") and run.state != SHOP:
        raise Refusal(NOT_ALLOWED, f"the shop can only be restocked in {SHOP}")
    limits = {
        "money": RICHEST,
        "chips": 10**15,
        "ante": MOST_ANTES,
        **dict.fromkeys(("round", "hands", "discards"), MOST),
    }
    for name, most in limits.items():
        if params.get(name, 0) > most:
            raise Refusal(BAD_REQUEST, f'"{name}" must be at most {most:,}')
    states = run.pool.states.copy()
    state: Any = as_plain(states)[0]
    fields = {"money": "money", "chips": "score", "round": "round", "hands": "hands_left", "discards": "discards_left"}
    for name, field in fields.items():
        if name in params:
            states[field] = params[name]
    if "ante" in params:
        applied(randomness.enter_ante, state, params["ante"])
    if params.get("shop"):
        applied(shop.enter, state)
    run.pool.put(states)


def reorder_consumables(run: Run, order: Sequence[int]) -> None:
    states = run.pool.states.copy()
    owned = states["consumables"][0]
    owned[: len(order)] = owned[list(order)].copy()
    run.pool.put(states)
