"""Rules that decide which locations must be queried again before an observation, since queries are expensive.

Piles change only if the core sends a message about them. Values on the field and in hands may change at any time, so
they are queried after every message except questions and hints, and always while an effect resolves, since a script may
change them without a message. In a duel without scripts there are no effects: only cards that move or turn change, and
their values are as printed. Drawing removes the top card of a deck, which needs no query. Of the opponent's deck and
hand only the number of cards and the public cards are queried.
"""

from __future__ import annotations

import struct

from ludus.bridges.ygopro import messages, queries
from ludus.bridges.ygopro.core import DECK, HAND, LOCATIONS, MZONE, SZONE

CHAIN_SOLVING, CHAIN_SOLVED, CHAIN_END, MOVE, DRAW = 72, 73, 74, 50, 90
TURNING_MESSAGES = (53, 54, 60, 62, 64)
"""messages about cards that turn, are set or summoned, with their location"""
NOTHING, VALUES, POINTS, EVERYTHING = range(4)
"""what a message may change: nothing, values of cards (by effects), values and life points, or everything"""
MESSAGES_BY_CHANGE = (
    (NOTHING, (2, *messages.QUESTIONS)),
    (VALUES, (
        30, messages.CONFIRM_CARDS, messages.NEW_TURN, messages.NEW_PHASE, 42, MOVE, 53, 54, 56, *range(60, 66),
        *range(70, 77), 80, 81, 83, DRAW, 93, 96, 97, 101, 102, *range(110, 115), 120, 130, 131, 160, 165)),
    (POINTS, (91, 92, 94, 100)),
)  # fmt: skip
"""messages by what they may change; all others may change everything"""
CHANGE_BY_MESSAGE = bytes(
    next((change for change, kinds in MESSAGES_BY_CHANGE if kind in kinds), EVERYTHING) for kind in range(256)
)
"""by message type; moves and turned cards also change the locations in the message, and draws change the hand"""
EVENTS_READ = bytes(
    kind
    in (
        messages.NEW_TURN, messages.NEW_PHASE, messages.DAMAGE_STEP_START, messages.DAMAGE_STEP_END,
        messages.CONFIRM_CARDS, messages.WIN, DRAW,
    )
    for kind in range(256)
)  # fmt: skip
"""messages that `compiled_messages.read_messages` reads, besides questions"""
HAND_FLAGS = queries.BRIEF | queries.TYPE | queries.LEVEL | queries.ATTRIBUTE | queries.RACE | queries.PUBLIC
"""query flags for a hand, where attack and defense are as printed"""
FIELD_FLAGS = queries.VALUES | queries.OVERLAYS | queries.COUNTERS | queries.STATUS
VISIBLE_FLAGS = {HAND: HAND_FLAGS, MZONE: FIELD_FLAGS, SZONE: FIELD_FLAGS}
HIDDEN_FLAGS = {DECK: 0, HAND: queries.PUBLIC}
"""query flags for these locations of the opponent"""
LIFE_POINTS = 1 << 14
"""the bit of the life points; lower bits are the seven locations of player 0 and of player 1"""
ALL = LIFE_POINTS * 2 - 1
VALUE_LOCATIONS = sum(1 << 7 * player + LOCATIONS.index(where) for player in (0, 1) for where in (HAND, MZONE, SZONE))
"""the bits of the locations where values of cards may change"""
OWN_FLAGS = [VISIBLE_FLAGS.get(where, queries.BRIEF) for where in LOCATIONS]
OPPONENT_FLAGS = [HIDDEN_FLAGS.get(where, flags) for where, flags in zip(LOCATIONS, OWN_FLAGS, strict=True)]
"""query flags for each location of the viewing player, and of the opponent"""
OWN_FLAGS_PLAIN = [queries.BRIEF] * len(LOCATIONS)
OPPONENT_FLAGS_PLAIN = [0 if where in HIDDEN_FLAGS else queries.BRIEF for where in LOCATIONS]
"""the same for a duel without scripts"""


def as_bytes() -> bytes:
    """These tables for a core in another process: changes by message, messages to read, and query flags."""
    return (
        CHANGE_BY_MESSAGE
        + EVENTS_READ
        + struct.pack("<28I", *OWN_FLAGS, *OPPONENT_FLAGS, *OWN_FLAGS_PLAIN, *OPPONENT_FLAGS_PLAIN)
    )
