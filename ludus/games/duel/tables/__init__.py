# ruff: noqa: E501  (columns of a table are one thing)
"""All cards as arrays for the rules: `CARDS[row]`, `EFFECTS[row]`, `FILTERS[row]`, `CHANGES[row]`.

The engine identifies a card by its row (the field `code` of the state); row 0 is no card. Its effects are the rows `first`
to `first + count` of EFFECTS.
"""

from __future__ import annotations

import importlib.util
import itertools
import os

import numpy as np

from ludus.games.duel.tables import extra, monsters, spells, traps
from ludus.games.duel.tables.words import (
    ACTIVATE, AIMS, AIM_CHOSEN, COUNTER, DESTROYING, MAY_TRIGGER, QUICK, QUICKPLAY, TRAP, TRIGGER, Card, Effect, Filter,
)  # fmt: skip
from ludus.types import LudusError
from ludus.dsl import i16, i32, i64
from ludus.dsl.rows import table


def _user_rows() -> tuple[Card, ...]:
    """The rows of the user's file, given by LUDUS_CARDS."""
    path = os.environ.get("LUDUS_CARDS")
    if not path:
        return ()
    found = importlib.util.spec_from_file_location("ludus_cards", path)
    if found is None or found.loader is None or not os.path.exists(path):
        raise LudusError(f'LUDUS_CARDS is "{path}"; it must be a Python file that defines ROWS, a tuple of cards')
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return tuple(module.ROWS)


ROWS: tuple[Card, ...] = (Card(0, "", 0), *monsters.ROWS, *extra.ROWS, *spells.ROWS, *traps.ROWS, *_user_rows())
ROW_OF = {card.code: row for row, card in enumerate(ROWS)}
"""from the official number of a card to its row"""
EFFECT_ROWS: list[Effect] = [effect for card in ROWS for effect in card.effects]

_filters: dict[Filter, int] = {}


def _filter(which: Filter) -> int:
    return _filters.setdefault(which, len(_filters))


def _numbers(words: tuple[int, ...], count: int) -> tuple[int, ...]:
    return (*words, *(0,) * (count - len(words)))


def _effect(owner: int, number: int, effect: Effect) -> tuple[int, ...]:
    when, cost, do = _numbers(effect.when, 3), _numbers(effect.cost, 3), _numbers(effect.do, 4)
    seen, target = effect.seen, effect.target
    return (
        owner, number, effect.kind, effect.on, _speed(ROWS[owner], effect), effect.where, effect.text, *when,
        seen.where, _filter(seen.which), seen.fewest, *cost, target.where, _filter(target.which), target.fewest, target.most,
        *do, _filter(effect.which), effect.once, effect.waits, effect.in_damage_step, AIMS.get(do[0], AIM_CHOSEN), do[0] in DESTROYING,
    )  # fmt: skip


def _speed(card: Card, effect: Effect) -> int:
    if effect.kind != ACTIVATE:
        return effect.speed
    return 3 if card.types & COUNTER else 2 if card.types & (TRAP | QUICKPLAY) else 1


def _owned() -> list[tuple[int, int, Effect]]:
    return [(row, number, effect) for row, card in enumerate(ROWS) for number, effect in enumerate(card.effects)]


def _card(row: int, first_effect: int, first_change: int) -> tuple[int, ...]:
    card = ROWS[row]
    materials = [ROW_OF.get(code, 0) for code in card.materials]
    return (
        card.code, card.types, card.attribute, card.race, card.level, card.attack, card.defense, card.markers, card.traits,
        first_effect, len(card.effects), first_change, len(card.changes), *_numbers(card.procedure, 3), len(materials),
        *_numbers(tuple(materials), 3), _filter(card.material), ROW_OF.get(card.partner, 0), _filter(card.equips),
        *_answers(card),
    )  # fmt: skip


def _answers(card: Card) -> tuple[int, int]:
    """Bits of the events that trigger a card's effects, and of those that its fast effects respond to."""
    triggers, fast = 0, 0
    for effect in card.effects:
        if effect.kind in (TRIGGER, MAY_TRIGGER):
            triggers |= effect.on
        if effect.kind == QUICK or (effect.kind == ACTIVATE and _speed(card, effect) > 1):
            fast |= effect.on
    return triggers, fast


_filter(Filter())
_effects = [_effect(*owned) for owned in _owned()]
_firsts = list(itertools.accumulate((len(card.effects) for card in ROWS), initial=0))
_first_changes = list(itertools.accumulate((len(card.changes) for card in ROWS), initial=0))
_cards = [_card(row, _firsts[row], _first_changes[row]) for row in range(len(ROWS))]
_changes = [
    (change.who, change.attack, change.defense, _filter(change.which), change.per)
    for card in ROWS
    for change in card.changes
]

EFFECTS = table(
    _effects, card=i16, number=i16, kind=i16, on=i32, speed=i16, where=i16, text=i32, when=i16, when_a=i32, when_b=i32,
    seen_where=i32, seen=i16, seen_fewest=i16, cost=i16, cost_a=i32, cost_b=i32, target_where=i32, target=i16, fewest=i16, most=i16,
    do=i16, a=i32, b=i32, c=i32, which=i16, once=i16, waits=i16, in_damage_step=i16, aim=i16, destroys=i16,
)  # fmt: skip
CARDS = table(
    _cards, code=i32, types=i32, attribute=i16, race=i32, level=i16, attack=i32, defense=i32, markers=i16, traits=i64, first=i16, count=i16,
    first_change=i16, changes=i16, procedure=i16, procedure_a=i16, procedure_b=i16, materials=i16, material_1=i16, material_2=i16,
    material_3=i16, material=i16, partner=i16, equips=i16, triggers=i32, fast=i32,
)  # fmt: skip
TRAITS, TRIGGERS, FAST = (np.ascontiguousarray(CARDS[name]) for name in ("traits", "triggers", "fast"))
"""the columns that are read most often, as compact arrays"""
FAST_IN_HAND = np.where(CARDS["types"] & TRAP, 0, FAST)
"""FAST for cards in the hand, where traps cannot be activated"""
CHANGES = table(_changes, who=i16, attack=i32, defense=i32, which=i16, per=i16)


def _filter_row(which: Filter) -> tuple[int, ...]:
    return (
        which.types, which.without, which.exactly, which.position, which.races, which.attributes, which.lowest_level, which.highest_level,
        which.most_attack, which.most_defense, ROW_OF.get(which.code, 0), which.other, which.summonable, which.banishable,
        which.controllable, which.has_defense, ROW_OF.get(which.except_code, 0), which.or_down,
    )  # fmt: skip


FILTERS = table(
    [_filter_row(which) for which in _filters], types=i32, without=i32, exactly=i32, position=i16, races=i32, attributes=i16,
    lowest_level=i16, highest_level=i16, most_attack=i32, most_defense=i32, code=i16, other=i16, summonable=i16, banishable=i16,
    controllable=i16, has_defense=i16, except_code=i16, or_down=i16,
)  # fmt: skip
