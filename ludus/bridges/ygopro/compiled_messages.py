"""Compiled reader of the core's messages: events that an observation needs, and the options of a question as rows, with
the answer for each option.

`messages` reads the same questions for people and for other engines; both list options in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ludus.bridges.ygopro import features, messages, stale_zones
from ludus.bridges.ygopro.card_table import (
    POSITION_IDS,
    draw,
    find,
    is_known,
    place_of,
    short,
    take_place,
    take_points,
    word,
)
from ludus.bridges.ygopro.duel_record import MOST_BYTES, MOST_CARDS, MOST_OPTIONS, MOST_TOLD, NOBODY_YET
from ludus.dsl import kernel, rule

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
FIRST_RACE, MOST_NUMBER, PLAIN_TEXT, OTHER_TEXT = (
    features.FIRST_RACE, features.MOST_NUMBER, features.PLAIN_TEXT, features.OTHER_TEXT,
)  # fmt: skip
MOST_OWN_TEXT = features.MOST_OWN_TEXTS - 1


@kernel
def absorb(tables: Any, which: Any, first: Any, data: Any, printed: Any) -> Any:
    """Read the output of several duels, one after another, up to the end of the bytes.

    Each is: u8 over, u32 length and the messages, u8 number of locations, and for each: u8 player, u8 location (0 for
    the whole field), u32 length and the bytes of the core. Returns the number of duels and of non-simple questions.
    """
    at = 0
    count = 0
    intricate = 0
    while at < len(data):
        table = tables[which[first + count]]
        table.over = data[at]
        size = word(data, at + 1)
        hear(table, data, at + 5, at + 5 + size)
        at += 5 + size
        places = data[at]
        at += 1
        for _ in range(places):
            size = word(data, at + 2)
            take_look(table, data[at], data[at + 1], data, at + 6, at + 6 + size, printed)
            at += 6 + size
        offer(table, printed)
        intricate += 1 - table.is_simple
        count += 1
    return count, intricate


@rule
def take_look(table, player, location, data, at, end, printed):
    if location == 0:
        take_points(table, data, at)
    else:
        take_place(table, player, place_of(location), data, at, end, printed)


@rule
def hear(table, data, at, end):
    """Read all messages: events, the first winner, and the last question."""
    table.kind = 0
    won = False
    player = table.player
    asked = 0
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
            hear_shown(table, data, at + 1)
        elif kind == DRAW:
            draw(table, data[at + 1], word(data, at + 2))
        elif IS_QUESTION[kind]:
            table.kind = kind
            player = data[at + 1]
            asked = at
            table.question_length = size
        at += size
    if table.over:
        table.kind = 0
    elif table.kind:
        table.player = player
        for k in range(min(table.question_length, MOST_BYTES)):
            table.question[k] = data[asked + k]


@rule
def hear_shown(table, data, at):
    """Read the cards that are shown to a player until the next question."""
    table.viewer = NOBODY_YET
    for k in range(word(data, at + 1)):
        card = at + 5 + 10 * k
        if table.shown_count < MOST_CARDS:
            shown = table.shown[table.shown_count]
            shown[0] = data[at]
            shown[1] = data[card + 4]
            shown[2] = data[card + 5]
            shown[3] = data[card + 6]
            table.shown_count += 1


@rule
def offer(table, printed):
    """Write the options of the question. It is simple if compiled rules can answer it and all options fit on a page."""
    kind = table.kind
    told = table.question
    table.option_count = 0
    table.reply_form = AS_WORD
    simple = True
    if kind == 0:
        # Without a question, the duel must be over.
        table.is_simple = table.over
        return
    if kind == IDLE:
        offer_idle(table, told, printed)
    elif kind == BATTLE:
        offer_battle(table, told, printed)
    elif kind == CHAIN:
        offer_chain(table, told, printed)
    elif kind in (EFFECT_YESNO, YESNO):
        offer_yes(table, told, printed)
    elif kind in (CARD, TRIBUTE):
        simple = offer_picks(table, told, printed)
    elif kind == SUM:
        simple = False
        offer_cards(table, told, 19 + 18 * word(told, 15), 18, printed)
    elif kind == UNSELECT:
        offer_unselect(table, told, printed)
    elif kind == COUNTER:
        simple = False
        offer_cards(table, told, 6, 9, printed)
    elif kind in (PLACE, DISABLE_FIELD):
        simple = told[2] == 1
        table.reply_form = AS_PLACE
        offer_places(table, told)
    elif kind in (RACE, ATTRIBUTE):
        simple = False
        offer_bits(table, told)
    elif kind == ANNOUNCE_CARD:
        simple = False
    else:
        offer_values(table, told, printed)
    table.is_simple = simple and 0 < table.option_count <= MOST_OPTIONS and table.question_length <= MOST_BYTES


@rule
def add(table, reply):
    """Append an option with only the question's type filled in; returns its row."""
    at = min(table.option_count, MOST_TOLD - 1)
    row = table.options[at]
    for column in range(COLUMNS):
        row[column] = 0
    row[MESSAGE_COLUMN] = MESSAGE_IDS[table.kind]
    table.replies[at] = reply
    table.option_count += 1
    return row


@rule
def name_card(row, code, printed):
    """Write the number of the option's card."""
    index = find(printed.codes, code)
    if code and index >= 0:
        row[ID_HIGH] = printed.numbers[index] >> 8
        row[ID_LOW] = printed.numbers[index] & 255


@rule
def point_at(table, row, controller, location, sequence, below, code, printed):
    """Write the index of the option's card among the card rows, and its number if the player knows it."""
    viewer = table.player
    place = place_of(location)
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
                row[SPEC] = start + line + 1 if start + line < MOST_CARDS else 0
                if is_known(table, viewer, controller, place, line):
                    name_card(row, code, printed)
                return
    name_card(row, code, printed)


@rule
def text_id(told, at):
    """The id of a text: its number on the card, or its index in the list of system texts."""
    low = word(told, at)
    number = low & 0xFFFFF
    if low >> 20 or word(told, at + 4):
        return 2 + min(number, MOST_OWN_TEXT)
    if number == 0:
        return PLAIN_TEXT
    return SYSTEM_IDS[number] if number < len(SYSTEM_IDS) else OTHER_TEXT


@rule
def text_code(told, at):
    """The card that a text belongs to."""
    return (word(told, at) | word(told, at + 4) << 32) >> 20


@rule
def offer_idle(table, told, printed):
    at = 2
    for group in range(5):
        size = 7 if group == 2 else 10
        count = word(told, at)
        at += 4
        for number in range(count):
            row = add(table, group | number << 16)
            row[ACT] = IDLE_ACTS[group]
            sequence = np.int64(told[at + 6]) if group == 2 else word(told, at + 6)
            point_at(table, row, told[at + 4], told[at + 5], sequence, 0, word(told, at), printed)
            at += size
    at = offer_effects(table, told, at, 5, printed)
    for choice in range(2):
        if told[at + choice]:
            add(table, 6 + choice)[PHASE_COLUMN] = 1 + 2 * choice


@rule
def offer_effects(table, told, at, group, printed):
    """Effects to activate; returns the offset after them."""
    count = word(told, at)
    at += 4
    for number in range(count):
        row = add(table, group | number << 16)
        row[ACT] = features.ACTIVATE
        row[EFFECT] = text_id(told, at + 10)
        point_at(table, row, told[at + 4], told[at + 5], word(told, at + 6), 0, word(told, at), printed)
        at += 19
    return at


@rule
def offer_battle(table, told, printed):
    at = offer_effects(table, told, 2, 0, printed)
    count = word(told, at)
    at += 4
    for number in range(count):
        row = add(table, 1 | number << 16)
        row[ACT] = features.DIRECT_ATTACK if told[at + 7] else features.ATTACK
        point_at(table, row, told[at + 4], told[at + 5], told[at + 6], 0, word(told, at), printed)
        at += 8
    for choice in range(2):
        if told[at + choice]:
            add(table, 2 + choice)[PHASE_COLUMN] = 2 + choice


@rule
def offer_chain(table, told, printed):
    at = 16
    for number in range(word(told, 12)):
        row = add(table, number)
        row[ACT] = features.ACTIVATE
        row[EFFECT] = text_id(told, at + 14)
        point_located(table, row, told, at, printed)
        at += 23
    if not told[3]:
        add(table, -1)[ACT] = features.CANCEL


@rule
def point_located(table, row, told, at, printed):
    below = word(told, at + 10)
    point_at(table, row, told[at + 4], told[at + 5], word(told, at + 6), below, word(told, at), printed)


@rule
def offer_yes(table, told, printed):
    """Yes comes first."""
    row = add(table, 1)
    row[ACT] = features.ACTIVATE
    if table.kind == EFFECT_YESNO:
        row[EFFECT] = text_id(told, 16)
        point_located(table, row, told, 2, printed)
    else:
        row[EFFECT] = text_id(told, 2)
        name_card(row, text_code(told, 2), printed)
    add(table, 0)[ACT] = features.CANCEL


@rule
def offer_cards(table, told, at, size, printed):
    """Cards to pick from; the answer contains their indices."""
    count = word(told, at)
    at += 4
    for number in range(count):
        row = add(table, number)
        if size == 14:
            point_located(table, row, told, at, printed)
        else:
            sequence = told[at + 6] if size == 9 else word(told, at + 6)
            point_at(table, row, told[at + 4], told[at + 5] & 127, sequence, 0, word(told, at), printed)
        at += size


@rule
def offer_picks(table, told, printed):
    """Cards to pick one after another; returns whether the question is simple (each card counts as one)."""
    table.reply_form = AS_PICKS
    table.fewest = word(told, 3)
    table.most = word(told, 7)
    table.pick_count = 0
    offer_cards(table, told, 11, 14 if table.kind == CARD else 11, printed)
    if table.kind == TRIBUTE:
        for number in range(min(table.option_count, MOST_OPTIONS)):
            if told[15 + 11 * number + 10] != 1:
                return False
    if table.option_count and table.fewest == 0:
        add(table, FINISHED)[FINISH] = 1
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
        add(table, FINISHED)[FINISH] = 1
    return False


@rule
def offer_unselect(table, told, printed):
    """Cards to add to the selection; unselecting and cancelling only if there is nothing else."""
    table.reply_form = AS_UNSELECT
    at = 12
    for _ in range(2):
        count = word(told, at)
        at += 4
        for _ in range(count):
            point_located(table, add(table, table.option_count), told, at, printed)
            at += 14
    if told[2]:
        add(table, FINISHED)[FINISH] = 1
    elif told[3]:
        add(table, FINISHED)[ACT] = features.CANCEL
    added = word(told, 12)
    if 0 < added + told[2] <= MOST_OPTIONS:
        # Finish comes right after the cards to add.
        table.option_count = added
        if told[2]:
            add(table, FINISHED)[FINISH] = 1


@rule
def offer_places(table, told):
    """Free zones of both players: bits for eight monster zones, of which the last is unused, and eight spell zones."""
    player = table.player
    taken = word(told, 3)
    for bit in range(32):
        zone = bit & 7
        spells = bit >> 3 & 1
        if taken >> bit & 1 == 0 and (spells or zone < 7):
            other = bit >> 4
            who = np.int64(1 - player if other else player)
            row = add(table, who | (SZONE if spells else MZONE) << 8 | zone << 16)
            row[PLACE_COLUMN] = 1 + zone + 7 * spells + 15 * other


@rule
def offer_bits(table, told):
    """Types or attributes."""
    size = 8 if table.kind == RACE else 4
    for bit in range(8 * size):
        if told[3 + bit // 8] >> (bit & 7) & 1:
            row = add(table, 0)
            if table.kind == RACE:
                row[EFFECT] = FIRST_RACE + bit
            else:
                row[ATTRIBUTE_COLUMN] = bit + 1


@rule
def offer_values(table, told, printed):
    """Positions, texts, numbers and signs."""
    if table.kind == POSITION:
        for bit in range(4):
            if told[6] >> bit & 1:
                row = add(table, 1 << bit)
                row[POSITION_COLUMN] = POSITION_IDS[1 << bit]
                name_card(row, word(told, 2), printed)
    elif table.kind == OPTION:
        for number in range(told[2]):
            row = add(table, number)
            row[EFFECT] = text_id(told, 3 + 8 * number)
            name_card(row, text_code(told, 3 + 8 * number), printed)
    elif table.kind == NUMBER:
        for number in range(told[2]):
            add(table, number)[NUMBER_COLUMN] = min(word(told, 3 + 8 * number), MOST_NUMBER)
    elif table.kind == HAND_SIGN:
        for sign in range(1, 4):
            add(table, sign)[NUMBER_COLUMN] = sign
