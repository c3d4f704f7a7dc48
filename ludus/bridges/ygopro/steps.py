"""Compiled step of all rows: converts actions to answers of the core, and duel records to observations and masks."""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False

from __future__ import annotations

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.card_table import observe_cards, observe_history, observe_numbers, record_action
from ludus.bridges.ygopro.compiled_messages import AS_PICKS, AS_PLACE, AS_UNSELECT, CARD, FINISHED, pick
from ludus.bridges.ygopro.duel_record import MAX_OPTIONS, NO_PLAYER
from ludus.dsl import kernel, rule
from ludus.types import Array

COLUMNS = features.ACTION_COLUMNS


@kernel
def are_legal(actions: Array, idle: Array, allowed: Array) -> bool:
    """Whether every action is legal; actions of ended duels are ignored."""
    for row in range(len(actions)):
        if not idle[row] and not (0 <= actions[row] < MAX_OPTIONS and allowed[row, actions[row]]):
            return False
    return True


@kernel
def apply_actions(tables: Array, idle: Array, chosen: Array, actions: Array, waiting: Array) -> int:
    """Record the actions and answer simple questions; marks and counts the rows that need more picks."""
    count = 0
    for row in range(len(tables)):
        waiting[row] = False
        if not idle[row]:
            table = tables[row]
            table.steps += 1
            record_action(table, actions[row, chosen[row]])
            if table.is_simple:
                waiting[row] = table.reply_form == AS_PICKS and not pick(table, chosen[row])
                if not waiting[row]:
                    write_answer(table, chosen[row])
        count += waiting[row]
    return count


@rule
def write_answer(table, action):
    """Write the response to a simple question."""
    reply = table.replies[action]
    form = table.reply_form
    hide_shown(table)
    table.answer_size = 0
    if form == AS_PICKS and (table.pick_count or not may_cancel(table)):
        append_number(table, 0, 4)
        append_number(table, table.pick_count, 4)
        for k in range(table.pick_count):
            append_number(table, table.picks[k], 4)
    elif form == AS_PICKS:
        append_number(table, FINISHED, 4)
    elif form == AS_UNSELECT and reply != FINISHED:
        append_number(table, 1, 4)
        append_number(table, reply, 4)
    else:
        append_number(table, reply, 3 if form == AS_PLACE else 4)


@rule
def hide_shown(table):
    """Hide cards that were shown only until the answer."""
    if table.shown_count:
        table.shown_count = 0
        table.viewer = NO_PLAYER


@rule
def may_cancel(table):
    """Whether an empty selection is sent as a cancel."""
    return table.kind == CARD or table.question[2] != 0


@rule
def append_number(table, value, size):
    """Append a number to the answer."""
    for k in range(size):
        table.answer[table.answer_size + k] = value >> 8 * k & 255
    table.answer_size += size


@kernel
def write_answers(tables: Array, which: Array, out: Array, at: int) -> int:
    """Write the answers for a core in another process: u32 duel, u16 length, answer; returns the end offset."""
    for k in range(len(which)):
        table = tables[which[k]]
        for byte in range(4):
            out[at + byte] = table.duel >> 8 * byte & 255
        for byte in range(2):
            out[at + 4 + byte] = table.answer_size >> 8 * byte & 255
        for byte in range(table.answer_size):
            out[at + 6 + byte] = table.answer[byte]
        at += 6 + table.answer_size
    return at


@kernel
def write_observations(
    tables: Array, show_hidden: bool, cards: Array, numbers: Array, actions: Array, history: Array, mask: Array
) -> None:  # fmt: skip
    """Write the observation of the player of every table; options only of simple questions."""
    for row in range(len(tables)):
        table = tables[row]
        observe_cards(table, table.player, show_hidden, cards[row], mask[row])
        observe_numbers(table, table.player, table.over, numbers[row])
        observe_history(table, table.player, history[row])
        count = table.option_count if table.is_simple else 0
        for action in range(MAX_OPTIONS):
            for column in range(COLUMNS):
                actions[row, action, column] = table.options[action, column] if action < count else 0


@kernel
def write_seats_and_masks(tables: Array, max_steps: int, allowed: Array, seats: Array, ended: Array) -> int:
    """Write the seat to act and the legal actions (all at the end of a duel); marks and counts ended duels."""
    count = 0
    for row in range(len(tables)):
        table = tables[row]
        seats[row] = table.seats[table.player]
        for action in range(MAX_OPTIONS):
            allowed[row, action] = table.over or action < table.option_count
        ended[row] = table.over or table.steps >= max_steps
        count += ended[row]
    return count
