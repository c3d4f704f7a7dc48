"""The table as text, for terminals and golden games; items are numbered from 1, as in the names of actions.

The text shows only what the player may see: not the order of the pile, not the seed; a face-down card is `??`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from ludus.games.balatro import prices, shop
from ludus.games.balatro.pieces import (
    ANCIENT, CASTLE, EDITION_WORDS, EFFECT_WORDS, ENHANCEMENT_WORDS, GATHERS, IDOL, MAIL, RANK_WORDS, TO_DO_LIST,
)  # fmt: skip
from ludus.games.balatro.rounds import asked
from ludus.games.balatro.scene import coming
from ludus.games.balatro.state import BOSS, CASHING_OUT, JOKER, PLAYING_CARD, PLAYING_HAND
from ludus.games.balatro.tables import blinds, cards, consumables, hands, jokers, packs, tags, vouchers
from ludus.dsl import OVER, PLAYING
from ludus.dsl.rows import as_plain, compiling
from ludus.types import Array

SUIT_SIGNS, STICKERS = "♣♦♥♠", ("eternal", "perishable", "rental")
HIDDEN = "??"


def text(state: np.void) -> str:
    lines = (_headline(state), _jokers(state), _consumables(state), _tags(state), *_PHASES[int(state["phase"])](state))
    return "\n".join(line for line in lines if line)


def amount(value: float) -> str:
    """300, 1.5, 123456789, 1.23e26."""
    if not math.isfinite(value):
        return f"{value}"
    if abs(value) >= 1e9 - 0.5:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.2f}".rstrip("0").rstrip(".")


def _headline(state: np.void) -> str:
    inside = state["phase"] in (PLAYING_HAND, CASHING_OUT)
    blind = int(coming(state))
    required = float(state["required"]) if inside else asked(state, blind)
    hands_left, discards = ("hands_left", "discards_left") if inside else ("hands", "discards")
    parts = [
        f"ante {state['ante']}, round {state['round']}, {'' if inside else 'next '}{_blind_name(state, blind)}",
        f"score {amount(float(state['score']) if inside else 0.0)} of {amount(required)}, ${state['money']}",
        f"{state[hands_left]} hands, {state[discards]} discards, pile {state['pile_count']} of {state['card_count']}",
    ]
    if state["status"] != PLAYING:
        parts.append(("won" if state["won"] else "lost") if state["status"] == OVER else "cut off")
    return "; ".join(parts)


def _blind_row(state: np.void, blind: int) -> int:
    return int(state["boss"]) if blind == BOSS else blind


def _blind_name(state: np.void, blind: int) -> str:
    row = _blind_row(state, blind)
    words = "no effect any more" if state["disabled"] and state["phase"] == PLAYING_HAND else EFFECT_WORDS[row]
    return blinds.NAMES[row] + (f" ({words})" if words else "")


def _listed(title: str, things: Iterable[str]) -> str:
    """`title: 1 this | 2 that`, or an empty string for an empty list."""
    numbered = " | ".join(f"{place} {thing}" for place, thing in enumerate(things, start=1))
    return f"{title}: {numbered}" if numbered else ""


def _first(state: np.void, field: str, count: str) -> Array:
    """The used elements of an array field, as records that the rules in `prices` can read, compiled or not."""
    things: Array = state[field][: int(state[count])]
    return things if compiling() or things.dtype.names is None else as_plain(things)


def _noted(name: str, notes: Iterable[str]) -> str:
    """`name (note, note)`"""
    text = ", ".join(note for note in notes if note)
    return f"{name} ({text})" if text else name


def _jokers(state: np.void) -> str:
    title = f"jokers {state['joker_count']} of {state['joker_slots']}"
    owned = (HIDDEN if joker["face_down"] else _sold(state, joker) for joker in _first(state, "jokers", "joker_count"))
    return _listed(title, owned)


def _consumables(state: np.void) -> str:
    title = f"consumables {state['consumable_count']} of {state['consumable_slots']}"
    return _listed(title, (_sold(state, card) for card in _first(state, "consumables", "consumable_count")))


def _sold(state: np.void, item: np.void) -> str:
    return f"{_item(state, item)} ${prices.sell_value(state, item)}"


def _tags(state: np.void) -> str:
    names = [tags.NAMES[tag] for tag in _first(state, "tags", "tag_count")]
    return f"tags: {', '.join(names)}" if names else ""


def _item(state: np.void, item: np.void) -> str:
    if item["kind"] == PLAYING_CARD:
        return _card(item, bool(item["debuffed"]))
    stickers = (word for bit, word in enumerate(STICKERS) if int(item["stickers"]) >> bit & 1)
    notes = [EDITION_WORDS[item["edition"]].lower(), *stickers, "debuffed" if item["debuffed"] else ""]
    if item["kind"] == JOKER:
        return _noted(jokers.NAMES[item["number"]], [gathered(state, item), *notes])
    return _noted(consumables.NAMES[item["number"]], notes)


def gathered(state: np.void, joker: np.void) -> str:
    """The value of a joker, or its target."""
    number = int(joker["number"])
    kind = int(GATHERS[number])
    looked_for = {
        TO_DO_LIST: hands.NAMES[int(joker["counter"]) % hands.HANDS],
        IDOL: _front(int(state["idol_rank"]), int(state["idol_suit"])),
        MAIL: RANK_WORDS[state["mail_rank"]],
        ANCIENT: SUIT_SIGNS[state["ancient_suit"]],
        CASTLE: SUIT_SIGNS[state["castle_suit"]],
    }.get(number, "")
    value = (chr(kind) if kind > 1 else "") + amount(float(joker["value"])) if kind else ""
    return " ".join(word for word in (value, looked_for) if word)


def _front(rank: int, suit: int) -> str:
    return RANK_WORDS[rank] + SUIT_SIGNS[suit]


def _card(card: np.void, debuffed: bool, chips: int = 0) -> str:
    seal = cards.SEALS[card["seal"]].lower()
    notes = (
        ENHANCEMENT_WORDS[card["enhancement"]].lower(), EDITION_WORDS[card["edition"]].lower(),
        f"{seal} seal" if seal else "", f"+{chips}" if chips else "", "debuffed" if debuffed else "",
    )  # fmt: skip
    if card["enhancement"] == cards.STONE:
        return _noted(notes[0], notes[1:])
    return _noted(_front(int(card["rank"]), int(card["suit"])), notes)


def _in_hand(card: np.void) -> str:
    flags = int(card["flags"])
    shown = HIDDEN if flags & cards.FACE_DOWN else _card(card, bool(flags & cards.DEBUFFED), int(card["chips"]))
    return shown + ("*" if flags & cards.SELECTED else "")


def _hand(state: np.void) -> str:
    """The hand; selected cards have a star."""
    return _listed("hand", (_in_hand(state["cards"][number]) for number in _first(state, "hand", "hand_count")))


def _last_hand(state: np.void) -> str:
    tally = state["tally"]
    if not state["hands_played"]:
        return ""
    chips, mult, score = (amount(float(tally[field])) for field in ("chips", "mult", "score"))
    return f"last hand: {hands.NAMES[state['last_hand']]}, level {tally['level']}, {chips} x {mult} = {score}"


def _levels(state: np.void) -> str:
    raised = [f"{name} {level}" for name, level in zip(hands.NAMES, state["levels"], strict=True) if level > 1]
    return f"levels: {', '.join(raised)}" if raised else ""


def _describe_blinds(state: np.void) -> list[str]:
    lines = []
    for blind in range(int(state["blind"]), BOSS + 1):
        skip = f", or skip it for the {_tag(state, blind)}" if blind != BOSS else ""
        lines.append(f"{_blind_name(state, blind)} asks for {amount(asked(state, blind))}{skip}")
    return ["; ".join(lines), _levels(state)]


def _tag(state: np.void, blind: int) -> str:
    tag = int(state["offered_tags"][blind])
    about = hands.NAMES[state["orbital_hands"][blind]] if tags.EFFECT[tag] == tags.ORBITAL else ""
    return _noted(tags.NAMES[tag], [about])


def _describe_hand(state: np.void) -> list[str]:
    return [_last_hand(state), _levels(state), _hand(state)]


def _describe_pay(state: np.void) -> list[str]:
    return [_last_hand(state), f"pay: ${state['pay']}"]


def _describe_shop(state: np.void) -> list[str]:
    shelf = (f"{_item(state, item)} ${prices.price(state, item)}" for item in _first(state, "shelf", "shelf_count"))
    price = prices.voucher_price(state)
    offered = (f"{vouchers.NAMES[voucher]} ${price}" for voucher in _first(state, "vouchers", "offered_vouchers"))
    boosters = (_booster(state, place) for place in range(int(state["offered_packs"])))
    return [
        _listed("shop", shelf), _listed("vouchers", offered), _listed("packs", boosters),
        f"reroll: ${shop.reroll_price(state)}", _levels(state),
    ]  # fmt: skip


def _booster(state: np.void, place: int) -> str:
    kind = int(state["packs"][place])
    return f"{packs.NAMES[kind]} ${prices.pack_price(state, place)}" if kind >= 0 else "sold"


def _describe_pack(state: np.void) -> list[str]:
    title = f"{packs.NAMES[state['pack_kind']]} pack, choose {state['picks_left']}"
    return [_listed(title, (_item(state, item) for item in _first(state, "pack", "pack_count"))), _hand(state)]


_PHASES: tuple[Callable[[np.void], list[str]], ...] = (
    _describe_blinds,
    _describe_hand,
    _describe_pay,
    _describe_shop,
    _describe_pack,
)
"""functions that describe each phase"""
