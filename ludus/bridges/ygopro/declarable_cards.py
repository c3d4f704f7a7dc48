"""Cards that may be declared: the core's condition is a small stack program, which is evaluated for every card."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence

from ludus.bridges.ygopro.core import CardData

TOKEN = 0x4001
ALWAYS_DECLARABLE = (78734254, 13857930)
"""two cards that may always be declared, although they are aliases"""
OPERATORS, CARD_OPERATORS = 0x40000000, 0x40000100
"""the upper half of a word that is an operator, or an operator on the card"""
BINARY: dict[int, Callable[[int, int], int]] = {
    0x0: operator.add, 0x1: operator.sub, 0x2: operator.mul, 0x3: lambda a, b: a // b if b else 0, 0x4: lambda a,
    b: int(bool(a) and bool(b)), 0x5: lambda a, b: int(bool(a) or bool(b)), 0x8: operator.and_, 0x9: operator.or_,
    0x11: operator.xor, 0x12: operator.lshift, 0x13: operator.rshift,
}  # fmt: skip
UNARY: dict[int, Callable[[int], int]] = {0x6: operator.neg, 0x7: lambda a: int(not a), 0x10: operator.invert}
ALLOW_ALIASES, ALLOW_TOKENS = 0x14, 0x15
CARD_TESTS: dict[int, Callable[[CardData, int], int]] = {
    0x0: lambda card, code: int(card.code == code),
    0x1: lambda card, wanted: int(any(_in_set(one, wanted) for one in card.sets)),
    0x2: lambda card, types: card.types & types, 0x3: lambda card, races: card.race & races,
    0x4: lambda card, attributes: card.attribute & attributes,
}  # fmt: skip
CARD_VALUES: dict[int, Callable[[CardData], int]] = {
    0x5: lambda card: card.code, 0x7: lambda card: card.types, 0x8: lambda card: card.race,
    0x9: lambda card: card.attribute,
}  # fmt: skip


def declarable(cards: Iterable[CardData], condition: Sequence[int], preferred: Collection[int]) -> list[int]:
    """The matching codes, sorted: of the preferred cards if any of them matches, else of all cards."""
    matching = sorted(card.code for card in cards if matches(card, condition))
    return [code for code in matching if code in preferred] or matching


def matches(card: CardData, condition: Sequence[int]) -> bool:
    """Whether the condition holds for a card."""
    stack, aliases, tokens = list[int](), False, False
    for word in condition:
        upper = word >> 32
        operation = upper - OPERATORS if OPERATORS <= upper < CARD_OPERATORS else -1
        card_operation = upper - CARD_OPERATORS if CARD_OPERATORS <= upper <= CARD_OPERATORS + 9 else -1
        if operation in BINARY and len(stack) > 1:
            right = stack.pop()
            stack.append(BINARY[operation](stack.pop(), right))
        elif operation in UNARY and stack:
            stack.append(UNARY[operation](stack.pop()))
        elif card_operation in CARD_TESTS and stack:
            stack.append(CARD_TESTS[card_operation](card, stack.pop()))
        elif card_operation in CARD_VALUES:
            stack.append(CARD_VALUES[card_operation](card))
        elif operation == -1 and card_operation == -1:
            stack.append(word)
        aliases, tokens = aliases or operation == ALLOW_ALIASES, tokens or operation == ALLOW_TOKENS
    if len(stack) != 1 or not stack[0]:
        return False
    return card.code in ALWAYS_DECLARABLE or ((aliases or not card.alias) and (tokens or card.types & TOKEN != TOKEN))


def _in_set(one: int, wanted: int) -> bool:
    """Whether a set code is the wanted set or one of its subsets (upper four bits)."""
    return one & 0xFFF == wanted & 0xFFF and one & wanted & 0xF000 == wanted & 0xF000
