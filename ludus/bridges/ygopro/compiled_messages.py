"""Compiled reader of the core's messages: it records the events that an observation needs, and writes the options of a
question as rows, each with the reply to send if it is chosen.

`messages` reads the same questions as Python objects; both list options in the same order.
"""

from __future__ import annotations

import numpy as np

from ludus.bridges.ygopro import features, messages, stale_zones
from ludus.bridges.ygopro.card_table import (
    POSITION_IDS,
    draw,
    find,
    is_known,
    location_index,
    read_life_points,
    read_location,
    short,
    word,
)
from ludus.bridges.ygopro.duel_record import (
    MAX_CARDS,
    MAX_OPTIONS,
    MAX_QUESTION_BYTES,
    MAX_QUESTION_OPTIONS,
    NO_PLAYER,
    PrintedCards,
)
from ludus.dsl import kernel, rule
from ludus.types import Array

RETRY, BATTLE, IDLE, EFFECT_YESNO, YESNO, OPTION, CARD, CHAIN, PLACE, POSITION, TRIBUTE, COUNTER, SUM = (
    1, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 22, 23,
)  # fmt: skip
DISABLE_FIELD, UNSELECT, HAND_SIGN, RACE, ATTRIBUTE, ANNOUNCE_CARD, NUMBER = 24, 26, 132, 140, 141, 142, 143
NEW_TURN, NEW_PHASE, DAMAGE_STEP_START, DAMAGE_STEP_END, CONFIRM_CARDS, WIN = (
    messages.NEW_TURN, messages.NEW_PHASE, messages.DAMAGE_STEP_START, messages.DAMAGE_STEP_END,
    messages.CONFIRM_CARDS, messages.WIN,
)  # fmt: skip
DRAW = stale_zones.DRAW
IS_QUESTION = np.array([kind in messages.QUESTIONS for kind in range(256)])
MESSAGE_IDS = np.zeros(256, np.int64)
for _kind, _name in messages.NAMES.items():
    MESSAGE_IDS[_kind] = features.MESSAGE_IDS.get(_name, 0)
AS_WORD, AS_PICKS, AS_PLACE, AS_UNSELECT = range(4)
"""the form of an answer: one number, the picked cards, a zone, or one card to add to a selection"""
FINISHED = -1
"""the reply of an option that ends picking"""
IDLE_ACTS = (features.SUMMON, features.SPECIAL_SUMMON, features.REPOSITION, features.SUMMON_DOWN, features.SET)
SYSTEM_IDS = np.full(2048, features.OTHER_TEXT)
for _text, _number in features.SYSTEM_IDS.items():
    SYSTEM_IDS[_text] = _number
OVERLAY, MZONE, SZONE = messages.OVERLAY, messages.MZONE, messages.SZONE
COLUMNS = features.ACTION_COLUMNS
SPEC, ID_HIGH, ID_LOW, ACT, FINISH, EFFECT = (
    features.SPEC, features.ID_HIGH, features.ID_LOW, features.ACT, features.FINISH, features.EFFECT,
)  # fmt: skip
MESSAGE_COLUMN, PHASE_COLUMN, POSITION_COLUMN, NUMBER_COLUMN, PLACE_COLUMN, ATTRIBUTE_COLUMN = (
    features.MESSAGE, features.PHASE, features.POSITION, features.NUMBER, features.PLACE, features.ATTRIBUTE,
)  # fmt: skip
FIRST_RACE, MAX_NUMBER, PLAIN_TEXT, OTHER_TEXT = (
    features.FIRST_RACE, features.MAX_NUMBER, features.PLAIN_TEXT, features.OTHER_TEXT,
)  # fmt: skip
MAX_OWN_TEXT = features.MAX_OWN_TEXTS - 1


@kernel
def read_outputs(tables: Array, which: Array, first: int, data: Array, printed: PrintedCards) -> tuple[int, int]:
    """Read the output of several duels, one after another, up to the end of the bytes.

    Each output is: u8 over, u32 length and the messages, u8 number of query results, and for each: u8 player,
    u8 location (0 for the whole field), u32 length and the result. Returns the number of duels and that of
    non-simple questions.
    """
    at = 0
    count = 0
    complex_questions = 0
    while at < len(data):
        table = tables[which[first + count]]
        table.over = data[at]
        size = word(data, at + 1)
        read_messages(table, data, at + 5, at + 5 + size)
        at += 5 + size
        result_count = data[at]
        at += 1
        for _ in range(result_count):
            size = word(data, at + 2)
            read_query_result(table, data[at], data[at + 1], data, at + 6, at + 6 + size, printed)
            at += 6 + size
        list_options(table, printed)
        complex_questions += 1 - table.is_simple
        count += 1
    return count, complex_questions


@rule
def read_query_result(table, player, location, data, at, end, printed):
    if location == 0:
        read_life_points(table, data, at)
    else:
        read_location(table, player, location_index(location), data, at, end, printed)


@rule
def read_messages(table, data, at, end):
    """Read all messages: record the events and the first winner, and copy the last question."""
    table.kind = 0
    won = False
    player = table.player
    question_at = 0
    while at < end:
        size = word(data, at)
        at += 4
        kind = data[at]
        if kind == NEW_TURN:
            table.turn += 1
            table.turn_player = data[at + 1]
        elif kind == NEW_PHASE:
            table.phase = short(data, at + 1)
        elif kind in (DAMAGE_STEP_START, DAMAGE_STEP_END):
            table.damage_step = kind == DAMAGE_STEP_START
        elif kind == WIN and not won:
            won = True
            table.winner = data[at + 1]
            table.over = 1
        elif kind == CONFIRM_CARDS:
            read_shown_cards(table, data, at + 1)
        elif kind == DRAW:
            draw(table, data[at + 1], word(data, at + 2))
        elif IS_QUESTION[kind]:
            table.kind = kind
            player = data[at + 1]
            question_at = at
            table.question_length = size
        at += size
    if table.over:
        table.kind = 0
    elif table.kind:
        table.player = player
        for k in range(min(table.question_length, MAX_QUESTION_BYTES)):
            table.question[k] = data[question_at + k]


@rule
def read_shown_cards(table, data, at):
    """Read the cards that are shown to a player until the next question."""
    table.viewer = NO_PLAYER
    for k in range(word(data, at + 1)):
        card = at + 5 + 10 * k
        if table.shown_count < MAX_CARDS:
            shown = table.shown[table.shown_count]
            shown[0] = data[at]
            shown[1] = data[card + 4]
            shown[2] = data[card + 5]
            shown[3] = data[card + 6]
            table.shown_count += 1


@rule
def list_options(table, printed):
    """Write the options of the question, and whether it is simple: compiled rules can answer it, on one page."""
    kind = table.kind
    data = table.question
    table.option_count = 0
    table.reply_form = AS_WORD
    simple = True
    if kind == 0:
        # Without a question, the duel must be over.
        table.is_simple = table.over
        return
    if kind == IDLE:
        list_idle_options(table, data, printed)
    elif kind == BATTLE:
        list_battle_options(table, data, printed)
    elif kind == CHAIN:
        list_chain_options(table, data, printed)
    elif kind in (EFFECT_YESNO, YESNO):
        list_yes_and_no(table, data, printed)
    elif kind in (CARD, TRIBUTE):
        simple = list_picks(table, data, printed)
    elif kind == SUM:
        simple = False
        list_cards(table, data, 19 + 18 * word(data, 15), 18, printed)
    elif kind == UNSELECT:
        list_unselect_options(table, data, printed)
    elif kind == COUNTER:
        simple = False
        list_cards(table, data, 6, 9, printed)
    elif kind in (PLACE, DISABLE_FIELD):
        simple = data[2] == 1
        table.reply_form = AS_PLACE
        list_zones(table, data)
    elif kind in (RACE, ATTRIBUTE):
        simple = False
        list_types_or_attributes(table, data)
    elif kind == ANNOUNCE_CARD:
        simple = False
    else:
        list_values(table, data, printed)
    table.is_simple = simple and 0 < table.option_count <= MAX_OPTIONS and table.question_length <= MAX_QUESTION_BYTES


@rule
def add_option(table, reply):
    """Append an option with only the question's type filled in; returns its row."""
    at = min(table.option_count, MAX_QUESTION_OPTIONS - 1)
    row = table.options[at]
    for column in range(COLUMNS):
        row[column] = 0
    row[MESSAGE_COLUMN] = MESSAGE_IDS[table.kind]
    table.replies[at] = reply
    table.option_count += 1
    return row


@rule
def write_card_number(row, code, printed):
    """Write the number of the option's card."""
    index = find(printed.codes, code)
    if code and index >= 0:
        row[ID_HIGH] = printed.numbers[index] >> 8
        row[ID_LOW] = printed.numbers[index] & 255


@rule
def write_card_reference(table, row, controller, location, sequence, below, code, printed):
    """Write the index of the option's card among the card rows, and its number if the player knows it."""
    viewer = table.player
    place = location_index(location)
    wanted = below + 1 if location & OVERLAY else 0
    start = 0
    if controller != viewer:
        for other in range(7):
            start += table.lines[viewer, other]
    for other in range(place):
        start += table.lines[controller, other]
    if place >= 0 and controller < 2:
        for line in range(table.lines[controller, place]):
            if table.sequence[controller, place, line] == sequence and table.below[controller, place, line] == wanted:
                row[SPEC] = start + line + 1 if start + line < MAX_CARDS else 0
                if is_known(table, viewer, controller, place, line):
                    write_card_number(row, code, printed)
                return
    write_card_number(row, code, printed)


@rule
def text_id(data, at):
    """The id of a text: its number on the card, or its index in the list of system texts."""
    low = word(data, at)
    number = low & 0xFFFFF
    if low >> 20 or word(data, at + 4):
        return 2 + min(number, MAX_OWN_TEXT)
    if number == 0:
        return PLAIN_TEXT
    return SYSTEM_IDS[number] if number < len(SYSTEM_IDS) else OTHER_TEXT


@rule
def text_code(data, at):
    """The card that a text belongs to."""
    return (word(data, at) | word(data, at + 4) << 32) >> 20


@rule
def list_idle_options(table, data, printed):
    at = 2
    for group in range(5):
        size = 7 if group == 2 else 10
        count = word(data, at)
        at += 4
        for number in range(count):
            row = add_option(table, group | number << 16)
            row[ACT] = IDLE_ACTS[group]
            sequence = np.int64(data[at + 6]) if group == 2 else word(data, at + 6)
            write_card_reference(table, row, data[at + 4], data[at + 5], sequence, 0, word(data, at), printed)
            at += size
    at = list_effects(table, data, at, 5, printed)
    for choice in range(2):
        if data[at + choice]:
            add_option(table, 6 + choice)[PHASE_COLUMN] = 1 + 2 * choice


@rule
def list_effects(table, data, at, group, printed):
    """Add the effects that can be activated; returns the offset after them."""
    count = word(data, at)
    at += 4
    for number in range(count):
        row = add_option(table, group | number << 16)
        row[ACT] = features.ACTIVATE
        row[EFFECT] = text_id(data, at + 10)
        write_card_reference(table, row, data[at + 4], data[at + 5], word(data, at + 6), 0, word(data, at), printed)
        at += 19
    return at


@rule
def list_battle_options(table, data, printed):
    at = list_effects(table, data, 2, 0, printed)
    count = word(data, at)
    at += 4
    for number in range(count):
        row = add_option(table, 1 | number << 16)
        row[ACT] = features.DIRECT_ATTACK if data[at + 7] else features.ATTACK
        write_card_reference(table, row, data[at + 4], data[at + 5], data[at + 6], 0, word(data, at), printed)
        at += 8
    for choice in range(2):
        if data[at + choice]:
            add_option(table, 2 + choice)[PHASE_COLUMN] = 2 + choice


@rule
def list_chain_options(table, data, printed):
    at = 16
    for number in range(word(data, 12)):
        row = add_option(table, number)
        row[ACT] = features.ACTIVATE
        row[EFFECT] = text_id(data, at + 14)
        write_located_card(table, row, data, at, printed)
        at += 23
    if not data[3]:
        add_option(table, -1)[ACT] = features.CANCEL


@rule
def write_located_card(table, row, data, at, printed):
    below = word(data, at + 10)
    write_card_reference(table, row, data[at + 4], data[at + 5], word(data, at + 6), below, word(data, at), printed)


@rule
def list_yes_and_no(table, data, printed):
    """Add yes, then no."""
    row = add_option(table, 1)
    row[ACT] = features.ACTIVATE
    if table.kind == EFFECT_YESNO:
        row[EFFECT] = text_id(data, 16)
        write_located_card(table, row, data, 2, printed)
    else:
        row[EFFECT] = text_id(data, 2)
        write_card_number(row, text_code(data, 2), printed)
    add_option(table, 0)[ACT] = features.CANCEL


@rule
def list_cards(table, data, at, size, printed):
    """Add the cards to pick from; the answer contains their indices."""
    count = word(data, at)
    at += 4
    for number in range(count):
        row = add_option(table, number)
        if size == 14:
            write_located_card(table, row, data, at, printed)
        else:
            sequence = data[at + 6] if size == 9 else word(data, at + 6)
            write_card_reference(table, row, data[at + 4], data[at + 5] & 127, sequence, 0, word(data, at), printed)
        at += size


@rule
def list_picks(table, data, printed):
    """Add the cards to pick one after another; returns whether the question is simple (each card counts as one)."""
    table.reply_form = AS_PICKS
    table.fewest = word(data, 3)
    table.most = word(data, 7)
    table.pick_count = 0
    list_cards(table, data, 11, 14 if table.kind == CARD else 11, printed)
    if table.kind == TRIBUTE:
        for number in range(min(table.option_count, MAX_OPTIONS)):
            if data[15 + 11 * number + 10] != 1:
                return False
    if table.option_count and table.fewest == 0:
        add_option(table, FINISHED)[FINISH] = 1
    return table.most > 0


@rule
def pick(table, action):
    """Pick one of the remaining cards, or finish; returns whether the selection is complete."""
    if table.replies[action] == FINISHED:
        return True
    table.picks[table.pick_count] = table.replies[action]
    table.pick_count += 1
    if table.replies[table.option_count - 1] == FINISHED:
        table.option_count -= 1
    table.option_count -= 1
    for k in range(action, table.option_count):
        table.replies[k] = table.replies[k + 1]
        for column in range(COLUMNS):
            table.options[k, column] = table.options[k + 1, column]
    if table.option_count == 0 or table.pick_count == table.most:
        return True
    if table.pick_count >= table.fewest:
        add_option(table, FINISHED)[FINISH] = 1
    return False


@rule
def list_unselect_options(table, data, printed):
    """Add the cards to select; unselecting and cancelling only if there is nothing else."""
    table.reply_form = AS_UNSELECT
    at = 12
    for _ in range(2):
        count = word(data, at)
        at += 4
        for _ in range(count):
            write_located_card(table, add_option(table, table.option_count), data, at, printed)
            at += 14
    if data[2]:
        add_option(table, FINISHED)[FINISH] = 1
    elif data[3]:
        add_option(table, FINISHED)[ACT] = features.CANCEL
    added = word(data, 12)
    if 0 < added + data[2] <= MAX_OPTIONS:
        # Finish comes right after the cards to add.
        table.option_count = added
        if data[2]:
            add_option(table, FINISHED)[FINISH] = 1


@rule
def list_zones(table, data):
    """Add the free zones of both players: eight monster zones, of which the last is unused, and eight spell zones."""
    player = table.player
    taken = word(data, 3)
    for bit in range(32):
        zone = bit & 7
        spells = bit >> 3 & 1
        if taken >> bit & 1 == 0 and (spells or zone < 7):
            other = bit >> 4
            who = np.int64(1 - player if other else player)
            row = add_option(table, who | (SZONE if spells else MZONE) << 8 | zone << 16)
            row[PLACE_COLUMN] = 1 + zone + 7 * spells + 15 * other


@rule
def list_types_or_attributes(table, data):
    """Add the monster types or attributes to declare."""
    size = 8 if table.kind == RACE else 4
    for bit in range(8 * size):
        if data[3 + bit // 8] >> (bit & 7) & 1:
            row = add_option(table, 0)
            if table.kind == RACE:
                row[EFFECT] = FIRST_RACE + bit
            else:
                row[ATTRIBUTE_COLUMN] = bit + 1


@rule
def list_values(table, data, printed):
    """Add positions, texts, numbers or hand signs."""
    if table.kind == POSITION:
        for bit in range(4):
            if data[6] >> bit & 1:
                row = add_option(table, 1 << bit)
                row[POSITION_COLUMN] = POSITION_IDS[1 << bit]
                write_card_number(row, word(data, 2), printed)
    elif table.kind == OPTION:
        for number in range(data[2]):
            row = add_option(table, number)
            row[EFFECT] = text_id(data, 3 + 8 * number)
            write_card_number(row, text_code(data, 3 + 8 * number), printed)
    elif table.kind == NUMBER:
        for number in range(data[2]):
            add_option(table, number)[NUMBER_COLUMN] = min(word(data, 3 + 8 * number), MAX_NUMBER)
    elif table.kind == HAND_SIGN:
        for sign in range(1, 4):
            add_option(table, sign)[NUMBER_COLUMN] = sign
