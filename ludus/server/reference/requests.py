"""Requests and answers of /v0, read and written by msgspec; invalid requests become the `detail` list of FastAPI."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from ludus.types import JsonObject, LudusError

Int: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Controller = Literal["me", "opponent"]
Location = Literal["deck", "hand", "mzone", "szone", "grave", "removed", "extra"]
Position = Literal[
    "none", "faceup_attack", "facedown_attack", "attack", "faceup_defense", "faceup", "facedown_defense", "facedown",
    "defense",
]  # fmt: skip
Attribute = Literal["none", "earth", "water", "fire", "wind", "light", "dark", "divine"]
Race = Literal[
    "none", "warrior", "spellcaster", "fairy", "fiend", "zombie", "machine", "aqua", "pyro", "rock", "windbeast",
    "plant", "insect", "thunder", "dragon", "beast", "beast_warrior", "dinosaur", "fish", "sea_serpent", "reptile",
    "psycho", "devine", "creator_god", "wyrm", "cyberse", "illusion",
]  # fmt: skip
Type = Literal[
    "monster", "spell", "trap", "normal", "effect", "fusion", "ritual", "trap_monster", "spirit", "union", "dual",
    "tuner", "synchro", "token", "quick_play", "continuous", "equip", "field", "counter", "flip", "toon", "xyz",
    "pendulum", "special", "link",
]  # fmt: skip
Phase = Literal[
    "draw", "standby", "main1", "battle_start", "battle_step", "damage", "damage_calculation", "battle", "main2", "end"
]  # fmt: skip
IdleCommand = Literal["summon", "sp_summon", "reposition", "mset", "set", "activate", "to_bp", "to_ep"]
BattleCommand = Literal["attack", "activate", "to_m2", "to_ep"]


class Card(Struct, frozen=True):
    """A card as the player sees it; code 0 if it is unknown."""

    code: Int
    location: Location
    sequence: Int
    controller: Controller
    position: Position
    overlay_sequence: Int
    attribute: Attribute
    race: Race
    level: Int
    counter: Int
    negated: bool
    attack: Int
    defense: Int
    types: list[Type]


class Global(Struct, frozen=True):
    """Life points, turn and phase."""

    my_lp: Int
    op_lp: Int
    turn: Int
    phase: Phase
    is_first: bool
    is_my_turn: bool


class CardLocation(Struct, frozen=True):
    """Where a card is; overlay_sequence is -1 for a card that is not an overlay."""

    controller: Controller
    location: Location
    sequence: Int
    overlay_sequence: Int


class CardInfo(Struct, frozen=True):
    """A card on the table or in a pile."""

    code: Int
    controller: Controller
    location: Location
    sequence: Int


class Place(Struct, frozen=True):
    """A zone of the field."""

    controller: Controller
    location: Literal["mzone", "szone"]
    sequence: Int


class IdleData(Struct, frozen=True):
    """The card of a command."""

    card_info: CardInfo
    effect_description: Int
    response: Int


class IdleCmd(Struct, frozen=True):
    """A command of the main phase."""

    cmd_type: IdleCommand
    data: IdleData | None = None


class BattleData(Struct, frozen=True):
    """The card of a command."""

    card_info: CardInfo
    effect_description: Int
    direct_attackable: bool
    response: Int


class BattleCmd(Struct, frozen=True):
    """A command of the battle phase."""

    cmd_type: BattleCommand
    data: BattleData | None = None


class Chain(Struct, frozen=True):
    """An effect that can be chained."""

    code: Int
    location: CardLocation
    effect_description: Int
    response: Int


class Selectable(Struct, frozen=True):
    """A card to select."""

    location: CardLocation
    response: Int


class Tribute(Struct, frozen=True):
    """A card to tribute, and for how many tributes it counts."""

    location: CardLocation
    level: Int
    response: Int


class Summand(Struct, frozen=True):
    """A card whose level counts for a sum; level2 is the other possible level, or 0."""

    location: CardLocation
    level1: Int
    level2: Int
    response: Int


class DescribedOption(Struct, frozen=True):
    """A text to choose."""

    code: Int
    response: Int


class AttributeOption(Struct, frozen=True):
    """An attribute to announce."""

    attribute: Attribute
    response: Int


class NumberOption(Struct, frozen=True):
    """A number to announce."""

    number: Int
    response: Int


class SelectIdleCmd(Struct, frozen=True, tag_field="msg_type", tag="select_idlecmd"):
    """What to do in the main phase."""

    idle_cmds: list[IdleCmd]


class SelectBattleCmd(Struct, frozen=True, tag_field="msg_type", tag="select_battlecmd"):
    """What to do in the battle phase."""

    battle_cmds: list[BattleCmd]


class SelectChain(Struct, frozen=True, tag_field="msg_type", tag="select_chain"):
    """Which effect to chain."""

    forced: bool
    chains: list[Chain]


class SelectCard(Struct, frozen=True, tag_field="msg_type", tag="select_card"):
    """Select cards, one per request; `selected` are the indices of those selected before."""

    cancelable: bool
    min: Int
    max: Int
    cards: list[Selectable]
    selected: list[Int]


class SelectTribute(Struct, frozen=True, tag_field="msg_type", tag="select_tribute"):
    """Select tributes, one per request."""

    cancelable: bool
    min: Int
    max: Int
    cards: list[Tribute]
    selected: list[Int]


class SelectSum(Struct, frozen=True, tag_field="msg_type", tag="select_sum"):
    """Select cards whose levels add up to `level_sum`, one per request."""

    overflow: bool
    level_sum: Int
    min: Int
    max: Int
    cards: list[Summand]
    must_cards: list[Summand]
    selected: list[Int]


class SelectUnselectCard(Struct, frozen=True, tag_field="msg_type", tag="select_unselect_card"):
    """Select one more card, or finish."""

    finishable: bool
    cancelable: bool
    min: Int
    max: Int
    selected_cards: list[Selectable]
    selectable_cards: list[Selectable]


class SelectPosition(Struct, frozen=True, tag_field="msg_type", tag="select_position"):
    """In which position to summon a card."""

    code: Int
    positions: list[Position]


class SelectEffectYn(Struct, frozen=True, tag_field="msg_type", tag="select_effectyn"):
    """Whether to use an effect of a card."""

    code: Int
    location: CardLocation
    effect_description: Int


class SelectYesNo(Struct, frozen=True, tag_field="msg_type", tag="select_yesno"):
    """Yes or no."""

    effect_description: Int


class SelectOption(Struct, frozen=True, tag_field="msg_type", tag="select_option"):
    """Which of these texts."""

    options: list[DescribedOption]


class SelectPlace(Struct, frozen=True, tag_field="msg_type", tag="select_place"):
    """Which zone."""

    count: Int
    places: list[Place]


class SelectDisfield(Struct, frozen=True, tag_field="msg_type", tag="select_disfield"):
    """Which zone to disable."""

    count: Int
    places: list[Place]


class AnnounceAttrib(Struct, frozen=True, tag_field="msg_type", tag="announce_attrib"):
    """Which attribute."""

    count: Int
    attributes: list[AttributeOption]


class AnnounceNumber(Struct, frozen=True, tag_field="msg_type", tag="announce_number"):
    """Which number."""

    count: Int
    numbers: list[NumberOption]


Message = (
    SelectIdleCmd | SelectChain | SelectCard | SelectTribute | SelectPosition | SelectEffectYn | SelectYesNo
    | SelectBattleCmd | SelectUnselectCard | SelectOption | SelectPlace | SelectSum | SelectDisfield | AnnounceAttrib
    | AnnounceNumber
)  # fmt: skip


class ActionMsg(Struct, frozen=True):
    """The question."""

    data: Message


class Input(Struct, frozen=True, rename={"global_": "global"}):
    """What the player sees, and the question."""

    global_: Global
    cards: Annotated[list[Card], Meta(min_length=2, max_length=160)]
    action_msg: ActionMsg


class PredictRequest(Struct, frozen=True):
    """A request for a decision."""

    index: Int
    input: Input
    prev_action_idx: Int


class ActionPredict(Struct, frozen=True):
    """One entry of the answer."""

    prob: float
    response: int
    can_finish: bool = False


class MsgResponse(Struct, frozen=True):
    """The probabilities of the entries, and the chance to win."""

    action_preds: list[ActionPredict]
    win_rate: float


class PredictResponse(Struct, frozen=True):
    """The answer; `index` is that of the next request."""

    predict_results: MsgResponse
    index: int


class CreateResponse(Struct, frozen=True, rename={"duel_id": "duelId"}):
    """A new duel."""

    duel_id: str
    index: int


class ErrorResponse(Struct, frozen=True):
    """An error; its HTTP status is 200."""

    error: str


class InvalidError(LudusError):
    """A body that is not a valid request; `detail` is what FastAPI answers with status 422."""

    def __init__(self, detail: list[JsonObject]) -> None:
        super().__init__(str(detail[0]["msg"]))
        self.detail = detail


DECODER = msgspec.json.Decoder(PredictRequest, strict=False)
KINDS = {
    "int": ("int_type", "Input should be a valid integer"), "bool": ("bool_type", "Input should be a valid boolean"),
    "str": ("string_type", "Input should be a valid string"), "array": ("list_type", "Input should be a valid list"),
    "object": ("model_attributes_type", "Input should be a valid dictionary or object to extract fields from"),
}  # fmt: skip
UNION = ["input", "action_msg", "data"]


def read(body: bytes) -> PredictRequest:
    """The request in a body; raises InvalidError."""
    if not body:
        raise InvalidError([{"type": "missing", "loc": ["body"], "msg": "Field required", "input": None}])
    try:
        return DECODER.decode(body)
    except msgspec.ValidationError as error:
        raise InvalidError([_detail(str(error), body)]) from None
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        context = {"error": str(error)}
        raise InvalidError(
            [{"type": "json_invalid", "loc": ["body", 0], "msg": "JSON decode error", "input": {}, "ctx": context}]
        ) from None


def _detail(text: str, body: bytes) -> JsonObject:
    """One validation error in the form of FastAPI."""
    said, _, path = text.partition(" - at `$")
    where: list[str | int] = [int(index) if index else name for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path)]
    given = _at(body, where)
    if missing := re.match(r"Object missing required field `(\w+)`", said):
        kind, message, where = "missing", "Field required", [*where, missing[1]]
    else:
        kind, message = _kind(said)
    return {"type": kind, "loc": ["body", *_tagged(where, body)], "msg": message, "input": given}


def _kind(said: str) -> tuple[str, str]:
    """The type and the text of an error, from the text of msgspec."""
    if said.startswith("Invalid enum value"):
        return "enum", said
    if said.startswith("Invalid value"):
        return "union_tag_invalid", said
    if length := re.match(r"Expected `array` of length (>=|<=) (\d+)", said):
        few = length[1] == ">="
        words = f"List should have at {'least' if few else 'most'} {length[2]} items after validation"
        return "too_short" if few else "too_long", words
    expected = re.match(r"Expected `(\w+)", said)
    return KINDS.get(expected[1] if expected else "", ("value_error", said))


def _at(body: bytes, where: list[str | int]) -> Any:
    """The value at a path of the body; None if the rest of the body is not JSON."""
    try:
        value = msgspec.json.decode(body)
        for part in where:
            value = value[part]
    except (msgspec.DecodeError, RecursionError, LookupError, TypeError, ValueError):  # text may not be UTF-8
        return None
    return value


def _tagged(where: list[str | int], body: bytes) -> list[str | int]:
    """A path with the type of the message after `data`, as pydantic writes paths into unions."""
    if where[:3] != UNION or len(where) == 3 or where[3] == "msg_type":
        return where
    return [*UNION, _at(body, [*UNION, "msg_type"]), *where[3:]]
