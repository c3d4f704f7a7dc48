"""Positions in the picture: both halves of the field, seen from one seat.

Seven columns: piles and the field zone at the sides, five zones between them. The opponent's half is rotated, so
the extra monster zones in the middle are shared squares.
"""

from ludus.games.duel.state import HAND_PILE
from ludus.games.duel.tables import words as w
from ludus.dsl import rule

WIDTH, HEIGHT = 880.0, 660.0
LEFT, PITCH, RIGHT = 8.0, 94.0, 666.0
OTHER_HAND_Y, OTHER_SPELLS_Y, OTHER_MONSTERS_Y, MIDDLE_Y, MONSTERS_Y, SPELLS_Y, HAND_Y = (
    28.0, 94.0, 185.0, 284.0, 383.0, 474.0, 585.0,
)  # fmt: skip
MONSTER_LONG, MONSTER_SHORT, SPELL_WIDTH, SPELL_HEIGHT = 88.0, 62.0, 54.0, 76.0
HAND_WIDTH, HAND_HEIGHT, BACK_WIDTH, BACK_HEIGHT = 88.0, 130.0, 34.0, 44.0
PANEL_LEFT, PANEL_WIDTH = 676.0, 196.0
PANEL_MIDDLE = PANEL_LEFT + PANEL_WIDTH / 2.0


@rule
def column(number):
    """The center of a column, numbered from 0."""
    return LEFT + PITCH * (number + 0.5)


@rule
def spot(mine, place, sequence, count):
    """The center of a zone, a pile, or a card among `count` of a hand."""
    if place == w.MZONE and sequence >= 5:
        return column(2.0 if (sequence == 5) == mine else 4.0), MIDDLE_Y
    if place & (w.MZONE | w.SZONE) and sequence < 5:
        x = column(1.0 + sequence if mine else 5.0 - sequence)
        if place == w.MZONE:
            return x, MONSTERS_Y if mine else OTHER_MONSTERS_Y
        return x, SPELLS_Y if mine else OTHER_SPELLS_Y
    if place == w.HAND:
        return hand_spot(mine, float(sequence), float(count))
    far = column(6.0 if mine else 0.0)
    near = column(0.0 if mine else 6.0)
    if place == w.SZONE:
        return near, MONSTERS_Y if mine else OTHER_MONSTERS_Y
    if place == w.GRAVE:
        return far, MONSTERS_Y if mine else OTHER_MONSTERS_Y
    if place == w.BANISHED:
        return far, MIDDLE_Y
    return far if place == w.DECK else near, SPELLS_Y if mine else OTHER_SPELLS_Y


@rule
def hand_step(mine, count):
    """The distance between cards of a hand."""
    if mine:
        return min(PITCH, (RIGHT - LEFT - HAND_WIDTH) / max(1.0, count - 1.0))
    return min(BACK_WIDTH + 4.0, (PITCH * 5.0 - BACK_WIDTH) / max(1.0, count - 1.0))


@rule
def hand_spot(mine, sequence, count):
    middle = (LEFT + RIGHT) / 2.0
    away = (sequence - (count - 1.0) / 2.0) * hand_step(mine, count)
    return middle + away if mine else middle - away, HAND_Y if mine else OTHER_HAND_Y


@rule
def size_of(state, c, seat):
    """The width and height of a card."""
    card = state.cards[c]
    if card.place == w.MZONE:
        if card.position & w.IN_ATTACK:
            return MONSTER_SHORT, MONSTER_LONG
        return MONSTER_LONG, MONSTER_SHORT
    if card.place == w.HAND:
        if card.controller == seat:
            return HAND_WIDTH, HAND_HEIGHT
        return BACK_WIDTH, BACK_HEIGHT
    return SPELL_WIDTH, SPELL_HEIGHT


@rule
def spot_of(state, c, seat):
    """The center of a card; for a material, that of its monster."""
    card = state.cards[c]
    if card.place == w.OVERLAY:
        card = state.cards[card.overlaid_on]
    mine = card.controller == seat
    return spot(mine, card.place, card.sequence, state.sizes[card.controller, HAND_PILE])


@rule
def on_table(state, c):
    """Whether a card is drawn separately: on the field or in a hand."""
    return state.cards[c].place & (w.MZONE | w.SZONE | w.HAND) != 0
