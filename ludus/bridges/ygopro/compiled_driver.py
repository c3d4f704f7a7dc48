"""Compiled driver of a core in this process: answer, process, query and read, without Python between the calls."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from ludus.bridges.ygopro import stale_zones
from ludus.bridges.ygopro.card_table import HAND, take_place, take_points, word
from ludus.bridges.ygopro.compiled_messages import hear, offer
from ludus.bridges.ygopro.core import LOCATIONS
from ludus.dsl import kernel, rule
from ludus.dsl.cache import plain_python
from ludus.types import Array

PROCESS, GET_MESSAGE, SET_RESPONSE, QUERY_LOCATION, QUERY_FIELD = range(5)
"""indices of the called functions in the array of their addresses"""
CALLED = ("OCG_DuelProcess", "OCG_DuelGetMessage", "OCG_DuelSetResponse", "OCG_DuelQueryLocation", "OCG_DuelQueryField")
ENDED, AWAITING = 0, 1
LENGTH, PASS, INFO, SCRATCH = 0, 1, 2, 5
"""indices in the scratch memory of 64-bit words: length of an output, a pass, arguments of a query; and its size"""
CHANGES = np.frombuffer(stale_zones.CHANGES, np.uint8)
TURNING = stale_zones.TURNING
MOVE, DRAW, CHAIN_SOLVING, CHAIN_SOLVED, CHAIN_END = (
    stale_zones.MOVE, stale_zones.DRAW, stale_zones.CHAIN_SOLVING, stale_zones.CHAIN_SOLVED, stale_zones.CHAIN_END,
)  # fmt: skip
ALL, FIELD, CHANGING, EVERYTHING, POINTS, NOTHING = (
    stale_zones.ALL, stale_zones.FIELD, stale_zones.CHANGING, stale_zones.EVERYTHING, stale_zones.POINTS,
    stale_zones.NOTHING,
)  # fmt: skip
ASKED, ASKED_OF_OTHER, PLAIN, PLAIN_OF_OTHER = (
    np.array(asked)
    for asked in (stale_zones.ASKED, stale_zones.ASKED_OF_OTHER, stale_zones.PLAIN, stale_zones.PLAIN_OF_OTHER)
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
    tables: Any, which: Any, functions: Any, all_seeing: Any, has_effects: Any, scratch: Any, printed: Any
) -> Any:  # fmt: skip
    """Answer in these duels one after another and read their messages; returns the number of non-simple questions.

    Questions that are not simple are answered in Python, by `pool.RealGames`.
    """
    intricate = 0
    for k in range(len(which)):
        table = tables[which[k]]
        if table.answer_size:
            call(functions[SET_RESPONSE], table.duel, table.answer.ctypes.data, table.answer_size)
        proceed(table, table.duel, functions, has_effects, scratch)
        look(table, table.duel, functions, all_seeing or table.shown_count > 0, has_effects, scratch, printed)
        offer(table, printed)
        intricate += 1 - table.is_simple
    return intricate


@rule
def proceed(table, duel, functions, has_effects, scratch):
    """Process until there is a choice; empty chain prompts are passed."""
    while True:
        status = call(functions[PROCESS], duel, 0, 0) & 0xFFFFFFFF
        start = call(functions[GET_MESSAGE], duel, scratch.address, 0)
        told = bytes_at(start, scratch.words[LENGTH] & 0xFFFFFFFF)
        forget_by(table, told, has_effects)
        viewer = table.player
        hear(table, told, 0, len(told))
        if status == ENDED:
            table.over = 1
            table.kind = 0
        if table.over:
            table.player = viewer
            return
        if status == AWAITING:
            if not offers_nothing(told, newest(told)):
                return
            table.player = viewer
            call(functions[SET_RESPONSE], duel, scratch.address + 8 * PASS, 4)


@rule
def newest(told):
    """The offset of the last message."""
    at = 0
    start = 0
    while at < len(told):
        start = at + 4
        at = start + word(told, at)
    return start


@rule
def offers_nothing(told, at):
    """Whether this is a chain prompt without options, which the core sends at every window."""
    return len(told) > 0 and told[at] == SELECT_CHAIN and told[at + 3] == 0 and word(told, at + 12) == 0


@rule
def forget(table, bits):
    table.stale |= bits
    table.uncounted |= bits


@rule
def bit(player, location):
    """The bit of a location in `stale` and `uncounted`."""
    for place in range(7):
        if location & 127 == 1 << place:
            return 1 << 7 * np.int64(player) + place
    return 0


@rule
def forget_by(table, told, has_effects):
    """Mark the locations that messages may have changed; see `stale_zones` for the reasons."""
    by_effects = CHANGING if has_effects else 0
    at = 0
    while at < len(told):
        kind = told[at + 4]
        if kind == MOVE:
            forget(table, bit(told[at + 9], told[at + 10]) | bit(told[at + 19], told[at + 20]))
        elif kind in TURNING:
            forget(table, bit(told[at + 9], told[at + 10]))
        elif kind == DRAW:
            forget(table, bit(told[at + 5], 2))
        elif kind == CHAIN_SOLVING:
            table.resolving = 1
        elif kind in (CHAIN_SOLVED, CHAIN_END):
            table.resolving = 0
        change = CHANGES[kind]
        if change == EVERYTHING:
            forget(table, ALL)
        elif change != NOTHING:
            forget(table, by_effects | FIELD if change == POINTS else by_effects)
        at += 4 + word(told, at)
    if table.resolving:
        forget(table, CHANGING)


@rule
def look(table, duel, functions, all_seeing, has_effects, scratch, printed):
    """Query the locations that may have changed, as far as the player to act may see them."""
    wanted = ASKED if has_effects else PLAIN
    hidden = ASKED_OF_OTHER if has_effects else PLAIN_OF_OTHER
    for number in range(14):
        player = number // 7
        place = number % 7
        which = 1 << number
        counts = not all_seeing and player != table.player and place <= HAND
        if (table.uncounted if counts else table.stale) & which:
            asked = hidden[place] if counts else wanted[place]
            opened = query(table, duel, functions, player, place, asked, scratch, printed)
            table.uncounted &= ~which
            if counts and place == HAND and opened:
                query(table, duel, functions, player, place, wanted[place], scratch, printed)
                counts = False
            if not counts:
                table.stale &= ~which
    if table.stale & FIELD:
        table.stale &= ~FIELD
        start = call(functions[QUERY_FIELD], duel, scratch.address, 0)
        take_points(table, bytes_at(start, scratch.words[LENGTH] & 0xFFFFFFFF), 0)


@rule
def query(table, duel, functions, player, place, asked, scratch, printed):
    """Query and read one location; returns whether any card there is known to both players."""
    scratch.words[INFO] = asked | player << 32
    scratch.words[INFO + 1] = LOCATION_BITS[place]
    start = call(functions[QUERY_LOCATION], duel, scratch.address, scratch.address + 8 * INFO)
    told = bytes_at(start, scratch.words[LENGTH] & 0xFFFFFFFF)
    take_place(table, player, place, told, 0, len(told), printed)
    opened = 0
    for line in range(table.lines[player, place]):
        opened += table.is_open[player, place, line]
    return opened > 0
