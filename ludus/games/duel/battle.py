"""The battle phase: who may attack whom, declaring attacks, responses and replays."""

from ludus.games.duel.adjustment import settle
from ludus.games.duel.cards import toons
from ludus.games.duel.damage import BEGIN, END_DAMAGE_STEP, LOST, NEXT_ATTACK, damage_step
from ludus.games.duel.events import trigger_on_attack, raise_event, trigger_own
from ludus.games.duel.frames import ADD_CHAIN, ask, ask_cards, ask_yes, call, clear_options, done, offer
from ludus.games.duel.phases import phase_window
from ludus.games.duel.processes import put_in
from ludus.games.duel.state import (
    ACTIVATES, ATTACKS, ATTACK_ENDED, BATTLE, BATTLE_END, CANNOT_ATTACK, NOBODY, SPECIAL_NOW, TO_END, TO_MAIN_2,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    ATTACK, ATTACKED, ATTACKS_ALL, BINDS_OTHERS, BINDS_STRONG, IS_TOON, LEADS_WARRIORS, TOON, UP_ATTACK, WARRIOR,
)  # fmt: skip
from ludus.games.duel.turn import GO_TO_END, NEXT_PHASE, NOTHING_CHOSEN, offer_activations
from ludus.games.duel.values import attack, has, held_back, on_side, somewhere
from ludus.games.duel.windows import ask_fast, open_window, solve, start_link
from ludus.games.duel.zones import is_up, monsters_of
from ludus.dsl import rule

CONTINUE_ATTACK, ATTACK_DIRECTLY = 30, 31
"""lines of text of the game itself"""
TAKE_COMMAND, SOLVE_COMMAND = 1, 2
"""the steps of BATTLE_COMMAND after NEXT_ATTACK: something was chosen; a chain of effects resolves"""
CHOOSE_TARGET, DIRECTLY_OR_NOT, TAKE_TARGET, DECLARE, ANSWER_ATTACK, ANSWERED, STRIKE, CONTINUE_OR_NOT = range(10, 18)
"""its steps in which an attack is declared; the damage step follows, see `damage`"""
BATTLE_ANSWERED, ENTER_BATTLE_END, BATTLE_ENDED = range(40, 43)
"""its steps in which the battle phase ends"""


@rule
def battling(state, frame):
    """The commands of the battle phase, one attack after the other."""
    step = frame.step
    if step < CHOOSE_TARGET:
        choosing_attack(state, frame)
    elif step < BEGIN:
        declaring(state, frame)
    elif step <= END_DAMAGE_STEP:
        damage_step(state, frame)
    else:
        ending_battle(state, frame)


@rule
def choosing_attack(state, frame):
    player = state.turn_player
    if frame.step == NEXT_ATTACK:
        state.attacker = NOBODY
        state.attack_target = NOBODY
        state.replaying = 0
        state.cancelable = 1
        if state.end_battle:
            frame.step = ENTER_BATTLE_END
            frame.args[NEXT_PHASE] = NOTHING_CHOSEN
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
        frame.step = TAKE_COMMAND
        return
    if frame.step == TAKE_COMMAND:
        chosen = state.options[state.answer]
        if chosen.kind == ACTIVATES:
            start_link(state, chosen.card, chosen.effect, -1, player)
            frame.step = SOLVE_COMMAND
            ask_fast(state, 0, 1 - player, 0)
            call(state, ADD_CHAIN)
            return
        if chosen.kind == ATTACKS:
            begin_attack(state, frame, chosen.card, player)
            return
        frame.args[NEXT_PHASE] = GO_TO_END if chosen.kind == TO_END else NOTHING_CHOSEN
        frame.step = BATTLE_ANSWERED
        ask_fast(state, 0, 1 - player, 1)
        return
    frame.step = NEXT_ATTACK
    solve(state, 0, 0, 0)


@rule
def begin_attack(state, frame, c, player):
    """Begin an attack; Toon monsters pay life points."""
    card = state.cards[c]
    state.attacker = c
    card.status &= ~ATTACK_ENDED
    state.attacker_stamp = card.arrival
    if state.chain_attack and state.chain_attack != c:
        state.chain_attack = NOBODY
    frame.step = CHOOSE_TARGET
    frame.args[LOST] = 0
    if has(state, c, IS_TOON):
        state.life[player] -= toons.TOON_FEE
        state.cancelable = 0
        settle(state)


@rule
def can_attack(state, c, player):
    """Whether a monster may declare an attack."""
    card = state.cards[c]
    if card.position != UP_ATTACK or card.status & CANNOT_ATTACK:
        return False
    if (
        card.attacks > 0
        and state.chain_attack != c
        and not (has(state, c, ATTACKS_ALL) and count_targets(state, c, player) > 0)
    ):
        return False
    if has(state, c, IS_TOON) and (card.status & SPECIAL_NOW or state.life[player] < toons.TOON_FEE):
        return False
    if somewhere(state, BINDS_STRONG) and attack(state, c) >= 1500:
        return False
    return not held_back(state, c) and not on_side(state, 1 - player, BINDS_OTHERS)


@rule
def can_be_attacked(state, target, c, player):
    """Whether a monster may be chosen as the target of an attack."""
    card = state.cards[target]
    if has(state, c, IS_TOON) and toons.has_toon(state, 1 - player):
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
    return has(state, c, IS_TOON) and not toons.has_toon(state, 1 - player)


@rule
def declaring(state, frame):
    """Choose a target, declare the attack, and let players respond; a replay repeats this."""
    player = state.turn_player
    step = frame.step
    if step == CHOOSE_TARGET:
        choose_target(state, frame, player)
    elif step == DIRECTLY_OR_NOT:
        if state.answer == 1:
            state.attack_target = NOBODY
            frame.step = DECLARE
        else:
            ask_target(state, frame, player)
    elif step == TAKE_TARGET:
        take_target(state, frame, player)
    elif step == DECLARE:
        declare(state, frame, player)
    elif step == ANSWER_ATTACK:
        answer_attack(state, frame, player)
    elif step == ANSWERED:
        if state.result:
            frame.step = ANSWER_ATTACK
        else:
            frame.step = STRIKE
            settle(state)
    elif step == STRIKE:
        strike(state, frame, player)
    elif state.answer == 1:
        state.replaying = 1
        frame.step = CHOOSE_TARGET
    else:
        end_attack(state, frame)


@rule
def choose_target(state, frame, player):
    """Ask for the target if there is a choice; without targets the attack is used up."""
    a = state.attacker
    if state.cards[a].status & ATTACK_ENDED:
        frame.step = NEXT_ATTACK
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
            frame.step = DECLARE
            return
        frame.step = DIRECTLY_OR_NOT
        ask_yes(state, player, NOBODY, ATTACK_DIRECTLY)
        return
    if frame.count == 0:
        state.cards[a].attacks += 1
        state.chain_attack = NOBODY
        frame.step = NEXT_ATTACK
        return
    ask_target(state, frame, player)


@rule
def ask_target(state, frame, player):
    frame.step = TAKE_TARGET
    ask_cards(state, player, frame.cards, frame.count, 1, 1, state.cancelable)


@rule
def take_target(state, frame, player):
    """Declare the attack on the chosen target; a cancelled attack counts only in a replay."""
    if state.picked_count:
        state.attack_target = state.picked[0]
        declare(state, frame, player)
    elif state.replaying & 1:
        end_attack(state, frame)
    else:
        frame.step = NEXT_ATTACK


@rule
def declare(state, frame, player):
    """Declare the attack and open the window for responses."""
    a = state.attacker
    target = state.attack_target
    again = state.replaying & 1
    state.replaying = again
    state.cancelable = 1
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        state.zone_stamps[zone] = state.cards[c].arrival if c != NOBODY else 0
    if target != NOBODY:
        trigger_own(state, ATTACKED, target, NOBODY, 1 - player)
    state.attacker_stamp = state.cards[a].arrival
    if not again:
        raise_event(state, ATTACK, a, player)
        trigger_on_attack(state)
    frame.step = ANSWER_ATTACK
    open_window(state, 0, 0, 0)


@rule
def answer_attack(state, frame, player):
    """Open windows until nobody responds, unless the attack has ended or a replay is due."""
    ended = state.end_battle != 0 or state.cards[state.attacker].status & ATTACK_ENDED != 0
    if ended or state.replaying & 2:
        strike(state, frame, player)
        return
    frame.step = ANSWERED
    open_window(state, 0, 0, 0)


@rule
def strike(state, frame, player):
    """Begin the damage step, or ask about a replay if the defending monsters have changed."""
    a = state.attacker
    if state.end_battle or state.cards[a].status & ATTACK_ENDED:
        end_attack(state, frame)
        return
    if state.replaying & 2 == 0:
        count_attack(state, a)
        frame.step = BEGIN
        return
    if count_targets(state, a, player) == 0 and not can_attack_directly(state, a, player):
        end_attack(state, frame)
        return
    frame.step = CONTINUE_OR_NOT
    ask_yes(state, player, NOBODY, CONTINUE_ATTACK)


@rule
def count_attack(state, a):
    """Count the attack as used."""
    card = state.cards[a]
    for k in range(8):
        if card.attacked[k] == 0:
            card.attacked[k] = state.attack_target
            break
    card.attacks += 1


@rule
def end_attack(state, frame):
    """End the attack without damage; it counts as used."""
    a = state.attacker
    if state.cards[a].arrival == state.attacker_stamp:
        count_attack(state, a)
    state.chain_attack = NOBODY
    frame.step = NEXT_ATTACK
    state.attacker = NOBODY
    settle(state)


@rule
def ending_battle(state, frame):
    if frame.step == BATTLE_ANSWERED:
        if state.links:
            frame.step = NEXT_ATTACK
            solve(state, 0, 0, 0)
            return
        frame.step = ENTER_BATTLE_END
        settle(state)
        return
    if frame.step == ENTER_BATTLE_END:
        state.phase = BATTLE_END
        frame.step = BATTLE_ENDED
        settle(state)
        phase_window(state, BATTLE_END)
        return
    state.attacker = NOBODY
    state.attack_target = NOBODY
    state.result = frame.args[NEXT_PHASE]
    done(state)
