"""The entries of an answer to each of the 15 message types, with the row of features of those that are legal.

An answer always has all entries that a client can point at by index: cards that cannot be selected now, and *finish*
where it is not legal yet, are entries without a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.features import ACTIVATE, ATTACK, CANCEL, DIRECT_ATTACK, MAX_NUMBER, MAX_OWN_TEXTS, PLAIN_TEXT
from ludus.server.reference import requests as r
from ludus.server.reference.encode import ATTRIBUTES, NO_OVERLAY, POSITIONS, Board, Spot, number_of
from ludus.server.reference.encodings import MAX_CODE, Encoding
from ludus.server.reference.problems import RefusedError
from ludus.server.reference.sums import Sum, may_finish, may_pick

FINISH_RESPONSE, YES, NO = -1, 1, 0
FIRST_CARD_TEXT = 10_000
"""descriptions below are system texts; others are a card code, followed by four bits with the number of its text"""
TEXT_BITS = 4
IDLE_ACTS = {
    "summon": features.SUMMON, "sp_summon": features.SPECIAL_SUMMON, "reposition": features.REPOSITION,
    "mset": features.SUMMON_DOWN, "set": features.SET, "activate": ACTIVATE,
}  # fmt: skip
IDLE_PHASES = {"to_bp": (1, 6), "to_ep": (3, 7)}
BATTLE_PHASES = {"to_m2": (2, 2), "to_ep": (3, 3)}
"""the phase's number in the row, and the response"""
POSITION_BITS = {"faceup_attack": 1, "facedown_attack": 2, "faceup_defense": 4, "facedown_defense": 8}
ZONES = {"mzone": (0, 7), "szone": (7, 8)}
OPPONENT_ZONES, MOST_MUST_CARDS = 15, 2
COLUMNS = features.ACTION_COLUMNS


class Entry(NamedTuple):
    """One entry of an answer."""

    response: int
    row: bytes
    """12 columns; empty if it cannot be chosen"""
    can_finish: bool = False


class Table(NamedTuple):
    """What options refer to."""

    board: Board
    encoding: Encoding

    def row(self, message: str, act: int = 0, spot: Spot | None = None, code: int = 0, **columns: int) -> bytes:
        """A row about the card at a spot; `code` is its number if it is not among the cards."""
        row = bytearray(COLUMNS)
        place, number = self.board.spots.get(spot, (0, -1)) if spot else (0, -1)
        number = number if number >= 0 else number_of(code, self.encoding)
        row[features.SPEC], row[features.ID_HIGH], row[features.ID_LOW] = place, number >> 8, number & 255
        row[features.MESSAGE], row[features.ACT] = features.MESSAGE_IDS[message], act
        for name, value in columns.items():
            row[COLUMN[name]] = value
        return bytes(row)

    def effect(self, message: str, spot: Spot | None, code: int, description: int, act: int = ACTIVATE) -> bytes:
        """A row about an effect, which is identified by its text."""
        owner, effect = self.text(description)
        row = bytearray(self.row(message, act, spot, self.fallback(code) if spot else owner, effect=effect))
        if self.encoding.names_by_text and (named := owner or (code if description == 0 else 0)):
            number = number_of(named, self.encoding)
            row[features.ID_HIGH], row[features.ID_LOW] = number >> 8, number & 255
        return bytes(row)

    def fallback(self, code: int) -> int:
        """The code that names a card which is not among the cards."""
        return code if self.encoding.names_missing else 0

    def text(self, description: int) -> tuple[int, int]:
        """The card that a text belongs to (0 for none), and the text's number in rows; raises RefusedError."""
        if description == 0:
            return 0, PLAIN_TEXT
        if description < FIRST_CARD_TEXT:
            if description not in self.encoding.texts:
                raise RefusedError(str(description))
            return 0, self.encoding.texts[description]
        number = description & (1 << TEXT_BITS) - 1
        if number >= MAX_OWN_TEXTS and not self.encoding.clips_texts:
            raise RefusedError(f"Invalid effect index: {number}")
        return description >> TEXT_BITS & MAX_CODE, PLAIN_TEXT + 1 + min(number, MAX_OWN_TEXTS - 1)


COLUMN = {
    "finish": features.FINISH, "effect": features.EFFECT, "phase": features.PHASE, "position": features.POSITION,
    "number": features.NUMBER, "place": features.PLACE, "attribute": features.ATTRIBUTE,
}  # fmt: skip


def entries_of(message: r.Message, board: Board, encoding: Encoding) -> list[Entry]:
    """The entries of the answer to a message; raises RefusedError if it cannot be answered."""
    entries = READERS[type(message)](message, Table(board, encoding))
    if not any(entry.row for entry in entries):
        name = str(message.__struct_config__.tag)
        raise RefusedError(f"no legal actions in {name}")
    return entries


def _spot(card: r.CardInfo | r.CardLocation) -> Spot:
    overlay = card.overlay_sequence if isinstance(card, r.CardLocation) else NO_OVERLAY
    return card.controller, card.location, card.sequence, max(overlay, NO_OVERLAY)


def _data(command: r.IdleCmd | r.BattleCmd) -> Any:
    if command.data is None:
        raise RefusedError(f"the command {command.cmd_type} needs data")
    return command.data


def _idlecmd(message: r.SelectIdleCmd, table: Table) -> list[Entry]:
    entries = []
    for command in message.idle_cmds:
        if command.cmd_type in IDLE_PHASES:
            phase, response = IDLE_PHASES[command.cmd_type]
            entries.append(Entry(response, table.row("idlecmd", phase=phase)))
            continue
        data, act = _data(command), IDLE_ACTS[command.cmd_type]
        entries.append(Entry(data.response, _command(table, "idlecmd", data, act)))
    return entries


def _battlecmd(message: r.SelectBattleCmd, table: Table) -> list[Entry]:
    entries = []
    for command in message.battle_cmds:
        if command.cmd_type in BATTLE_PHASES:
            phase, response = BATTLE_PHASES[command.cmd_type]
            entries.append(Entry(response, table.row("battlecmd", phase=phase)))
            continue
        data, act = _data(command), ACTIVATE
        if command.cmd_type == "attack":
            act = DIRECT_ATTACK if data.direct_attackable else ATTACK
        entries.append(Entry(data.response, _command(table, "battlecmd", data, act)))
    return entries


def _command(table: Table, message: str, data: r.IdleData | r.BattleData, act: int) -> bytes:
    spot, code = _spot(data.card_info), data.card_info.code
    if act == ACTIVATE:
        return table.effect(message, spot, code, data.effect_description)
    return table.row(message, act, spot, table.fallback(code))


def _chain(message: r.SelectChain, table: Table) -> list[Entry]:
    entries = [
        Entry(chain.response, table.effect("chain", _spot(chain.location), chain.code, chain.effect_description))
        for chain in message.chains
    ]
    return entries if message.forced else [*entries, Entry(FINISH_RESPONSE, table.row("chain", CANCEL))]


def _card(message: r.SelectCard, table: Table) -> list[Entry]:
    if message.min <= 0:
        raise RefusedError("min=0 is not supported.")
    return _picks("card", message, table)


def _tribute(message: r.SelectTribute, table: Table) -> list[Entry]:
    if message.min <= 0:
        raise RefusedError("min=0 is not supported for select_tribute.")
    if message.min != message.max:
        raise RefusedError("min != max is not supported for select_tribute.")
    if any(card.level != 1 for card in message.cards):
        raise RefusedError("Only level=1 cards are supported for select_tribute.")
    return _picks("tribute", message, table)


def _picks(name: str, message: r.SelectCard | r.SelectTribute, table: Table) -> list[Entry]:
    """All cards in their order, and finish."""
    selected = _selected(message.selected, len(message.cards))
    full = len(selected) >= min(message.max, len(message.cards))
    cards: Sequence[r.Selectable | r.Tribute] = message.cards
    entries = [
        Entry(card.response, b"" if full or at in selected else table.row(name, 0, _spot(card.location)))
        for at, card in enumerate(cards)
    ]
    finishes = full or len(selected) >= message.min
    return [*entries, Entry(FINISH_RESPONSE, table.row(name, finish=1) if finishes else b"")]


def _selected(selected: Sequence[int], count: int) -> set[int]:
    for index in selected:
        if not 0 <= index < count:
            raise RefusedError(f"selected contains {index}, but the message has {count} cards")
    if len(set(selected)) != len(selected):
        raise RefusedError("selected contains a card twice")
    return set(selected)


def _sum(message: r.SelectSum, table: Table) -> list[Entry]:
    if message.overflow:
        raise RefusedError("overflow is not supported for select_sum.")
    if len(message.must_cards) > MOST_MUST_CARDS:
        raise RefusedError("must select more than 2 cards is not supported for select_sum.")
    selected = _selected(message.selected, len(message.cards))
    levels = [(card.level1, card.level2) for card in message.cards]
    wanted = Sum.of(levels, [(card.level1, card.level2) for card in message.must_cards], message)
    if may_finish(wanted, selected):
        raise RefusedError("empty select in select_sum.")
    legal = may_pick(wanted, selected)
    return [
        Entry(card.response, table.row("sum", 0, _spot(card.location)), may_finish(wanted, selected | {at}))
        if at in legal else Entry(card.response, b"")
        for at, card in enumerate(message.cards)
    ]  # fmt: skip


def _unselect(message: r.SelectUnselectCard, table: Table) -> list[Entry]:
    name = "unselect_card"
    entries = [Entry(card.response, table.row(name, 0, _spot(card.location))) for card in message.selectable_cards]
    if message.finishable:
        return [*entries, Entry(FINISH_RESPONSE, table.row(name, finish=1))]
    if not entries and message.cancelable:
        return [Entry(FINISH_RESPONSE, table.row(name, CANCEL))]
    return entries


def _position(message: r.SelectPosition, table: Table) -> list[Entry]:
    code, entries = message.code if table.encoding.names_position else 0, []
    for position in message.positions:
        if position not in POSITION_BITS:
            raise RefusedError(f"Invalid position: {position}")
        row = table.row("position", code=code, position=POSITIONS[position])
        entries.append(Entry(POSITION_BITS[position], row))
    return entries


def _effectyn(message: r.SelectEffectYn, table: Table) -> list[Entry]:
    yes = table.effect("effectyn", _spot(message.location), message.code, message.effect_description)
    return [Entry(YES, yes), Entry(NO, table.row("effectyn", CANCEL))]


def _yesno(message: r.SelectYesNo, table: Table) -> list[Entry]:
    if message.effect_description == 0:
        raise RefusedError("Unknown desc 0 in select_yesno")
    yes = table.effect("yesno", None, 0, message.effect_description)
    return [Entry(YES, yes), Entry(NO, table.row("yesno", CANCEL))]


def _option(message: r.SelectOption, table: Table) -> list[Entry]:
    if any(option.code == 0 for option in message.options):
        raise RefusedError("Unknown desc 0 in select_option")
    act = ACTIVATE if table.encoding.activates_options else 0
    return [Entry(option.response, table.effect("option", None, 0, option.code, act)) for option in message.options]


def _places(name: str, places: Sequence[r.Place], table: Table) -> list[bytes]:
    rows = []
    for place in places:
        first, count = ZONES[place.location]
        if not 0 <= place.sequence < count:
            raise RefusedError(f"Invalid place: {place.location} has no zone {place.sequence}")
        number = 1 + first + place.sequence + OPPONENT_ZONES * (place.controller == "opponent")
        rows.append(table.row(name, place=number))
    return rows


def _place(message: r.SelectPlace, table: Table) -> list[Entry]:
    return [Entry(at, row) for at, row in enumerate(_places("place", message.places, table))]


def _disfield(message: r.SelectDisfield, table: Table) -> list[Entry]:
    return [Entry(FINISH_RESPONSE, row) for row in _places("disfield", message.places, table)]


def _attribute(message: r.AnnounceAttrib, table: Table) -> list[Entry]:
    if message.count != 1:
        raise RefusedError("Multiple attributes are not supported.")
    name = "announce_attrib"
    return [Entry(one.response, table.row(name, attribute=ATTRIBUTES[one.attribute])) for one in message.attributes]


def _number(message: r.AnnounceNumber, table: Table) -> list[Entry]:
    if message.count != 1:
        raise RefusedError("Multiple numbers are not supported.")
    if not all(1 <= one.number <= MAX_NUMBER for one in message.numbers):
        raise RefusedError("Number out of range, only 1-12 are supported.")
    return [Entry(one.response, table.row("announce_number", number=one.number)) for one in message.numbers]


READERS: dict[type, Callable[[Any, Table], list[Entry]]] = {
    r.SelectIdleCmd: _idlecmd, r.SelectBattleCmd: _battlecmd, r.SelectChain: _chain, r.SelectCard: _card,
    r.SelectTribute: _tribute, r.SelectSum: _sum, r.SelectUnselectCard: _unselect, r.SelectPosition: _position,
    r.SelectEffectYn: _effectyn, r.SelectYesNo: _yesno, r.SelectOption: _option, r.SelectPlace: _place,
    r.SelectDisfield: _disfield, r.AnnounceAttrib: _attribute, r.AnnounceNumber: _number,
}  # fmt: skip
