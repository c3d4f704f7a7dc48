"""Which places of a duel must be looked at again before a player is shown it: asking the core costs as much as playing.

Piles change only where the core tells of it. Values on the field and in hands may change with whatever happens, so they
are looked at after every message but questions and hints; while an effect resolves, always, as a script may change them
without a word. In a duel without any script there are no effects, and only cards that move or turn change. Of the other
player's deck and hand no more is asked than how many cards there are and which of them are public.
"""

from __future__ import annotations

import struct

from ludus.bridges.ygopro import messages, queries
from ludus.bridges.ygopro.core import DECK, HAND, LOCATIONS, MZONE, SZONE

CHAIN_SOLVING, CHAIN_SOLVED, CHAIN_END, MOVE, DRAW = 72, 73, 74, 50, 90
TURNING = (53, 54, 60, 62, 64)
"""cards that turn, are set or summoned, and tell where they lie"""
NOTHING, BY_EFFECTS, POINTS, EVERYTHING = range(4)
"""what a message may change: nothing, values by effects, these and life points, or anything"""
CHANGED = (
    (NOTHING, (2, *messages.QUESTIONS)),
    (BY_EFFECTS, (
        30, messages.CONFIRM_CARDS, messages.NEW_TURN, messages.NEW_PHASE, 42, MOVE, 53, 54, 56, *range(60, 66),
        *range(70, 77), 80, 81, 83, DRAW, 93, 96, 97, 101, 102, *range(110, 115), 120, 130, 131, 160, 165)),
    (POINTS, (91, 92, 94, 100)),
)  # fmt: skip
"""which messages; all others may change anything"""
CHANGES = bytes(next((what for what, kinds in CHANGED if kind in kinds), EVERYTHING) for kind in range(256))
"""by message; cards that move, turn or are drawn also change the places they tell"""
IN_HAND = queries.BRIEF | queries.TYPE | queries.LEVEL | queries.ATTRIBUTE | queries.RACE | queries.PUBLIC
"""in a hand, attack and defense are as printed"""
ON_FIELD = queries.VALUES | queries.OVERLAYS | queries.COUNTERS | queries.STATUS
WANTED = {HAND: IN_HAND, MZONE: ON_FIELD, SZONE: ON_FIELD}
HIDDEN = {DECK: 0, HAND: queries.PUBLIC}
"""what is asked of these places of the other player"""
FIELD = 1 << 14
"""the bit of life points; the others are seven places of player 0 and seven of player 1"""
ALL = FIELD * 2 - 1
CHANGING = sum(1 << 7 * player + LOCATIONS.index(where) for player in (0, 1) for where in (HAND, MZONE, SZONE))


ASKED = [(WANTED.get(where, queries.BRIEF), HIDDEN.get(where, WANTED.get(where, queries.BRIEF))) for where in LOCATIONS]
"""what is asked of each place of the player who is shown the duel, and of the other's"""


def as_bytes() -> bytes:
    """These rules for a core in another process: changes by message, and what is asked of places."""
    return CHANGES + b"".join(struct.pack("<II", *pair) for pair in ASKED)
