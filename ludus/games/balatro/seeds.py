"""Seeds of the original game: up to eight letters and digits; the digit 0 becomes the letter O."""

from __future__ import annotations

import numpy as np

from ludus.games.balatro.state import SEED_LETTERS
from ludus.types import Array, LudusError

LETTERS = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def parse(text: str) -> Array:
    """The bytes of a seed; zeros for a random one."""
    letters = np.zeros(SEED_LETTERS, np.uint8)
    if text == "random":
        return letters
    plain = text.upper().replace("0", "O")
    if not 1 <= len(plain) <= SEED_LETTERS or not set(plain) <= set(LETTERS):
        raise LudusError(f'"{text}" is not a seed; a seed is 1 to {SEED_LETTERS} digits and letters, like 7LB2WVPK')
    letters[: len(plain)] = list(plain.encode())
    return letters
