"""The other side of /v0: a question of the real core as a request, and an answer as an option of that question.

It sends what the public client sends, with two differences: cards of the own deck have their sequence, so that a card
that is searched for can be found among them, and both ends of a phase are offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, get_args

from ludus.bridges.ygopro import features, sums
from ludus.bridges.ygopro.choices import FINISH, Choice
from ludus.bridges.ygopro.core import BANISHED, DECK, EXTRA, GRAVE, HAND, LOCATIONS, MZONE, SZONE, CardData
from ludus.bridges.ygopro.messages import OVERLAY, Question
from ludus.bridges.ygopro.queries import FULL, VALUES, Seen
from ludus.bridges.ygopro.real_duel import CardsByLocation
from ludus.server.reference import requests as r
from ludus.types import JsonObject

LOCATION_NAMES = {DECK: "deck", HAND: "hand", MZONE: "mzone", SZONE: "szone", GRAVE: "grave", BANISHED: "removed",
                  EXTRA: "extra"}  # fmt: skip
QUERIED = {HAND: VALUES, MZONE: FULL, SZONE: FULL}
POSITION_NAMES = {bits: get_args(r.Position)[number] for bits, number in features.POSITION_IDS.items()}
ATTRIBUTE_NAMES, RACE_NAMES, PHASE_NAMES = (get_args(names) for names in (r.Attribute, r.Race, r.Phase))
TYPE_NAMES = dict(zip(features.TYPES, get_args(r.Type), strict=True))
IDLE_NAMES = {"summon": "summon", "spsummon": "sp_summon", "repos": "reposition", "mset": "mset", "sset": "set",
              "act": "activate", "bp": "to_bp", "ep": "to_ep"}  # fmt: skip
BATTLE_NAMES = {"act": "activate", "attack": "attack", "m2": "to_m2", "ep": "to_ep"}
DAMAGE_STEP, NO_OVERLAY, LAST_TEXT = "damage", -1, 15
UNKNOWN = {"attribute": "none", "race": "none", "level": 0, "counter": 0, "negated": False, "attack": 0, "defense": 0,
           "types": []}  # fmt: skip


class Cards(Protocol):
    """Card data."""

    def card(self, code: int) -> CardData | None: ...


class Situation(NamedTuple):
    """A position of the real core at a question."""

    player: int
    """the player that is asked; player 0 moved first"""
    points: tuple[int, int]
    turn: int
    turn_player: int
    phase: int
    damage_step: bool
    cards: CardsByLocation
    shown: Sequence[tuple[int, int, int, int]]
    """cards that were shown until the next question: viewer, controller, location, sequence"""


def input_of(situation: Situation, choice: Choice, printed: Cards) -> JsonObject | None:
    """The `input` of a request for the current decision; None if the API has no message for it."""
    message = message_of(choice, situation.player)
    if message is None:
        return None
    cards = [card for side in (situation.player, 1 - situation.player) for card in _side(situation, side, printed)]
    return {"global": _global(situation), "cards": cards, "action_msg": {"data": message}}


def _global(situation: Situation) -> JsonObject:
    player, phase = situation.player, PHASE_NAMES[max(features.lowest_bit_number(situation.phase), 1) - 1]
    return {
        "my_lp": max(situation.points[player], 0), "op_lp": max(situation.points[1 - player], 0),
        "turn": situation.turn, "phase": DAMAGE_STEP if situation.damage_step else phase, "is_first": player == 0,
        "is_my_turn": player == situation.turn_player,
    }  # fmt: skip


def _side(situation: Situation, owner: int, printed: Cards) -> Iterator[JsonObject]:
    """The cards of one player, with the overlays below their monsters."""
    for location in LOCATIONS:
        for sequence, card in enumerate(situation.cards[owner, location]):
            if card is None:
                continue
            place = _place(situation.player, owner, location, sequence)
            known = _is_known(situation, owner, location, sequence, card)
            values = _values(card, location, printed) if known else UNKNOWN
            position = POSITION_NAMES.get(card.position, "none")
            yield {"code": card.code if known else 0, **place, "position": position, **values}
            for below, code in enumerate(card.overlays):
                under = place | {"overlay_sequence": below}
                yield {"code": code, **under, "position": "faceup", **_printed(printed.card(code))}


def _place(viewer: int, owner: int, location: int, sequence: int, below: int = NO_OVERLAY) -> JsonObject:
    whose = "me" if owner == viewer else "opponent"
    return {"controller": whose, "location": LOCATION_NAMES[location & ~OVERLAY], "sequence": sequence,
            "overlay_sequence": below}  # fmt: skip


def _is_known(situation: Situation, owner: int, location: int, sequence: int, card: Seen) -> bool:
    """Whether the player may know this card."""
    face_up = location not in (DECK, HAND) and not card.position & features.FACE_DOWN
    was_shown = (situation.player, owner, location, sequence) in situation.shown
    return owner == situation.player or face_up or card.public or was_shown


def _values(card: Seen, location: int, printed: Cards) -> JsonObject:
    """The current values where the core was asked for them, else the printed ones."""
    values = _printed(printed.card(card.code))
    if location in QUERIED:
        values = _described(card.types, card.level, card.attribute, card.race, card.attack, card.defense)
    return values | {"counter": sum(count for _, count in card.counters), "negated": card.negated}


def _printed(card: CardData | None) -> JsonObject:
    if card is None:
        return dict(UNKNOWN)
    values = _described(card.types, card.level, card.attribute, card.race, card.attack, card.defense)
    return values | {"counter": 0, "negated": False}


def _described(types: int, level: int, attribute: int, race: int, attack: int, defense: int) -> JsonObject:
    return {
        "attribute": ATTRIBUTE_NAMES[features.lowest_bit_number(attribute)],
        "race": RACE_NAMES[min(features.lowest_bit_number(race), features.MAX_RACE)],
        "level": level, "attack": attack, "defense": defense,
        "types": [name for bit, name in TYPE_NAMES.items() if types & bit],
    }  # fmt: skip


def description_of(text: Sequence[int]) -> int:
    """A text as one number: of a card, its code and four bits; else a system text."""
    code, number = text
    return code << 4 | min(number, LAST_TEXT) if code else number


def message_of(choice: Choice, player: int) -> JsonObject | None:
    """The message of a decision; None if the API has none for it."""
    write = WRITERS.get(choice.question.message)
    return write(choice.question, choice.picked, player) if write else None


def _card_info(option: Sequence[Any], player: int) -> JsonObject:
    _, owner, location, sequence, code = option[:5]
    place = _place(player, owner, location, sequence)
    del place["overlay_sequence"]
    return {"code": code, **place}


def _location(card: Sequence[int], player: int) -> JsonObject:
    """The place of `[controller, location, sequence, code]`, with the index of an overlay as fifth number."""
    below = card[4] if card[1] & OVERLAY else NO_OVERLAY
    return _place(player, card[0], card[1], card[2], below)


def _commands(kind: str, names: dict[str, str]) -> Callable[[Question, Sequence[int], int], JsonObject]:
    def write(question: Question, picked: Sequence[int], player: int) -> JsonObject:
        commands = []
        for response, option in enumerate(question.options):
            command: JsonObject = {"cmd_type": names[option[0]]}
            if len(option) > 1:
                text = description_of(option[5]) if option[0] == "act" else 0
                data = {"card_info": _card_info(option, player), "effect_description": text, "response": response}
                direct = {"direct_attackable": option[0] == "attack" and bool(option[5])}
                command["data"] = data | (direct if kind == "battle_cmds" else {})
            commands.append(command)
        return {"msg_type": f"select_{question.message}", kind: commands}

    return write


def _chain(question: Question, picked: Sequence[int], player: int) -> JsonObject:
    chains = [
        {
            "code": option[4], "location": _location([*option[1:5], *option[6:]], player),
            "effect_description": description_of(option[5]), "response": response,
        }
        for response, option in enumerate(question.options) if option[0] == "chain"
    ]  # fmt: skip
    return {"msg_type": "select_chain", "forced": bool(question.facts["forced"]), "chains": chains}


def _picks(question: Question, picked: Sequence[int], player: int) -> JsonObject | None:
    facts, tribute = question.facts, question.message == "tribute"
    if facts["min"] == 0 or (tribute and facts["min"] != facts["max"]):
        return None
    if tribute and any(card[4] != 1 for card in question.options):
        return None
    cards = [{"location": _location(card[:4] if tribute else card, player), "response": response}
             | ({"level": card[4]} if tribute else {}) for response, card in enumerate(question.options)]  # fmt: skip
    return {
        "msg_type": f"select_{question.message}", "cancelable": bool(facts["cancel"]), "min": facts["min"],
        "max": facts["max"], "cards": cards, "selected": list(picked),
    }  # fmt: skip


def _sum(question: Question, picked: Sequence[int], player: int) -> JsonObject | None:
    facts = question.facts
    if facts["mode"] != sums.EXACTLY or len(facts["must"]) > 2 or sums.may_finish(question, picked):
        return None

    def summand(response: int, card: Sequence[int]) -> JsonObject:
        levels = {"level1": card[4], "level2": card[5]}
        return {"location": _location(card[:4], player), **levels, "response": response}

    return {
        "msg_type": "select_sum", "overflow": False, "level_sum": facts["sum"], "min": facts["min"],
        "max": facts["max"], "cards": [summand(*pair) for pair in enumerate(question.options)],
        "must_cards": [summand(*pair) for pair in enumerate(facts["must"])], "selected": list(picked),
    }  # fmt: skip


def _unselect(question: Question, picked: Sequence[int], player: int) -> JsonObject:
    def cards(kind: str) -> list[JsonObject]:
        listed = [(place, option) for place, option in enumerate(question.options) if option[0] == kind]
        return [{"location": _location(option[1:], player), "response": place} for place, option in listed]

    facts = question.facts
    return {
        "msg_type": "select_unselect_card", "finishable": bool(facts["finish"]), "cancelable": bool(facts["cancel"]),
        "min": facts["min"], "max": facts["max"], "selected_cards": cards("unsel"), "selectable_cards": cards("sel"),
    }  # fmt: skip


def _position(question: Question, picked: Sequence[int], player: int) -> JsonObject:
    positions = [POSITION_NAMES[bit] for bit in question.options]
    return {"msg_type": "select_position", "code": question.facts["code"], "positions": positions}


def _effectyn(question: Question, picked: Sequence[int], player: int) -> JsonObject:
    card = question.facts["card"]
    return {
        "msg_type": "select_effectyn", "code": card[3], "location": _location(card, player),
        "effect_description": description_of(question.facts["desc"]),
    }  # fmt: skip


def _yesno(question: Question, picked: Sequence[int], player: int) -> JsonObject | None:
    description = description_of(question.facts["desc"])
    return {"msg_type": "select_yesno", "effect_description": description} if description else None


def _option(question: Question, picked: Sequence[int], player: int) -> JsonObject:
    texts = [{"code": description_of(text), "response": place} for place, text in enumerate(question.options)]
    return {"msg_type": "select_option", "options": texts}


def _places(question: Question, picked: Sequence[int], player: int) -> JsonObject | None:
    if question.facts["count"] != 1:
        return None
    places = [_place(player, *zone) for zone in question.options]
    for place in places:
        del place["overlay_sequence"]
    return {"msg_type": f"select_{question.message}", "count": 1, "places": places}


def _attribute(question: Question, picked: Sequence[int], player: int) -> JsonObject | None:
    if question.facts["count"] != 1:
        return None
    named = [{"attribute": ATTRIBUTE_NAMES[bits.bit_length()], "response": bits} for bits in question.options]
    return {"msg_type": "announce_attrib", "count": 1, "attributes": named}


def _number(question: Question, picked: Sequence[int], player: int) -> JsonObject | None:
    if not all(1 <= number <= features.MAX_NUMBER for number in question.options):
        return None
    numbers = [{"number": number, "response": place} for place, number in enumerate(question.options)]
    return {"msg_type": "announce_number", "count": 1, "numbers": numbers}


WRITERS: dict[str, Callable[[Question, Sequence[int], int], JsonObject | None]] = {
    "idlecmd": _commands("idle_cmds", IDLE_NAMES), "battlecmd": _commands("battle_cmds", BATTLE_NAMES),
    "chain": _chain, "card": _picks, "tribute": _picks, "sum": _sum, "unselect_card": _unselect,
    "position": _position, "effectyn": _effectyn, "yesno": _yesno, "option": _option, "place": _places,
    "disfield": _places, "announce_attrib": _attribute, "announce_number": _number,
}  # fmt: skip


def option_of(choice: Choice, entry: int) -> int:
    """The option of the question that an entry of the answer means, or FINISH."""
    question = choice.question
    if question.message in ("effectyn", "yesno"):
        return 1 - entry
    if question.message in ("card", "tribute"):
        return entry if entry < len(question.options) else FINISH
    if question.message == "unselect_card":
        return choice.open[entry]
    return entry
