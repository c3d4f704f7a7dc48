"""Monsters change sides, cards are equipped, and what a phase does by itself."""

from ludus.games.duel.chain import ask_place
from ludus.games.duel.events import trigger_own
from ludus.games.duel.frames import EQUIP_WITH, TAKE_CONTROL_OF, ask_cards, ask_yes, call, done
from ludus.games.duel.moving import change_position, destroy, lose_equips, lose_materials, put_in, send
from ludus.games.duel.state import ATTACK_ENDED, BY_COST, BY_EFFECT, BY_RULE, ENABLED, GRAVE_PILE, MOVED_NOW
from ludus.games.duel.tables.words import BANISHED, EQUIPPED, GRAVE, MZONE, SZONE, UP, UP_ATTACK, UP_DEFENSE
from ludus.games.duel.phases import (
    CONTROL_ENDS,
    COUNT_TURN,
    REST,
    REST_LENGTH,
    SERPENT_LEAVES,
    SINISTER_SERPENT,
    UPKEEP,
)
from ludus.games.duel.zones import free_monster_zones, free_spell_zones, lay, lift, move, new_stamp, unbind
from ludus.words import rule

UPKEEP_FEE = 100


@rule
def shift(state, c, player, zone):
    """A monster moves to another zone or side, and stays the card that it was."""
    card = state.cards[c]
    card.was_controller = card.controller
    position = card.position
    lift(state, c)
    lay(state, c, player, MZONE, zone, position)
    card.arrival = new_stamp(state)


@rule
def take_control(state, c, player, until_end):
    """Begin to take control of a monster, for good or until the end phase."""
    frame = call(state, TAKE_CONTROL_OF)
    frame.args[0] = player
    frame.args[1] = until_end
    frame.args[2] = player
    put_in(frame, c)
    return frame


@rule
def taking_control(state, frame):
    """Each monster gets a zone on the other side; without one it is destroyed."""
    player = frame.args[0]
    if frame.step == 0:
        if frame.args[3] >= frame.count:
            done(state)
            return
        c = frame.cards[frame.args[3]]
        if state.cards[c].place != MZONE or state.cards[c].controller == player:
            frame.args[3] += 1
            return
        zones = free_monster_zones(state, player)
        if zones == 0:
            frame.args[3] += 1
            put_in(destroy(state, BY_RULE, 2), c)
            return
        frame.step = 1
        ask_place(state, frame.args[2], player, MZONE, zones)
        return
    c = frame.cards[frame.args[3]]
    card = state.cards[c]
    shift(state, c, player, state.options[state.answer].value)
    card.status |= ATTACK_ENDED
    if frame.args[1]:
        card.lent_until_end = 1 + player
        card.lent_order = new_stamp(state)
    state.result = 1
    frame.args[3] += 1
    frame.step = 0


@rule
def swapping_control(state, frame):
    """Two monsters change sides for good; each player chooses a zone, the one that becomes free among them."""
    one = frame.cards[0]
    other = frame.cards[1]
    first = frame.args[0]
    if frame.step == 0:
        if state.cards[one].place != MZONE or state.cards[other].place != MZONE:
            done(state)
            return
        frame.step = 1
        ask_place(state, first, first, MZONE, zones_with(state, one))
        return
    if frame.step == 1:
        frame.args[1] = state.options[state.answer].value
        frame.step = 2
        ask_place(state, 1 - first, 1 - first, MZONE, zones_with(state, other))
        return
    zone_of_one = state.options[state.answer].value
    lift(state, one)
    lift(state, other)
    change_side(state, one, 1 - first, zone_of_one)
    change_side(state, other, first, frame.args[1])
    state.result = 1
    done(state)


@rule
def zones_with(state, c):
    """Free zones of a player, and the one that a monster leaves."""
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
    """An equip card that lies in its zone is put on a monster."""
    state.cards[e].equipped_to = c
    trigger_own(state, EQUIPPED, c, e, state.cards[e].controller)


@rule
def equip_monster(state, e, c, player):
    """Begin to equip a monster with another one."""
    frame = call(state, EQUIP_WITH)
    frame.args[0] = player
    frame.args[1] = c
    put_in(frame, e)


@rule
def equipping(state, frame):
    player = frame.args[0]
    e = frame.cards[0]
    c = frame.args[1]
    if frame.step == 0:
        zones = free_spell_zones(state, player)
        if zones == 0:
            put_in(send(state, GRAVE, BY_RULE, 2), e)
            frame.step = 2
            return
        frame.step = 1
        state.cards[e].status &= ~ENABLED
        ask_place(state, player, player, SZONE, zones)
        return
    if frame.step == 1:
        zone = state.options[state.answer].value
        position = state.cards[e].position
        frame.count = 1
        state.cards[e].reason = BY_EFFECT
        unbind(state, e)
        move(state, e, player, SZONE, zone, UP if position & UP else 10)
        state.cards[e].status |= ENABLED
        frame.step = 3
        if lose_equips(state, frame):
            return
    if frame.step == 3:
        frame.step = 4
        if lose_materials(state, frame):
            return
    if frame.step == 4:
        equip(state, e, c)
    done(state)


@rule
def phase_work(state, frame):
    """What a phase does to a card by itself."""
    which = frame.args[0]
    c = frame.args[1]
    player = frame.args[2]
    card = state.cards[c]
    if which == UPKEEP:
        pay_upkeep(state, frame, c, player)
        return
    if frame.step == 0:
        frame.step = 1
        if which == REST:
            card.resting = REST_LENGTH
            if card.position == UP_ATTACK:
                change_position(state, c, UP_DEFENSE, player)
                return
        elif which == COUNT_TURN:
            card.lasting = state.turn
            card.turns += 1
            if card.turns >= 3:
                put_in(destroy(state, BY_RULE, player), c)
                return
        elif which == CONTROL_ENDS:
            card.lent_until_end = 0
        elif which == SERPENT_LEAVES:
            state.serpents[player] = 0
            frame.count = 0
            for k in range(state.sizes[player, GRAVE_PILE]):
                s = state.piles[player, GRAVE_PILE, k]
                if state.cards[s].code == SINISTER_SERPENT:
                    put_in(frame, s)
            frame.step = 2
            ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
            return
    if frame.step == 2:
        frame.step = 1
        put_in(send(state, BANISHED, BY_EFFECT, player), state.picked[0])
        return
    done(state)


@rule
def pay_upkeep(state, frame, c, player):
    """The card stays if its fee is paid."""
    if frame.step == 0:
        frame.step = 1
        state.cards[c].lasting = state.turn
        state.answer = 0
        if state.life[player] >= UPKEEP_FEE:
            ask_yes(state, player, c, 0)
            return
    if frame.step == 1:
        frame.step = 2
        if state.answer == 1:
            state.life[player] -= UPKEEP_FEE
        else:
            put_in(destroy(state, BY_COST, player), c)
            return
    done(state)
