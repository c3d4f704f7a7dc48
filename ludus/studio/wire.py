"""Binary encoding of frames: the shapes of a game, either all or only those that changed since the previous frame.

Little endian; lengths in sixteenths of a pixel, angles in 64ths of a degree. static/wire.js decodes the same layout.
"""

from __future__ import annotations

import functools
import io
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image

from ludus.dsl.draw import AREA, LETTERS, SHAPE
from ludus.dsl.rows import bare, new_rows
from ludus.types import Array, LudusError

SHAPES, PIXELS = 1, 2
"""versions of a frame: a list of shapes, or a picture drawn by a game of another library"""
WHOLE = 1
HEADER = struct.Struct("<BBHIHHHH")
PIXEL_HEADER = struct.Struct("<BBHIH")
PLACE, ANGLE = 16, 64
MOST_SHAPES = 2**16 - 1
ROW = np.dtype(
    [("kind", "u1"), ("letters", "u1"), ("color", "u1", 3), ("zero", "u1"), ("place", "<i2", 4), ("size", "<u2"),
     ("angle", "<i2"), ("text", "u1", LETTERS), ("rest", "u1", 6)])  # fmt: skip
"""a shape with its text padded to full length; 64 bytes, so that rows are compared eight bytes at a time"""
FIXED = 18
OFFSETS = {name: field[1] for name, field in (SHAPE.fields or {}).items()}
FACTORS = np.array([PLACE] * 5 + [ANGLE], np.float32)
LOW = np.array([-(2**15)] * 4 + [0, -(2**15)], np.float32)
HIGH = np.array([2**15 - 1] * 4 + [2**16 - 1, 2**15 - 1], np.float32)
PLACES = np.arange(LETTERS)
assert ROW.itemsize == 64 and OFFSETS["angle"] - OFFSETS["x"] == 20, "the six numbers of a shape must be adjacent"


def pack(shapes: Array) -> Array:
    """The shapes of a scene as rows of integers."""
    raw = np.ascontiguousarray(shapes[:MOST_SHAPES]).view(np.uint8).reshape(-1, SHAPE.itemsize)
    rows = np.zeros(len(raw), ROW)
    numbers = raw[:, OFFSETS["x"] : OFFSETS["text"]].view(np.float32) * FACTORS
    numbers[:, 5] = (numbers[:, 5] + 180 * ANGLE) % (360 * ANGLE) - 180 * ANGLE
    np.clip(np.rint(numbers, out=numbers), LOW, HIGH, out=numbers)
    rows["place"], rows["size"], rows["angle"] = numbers[:, :4], numbers[:, 4], numbers[:, 5]
    rows["kind"], rows["letters"] = kind, letters = raw[:, OFFSETS["kind"]], raw[:, OFFSETS["letters"]]
    # 0xRRGGBB is stored as B, G, R; the action number of an area keeps its byte order.
    low_first = raw[:, OFFSETS["color"] : OFFSETS["color"] + 3]
    rows["color"] = low_first[:, ::-1]
    areas, texts = np.flatnonzero(kind == AREA), np.flatnonzero(letters)
    if areas.size:
        rows["color"][areas] = low_first[areas]
    if texts.size:
        written = raw[texts, OFFSETS["text"] : OFFSETS["text"] + LETTERS]
        rows["text"][texts] = written * (letters[texts, None] > PLACES)
    return rows


def encode(room: int, tick: int, rows: Array, before: Array | None = None, gauges: Sequence[float] = ()) -> bytes:
    """One message: all rows, or those between the first and the last that differ from the rows `before`."""
    first, last = (0, len(rows)) if before is None else _changed(before, rows)
    numbers = np.asarray(gauges, "<f4")
    head = (SHAPES, WHOLE if before is None else 0, room, tick % 2**32, len(rows), first, last - first, numbers.size)
    return HEADER.pack(*head) + numbers.tobytes() + _cut(rows[first:last])


def encode_pixels(room: int, tick: int, pixels: Array, gauges: Sequence[float] = ()) -> bytes:
    """The message of a game that draws pixels [H, W, 3]: header, gauges, and the picture as WebP."""
    numbers = np.asarray(gauges, "<f4")
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", quality=80, method=2)
    header = PIXEL_HEADER.pack(PIXELS, 0, room, tick % 2**32, numbers.size)
    return header + numbers.tobytes() + buffer.getvalue()


def _changed(before: Array, rows: Array) -> tuple[int, int]:
    """The range [first, last) outside which new and old rows are equal."""
    common = min(len(before), len(rows))
    old, new = (part[:common].view(np.uint64).reshape(common, ROW.itemsize // 8) for part in (before, rows))
    differing = np.flatnonzero((old != new).any(axis=1))
    if len(rows) > common:
        return (int(differing[0]) if differing.size else common), len(rows)
    return (int(differing[0]), int(differing[-1]) + 1) if differing.size else (0, 0)


def _cut(rows: Array) -> bytes:
    """The rows as bytes, each text without its padding."""
    fixed = rows.view(np.uint8).reshape(len(rows), ROW.itemsize)[:, :FIXED].tobytes()
    pieces, done = [], 0
    for index in np.flatnonzero(rows["letters"]).tolist():
        pieces += [fixed[done : (index + 1) * FIXED], rows["text"][index, : rows["letters"][index]].tobytes()]
        done = (index + 1) * FIXED
    return b"".join([*pieces, fixed[done:]])


class Frame:
    """One picture of a room, encoded once for all listeners."""

    def __init__(
        self, room: int, number: int, tick: int, rows: Array, before: Array | None, gauges: Sequence[float] = ()
    ) -> None:
        self.room, self.number, self.tick, self.rows, self.gauges = room, number, tick, rows, tuple(gauges)
        self._before = before

    @functools.cached_property
    def change(self) -> bytes:
        """The message for listeners that have the previous frame."""
        return self.whole if self._before is None else self._changed

    @functools.cached_property
    def whole(self) -> bytes:
        """The message for all others."""
        return encode(self.room, self.tick, self.rows, None, self.gauges)

    @functools.cached_property
    def _changed(self) -> bytes:
        return encode(self.room, self.tick, self.rows, self._before, self.gauges)

    def after(self, seen: int) -> bytes:
        """The message for a listener whose last frame had the number `seen`."""
        return self.change if seen == self.number - 1 else self.whole


class PixelFrame:
    """A frame of a game that draws pixels; every message is whole."""

    def __init__(self, room: int, number: int, tick: int, pixels: Array, gauges: Sequence[float] = ()) -> None:
        self.room, self.number, self.tick = room, number, tick
        self.whole = self.change = encode_pixels(room, tick, pixels, gauges)

    def after(self, seen: int) -> bytes:
        return self.whole


class Seen(NamedTuple):
    """A decoded message."""

    room: int
    tick: int
    whole: bool
    gauges: list[float]
    shapes: Array
    """records of `draw.SHAPE`, or pixels [H, W, 3]"""


def decode(message: bytes, before: Array | None = None) -> Seen:
    """Decode a message; one that contains only changes needs the shapes `before`."""
    if message[:1] == bytes([PIXELS]):
        _, _, room, tick, count = PIXEL_HEADER.unpack_from(message)
        gauges = np.frombuffer(message, "<f4", count, PIXEL_HEADER.size).tolist()
        with Image.open(io.BytesIO(message[PIXEL_HEADER.size + 4 * count :])) as picture:
            return Seen(room, tick, True, gauges, np.array(picture.convert("RGB")))
    version, flags, room, tick, total, first, changed, count = HEADER.unpack_from(message)
    if version != SHAPES or (not flags & WHOLE and before is None):
        raise LudusError(f"cannot decode a frame of version {version} with flags {flags} without the previous frame")
    gauges = np.frombuffer(message, "<f4", count, HEADER.size).tolist()
    shapes = new_rows(total, bare(SHAPE))
    if before is not None and not flags & WHOLE:
        shapes[: min(total, len(before))] = before[:total]
    place = HEADER.size + 4 * count
    for shape in shapes[first : first + changed]:
        place = _read_shape(message, place, shape)
    return Seen(room, tick, bool(flags & WHOLE), gauges, shapes)


def _read_shape(message: bytes, place: int, shape: Array) -> int:
    """Fill one shape; return the position of the next."""
    kind, letters, red, green, blue, _, x, y, w, h, size, angle = struct.unpack_from("<6B4hHh", message, place)
    text = message[place + FIXED : place + FIXED + letters]
    shape["kind"], shape["letters"] = kind, letters
    shape["color"] = red | green << 8 | blue << 16 if kind == AREA else red << 16 | green << 8 | blue
    for name, number in zip(("x", "y", "w", "h", "size"), (x, y, w, h, size), strict=True):
        shape[name] = number / PLACE
    shape["angle"] = angle / ANGLE
    shape["text"] = 0
    shape["text"][:letters] = np.frombuffer(text, np.uint8)
    return place + FIXED + letters
