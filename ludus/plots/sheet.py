"""What is painted on, and with what: dots, and words in the letters of Pillow's own font."""

from __future__ import annotations

import functools
import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # Pillow is fetched when the first plot is painted
    from PIL import Image, ImageDraw

SMOOTHING = 3
"""how much larger than asked for a picture is painted"""
ASCII = str.maketrans({**dict.fromkeys("‐‑‒–—−", "-"), "×": "x", "·": ".", "‘": "'", "’": "'", "“": '"', "”": '"'})


class Sheet(NamedTuple):
    """What is painted on; `unit` is a pixel of a plot of 960x540 on this larger canvas."""

    canvas: Image.Image
    pen: ImageDraw.ImageDraw
    unit: float


def write(sheet: Sheet, place: tuple[float, float], words: str, size: float, color: str, anchor: str) -> None:
    """Words at a place of the large canvas; `size` in pixels of a plot of 960x540."""
    sheet.pen.text(place, words, font=_font(round(size * sheet.unit)), fill=color, anchor=anchor)


def dot(sheet: Sheet, x: float, y: float, radius: float, color: str) -> None:
    """A filled circle, in pixels of the large canvas."""
    sheet.pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)


@functools.lru_cache(32)
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def text_width(words: str, size: float) -> float:
    """How many pixels wide the words are at this size."""
    return float(_font(round(size)).getlength(words))


def fitted(words: str, size: float, room: float) -> str:
    """The words, without their middle where they are too long: runs differ at their ends."""
    kept, cut = len(words), words
    while kept and text_width(cut, size) > room:
        kept -= 1
        cut = words[: (kept + 1) // 2].rstrip() + "…" + words[len(words) - kept // 2 :].lstrip()
    return cut


def drawable(words: str) -> str:
    """The words on one line in the letters that Pillow's own font has: é is e, and what has no likeness is ?."""
    plain = unicodedata.normalize("NFKD", str(words)[:400].translate(ASCII).replace("…", "..."))
    letters = (letter for letter in plain if not unicodedata.combining(letter))
    return " ".join("".join(c if c.isspace() or c == "±" or " " <= c <= "~" else "?" for c in letters).split())
