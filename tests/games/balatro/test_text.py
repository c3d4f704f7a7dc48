"""The table as text: short, complete, and without hidden information."""

import numpy as np
import pytest

from ludus.dsl import CUT, OVER
from ludus.dsl.draw import new_canvas
from ludus.dsl.rows import new_rows
from ludus.games.balatro.pieces import number
from ludus.games.balatro.state import (
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
from ludus.games.balatro.tables import cards, consumables, hands, jokers, tags
from ludus.games.balatro.text import amount, text


def table(phase):
    """A constructed state: five cards, two jokers, a consumable, a tag."""
    states = new_rows(1, STATE)
    for field, value in {
        "phase": phase, "ante": 1, "round": 2, "money": 7, "score": 120.0, "required": 450.0, "scale": 1.0, "blind": 1,
        "hands_left": 3, "discards_left": 2, "hands": 4, "discards": 3, "joker_slots": 5, "consumable_slots": 2,
        "boss": 2, "card_count": 5, "joker_count": 2, "consumable_count": 1, "tag_count": 1,
    }.items():  # fmt: skip
        states[field] = value
    states["levels"] = 1
    state = states[0]
    state["levels"][hands.PAIR] = 3
    state["cards"]["rank"][:5], state["cards"]["suit"][:5] = [12, 11, 8, 0, 5], [3, 2, 1, 0, 0]
    state["jokers"]["kind"][:2], state["jokers"]["number"][:2] = JOKER, (1, jokers.number_of("j_runner"))
    state["jokers"]["value"][1] = 30.0
    state["consumables"]["kind"][0], state["consumables"]["number"][0] = CONSUMABLE, consumables.PLUTO
    state["tags"][0] = tags.DOUBLE_TAG
    return states


HOLDINGS = [
    "jokers 2 of 5: 1 Joker $1 | 2 Runner (+30) $2",
    "consumables 1 of 2: 1 Pluto $1",
    "tags: Double Tag",
]


def test_a_hand():
    states = table(PLAYING_HAND)
    state = states[0]
    state["hand_count"], state["hands_played"], state["last_hand"] = 5, 1, hands.PAIR
    state["hand"][:5] = [0, 1, 2, 3, 4]
    state["tally"]["chips"], state["tally"]["mult"], state["tally"]["score"], state["tally"]["level"] = 60, 2, 120, 3
    state["cards"]["flags"][:5] = [cards.SELECTED, cards.FACE_DOWN | cards.SELECTED, cards.FACE_DOWN, cards.DEBUFFED, 0]
    state["cards"]["enhancement"][[1, 3]] = cards.GLASS
    state["cards"]["enhancement"][4], state["cards"]["seal"][4] = cards.STONE, cards.RED_SEAL
    state["cards"]["chips"][3] = 5
    assert text(state).splitlines() == [
        "ante 1, round 2, Big Blind; score 120 of 450, $7; 3 hands, 2 discards, pile 0 of 5",
        *HOLDINGS,
        "last hand: Pair, level 3, 60 x 2 = 120",
        "levels: Pair 3",
        "hand: 1 A♠* | 2 ??* | 3 ?? | 4 2♣ (glass, +5, debuffed) | 5 stone (red seal)",
    ]


def test_the_choice_of_a_blind():
    assert text(table(CHOOSING_BLIND)[0]).splitlines() == [
        "ante 1, round 2, next Big Blind; score 0 of 450, $7; 4 hands, 3 discards, pile 0 of 5",
        *HOLDINGS,
        "Big Blind asks for 450, or skip it for the Uncommon Tag; The Hook (2 cards lost a hand) asks for 600",
        "levels: Pair 3",
    ]


def test_the_pay():
    states = table(CASHING_OUT)
    states["pay"] = 9
    assert text(states[0]).splitlines()[-1] == "pay: $9"


def test_the_shop():
    states = table(SHOPPING)
    state = states[0]
    state["shelf_count"], state["offered_vouchers"], state["offered_packs"], state["reroll_base"] = 3, 1, 2, 5
    state["shelf"]["kind"][:3], state["shelf"]["number"][:3] = (JOKER, CONSUMABLE, PLAYING_CARD), (1, 1, 0)
    state["shelf"]["edition"][0], state["shelf"]["stickers"][0] = cards.FOIL, cards.ETERNAL
    state["shelf"]["rank"][2], state["shelf"]["seal"][2] = cards.TEN, cards.GOLD_SEAL
    state["packs"][:2] = [0, -1]
    assert text(state).splitlines() == [
        "ante 1, round 2, next The Hook (2 cards lost a hand); score 0 of 600, $7; 4 hands, 3 discards, pile 0 of 5",
        *HOLDINGS,
        "shop: 1 Joker (foil, eternal) $4 | 2 The Fool $3 | 3 10♣ (gold seal) $1",
        "vouchers: 1 Overstock $10",
        "packs: 1 Arcana normal $4 | 2 sold",
        "reroll: $5",
        "levels: Pair 3",
    ]


def test_a_pack():
    states = table(OPENING)
    state = states[0]
    state["pack_kind"], state["picks_left"], state["pack_count"], state["pack_return"] = 2, 2, 1, SHOPPING
    state["pack"]["kind"][0], state["pack"]["number"][0] = CONSUMABLE, consumables.FOOL
    state["hand_count"] = 1
    assert text(state).splitlines()[-2:] == ["Arcana mega pack, choose 2: 1 The Fool", "hand: 1 A♠"]


@pytest.mark.parametrize(("status", "won", "word"), [(OVER, 1, "won"), (OVER, 0, "lost"), (CUT, 0, "cut off")])
def test_the_end(status, won, word):
    states = table(PLAYING_HAND)
    states["status"], states["won"] = status, won
    assert text(states[0]).splitlines()[0].endswith(f"; {word}")


def test_a_boss_that_has_no_effect_any_more():
    states = table(PLAYING_HAND)
    states["blind"], states["disabled"] = 2, 1
    assert "The Hook (no effect any more)" in text(states[0])


def test_face_down_cards_and_the_pile_are_not_in_the_text():
    states = table(PLAYING_HAND)
    state = states[0]
    state["hand_count"], state["pile_count"] = 2, 3
    state["hand"][:2], state["pile"][:3] = [0, 1], [2, 3, 4]
    state["cards"]["flags"][1] = cards.FACE_DOWN
    state["jokers"]["face_down"][1] = 1
    shown = text(state)
    assert "2 ??\n" in shown and shown.endswith("2 ??")
    state["cards"]["rank"][1], state["cards"]["seal"][1], state["cards"]["chips"][1] = 3, 2, 5
    state["cards"]["flags"][1] |= cards.DEBUFFED
    state["pile"][:3] = [4, 3, 2]
    state["jokers"]["number"][1], state["jokers"]["edition"][1], state["jokers"]["debuffed"][1] = 9, 2, 1
    state["seed_text"] = 65
    assert text(state) == shown


@pytest.mark.parametrize(
    "value", [0.0, 7.0, 1.5, 0.25, 999.99, 1234.56, 999999999.0, 1e9, 9.999e12, 1.23e26, 1e300, np.inf]
)
def test_text_and_picture_format_numbers_alike(value):
    for signed in (value, -value) if value else (value,):
        canvas = new_canvas()
        number(canvas[0], 0.0, 0.0, 99.0, 1.0, 0, 0, signed)
        shape = canvas[0]["shapes"][0]
        assert bytes(shape["text"][: shape["letters"]]).decode() == amount(signed)
