"""The canvas of a plot, and functions that draw dots and text on it in Pillow's default font."""

from __future__ import annotations

import functools
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # Pillow is imported when the first plot is painted
    from PIL import Image, ImageDraw, ImageFont

SMOOTHING = 3
"""supersampling factor: a picture is painted this many times larger and then reduced"""
ASCII = str.maketrans({**dict.fromkeys("‐‑‒–—−", "-"), "×": "x", "·": ".", "‘": "'", "’": "'", "“": '"', "”": '"'})


class Sheet(NamedTuple):
    """The canvas; `unit` is the size on it of one pixel of a 960x540 plot."""

    canvas: Image.Image
    pen: ImageDraw.ImageDraw
    unit: float


def write(sheet: Sheet, place: tuple[float, float], words: str, size: float, color: str, anchor: str) -> None:
    """Write text at a position of the large canvas; `size` is in pixels of a 960x540 plot."""
    sheet.pen.text(place, words, font=_font(round(size * sheet.unit)), fill=color, anchor=anchor)


def dot(sheet: Sheet, x: float, y: float, radius: float, color: str) -> None:
    """A filled circle, in pixels of the large canvas."""
    sheet.pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)


@functools.lru_cache(32)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def text_width(words: str, size: float) -> float:
    """The width of the text in pixels at this font size."""
    return float(_font(round(size)).getlength(words))


def fitted(words: str, size: float, room: float) -> str:
    """The text, with its middle cut out if it is too long; names of runs differ at their ends."""
    kept, cut = len(words), words
    while kept and text_width(cut, size) > room:
        kept -= 1
        cut = words[: (kept + 1) // 2].rstrip() + "…" + words[len(words) - kept // 2 :].lstrip()
    return cut


def drawable(words: str) -> str:
    """The text on one line, in characters of Pillow's default font: é becomes e, other characters become ?."""
    plain = unicodedata.normalize("NFKD", str(words)[:400].translate(ASCII).replace("…", "..."))
    letters = (letter for letter in plain if not unicodedata.combining(letter))
    return " ".join("".join(c if c.isspace() or c == "±" or " " <= c <= "~" else "?" for c in letters).split())
