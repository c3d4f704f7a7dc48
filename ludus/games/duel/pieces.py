"""Pieces of the picture: cards with names and values, card backs, piles, badges, buttons.

Positions and sizes are always floats: other types would compile the drawing functions again.
"""

import textwrap
from collections.abc import Iterable
from itertools import combinations

import numpy as np

from ludus.games.duel import values
from ludus.games.duel.state import NOBODY
from ludus.games.duel.tables import CARDS, ROWS
from ludus.games.duel.tables.words import Card
from ludus.games.duel.tables import words as w
from ludus.dsl import draw, rule

FELT, OTHER_FELT, RIM, PANEL, BOX, ZONE, INK = 0x16253C, 0x241F38, 0x0E1726, 0x1B2433, 0x0E141E, 0x2C3E5C, 0x181410
WHITE, GREY, GOLD, RED, GREEN, CYAN = 0xF2F5F7, 0x9FB0BF, 0xF5C04E, 0xE0484F, 0x4DBB7A, 0x4FD0E0
BACK, BACK_INSIDE, BACK_EYE = 0x6B4226, 0x8A5A34, 0x3E2414
EXTRA_BACK, THREAD = 0x5A3F7A, 0xB8923C
NORMAL, EFFECT, RITUAL, FUSION, SYNCHRO, XYZ, LINK, TOKEN, SPELL, TRAP = range(10)
KIND_BITS = (w.TRAP, w.SPELL, w.TOKEN, w.LINK, w.XYZ, w.SYNCHRO, w.FUSION, w.RITUAL, w.NORMAL, 0)
KIND_OF_BIT = (TRAP, SPELL, TOKEN, LINK, XYZ, SYNCHRO, FUSION, RITUAL, NORMAL, EFFECT)
COLORS = np.array([0xDDBB76, 0xCB8350, 0x7FA0DC, 0xA67FC4, 0xE4E6EA, 0x363A46, 0x3F78C0, 0xA4A9AD, 0x2F9C86, 0xB54F90])
"""colors by kind of card, as on real cards"""
SHADES = np.array([0xB8955A, 0xA3613A, 0x5F7FBA, 0x8560A4, 0xB9BDC6, 0x23262F, 0x2C5A96, 0x83888D, 0x217465, 0x8C3A6F])
BREED_INKS = np.array([INK, 0xFFEBDD, WHITE, WHITE, INK, WHITE, WHITE, INK, WHITE, WHITE])
PLATE, RAISED, LOWERED = 0xF6EFDF, 0x12803A, 0xC01823
INKS = np.array([INK, INK, INK, INK, INK, WHITE, WHITE, INK, WHITE, WHITE])
ATTRIBUTE_COLORS = np.array([0x8A5A2B, 0x3E8FE8, 0xE04A32, 0x58B368, 0xFFF3B0, 0x4B2A6B, 0xE8B23A])
"""EARTH, WATER, FIRE, WIND, LIGHT, DARK, DIVINE"""
LETTER_WIDTH = 0.6
"""approximate width of a letter of size one"""
LINES, WRAPPED_AT = 8, 34
"""of what a card says"""


def word_table(words: Iterable[str]) -> np.ndarray:
    """[words, LETTERS] their bytes, zeros behind them."""
    rows = [word.encode()[: draw.LETTERS] for word in words]
    table = np.zeros((len(rows), draw.LETTERS), np.uint8)
    for row, letters in zip(table, rows, strict=True):
        row[: len(letters)] = list(letters)
    return table


def parted(name: str, most: int) -> tuple[str, ...]:
    """A name in one to three lines of similar length."""
    words = name.split() or [""]
    lines = min(most, 1 if len(name) <= 10 else 2 if len(name) <= 22 else 3)
    cuts = combinations(range(1, len(words)), min(lines, len(words)) - 1)
    ways = ([" ".join(words[a:b]) for a, b in zip((0, *cut), (*cut, len(words)), strict=True)] for cut in cuts)
    return tuple(min(ways, key=lambda way: max(map(len, way))))


def kind_of(card: Card) -> int:
    """The color class of a card."""
    return next(kind for bit, kind in zip(KIND_BITS, KIND_OF_BIT, strict=True) if card.types & bit or not bit)


def sort_of(card: Card) -> str:
    """The word at the foot of a spell or trap."""
    sorts = {w.QUICKPLAY: "quick-play", w.CONTINUOUS: "continuous", w.EQUIP: "equip", w.FIELD: "field"}
    sorts |= {w.COUNTER: "counter", w.RITUAL: "ritual"}
    plain = "trap" if card.types & w.TRAP else "spell"
    return next((word for bit, word in sorts.items() if card.types & bit), plain) if not card.types & w.MONSTER else ""


def breed_of(card: Card) -> tuple[str, str]:
    """The two words below a monster of the hand: its race and its special type."""
    sorts = {w.FLIP: "flip", w.SPIRIT: "spirit", w.TOON: "toon", w.TUNER: "tuner", w.RITUAL: "ritual"}
    sorts |= {w.NORMAL: "normal"}
    race = w.RACES[card.race.bit_length() - 1] if card.race else ""
    return race, next((word for bit, word in sorts.items() if card.types & bit), "effect") if race else ""


def says(card: Card) -> str:
    """The effects of a card in one line; empty if it has none."""
    return "; ".join(line for line in (card.says, *(effect.says for effect in card.effects)) if line)


PARTED = [parted(card.name, 3) for card in ROWS]
PAIRED = [parted(card.name, 2) for card in ROWS]
SAID = [textwrap.wrap(says(card), WRAPPED_AT)[:LINES] for card in ROWS]
NAMES = word_table(card.name for card in ROWS)
NAME_LINES = np.stack([word_table((*lines, "", "")[:3]) for lines in PARTED])
NAME_COUNTS = np.array([len(lines) for lines in PARTED])
LONGEST_LINES = np.array([max(map(len, lines)) for lines in PARTED])
PAIR_LINES = np.stack([word_table((*lines, "")[:2]) for lines in PAIRED])
LONGEST_PAIRS = np.array([max(map(len, lines)) for lines in PAIRED])
SAYS = np.stack([word_table((*lines, *[""] * LINES)[:LINES]) for lines in SAID])
SAY_COUNTS = np.array([len(lines) for lines in SAID])
KINDS = np.array([kind_of(card) for card in ROWS])
SORTS = word_table(sort_of(card) for card in ROWS)
BREEDS = np.stack([word_table(breed_of(card)) for card in ROWS])
SAME = np.array([next(row for row, card in enumerate(ROWS) if card.name == named.name) for named in ROWS])
"""the first row of each name, as tokens have several rows"""


@rule
def fitted(canvas, x, y, width, size, color, words):
    """Draw a text that is at most about `width` wide."""
    count = 0
    while count < len(words) and words[count]:
        count += 1
    if count:
        draw.text(canvas, x, y, min(size, width / (LETTER_WIDTH * count)), color, words)


@rule
def written(canvas, left, y, size, color, words):
    """Draw a text that begins about at a position."""
    count = 0
    while count < len(words) and words[count]:
        count += 1
    if count:
        draw.text(canvas, left + LETTER_WIDTH * size * count / 2.0, y, size, color, words)


@rule
def framed(canvas, x, y, width, height, color, thick):
    """Draw a border; the contents are drawn over it."""
    draw.rect(canvas, x - thick, y - thick, width + 2.0 * thick, height + 2.0 * thick, color, 7.0 + thick / 2.0)


@rule
def paint_back(canvas, x, y, width, height, color):
    """Draw the back of a card, upright or sideways."""
    short = min(width, height)
    draw.rect(canvas, x, y, width, height, RIM, 6.0)
    draw.rect(canvas, x + 1.5, y + 1.5, width - 3.0, height - 3.0, color, 5.0)
    inside = 0.12 * short
    draw.rect(canvas, x + inside, y + inside, width - 2.0 * inside, height - 2.0 * inside, BACK_INSIDE, 4.0)
    draw.circle(canvas, x + width / 2.0, y + height / 2.0, 0.26 * short, BACK_EYE)
    draw.circle(canvas, x + width / 2.0, y + height / 2.0, 0.12 * short, color)


@rule
def paint_name(canvas, x, y, width, size, color, code):
    """Draw a card's name in lines, beginning at y; the y below them."""
    count = int(NAME_COUNTS[code])
    fit = min(size, width / (LETTER_WIDTH * LONGEST_LINES[code]))
    for line in range(count):
        draw.text(canvas, x, y + (fit + 1.0) * line, fit, color, NAME_LINES[code, line])
    return y + (fit + 1.0) * count


@rule
def paint_wide_name(canvas, x, y, width, size, color, code):
    """Draw a card's name in at most two lines, for sideways cards."""
    fit = min(size, width / (LETTER_WIDTH * LONGEST_PAIRS[code]))
    for line in range(min(2, int(NAME_COUNTS[code]))):
        draw.text(canvas, x, y + (size + 1.0) * line, fit, color, PAIR_LINES[code, line])


@rule
def paint_level(canvas, x, y, width, code, kind):
    """Draw the attribute as a colored dot and level or rank as small dots; a Link rating as text."""
    row = CARDS[code]
    bit = 0
    while row.attribute >> bit > 1:
        bit += 1
    radius = 0.055 * width + 1.0
    draw.circle(canvas, x + 2.4 * radius, y, radius + 1.0, RIM)
    draw.circle(canvas, x + 2.4 * radius, y, radius, ATTRIBUTE_COLORS[bit])
    if kind == LINK:
        draw.text(canvas, x + 0.5 * width, y, 0.13 * width, WHITE, b"LINK")
        draw.integer(canvas, x + 0.78 * width, y, 0.15 * width, GOLD, row.level)
        return
    step = min(0.085 * width, (width - 5.5 * radius) / max(1.0, float(row.level)))
    for star in range(row.level):
        dot_x = x + 5.2 * radius + step * star
        draw.circle(canvas, dot_x, y, 0.42 * step, RIM if kind == SYNCHRO or kind != XYZ else WHITE)
        draw.circle(canvas, dot_x, y, 0.32 * step, GOLD if kind != XYZ else RIM)


@rule
def compared(value, printed):
    """The color of a value: raised, lowered or as printed."""
    if value > printed:
        return RAISED
    return LOWERED if value < printed else INK


@rule
def paint_body(canvas, x, y, width, height, code):
    """Draw an empty card in its color."""
    draw.rect(canvas, x, y, width, height, RIM, 6.0)
    draw.rect(canvas, x + 1.5, y + 1.5, width - 3.0, height - 3.0, COLORS[KINDS[code]], 5.0)


@rule
def plate(canvas, x, y, width, height):
    """Draw the bar for a card's numbers."""
    draw.rect(canvas, x, y, width, height, PLATE, 4.0)


@rule
def paint_monster(state, canvas, x, y, width, height, c):
    """Draw a face-up monster on the field: the value that counts in its position is large, the other one small."""
    code = state.cards[c].code
    row = CARDS[code]
    kind = KINDS[code]
    upright = height > width
    attack = values.attack(state, c)
    defense = values.defense(state, c)
    middle = x + width / 2.0
    paint_body(canvas, x, y, width, height, code)
    name_at = y + (9.0 if NAME_COUNTS[code] > 1 else 14.0)
    if upright:
        paint_name(canvas, middle, name_at, width - 6.0, 9.5, INKS[kind], code)
        paint_level(canvas, x, y + 41.0, width, code, kind)
        plate(canvas, x + 4.0, y + 49.0, width - 8.0, height - 53.0)
        draw.integer(canvas, middle, y + 60.0, 19.0, compared(attack, row.attack), attack)
        if kind != LINK:
            draw.integer(canvas, middle, y + 77.0, 10.0, compared(defense, row.defense), defense)
        return
    paint_wide_name(canvas, middle, name_at, width - 8.0, 9.5, INKS[kind], code)
    paint_level(canvas, x + 10.0, y + 33.0, 66.0, code, kind)
    plate(canvas, x + 4.0, y + 39.0, width - 8.0, height - 43.0)
    draw.integer(canvas, x + 0.4 * width, y + 48.5, 17.0, compared(defense, row.defense), defense)
    draw.integer(canvas, x + 0.8 * width, y + 50.5, 9.5, compared(attack, row.attack), attack)


@rule
def paint_spell(canvas, x, y, width, height, code):
    """Draw a face-up spell or trap, or a monster that is equipped to another one."""
    kind = KINDS[code]
    paint_body(canvas, x, y, width, height, code)
    paint_name(canvas, x + width / 2.0, y + 0.18 * height, width - 5.0, 9.5, INKS[kind], code)
    draw.rect(canvas, x + 4.0, y + height - 27.0, width - 8.0, 23.0, SHADES[kind], 4.0)
    fitted(canvas, x + width / 2.0, y + height - 15.5, width - 12.0, 8.5, WHITE, SORTS[code])


@rule
def paint_named(canvas, x, y, width, height, code):
    """Draw a card with its color and name only."""
    paint_body(canvas, x, y, width, height, code)
    paint_name(canvas, x + width / 2.0, y + 0.2 * height, width - 5.0, 9.5, INKS[KINDS[code]], code)


@rule
def paint_in_hand(canvas, x, y, width, height, code):
    """Draw a card of the own hand."""
    row = CARDS[code]
    kind = KINDS[code]
    middle = x + width / 2.0
    paint_body(canvas, x, y, width, height, code)
    paint_name(canvas, middle, y + 12.0, width - 8.0, 11.5, INKS[kind], code)
    draw.rect(canvas, x + 5.0, y + 81.0, width - 10.0, height - 86.0, SHADES[kind], 4.0)
    if row.types & w.MONSTER == 0:
        fitted(canvas, middle, y + 64.0, width - 8.0, 11.0, INKS[kind], SORTS[code])
        return
    paint_level(canvas, x + 2.0, y + 52.0, width - 4.0, code, kind)
    plate(canvas, x + 5.0, y + 60.0, width - 10.0, 18.0)
    for line in range(2):
        fitted(canvas, middle, y + 96.0 + 16.0 * line, width - 16.0, 11.0, BREED_INKS[kind], BREEDS[code, line])
    draw.integer(canvas, middle - 0.22 * width, y + 69.0, 14.0, INK, row.attack)
    draw.line(canvas, middle - 2.0, y + 74.0, middle + 2.0, y + 64.0, 1.5, INK)
    draw.integer(canvas, middle + 0.22 * width, y + 69.0, 14.0, INK, row.defense)


@rule
def paint_hidden(canvas, x, y, width, height, code):
    """Draw a set card of one's own: a back with its name."""
    paint_back(canvas, x, y, width, height, BACK)
    lines = int(NAME_COUNTS[code])
    high = 10.5 * lines + 5.0
    draw.rect(canvas, x + 2.0, y + (height - high) / 2.0, width - 4.0, high, RIM, 4.0)
    paint_name(canvas, x + width / 2.0, y + height / 2.0 - 5.2 * (lines - 1.0), width - 6.0, 9.5, GREY, code)


@rule
def badge(canvas, x, y, radius, color, ink, number):
    """Draw a number on a disc."""
    draw.circle(canvas, x, y, radius + 1.5, RIM)
    draw.circle(canvas, x, y, radius, color)
    draw.integer(canvas, x, y, 1.35 * radius, ink, number)


@rule
def button(canvas, x, y, width, height, color, ink, words, action):
    """Draw a button."""
    draw.rect(canvas, x, y, width, height, RIM, min(6.0, 0.4 * height))
    draw.rect(canvas, x + 1.0, y + 1.0, width - 2.0, height - 2.0, color, min(5.0, 0.4 * height))
    fitted(canvas, x + width / 2.0, y + height / 2.0, width - 6.0, min(14.0, 0.72 * height), ink, words)
    draw.area(canvas, x, y, width, height, action)


@rule
def known(state, c, seat):
    """Whether a seat knows which card this is: public cards and its own; its deck is only shown in a search."""
    card = state.cards[c]
    if c == NOBODY or card.place == 0:
        return False
    if card.place & (w.GRAVE | w.OVERLAY):
        return True
    if card.place & (w.MZONE | w.SZONE | w.BANISHED) and card.position & w.UP:
        return True
    return card.controller == seat
