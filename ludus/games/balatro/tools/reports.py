"""Text reports of seeds and scores."""

from __future__ import annotations

from collections.abc import Sequence

from ludus.games.balatro.tables import blinds, consumables, jokers, tags, vouchers
from ludus.types import JsonObject

NAMES = {
    key: name
    for table in (blinds, consumables, jokers, tags, vouchers)
    for key, name in zip(table.KEYS, table.NAMES, strict=True)
}
SUITS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}


def seed(entry: JsonObject) -> str:
    """The contents of a seed, ante by ante."""
    lines = [f"{entry['seed']}  {entry['deck'].removeprefix('b_')} deck, stake {entry['stake']}"]
    for blind, cards in entry["first_8_cards_dealt"].items():
        lines.append(f"  {blind.removesuffix('_ante1')} blind of ante 1 deals {' '.join(map(item_name, cards))}")
    for ante, content in entry["antes"].items():
        offered = " and ".join(NAMES[tag] for tag in content["tags"])
        lines.append(f"ante {ante}: {NAMES[content['boss']]}, voucher {NAMES[content['voucher']]}, {offered}")
        for number, shop in enumerate(content["shops"], start=1):
            lines.append(f"  shop {number}: {', '.join(map(item_name, shop['shelf']))}")
            lines.extend(f"    {pack['pack']}: {', '.join(map(item_name, pack['cards']))}" for pack in shop["packs"])
    return "\n".join(lines)


def item_name(key: str) -> str:
    """The display name of an item: `Q♣ bonus` for C_Q+m_bonus, `Egg foil` for j_egg+e_foil."""
    name, *marks = key.split("+")
    plain = NAMES.get(name) or f"{name[2].replace('T', '10')}{SUITS[name[0]]}"
    return " ".join([plain, *(mark.removeprefix("m_").removeprefix("e_").lower() for mark in marks)])


def score(situation: JsonObject, result: JsonObject, steps: Sequence[JsonObject]) -> str:
    """The steps of a score."""
    played = " ".join(f"{card['rank']}{SUITS[card['suit']]}" for card in situation["play"])
    lines = [f"{situation.get('id', '')}  {played}: {result['display_name']}, level {result['level_used']}".strip()]
    if result["refused"]:
        return "\n".join([*lines, "  the boss does not let it score"])
    lines.extend(f"  {step['by']:<24} {step['chips']:>14,.10g} x {step['mult']:,.10g}" for step in steps)
    earned = f", ${result['money']} earned" if result["money"] else ""
    return "\n".join([*lines, f"  {'score':<24} {result['score']:>14,}{earned}"])
