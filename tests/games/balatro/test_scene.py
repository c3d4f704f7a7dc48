"""The picture of the table: inside its frame in every phase, however full, and without hidden information."""

import functools

import numpy as np
import pytest

from ludus.dsl import OVER, PLAYING
from ludus.dsl.draw import AREA, TEXT, new_canvas
from ludus.dsl.rows import new_rows
from ludus.evaluation.conformance.picture_checks import canvas_complaint
from ludus.games.balatro import actions
from ludus.games.balatro.pieces import number
from ludus.games.balatro.rounds import asked
from ludus.games.balatro.scene import place_now, scene
from ludus.games.balatro.state import (
    BOSS,
    CASHING_OUT,
    CHOOSING_BLIND,
    CONSUMABLE,
    JOKER,
    OPENING,
    PLAYING_CARD,
    PLAYING_HAND,
    SHOPPING,
    STATE,
)
from ludus.games.balatro.tables import blinds, cards, decks, jokers
from ludus.pool import Pool

PHASES = (CHOOSING_BLIND, PLAYING_HAND, CASHING_OUT, SHOPPING, OPENING)


@functools.cache
def pool():
    return Pool("balatro(actions=all, scale=0.01)", 8, 3, threads=1)


def drawn(states, row=0):
    canvas = new_canvas()
    scene(states[row], 0, canvas[0])
    return canvas[0]


def looks_like(states, canvas):
    """Whether the pictures are equal; a bool, because a failed assertion would print all bytes of both."""
    shapes = drawn(states)["shapes"]
    return all(np.array_equal(shapes[field], canvas["shapes"][field]) for field in shapes.dtype.names)


def words(canvas):
    shapes = canvas["shapes"][: canvas["count"]]
    return [bytes(s["text"][: s["letters"]]).decode() for s in shapes if s["kind"] == TEXT]


def table(phase=PLAYING_HAND):
    """A constructed state: 52 cards, the first eight in hand."""
    states = new_rows(1, STATE)
    for field, value in {
        "phase": phase, "ante": 2, "round": 4, "money": 7, "required": 900.0, "scale": 1.0, "hands_left": 3,
        "discards_left": 2, "joker_slots": 5, "consumable_slots": 2, "card_count": 52, "pile_count": 44,
        "hand_count": 8, "boss": blinds.FIRST_BOSS, "pack_return": SHOPPING, "picks_left": 1,
    }.items():  # fmt: skip
        states[field] = value
    states["levels"] = 1
    deck = states[0]["cards"]
    deck["rank"][:52], deck["suit"][:52] = np.arange(52) % 13, np.arange(52) // 13
    states[0]["hand"][:8], states[0]["pile"][:44] = np.arange(8), np.arange(8, 52)
    return states


def give(states, field, count, **values):
    items = states[0][field][:count]
    for name, value in values.items():
        items[name] = value
    states[f"{field.removesuffix('s')}_count" if field in ("jokers", "consumables") else f"{field}_count"] = count


def full(phase):
    """A state with the maximum of everything, with all editions, seals and stickers."""
    states = table(phase)
    states["card_count"], states["hand_count"], states["pile_count"] = 200, 32, 163
    deck = states[0]["cards"]
    deck["rank"], deck["suit"], deck["chips"] = cards.ACE - 4, np.arange(200) % 4, 30000
    deck["enhancement"], deck["edition"], deck["seal"], deck["flags"] = cards.BONUS, cards.FOIL, 1, cards.DEBUFFED
    states[0]["hand"], states[0]["pile"][:163] = np.arange(32), np.arange(37, 200)
    everything = {"edition": cards.NEGATIVE, "stickers": 7, "debuffed": 1, "value": -1e300, "sell_value": 30000}
    give(states, "jokers", 24, kind=JOKER, number=jokers.number_of("j_castle"), **everything)
    give(states, "consumables", 24, kind=CONSUMABLE, number=11, edition=cards.NEGATIVE)
    give(states, "shelf", 4, kind=JOKER, number=jokers.number_of("j_delayed_grat"), **everything)
    give(states, "pack", 5, kind=PLAYING_CARD, enhancement=cards.LUCKY, seal=2, debuffed=1)
    states["offered_vouchers"], states["offered_packs"], states["tag_count"] = 6, 2, 24
    states["money"], states["pay"], states["required"], states["score"] = 2_000_000_000, 2_000_000_000, 1e300, 1e308
    states["hands_played"], states["hands_of_run"] = 1, 1
    tally = states[0]["tally"]
    tally["chips"], tally["mult"], tally["score"], tally["count"] = 1e200, 1e108, 1e308, 5
    tally["cards"], tally["scoring"] = np.arange(32, 37), 31
    return states


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"), (7.0, "7"), (1.5, "1.5"), (0.25, "0.25"), (1.999, "2"), (300.0, "300"), (999.99, "999.99"),
        (1234.56, "1235"), (123456789.0, "123456789"), (999999999.0, "999999999"), (999999999.9, "1.00e9"),
        (1e9, "1.00e9"), (1234567890.0, "1.23e9"), (9.999e12, "1.00e13"), (1.23e26, "1.23e26"), (1e300, "1.00e300"),
        (1.7e308, "1.70e308"), (np.inf, "inf"), (np.nan, "nan"), (-4.0, "-4"), (-1.2e20, "-1.20e20"),
    ],
)  # fmt: skip
def test_numbers_are_short_and_whole(value, written):
    for prefix in (0, ord("$")):
        canvas = new_canvas()
        number(canvas[0], 1.0, 2.0, 99.0, 3.0, 4, prefix, value)
        sign = "-" if written.startswith("-") else ""
        assert words(canvas[0]) == [f"{sign}{'$' if prefix else ''}{written.removeprefix('-')}"]


def test_random_play_stays_inside_the_frame_in_every_phase():
    pool().reset(5)
    seen = set()
    for _ in range(300):
        pool().play_randomly(1)
        for row in range(pool().rows):
            assert canvas_complaint(drawn(pool().states, row), pool().spec) == ""
        seen |= set(pool().states["phase"].tolist())
    assert seen == set(PHASES)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("status", [0, OVER])
@pytest.mark.parametrize("mode", [actions.DIRECT, actions.ALL])
def test_the_fullest_table_stays_inside_the_frame(phase, status, mode):
    states = full(phase)
    states["status"], states["actions"] = status, mode
    canvas = drawn(states)
    assert canvas_complaint(canvas, pool().spec) == ""
    assert "Castle" in words(canvas)


@pytest.mark.parametrize("mode", ["direct", "elementary"])
def test_exactly_the_legal_actions_can_be_clicked(mode):
    """All actions except moving cards in hand and, in direct mode, those that name several cards at once."""
    games = Pool(f"balatro(actions={mode}, scale=0.01)", 8, 9, threads=1)
    named = (
        range(actions.PLAY, actions.TOGGLE), range(actions.MOVE_CARD, actions.MOVE_JOKER),
        range(actions.USE_ON, actions.BUY), range(actions.PICK_ON, actions.SKIP_PACK),
    )  # fmt: skip
    small = range(actions.SELL_JOKER, actions.USE_ON)
    elsewhere = set().union(*named) | (set(small) if mode == "direct" else set())
    clicked = set()
    for _ in range(400):
        games.play_randomly(1)
        for row in np.flatnonzero(games.status == PLAYING):
            canvas = drawn(games.states, row)
            shapes = canvas["shapes"][: canvas["count"]]
            areas = shapes["color"][shapes["kind"] == AREA].tolist()
            assert len(areas) == len(set(areas))
            assert set(areas) == set(np.flatnonzero(games.step.mask[row]).tolist()) - elsewhere
            clicked |= set(areas)
    wanted = {actions.BUY, actions.REROLL, actions.LEAVE, actions.SKIP_BLIND, actions.CASH_OUT, actions.PICK}
    mine = {actions.TOGGLE, actions.PLAY_SELECTED, actions.DISCARD_SELECTED, actions.SELL_JOKER, actions.USE}
    assert clicked >= wanted | (mine if mode == "elementary" else set())


def test_drawing_does_not_change_the_state():
    states = full(PLAYING_HAND)
    before = states.copy()
    drawn(states)
    assert np.array_equal(states, before)


def test_the_pile_and_face_down_cards_are_not_drawn():
    states = table()
    give(states, "jokers", 3, kind=JOKER, number=[1, 2, 3], face_down=[0, 1, 1])
    states[0]["cards"]["flags"][:3] = cards.FACE_DOWN
    states[0]["cards"]["flags"][2] |= cards.SELECTED
    picture = drawn(states)
    states[0]["pile"][:44] = states[0]["pile"][:44][::-1].copy()
    assert looks_like(states, picture)
    hidden = states[0]["cards"][:3]
    hidden["rank"], hidden["suit"], hidden["enhancement"], hidden["edition"], hidden["seal"] = 12, 3, 4, 1, 2
    hidden["flags"] |= cards.DEBUFFED
    hidden["chips"] = 10
    behind = states[0]["jokers"][1:3]
    behind["number"], behind["edition"], behind["stickers"], behind["debuffed"], behind["value"] = 77, 2, 3, 1, 9
    behind["sell_value"] = 5
    assert looks_like(states, picture)
    states[0]["cards"]["rank"][3] = 12
    assert not looks_like(states, picture)


def test_seed_and_random_numbers_are_not_drawn():
    states = table(SHOPPING)
    picture = drawn(states)
    states["seed_text"], states["seed_hash"], states["streams"], states["key"] = 65, 0.5, 0.25, 9
    assert looks_like(states, picture)


@pytest.mark.parametrize("phase", PHASES)
def test_each_phase_draws_its_own_values(phase):
    states = table(phase)
    give(states, "shelf", 1, kind=JOKER, number=jokers.number_of("j_egg"))
    give(states, "pack", 1, kind=CONSUMABLE, number=9)
    states["pay"], states["offered_packs"], states["rerolls"], states["reroll_base"] = 11, 1, 2, 5
    if phase != PLAYING_HAND and phase != OPENING:
        states["hand_count"] = 0
    texts = words(drawn(states))
    about = {
        CHOOSING_BLIND: ("Small Blind", "Big Blind", "The Hook", "2 cards lost a hand", "NEXT", "800", "1200", "1600"),
        PLAYING_HAND: ("Small Blind", "900", "$7", "2", "3", "4"),
        CASHING_OUT: ("$11",),
        SHOPPING: ("Egg", "$4", "$7", "Arcana", "normal", "Big Blind"),
        OPENING: ("Arcana normal", "Justice"),
    }[phase]
    assert set(about) <= set(texts)


def test_a_joker_shows_its_value_and_its_target():
    states = table()
    keys = ("j_runner", "j_hologram", "j_rocket", "j_todo_list", "j_mail", "j_joker")
    give(states, "jokers", 6, kind=JOKER, number=[jokers.number_of(key) for key in keys],
         value=[45.0, 1.75, 3.0, 0.0, 0.0, 0.0], counter=10)  # fmt: skip
    states["mail_rank"] = cards.TEN
    texts = words(drawn(states))
    assert {"+45", "x1.75", "$3", "Pair", "10"} <= set(texts)


def test_a_played_card_is_found_after_others_broke():
    states = table(PLAYING_HAND)
    states["hand_count"], states["pile_count"], states["hands_played"] = 0, 10, 1
    states[0]["pile"][:10] = np.arange(10)
    tally = states[0]["tally"]
    tally["count"], tally["cards"], tally["broken"] = 5, [20, 30, 40, 50, 5], 0b00010
    assert [place_now(states[0], place) for place in range(5)] == [20, -1, 39, 49, -1]


def test_plasma_shows_doubled_required_scores():
    states = table(CHOOSING_BLIND)
    once = [asked(states[0], blind) for blind in range(BOSS + 1)]
    states["deck"] = decks.PLASMA
    assert [asked(states[0], blind) for blind in range(BOSS + 1)] == [2 * score for score in once]
    assert once == [800.0, 1200.0, 1600.0]
