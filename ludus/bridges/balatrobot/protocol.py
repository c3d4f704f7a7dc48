"""The interface of BalatroBot: methods with their parameters and game states, errors, and the check of requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from ludus.games.balatro.tables import decks
from ludus.types import JsonObject, LudusError

PORT, MOST_BYTES = 12346, 65_536
"""the mod's port, and the maximum size of a request"""
INTERNAL_ERROR, BAD_REQUEST, INVALID_STATE, NOT_ALLOWED = -32000, -32001, -32002, -32003
ERROR_NAMES = {
    INTERNAL_ERROR: "INTERNAL_ERROR", BAD_REQUEST: "BAD_REQUEST", INVALID_STATE: "INVALID_STATE",
    NOT_ALLOWED: "NOT_ALLOWED",
}  # fmt: skip
MENU, BLIND_SELECT, SELECTING_HAND, ROUND_EVAL, SHOP, PACK, GAME_OVER = (
    "MENU", "BLIND_SELECT", "SELECTING_HAND", "ROUND_EVAL", "SHOP", "SMODS_BOOSTER_OPENED", "GAME_OVER",
)  # fmt: skip
STABLE = (MENU, BLIND_SELECT, SELECTING_HAND, ROUND_EVAL, SHOP, PACK, GAME_OVER)
"""states in which the game waits for a request"""
DECKS, STAKES = tuple(name.upper() for name in decks.NAMES), tuple(name.upper() for name in decks.STAKES)
Value = Any
"""a value of JSON"""


class Refusal(LudusError):  # noqa: N818 - an answer of the interface, not a failure
    """A request that the interface refuses; it has changed nothing."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Param(NamedTuple):
    """A parameter of a method."""

    type: str
    """string, integer, integers or boolean"""
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None


@dataclass(frozen=True)
class Method:
    """A method of the interface."""

    summary: str
    params: dict[str, Param] = field(default_factory=dict)
    states: tuple[str, ...] = ()
    """states in which it is allowed; empty for all"""
    exactly_one: tuple[str, ...] = ()
    """parameters of which exactly one must be given"""
    result: str = "GameState"
    newer: bool = False
    """whether the release 1.5.2 of the mod lacks it"""


_STRING, _INTEGER, _INTEGERS = Param("string"), Param("integer"), Param("integers")
_INDEX = Param("integer", required=True)
_COUNT, _CARDS, _PATH = Param("integer", least=0), Param("integers", required=True), Param("string", required=True)
IN_RUN = (BLIND_SELECT, SELECTING_HAND, ROUND_EVAL, SHOP, PACK)
METHODS = {
    "health": Method("Whether the server answers", result="Status"),
    "gamestate": Method("The complete state of the game"),
    "rpc.discover": Method("This document", result="OpenRPC"),
    "start": Method("Start a run", {
        "deck": Param("string", True, DECKS), "stake": Param("string", True, STAKES), "seed": _STRING,
    }, (MENU,)),
    "menu": Method("Return to the main menu"),
    "save": Method("Save the run to a file", {"path": _PATH}, IN_RUN, result="File"),
    "load": Method("Load a run from a file", {"path": _PATH}, result="File"),
    "select": Method("Play the current blind", states=(BLIND_SELECT,)),
    "skip": Method("Skip the current blind for its tag", states=(BLIND_SELECT,)),
    "play": Method("Play cards of the hand", {"cards": _CARDS}, (SELECTING_HAND,)),
    "discard": Method("Discard cards of the hand", {"cards": _CARDS}, (SELECTING_HAND,)),
    "buy": Method("Buy a card, a voucher or a pack", dict.fromkeys(("card", "voucher", "pack"), _INTEGER), (SHOP,),
                  ("card", "voucher", "pack")),
    "pack": Method("Take a card from the open pack, or skip the rest", {
        "card": _INTEGER, "skip": Param("boolean"), "targets": _INTEGERS,
    }, (PACK,), ("card", "skip")),
    "sell": Method("Sell a joker or a consumable", dict.fromkeys(("joker", "consumable"), _INTEGER),
                   (SELECTING_HAND, SHOP, PACK), ("joker", "consumable")),
    "reroll": Method("Reroll the cards of the shop", states=(SHOP,)),
    "cash_out": Method("Collect the pay and enter the shop", states=(ROUND_EVAL,)),
    "next_round": Method("Leave the shop", states=(SHOP,)),
    "rearrange": Method("Reorder the hand, the jokers or the consumables",
                        dict.fromkeys(("hand", "jokers", "consumables"), _INTEGERS), (SELECTING_HAND, SHOP, PACK),
                        ("hand", "jokers", "consumables")),
    "use": Method("Use a consumable", {"consumable": _INDEX, "cards": _INTEGERS}, (SELECTING_HAND, SHOP)),
    "screenshot": Method("Draw the table to a PNG file", {"path": _PATH}, result="File"),
    "add": Method("Add a card, for debugging", {
        "key": _PATH, "seal": _STRING, "edition": _STRING, "enhancement": _STRING, "eternal": Param("boolean"),
        "perishable": Param("integer", least=1), "rental": Param("boolean"),
    }, (SELECTING_HAND, SHOP, ROUND_EVAL)),
    "set": Method("Set values of the run, for debugging", {
        **dict.fromkeys(("money", "chips", "ante", "round", "hands", "discards"), _COUNT), "shop": Param("boolean"),
    }, IN_RUN),
    "sort": Method("Sort the hand", {"by": Param("string", True, ("rank", "suit"))}, (SELECTING_HAND,), newer=True),
    "highlight": Method("Select or unselect one card of the hand", {"card": _INDEX}, (SELECTING_HAND,), newer=True),
    "buy_and_use": Method("Buy a consumable and use it at once", {"card": _INDEX}, (SHOP,), newer=True),
    "reroll_boss": Method("Pay $10 for another boss", states=(BLIND_SELECT,), newer=True),
}  # fmt: skip
CHECKS = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "integers": lambda value: (
        isinstance(value, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    ),
}
WORDS = {"string": "a string", "integer": "an integer", "boolean": "a boolean", "integers": "an array of integers"}


def parse(body: bytes) -> tuple[Value, Value]:
    """The decoded body of a request, and its id, None if it has no valid one."""
    try:
        given = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise Refusal(BAD_REQUEST, "invalid JSON in the body; send one JSON-RPC 2.0 request") from None
    found = given.get("id") if isinstance(given, dict) else None
    return given, found if is_id(found) else None


def is_id(value: Value) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def check(given: Value) -> tuple[str, JsonObject]:
    """The method and the parameters of a request that follows the protocol and the schema of its method."""
    if not isinstance(given, dict):
        raise Refusal(BAD_REQUEST, "a request is one JSON object; batches are not supported")
    if given.get("jsonrpc") != "2.0":
        raise Refusal(BAD_REQUEST, 'a request needs "jsonrpc": "2.0"')
    if not is_id(given.get("id")):
        raise Refusal(BAD_REQUEST, 'a request needs an "id", a string or an integer')
    name, params = given.get("method"), given.get("params", {})
    if not isinstance(name, str):
        raise Refusal(BAD_REQUEST, 'a request needs a "method", a string')
    if not isinstance(params, dict):
        raise Refusal(BAD_REQUEST, '"params" must be an object')
    if name not in METHODS:
        raise Refusal(BAD_REQUEST, f'unknown method "{name[:60]}"; rpc.discover lists all')
    return name, checked(name, METHODS[name], params)


def checked(name: str, method: Method, params: JsonObject) -> JsonObject:
    """The known parameters, checked; unknown ones are ignored."""
    found = {key: params[key] for key in method.params if params.get(key) is not None}
    for key, param in method.params.items():
        if key in found:
            _check_value(key, param, found[key])
        elif param.required:
            raise Refusal(BAD_REQUEST, f'{name} needs the parameter "{key}"')
    given = [key for key in method.exactly_one if found.get(key) is not None and found[key] is not False]
    if method.exactly_one and len(given) != 1:
        raise Refusal(BAD_REQUEST, f"{name} needs exactly one of {', '.join(method.exactly_one)}")
    return found


def _check_value(key: str, param: Param, value: Value) -> None:
    if not CHECKS[param.type](value):
        raise Refusal(BAD_REQUEST, f'"{key}" must be {WORDS[param.type]}')
    if param.choices and value not in param.choices:
        raise Refusal(BAD_REQUEST, f'"{key}" must be one of {", ".join(param.choices)}')
    if param.least is not None and value < param.least:
        raise Refusal(BAD_REQUEST, f'"{key}" must be at least {param.least}')


def check_state(name: str, state: str) -> None:
    """Raise Refusal if a method is not allowed in a state of the game."""
    allowed = METHODS[name].states
    if allowed and state not in allowed:
        raise Refusal(INVALID_STATE, f"{name} is not allowed in {state}; it is in {', '.join(allowed)}")


def result(value: Value, id: Value) -> JsonObject:
    return {"jsonrpc": "2.0", "result": value, "id": id}


def error(code: int, message: str, id: Value) -> JsonObject:
    return {
        "jsonrpc": "2.0",
        "error": {"code": code, "message": message, "data": {"name": ERROR_NAMES[code]}},
        "id": id,
    }


def encoded(answer: JsonObject) -> bytes:
    return msgspec.json.encode(answer)


def openrpc(version: str) -> JsonObject:
    """The document that rpc.discover returns."""
    return {
        "openrpc": "1.3.2",
        "info": {"title": "BalatroBot, emulated by Ludus", "version": version},
        "methods": [_described(name, method) for name, method in METHODS.items()],
    }


def _described(name: str, method: Method) -> JsonObject:
    return {
        "name": name, "summary": method.summary, "paramStructure": "by-name",
        "params": [{"name": key, "required": param.required, "schema": _schema(param)}
                   for key, param in method.params.items()],
        "result": {"name": method.result, "schema": {"type": "object"}},
    }  # fmt: skip


def _schema(param: Param) -> JsonObject:
    schema: JsonObject = {"type": param.type}
    if param.type == "integers":
        schema = {"type": "array", "items": {"type": "integer"}}
    if param.choices:
        schema["enum"] = list(param.choices)
    if param.least is not None:
        schema["minimum"] = param.least
    return schema
