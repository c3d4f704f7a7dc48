"""Compiled driver of a core in this process: it sends answers, runs duels, and queries and reads their state.

The C functions of the core are called from compiled code, so that no Python runs between the calls.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from ludus.bridges.ygopro import stale_zones
from ludus.bridges.ygopro.card_table import HAND, read_life_points, read_location, word
from ludus.bridges.ygopro.compiled_messages import list_options, read_messages
from ludus.bridges.ygopro.core import LOCATIONS
from ludus.bridges.ygopro.duel_record import PrintedCards
from ludus.dsl import kernel, rule
from ludus.dsl.cache import plain_python
from ludus.types import Array

PROCESS, GET_MESSAGE, SET_RESPONSE, QUERY_LOCATION, QUERY_FIELD = range(5)
"""indices of the called functions in the array of their addresses"""
CALLED = ("OCG_DuelProcess", "OCG_DuelGetMessage", "OCG_DuelSetResponse", "OCG_DuelQueryLocation", "OCG_DuelQueryField")
ENDED, AWAITING = 0, 1
"""results of OCG_DuelProcess"""
LENGTH, PASS, INFO, SCRATCH = 0, 1, 2, 5
"""indices in the scratch memory of 64-bit words: length of an output, a pass, arguments of a query; and its size"""
CHANGE_BY_MESSAGE = np.frombuffer(stale_zones.CHANGE_BY_MESSAGE, np.uint8)
TURNING_MESSAGES = stale_zones.TURNING_MESSAGES
MOVE, DRAW, CHAIN_SOLVING, CHAIN_SOLVED, CHAIN_END = (
    stale_zones.MOVE, stale_zones.DRAW, stale_zones.CHAIN_SOLVING, stale_zones.CHAIN_SOLVED, stale_zones.CHAIN_END,
)  # fmt: skip
ALL, LIFE_POINTS, VALUE_LOCATIONS, EVERYTHING, POINTS, NOTHING = (
    stale_zones.ALL, stale_zones.LIFE_POINTS, stale_zones.VALUE_LOCATIONS, stale_zones.EVERYTHING, stale_zones.POINTS,
    stale_zones.NOTHING,
)  # fmt: skip
OWN_FLAGS, OPPONENT_FLAGS, OWN_FLAGS_PLAIN, OPPONENT_FLAGS_PLAIN = (
    np.array(flags)
    for flags in (
        stale_zones.OWN_FLAGS,
        stale_zones.OPPONENT_FLAGS,
        stale_zones.OWN_FLAGS_PLAIN,
        stale_zones.OPPONENT_FLAGS_PLAIN,
    )
)
LOCATION_BITS = np.array(LOCATIONS)
SELECT_CHAIN = 16


class Scratch(NamedTuple):
    """Memory that the core reads and writes: its address and its words."""

    address: int
    words: Array


if plain_python():

    def call(address, first, second, third):
        """Call a C function of up to three arguments; returns its result."""
        return ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(int(address))(int(first), int(second), int(third))

    def bytes_at(address, length):
        """The bytes at an address, as an array that is valid until the next call of the core."""
        return np.ctypeslib.as_array(ctypes.cast(int(address), ctypes.POINTER(ctypes.c_uint8)), (int(length),))

else:

    @intrinsic
    def call(typing, address, first, second, third):
        """Call a C function of up to three arguments; returns its result."""

        def generate(context, builder, signature, arguments):
            word_type = context.get_value_type(types.int64)
            function_type = cgutils.ir.FunctionType(word_type, [word_type] * 3)
            function = builder.inttoptr(arguments[0], function_type.as_pointer())
            return builder.call(function, arguments[1:])

        return types.int64(types.int64, types.int64, types.int64, types.int64), generate

    @intrinsic
    def _pointer(typing, address):
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], cgutils.voidptr_t)

        return types.voidptr(types.int64), generate

    @rule
    def bytes_at(address, length):
        """The bytes at an address, as an array that is valid until the next call of the core."""
        return numba.carray(_pointer(address), (length,), np.uint8)


@kernel
def drive(
    tables: Array, which: Array, functions: Array, show_hidden: bool, has_effects: bool, scratch: Scratch,
    printed: PrintedCards,
) -> int:  # fmt: skip
    """Send the answers of these duels and run each to its next choice; returns the number of non-simple questions.

    Non-simple questions are answered in Python, by `pool.RealGames`.
    """
    complex_questions = 0
    for k in range(len(which)):
        table = tables[which[k]]
        if table.answer_size:
            call(functions[SET_RESPONSE], table.duel, table.answer.ctypes.data, table.answer_size)
        process_until_choice(table, table.duel, functions, has_effects, scratch)
        query_stale_locations(
            table, table.duel, functions, show_hidden or table.shown_count > 0, has_effects, scratch, printed
        )
        list_options(table, printed)
        complex_questions += 1 - table.is_simple
    return complex_questions


@rule
def process_until_choice(table, duel, functions, has_effects, scratch):
    """Run a duel until a player has a choice or it is over; chain prompts without options are passed."""
    while True:
        status = call(functions[PROCESS], duel, 0, 0) & 0xFFFFFFFF
        start = call(functions[GET_MESSAGE], duel, scratch.address, 0)
        data = bytes_at(start, scratch.words[LENGTH] & 0xFFFFFFFF)
        mark_changed_locations(table, data, has_effects)
        viewer = table.player
        read_messages(table, data, 0, len(data))
        if status == ENDED:
            table.over = 1
            table.kind = 0
        if table.over:
            table.player = viewer
            return
        if status == AWAITING:
            if not offers_nothing(data, newest(data)):
                return
            table.player = viewer
            call(functions[SET_RESPONSE], duel, scratch.address + 8 * PASS, 4)


@rule
def newest(data):
    """The offset of the last message."""
    at = 0
    start = 0
    while at < len(data):
        start = at + 4
        at = start + word(data, at)
    return start


@rule
def offers_nothing(data, at):
    """Whether this is a chain prompt without options; the core sends one at every chance to respond."""
    return len(data) > 0 and data[at] == SELECT_CHAIN and data[at + 3] == 0 and word(data, at + 12) == 0


@rule
def mark_stale(table, bits):
    table.stale |= bits
    table.uncounted |= bits


@rule
def location_bit(player, location):
    """The bit of a location in `stale` and `uncounted`."""
    for place in range(7):
        if location & 127 == 1 << place:
            return 1 << 7 * np.int64(player) + place
    return 0


@rule
def mark_changed_locations(table, data, has_effects):
    """Mark the locations that messages may have changed, by the rules in `stale_zones`."""
    by_effects = VALUE_LOCATIONS if has_effects else 0
    at = 0
    while at < len(data):
        kind = data[at + 4]
        if kind == MOVE:
            mark_stale(table, location_bit(data[at + 9], data[at + 10]) | location_bit(data[at + 19], data[at + 20]))
        elif kind in TURNING_MESSAGES:
            mark_stale(table, location_bit(data[at + 9], data[at + 10]))
        elif kind == DRAW:
            mark_stale(table, location_bit(data[at + 5], 2))
        elif kind == CHAIN_SOLVING:
            table.resolving = 1
        elif kind in (CHAIN_SOLVED, CHAIN_END):
            table.resolving = 0
        change = CHANGE_BY_MESSAGE[kind]
        if change == EVERYTHING:
            mark_stale(table, ALL)
        elif change != NOTHING:
            mark_stale(table, by_effects | LIFE_POINTS if change == POINTS else by_effects)
        at += 4 + word(data, at)
    if table.resolving:
        mark_stale(table, VALUE_LOCATIONS)


@rule
def query_stale_locations(table, duel, functions, show_all, has_effects, scratch, printed):
    """Query the locations that may have changed, as far as the player to act may see them."""
    own = OWN_FLAGS if has_effects else OWN_FLAGS_PLAIN
    opponent = OPPONENT_FLAGS if has_effects else OPPONENT_FLAGS_PLAIN
    for number in range(14):
        player = number // 7
        place = number % 7
        which = 1 << number
        count_only = not show_all and player != table.player and place <= HAND
        if (table.uncounted if count_only else table.stale) & which:
            flags = opponent[place] if count_only else own[place]
            any_public = query(table, duel, functions, player, place, flags, scratch, printed)
            table.uncounted &= ~which
            if count_only and place == HAND and any_public:
                query(table, duel, functions, player, place, own[place], scratch, printed)
                count_only = False
            if not count_only:
                table.stale &= ~which
    if table.stale & LIFE_POINTS:
        table.stale &= ~LIFE_POINTS
        start = call(functions[QUERY_FIELD], duel, scratch.address, 0)
        read_life_points(table, bytes_at(start, scratch.words[LENGTH] & 0xFFFFFFFF), 0)


@rule
def query(table, duel, functions, player, place, flags, scratch, printed):
    """Query and read one location; returns whether any card there is public."""
    scratch.words[INFO] = flags | player << 32
    scratch.words[INFO + 1] = LOCATION_BITS[place]
    start = call(functions[QUERY_LOCATION], duel, scratch.address, scratch.address + 8 * INFO)
    data = bytes_at(start, scratch.words[LENGTH] & 0xFFFFFFFF)
    read_location(table, player, place, data, 0, len(data), printed)
    public_cards = 0
    for line in range(table.lines[player, place]):
        public_cards += table.is_open[player, place, line]
    return public_cards > 0
