"""Decks: legality, error messages, reading and writing files, and random decks."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus import cli, games
from ludus.games.duel import ydk
from ludus.games.duel.stages import (
    EXTRA,
    MONSTER,
    SPELL,
    STAGES,
    TOKEN,
    TRAP,
    cards_by_code,
    cards_of_stage,
    kind_of,
)
from ludus.games.duel.tools import reports
from ludus.types import LudusError

CARDS = cards_by_code()
MAIN = sorted(code for code, card in CARDS.items() if kind_of(card) in (MONSTER, SPELL, TRAP))
EXTRAS = sorted(code for code, card in CARDS.items() if kind_of(card) == EXTRA)
TOKENS = sorted(code for code, card in CARDS.items() if kind_of(card) == TOKEN)
BLUE_EYES, FLAME_SWORDSMAN = 89631139, 45231177


@st.composite
def legal_decks(draw):
    def some(codes, fewest, most):
        return tuple(draw(st.lists(st.sampled_from(codes), min_size=fewest, max_size=most, unique=True)))

    side = some(EXTRAS + MAIN, 0, 15)
    return ydk.Deck(some(MAIN, 40, 60), some(EXTRAS, 0, 15), side)


def text_of(main, extra=(), side=()):
    parts = zip(("#main", "#extra", "!side"), (main, extra, side), strict=True)
    return "\n".join(str(line) for heading, codes in parts for line in (heading, *codes))


def refused(text, name="my.ydk"):
    with pytest.raises(LudusError) as caught:
        ydk.parse_ydk(text, name)
    return str(caught.value)


@given(legal_decks())
def test_a_deck_survives_writing_and_reading(deck):
    assert ydk.parse_ydk(ydk.ydk_text(deck)) == deck


@given(legal_decks(), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())
def test_line_ends_marks_comments_and_spaces_do_not_matter(deck, end, marked, shouted):
    text = text_of(*deck[:3])
    text = text.upper() if shouted else text
    lines = [f"# {number} {line}\n\n  {line}\t" for number, line in enumerate(text.split("\n"))]
    text = ("\ufeff" if marked else "") + "\n".join(lines).replace("\n", end)
    assert ydk.parse_ydk(text) == ydk.parse_ydk(text.encode()) == deck


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300), st.text("#!mainextrasid0123456789\n", max_size=300)))
def test_any_text_is_a_deck_or_raises_an_error(text):
    with pytest.raises(LudusError, match=r"my\.ydk"):
        ydk.parse_ydk(text, "my.ydk")


@given(st.integers(0, 2**40), st.data())
def test_a_damaged_file_raises_an_error_or_is_a_legal_deck(seed, data):
    good = bytearray(ydk.ydk_text(ydk.random_deck(seed)).encode())
    for place in data.draw(st.lists(st.integers(0, len(good) - 1), min_size=1, max_size=4)):
        good[place] = data.draw(st.integers(0, 255))
    try:
        deck = ydk.parse_ydk(bytes(good))
    except LudusError:
        return
    ydk.check(deck)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no line #main"),
        ("#extra\n!side\n", "no line #main"),
        (text_of(MAIN[:39]), "39 cards; it must have 40 to 60"),
        (text_of(MAIN[:61]), "61 cards; it must have 40 to 60"),
        (text_of(MAIN[:40], EXTRAS[:16]), "16 cards; it must have at most 15"),
        (text_of(MAIN[:40], (), MAIN[40:56]), "the side deck has 16 cards"),
        (text_of([BLUE_EYES] * 4 + MAIN[:36]), "my.ydk, line 5: Blue-Eyes White Dragon (89631139) appears 4 times"),
        (text_of(MAIN[:40], [FLAME_SWORDSMAN] * 2, [FLAME_SWORDSMAN] * 2), "line 47: Flame Swordsman"),
        (text_of([*MAIN[:40], 12345]), "my.ydk, line 42: card 12345 is unknown; use one of the 240"),
        (text_of([FLAME_SWORDSMAN, *MAIN[:40]]), "line 2: Flame Swordsman (45231177) belongs in the extra deck"),
        (text_of(MAIN[:40], [BLUE_EYES]), "line 43: Blue-Eyes White Dragon (89631139) belongs in the main deck"),
        (text_of([0, *MAIN[:40]]), "line 2: 0 is out of range"),
        (text_of([2**32, *MAIN[:40]]), "line 2: 4294967296 is out of range"),
        (text_of(["9" * 5000, *MAIN[:40]]), "is out of range"),
        (text_of(["-5", *MAIN[:40]]), "line 2: '-5' is not a card number"),
        (text_of(["٣", *MAIN[:40]]), "is not a card number"),
        (text_of(["Dark Magician", *MAIN[:40]]), "line 2: 'Dark Magician' is not a card number"),
        (text_of(["!extra", *MAIN[:40]]), "'!extra' is not a card number"),
        (text_of(["x" * 5000, *MAIN[:40]]), "xxx…' is not a card number"),
        (f"{BLUE_EYES}\n{text_of(MAIN[:40])}", "line 1: card 89631139 comes before #main"),
        (text_of(MAIN[:40]) + "\n#main\n", "line 44: #main appears twice"),
        ("#main\n" + f"{BLUE_EYES}\n" * 8000, "more than 64 KiB"),
        (b"\xff\xfe#\0m\0a\0i\0n\0", "byte 0 is not UTF-8"),
        ("#main\n\0\n", "binary data"),
        (bytes(range(256)), "is not a .ydk file"),
    ],
)
def test_bad_decks_raise_an_error(text, sentence):
    message = refused(text)
    assert sentence in message and message.startswith("my.ydk") and len(message) < 250


def test_decks_cannot_contain_tokens():
    for token in TOKENS:
        assert "is a token" in refused(text_of([token, *MAIN[:40]]))


def test_a_deck_that_is_not_legal_is_not_written(tmp_path):
    with pytest.raises(LudusError, match="39 cards"):
        ydk.write_ydk(ydk.Deck(tuple(MAIN[:39])), tmp_path / "no.ydk")
    assert not list(tmp_path.iterdir())


def test_files_that_cannot_be_read_or_written(tmp_path):
    for path in (tmp_path, tmp_path / "none.ydk", "a\0b.ydk"):
        with pytest.raises(LudusError, match="cannot be read"):
            ydk.read_ydk(path)
        with pytest.raises(LudusError, match="cannot be written"):
            ydk.write_ydk(ydk.named("yugi"), tmp_path / "none" / "of.ydk")


def test_bundled_decks_are_legal_and_survive_writing_and_reading(tmp_path):
    assert {"yugi", "kaiba", "joey", "pegasus", "goat_control"} <= set(ydk.names())
    for name in ydk.names():
        deck = ydk.named(name)
        assert deck.name == name and 40 <= len(deck.main) <= 60
        ydk.write_ydk(deck, tmp_path / f"{name}.ydk")
        assert ydk.find_deck(str(tmp_path / f"{name}.ydk")) == deck == ydk.find_deck(name)


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(
        LudusError, match=r'unknown deck "kaibaa"; did you mean "kaiba"\? \(there are extra, goat_chaos'
    ):
        ydk.find_deck("kaibaa")
    with pytest.raises(LudusError, match=r'unknown deck "\.\./decks/yugi"'):
        ydk.named("../decks/yugi")


@given(st.integers(0, 2**63), st.sampled_from(STAGES))
def test_random_decks_are_legal_and_of_their_stage(seed, stage):
    deck = ydk.random_deck(seed, stage)
    ydk.check(deck)
    assert deck == ydk.random_deck(np.random.default_rng(seed), stage)
    assert {*deck.main, *deck.extra} <= set(cards_of_stage(stage)) and len(deck.main) == 40
    kinds = Counter(kind_of(CARDS[code]) for code in deck.main)
    assert kinds == {1: {MONSTER: 40}, 2: {MONSTER: 22, SPELL: 18}}.get(stage, {MONSTER: 22, SPELL: 12, TRAP: 6})
    assert len(deck.extra) == {1: 0, 2: 0, 3: 7, 4: 8, 5: 15}[stage]


@given(st.integers(0, 99), st.sets(st.sampled_from(MAIN + EXTRAS), max_size=60))
def test_random_decks_of_any_pool_are_legal_or_the_pool_is_too_small(seed, pool):
    if len(pool & set(MAIN)) < 14:
        with pytest.raises(LudusError, match="give at least 14"):
            ydk.random_deck(seed, pool=pool)
    else:
        deck = ydk.random_deck(seed, pool=pool)
        ydk.check(deck)
        assert {*deck.main, *deck.extra} <= pool


def test_stages_grow_to_the_whole_pool():
    stages = [set(cards_of_stage(stage)) for stage in STAGES]
    assert all(small < large for small, large in itertools.pairwise(stages))
    assert stages[-1] == {*MAIN, *EXTRAS}
    for wrong in (0, 6):
        with pytest.raises(LudusError, match=f"no stage {wrong}"):
            ydk.random_deck(1, wrong)
    with pytest.raises(LudusError, match="must be 0 or more"):
        ydk.random_deck(-1)
    with pytest.raises(LudusError, match="the pool: card 5 is unknown"):
        ydk.random_deck(1, pool=[5])


def test_every_card_has_a_description():
    for card in CARDS.values():
        line = reports.card(card)
        assert line.startswith(f"{card.name}: ") and "  " not in line.partition("\n")[0]
    assert reports.card(CARDS[BLUE_EYES]) == "Blue-Eyes White Dragon: normal monster, level 8 LIGHT Dragon, 3000/2500"


@pytest.fixture
def run(capsys):
    """Run `ludus duel …`; returns what it prints."""

    def carried_out(*words):
        cli.run(["duel", *words])
        return capsys.readouterr().out

    return carried_out


def test_the_commands(run, tmp_path):
    assert all(name in run("decks") for name in ydk.names())
    counts = json.loads(run("decks", "--json"))["decks"]
    assert [row["name"] for row in counts] == ydk.names() and all(row["main"] >= 40 for row in counts)
    shown = run("deck", "kaiba")
    assert "3 Blue-Eyes White Dragon: normal monster, level 8" in shown and "traps (7)" in shown
    file = str(tmp_path / "my.ydk")
    assert file in run("random", "--seed", "7", "--out", file)
    assert ydk.read_ydk(file) == ydk.random_deck(7, name="my")
    printed = json.loads(run("deck", file, "--json"))
    assert printed["counts"]["main"] == sum(row["copies"] for row in printed["main"]) == 40


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("deck", "kaibaa"), 'did you mean "kaiba"?'),
        (("deck",), "takes exactly one argument, the name of a deck"),
        (("deck", "nowhere.ydk"), "nowhere.ydk cannot be read"),
        (("deck", __file__), "is not a card number"),
        (("replay", __file__), "is not a complete .yrp replay: it does not begin with"),
        (("replay", "nowhere.yrp"), "nowhere.yrp cannot be read"),
        (("replay",), "takes exactly one argument, a .yrp file; 0 were given"),
        (("check", __file__), "does not hold recorded duels"),
        (("decks", "yugi"), 'takes only flags; remove "yugi"'),
        (("random", "--stage", "9"), "no stage 9"),
        (("random", "--seed", "-1"), "0 or more"),
    ],
)
def test_bad_commands_print_an_error(run, words, sentence):
    with pytest.raises(LudusError) as caught:
        run(*words)
    assert sentence in str(caught.value)


def test_names_from_requests_cannot_read_files(monkeypatch, tmp_path):
    monkeypatch.setenv("LUDUS_NO_FILES", "1")
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    for name in (str(secret), f"{secret}.ydk", "my.ydk"):
        with pytest.raises(LudusError, match="decks are not read from files") as caught:
            games.load(f"duel(deck1={name})")
        assert "hunter2" not in str(caught.value)
    assert games.load("duel(deck1=joey, deck2=random)").settings["deck1"] == "joey"
