"""Moves both ways: an action of our engine as a request of the interface, and a request as actions of our engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ludus.bridges.balatrobot.protocol import (
    BAD_REQUEST,
    INVALID_STATE,
    METHODS,
    NOT_ALLOWED,
    PACK,
    SELECTING_HAND,
    SHOP,
    Refusal,
)  # fmt: skip
from ludus.bridges.balatrobot.run import Run
from ludus.games.balatro import actions as a
from ludus.games.balatro.state import BOSS, CONSUMABLE, MOST_PLAYED, NO_ITEM
from ludus.games.balatro.tables import consumables as c
from ludus.games.balatro.tables import packs
from ludus.types import Array, JsonObject

TARGETED_IN_HAND = 2
"""consumables that direct actions can use on cards"""
TARGET_OF = {int(bits): index for index, bits in enumerate(a.TARGETS)}


class Request(NamedTuple):
    """A method and its parameters."""

    method: str
    params: JsonObject

    def __str__(self) -> str:
        return f"{self.method} {', '.join(f'{key} {value}' for key, value in self.params.items())}".strip()


class Move(NamedTuple):
    """An action of our engine, after exactly these cards of the hand were selected."""

    action: int
    selected: tuple[int, ...] | None = None


# Our actions as requests


def request_of(run: Run, action: int) -> Request:
    """The request that does what an action of our engine does in this position."""
    name, index = a.block_of(action)
    return _REQUESTS[name](run, index)


def _played(method: str) -> Callable[[Run, int], Request]:
    def request(run: Run, index: int) -> Request:
        return Request(method, {"cards": sorted({*a.places_of(int(a.SUBSETS[index])), *run.forced})})

    return request


def _indexed(method: str, param: str) -> Callable[[Run, int], Request]:
    return lambda run, index: Request(method, {param: index})


def _bare(method: str, **params: object) -> Callable[[Run, int], Request]:
    return lambda run, index: Request(method, dict(params))


def _swapped(param: str, count: str) -> Callable[[Run, int], Request]:
    def request(run: Run, index: int) -> Request:
        order = list(range(int(run.record[count])))
        order[index], order[index + 1] = order[index + 1], order[index]
        return Request("rearrange", {param: order})

    return request


def _used(run: Run, index: int) -> Request:
    targets = c.MOST[run.record["consumables"]["number"][index]] > 0
    return Request("use", {"consumable": index} | ({"cards": run.selected} if targets else {}))


def _used_on(run: Run, index: int) -> Request:
    consumable, subset = divmod(index, len(a.TARGETS))
    return Request("use", {"consumable": consumable, "cards": a.places_of(int(a.TARGETS[subset]))})


def _picked(run: Run, index: int) -> Request:
    item = run.record["pack"][index]
    targets = item["kind"] == CONSUMABLE and c.MOST[item["number"]] > 0
    return Request("pack", {"card": index} | ({"targets": run.selected} if targets else {}))


def _picked_on(run: Run, index: int) -> Request:
    card, subset = divmod(index, a.PAIRS)
    return Request("pack", {"card": card, "targets": a.places_of(int(a.TARGETS[subset]))})


def _bought_pack(run: Run, index: int) -> Request:
    return Request("buy", {"pack": packs_left(run).index(index)})


_REQUESTS: dict[str, Callable[[Run, int], Request]] = {
    "PLAY": _played("play"), "DISCARD": _played("discard"), "TOGGLE": _indexed("highlight", "card"),
    "PLAY_SELECTED": lambda run, index: Request("play", {"cards": run.selected}),
    "DISCARD_SELECTED": lambda run, index: Request("discard", {"cards": run.selected}),
    "SORT_BY_RANK": _bare("sort", by="rank"), "SORT_BY_SUIT": _bare("sort", by="suit"),
    "MOVE_CARD": _swapped("hand", "hand_count"), "MOVE_JOKER": _swapped("jokers", "joker_count"),
    "SELL_JOKER": _indexed("sell", "joker"), "SELL_CONSUMABLE": _indexed("sell", "consumable"),
    "USE": _used, "USE_ON": _used_on, "BUY": _indexed("buy", "card"), "BUY_AND_USE": _indexed("buy_and_use", "card"),
    "BUY_VOUCHER": _indexed("buy", "voucher"), "BUY_PACK": _bought_pack, "REROLL": _bare("reroll"),
    "LEAVE": _bare("next_round"), "CASH_OUT": _bare("cash_out"), "SELECT_BLIND": _bare("select"),
    "SKIP_BLIND": _bare("skip"), "REROLL_BOSS": _bare("reroll_boss"), "PICK": _picked, "PICK_ON": _picked_on,
    "SKIP_PACK": _bare("pack", skip=True),
}  # fmt: skip
"""functions of the run and the index that write the request for each kind of action"""


def expressible(run: Run, action: int, methods: Iterable[str]) -> bool:
    """Whether an interface with these methods can express an action of our engine in this position."""
    request = request_of(run, action)
    if request.method not in methods or run.state not in METHODS[request.method].states:
        return False
    if request.method == "sell" and run.state == PACK:
        return "sort" in methods and in_buffoon_pack(run)
    return request.method != "rearrange" or _may_rearrange(run, request.params)


# Requests as our actions


def moves_of(run: Run, method: str, params: JsonObject) -> list[Move]:
    """The actions of our engine that carry out a checked request in this position; raises Refusal."""
    return _MOVES[method](run, params)


def _plays(run: Run, params: JsonObject, action: int, selected: int) -> list[Move]:
    """Play or discard cards: in one action if they are among the first, else by selecting them."""
    places = _places(run, params["cards"], 1, MOST_PLAYED)
    if missing := set(run.forced) - set(places):
        raise Refusal(BAD_REQUEST, f"the boss forces card {min(missing)}, which must be among the cards")
    if max(places) < a.REACH:
        return [Move(action + int(a.SUBSET_OF[_bits(places)]))]
    return [Move(selected, tuple(places))]


def _play(run: Run, params: JsonObject) -> list[Move]:
    return _plays(run, params, a.PLAY, a.PLAY_SELECTED)


def _discard(run: Run, params: JsonObject) -> list[Move]:
    if run.record["discards_left"] <= 0:
        raise Refusal(BAD_REQUEST, "no discards are left")
    return _plays(run, params, a.DISCARD, a.DISCARD_SELECTED)


def _places(run: Run, places: Sequence[int], least: int, most: int) -> list[int]:
    """Positions of cards in hand, checked and in order."""
    if not least <= len(places) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise Refusal(BAD_REQUEST, f"{wanted} cards of the hand are needed, not {len(places)}")
    _check_indices(places, int(run.record["hand_count"]), "cards in hand")
    if len(set(places)) < len(places):
        raise Refusal(BAD_REQUEST, "a card is given twice")
    return sorted(places)


def _check_indices(indices: Iterable[int], count: int, what: str) -> None:
    for index in indices:
        if not 0 <= index < count:
            raise Refusal(BAD_REQUEST, f"index {index} is out of range: there are {count} {what}")


def _bits(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)


def _check_rule(run: Run, action: int, why: str) -> list[Move]:
    """One action, if the rules of the game allow it."""
    if not run.mask[action]:
        raise Refusal(NOT_ALLOWED, why)
    return [Move(action)]


def _select(run: Run, params: JsonObject) -> list[Move]:
    return [Move(a.SELECT_BLIND)]


def _skip(run: Run, params: JsonObject) -> list[Move]:
    if run.record["blind"] == BOSS:
        raise Refusal(NOT_ALLOWED, "a boss blind cannot be skipped")
    return [Move(a.SKIP_BLIND)]


def _buy(run: Run, params: JsonObject) -> list[Move]:
    if "card" in params:
        return _buy_card(run, params["card"], a.BUY)
    if "voucher" in params:
        _check_indices([params["voucher"]], int(run.record["offered_vouchers"]), "vouchers")
        return _affordable(run, a.BUY_VOUCHER + params["voucher"])
    left = packs_left(run)
    _check_indices([params["pack"]], len(left), "packs")
    return _affordable(run, a.BUY_PACK + left[params["pack"]])


def packs_left(run: Run) -> list[int]:
    """The places of the packs in the shop that are not sold."""
    record = run.record
    return [place for place in range(int(record["offered_packs"])) if record["packs"][place] >= 0]


def _affordable(run: Run, action: int) -> list[Move]:
    if not run.mask[action]:
        raise Refusal(BAD_REQUEST, f"this is not affordable with ${run.record['money']}")
    return [Move(action)]


def _buy_card(run: Run, index: int, action: int) -> list[Move]:
    _check_indices([index], int(run.record["shelf_count"]), "cards in the shop")
    if not run.mask[action + index]:
        raise Refusal(BAD_REQUEST, f"this card is not affordable with ${run.record['money']}, or its slots are full")
    return [Move(action + index)]


def _buy_and_use(run: Run, params: JsonObject) -> list[Move]:
    index = params["card"]
    _check_indices([index], int(run.record["shelf_count"]), "cards in the shop")
    if run.record["shelf"]["kind"][index] != CONSUMABLE:
        raise Refusal(BAD_REQUEST, "only consumables can be bought and used at once")
    return _check_rule(run, a.BUY_AND_USE + index, "this consumable is not affordable or cannot be used now")


def _pack(run: Run, params: JsonObject) -> list[Move]:
    if params.get("skip"):
        return [Move(a.SKIP_PACK)]
    index, targets = params["card"], params.get("targets", [])
    _check_indices([index], int(run.record["pack_count"]), "cards in the pack")
    item = run.record["pack"][index]
    number = int(item["number"]) if item["kind"] == CONSUMABLE else NO_ITEM
    if c.MOST[number] == 0:
        targets = []  # the mod ignores targets of cards that need none
    places = _places(run, targets, int(c.LEAST[number]), int(c.MOST[number]))
    why = "this card cannot be taken now: its slots are full, or it finds nothing to act on"
    if not places:
        return _check_rule(run, a.PICK + index, why)
    if len(places) <= 2 and max(places) < a.REACH:
        return _check_rule(run, a.PICK_ON + index * a.PAIRS + TARGET_OF[_bits(places)], why)
    return [Move(a.PICK + index, tuple(places))]


def in_buffoon_pack(run: Run) -> bool:
    return run.state == PACK and int(run.record["pack_kind"]) // 3 == packs.BUFFOON


def _sell(run: Run, params: JsonObject) -> list[Move]:
    kind = "joker" if "joker" in params else "consumable"
    if run.state == PACK and not in_buffoon_pack(run):
        raise Refusal(INVALID_STATE, "with an open pack, nothing can be sold unless it is a Buffoon pack")
    index, count = params[kind], int(run.record[f"{kind}_count"])
    if not count:
        raise Refusal(NOT_ALLOWED, f"there is no {kind} to sell")
    _check_indices([index], count, f"{kind}s")
    first = a.SELL_JOKER if kind == "joker" else a.SELL_CONSUMABLE
    return _check_rule(run, first + index, "an eternal joker cannot be sold")


def _reroll(run: Run, params: JsonObject) -> list[Move]:
    return _check_rule(run, a.REROLL, f"a reroll is not affordable with ${run.record['money']}")


def _reroll_boss(run: Run, params: JsonObject) -> list[Move]:
    return _check_rule(run, a.REROLL_BOSS, "the boss cannot be rerolled: it needs $10 and Director's Cut or Retcon")


def _use(run: Run, params: JsonObject) -> list[Move]:
    index, record = params["consumable"], run.record
    _check_indices([index], int(record["consumable_count"]), "consumables")
    number = int(record["consumables"]["number"][index])
    if c.MOST[number] and run.state != SELECTING_HAND:
        raise Refusal(INVALID_STATE, f"{c.NAMES[number]} needs cards of the hand, so only in {SELECTING_HAND}")
    places = _places(run, params.get("cards", []), int(c.LEAST[number]), int(c.MOST[number]))
    why = f"{c.NAMES[number]} cannot be used now"
    if not places:
        return _check_rule(run, a.USE + index, why)
    if index < TARGETED_IN_HAND and max(places) < a.REACH:
        return _check_rule(run, a.USE_ON + index * len(a.TARGETS) + TARGET_OF[_bits(places)], why)
    return [Move(a.USE + index, tuple(places))]


def _highlight(run: Run, params: JsonObject) -> list[Move]:
    _check_indices([params["card"]], int(run.record["hand_count"]), "cards in hand")
    return _check_rule(run, a.TOGGLE + params["card"], "this card is forced, or five cards are selected already")


def _sort(run: Run, params: JsonObject) -> list[Move]:
    """A hand that was rearranged is sorted again by way of the other order."""
    wanted, other = a.SORT_BY_RANK, a.SORT_BY_SUIT
    if params["by"] == "suit":
        wanted, other = other, wanted
    return [Move(wanted)] if run.mask[wanted] else [Move(other), Move(wanted)]


def _rearrange(run: Run, params: JsonObject) -> list[Move]:
    """Swaps of neighbours; consumables are reordered by `Emulator`, because no action of our engine does it."""
    if not _may_rearrange(run, params):
        raise Refusal(INVALID_STATE, f"the hand cannot be rearranged in {SHOP}")
    kind = next(iter(params))
    order = checked_order(run, kind, params[kind])
    first = {"hand": a.MOVE_CARD, "jokers": a.MOVE_JOKER}[kind]
    return [Move(first + place) for place in swaps(order)]


def _may_rearrange(run: Run, params: JsonObject) -> bool:
    return "hand" not in params or run.state != SHOP


def checked_order(run: Run, kind: str, order: Sequence[int]) -> list[int]:
    """A permutation of the hand, the jokers or the consumables."""
    count = int(run.record[{"hand": "hand_count", "jokers": "joker_count", "consumables": "consumable_count"}[kind]])
    if not count:
        raise Refusal(NOT_ALLOWED, f"there is nothing to rearrange in {kind}")
    if sorted(order) != list(range(count)):
        raise Refusal(BAD_REQUEST, f'"{kind}" must contain each index from 0 to {count - 1} once')
    return list(order)


def swaps(order: Sequence[int]) -> list[int]:
    """The swaps of neighbours, each by the place of the left one, that bring things into this order."""
    here, found = list(range(len(order))), []
    for place, wanted in enumerate(order):
        for left in range(here.index(wanted) - 1, place - 1, -1):
            here[left], here[left + 1] = here[left + 1], here[left]
            found.append(left)
    return found


_MOVES: dict[str, Callable[[Run, JsonObject], list[Move]]] = {
    "select": _select, "skip": _skip, "play": _play, "discard": _discard, "buy": _buy, "pack": _pack, "sell": _sell,
    "reroll": _reroll, "cash_out": lambda run, params: [Move(a.CASH_OUT)],
    "next_round": lambda run, params: [Move(a.LEAVE)], "rearrange": _rearrange, "use": _use, "sort": _sort,
    "highlight": _highlight, "buy_and_use": _buy_and_use, "reroll_boss": _reroll_boss,
}  # fmt: skip
"""functions that turn the parameters of each method into moves"""


def perform(run: Run, moves: Iterable[Move]) -> None:
    """Carry out moves; if the selected cards do not allow the action, nothing changes and Refusal is raised."""
    for move in moves:
        if move.selected is not None:
            before = run.pool.states.copy()
            run.select(move.selected)
            if not run.mask[move.action]:
                run.pool.put(before)
                raise Refusal(NOT_ALLOWED, "the rules of the game do not allow this with these cards")
        run.take(move.action)


def legal(run: Run, methods: Iterable[str]) -> Array:
    """The legal actions that an interface with these methods can express."""
    return np.array([action for action in np.flatnonzero(run.mask) if expressible(run, int(action), methods)])
