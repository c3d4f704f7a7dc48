"""How a process is begun: a frame on the stack, with its arguments in named slots.

The functions that carry these processes out are in other modules; `machine.run` calls them.
"""

from ludus.games.duel.frames import (
    CHANGE_POSITION, DESTROY, EQUIP_WITH, SEND, SET_SPELL, SPECIAL_SUMMON, SWAP_CONTROL_OF, TAKE_CONTROL_OF, call,
)  # fmt: skip
from ludus.games.duel.state import MOST_IN_FRAME
from ludus.games.duel.tables.words import UP
from ludus.dsl import rule

SUBJECT = 0
"""argument slot of NORMAL_SUMMON, SET_MONSTER, SET_SPELL, FLIP_SUMMON_RULE and SPECIAL_SUMMON_RULE: the card that is
summoned or set"""
SET_PLAYER, SET_BY_EFFECT = 1, 2
"""further slots of SET_SPELL: who sets the card; whether an effect does it, so that no window opens afterwards"""
SEND_PLACE, SEND_REASON, SEND_PLAYER, SEND_POSITION = range(4)
"""argument slots of SEND: where the cards go, why, by whom, and face-up or face-down; `leaving` uses slots 4 to 6"""
DESTROY_REASON, DESTROY_PLAYER, DESTROY_AT, DESTROY_TO = range(4)
"""argument slots of DESTROY: why, by whom, the index of the current card, and the destination if it is not the
graveyard"""
NEW_POSITION, CHANGE_PLAYER = range(2)
"""argument slots of CHANGE_POSITION"""
SPECIAL_PLAYER, ALLOWED_POSITIONS, ALLOWED_ZONES, SUMMONING_AT, CHOSEN_ZONE, AS_PROPER = range(6)
"""argument slots of SPECIAL_SUMMON: who summons; bits of positions and of zones to choose from; the index of the
current monster; its zone; whether it is summoned as its own text demands, so that it may be revived later"""
ANY_ZONE = 0x7F
TAKER, UNTIL_END, ZONE_CHOOSER, TAKING_AT = range(4)
"""argument slots of TAKE_CONTROL_OF: the new controller; whether only until the end phase; who chooses the zones; the
index of the current monster"""
SWAP_PLAYER, ZONE_FOR_SECOND = range(2)
"""argument slots of SWAP_CONTROL_OF: the controller of the first monster; that player's zone for the second"""
EQUIP_PLAYER, EQUIP_HOST = range(2)
"""argument slots of EQUIP_WITH: whose spell zone is used; the monster that is equipped"""


@rule
def call_for(state, process, c):
    """Begin to summon or set a card."""
    frame = call(state, process)
    frame.args[SUBJECT] = c


@rule
def set_spell(state, c, player, by_effect):
    """Begin to set a spell or trap of the hand."""
    frame = call(state, SET_SPELL)
    frame.args[SUBJECT] = c
    frame.args[SET_PLAYER] = player
    frame.args[SET_BY_EFFECT] = by_effect


@rule
def send(state, place, reason, player):
    """Begin to send cards somewhere; the caller adds them to the frame."""
    frame = call(state, SEND)
    frame.args[SEND_PLACE] = place
    frame.args[SEND_REASON] = reason
    frame.args[SEND_PLAYER] = player
    frame.args[SEND_POSITION] = UP
    return frame


@rule
def destroy(state, reason, player):
    """Begin to destroy cards; the caller adds them to the frame."""
    frame = call(state, DESTROY)
    frame.args[DESTROY_REASON] = reason
    frame.args[DESTROY_PLAYER] = player
    return frame


@rule
def put_in(frame, c):
    """One more card for a frame."""
    if frame.count < MOST_IN_FRAME:
        frame.cards[frame.count] = c
        frame.count += 1


@rule
def change_position(state, c, position, player):
    """Begin to turn a card."""
    frame = call(state, CHANGE_POSITION)
    frame.args[NEW_POSITION] = position
    frame.args[CHANGE_PLAYER] = player
    put_in(frame, c)
    return frame


@rule
def special_summon(state, player, positions):
    """Begin to special summon; the caller adds the monsters."""
    frame = call(state, SPECIAL_SUMMON)
    frame.args[SPECIAL_PLAYER] = player
    frame.args[ALLOWED_POSITIONS] = positions
    frame.args[ALLOWED_ZONES] = ANY_ZONE
    return frame


@rule
def summon_one(state, c, player, positions):
    """Begin to special summon one monster."""
    put_in(special_summon(state, player, positions), c)


@rule
def take_control(state, c, player, until_end):
    """Begin to take control of a monster, for good or until the end phase."""
    frame = call(state, TAKE_CONTROL_OF)
    frame.args[TAKER] = player
    frame.args[UNTIL_END] = until_end
    frame.args[ZONE_CHOOSER] = player
    put_in(frame, c)
    return frame


@rule
def equip_monster(state, e, c, player):
    """Begin to equip a monster with another one."""
    frame = call(state, EQUIP_WITH)
    frame.args[EQUIP_PLAYER] = player
    frame.args[EQUIP_HOST] = c
    put_in(frame, e)


@rule
def swap_control(state, one, other, player):
    """Begin to swap the control of two monsters; `player` controls the first."""
    frame = call(state, SWAP_CONTROL_OF)
    frame.args[SWAP_PLAYER] = player
    put_in(frame, one)
    put_in(frame, other)
