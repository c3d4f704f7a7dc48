"""Drawing functions: `scene` fills a canvas with shapes, and every renderer (picture, GIF, SVG, browser) reads them.

Shapes, not pixels: a rectangle with round corners, a circle, a line with round ends, a text centred on its point, and
an invisible area that plays an action when clicked.
"""

from __future__ import annotations

import numpy as np

from ludus.dsl import f32, record, rule, u8, u16, u32
from ludus.dsl.rows import new_rows
from ludus.types import Array

RECT, CIRCLE, LINE, TEXT, AREA = 1, 2, 3, 4, 5
CAPACITY, LETTERS = 1024, 40

SHAPE = record(kind=u8, letters=u8, color=u32, x=f32, y=f32, w=f32, h=f32, size=f32, angle=f32, text=(u8, LETTERS))
CANVAS = np.dtype([("count", u16), ("dropped", u16), ("shapes", SHAPE, (CAPACITY,))], align=True)


def new_canvas() -> Array:
    """An empty canvas: an array of one record, as the compiled rules take it."""
    return new_rows(1, CANVAS)


@rule
def add(canvas, kind, x, y, w, h, size, angle, color):
    """Append a shape; shapes beyond the capacity are counted in `dropped`."""
    index = np.int64(canvas.count)
    if index >= CAPACITY:
        canvas.dropped += 1
        index = CAPACITY - 1
    else:
        canvas.count += 1
    shape = canvas.shapes[index]
    shape.kind = kind
    shape.letters = 0
    shape.x = x
    shape.y = y
    shape.w = w
    shape.h = h
    shape.size = size
    shape.angle = angle
    shape.color = color
    return shape


@rule
def rect(canvas, x, y, w, h, color, corner=0.0, angle=0.0):
    """A rectangle of colour 0xRRGGBB from its upper left corner, rotated by `angle` degrees about its centre."""
    add(canvas, RECT, x, y, w, h, corner, angle, color)


@rule
def circle(canvas, x, y, radius, color):
    """A disc about its centre."""
    add(canvas, CIRCLE, x, y, radius, radius, 0.0, 0.0, color)


@rule
def line(canvas, x1, y1, x2, y2, width, color):
    """A line with round ends."""
    add(canvas, LINE, x1, y1, x2, y2, width, 0.0, color)


@rule
def area(canvas, x, y, w, h, action):
    """An invisible rectangle that plays `action` when clicked; the action is stored in the field `color`."""
    add(canvas, AREA, x, y, w, h, 0.0, 0.0, action)


@rule
def text(canvas, x, y, size, color, letters):
    """UTF-8 bytes (`b"draw"` or a row of a table) centred on a point; a zero byte ends them."""
    shape = add(canvas, TEXT, x, y, 0.0, 0.0, size, 0.0, color)
    for index in range(min(len(letters), LETTERS)):
        if letters[index] == 0:
            break
        shape.text[index] = letters[index]
        shape.letters = index + 1


@rule
def integer(canvas, x, y, size, color, value):
    """A whole number centred on a point."""
    shape = add(canvas, TEXT, x, y, 0.0, 0.0, size, 0.0, color)
    left = abs(np.int64(value))
    digits = 1
    while left >= 10:
        left //= 10
        digits += 1
    left = abs(np.int64(value))
    start = 1 if value < 0 else 0
    if start:
        shape.text[0] = 45
    for index in range(start + digits - 1, start - 1, -1):
        shape.text[index] = 48 + left % 10
        left //= 10
    shape.letters = start + digits
