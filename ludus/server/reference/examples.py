"""Requests of all message types, written by hand, for tests and benchmarks."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence

from ludus.types import JsonObject

BLUE_EYES, DARK_MAGICIAN, RAIGEKI, MIRROR_FORCE = 89631139, 46986414, 12580477, 44095762
FACE_DOWN_SPELL = {"location": "szone", "sequence": 1, "controller": "opponent"}


def card(
    code: int,
    location: str,
    sequence: int,
    controller: str = "me",
    position: str = "faceup_attack",
    overlay: int = -1,
    **more: object,
) -> JsonObject:
    """A card; `more` are other fields than those of a monster."""
    values = {"attribute": "dark", "race": "spellcaster", "level": 7, "counter": 0, "negated": False, "attack": 2500,
              "defense": 2100, "types": ["monster", "normal"]}  # fmt: skip
    return {"code": code, "location": location, "sequence": sequence, "controller": controller, "position": position,
            "overlay_sequence": overlay, **values, **more}  # fmt: skip


CARDS = [
    card(BLUE_EYES, "deck", 0, position="facedown"),
    card(DARK_MAGICIAN, "hand", 0, position="facedown"),
    card(RAIGEKI, "hand", 1, position="facedown", attribute="none", race="none", level=0, types=["spell"]),
    card(BLUE_EYES, "mzone", 2, attack=3000, defense=2500, level=8),
    card(DARK_MAGICIAN, "mzone", 3),
    card(MIRROR_FORCE, "szone", 1, position="facedown", types=["trap"]),
    card(0, "hand", 0, "opponent", "facedown"),
    card(DARK_MAGICIAN, "mzone", 0, "opponent", "faceup_defense"),
    card(0, "mzone", 1, "opponent", "facedown_defense"),
    card(BLUE_EYES, "grave", 0, "opponent", "faceup"),
]
GLOBAL: JsonObject = {"my_lp": 8000, "op_lp": 300, "turn": 3, "phase": "main1", "is_first": True, "is_my_turn": True}


def at(location: str, sequence: int, controller: str = "me", overlay: int = -1) -> JsonObject:
    """The place of a card."""
    return {"controller": controller, "location": location, "sequence": sequence, "overlay_sequence": overlay}


def info(code: int, location: str, sequence: int, controller: str = "me") -> JsonObject:
    """A card of a command."""
    return {"code": code, "controller": controller, "location": location, "sequence": sequence}


def command(
    kind: str, code: int, location: str, sequence: int, response: int, text: int = 0, **more: object
) -> JsonObject:
    """A command of a phase."""
    data = {"card_info": info(code, location, sequence), "effect_description": text, "response": response}
    return {"cmd_type": kind, "data": data | more}


FIELD = [at("mzone", 2), at("mzone", 3), at("mzone", 0, "opponent")]
PICKS = [{"location": place, "response": 10 + number} for number, place in enumerate(FIELD)]
ZONES = [{"controller": "me", "location": "mzone", "sequence": 0}, {"controller": "opponent", "location": "szone",
         "sequence": 4}]  # fmt: skip


def picks(kind: str, fewest: int, most: int, selected: Iterable[int] = (), **more: object) -> JsonObject:
    """A selection among PICKS."""
    cards = [one | more for one in PICKS]
    return {"msg_type": kind, "cancelable": False, "min": fewest, "max": most, "cards": cards,
            "selected": list(selected)}  # fmt: skip


def sums(
    levels: Sequence[tuple[int, int]],
    goal: int,
    must: Sequence[tuple[int, int]] = (),
    selected: Iterable[int] = (),
    fewest: int = 1,
    most: int = 5,
    overflow: bool = False,
) -> JsonObject:
    """A selection of cards by their levels."""

    def cards(given: Sequence[tuple[int, int]], first: int) -> list[JsonObject]:
        return [
            {"location": at("mzone", n), "level1": low, "level2": high, "response": first + n}
            for n, (low, high) in enumerate(given)
        ]

    return {
        "msg_type": "select_sum", "overflow": overflow, "level_sum": goal, "min": fewest, "max": most,
        "cards": cards(levels, 20), "must_cards": cards(must, 90), "selected": list(selected),
    }  # fmt: skip


MESSAGES: dict[str, JsonObject] = {
    "select_idlecmd": {"msg_type": "select_idlecmd", "idle_cmds": [
        command("summon", DARK_MAGICIAN, "hand", 0, 0), command("sp_summon", DARK_MAGICIAN, "hand", 0, 1),
        command("reposition", BLUE_EYES, "mzone", 2, 2), command("mset", DARK_MAGICIAN, "hand", 0, 3),
        command("set", RAIGEKI, "hand", 1, 4), command("activate", RAIGEKI, "hand", 1, 5, RAIGEKI << 4 | 2),
        {"cmd_type": "to_bp"}, {"cmd_type": "to_ep"},
    ]},
    "select_battlecmd": {"msg_type": "select_battlecmd", "battle_cmds": [
        command("attack", BLUE_EYES, "mzone", 2, 65537, direct_attackable=True),
        command("attack", DARK_MAGICIAN, "mzone", 3, 65538, direct_attackable=False),
        command("activate", MIRROR_FORCE, "szone", 1, 0, direct_attackable=False),
        {"cmd_type": "to_m2"}, {"cmd_type": "to_ep"},
    ]},
    "select_chain": {"msg_type": "select_chain", "forced": False, "chains": [
        {"code": MIRROR_FORCE, "location": at("szone", 1), "effect_description": 0, "response": 0},
        {"code": RAIGEKI, "location": at("hand", 1), "effect_description": 1160, "response": 1},
    ]},
    "select_card": picks("select_card", 1, 2),
    "select_tribute": picks("select_tribute", 2, 2, level=1),
    "select_sum": sums([(4, 0), (3, 0), (1, 0)], 4),
    "select_unselect_card": {
        "msg_type": "select_unselect_card", "finishable": True, "cancelable": False, "min": 1, "max": 2,
        "selected_cards": PICKS[:1], "selectable_cards": PICKS[1:],
    },
    "select_position": {"msg_type": "select_position", "code": DARK_MAGICIAN, "positions": [
        "faceup_attack", "facedown_attack", "faceup_defense", "facedown_defense",
    ]},
    "select_effectyn": {"msg_type": "select_effectyn", "code": MIRROR_FORCE, "location": at("szone", 1),
                        "effect_description": 221},
    "select_yesno": {"msg_type": "select_yesno", "effect_description": 30},
    "select_option": {"msg_type": "select_option", "options": [
        {"code": RAIGEKI << 4, "response": 7}, {"code": 1050, "response": 8},
    ]},
    "select_place": {"msg_type": "select_place", "count": 1, "places": ZONES},
    "select_disfield": {"msg_type": "select_disfield", "count": 1, "places": ZONES},
    "announce_attrib": {"msg_type": "announce_attrib", "count": 1, "attributes": [
        {"attribute": "earth", "response": 1}, {"attribute": "divine", "response": 64},
    ]},
    "announce_number": {"msg_type": "announce_number", "count": 1, "numbers": [
        {"number": 1, "response": 0}, {"number": 12, "response": 1},
    ]},
}  # fmt: skip


def request(
    message: str | JsonObject,
    index: int = 0,
    previous: int = 0,
    cards: Sequence[JsonObject] | None = None,
    **situation: object,
) -> JsonObject:
    """A request; `message` is a message or the name of an example."""
    data = copy.deepcopy(MESSAGES[message] if isinstance(message, str) else message)
    about = {"global": GLOBAL | situation, "cards": CARDS if cards is None else cards, "action_msg": {"data": data}}
    return {"index": index, "input": about, "prev_action_idx": previous}


def best(answer: Mapping[str, JsonObject]) -> int:
    """The entry that the public client plays."""
    predicts = answer["predict_results"]["action_preds"]
    return max(range(len(predicts)), key=lambda entry: predicts[entry]["prob"])
