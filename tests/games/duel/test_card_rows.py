"""The rows of all cards compared with the facts of the real game: columns, kinds of effects, and texts."""

import gzip
import json
import pathlib

import pytest

from ludus.games.duel.tables import extra, monsters, spells, traps, words

FACTS = json.loads(gzip.decompress((pathlib.Path(__file__).parents[2] / "data" / "duel_cards.json.gz").read_bytes()))
ROWS = (*monsters.ROWS, *extra.ROWS, *spells.ROWS, *traps.ROWS)
BY_CODE = {row.code: row for row in ROWS}
KINDS = {words.ACTIVATE: "activate", words.IGNITION: "ignition", words.QUICK: "quick"}


def kind(effect):
    return KINDS.get(effect.kind) or ("flip" if effect.on == words.FLIPPED else "trigger")


def number(text):
    """A number in the facts as the rows store it."""
    if text is None:
        return words.NO_TEXT
    return words.SYSTEM + int(text.removeprefix("sys ")) if isinstance(text, str) else text


def attribute(name):
    return 1 << words.ATTRIBUTES.index(name) if name else 0


def test_every_card_has_exactly_one_row():
    assert sorted(row.code for row in ROWS) == sorted(fact["code"] for fact in FACTS)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact['name']} {fact['code']}")
def test_a_row_matches_the_facts_of_the_card(fact):
    row = BY_CODE[fact["code"]]
    columns = ("name", "types", "race", "level", "attack", "defense", "markers")
    assert [getattr(row, column) for column in columns] == [fact[column] for column in columns]
    assert row.attribute == attribute(fact["attribute"])
    assert sorted(row.materials) == sorted(fact["materials"])

    found = [(kind(effect), effect.text, effect.waits) for effect in row.effects]
    assert found == [(effect["kind"], number(effect["text"]), effect["waits"]) for effect in fact["effects"]]
    triggered = [
        pair for pair in zip(row.effects, fact["effects"], strict=True) if kind(pair[0]) in ("flip", "trigger")
    ]
    assert all((effect.kind == words.TRIGGER) == known["must"] for effect, known in triggered)

    always = bool(row.changes or row.traits or row.procedure != (words.NO_PROCEDURE,))
    assert always or not fact["always"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name} {row.code}")
def test_a_row_has_texts_for_people(row):
    assert all(effect.says for effect in row.effects)
    silent = row.changes or row.traits or row.materials or row.procedure != (words.NO_PROCEDURE,)
    assert row.says or not silent


def test_ritual_spells_and_their_monsters_belong_together():
    partners = [BY_CODE[row.partner] for row in spells.ROWS if row.types & words.RITUAL]
    assert {row.code for row in partners} == {row.code for row in monsters.ROWS if row.types & words.RITUAL}


def test_equip_spells_stay_on_legal_monsters():
    for row in spells.ROWS:
        for effect in row.effects:
            if effect.do == (words.EQUIP_CARD,):
                assert row.equips == effect.target.which
