"""Frames: encoding and decoding, whole and as changes of the previous frame."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.dsl import draw
from ludus.dsl.rows import bare, new_rows
from ludus.studio import wire
from ludus.types import LudusError

NUMBERS = ("x", "y", "w", "h", "size")


@st.composite
def shape_lists(draw_one):
    """Shapes of all kinds."""
    places = st.floats(-2000, 2000, width=32)
    one = st.tuples(
        st.sampled_from([draw.RECT, draw.CIRCLE, draw.LINE, draw.TEXT, draw.AREA]), st.integers(0, 2**24 - 1),
        places, places, places, places, st.floats(0, 500, width=32), st.floats(-720, 720, width=32),
        st.text(max_size=8),
    )  # fmt: skip
    rows = draw_one(st.lists(one, max_size=12))
    shapes = new_rows(len(rows), bare(draw.SHAPE))
    for shape, (kind, color, x, y, w, h, size, angle, words) in zip(shapes, rows, strict=True):
        letters = words.encode()[: draw.LETTERS] if kind == draw.TEXT else b""
        shape["kind"], shape["letters"], shape["color"] = kind, len(letters), color
        shape["x"], shape["y"], shape["w"], shape["h"], shape["size"], shape["angle"] = x, y, w, h, size, angle
        shape["text"][: len(letters)] = np.frombuffer(letters, np.uint8)
    return shapes


@given(
    shape_lists(),
    st.integers(0, 2**16 - 1),
    st.integers(0, 2**33),
    st.lists(st.floats(-1e6, 1e6, width=32), max_size=4),
)
def test_decode_inverts_encode(shapes, room, tick, gauges):
    seen = wire.decode(wire.encode(room, tick, wire.pack(shapes), gauges=gauges))
    assert (seen.room, seen.tick, seen.whole, seen.gauges) == (room, tick % 2**32, True, gauges)
    for name in ("kind", "letters", "color", "text"):
        assert np.array_equal(seen.shapes[name], shapes[name])
    for name in NUMBERS:
        assert np.abs(seen.shapes[name] - shapes[name]).max(initial=0) <= 1 / 32 + 1e-4
    turned = (seen.shapes["angle"] - shapes["angle"] + 180) % 360 - 180
    assert np.abs(turned).max(initial=0) <= 1 / 64
    assert np.abs(seen.shapes["angle"]).max(initial=0) <= 180


@given(shape_lists(), shape_lists())
def test_a_change_of_the_old_shapes_gives_the_new_ones(old, new):
    common = min(len(old), len(new)) // 2
    new[:common] = old[:common]  # as in games, only a part of the picture changes
    rows, before = wire.pack(new), wire.pack(old)
    change = wire.encode(0, 1, rows, before)
    whole = wire.encode(0, 1, rows)
    had = wire.decode(wire.encode(0, 0, before)).shapes
    assert np.array_equal(wire.decode(change, had).shapes, wire.decode(whole).shapes)
    assert len(change) <= len(whole)


def test_unchanged_shapes_are_not_sent():
    shapes = new_rows(300, bare(draw.SHAPE))
    shapes["kind"], shapes["x"] = draw.CIRCLE, np.arange(300)
    moved = shapes.copy()
    moved["x"][297] += 1
    message = wire.encode(3, 9, wire.pack(moved), wire.pack(shapes))
    assert len(message) == wire.HEADER.size + wire.FIXED
    assert wire.HEADER.unpack_from(message) == (1, 0, 3, 9, 300, 297, 1, 0)


def test_the_byte_layout_that_the_page_decodes():
    shapes = new_rows(2, bare(draw.SHAPE))
    shapes[0]["kind"], shapes[0]["color"], shapes[0]["x"], shapes[0]["angle"] = draw.RECT, 0x112233, -1.5, 270
    shapes[1]["kind"], shapes[1]["color"] = draw.AREA, 0x010203
    message = wire.encode(7, 5, wire.pack(shapes), gauges=[1.0])
    assert message[:16].hex() == "01010700" + "05000000" + "0200" + "0000" + "0200" + "0100"
    assert message[16:20] == np.float32(1).tobytes()
    assert (
        message[20:38].hex()
        == "0100" + "112233" + "00" + "e8ff" + "0000" * 3 + "0000" + (-90 * 64 & 0xFFFF).to_bytes(2, "little").hex()
    )
    assert message[38:44].hex() == "0500" + "030201" + "00"


def test_a_shorter_list_sends_only_its_length():
    shapes = new_rows(5, bare(draw.SHAPE))
    shapes["kind"] = draw.RECT
    change = wire.encode(0, 0, wire.pack(shapes[:3]), wire.pack(shapes))
    assert len(change) == wire.HEADER.size
    assert len(wire.decode(change, shapes).shapes) == 3


def test_pixel_frames():
    pixels = np.zeros((20, 30, 3), np.uint8)
    pixels[:, 15:] = 255
    frame = wire.PixelFrame(4, 1, 2, pixels)
    seen = wire.decode(frame.whole)
    assert (seen.room, seen.tick, seen.shapes.shape) == (4, 2, (20, 30, 3))
    assert seen.shapes[10, 2].max() < 60 and seen.shapes[10, 28].min() > 200


def test_a_listener_that_missed_a_frame_gets_a_whole_one():
    old, new = (wire.pack(new_rows(count, bare(draw.SHAPE))) for count in (3, 4))
    frame = wire.Frame(0, 8, 1, new, old)
    assert frame.after(7) is frame.change and frame.after(6) is frame.whole
    assert frame.change != frame.whole
    assert wire.Frame(0, 1, 1, new, None).after(0) == wire.encode(0, 1, new)


def test_a_change_needs_the_previous_frame():
    with pytest.raises(LudusError, match="without the previous frame"):
        wire.decode(
            wire.encode(0, 0, wire.pack(new_rows(1, bare(draw.SHAPE))), wire.pack(new_rows(1, bare(draw.SHAPE))))
        )
