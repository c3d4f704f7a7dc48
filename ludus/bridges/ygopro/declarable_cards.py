"""Cards that may be declared: the core's condition is a small stack program, which is evaluated for every card."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence

from ludus.bridges.ygopro.core import CardData

TOKEN = 0x4001
ANYWAY = (78734254, 13857930)
"""two cards that may always be declared, although they are aliases"""
ORDERS, ASKING = 0x40000000, 0x40000100
"""the upper half of a word that is an operator, or an operator on the card"""
BINARY: dict[int, Callable[[int, int], int]] = {
    0x0: operator.add, 0x1: operator.sub, 0x2: operator.mul, 0x3: lambda a, b: a // b if b else 0, 0x4: lambda a,
    b: int(bool(a) and bool(b)), 0x5: lambda a, b: int(bool(a) or bool(b)), 0x8: operator.and_, 0x9: operator.or_,
    0x11: operator.xor, 0x12: operator.lshift, 0x13: operator.rshift,
}  # fmt: skip
UNARY: dict[int, Callable[[int], int]] = {0x6: operator.neg, 0x7: lambda a: int(not a), 0x10: operator.invert}
ALLOW_ALIASES, ALLOW_TOKENS = 0x14, 0x15
IS: dict[int, Callable[[CardData, int], int]] = {
    0x0: lambda card, code: int(card.code == code),
    0x1: lambda card, wanted: int(any(_is_of(one, wanted) for one in card.sets)),
    0x2: lambda card, types: card.types & types, 0x3: lambda card, races: card.race & races,
    0x4: lambda card, attributes: card.attribute & attributes,
}  # fmt: skip
GET: dict[int, Callable[[CardData], int]] = {
    0x5: lambda card: card.code, 0x7: lambda card: card.types, 0x8: lambda card: card.race,
    0x9: lambda card: card.attribute,
}  # fmt: skip


def declarable(cards: Iterable[CardData], condition: Sequence[int], near: Collection[int]) -> list[int]:
    """The matching codes, sorted: of the cards in this duel if any matches, else of all cards."""
    fitting = sorted(card.code for card in cards if fits(card, condition))
    return [code for code in fitting if code in near] or fitting


def fits(card: CardData, condition: Sequence[int]) -> bool:
    """Whether the condition holds for a card."""
    stack, aliases, tokens = list[int](), False, False
    for word in condition:
        upper = word >> 32
        order = upper - ORDERS if ORDERS <= upper < ASKING else -1
        asked = upper - ASKING if ASKING <= upper <= ASKING + 9 else -1
        if order in BINARY and len(stack) > 1:
            right = stack.pop()
            stack.append(BINARY[order](stack.pop(), right))
        elif order in UNARY and stack:
            stack.append(UNARY[order](stack.pop()))
        elif asked in IS and stack:
            stack.append(IS[asked](card, stack.pop()))
        elif asked in GET:
            stack.append(GET[asked](card))
        elif order == -1 and asked == -1:
            stack.append(word)
        aliases, tokens = aliases or order == ALLOW_ALIASES, tokens or order == ALLOW_TOKENS
    if len(stack) != 1 or not stack[0]:
        return False
    return card.code in ANYWAY or ((aliases or not card.alias) and (tokens or card.types & TOKEN != TOKEN))


def _is_of(one: int, wanted: int) -> bool:
    """Whether a set code is the wanted set or one of its subsets (upper four bits)."""
    return one & 0xFFF == wanted & 0xFFF and one & wanted & 0xF000 == wanted & 0xF000
