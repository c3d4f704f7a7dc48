"""Layouts: derived from any record, declared by a game, and rejected if they do not fit."""

import dataclasses

import numpy as np
import pytest

from ludus import games
from ludus.agents.neural.networks.layout import (
    Entities,
    Field,
    Layout,
    Shown,
    blank,
    check_ids,
    check_shapes,
    layout_of,
    trimmed,
)
from ludus.bench.inference import DUEL_SHAPED, random_duel
from ludus.dsl import f32, i8, i16, i32, i64, record, u8, u16, within
from ludus.types import Continuous, Discrete, LudusError, Spec

SPEC = Spec(seats=2, actions=Discrete(3))


def of_game(name):
    game = games.load(name)
    return layout_of(game.rules.OBSERVATION, game.spec)


def test_board_is_a_set_of_tokens_with_positions():
    for name, cells in (("tictactoe", 9), ("connect4", 42)):
        layout = of_game(name)
        (board,) = layout.entities
        assert (board.name, board.count, board.columns, board.positions) == ("board", cells, 1, True)
        assert board.fields[0].kind == "category" and board.fields[0].categories == 3
        assert not layout.globals


def test_numbers_are_global_fields_with_bounds():
    (motion,) = of_game("cartpole").globals
    assert motion.kind == "number" and motion.shape == (4,) and motion.bins == 32
    assert motion.low[0] == pytest.approx(-4.8) and motion.high[1] == np.inf
    (sensors,) = of_game("car").globals
    assert (sensors.low, sensors.high, sensors.bins) == ((0.0,), (1.0,), 32)


def test_record_with_several_kinds_of_fields():
    layout = of_game("goofspiel")
    assert [field.name for field in layout.globals] == ["prize"]
    assert layout.globals[0].kind == "category" and layout.globals[0].categories == 14
    assert [(part.name, part.count) for part in layout.entities] == [("points", 2), ("cards", 26), ("prizes_left", 13)]


@pytest.mark.parametrize(
    ("field", "kind", "low", "high"),
    [
        (i8, "category", -128, 127),
        (within(-3, 3, i32), "category", -3, 3),
        (within(0, 256, i16), "number", 0, 256),
        (u16, "number", 0, 65535),
        (i32, "number", -np.inf, np.inf),
        (i64, "number", -np.inf, np.inf),
        (f32, "number", -np.inf, np.inf),
        (within(-2, 5, f32), "number", -2, 5),
        (np.bool_, "category", 0, 1),
    ],
)
def test_small_ranges_are_categories_and_wide_ones_numbers(field, kind, low, high):
    (found,) = layout_of(record(it=field), SPEC).globals
    assert (found.kind, found.low, found.high) == (kind, (low,), (high,))
    assert (found.bins > 0) == (kind == "number")


def test_columns_with_different_ranges_make_one_token_per_row():
    (hand,) = layout_of(record(hand=within((0, 0, 1), (3, 12, 4), u8, 5, 3)), SPEC).entities
    assert (hand.count, hand.columns) == (5, 3)
    assert [(field.at, field.low, field.high) for field in hand.fields] == [
        (0, (0.0,), (3.0,)),
        (1, (0.0,), (12.0,)),
        (2, (1.0,), (4.0,)),
    ]


def test_large_array_is_one_numeric_field():
    layout = layout_of(record(screen=(u8, (40, 40, 3))), SPEC)
    assert not layout.entities
    assert layout.globals[0].shape == (4800,) and layout.globals[0].bins == 0


@pytest.mark.parametrize("dtype", [np.dtype([]), np.dtype([("a", "f4", (0,))]), np.dtype([("a", "S3")])])
def test_record_without_numbers_is_rejected(dtype):
    with pytest.raises(LudusError):
        layout_of(dtype, SPEC)


def test_layouts_are_hashable():
    assert hash(DUEL_SHAPED) == hash(dataclasses.replace(DUEL_SHAPED))
    assert hash(of_game("goofspiel")) == hash(of_game("goofspiel"))
    assert of_game("tictactoe") != of_game("connect4")


def own_record():
    return np.dtype([(array.name, array.dtype, array.shape) for array in DUEL_SHAPED.shown])


def test_own_layout_is_used_if_it_fits():
    assert layout_of(own_record(), Spec(2, Discrete(24)), DUEL_SHAPED) is DUEL_SHAPED
    for spec in (Spec(2, Discrete(23)), Spec(2, Continuous((0.0,), (1.0,)))):
        with pytest.raises(LudusError, match="24 action tokens"):
            layout_of(own_record(), spec, DUEL_SHAPED)
    with pytest.raises(LudusError, match="LAYOUT describes"):
        layout_of(record(cards_=(u8, (160, 40))), Spec(2, Discrete(24)), DUEL_SHAPED)


NUMBER = Field("x", (), "number", (0.0,), (1.0,))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"globals": (NUMBER,)}, 'unknown array "x"'),
        ({"globals": (NUMBER._replace(source="a", at=6),)}, "reads the columns 6 to 6 of x, which has only 6"),
        ({"globals": (NUMBER._replace(source="a", kind="category", high=(np.inf,)),)}, "needs a finite range"),
        ({"entities": (Entities("a", 4, ()),)}, "is not 4 entities of 1 columns"),
        ({"entities": (Entities("a", 3, (), 2, ids=(0, 2)),)}, "there is no column 2"),
        ({"entities": (Entities("a", 3, (NUMBER._replace(pair=True, at=1),), 2),)}, "reads the columns 1 to 2"),
        ({"actions": Entities("a", 3, (), 2, points=0)}, "refers to entities, but there are none"),
    ],
)
def test_inconsistent_layout_is_rejected(parts, sentence):
    with pytest.raises(LudusError) as error:
        Layout((Shown("a", (3, 2), "uint8"),), **parts)
    assert sentence in str(error.value)


def test_blank_observation_has_the_shapes_of_the_record():
    seen = blank(DUEL_SHAPED, 3)
    assert {name: (array.shape, array.dtype) for name, array in seen.items()} == {
        array.name: ((3, *array.shape), np.dtype(array.dtype)) for array in DUEL_SHAPED.shown
    }
    assert check_shapes(DUEL_SHAPED, seen) == 3


def test_wrong_shapes_raise():
    seen = blank(DUEL_SHAPED, 3)
    with pytest.raises(LudusError, match="has no global_"):
        check_shapes(DUEL_SHAPED, {"cards_": seen["cards_"]})
    for name, shape in (("cards_", (3, 160, 40)), ("cards_", (3, 161, 41)), ("global_", (2, 23)), ("global_", (3, 22))):
        with pytest.raises(LudusError, match=name):
            check_shapes(DUEL_SHAPED, {**seen, name: np.zeros(shape, np.uint8)})


def test_hidden_arrays_are_required_only_if_they_are_read():
    shown = (Shown("a", (), "int8"), Shown("secret", (2,), "int8"))
    secret = Entities("secret", 2, (Field("secret", (), "category", (0.0,), (1.0,)),))
    layout = Layout(shown, (Field("a", (), "category", (0.0,), (1.0,)),), hidden=(secret,))
    seen = {"a": np.zeros(4, np.int8)}
    assert check_shapes(layout, seen) == 4
    with pytest.raises(LudusError, match="has no secret"):
        check_shapes(layout, seen, hidden=True)


def test_ids_and_categories_out_of_range_raise():
    seen = random_duel(2, 20)
    check_ids(DUEL_SHAPED, seen)
    check_ids(DUEL_SHAPED, seen, rows=1000)
    with pytest.raises(LudusError, match="the network's table ends at 99"):
        check_ids(DUEL_SHAPED, seen, rows=100)
    for name, place, value, sentence in (
        ("cards_", (1, 3, 0), 50, "cards_ contains the id 1[23]"),
        ("h_actions_", (0, 0, 1), 200, "h_actions_ contains the id 51"),
        ("cards_", (0, 0, 8), 27, "race is 27, but the network knows 0 to 26"),
        ("global_", (0, 4), 20, "turn is 20"),
        ("actions_", (0, 0, 0), 161, "refers to row 161"),
    ):
        broken = {key: array.copy() for key, array in seen.items()}
        broken[name][place] = value
        with pytest.raises(LudusError, match=sentence):
            check_ids(DUEL_SHAPED, broken)


@pytest.mark.parametrize(("cards", "kept"), [(0, 32), (1, 32), (32, 32), (33, 48), (49, 64), (129, 160), (160, 160)])
def test_padding_is_cut_to_the_smallest_bucket(cards, kept):
    seen = random_duel(3, cards)
    cut = trimmed(DUEL_SHAPED, seen)
    assert cut["cards_"].shape == (3, kept, 41)
    np.testing.assert_array_equal(cut["cards_"][:, :cards], seen["cards_"][:, :cards])
    assert cut["actions_"].shape[1] == 8 and cut["h_actions_"].shape[1] == 16 and cut["global_"] is seen["global_"]


def test_the_last_real_entity_of_any_row_is_kept():
    plain = dataclasses.replace(DUEL_SHAPED.entities[0], unknown=(-1, 0))
    layout = dataclasses.replace(DUEL_SHAPED, entities=(plain,))
    seen = blank(layout, 2)
    seen["cards_"][1, 99, 2] = 1
    assert trimmed(layout, seen)["cards_"].shape[1] == 128
    assert trimmed(layout, seen, buckets=(50,))["cards_"].shape[1] == 160
    seen["h_actions_"][0, 16, 3] = seen["actions_"][1, 16, 3] = 1
    assert {name: len(array[0]) for name, array in trimmed(layout, seen).items()} == {
        "cards_": 128,
        "global_": 23,
        "actions_": 24,
        "h_actions_": 32,
    }


def test_sets_without_padding_are_never_cut():
    layout = of_game("connect4")
    seen = blank(layout, 2)
    assert trimmed(layout, seen)["board"] is seen["board"]
