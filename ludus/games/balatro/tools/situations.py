"""Situations for the score calculator from short texts: cards like "KH steel foil", jokers like "j_baron poly"."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ludus.games.balatro.tables import blinds, cards, decks, hands, jokers
from ludus.games.balatro.tools.scores import EDITIONS, ENHANCEMENTS, OUTCOMES, SEALS
from ludus.types import JsonObject, LudusError

DEBUFFED = "debuffed"
FULL_DECK = 52


def situation(
    play: Sequence[str], held: Sequence[str] = (), owned: Sequence[JsonObject] = (),
    levels: dict[str, int] | None = None, plays: dict[str, int] | None = None, blind: str = "bl_small",
    deck: str = "red", money: int = 4, hands_left: int = 3, discards_left: int = 3, first_hand: bool = False,
    rolls: dict[str, int] | None = None,
) -> JsonObject:  # fmt: skip
    """A situation with the usual values of everything else; rolls that are not named fail."""
    levels, plays = levels or {}, plays or {}
    known = _names(levels, "a poker hand", hands.NAMES) | _names(plays, "a poker hand", hands.NAMES)
    seen = [card(text) for text in (*play, *held)]
    kinds = [one["enh"] for one in seen]
    counts = {"steel": kinds.count("steel"), "stone": kinds.count("stone"), "enhanced": len(kinds) - kinds.count(None)}
    return {
        "play": seen[: len(play)], "held": seen[len(play) :], "jokers": [joker(one) for one in owned],
        "levels": {name: {"level": levels.get(name, 1), "played": plays.get(name, 0)} for name in known},
        "money": money, "hands_left": hands_left, "discards_left": discards_left, "joker_slots": max(5, len(owned)),
        "deck": {"remaining": FULL_DECK - len(seen), "full_size": FULL_DECK, "starting_size": FULL_DECK, **counts},
        "deck_type": _known(deck, "a deck", decks.NAMES), "blind": {"key": _known(blind, "a blind", blinds.KEYS)},
        "observatory": {}, "round": {"first_hand": first_hand, "tarots_used": 0, "skips": 0},
        "outcomes": {**dict.fromkeys(OUTCOMES, 0), "misprint": 0, **_rolls(rolls or {})},
    }  # fmt: skip


def card(text: str) -> JsonObject:
    """A card: rank and suit (KH, 10S), then an enhancement, an edition, a seal or "debuffed", in any order."""
    first, *marks = text.split() or [""]
    rank, suit = first[:-1].upper().replace("T", "10"), first[-1:].upper()
    if rank.replace("10", "T") not in tuple(cards.RANKS) or suit not in tuple(cards.SUITS):
        raise LudusError(f'"{text}" is not a card; write rank and suit, like KH, 10S or "QC steel foil red-seal"')
    found: JsonObject = {"rank": rank, "suit": suit, "enh": None, "edition": None, "seal": None, DEBUFFED: False}
    for mark in marks:
        word = mark.lower()
        kind = next((kind for kind, words in MARKS.items() if word in words), None)
        if kind is None:
            raise LudusError(f'"{mark}" of "{text}" is no mark of a card; known are {", ".join(_all_marks())}')
        found[kind] = word == DEBUFFED if kind == DEBUFFED else word.removesuffix(SEAL)
    return found


SEAL = "-seal"
MARKS = {
    "enh": ENHANCEMENTS[1:],
    "edition": EDITIONS[1:4],
    "seal": tuple(seal + SEAL for seal in SEALS[1:]),
    DEBUFFED: (DEBUFFED,),
}


def _all_marks() -> list[str]:
    return [word for words in MARKS.values() for word in words]


def joker(given: JsonObject) -> JsonObject:
    """A joker: its key with an edition or "debuffed" ({"joker": "j_baron poly"}), its sell value, and its state."""
    key, *marks = str(given["joker"]).lower().split() or [""]
    known = _known(key if key.startswith("j_") else f"j_{key}", "a joker", jokers.KEYS)
    for mark in marks:
        if mark not in (*EDITIONS[1:], DEBUFFED):
            raise LudusError(f'"{mark}" is no mark of a joker; known are {", ".join((*EDITIONS[1:], DEBUFFED))}')
    edition = next((mark for mark in marks if mark in EDITIONS), None)
    price = jokers.PRICE[jokers.number_of(known)] + cards.EDITION_PRICE[EDITIONS.index(edition or "")]
    sell = given.get("sell")
    return {
        "key": known, "edition": edition, DEBUFFED: DEBUFFED in marks,
        "sell": max(1, int(price) // 2) if sell is None else sell, "state": given.get("state") or {},
    }  # fmt: skip


def _rolls(rolls: dict[str, int]) -> dict[str, int]:
    return _names(rolls, "a roll", (*OUTCOMES, "misprint"))


def _names(given: dict[str, int], what: str, known: Sequence[str]) -> dict[str, int]:
    return {_known(name, what, known): value for name, value in given.items()}


def _known(name: str, what: str, names: Sequence[str]) -> str:
    """The name, if there is such a thing."""
    if name in names:
        return name
    close = difflib.get_close_matches(name, names, 1)
    hint = f'did you mean "{close[0]}"?' if close else f"known are {', '.join(list(names)[:12])} and more"
    raise LudusError(f'"{name[:60]}" is not {what}; {hint}')
