"""A duel as text for people: life points, cards and options."""

from __future__ import annotations

from typing import Any

from ludus.bridges.ygopro.choices import FINISH, TURN_PAGE, Choice
from ludus.bridges.ygopro.core import BANISHED, DECK, EXTRA, GRAVE, HAND, MZONE, SZONE
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.queries import Seen
from ludus.bridges.ygopro.real_duel import Position

PHASES = {
    1: "Draw Phase",
    2: "Standby Phase",
    4: "Main Phase 1",
    8: "Battle Phase",
    256: "Main Phase 2",
    512: "End Phase",
}
COMMANDS = {
    "summon": "summon", "spsummon": "special summon", "repos": "change the position of", "mset": "set", "sset": "set",
    "act": "activate", "attack": "attack with", "chain": "chain", "sel": "take", "unsel": "give back",
    "bp": "to the Battle Phase", "m2": "to Main Phase 2", "ep": "to the End Phase", "pass": "pass", "cancel": "cancel",
    "finish": "finish",
}  # fmt: skip
POSITIONS = {
    1: "attack position",
    2: "face-down attack position",
    4: "defense position",
    8: "face-down defense position",
}
LOCATION_NAMES = {
    DECK: "deck",
    HAND: "hand",
    MZONE: "monster zone",
    SZONE: "spell zone",
    GRAVE: "graveyard",
    BANISHED: "banished",
    EXTRA: "extra deck",
}
PILE_NAMES = {
    DECK: "in the deck",
    HAND: "in hand",
    GRAVE: "in the graveyard",
    BANISHED: "banished",
    EXTRA: "in the extra deck",
}
FACE_DOWN = 10


def describe(duel: Position, library: Files, player: int, seats: tuple[int, int], choice: Choice | None) -> str:
    """The position as a player sees it, and the options on the page."""
    lines = [f"turn {duel.turn}, {PHASES.get(duel.phase, 'before the first turn')}"]
    for who in (1 - player, player):
        lines += _side(duel, library, who, f"seat {seats[who]}", who == player)
    if choice:
        lines.append(f"seat {seats[player]}: {choice.question.message}")
        lines += [f"  {action}: {option_name(library, choice, index)}" for action, index in enumerate(choice.shown)]
    return "\n".join(lines)


def option_name(library: Files, choice: Choice, index: int) -> str:
    """The name of an option."""
    if index < 0:
        return {FINISH: "finish", TURN_PAGE: "more"}[index]
    option, message = choice.question.options[index], choice.question.message
    if message == "option":
        return f"text {option[1]} of {library.name(option[0])}" if option[0] else f"text {option[1]}"
    if message in ("place", "disfield"):
        return f"{LOCATION_NAMES[option[1]]} {option[2] + 1}"
    if message == "position":
        return POSITIONS[option]
    if message == "announce_card":
        return library.name(option)
    if not isinstance(option, list):
        return str(option)
    return _card_option_name(library, option)


def _card_option_name(library: Files, option: list[Any]) -> str:
    if not isinstance(option[0], str):
        return f"{library.name(option[3])} ({LOCATION_NAMES[option[1] & 0x7F]} {option[2] + 1})"
    command = COMMANDS[option[0]]
    return f"{command} {library.name(option[4])}" if len(option) > 4 else command


def _side(duel: Position, library: Files, player: int, name: str, mine: bool) -> list[str]:
    cards = duel.cards()

    def listed(where: int) -> str:
        return ", ".join(_card(library, card, mine) for card in cards[player, where] if card) or "nothing"

    count = {where: len([card for card in cards[player, where] if card]) for where in LOCATION_NAMES}
    counts = ", ".join(f"{count[where]} {label}" for where, label in PILE_NAMES.items())
    lines = [f"{name}: {duel.field().points[player]} LP; {counts}"]
    lines += [f"  hand: {listed(HAND)}"] if mine else []
    return [*lines, f"  monsters: {listed(MZONE)}", f"  spells and traps: {listed(SZONE)}"]


def _card(library: Files, card: Seen, mine: bool) -> str:
    if card.position & FACE_DOWN and not mine:
        return "a face-down card"
    value = f" {card.attack}/{card.defense}" if card.types & 1 else ""
    return f"{library.name(card.code)}{value}"
