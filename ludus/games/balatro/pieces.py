"""Drawing of the items on the table: cards, jokers, consumables, numbers, colours.

The font has no suit symbols, so they are made of shapes. A face-down card shows only its back.
Positions and sizes are always floats: each other mix of argument types would compile the drawing functions again.
"""

import math

import numpy as np

from ludus.games.balatro import prices
from ludus.games.balatro.state import (
    JOKER,
    PLAYING_CARD,
)  # fmt: skip
from ludus.games.balatro.tables import blinds, cards, consumables, decks, hands, jokers, packs, tags, vouchers
from ludus.games.balatro.tables import effects as e
from ludus.dsl import draw, rule

WORDS_OF_BOSSES = {
    "bl_hook": "2 cards lost a hand", "bl_ox": "favourite hand takes $", "bl_house": "first hand face down",
    "bl_wall": "a very high score", "bl_wheel": "1 in 7 face down", "bl_arm": "hands lose levels",
    "bl_club": "clubs count nothing", "bl_fish": "new cards face down", "bl_psychic": "only hands of 5 cards",
    "bl_goad": "spades count nothing", "bl_water": "no discards", "bl_window": "diamonds count nothing",
    "bl_manacle": "1 card less in hand", "bl_eye": "no hand twice", "bl_mouth": "one kind of hand",
    "bl_plant": "faces count nothing", "bl_serpent": "always 3 new cards", "bl_pillar": "no card twice an ante",
    "bl_needle": "one hand only", "bl_head": "hearts count nothing", "bl_tooth": "$1 a card played",
    "bl_flint": "half chips and mult", "bl_mark": "faces are face down", "bl_final_acorn": "jokers hidden",
    "bl_final_leaf": "nothing until joker sold", "bl_final_vessel": "an enormous score",
    "bl_final_heart": "one joker off a hand", "bl_final_bell": "one card is forced",
}  # fmt: skip
EFFECT_WORDS = tuple(WORDS_OF_BOSSES.get(key, "") for key in blinds.KEYS)
ENHANCEMENT_WORDS = ("", "BONUS", "MULT", "WILD", "GLASS", "STEEL", "STONE", "GOLD", "LUCKY")
EDITION_WORDS = ("", "FOIL", "HOLO", "POLY", "NEGATIVE")
RANK_WORDS = (*"23456789", "10", *"JQKA")


def word_table(words: tuple[str, ...]) -> np.ndarray:
    """[words, LETTERS] the words as bytes, padded with zeros."""
    table = np.zeros((len(words), draw.LETTERS), np.uint8)
    for row, word in zip(table, words):
        row[: len(word.encode())] = list(word.encode())
    return table


def _halves(name: str) -> tuple[str, str]:
    """A long name in two lines, split at the space nearest to its middle."""
    spaces = [place for place, letter in enumerate(name) if letter == " "]
    if len(name) <= 9 or not spaces:
        return name, ""
    middle = min(spaces, key=lambda place: abs(place - len(name) / 2))
    return name[:middle], name[middle + 1 :]


def _lines(names: tuple[str, ...]) -> np.ndarray:
    """[names, 3, LETTERS] the full name and its two lines."""
    return np.stack([word_table((name, *_halves(name))) for name in names])


def _gathers(row: jokers.Joker) -> int:
    """The prefix character for the value of a joker; 1 for no prefix, 0 if the joker has no value."""
    for effect in row.effects:
        if effect.per == e.STATE:
            return ord({e.XMULT: "x", e.DOLLARS: "$"}.get(effect.does, "+"))
    return int(any(e.GAIN <= effect.does <= e.GAIN_EVERY for effect in row.effects))


JOKER_NAMES, CONSUMABLE_NAMES, VOUCHER_NAMES, PACK_NAMES = map(
    _lines, (jokers.NAMES, consumables.NAMES, vouchers.NAMES, packs.NAMES)
)
BLIND_NAMES, TAG_NAMES, HAND_NAMES, RANKS, ENHANCEMENTS, EDITIONS, EFFECTS = map(
    word_table, (blinds.NAMES, tags.NAMES, hands.NAMES, RANK_WORDS, ENHANCEMENT_WORDS, EDITION_WORDS, EFFECT_WORDS)
)
DECKS, STAKES = (
    word_table(tuple(f"{name} deck" for name in decks.NAMES)),
    word_table(tuple(f"{s} stake" for s in decks.STAKES)),
)
GATHERS = np.array([_gathers(row) for row in jokers.ROWS], np.int64)
TO_DO_LIST, IDOL, MAIL, ANCIENT, CASTLE = map(
    jokers.number_of, ("j_todo_list", "j_idol", "j_mail", "j_ancient", "j_castle")
)

FELT, RIM, PANEL, BOX, INK = 0x1B4D3B, 0x123629, 0x1C2530, 0x0F151C, 0x20262E
WHITE, GREY, GOLD, BLUE, RED, GREEN = 0xF2F5F7, 0x9FB0BF, 0xF5C04E, 0x2F86D9, 0xD8434B, 0x3FA66B
SUIT_COLORS = np.array([0x22303F, 0xD1353B, 0xD1353B, 0x14181E])
EDITION_COLORS = np.array([0x0C1F18, 0x3E9BFF, 0xFF5FA8, 0xFFB020, 0x9A6BFF])
TINTS = np.array([0xF8F4EA, 0xB9D6FF, 0xFFC2BC, 0xE5CFF5, 0xCFF1F4, 0xB4C0CB, 0x96978F, 0xF4D373, 0xC6EABB])
SEAL_COLORS = np.array([0, 0xD8434B, 0x2F86D9, 0xE0A21B, 0x8A4FD0])
STICKER_COLORS = np.array([0xC4468F, 0x4C63D9, 0xC98A12])
"""eternal, perishable, rental"""
RARITY_COLORS = np.array([0, 0x2F86D9, 0x3FA66B, 0xD8434B, 0x9A4FE0])
KIND_COLORS = np.array([0x8A5FD0, 0x2D8FA8, 0x4A62C4])
"""tarot, planet, spectral"""
PACK_COLORS = np.array([0x8A5FD0, 0x2D8FA8, 0xA8442F, 0xB8791F, 0x4A62C4])
BLIND_COLORS = np.array(
    [
        0x2A6496,
        0xA86E1B,
        *[0x933737] * (blinds.FIRST_SHOWDOWN - 2),
        *[0x6A3FA0] * (blinds.BLINDS - blinds.FIRST_SHOWDOWN),
    ]
)

LETTER_WIDTH = 0.57
"""approximate width of a letter at font size 1"""
CARD_WIDTH, CARD_HEIGHT = 78.0, 108.0
LEFT, RIGHT, HAND_RIGHT = 222.0, 950.0, 862.0
MIDDLE, CROWDED = (LEFT + RIGHT) / 2.0, 12
"""in a hand with more cards than CROWDED, only the left edges of cards are visible"""
PLUS, MINUS, POINT, DOLLAR, ZERO, EXPONENT = (ord(letter) for letter in "+-.$0e")
PLAIN_LIMIT = 1e9
"""numbers from this one on are written with an exponent"""


@rule
def digits(shape, start, value):
    """Write a whole number from position `start`; returns the position after it."""
    count = 1
    rest = value
    while rest >= 10:
        rest //= 10
        count += 1
    for place in range(start + count - 1, start - 1, -1):
        shape.text[place] = ZERO + value % 10
        value //= 10
    return start + count


@rule
def letters(shape, start, word):
    for place in range(len(word)):
        shape.text[start + place] = word[place]
    return start + len(word)


@rule
def number(canvas, x, y, width, size, color, prefix, value):
    """A float after a prefix character (0 for none), no wider than `width`: 300, 1.5, 123456789, 1.23e26."""
    shape = draw.add(canvas, draw.TEXT, x, y, 0.0, 0.0, size, 0.0, color)
    end = 0
    if value < 0.0:
        shape.text[end] = MINUS
        end += 1
    if prefix:
        shape.text[end] = prefix
        end += 1
    shape.letters = amount(shape, end, abs(value))
    shape.size = min(size, width / (LETTER_WIDTH * shape.letters))


@rule
def amount(shape, start, value):
    """Write a non-negative float from position `start`; returns the position after it."""
    if math.isnan(value):
        return letters(shape, start, b"nan")
    if math.isinf(value):
        return letters(shape, start, b"inf")
    if value < PLAIN_LIMIT - 0.5:
        hundredths = np.int64(value * 100.0 + 0.5)
        if value >= 1000.0:
            hundredths = np.int64(value + 0.5) * 100
        return fraction(shape, digits(shape, start, hundredths // 100), hundredths % 100, False)
    exponent = np.int64(math.floor(math.log10(value)))
    hundredths = np.int64(value / 10.0**exponent * 100.0 + 0.5)
    if hundredths >= 1000:
        hundredths = 100
        exponent += 1
    end = fraction(shape, digits(shape, start, hundredths // 100), hundredths % 100, True)
    shape.text[end] = EXPONENT
    return digits(shape, end + 1, exponent)


@rule
def fraction(shape, start, hundredths, whole):
    """Write a decimal point and two digits; trailing zeros only if `whole`."""
    if hundredths == 0 and not whole:
        return start
    shape.text[start] = POINT
    shape.text[start + 1] = ZERO + hundredths // 10
    if hundredths % 10 == 0 and not whole:
        return start + 2
    shape.text[start + 2] = ZERO + hundredths % 10
    return start + 3


@rule
def fitted(canvas, x, y, width, size, color, words):
    """A text shrunk to about `width` if it is wider."""
    count = 0
    while count < len(words) and words[count]:
        count += 1
    if count:
        draw.text(canvas, x, y, min(size, width / (LETTER_WIDTH * count)), color, words)


@rule
def two_lines(canvas, x, y, width, size, color, names, index):
    """A name in one or two lines, centred on a point."""
    if names[index, 2, 0]:
        fitted(canvas, x, y - 0.55 * size, width, size, color, names[index, 1])
        fitted(canvas, x, y + 0.55 * size, width, size, color, names[index, 2])
    else:
        fitted(canvas, x, y, width, size, color, names[index, 0])


@rule
def stat(canvas, x, y, width, height, color, label, prefix, value):
    """A box with a label and a number."""
    draw.rect(canvas, x, y, width, height, BOX, 8.0)
    fitted(canvas, x + width / 2.0, y + 12.0, width, 11.0, GREY, label)
    number(canvas, x + width / 2.0, y + 0.5 * height + 7.0, width - 8.0, 22.0, color, prefix, value)


@rule
def price_tag(canvas, x, y, price):
    draw.rect(canvas, x - 21.0, y - 11.0, 42.0, 22.0, BOX, 8.0)
    number(canvas, x, y, 38.0, 15.0, GOLD, DOLLAR, float(price))


@rule
def pip(canvas, x, y, radius, suit, color):
    """The symbol of a suit."""
    if suit == cards.CLUBS:
        draw.circle(canvas, x, y - 0.48 * radius, 0.47 * radius, color)
        draw.circle(canvas, x - 0.5 * radius, y + 0.22 * radius, 0.47 * radius, color)
        draw.circle(canvas, x + 0.5 * radius, y + 0.22 * radius, 0.47 * radius, color)
        draw.rect(canvas, x - 0.15 * radius, y - 0.2 * radius, 0.3 * radius, 1.2 * radius, color, 0.0)
        return
    half = radius if suit == cards.DIAMONDS else 0.78 * radius
    side = 1.4142 * half
    up = 1.0 if suit == cards.SPADES else (-1.0 if suit == cards.HEARTS else 0.0)
    middle = y - 0.22 * radius * up
    draw.rect(canvas, x - side / 2.0, middle - side / 2.0, side, side, color, 0.0, 45.0)
    if suit != cards.DIAMONDS:
        draw.circle(canvas, x - half / 2.0, middle + up * half / 2.0, 0.7 * half, color)
        draw.circle(canvas, x + half / 2.0, middle + up * half / 2.0, 0.7 * half, color)
    if suit == cards.SPADES:
        draw.rect(canvas, x - 0.15 * radius, y, 0.3 * radius, radius, color, 0.0)


@rule
def paint_base(canvas, x, y, width, height, edition, color):
    """An empty card in the frame of its edition."""
    edge = min(4.0, 0.04 * height) if edition else 1.0
    corner = min(8.0, 0.2 * height)
    draw.rect(canvas, x, y, width, height, EDITION_COLORS[edition], corner)
    draw.rect(canvas, x + edge, y + edge, width - 2.0 * edge, height - 2.0 * edge, color, corner - edge)


@rule
def paint_back(canvas, x, y, width, height):
    paint_base(canvas, x, y, width, height, 0, 0xE9DFC8)
    draw.rect(canvas, x + 4.0, y + 4.0, width - 8.0, height - 8.0, 0x9C2F3A, 5.0)
    draw.circle(canvas, x + width / 2.0, y + height / 2.0, 0.22 * min(width, height), 0xE9DFC8)
    draw.circle(canvas, x + width / 2.0, y + height / 2.0, 0.15 * min(width, height), 0x9C2F3A)


@rule
def cross(canvas, x, y, radius):
    """A red cross over a debuffed item."""
    draw.line(canvas, x - radius, y - radius, x + radius, y + radius, 3.0, RED)
    draw.line(canvas, x - radius, y + radius, x + radius, y - radius, 3.0, RED)


@rule
def paint_card(canvas, x, y, unit, crowded, card, debuffed, chips):
    """A playing card, `unit` times its usual size; if crowded, only its left edge has content."""
    width = CARD_WIDTH * unit
    height = CARD_HEIGHT * unit
    column = x + (11.5 if crowded else 14.5) * unit
    paint_base(canvas, x, y, width, height, card.edition, TINTS[card.enhancement])
    if card.enhancement != cards.STONE:
        color = SUIT_COLORS[card.suit]
        fitted(canvas, column, y + 17.0 * unit, 19.0 * unit, 20.0 * unit, color, RANKS[card.rank])
        pip(canvas, column, y + 37.0 * unit, 7.5 * unit, card.suit, color)
        if not crowded:
            pip(canvas, x + 46.0 * unit, y + 56.0 * unit, 18.0 * unit, card.suit, color)
    if card.seal:
        draw.circle(canvas, column, y + 58.0 * unit, 7.0 * unit, SEAL_COLORS[card.seal])
    if not crowded:
        fitted(canvas, x + 0.5 * width, y + 94.0 * unit, width, 12.0 * unit, INK, ENHANCEMENTS[card.enhancement])
        if chips:
            number(canvas, x + 54.0 * unit, y + 16.0 * unit, 36.0 * unit, 12.0 * unit, BLUE, PLUS, float(chips))
    if debuffed and crowded:
        cross(canvas, column, y + 80.0 * unit, 6.0 * unit)
    elif debuffed:
        cross(canvas, x + 46.0 * unit, y + 56.0 * unit, 22.0 * unit)


@rule
def paint_joker(state, canvas, item, x, y, width, height, owned):
    """A joker: its name, value or target, edition, stickers and sell value."""
    middle = x + width / 2.0
    color = RARITY_COLORS[jokers.RARITY[item.number]]
    paint_base(canvas, x, y, width, height, item.edition, 0xC9C5BA if item.debuffed else 0xF6EEDD)
    if height < 80.0:
        draw.rect(canvas, x + 5.0, y + 3.0, width - 10.0, 3.0, color, 1.5)
        two_lines(canvas, middle, y + 6.0 + 0.27 * height, width - 8.0, 0.26 * height, INK, JOKER_NAMES, item.number)
        gathered(state, canvas, item, x + 0.3 * width, y + height - 7.0, 8.0)
    else:
        draw.rect(canvas, x + 5.0, y + 5.0, width - 10.0, 6.0, color, 3.0)
        two_lines(canvas, middle, y + 27.0, width - 10.0, 13.0, INK, JOKER_NAMES, item.number)
        # On slightly lower cards the edition is beside the sell value.
        low = height < 100.0
        if not gathered(state, canvas, item, middle, y + max(54.0, 0.54 * height), 16.0):
            paint_hat(canvas, middle, y + max(55.0, 0.56 * height), color)
        room = 0.5 * width if low else width - 12.0
        place = x + (0.36 if low else 0.5) * width
        fitted(canvas, place, y + height - (13.0 if low else 26.0), room, 9.0, 0x7A4FB0, EDITIONS[item.edition])
    edge = min(13.0, 0.2 * height)
    if owned:
        sells = float(prices.sell_value(state, item))
        number(canvas, x + 0.79 * width, y + height - edge, 0.36 * width, edge, 0x9A6A00, DOLLAR, sells)
    for sticker in range(3):
        if (item.stickers >> sticker) & 1:
            dot = x + (9.0 if height >= 80.0 else width - 26.0) + 9.0 * sticker
            draw.circle(canvas, dot, y + height - edge if height >= 80.0 else y + 5.0, 3.5, STICKER_COLORS[sticker])
    if item.debuffed and height < 80.0:
        cross(canvas, x + 0.57 * width, y + height - 8.0, 4.0)
    elif item.debuffed:
        cross(canvas, middle, y + 0.56 * height, 0.2 * height)


@rule
def paint_hat(canvas, x, y, color):
    """A jester's hat, in the colour of the joker's rarity."""
    for horn in range(-1, 2):
        draw.rect(canvas, x + 11.0 * horn - 6.0, y - 6.0, 12.0, 12.0, color, 0.0, 45.0)
        draw.circle(canvas, x + 11.0 * horn, y - 11.0, 3.0, GOLD)
    draw.rect(canvas, x - 17.0, y + 3.0, 34.0, 8.0, color, 3.0)


@rule
def gathered(state, canvas, item, x, y, size):
    """Draw the value of a joker, or its target card or hand; returns whether it has one."""
    kind = GATHERS[item.number]
    if kind:
        number(canvas, x, y, 4.2 * size, size, INK, kind if kind > 1 else 0, item.value)
    if item.number == TO_DO_LIST:
        fitted(canvas, x, y, 4.2 * size, size, INK, HAND_NAMES[item.counter])
    elif item.number == MAIL:
        draw.text(canvas, x, y, size, INK, RANKS[state.mail_rank])
    elif item.number == IDOL:
        draw.text(canvas, x - 0.6 * size, y, size, INK, RANKS[state.idol_rank])
        pip(canvas, x + 0.6 * size, y, 0.5 * size, state.idol_suit, SUIT_COLORS[state.idol_suit])
    elif item.number == ANCIENT:
        pip(canvas, x, y, 0.5 * size, state.ancient_suit, SUIT_COLORS[state.ancient_suit])
    elif item.number == CASTLE and size > 10.0:
        pip(canvas, x, y + 1.05 * size, 0.4 * size, state.castle_suit, SUIT_COLORS[state.castle_suit])
    else:
        return kind != 0
    return True


@rule
def paint_consumable(canvas, item, x, y, width, height):
    kind = int(item.number >= consumables.FIRST_PLANET) + int(item.number >= consumables.FIRST_SPECTRAL)
    color = KIND_COLORS[kind]
    middle = x + width / 2.0
    if height < 40.0:
        paint_base(canvas, x, y, width, height, item.edition, 0xE9E6F2)
        fitted(
            canvas,
            middle,
            y + height / 2.0,
            width - 6.0,
            min(11.0, 0.85 * height),
            INK,
            CONSUMABLE_NAMES[item.number, 0],
        )
        return
    paint_base(canvas, x, y, width, height, item.edition, color)
    draw.rect(canvas, x + 5.0, y + 5.0, width - 10.0, min(36.0, height - 10.0), 0xF3F0FA, 5.0)
    two_lines(canvas, middle, y + 23.0, width - 14.0, 12.0, INK, CONSUMABLE_NAMES, item.number)
    if height > 80.0:
        draw.circle(canvas, middle, y + 0.66 * height, 17.0, 0xF3F0FA)
        if kind == 1:
            draw.circle(canvas, middle, y + 0.66 * height, 10.0, color)
            draw.line(canvas, middle - 15.0, y + 0.66 * height + 4.0, middle + 15.0, y + 0.66 * height - 4.0, 2.5, INK)
        else:
            draw.rect(canvas, middle - 8.0, y + 0.66 * height - 8.0, 16.0, 16.0, color, 0.0, 45.0)
            draw.circle(canvas, middle, y + 0.66 * height, 4.0 + 2.0 * kind, 0xF3F0FA)


@rule
def paint_item(state, canvas, item, x, y, width, height, owned):
    if item.face_down:
        paint_back(canvas, x, y, width, height)
    elif item.kind == PLAYING_CARD:
        paint_card(canvas, x, y, height / CARD_HEIGHT, False, item, item.debuffed, 0)
    elif item.kind == JOKER:
        paint_joker(state, canvas, item, x, y, width, height, owned)
    else:
        paint_consumable(canvas, item, x, y, width, height)
