"""Drawing functions: each writes its shape, texts end at the right byte, and shapes beyond the capacity are counted."""

import numpy as np
import pytest

from ludus.dsl import draw, rule


@rule
def one_of_each(canvas):
    draw.rect(canvas, 1, 2, 30, 40, 0x112233, 4.0, 90.0)
    draw.circle(canvas, 50, 60, 7, 0x445566)
    draw.line(canvas, 10, 20, 30, 40, 3, 0x778899)
    draw.text(canvas, 5, 6, 18, 0xAABBCC, b"draw")
    draw.area(canvas, 7, 8, 90, 80, 999)


@rule
def numbers(canvas, values):
    for index in range(len(values)):
        draw.integer(canvas, 0, 0, 10, 0, values[index])


@rule
def letters(canvas, table):
    for index in range(len(table)):
        draw.text(canvas, 0, 0, 10, 0, table[index])


@rule
def circles(canvas, count):
    for index in range(count):
        draw.circle(canvas, index, 0, 1, 0)


def drawn(scene, *arguments):
    canvas = draw.new_canvas()
    scene(canvas[0], *arguments)
    return canvas[0]


def written(shape) -> str:
    return bytes(shape["text"][: shape["letters"]]).decode()


def test_each_function_writes_its_shape():
    canvas = drawn(one_of_each)
    assert canvas["count"] == 5 and canvas["dropped"] == 0
    names = ("kind", "x", "y", "w", "h", "size", "angle", "color")
    shapes = [tuple(shape[name].item() for name in names) for shape in canvas["shapes"][:5]]
    assert shapes == [
        (draw.RECT, 1, 2, 30, 40, 4, 90, 0x112233),
        (draw.CIRCLE, 50, 60, 7, 7, 0, 0, 0x445566),
        (draw.LINE, 10, 20, 30, 40, 3, 0, 0x778899),
        (draw.TEXT, 5, 6, 0, 0, 18, 0, 0xAABBCC),
        (draw.AREA, 7, 8, 90, 80, 0, 0, 999),
    ]
    assert written(canvas["shapes"][3]) == "draw"


@pytest.mark.parametrize("value", [0, 7, -7, 10, 99, 100, -100, 12345678901234567, 2**63 - 1, -(2**63) + 1])
def test_integers_are_drawn_as_digits(value):
    assert written(drawn(numbers, np.array([value]))["shapes"][0]) == str(value)


def test_a_text_ends_at_a_zero_byte_or_at_the_capacity():
    table = np.zeros((3, 50), np.uint8)
    table[0, :5] = list(b"ab\0cd")
    table[1, :] = ord("x")
    shapes = drawn(letters, table)["shapes"]
    assert [written(shape) for shape in shapes[:3]] == ["ab", "x" * draw.LETTERS, ""]


def test_a_reused_shape_keeps_no_old_text():
    canvas = draw.new_canvas()
    numbers(canvas[0], np.array([12345]))
    canvas["count"] = 0
    numbers(canvas[0], np.array([7]))
    assert written(canvas[0]["shapes"][0]) == "7"


def test_shapes_beyond_the_capacity_are_counted():
    canvas = drawn(circles, draw.CAPACITY + 5)
    assert canvas["count"] == draw.CAPACITY and canvas["dropped"] == 5
    assert canvas["shapes"]["x"][draw.CAPACITY - 2] == draw.CAPACITY - 2
