"""The state of a run as the interface writes it, the GameState."""

from __future__ import annotations

import functools
import math

import numpy as np

from ludus.bridges.balatrobot.cards import deck_card, item, pack, voucher
from ludus.bridges.balatrobot.protocol import MENU, Value
from ludus.bridges.balatrobot.run import Run
from ludus.games.balatro import conditions, draws, holdings, prices, rounds, shop
from ludus.games.balatro.pieces import EFFECT_WORDS
from ludus.games.balatro.state import (
    BOSS,
    CASHING_OUT,
    CHOOSING_BLIND,
    MOST_PLAYED,
    OPENING,
    PLAYING_HAND,
    SHOPPING,
)  # fmt: skip
from ludus.games.balatro.tables import blinds, decks, hands, packs, tags, vouchers
from ludus.types import JsonObject

LARGEST = 1.7e308
"""written for infinite scores, which JSON does not have"""
EXAMPLES = {
    "Flush Five": "S_A S_A S_A S_A S_A", "Flush House": "D_7 D_7 D_7 D_4 D_4",
    "Five of a Kind": "S_A H_A H_A C_A D_A", "Straight Flush": "S_Q S_J S_T S_9 S_8",
    "Four of a Kind": "S_J H_J C_J D_J -C_3", "Full House": "H_K C_K D_K S_2 D_2", "Flush": "H_A H_K H_T H_5 H_4",
    "Straight": "D_J C_T C_9 S_8 H_7", "Three of a Kind": "S_T C_T D_T -H_6 -D_5", "Two Pair": "H_A D_A -C_Q H_4 C_4",
    "Pair": "-S_K S_9 D_9 -H_6 -D_3", "High Card": "S_A -D_Q -D_9 -C_4 -D_3",
}  # fmt: skip
"""five cards for each poker hand; those after a minus do not score"""
NO_RUN: JsonObject = {
    "state": MENU, "round_num": 0, "ante_num": 0, "money": 0, "won": False, "used_vouchers": {}, "hands": {},
    "round": {}, "blinds": {},
}  # fmt: skip


def gamestate(run: Run | None) -> JsonObject:
    """The GameState of a run, or of the main menu."""
    if run is None:
        return NO_RUN
    record = run.record
    return {
        "state": run.state, "round_num": int(record["round"]), "ante_num": int(record["ante"]),
        "money": int(record["money"]), "won": bool(record["won"]), "deck": decks.NAMES[record["deck"]].upper(),
        "stake": decks.STAKES[record["stake"]].upper(), "seed": seed_of(record),
        "used_vouchers": {vouchers.KEYS[one]: vouchers.NAMES[one] for one in np.flatnonzero(record["owned_vouchers"])},
        "hands": _hands(record), "round": _round(run), "blinds": _blinds(run), **_areas(run),
    }  # fmt: skip


def seed_of(record: np.void) -> str:
    return bytes(record["seed_text"][: record["seed_letters"]]).decode()


def whole(number: float) -> Value:
    """A score as an integer, if it is one."""
    return int(number) if math.isfinite(number) else LARGEST


def _hands(record: np.void) -> JsonObject:
    fields = ("levels", "plays", "plays_this_round")
    columns = zip(*(record[field].tolist() for field in fields), strict=True)
    return {
        name: _hand(order, *numbers) for order, (name, numbers) in enumerate(zip(hands.NAMES, columns, strict=True))
    }


@functools.lru_cache(maxsize=10_000)
def _hand(order: int, level: int, played: int, played_this_round: int) -> JsonObject:
    name, chips, mult, more_chips, more_mult = hands.ROWS[order]
    return {
        "order": order + 1, "level": level, "chips": max(0, chips + more_chips * (level - 1)),
        "mult": max(1, mult + more_mult * (level - 1)), "played": played, "played_this_round": played_this_round,
        "example": [[card.lstrip("-"), not card.startswith("-")] for card in EXAMPLES[name].split()],
    }  # fmt: skip


def _round(run: Run) -> JsonObject:
    """The numbers of the round; between rounds the hands and discards that the next one begins with."""
    record = run.record
    inside = record["phase"] in (PLAYING_HAND, CASHING_OUT)
    hands_left, discards_left = ("hands_left", "discards_left") if inside else ("hands", "discards")
    reroll = int(run.by_rule(shop.reroll_price)) if record["phase"] == SHOPPING else int(record["reroll_base"])
    return {
        "hands_left": int(record[hands_left]), "hands_played": int(record["hands_played"]),
        "discards_left": int(record[discards_left]), "discards_used": int(record["discards_used"]),
        "reroll_cost": reroll, "chips": whole(float(record["score"])) if inside else 0,
    }  # fmt: skip


def _blinds(run: Run) -> JsonObject:
    record = run.record
    scores = [float(run.by_rule(rounds.asked, blind)) for blind in range(3)]
    found = {}
    for blind, name in enumerate(("small", "big", "boss")):
        row = int(record["boss"]) if blind == BOSS else blind
        tag = int(record["offered_tags"][blind]) if blind != BOSS else None
        found[name] = {
            "type": name.upper(), "status": _status(run, blind), "name": blinds.NAMES[row],
            "effect": EFFECT_WORDS[row], "score": whole(math.floor(scores[blind])),
            "tag_name": "" if tag is None else tags.NAMES[tag], "tag_effect": "" if tag is None else tags.NAMES[tag],
        }  # fmt: skip
    return found


def _status(run: Run, blind: int) -> str:
    """SELECT, CURRENT, UPCOMING, DEFEATED or SKIPPED."""
    record = run.record
    phase, current = int(record["phase"]), int(record["blind"])
    if phase == OPENING:
        phase = int(record["pack_return"])
    if phase == SHOPPING and current == BOSS:
        return "UPCOMING"
    if blind < current or (blind == current and phase in (CASHING_OUT, SHOPPING)):
        return "SKIPPED" if blind in run.skipped else "DEFEATED"
    if blind > current:
        return "UPCOMING"
    return "SELECT" if phase == CHOOSING_BLIND else "CURRENT"


def _areas(run: Run) -> JsonObject:
    record = run.record
    slots, limit = int(run.by_rule(conditions.slots)), int(run.by_rule(draws.hand_limit))
    free = int(run.by_rule(holdings.consumable_room))
    owned = int(record["consumable_count"])
    found = {
        "jokers": _area([item(run, one) for one in record["jokers"][: record["joker_count"]]], slots),
        "consumables": _area([item(run, one) for one in record["consumables"][:owned]], free + owned),
        "cards": _pile(run), "hand": _in_hand(run, limit),
    }  # fmt: skip
    opened = record["phase"] == OPENING
    if record["phase"] == SHOPPING or (opened and record["pack_return"] == SHOPPING):
        found |= _shop(run)
    if opened:
        content = [item(run, one) for one in record["pack"][: record["pack_count"]]]
        found["pack"] = _area(content, int(packs.SHOWN[record["pack_kind"]]))
    return found


def _area(content: list[JsonObject], limit: int) -> JsonObject:
    return {"count": len(content), "limit": limit, "cards": content}


def _pile(run: Run) -> JsonObject:
    """The draw pile in its true order, the top card last; when a round has ended, all cards are in it."""
    record = run.record
    count = int(record["card_count"])
    deck = record["cards"][:count].tolist()
    numbers = range(count) if record["phase"] == CASHING_OUT else record["pile"][: record["pile_count"]].tolist()
    return _area([deck_card(number, deck[number]) for number in numbers], count)


def _in_hand(run: Run, limit: int) -> JsonObject:
    deck = run.record["cards"]
    content = [deck_card(number, deck[number].item()) for number in run.hand.tolist()]
    return _area(content, limit) | {"highlighted_limit": MOST_PLAYED}


def _shop(run: Run) -> JsonObject:
    record = run.record
    places = shop.SHELF + sum(int(record["owned_vouchers"][one]) for one in (shop.OVERSTOCK, shop.OVERSTOCK_PLUS))
    left = [place for place in range(int(record["offered_packs"])) if record["packs"][place] >= 0]
    offered = record["vouchers"][: record["offered_vouchers"]].tolist()
    price = int(run.by_rule(prices.voucher_price))
    costs = [int(run.by_rule(prices.pack_price, place)) for place in left]
    shelf = [item(run, one, offered=True) for one in record["shelf"][: record["shelf_count"]]]
    sold = zip(left, costs, strict=True)
    return {
        "shop": _area(shelf, places),
        "vouchers": _area([voucher(one, place, price) for place, one in enumerate(offered)], max(1, len(offered))),
        "packs": _area([pack(int(record["packs"][place]), place, cost) for place, cost in sold], shop_packs(record)),
    }  # fmt: skip


def shop_packs(record: np.void) -> int:
    """The places for packs in the shop."""
    return len(record["packs"])
