"""The damage step of an attack: its windows, the damage, and the monsters that are destroyed."""

from ludus.games.duel.adjustment import settle
from ludus.games.duel.card_moves import PAYING, SEND_DESTROYED, USE_REPLACEMENT, ask_which_material, give_material, hurt
from ludus.games.duel.cards.trap_negation import hold_decrees, traps_stopped
from ludus.games.duel.events import raise_event, trigger_own
from ludus.games.duel.frames import ask_effect, sort_by_birth
from ludus.games.duel.processes import change_position, destroy, put_in
from ludus.games.duel.state import (
    ATTACK_ENDED, BATTLE_LOST, BATTLE_STEP, BY_BATTLE, BY_EFFECT, BY_REPLACEMENT, DAMAGE_CALCULATION, DAMAGE_STEP,
    FREED_NOW, HELD, NEGATED_IN_GRAVE, NOBODY, READY,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    BATTLED, BATTLE_DAMAGE, BATTLE_DESTROYED, BATTLE_DESTROYING, BATTLE_START, DESTROYED, FLIP, IN_ATTACK, MZONE,
    NEGATES_DESTROYED, NEGATES_FLIP_WHEN_ALONE, NOT_BY_BATTLE, ONCE_A_BATTLE, PIERCES, PRE_CALCULATION, REFLECTS_DAMAGE,
    SHIELDED_BY_EQUIP, SHIELDED_BY_MATERIAL,
)  # fmt: skip
from ludus.games.duel.values import attack, defense, equip_of, has
from ludus.games.duel.windows import open_window
from ludus.games.duel.zones import is_up, monsters_of
from ludus.dsl import rule

NEXT_ATTACK = 0
"""the step of BATTLE_COMMAND to which the damage step returns"""
# fmt: off
(BEGIN, ANSWER_START, TURN_TARGET_UP, SETTLE_TURNED, ANSWER_TURNED, ENTER_CALCULATION, ANSWER_CALCULATION,
 DEAL_DAMAGE, MARK_LOST, SPARE_LOST, PAY_FOR_SPARED, LOSE_EFFECTS, ANSWER_DAMAGE, BURY_LOST, SETTLE_BURIED,
 ANSWER_LOSSES, END_DAMAGE_STEP) = range(20, 37)
# fmt: on
"""the steps of BATTLE_COMMAND that belong to the damage step"""
LOST, AT, ASKED, SPARED_COUNT, SHIELD_COUNT = 1, 2, 3, 6, 7
"""its argument slots: who lost, the index in a list, whether something was asked, the lengths of the lists below;
slot 0 belongs to `battle`, slot PAYING to `card_moves`"""
SPARED, SHIELDS = 2, 4
"""offsets in the frame's list, which begins with the monsters that lost: spared monsters, and equip cards that are
destroyed in place of monsters"""


@rule
def damage_step(state, frame):
    """One step of the damage step."""
    step = frame.step
    frame.step = step + 1
    if step == BEGIN:
        begin_damage_step(state, frame)
    elif step == ANSWER_START:
        trigger_both(state, BATTLE_START)
        open_window(state, 0, 0, 0)
    elif step == TURN_TARGET_UP:
        turn_target_up(state, frame)
    elif step == SETTLE_TURNED or step == SETTLE_BURIED:
        settle(state)
    elif step == ANSWER_TURNED:
        open_window(state, 0, 0, 0)
    elif step == ENTER_CALCULATION:
        enter_calculation(state, frame)
    elif step == ANSWER_CALCULATION:
        calculate(state)
        trigger_both(state, PRE_CALCULATION)
        raise_event(state, PRE_CALCULATION, NOBODY, state.turn_player)
        open_window(state, 0, 0, 0)
    elif step == DEAL_DAMAGE:
        deal_damage(state, frame)
    elif step == MARK_LOST:
        mark_lost(state, frame, state.attacker, state.attack_target)
    elif step == SPARE_LOST:
        spare_lost(state, frame)
    elif step == PAY_FOR_SPARED:
        pay_for_spared(state, frame)
    elif step == LOSE_EFFECTS:
        lose_all(state, frame)
    elif step == ANSWER_DAMAGE:
        release_flips(state)
        trigger_both(state, BATTLED)
        open_window(state, 0, 0, 0)
    elif step == BURY_LOST:
        bury_lost(state, frame)
    elif step == ANSWER_LOSSES:
        answer_losses(state)
    else:
        end_damage_step(state)
        frame.step = NEXT_ATTACK


@rule
def begin_damage_step(state, frame):
    a = state.attacker
    target = state.attack_target
    state.phase = DAMAGE_STEP
    state.in_damage_step = True
    state.chain_attack = NOBODY
    state.calculated = 0
    state.sparing = 1
    state.holding_flips = 1
    state.attacker_stamp = state.cards[a].arrival
    state.target_stamp = state.cards[target].arrival if target != NOBODY else 0
    state.target_was_down = target != NOBODY and not is_up(state, target)
    frame.count = 0
    state.cards[a].fought += 1
    settle(state)


@rule
def turn_target_up(state, frame):
    """Turn a face-down target face-up in the same position."""
    target = state.attack_target
    if state.cards[state.attacker].status & ATTACK_ENDED:
        frame.step = BURY_LOST
    elif target != NOBODY and state.cards[target].place == MZONE and not is_up(state, target):
        change_position(state, target, state.cards[target].position >> 1, 2)


@rule
def enter_calculation(state, frame):
    if comes_to_nothing(state):
        frame.step = BURY_LOST
        return
    state.phase = DAMAGE_CALCULATION
    settle(state)


@rule
def deal_damage(state, frame):
    """Calculate the damage again, after the responses, and deal it."""
    if comes_to_nothing(state):
        frame.step = BURY_LOST
    else:
        frame.args[LOST] = calculate(state)
        state.calculated = 1
        deal(state, state.attacker, state.attack_target)
    end_calculation(state)
    state.phase = DAMAGE_STEP
    settle(state)


@rule
def end_damage_step(state):
    state.phase = BATTLE_STEP
    state.in_damage_step = False
    state.no_damage[0] = 0
    state.no_damage[1] = 0
    state.attacker = NOBODY
    settle(state)


@rule
def trigger_both(state, event):
    """Trigger the effects of both battling monsters."""
    trigger_own(state, event, state.attacker, NOBODY, state.turn_player)
    trigger_own(state, event, state.attack_target, NOBODY, state.turn_player)


@rule
def comes_to_nothing(state):
    return state.cards[state.attacker].status & ATTACK_ENDED != 0 or gone(state, state.attack_target)


@rule
def gone(state, target):
    """Whether the attacked monster has left its place."""
    return target != NOBODY and (
        state.cards[target].place != MZONE or state.cards[target].arrival != state.target_stamp
    )


@rule
def calculate(state):
    """Compute the battle damage; bits of the monsters that are destroyed: 0 for the attacker, 1 for its target."""
    a = state.attacker
    target = state.attack_target
    own = state.cards[a].controller
    other = 1 - own
    state.battle_damage[0] = 0
    state.battle_damage[1] = 0
    state.damage_source = NOBODY
    strength = attack(state, a)
    lost = 0
    if target == NOBODY:
        state.battle_damage[other] = strength
        state.damage_source = a
    elif state.cards[target].position & IN_ATTACK:
        against = attack(state, target)
        if strength > against:
            state.battle_damage[other] = strength - against
            state.damage_source = a
            lost = 2
        elif strength < against:
            state.battle_damage[own] = against - strength
            state.damage_source = target
            lost = 1
        elif strength:
            lost = 3
    else:
        against = defense(state, target)
        if strength > against:
            lost = 2
            if has(state, a, PIERCES):
                state.battle_damage[other] = strength - against
                state.damage_source = a
        elif strength < against:
            state.battle_damage[own] = against - strength
            state.damage_source = target
    for player in range(2):
        if state.waboku[player] or state.no_damage[player]:
            state.battle_damage[player] = 0
    if state.battle_damage[0] == 0 and state.battle_damage[1] == 0:
        state.damage_source = NOBODY
    if lost & 1 and survives(state, a):
        lost &= ~1
    if lost & 2 and survives(state, target):
        lost &= ~2
    return lost


@rule
def survives(state, c):
    return has(state, c, NOT_BY_BATTLE) or state.waboku[state.cards[c].controller] != 0


@rule
def deal(state, a, target):
    """Deal the battle damage, first to player 0; some monsters reflect it."""
    for player in range(2):
        amount = state.battle_damage[player]
        if amount == 0:
            continue
        hurt(state, player, amount)
        for c in (a, target):
            if (
                c != NOBODY
                and state.cards[c].controller == player
                and has(state, c, REFLECTS_DAMAGE)
                and equip_of(state, c) != NOBODY
            ):
                hurt(state, 1 - player, amount)
        trigger_own(state, BATTLE_DAMAGE, state.damage_source, NOBODY, player)


@rule
def end_calculation(state):
    """End what lasts during damage calculation only."""
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY:
                state.cards[c].calculation_up = 0
                renew_uses(state, c)


@rule
def renew_uses(state, c):
    """Reset effects that can be used once per battle."""
    row = CARDS[state.cards[c].code]
    for number in range(row.first, row.first + row.count):
        if EFFECTS[number].once == ONCE_A_BATTLE:
            state.cards[c].used &= ~(1 << EFFECTS[number].number)


@rule
def mark_lost(state, frame, a, target):
    """Collect the monsters that lost, and the equip cards that are destroyed in place of some."""
    frame.count = 0
    frame.args[SPARED_COUNT] = 0
    frame.args[SHIELD_COUNT] = 0
    lost = frame.args[LOST]
    for k in range(2):
        c = a if k == 0 else target
        if lost >> k & 1 and state.cards[c].place == MZONE:
            e = equip_of(state, c) if has(state, c, SHIELDED_BY_EQUIP) else NOBODY
            if e != NOBODY:
                frame.cards[SHIELDS + frame.args[SHIELD_COUNT]] = e
                frame.args[SHIELD_COUNT] += 1
            else:
                put_in(frame, c)
    sort_by_birth(state, frame)
    frame.args[AT] = 0
    frame.args[ASKED] = 0


@rule
def spare_lost(state, frame):
    """Ask for each monster that lost, in the order of card numbers, whether it detaches a material instead."""
    if frame.args[ASKED]:
        frame.args[ASKED] = 0
        if state.answer == 1:
            spare(frame)
        else:
            frame.args[AT] += 1
    while frame.args[AT] < frame.count:
        c = frame.cards[frame.args[AT]]
        if state.cards[c].overlays > 0 and has(state, c, SHIELDED_BY_MATERIAL):
            frame.args[ASKED] = 1
            frame.step = SPARE_LOST
            ask_effect(state, state.cards[c].controller, c, USE_REPLACEMENT)
            return
        frame.args[AT] += 1
    frame.args[AT] = 0


@rule
def spare(frame):
    """Move the current monster from those that lost to the spared ones."""
    at = frame.args[AT]
    frame.cards[SPARED + frame.args[SPARED_COUNT]] = frame.cards[at]
    frame.args[SPARED_COUNT] += 1
    frame.count -= 1
    if at < frame.count:
        frame.cards[at] = frame.cards[at + 1]


@rule
def pay_for_spared(state, frame):
    """Destroy the shielding equip cards, then detach a material of each spared monster."""
    if frame.args[SHIELD_COUNT]:
        shields = destroy(state, BY_EFFECT | BY_REPLACEMENT, 2)
        for k in range(frame.args[SHIELD_COUNT]):
            put_in(shields, frame.cards[SHIELDS + k])
        frame.args[SHIELD_COUNT] = 0
        frame.step = PAY_FOR_SPARED
    elif frame.args[ASKED]:
        frame.args[ASKED] = 0
        give_material(state, frame)
        frame.step = PAY_FOR_SPARED
    elif frame.args[AT] < frame.args[SPARED_COUNT]:
        frame.args[PAYING] = frame.cards[SPARED + frame.args[AT]]
        frame.args[AT] += 1
        frame.args[ASKED] = 1
        ask_which_material(state, frame.args[PAYING])
        frame.step = PAY_FOR_SPARED


@rule
def lose_all(state, frame):
    """Mark all monsters that lost, then apply negations: some only apply if the monster that negates survives."""
    were_stopped = traps_stopped(state)
    for k in range(frame.count):
        state.cards[frame.cards[k]].status |= BATTLE_LOST
    for k in range(frame.count):
        lose_effects(state, frame.cards[k])
    if were_stopped and not traps_stopped(state):
        hold_decrees(state, 0, FREED_NOW)
    state.sparing = 0
    settle(state)


@rule
def lose_effects(state, c):
    """Negate the effects of a destroyed monster if its opponent does so; this takes effect with the next chain link."""
    card = state.cards[c]
    foe = state.attack_target if c == state.attacker else state.attacker
    if foe == NOBODY:
        return
    flip_alone = has(state, foe, NEGATES_FLIP_WHEN_ALONE) and monsters_of(state, state.cards[foe].controller) == 1
    stands = state.cards[foe].status & BATTLE_LOST == 0
    if (stands and has(state, foe, NEGATES_DESTROYED)) or (flip_alone and CARDS[card.code].types & FLIP):
        card.negated = -NEGATED_IN_GRAVE


@rule
def release_flips(state):
    """Make the flip effects ready that were held back."""
    state.holding_flips = 0
    for k in range(state.pending_count):
        if state.pending[k].ready == HELD:
            state.pending[k].ready = READY


@rule
def bury_lost(state, frame):
    """Send the monsters that lost to the graveyard together."""
    hold_decrees(state, FREED_NOW, 0)
    sent = destroy(state, BY_BATTLE, 2)
    sent.step = SEND_DESTROYED
    for k in range(frame.count):
        c = frame.cards[k]
        arrival = state.cards[c].arrival
        if state.cards[c].place == MZONE and (arrival == state.attacker_stamp or arrival == state.target_stamp):
            put_in(sent, c)


@rule
def answer_losses(state):
    """Open the last window of the damage step, for effects of the destroyed monsters."""
    state.calculated = 1
    state.sparing = 0
    release_flips(state)
    raise_loss_events(state, state.attacker, state.attack_target)
    open_window(state, 0, 0, 1)


@rule
def raise_loss_events(state, a, target):
    """Raise the events of monsters destroyed by battle."""
    for k in range(2):
        c = a if k == 0 else target
        foe = target if k == 0 else a
        if c == NOBODY or foe == NOBODY:
            continue
        card = state.cards[c]
        if card.status & BATTLE_LOST and card.reason & BY_BATTLE and card.place != MZONE:
            if state.cards[foe].place == MZONE:
                trigger_own(state, BATTLE_DESTROYING, foe, c, card.was_controller)
            trigger_own(state, BATTLE_DESTROYED, c, foe, card.was_controller)
            trigger_own(state, DESTROYED, c, foe, card.was_controller)
    for c in (a, target):
        if c != NOBODY:
            state.cards[c].status &= ~BATTLE_LOST
