"""After everything that happens the field settles: who has won, who controls what, what must be destroyed or sit."""

from ludus.games.duel.frames import ADJUST, CHANGE_POSITION, TAKE_CONTROL_OF, call, done
from ludus.games.duel.moving import destroy, put_in
from ludus.games.duel.randomness import shuffle_if_due
from ludus.games.duel.state import ATTACK_ENDED, BEING_SUMMONED, BY_EFFECT, BY_RULE, FELLED, NOBODY
from ludus.games.duel.tables import CARDS, TRAITS
from ludus.games.duel.tables.words import (
    CONTROLS_EQUIPPED, DIES_WHEN_TARGETED, DRAGON, LINK, MZONE, SITS_DRAGONS, SITS_LEVELS, UP, UP_ATTACK,
    UP_DEFENSE,
)  # fmt: skip
from ludus.games.duel.values import equips_on, has, has_level, held_back, level, somewhere
from ludus.words import OVER, rule

BY_LIFE, BY_DECK = 1, 2
DRAWN_DUEL = 2


RESTLESS = CONTROLS_EQUIPPED | DIES_WHEN_TARGETED | SITS_LEVELS | SITS_DRAGONS
"""traits of cards that can make the field change by itself"""


@rule
def settle(state):
    """Settle the field; most often there is nothing to settle, which is soon seen."""
    if not is_calm(state):
        call(state, ADJUST)
    elif not check_end(state):
        if state.shuffle[0] or state.shuffle[1]:
            shuffle_if_due(state, state.turn_player)
        watch_attack(state)


@rule
def is_calm(state):
    """Whether no card on the field could change sides, sit down or be destroyed by itself."""
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY:
                card = state.cards[c]
                if card.control != player or card.lent_until_end or TRAITS[state.codes[c]] & RESTLESS:
                    return False
        for zone in range(5):
            e = state.spells[player, zone]
            if e != NOBODY:
                host = state.cards[e].equipped_to
                if (host and not bears_equips(state, host)) or TRAITS[state.codes[e]] & RESTLESS:
                    return False
    return True


@rule
def adjusting(state, frame):
    """One thing after the other, again from the beginning until nothing changes."""
    if frame.step == 0:
        frame.args[0] = 0
        frame.step = 1
        if check_end(state):
            return
    if frame.step == 1:
        frame.step = 2
        if give_back_control(state):
            frame.args[0] = 1
            return
    if frame.step == 2:
        frame.step = 3
        if state.sparing == 0 and fell_targeted(state):
            frame.args[0] = 1
            return
    if frame.step == 3:
        frame.step = 4
        if lose_unfit_equips(state):
            frame.args[0] = 1
            return
    if frame.step == 4:
        frame.step = 5
        if sit_down(state):
            frame.args[0] = 1
            return
    if state.shuffle[0] or state.shuffle[1]:
        shuffle_if_due(state, state.turn_player)
    if frame.args[0]:
        frame.step = 0
        return
    watch_attack(state)
    done(state)


@rule
def check_end(state):
    """Whether somebody has lost."""
    reason = 0
    loser = -1
    for player in range(2):
        if state.life[player] <= 0:
            loser = DRAWN_DUEL if loser >= 0 else player
            reason = BY_LIFE
    if loser < 0:
        for player in range(2):
            if state.overdrawn[player]:
                loser = DRAWN_DUEL if loser >= 0 else player
                reason = BY_DECK
    if reason == 0:
        return False
    state.winner = DRAWN_DUEL if loser == DRAWN_DUEL else 1 - loser
    state.win_reason = reason
    state.status = OVER
    return True


@rule
def rightful(state, c):
    """Who should control a monster now."""
    best = state.cards[c].control_order
    player = state.cards[c].control
    for side in range(2 if state.traits & CONTROLS_EQUIPPED else 0):
        for zone in range(5):
            e = state.spells[side, zone]
            if (
                e != NOBODY
                and state.cards[e].equipped_to == c
                and CARDS[state.cards[e].code].traits & CONTROLS_EQUIPPED
            ):
                if has(state, e, CONTROLS_EQUIPPED) and state.cards[e].enabled_at > best:
                    best = state.cards[e].enabled_at
                    player = side
    card = state.cards[c]
    if card.lent_until_end and card.lent_order > best:
        player = card.lent_until_end - 1
    return player


@rule
def give_back_control(state):
    """Monsters whose control has begun or ended change sides."""
    changed = False
    for k in range(2):
        taker = state.turn_player if k == 1 else 1 - state.turn_player
        frame = call(state, TAKE_CONTROL_OF)
        frame.args[0] = taker
        frame.args[1] = 0
        frame.args[2] = taker
        for zone in range(7):
            c = state.monsters[1 - taker, zone]
            if c != NOBODY and rightful(state, c) == taker:
                put_in(frame, c)
        if frame.count == 0:
            done(state)
        else:
            changed = True
    return changed


@rule
def fell_targeted(state):
    """Monsters that do not bear to be targeted."""
    frame = destroy(state, BY_EFFECT, 2)
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if (
                c != NOBODY
                and has(state, c, DIES_WHEN_TARGETED)
                and (equips_on(state, c) > 0 or called_back(state, c) or state.cards[c].status & FELLED)
            ):
                put_in(frame, c)
    if frame.count == 0:
        done(state)
        return False
    return True


@rule
def called_back(state, c):
    return state.cards[c].bound_to != NOBODY


@rule
def bears_equips(state, c):
    return state.cards[c].place == MZONE and state.cards[c].position & UP != 0


@rule
def lose_unfit_equips(state):
    """Equip cards on what they do not fit are destroyed."""
    frame = destroy(state, BY_RULE, 2)
    for player in range(2):
        for zone in range(5):
            e = state.spells[player, zone]
            if e != NOBODY and state.cards[e].equipped_to:
                if not bears_equips(state, state.cards[e].equipped_to):
                    state.cards[e].equipped_to = NOBODY
                    put_in(frame, e)
    if frame.count == 0:
        done(state)
        return False
    return True


@rule
def sit_down(state):
    """Monsters that are kept in defense position."""
    levels = somewhere(state, SITS_LEVELS)
    dragons = somewhere(state, SITS_DRAGONS)
    if not levels and not dragons:
        return False
    frame = call(state, CHANGE_POSITION)
    frame.args[0] = UP_DEFENSE
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if (
                c != NOBODY
                and state.cards[c].position == UP_ATTACK
                and state.cards[c].status & BEING_SUMMONED == 0
                and must_sit(state, c, levels, dragons)
            ):
                put_in(frame, c)
    if frame.count == 0:
        done(state)
        return False
    return True


@rule
def must_sit(state, c, levels, dragons):
    row = CARDS[state.cards[c].code]
    if row.types & LINK:
        return False
    return (levels and has_level(state, c) and level(state, c) >= 4) or (dragons and row.race & DRAGON != 0)


@rule
def watch_attack(state):
    """An attack ends when its attacker is gone or turned; it is declared anew when the other side's monsters change."""
    a = state.attacker
    if a == NOBODY or state.cards[a].status & ATTACK_ENDED:
        return
    card = state.cards[a]
    if not state.in_damage_step and held_back(state, a):
        card.status |= ATTACK_ENDED
        return
    if (
        card.place != MZONE
        or card.arrival != state.attacker_stamp
        or card.position != UP_ATTACK
        or card.controller != state.turn_player
    ):
        card.status |= ATTACK_ENDED
        return
    if state.replaying & 2:
        return
    for zone in range(7):
        c = state.monsters[1 - state.turn_player, zone]
        arrival = state.cards[c].arrival if c != NOBODY else 0
        if not known_arrival(state, arrival):
            state.replaying |= 2
    for k in range(7):
        if state.zone_stamps[k] and not present(state, state.zone_stamps[k]):
            state.replaying |= 2


@rule
def known_arrival(state, arrival):
    if arrival == 0:
        return True
    for k in range(7):
        if state.zone_stamps[k] == arrival:
            return True
    return False


@rule
def present(state, arrival):
    for zone in range(7):
        c = state.monsters[1 - state.turn_player, zone]
        if c != NOBODY and state.cards[c].arrival == arrival:
            return True
    return False
