"""Adjustment of the field after every change: victory, control, cards that must be destroyed or change position."""

from ludus.games.duel.cards import spirit_reaper
from ludus.games.duel.cards.trap_negation import order_decrees
from ludus.games.duel.events import miss
from ludus.games.duel.frames import ADJUST, CHANGE_POSITION, TAKE_CONTROL_OF, call, done
from ludus.games.duel.processes import NEW_POSITION, TAKER, UNTIL_END, ZONE_CHOOSER, destroy, put_in
from ludus.games.duel.randomness import shuffle_if_due
from ludus.games.duel.state import ATTACK_ENDED, BEING_SUMMONED, BY_RULE, NOBODY
from ludus.games.duel.tables import CARDS, TRAITS
from ludus.games.duel.tables.words import (
    CONTROLS_EQUIPPED, DIES_WHEN_TARGETED, DRAGON, LINK, MZONE, SITS_DRAGONS, SITS_LEVELS, UP, UP_ATTACK, UP_DEFENSE,
)  # fmt: skip
from ludus.games.duel.values import has, has_level, held_back, level, somewhere
from ludus.dsl import OVER, rule

BY_LIFE, BY_DECK = 1, 2
DRAWN_DUEL = 2

# fmt: off
(CHECK_END, GIVE_BACK_CONTROL, DESTROY_TARGETED, DESTROY_UNFIT_EQUIPS, SIT_DOWN, REPEAT_OR_END) = range(6)
# fmt: on
"""the steps of ADJUST"""
CHANGED = 0
"""its argument slot: whether anything has changed, so that all steps are repeated"""

RESTLESS = CONTROLS_EQUIPPED | DIES_WHEN_TARGETED | SITS_LEVELS | SITS_DRAGONS
"""traits of cards that may require an adjustment"""


@rule
def settle(state):
    """Adjust the field; a quick check skips the process if nothing can change."""
    order_decrees(state)
    if not is_calm(state):
        call(state, ADJUST)
    elif not check_end(state):
        if state.shuffle[0] or state.shuffle[1]:
            shuffle_if_due(state, state.turn_player)
        watch_attack(state)


@rule
def is_calm(state):
    """Whether no card on the field could require an adjustment."""
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
    """Run all adjustments, and repeat them until nothing changes."""
    if frame.step == CHECK_END:
        frame.args[CHANGED] = 0
        frame.step = GIVE_BACK_CONTROL
        if check_end(state):
            return
    if frame.step == GIVE_BACK_CONTROL:
        frame.step = DESTROY_TARGETED
        if give_back_control(state):
            frame.args[CHANGED] = 1
            return
    if frame.step == DESTROY_TARGETED:
        frame.step = DESTROY_UNFIT_EQUIPS
        if state.sparing == 0 and spirit_reaper.destroy_held(state):
            frame.args[CHANGED] = 1
            return
    if frame.step == DESTROY_UNFIT_EQUIPS:
        frame.step = SIT_DOWN
        if lose_unfit_equips(state):
            frame.args[CHANGED] = 1
            return
    if frame.step == SIT_DOWN:
        frame.step = REPEAT_OR_END
        if sit_down(state):
            frame.args[CHANGED] = 1
            return
    if state.shuffle[0] or state.shuffle[1]:
        shuffle_if_due(state, state.turn_player)
    if frame.args[CHANGED]:
        frame.step = CHECK_END
        return
    watch_attack(state)
    done(state)


@rule
def check_end(state):
    """Whether the duel is over. Of several reasons at once, the last one checked counts."""
    reason = 0
    for player in range(2):
        other = 1 - player
        if state.life[player] <= 0 and state.life[other] > 0:
            state.winner = other
            reason = BY_LIFE
        if state.overdrawn[player] and not state.overdrawn[other]:
            state.winner = other
            reason = BY_DECK
    if state.life[0] <= 0 and state.life[1] <= 0:
        state.winner = DRAWN_DUEL
        reason = BY_LIFE
    if state.overdrawn[0] and state.overdrawn[1]:
        state.winner = DRAWN_DUEL
        reason = BY_DECK
    if reason == 0:
        return False
    state.win_reason = reason
    state.status = OVER
    return True


@rule
def break_effect(state):
    """Separate two parts of an effect: optional effects miss their timing for the first. Whether the duel is over."""
    miss(state)
    return check_end(state)


@rule
def rightful(state, c):
    """The player who should control a monster."""
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
    """Move monsters to the player who should control them; whether there are any."""
    changed = False
    for k in range(2):
        taker = state.turn_player if k == 1 else 1 - state.turn_player
        frame = call(state, TAKE_CONTROL_OF)
        frame.args[TAKER] = taker
        frame.args[UNTIL_END] = 0
        frame.args[ZONE_CHOOSER] = taker
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
def bears_equips(state, c):
    return state.cards[c].place == MZONE and state.cards[c].position & UP != 0


@rule
def lose_unfit_equips(state):
    """Destroy equip cards whose monster is gone or face-down; whether there are any."""
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
    """Turn monsters that must be in defense position; whether there are any."""
    levels = somewhere(state, SITS_LEVELS)
    dragons = somewhere(state, SITS_DRAGONS)
    if not levels and not dragons:
        return False
    frame = call(state, CHANGE_POSITION)
    frame.args[NEW_POSITION] = UP_DEFENSE
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
    """End the attack if the attacker is gone or turned; note a replay if the defending monsters have changed."""
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
