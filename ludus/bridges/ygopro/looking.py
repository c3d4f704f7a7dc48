"""Which places of a duel must be looked at again before a player is shown it: asking the core costs as much as playing.

Piles change only where the core tells of it. Values on the field and in hands may change with whatever happens, so they
are looked at after every message but questions and hints; while an effect resolves, always, as a script may change them
without a word. In a duel without any script there are no effects: only cards that move or turn change, and their values
are as printed. A deck that is drawn from loses what is on its top, which needs no look. Of the other player's deck and
hand no more is asked than how many cards there are and which of them are public.
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
"""by message; cards that move or turn also change the places they tell, and cards that are drawn the hand"""
HEARD = bytes(
    kind
    in (
        messages.NEW_TURN, messages.NEW_PHASE, messages.DAMAGE_STEP_START, messages.DAMAGE_STEP_END,
        messages.CONFIRM_CARDS, messages.WIN, DRAW,
    )
    for kind in range(256)
)  # fmt: skip
"""the messages that `asking.hear` takes in, beside questions"""
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


ASKED = [WANTED.get(where, queries.BRIEF) for where in LOCATIONS]
ASKED_OF_OTHER = [HIDDEN.get(where, asked) for where, asked in zip(LOCATIONS, ASKED, strict=True)]
"""what is asked of each place of the player who is shown the duel, and of the other's"""
PLAIN = [queries.BRIEF] * len(LOCATIONS)
PLAIN_OF_OTHER = [0 if where in HIDDEN else queries.BRIEF for where in LOCATIONS]
"""the same in a duel without scripts"""


def as_bytes() -> bytes:
    """These rules for a core in another process: changes by message, what is heard, and what is asked of places."""
    return CHANGES + HEARD + struct.pack("<28I", *ASKED, *ASKED_OF_OTHER, *PLAIN, *PLAIN_OF_OTHER)
