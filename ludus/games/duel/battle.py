"""The battle phase: who attacks whom, the damage step, and what comes of it."""

from ludus.games.duel.events import attack_told, tell, trigger_own
from ludus.games.duel.frames import ADD_CHAIN, ask, ask_cards, ask_effect, ask_yes, call, clear_options, done, offer
from ludus.games.duel.moving import USE_REPLACEMENT, ask_material, change_position, destroy, give_material, hurt, put_in
from ludus.games.duel.settling import settle
from ludus.games.duel.state import (
    ACTIVATES, ATTACKS, ATTACK_ENDED, BATTLE, BATTLE_END, BATTLE_LOST, BATTLE_STEP, BY_BATTLE, BY_EFFECT,
    BY_REPLACEMENT, CANNOT_ATTACK, DAMAGE_CALCULATION, DAMAGE_STEP, HELD, NEGATED_IN_GRAVE, NOBODY, READY,
    SPECIAL_NOW, TO_END, TO_MAIN_2,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    ATTACK, ATTACKED, ATTACKS_ALL, BATTLED, BATTLE_DAMAGE, BATTLE_DESTROYED, BATTLE_DESTROYING, BATTLE_START,
    BINDS_OTHERS, BINDS_STRONG, DESTROYED, FLIP, IN_ATTACK, IS_TOON, LEADS_WARRIORS, MZONE, NEGATES_DESTROYED,
    NEGATES_FLIP_WHEN_ALONE, NOT_BY_BATTLE, ONCE_A_BATTLE, PIERCES, PRE_CALCULATION, REFLECTS_DAMAGE,
    SHIELDED_BY_EQUIP, SHIELDED_BY_MATERIAL, TOON, UP_ATTACK, WARRIOR,
)  # fmt: skip
from ludus.games.duel.turn import GO_TO_END, offer_activations
from ludus.games.duel.values import attack, defense, equip_of, has, held_back, on_side, somewhere
from ludus.games.duel.windows import ask_fast, open_window, phase_window, solve, start_link
from ludus.games.duel.zones import is_up, monsters_of
from ludus.words import rule

CONTINUE_ATTACK, ATTACK_DIRECTLY = 30, 31
"""the game's own lines"""
TOON_FEE = 500


@rule
def battling(state, frame):
    """One attack after the other."""
    step = frame.step
    if step < 10:
        choosing_attack(state, frame)
    elif step < 20:
        declaring(state, frame)
    elif step < 40:
        damage_step(state, frame)
    else:
        ending_battle(state, frame)


@rule
def choosing_attack(state, frame):
    player = state.turn_player
    if frame.step == 0:
        state.attacker = NOBODY
        state.attack_target = NOBODY
        state.replaying = 0
        state.cancelable = 1
        if state.end_battle:
            frame.step = 41
            frame.args[0] = 0
            return
        clear_options(state)
        offer_activations(state, player, True)
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY and can_attack(state, c, player):
                direct = can_attack_directly(state, c, player)
                if direct or count_targets(state, c, player) > 0:
                    offer(state, ATTACKS, c, 0, direct, 0)
        offer(state, TO_MAIN_2, 0, 0, 0, 0)
        offer(state, TO_END, 0, 0, 0, 0)
        ask(state, BATTLE, player, 1, 1, 0)
        frame.step = 1
        return
    if frame.step == 1:
        chosen = state.options[state.answer]
        if chosen.kind == ACTIVATES:
            start_link(state, chosen.card, chosen.effect, -1, player)
            frame.step = 2
            ask_fast(state, 0, 1 - player, 0)
            call(state, ADD_CHAIN)
            return
        if chosen.kind == ATTACKS:
            begin_attack(state, frame, chosen.card, player)
            return
        frame.args[0] = GO_TO_END if chosen.kind == TO_END else 0
        frame.step = 40
        ask_fast(state, 0, 1 - player, 1)
        return
    frame.step = 0
    solve(state, 0, 0, 0)


@rule
def begin_attack(state, frame, c, player):
    """An attacker is chosen; Toons pay for it."""
    card = state.cards[c]
    state.attacker = c
    card.status &= ~ATTACK_ENDED
    state.attacker_stamp = card.arrival
    if state.chain_attack and state.chain_attack != c:
        state.chain_attack = NOBODY
    frame.step = 10
    frame.args[1] = 0
    if has(state, c, IS_TOON):
        state.life[player] -= TOON_FEE
        state.cancelable = 0
        settle(state)


@rule
def can_attack(state, c, player):
    """Whether a monster may declare an attack at all."""
    card = state.cards[c]
    if card.position != UP_ATTACK or card.status & CANNOT_ATTACK:
        return False
    if (
        card.attacks > 0
        and state.chain_attack != c
        and not (has(state, c, ATTACKS_ALL) and count_targets(state, c, player) > 0)
    ):
        return False
    if has(state, c, IS_TOON) and (card.status & SPECIAL_NOW or state.life[player] < TOON_FEE):
        return False
    if somewhere(state, BINDS_STRONG) and attack(state, c) >= 1500:
        return False
    return not held_back(state, c) and not on_side(state, 1 - player, BINDS_OTHERS)


@rule
def toons_of(state, player):
    """Whether a player has a face-up Toon monster."""
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY and is_up(state, c) and CARDS[state.cards[c].code].types & TOON:
            return True
    return False


@rule
def can_be_attacked(state, target, c, player):
    """Whether a monster may be chosen as the target of an attack."""
    card = state.cards[target]
    if has(state, c, IS_TOON) and toons_of(state, 1 - player):
        if not (is_up(state, target) and CARDS[card.code].types & TOON):
            return False
    if is_up(state, target) and CARDS[card.code].race & WARRIOR:
        for zone in range(7):
            other = state.monsters[1 - player, zone]
            if other != NOBODY and other != target and has(state, other, LEADS_WARRIORS):
                return False
    if state.cards[c].attacks > 0 and has(state, c, ATTACKS_ALL) and state.chain_attack != c:
        for k in range(8):
            if state.cards[c].attacked[k] == target:
                return False
    return True


@rule
def count_targets(state, c, player):
    count = 0
    for zone in range(7):
        target = state.monsters[1 - player, zone]
        if target != NOBODY and can_be_attacked(state, target, c, player):
            count += 1
    return count


@rule
def can_attack_directly(state, c, player):
    if state.cards[c].attacks > 0 and has(state, c, ATTACKS_ALL) and state.chain_attack != c:
        return False
    if monsters_of(state, 1 - player) == 0:
        return True
    return has(state, c, IS_TOON) and not toons_of(state, 1 - player)


@rule
def declaring(state, frame):
    """The target is chosen, the attack declared, answered, and perhaps declared anew."""
    player = state.turn_player
    a = state.attacker
    if frame.step == 10:
        if state.cards[a].status & ATTACK_ENDED:
            frame.step = 0
            state.cards[a].attacks += 1
            return
        frame.count = 0
        for zone in range(7):
            target = state.monsters[1 - player, zone]
            if target != NOBODY and can_be_attacked(state, target, a, player):
                put_in(frame, target)
        if can_attack_directly(state, a, player):
            if frame.count == 0:
                state.attack_target = NOBODY
                frame.step = 13
                return
            frame.step = 11
            ask_yes(state, player, NOBODY, ATTACK_DIRECTLY)
            return
        if frame.count == 0:
            state.cards[a].attacks += 1
            state.chain_attack = NOBODY
            frame.step = 0
            return
        frame.step = 12
        ask_cards(state, player, frame.cards, frame.count, 1, 1, state.cancelable)
        return
    if frame.step == 11:
        if state.answer == 1:
            state.attack_target = NOBODY
            frame.step = 13
        else:
            frame.step = 12
            ask_cards(state, player, frame.cards, frame.count, 1, 1, state.cancelable)
        return
    if frame.step == 12:
        if state.picked_count == 0:
            if state.replaying & 1:
                end_attack(state, frame)
            else:
                frame.step = 0
            return
        state.attack_target = state.picked[0]
        frame.step = 13
    if frame.step == 13:
        declare(state, player)
        frame.step = 14
        open_window(state, 0, 0, 0)
        return
    if frame.step == 14:
        frame.step = 16
        if state.end_battle == 0 and state.cards[a].status & ATTACK_ENDED == 0 and state.replaying & 2 == 0:
            frame.step = 15
            open_window(state, 0, 0, 0)
            return
    if frame.step == 15:
        frame.step = 16
        if state.result:
            frame.step = 14
            return
        settle(state)
        return
    if frame.step == 16:
        if state.end_battle or state.cards[a].status & ATTACK_ENDED:
            end_attack(state, frame)
            return
        if state.replaying & 2 == 0:
            count_attack(state, a)
            frame.step = 20
            return
        if count_targets(state, a, player) == 0 and not can_attack_directly(state, a, player):
            end_attack(state, frame)
            return
        frame.step = 17
        ask_yes(state, player, NOBODY, CONTINUE_ATTACK)
        return
    if state.answer == 1:
        state.replaying = 1
        frame.step = 10
    else:
        end_attack(state, frame)


@rule
def declare(state, player):
    """The attack is declared."""
    a = state.attacker
    target = state.attack_target
    again = state.replaying & 1
    state.replaying = again
    state.cancelable = 1
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        state.zone_stamps[zone] = state.cards[c].arrival if c != NOBODY else 0
    if target != NOBODY:
        trigger_own(state, ATTACKED, target, NOBODY, 1 - player, 0)
    state.attacker_stamp = state.cards[a].arrival
    if not again:
        tell(state, ATTACK, a, player, 0)
        attack_told(state)


@rule
def count_attack(state, a):
    """The attack is used up."""
    card = state.cards[a]
    for k in range(8):
        if card.attacked[k] == 0:
            card.attacked[k] = state.attack_target
            break
    card.attacks += 1


@rule
def end_attack(state, frame):
    """The attack comes to nothing, but counts."""
    a = state.attacker
    if state.cards[a].arrival == state.attacker_stamp:
        count_attack(state, a)
    state.chain_attack = NOBODY
    frame.step = 0
    state.attacker = NOBODY
    settle(state)


@rule
def damage_step(state, frame):
    """From the start of the damage step to its end."""
    player = state.turn_player
    a = state.attacker
    target = state.attack_target
    step = frame.step
    if step == 20:
        state.phase = DAMAGE_STEP
        state.in_damage_step = 1
        state.chain_attack = NOBODY
        state.calculated = 0
        state.sparing = 1
        state.holding_flips = 1
        state.attacker_stamp = state.cards[a].arrival
        state.target_stamp = state.cards[target].arrival if target != NOBODY else 0
        state.target_was_down = target != NOBODY and not is_up(state, target)
        frame.count = 0
        state.cards[a].fought += 1
        frame.step = 21
        settle(state)
    elif step == 21:
        trigger_own(state, BATTLE_START, a, NOBODY, player, 0)
        if target != NOBODY:
            trigger_own(state, BATTLE_START, target, NOBODY, player, 1)
        frame.step = 22
        open_window(state, 0, 0, 0)
    elif step == 22:
        frame.step = 23
        if state.cards[a].status & ATTACK_ENDED:
            frame.step = 33
            return
        if target != NOBODY and state.cards[target].place == MZONE and not is_up(state, target):
            change_position(state, target, state.cards[target].position >> 1, 2)
    elif step == 23:
        frame.step = 24
        settle(state)
    elif step == 24:
        frame.step = 25
        open_window(state, 0, 0, 0)
    elif step == 25:
        if state.cards[a].status & ATTACK_ENDED or gone(state, target):
            frame.step = 33
            return
        state.phase = DAMAGE_CALCULATION
        frame.step = 26
        settle(state)
    elif step == 26:
        calculate(state)
        for c in (a, target):
            if c != NOBODY:
                trigger_own(state, PRE_CALCULATION, c, NOBODY, player, 0)
        note_calculation(state, player)
        frame.step = 27
        open_window(state, 0, 0, 0)
    elif step == 27:
        if state.cards[a].status & ATTACK_ENDED or gone(state, target):
            state.phase = DAMAGE_STEP
            end_calculation(state)
            frame.step = 33
            settle(state)
            return
        lost = calculate(state)
        frame.args[1] = lost
        state.calculated = 1
        frame.step = 28
        deal(state, a, target)
        end_calculation(state)
        state.phase = DAMAGE_STEP
        settle(state)
    elif step == 28:
        mark_lost(state, frame, a, target)
    elif step == 29:
        spare_lost(state, frame)
    elif step == 30:
        for k in range(frame.count):
            state.cards[frame.cards[k]].status |= BATTLE_LOST
        for k in range(frame.count):
            lose_effects(state, frame.cards[k])
        state.sparing = 0
        frame.step = 31
        settle(state)
    elif step == 31:
        release_flips(state)
        trigger_own(state, BATTLED, a, NOBODY, player, 0)
        if target != NOBODY:
            trigger_own(state, BATTLED, target, NOBODY, player, 1)
        frame.step = 32
        open_window(state, 0, 0, 0)
    elif step == 32:
        frame.step = 33
    elif step == 33:
        frame.step = 34
        bury_lost(state, frame)
    elif step == 34:
        frame.step = 35
        settle(state)
    elif step == 35:
        state.calculated = 1
        state.sparing = 0
        release_flips(state)
        tell_losses(state, a, target)
        frame.step = 36
        open_window(state, 0, 0, 1)
    else:
        frame.step = 0
        state.phase = BATTLE_STEP
        state.in_damage_step = 0
        state.no_damage[0] = 0
        state.no_damage[1] = 0
        state.attacker = NOBODY
        settle(state)


@rule
def note_calculation(state, player):
    from_here = PRE_CALCULATION
    tell(state, from_here, NOBODY, player, 0)


@rule
def gone(state, target):
    """Whether the attacked monster is not there any more."""
    return target != NOBODY and (
        state.cards[target].place != MZONE or state.cards[target].arrival != state.target_stamp
    )


@rule
def calculate(state):
    """Who takes how much damage and who is destroyed: bit 0 for the attacker, bit 1 for its target."""
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
    """Battle damage, player 0's first; some monsters pass it on."""
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
        trigger_own(state, BATTLE_DAMAGE, state.damage_source, NOBODY, player, amount)


@rule
def end_calculation(state):
    """What held during damage calculation only is over."""
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY:
                state.cards[c].calculation_up = 0
                renew_uses(state, c)


@rule
def renew_uses(state, c):
    """What is used once a battle can be used in the next one."""
    row = CARDS[state.cards[c].code]
    for number in range(row.first, row.first + row.count):
        if EFFECTS[number].once == ONCE_A_BATTLE:
            state.cards[c].used &= ~(1 << EFFECTS[number].number)


@rule
def mark_lost(state, frame, a, target):
    """Monsters that will be destroyed; an equip card is destroyed instead of some."""
    frame.count = 0
    shields = destroy(state, BY_EFFECT | BY_REPLACEMENT, 2)
    lost = frame.args[1]
    for k in range(2):
        c = a if k == 0 else target
        if lost >> k & 1 and state.cards[c].place == MZONE:
            e = equip_of(state, c) if has(state, c, SHIELDED_BY_EQUIP) else NOBODY
            if e != NOBODY:
                put_in(shields, e)
            else:
                put_in(frame, c)
    frame.args[2] = 0
    frame.step = 29
    if shields.count == 0:
        done(state)


@rule
def spare_lost(state, frame):
    """Some may give up a material instead; asked one after the other."""
    if frame.args[3] == 1:
        frame.args[3] = 0
        if ask_material(state, frame):
            frame.args[3] = 2
            return
    elif frame.args[3] == 2:
        frame.args[3] = 0
        give_material(state, frame)
        return
    while frame.args[2] < frame.count:
        c = frame.cards[frame.args[2]]
        if state.cards[c].overlays > 0 and has(state, c, SHIELDED_BY_MATERIAL):
            frame.args[3] = 1
            ask_effect(state, state.cards[c].controller, c, USE_REPLACEMENT)
            return
        frame.args[2] += 1
    frame.step = 30


@rule
def lose_effects(state, c):
    """Some monsters negate what they destroy by battle, in the graveyard too, until the damage step ends."""
    card = state.cards[c]
    foe = state.attack_target if c == state.attacker else state.attacker
    if foe == NOBODY:
        return
    flip_alone = has(state, foe, NEGATES_FLIP_WHEN_ALONE) and monsters_of(state, state.cards[foe].controller) == 1
    stands = state.cards[foe].status & BATTLE_LOST == 0
    if (stands and has(state, foe, NEGATES_DESTROYED)) or (flip_alone and CARDS[card.code].types & FLIP):
        card.negated = NEGATED_IN_GRAVE


@rule
def release_flips(state):
    """Flip effects wait no longer."""
    state.holding_flips = 0
    for k in range(state.pending_count):
        if state.pending[k].ready == HELD:
            state.pending[k].ready = READY


@rule
def bury_lost(state, frame):
    """Monsters that lost the battle go together."""
    sent = destroy(state, BY_BATTLE, 2)
    sent.step = 3
    for k in range(frame.count):
        c = frame.cards[k]
        arrival = state.cards[c].arrival
        if state.cards[c].place == MZONE and (arrival == state.attacker_stamp or arrival == state.target_stamp):
            put_in(sent, c)


@rule
def tell_losses(state, a, target):
    """Who destroyed whom."""
    for k in range(2):
        c = a if k == 0 else target
        foe = target if k == 0 else a
        if c == NOBODY or foe == NOBODY:
            continue
        card = state.cards[c]
        if card.status & BATTLE_LOST and card.reason & BY_BATTLE and card.place != MZONE:
            if state.cards[foe].place == MZONE:
                trigger_own(state, BATTLE_DESTROYING, foe, c, card.was_controller, 0)
            trigger_own(state, BATTLE_DESTROYED, c, foe, card.was_controller, 0)
            trigger_own(state, DESTROYED, c, foe, card.was_controller, 0)
    for c in (a, target):
        if c != NOBODY:
            state.cards[c].status &= ~BATTLE_LOST


@rule
def ending_battle(state, frame):
    if frame.step == 40:
        if state.links:
            frame.step = 0
            solve(state, 0, 0, 0)
            return
        frame.step = 41
        settle(state)
        return
    if frame.step == 41:
        state.phase = BATTLE_END
        frame.step = 42
        settle(state)
        phase_window(state, BATTLE_END)
        return
    state.attacker = NOBODY
    state.attack_target = NOBODY
    state.result = frame.args[0]
    done(state)
