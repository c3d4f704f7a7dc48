"""Changes of control, and equipping monsters with monsters."""

from ludus.games.duel.card_moves import lose_equips, lose_materials
from ludus.games.duel.chain import ask_place
from ludus.games.duel.events import trigger_own
from ludus.games.duel.frames import done
from ludus.games.duel.processes import (
    EQUIP_HOST, EQUIP_PLAYER, SWAP_PLAYER, TAKER, TAKING_AT, UNTIL_END, ZONE_CHOOSER, ZONE_FOR_SECOND, destroy, put_in,
    send,
)  # fmt: skip
from ludus.games.duel.state import ATTACK_ENDED, BY_EFFECT, BY_RULE, ENABLED, MOVED_NOW
from ludus.games.duel.tables.words import EQUIPPED, GRAVE, MZONE, SZONE, UP
from ludus.games.duel.zones import free_monster_zones, free_spell_zones, lay, lift, move, new_stamp, unbind
from ludus.dsl import rule


ASK_NEW_ZONE, MOVE_TAKEN = range(2)
"""the steps of TAKE_CONTROL_OF, repeated for every monster"""

ASK_OWN_ZONE, ASK_OTHER_ZONE, SWAP_SIDES = range(3)
"""the steps of SWAP_CONTROL_OF"""

ASK_EQUIP_ZONE, MOVE_EQUIP, END_EQUIP, LOSE_EQUIP_MATERIALS, ATTACH_EQUIP = range(5)
"""the steps of EQUIP_WITH"""


@rule
def shift(state, c, player, zone):
    """Move a monster to another zone or side; effects keep track of it."""
    card = state.cards[c]
    card.was_controller = card.controller
    position = card.position
    lift(state, c)
    lay(state, c, player, MZONE, zone, position)
    card.arrival = new_stamp(state)


@rule
def taking_control(state, frame):
    """Move each monster to a zone of the new controller; if none is free, destroy it."""
    player = frame.args[TAKER]
    if frame.step == ASK_NEW_ZONE:
        if frame.args[TAKING_AT] >= frame.count:
            done(state)
            return
        c = frame.cards[frame.args[TAKING_AT]]
        if state.cards[c].place != MZONE or state.cards[c].controller == player:
            frame.args[TAKING_AT] += 1
            return
        zones = free_monster_zones(state, player)
        if zones == 0:
            frame.args[TAKING_AT] += 1
            put_in(destroy(state, BY_RULE, 2), c)
            return
        frame.step = MOVE_TAKEN
        ask_place(state, frame.args[ZONE_CHOOSER], player, MZONE, zones)
        return
    c = frame.cards[frame.args[TAKING_AT]]
    card = state.cards[c]
    shift(state, c, player, state.options[state.answer].value)
    card.status |= ATTACK_ENDED
    if frame.args[UNTIL_END]:
        card.lent_until_end = 1 + player
        card.lent_order = new_stamp(state)
    state.result = 1
    frame.args[TAKING_AT] += 1
    frame.step = ASK_NEW_ZONE


@rule
def swapping_control(state, frame):
    """Swap two monsters permanently; each player chooses a free zone or the one that their own monster leaves."""
    one = frame.cards[0]
    other = frame.cards[1]
    first = frame.args[SWAP_PLAYER]
    if frame.step == ASK_OWN_ZONE:
        if state.cards[one].place != MZONE or state.cards[other].place != MZONE:
            done(state)
            return
        frame.step = ASK_OTHER_ZONE
        ask_place(state, first, first, MZONE, zones_with(state, one))
        return
    if frame.step == ASK_OTHER_ZONE:
        frame.args[ZONE_FOR_SECOND] = state.options[state.answer].value
        frame.step = SWAP_SIDES
        ask_place(state, 1 - first, 1 - first, MZONE, zones_with(state, other))
        return
    zone_of_one = state.options[state.answer].value
    lift(state, one)
    lift(state, other)
    change_side(state, one, 1 - first, zone_of_one)
    change_side(state, other, first, frame.args[ZONE_FOR_SECOND])
    state.result = 1
    done(state)


@rule
def zones_with(state, c):
    """The free zones of a monster's controller, and its own zone."""
    card = state.cards[c]
    zones = free_monster_zones(state, card.controller)
    return zones | (1 << card.sequence) if card.sequence < 5 else zones


@rule
def change_side(state, c, player, zone):
    card = state.cards[c]
    card.was_controller = card.controller
    lay(state, c, player, MZONE, zone, card.position)
    card.arrival = new_stamp(state)
    card.control = player
    card.control_order = new_stamp(state)
    card.lent_until_end = 0
    card.status |= ATTACK_ENDED | MOVED_NOW


@rule
def equip(state, e, c):
    """Equip a monster with a card that is already in a spell zone."""
    state.cards[e].equipped_to = c
    trigger_own(state, EQUIPPED, c, e, state.cards[e].controller)


@rule
def equipping(state, frame):
    player = frame.args[EQUIP_PLAYER]
    e = frame.cards[0]
    c = frame.args[EQUIP_HOST]
    if frame.step == ASK_EQUIP_ZONE:
        zones = free_spell_zones(state, player)
        if zones == 0:
            put_in(send(state, GRAVE, BY_RULE, 2), e)
            frame.step = END_EQUIP
            return
        frame.step = MOVE_EQUIP
        state.cards[e].status &= ~ENABLED
        ask_place(state, player, player, SZONE, zones)
        return
    if frame.step == MOVE_EQUIP:
        zone = state.options[state.answer].value
        position = state.cards[e].position
        frame.count = 1
        state.cards[e].reason = BY_EFFECT
        unbind(state, e)
        move(state, e, player, SZONE, zone, UP if position & UP else 10)
        state.cards[e].status |= ENABLED
        frame.step = LOSE_EQUIP_MATERIALS
        if lose_equips(state, frame):
            return
    if frame.step == LOSE_EQUIP_MATERIALS:
        frame.step = ATTACH_EQUIP
        if lose_materials(state, frame):
            return
    if frame.step == ATTACH_EQUIP:
        equip(state, e, c)
    done(state)
