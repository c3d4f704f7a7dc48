"""Compiled conversion of card data: query results of the core into a duel record, and the record into observations."""

from __future__ import annotations

import numpy as np

from ludus.bridges.ygopro import features, queries
from ludus.bridges.ygopro.core import LOCATIONS
from ludus.bridges.ygopro.duel_record import MAX_CARDS, MAX_HISTORY, NO_PLAYER
from ludus.dsl import rule

(ID_HIGH, ID_LOW, LOCATION, SEQUENCE, CONTROLLER, POSITION, IS_OVERLAY, ATTRIBUTE, RACE, LEVEL, COUNTERS, NEGATED,
 ATTACK, _, DEFENSE, _, TYPES) = range(17)  # fmt: skip
DECK, HAND, MZONE, SZONE, GRAVE, BANISHED, EXTRA = range(7)
"""locations, in the order of the observation"""
COLUMNS, MASK_COLUMNS, TYPE_BITS = features.CARD_COLUMNS, features.MASK_COLUMNS, features.TYPES
CODE, POSITION_FLAG, TYPE_FLAG, LEVEL_FLAG, RANK_FLAG, ATTRIBUTE_FLAG, RACE_FLAG, ATTACK_FLAG, DEFENSE_FLAG = (
    queries.CODE, queries.POSITION, queries.TYPE, queries.LEVEL, queries.RANK, queries.ATTRIBUTE, queries.RACE,
    queries.ATTACK, queries.DEFENSE,
)  # fmt: skip
OVERLAYS, COUNTERS_FLAG, STATUS, PUBLIC, LINK = (
    queries.OVERLAYS, queries.COUNTERS, queries.STATUS, queries.PUBLIC, queries.LINK,
)  # fmt: skip
END = 0x80000000
NEGATED_BITS, LINK_TYPE = queries.NEGATED, features.LINK
FACE_DOWN, IS_FACE_DOWN, IS_FACE_UP = features.FACE_DOWN, features.IS_FACE_DOWN, features.IS_FACE_UP
MAX_RACE, MAX_COUNTERS, MAX_LEVEL = features.MAX_RACE, features.MAX_COUNTERS, features.MAX_LEVEL
POSITION_IDS = np.array([features.POSITION_IDS.get(position, 0) for position in range(16)])
AGE, MAX_AGE, MAX_TURN = 12, 16, 16
LOCATION_BITS = np.array(LOCATIONS)


@rule
def short(data, at):
    """The unsigned 16-bit number at an offset."""
    return np.int64(data[at]) | np.int64(data[at + 1]) << 8


@rule
def word(data, at):
    """The unsigned 32-bit number at an offset."""
    return short(data, at) | short(data, at + 2) << 16


@rule
def signed_word(data, at):
    value = word(data, at)
    return value - (value >> 31 << 32)


@rule
def find(codes, code):
    """The index of a code in the sorted codes; -1 if it is missing."""
    low, high = 0, len(codes)
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < len(codes) and codes[low] == code else -1


@rule
def lowest_bit(bits):
    """1 for the lowest bit that is set, 2 for the next, 0 for none."""
    if bits == 0:
        return 0
    place = 1
    while bits & 1 == 0:
        bits >>= 1
        place += 1
    return place


@rule
def location_index(location):
    """The index of a location from its bit; -1 if it has none."""
    for place in range(7):
        if location & 127 == 1 << place:
            return place
    return -1


@rule
def write_two_bytes(row, column, value):
    row[column] = value >> 8 & 255
    row[column + 1] = value & 255


@rule
def read_location(table, player, place, data, at, end, printed):
    """Read all cards of a location from a query of the core."""
    table.viewer = NO_PLAYER
    line = 0
    cards = 0
    sequence = 0
    at += 4
    while at < end:
        if short(data, at) == 0:
            at += 2
        elif place == DECK:
            at = read_deck_card(table, sequence, cards, data, at, printed)
            cards += 1
        else:
            at, line = read_card(table, player, place, sequence, line, data, at, printed)
            cards += 1
        sequence += 1
    if place == DECK:
        line = write_deck(table, player, cards, printed)
    table.lines[player, place] = line
    table.cards[player, place] = cards


@rule
def read_deck_card(table, sequence, number, data, at, printed):
    """Store a card of the deck for `write_deck` as one sortable number; returns the offset of the next card."""
    code = 0
    position = 0
    flag = 0
    while flag != END:
        size = short(data, at)
        flag = word(data, at + 2)
        if flag == CODE:
            code = word(data, at + 6)
        elif flag == POSITION_FLAG:
            position = word(data, at + 6)
        at += 2 + size
    if number < MAX_CARDS:
        index = find(printed.codes, code)
        shown = printed.numbers[index] if index >= 0 else 0
        table.order[number] = shown << 44 | np.int64(index + 1) << 24 | np.int64(sequence & 255) << 16 | position & 255
    return at


@rule
def write_deck(table, player, cards, printed):
    """Write a deck sorted by card number, since its real order is hidden; returns its number of lines."""
    cards = min(cards, MAX_CARDS)
    for k in range(1, cards):
        key = table.order[k]
        at = k
        while at > 0 and table.order[at - 1] > key:
            table.order[at] = table.order[at - 1]
            at -= 1
        table.order[at] = key
    for line in range(cards):
        key = table.order[line]
        write_card(table, player, DECK, line, key >> 16 & 255, 0, (key >> 24 & 0xFFFFF) - 1, key & 255, printed)
        table.is_open[player, DECK, line] = 0
    return cards


@rule
def draw(table, player, count):
    """Remove `count` cards from the top of a deck; no effect if the deck has not been read yet."""
    table.viewer = NO_PLAYER
    for _ in range(min(count, table.cards[player, DECK])):
        top = table.cards[player, DECK] - 1
        table.cards[player, DECK] = top
        at = 0
        for line in range(table.lines[player, DECK]):
            if table.sequence[player, DECK, line] != top:
                if at < line:
                    move_line(table, player, line, at)
                at += 1
        table.lines[player, DECK] = at


@rule
def move_line(table, player, line, to):
    """Move a card of the deck to another line."""
    for column in range(COLUMNS):
        table.rows[player, DECK, to, column] = table.rows[player, DECK, line, column]
    table.sequence[player, DECK, to] = table.sequence[player, DECK, line]


@rule
def write_card(table, player, place, line, sequence, below, index, position, printed):
    """Write a card: its printed values, location and position."""
    row = table.rows[player, place, line]
    for column in range(COLUMNS):
        row[column] = printed.rows[index, column] if index >= 0 else 0
    row[LOCATION] = place + 1
    if place in (MZONE, SZONE, GRAVE):
        row[SEQUENCE] = min(sequence + 1, 255)
    if below:
        row[POSITION] = IS_FACE_UP
        row[IS_OVERLAY] = 1
    elif place in (DECK, HAND, EXTRA):
        row[POSITION] = IS_FACE_DOWN if position & FACE_DOWN else 0
    else:
        row[POSITION] = POSITION_IDS[position & 15]
    table.sequence[player, place, line] = sequence
    table.below[player, place, line] = below
    table.is_open[player, place, line] = below != 0 or (place > HAND and position & FACE_DOWN == 0)


@rule
def read_card(table, player, place, sequence, line, data, at, printed):
    """Read a card with its current values and overlays; returns the offset and the line of the next card."""
    code = 0
    position = 0
    # The code and the position come first.
    if word(data, at + 2) == CODE:
        code = word(data, at + 6)
        at += 10
    if word(data, at + 2) == POSITION_FLAG:
        position = word(data, at + 6)
        at += 10
    line = min(line, MAX_CARDS - 1)
    write_card(table, player, place, line, sequence, 0, find(printed.codes, code), position, printed)
    at, overlays = read_values(table, player, place, line, data, at)
    line += 1
    if overlays:
        for below in range(word(data, overlays)):
            if line < MAX_CARDS:
                index = find(printed.codes, word(data, overlays + 4 + 4 * below))
                write_card(table, player, place, line, sequence, below + 1, index, 1, printed)
                line += 1
    return at, line


@rule
def read_values(table, player, place, line, data, at):
    """Read the current values of a card; returns the offset of the end and that of its overlays."""
    row = table.rows[player, place, line]
    types = 0
    level = 0
    overlays = 0
    flag = word(data, at + 2)
    while flag != END:
        value = np.int64(data[at + 6]) if flag == PUBLIC else word(data, at + 6)
        if flag == TYPE_FLAG:
            types = value
            for k in range(len(TYPE_BITS)):
                row[TYPES + k] = value & TYPE_BITS[k] != 0
        elif flag in (LEVEL_FLAG, RANK_FLAG, LINK):
            # A monster has one of the three; they come in this order, and the others are 0.
            level = value if value else level
            row[LEVEL] = min(level, MAX_LEVEL)
        elif flag == ATTRIBUTE_FLAG:
            row[ATTRIBUTE] = lowest_bit(value)
        elif flag == RACE_FLAG:
            row[RACE] = min(lowest_bit(value), MAX_RACE) if value or not word(data, at + 10) else MAX_RACE
        elif flag == ATTACK_FLAG:
            write_two_bytes(row, ATTACK, max(signed_word(data, at + 6), 0))
        elif flag == DEFENSE_FLAG:
            write_two_bytes(row, DEFENSE, 0 if types & LINK_TYPE else max(signed_word(data, at + 6), 0))
        elif flag == COUNTERS_FLAG:
            count = 0
            for k in range(value):
                count += short(data, at + 12 + 4 * k)
            row[COUNTERS] = min(count, MAX_COUNTERS)
        elif flag == STATUS:
            row[NEGATED] = value & NEGATED_BITS != 0
        elif flag == PUBLIC and value:
            table.is_open[player, place, line] = 1
        elif flag == OVERLAYS:
            overlays = at + 6
        at += 2 + short(data, at)
        flag = word(data, at + 2)
    return at + 6, overlays


@rule
def read_life_points(table, data, at):
    """Read the life points from a query of the whole field."""
    at += 4
    for player in range(2):
        table.points[player] = signed_word(data, at)
        at += 4
        for _ in range(15):
            at += 6 if data[at] else 1
        at += 24


@rule
def is_known(table, viewer, who, place, line):
    """Whether a player knows a card: it is their own, public, or was shown to them for the current question."""
    if who == viewer or table.is_open[who, place, line]:
        return True
    for k in range(table.shown_count):
        shown = table.shown[k]
        if (
            shown[0] == viewer
            and shown[1] == who
            and shown[2] == LOCATION_BITS[place]
            and shown[3] == table.sequence[who, place, line]
        ):
            return True
    return False


@rule
def observe_cards(table, viewer, show_hidden, cards, mask):
    """Write the card rows of an observation: own cards, then the opponent's; no effect if they are up to date."""
    if table.viewer == viewer:
        return
    table.viewer = viewer
    at = 0
    for side in range(2):
        who = viewer if side == 0 else 1 - viewer
        for place in range(7):
            for line in range(min(table.lines[who, place], MAX_CARDS - at)):
                known = is_known(table, viewer, who, place, line)
                row = table.rows[who, place, line]
                if known or show_hidden:
                    for column in range(COLUMNS):
                        cards[at, column] = row[column]
                else:
                    for column in range(COLUMNS):
                        cards[at, column] = 0
                    cards[at, LOCATION] = row[LOCATION]
                    if place != DECK and place != HAND and place != EXTRA:
                        cards[at, SEQUENCE] = row[SEQUENCE]
                        cards[at, POSITION] = row[POSITION]
                cards[at, CONTROLLER] = side
                if show_hidden:
                    observe_mask(known, place, mask, at)
                at += 1
    for rest in range(at, table.viewed):
        for column in range(COLUMNS):
            cards[rest, column] = 0
        if show_hidden:
            for column in range(MASK_COLUMNS):
                mask[rest, column] = 0
    table.viewed = at


@rule
def observe_mask(known, place, mask, at):
    """Mark the visible columns of a card: all, or only its location, and on the field also its position."""
    for column in range(MASK_COLUMNS):
        mask[at, column] = known
    if not known:
        mask[at, 1] = 1
        mask[at, 3] = 1
        if place != DECK and place != HAND and place != EXTRA:
            mask[at, 2] = 1
            mask[at, 4] = 1
            mask[at, 5] = 1


@rule
def phase_id(table):
    """The current phase, with the damage step as a separate number."""
    return 5 if table.damage_step else max(lowest_bit(table.phase), 1) - 1


@rule
def observe_numbers(table, viewer, over, seen):
    """Write life points, turn, phase, turn player, and the number of cards in each location."""
    for side in range(2):
        who = viewer if side == 0 else 1 - viewer
        points = max(table.points[who], 0)
        seen[2 * side] = points >> 8 & 255
        seen[2 * side + 1] = points & 255
        for place in range(7):
            seen[8 + 7 * side + place] = min(table.cards[who, place], 255)
    seen[4] = min(table.turn, MAX_TURN)
    seen[5] = phase_id(table)
    seen[6] = viewer == 0
    seen[7] = viewer == table.turn_player
    seen[22] = over


@rule
def observe_history(table, viewer, seen):
    """Write the last actions of a player, newest first."""
    for k in range(MAX_HISTORY):
        for column in range(features.HISTORY_COLUMNS):
            seen[k, column] = table.history[viewer, k, column]
        if seen[k, features.MESSAGE]:
            seen[k, AGE] = min(table.turn - table.history_turn[viewer, k], MAX_AGE)


@rule
def record_action(table, row):
    """Add an action to the history, except cancelling and turning a page, whose row has only a message."""
    content = 0
    for column in range(features.ACTION_COLUMNS):
        content |= row[column] if column != features.MESSAGE else 0
    if row[features.ACT] == features.CANCEL or content == 0:
        return
    player = table.player
    history, turns = table.history[player], table.history_turn[player]
    for k in range(MAX_HISTORY - 1, 0, -1):
        turns[k] = turns[k - 1]
        for column in range(features.HISTORY_COLUMNS):
            history[k, column] = history[k - 1, column]
    for column in range(1, features.ACTION_COLUMNS):
        history[0, column] = row[column]
    history[0, features.SPEC] = 0
    history[0, AGE] = 0
    history[0, AGE + 1] = phase_id(table)
    turns[0] = table.turn
