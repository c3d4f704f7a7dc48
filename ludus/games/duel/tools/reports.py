"""Decks, cards and replays as text and as data."""

from __future__ import annotations

from collections import Counter

from ludus.bridges.ygopro.yrp import Yrp
from ludus.games.duel.stages import EXTRA, MONSTER, SPELL, TRAP, cards_by_code, kind_of
from ludus.games.duel.ydk import Deck
from ludus.games.duel.tables import words
from ludus.games.duel.tables.words import Card
from ludus.types import JsonObject

_SORTS = {
    "fusion": words.FUSION, "ritual": words.RITUAL, "synchro": words.SYNCHRO, "xyz": words.XYZ, "link": words.LINK,
    "tuner": words.TUNER, "spirit": words.SPIRIT, "toon": words.TOON, "flip": words.FLIP, "normal": words.NORMAL,
    "quick-play": words.QUICKPLAY, "continuous": words.CONTINUOUS, "equip": words.EQUIP, "field": words.FIELD,
    "counter": words.COUNTER,
}  # fmt: skip
_GROUPS = {MONSTER: "monsters", SPELL: "spells", TRAP: "traps"}


def counts(deck: Deck) -> JsonObject:
    """The number of cards of each kind in a deck."""
    known = cards_by_code()
    kinds = Counter(kind_of(known[code]) for code in deck.main)
    sizes = {"main": len(deck.main), "extra": len(deck.extra), "side": len(deck.side)}
    return {"name": deck.name, **sizes, **{group: kinds[kind] for kind, group in _GROUPS.items()}}


def described(deck: Deck) -> JsonObject:
    """A deck as data: its counts, and each different card with the number of its copies."""
    parts = {"main": deck.main, "extra": deck.extra, "side": deck.side}
    return {"counts": counts(deck), **{part: _rows(codes) for part, codes in parts.items()}, "name": deck.name}


def table(decks: list[Deck]) -> str:
    """One line for each deck."""
    rows = [counts(deck) for deck in decks]
    width = max([4, *(len(row["name"]) for row in rows)])
    lines = [f"{'deck':<{width}}  main  monsters  spells  traps  extra  side"]
    for row in rows:
        numbers = f"{row['main']:>4}  {row['monsters']:>8}  {row['spells']:>6}  {row['traps']:>5}"
        lines.append(f"{row['name']:<{width}}  {numbers}  {row['extra']:>5}  {row['side']:>4}")
    return "\n".join(lines)


def deck(deck: Deck) -> str:
    """A deck, kind by kind: copies, names, types and effects."""
    known = cards_by_code()
    main = {group: [c for c in deck.main if kind_of(known[c]) == kind] for kind, group in _GROUPS.items()}
    lines = [f"{deck.name}: {len(deck.main)} cards in the main deck, {len(deck.extra)} in the extra deck"]
    for title, codes in {**main, "extra deck": deck.extra, "side deck": deck.side}.items():
        if codes:
            lines.append(f"{title} ({len(codes)})")
            lines += [f"  {copies} {card(known[code])}" for code, copies in Counter(codes).items()]
    return "\n".join(lines)


def card(card: Card) -> str:
    """`Man-Eater Bug: flip monster, level 2 EARTH Insect, 450/600`, with its effects in the next line."""
    effects = effects_text(card)
    return f"{card.name}: {types_text(card)}" + (f"\n      {effects}" if effects else "")


def types_text(card: Card) -> str:
    """The types of a card, and the values of a monster."""
    sorts = " ".join(word for word, bit in _SORTS.items() if card.types & bit)
    kind = kind_of(card)
    if not card.types & words.MONSTER:
        return f"{sorts or 'normal'} {kind}"
    title = f"{sorts or 'effect'} {kind if kind != EXTRA else MONSTER}"
    measure = "rank" if card.types & words.XYZ else "link" if card.types & words.LINK else "level"
    race = words.RACES[card.race.bit_length() - 1] if card.race else ""
    attribute = words.ATTRIBUTES[card.attribute.bit_length() - 1] if card.attribute else ""
    strength = f"{card.attack}" if card.types & words.LINK else f"{card.attack}/{card.defense}"
    return f"{title}, {measure} {card.level} {attribute} {race}, {strength}"


def effects_text(card: Card) -> str:
    """The effects of a card in one line; empty if it has none."""
    return "; ".join(line for line in (card.says, *(effect.says for effect in card.effects)) if line)


def _rows(codes: tuple[int, ...]) -> list[JsonObject]:
    known = cards_by_code()
    return [
        {
            "code": code,
            "name": known[code].name,
            "copies": copies,
            "is": types_text(known[code]),
            "says": effects_text(known[code]),
        }
        for code, copies in Counter(codes).items()
    ]


def replay(replay: Yrp) -> JsonObject:
    """The contents of a replay as data; unknown cards as numbers."""
    known = cards_by_code()

    def copies(codes: tuple[int, ...]) -> dict[str, int]:
        return dict(Counter(known[code].name if code in known else str(code) for code in codes))

    decks = [{"main": copies(deck.main), "extra": copies(deck.extra)} for deck in replay.decks]
    start = {"points": replay.lp, "opening": replay.hand, "draws": replay.draw}
    facts = {"seed": replay.seed, "start_time": replay.start_time, "answers": len(replay.responses)}
    return {"names": list(replay.names), "start": start, **facts, "decks": decks}


def replay_text(replay: JsonObject) -> str:
    """The same as text, with the result if the duel was played again."""
    names = [name or f"player {number + 1}" for number, name in enumerate(replay["names"])]
    start = replay["start"]
    lines = [f"{names[0]} against {names[1]}, {start['points']} points, {replay['answers']} answers"]
    for name, deck in zip(names, replay["decks"], strict=True):
        cards = ", ".join(f"{copies} {card}" for card, copies in (deck["main"] | deck["extra"]).items())
        lines.append(f"{name}: {cards}")
    if "turns" in replay:
        winner = names[replay["winner"]] if replay["winner"] in (0, 1) else "nobody"
        ended = f"{winner} wins" if replay["over"] else "the replay breaks off"
        lines.append(f"{ended} in turn {replay['turns']}, {replay['points'][0]} to {replay['points'][1]} points")
    return "\n".join(lines)
