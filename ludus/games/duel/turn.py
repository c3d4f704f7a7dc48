"""A turn: its phases, and the turn player's commands in a main phase."""

from ludus.games.duel.activation import can_play_card, can_use, lies_in_range, no_event, try_link
from ludus.games.duel.adjustment import settle
from ludus.games.duel.card_moves import draw
from ludus.games.duel.frames import (
    ADD_CHAIN, BATTLE_COMMAND, FLIP_SUMMON_RULE, IDLE_COMMAND, NORMAL_SUMMON, SET_MONSTER, SPECIAL_SUMMON_RULE, ask,
    call, clear_options, done, offer,
)  # fmt: skip
from ludus.games.duel.phases import phase_window
from ludus.games.duel.procedures import can_procedure
from ludus.games.duel.processes import call_for, change_position, set_spell
from ludus.games.duel.state import (
    ACTIVATES, BATTLE_START, BATTLE_STEP, BY_RULE, DRAW_PHASE, END, EXTRA_PILE, FLIPPED_NOW, HAND_PILE, IDLE, MAIN_1,
    MAIN_2, MOVED_NOW, NOBODY, REPOSITIONS, SETS_MONSTER, SETS_SPELL, SET_NOW, SPECIAL_NOW, SPECIAL_SUMMONS, STANDBY,
    SUMMONED_NOW, SUMMONS, THIS_TURN, TO_BATTLE, TO_END,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    ACTIVATE, DRAGON, EXTRA_DECK, FREE, FREEZES, IGNITION, LINK, MONSTER, NO_TRIBUTE_SUMMON, QUICK, RITUAL,
    SITS_DRAGONS, SPECIAL_ONLY, SPELL, TOKEN, TRAP, UP, UP_ATTACK, UP_DEFENSE,
)  # fmt: skip
from ludus.games.duel.values import level, somewhere, works
from ludus.games.duel.windows import ask_fast, open_window, solve, start_link
from ludus.games.duel.zones import can_place_spell, free_monster_zones, is_up, traits_of
from ludus.dsl import rule

NOTHING_CHOSEN, GO_TO_BATTLE, GO_TO_END = 0, 6, 7
"""results of IDLE_COMMAND and BATTLE_COMMAND: where the turn goes next"""
# fmt: off
(BEGIN_TURN, DRAW_CARD, ANSWER_DRAW, ENTER_STANDBY, ENTER_MAIN_1, COMMAND_MAIN_1, ENTER_BATTLE, COMMAND_BATTLE,
 ENTER_MAIN_2, COMMAND_MAIN_2) = range(10)
# fmt: on
ENTER_END, ANSWER_END, SETTLE_END, NEXT_TURN = range(11, 15)
"""the steps of TURN"""
AFTER_BATTLE = 0
"""its argument slot: the result of the battle phase"""

# fmt: off
(CHOOSE_COMMAND, TAKE_COMMAND, SOLVE_COMMAND, SETTLE_COMMAND, ANSWER_COMMAND, MAIN_ANSWERED, END_MAIN) = range(7)
# fmt: on
"""the steps of IDLE_COMMAND"""
NEXT_PHASE, SKIP_TO_END = range(2)
"""its argument slots: where the turn goes next; whether the end phase follows without a question"""


@rule
def turning(state, frame):
    """The phases of a turn, then the next one."""
    step = frame.step
    frame.step = step + 1
    if step <= ENTER_STANDBY:
        before_main(state, step)
    elif step == ENTER_MAIN_1:
        enter_main(state, MAIN_1)
    elif step == COMMAND_MAIN_1:
        command_main(state, MAIN_1)
    elif step == ENTER_BATTLE:
        if state.result == GO_TO_END:
            frame.step = ENTER_END
        else:
            enter_battle(state)
    elif step == COMMAND_BATTLE:
        command_battle(state)
    elif step == ENTER_MAIN_2:
        frame.args[AFTER_BATTLE] = state.result
        enter_main(state, MAIN_2)
    elif step == COMMAND_MAIN_2:
        frame.step = ENTER_END
        idle = command_main(state, MAIN_2)
        idle.args[SKIP_TO_END] = frame.args[AFTER_BATTLE] == GO_TO_END
    elif step < NEXT_TURN:
        end_phase(state, step)
    else:
        state.pending_count = 0
        state.turn_player = 1 - state.turn_player
        frame.step = BEGIN_TURN


@rule
def before_main(state, step):
    """Begin the turn, draw a card, and run the draw and standby phases."""
    if step == BEGIN_TURN:
        begin_turn(state)
        settle(state)
    elif step == DRAW_CARD:
        state.told_phase = DRAW_PHASE
        if state.turn > 1:
            draw(state, state.turn_player, 1, BY_RULE)
            open_window(state, 0, 0, 0)
    elif step == ANSWER_DRAW:
        phase_window(state, DRAW_PHASE)
    else:
        state.phase = STANDBY
        state.told_phase = STANDBY
        state.pending_count = 0
        phase_window(state, STANDBY)


@rule
def enter_main(state, phase):
    state.phase = phase
    settle(state)


@rule
def command_main(state, phase):
    """Begin the commands of a main phase. It is displayed from now on, after the field was adjusted."""
    state.pending_count = 0
    state.told_phase = phase
    return call(state, IDLE_COMMAND)


@rule
def enter_battle(state):
    state.phase = BATTLE_START
    state.told_phase = BATTLE_START
    state.pending_count = 0
    phase_window(state, BATTLE_START)
    settle(state)


@rule
def command_battle(state):
    state.phase = BATTLE_STEP
    state.pending_count = 0
    state.chain_attack = 0
    call(state, BATTLE_COMMAND)


@rule
def end_phase(state, step):
    if step == ENTER_END:
        state.phase = END
        state.told_phase = END
        settle(state)
    elif step == ANSWER_END:
        state.pending_count = 0
        phase_window(state, END)
    else:
        settle(state)


@rule
def begin_turn(state):
    """Reset everything that is counted per turn."""
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY:
                card = state.cards[c]
                card.status &= ~THIS_TURN
                card.attacks = 0
                card.fought = 0
                for k in range(8):
                    card.attacked[k] = 0
                card.used = 0
        for zone in range(6):
            c = state.spells[player, zone]
            if c != NOBODY:
                state.cards[c].status &= ~SET_NOW
                state.cards[c].used = 0
        state.summons[player] = 0
        state.summoned_any[player] = 0
        state.named_count[player] = 0
    state.turn += 1
    state.phase = DRAW_PHASE
    state.hand_adjusted = 0
    state.end_battle = 0


@rule
def commanding(state, frame):
    """The turn player's commands in a main phase, one after the other."""
    player = state.turn_player
    if frame.step == CHOOSE_COMMAND:
        if frame.args[SKIP_TO_END]:
            frame.args[SKIP_TO_END] = 0
            leave_main(state, frame, GO_TO_END)
            return
        offer_commands(state, player)
        ask(state, IDLE, player, 1, 1, 0)
        frame.step = TAKE_COMMAND
        return
    if frame.step == TAKE_COMMAND:
        obey(state, frame, player)
        return
    if frame.step == SOLVE_COMMAND:
        frame.step = CHOOSE_COMMAND
        solve(state, 0, 0, 0)
        return
    if frame.step == SETTLE_COMMAND:
        frame.step = ANSWER_COMMAND
        settle(state)
        return
    if frame.step == ANSWER_COMMAND:
        frame.step = CHOOSE_COMMAND
        open_window(state, 0, 0, 0)
        return
    if frame.step == MAIN_ANSWERED:
        if state.links:
            frame.step = CHOOSE_COMMAND
            solve(state, 0, 0, 0)
            return
        frame.step = END_MAIN
        settle(state)
        return
    state.result = frame.args[NEXT_PHASE]
    done(state)


@rule
def leave_main(state, frame, where):
    """End the main phase; the opponent may respond first."""
    frame.args[NEXT_PHASE] = where
    frame.step = MAIN_ANSWERED
    ask_fast(state, 0, 1 - state.turn_player, 1)


@rule
def obey(state, frame, player):
    chosen = state.options[state.answer]
    kind = chosen.kind
    c = chosen.card
    frame.step = CHOOSE_COMMAND
    if kind == ACTIVATES:
        start_link(state, c, chosen.effect, -1, player)
        frame.step = SOLVE_COMMAND
        ask_fast(state, 0, 1 - player, 0)
        call(state, ADD_CHAIN)
    elif kind == SUMMONS:
        call_for(state, NORMAL_SUMMON, c)
    elif kind == SETS_MONSTER:
        call_for(state, SET_MONSTER, c)
    elif kind == SPECIAL_SUMMONS:
        call_for(state, SPECIAL_SUMMON_RULE, c)
    elif kind == SETS_SPELL:
        set_spell(state, c, player, 0)
    elif kind == REPOSITIONS:
        card = state.cards[c]
        card.status |= MOVED_NOW
        if is_up(state, c):
            frame.step = SETTLE_COMMAND
            change_position(state, c, UP_DEFENSE if card.position == UP_ATTACK else UP_ATTACK, player)
        else:
            call_for(state, FLIP_SUMMON_RULE, c)
    elif kind == TO_BATTLE:
        leave_main(state, frame, GO_TO_BATTLE)
    else:
        leave_main(state, frame, GO_TO_END)


@rule
def offer_commands(state, player):
    """Offer everything that the turn player may do."""
    clear_options(state)
    size = state.sizes[player, HAND_PILE]
    for k in range(size):
        c = state.piles[player, HAND_PILE, k]
        if can_normal_summon(state, c, player, False):
            offer(state, SUMMONS, c, 0, 0, 0)
    for k in range(size):
        c = state.piles[player, HAND_PILE, k]
        if can_procedure(state, c, player):
            offer(state, SPECIAL_SUMMONS, c, 0, 0, 0)
    for k in range(state.sizes[player, EXTRA_PILE]):
        c = state.piles[player, EXTRA_PILE, k]
        if can_procedure(state, c, player):
            offer(state, SPECIAL_SUMMONS, c, 0, 0, 0)
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY and can_reposition(state, c, player):
            offer(state, REPOSITIONS, c, 0, 0, 0)
    for k in range(size):
        c = state.piles[player, HAND_PILE, k]
        if can_normal_summon(state, c, player, True):
            offer(state, SETS_MONSTER, c, 0, 0, 0)
    for k in range(size):
        c = state.piles[player, HAND_PILE, k]
        if CARDS[state.cards[c].code].types & (SPELL | TRAP) and can_place_spell(state, c, player):
            offer(state, SETS_SPELL, c, 0, 0, 0)
    offer_activations(state, player, False)
    if state.phase == MAIN_1 and state.turn > 1:
        offer(state, TO_BATTLE, 0, 0, 0, 0)
    offer(state, TO_END, 0, 0, 0, 0)


@rule
def offer_activations(state, player, fast_only):
    """Offer the cards and effects that can be activated without an event."""
    for k in range(state.sizes[player, HAND_PILE]):
        offer_activation(state, state.piles[player, HAND_PILE, k], player, fast_only)
    for zone in range(7):
        offer_activation(state, state.monsters[player, zone], player, fast_only)
    for zone in range(6):
        offer_activation(state, state.spells[player, zone], player, fast_only)


@rule
def offer_activation(state, c, player, fast_only):
    if c == NOBODY:
        return
    row = CARDS[state.cards[c].code]
    for number in range(row.first, row.first + row.count):
        effect = EFFECTS[number]
        if effect.on & FREE == 0 or (fast_only and effect.speed < 2):
            continue
        if effect.kind == ACTIVATE:
            if not can_play_card(state, c, player, effect.speed):
                continue
        elif effect.kind == IGNITION or effect.kind == QUICK:
            if not lies_in_range(state, number, c, player):
                continue
        else:
            continue
        try_link(state, number, c, player)
        no_event(state.trial)
        if can_use(state, state.trial):
            offer(state, ACTIVATES, c, number, -1, 0)


@rule
def tributes_needed(state, c):
    of = level(state, c)
    return 0 if of < 5 else 1 if of < 7 else 2


@rule
def is_tribute(state, c):
    """Whether a monster may be tributed for a summon."""
    return c != NOBODY and traits_of(state, c) & NO_TRIBUTE_SUMMON == 0


@rule
def can_normal_summon(state, c, player, face_down):
    row = CARDS[state.cards[c].code]
    if row.types & MONSTER == 0 or row.types & (EXTRA_DECK | RITUAL | TOKEN | SPECIAL_ONLY) or state.summons[player]:
        return False
    if not face_down and state.no_summons[player]:
        return False
    needed = tributes_needed(state, c)
    free = free_monster_zones(state, player) != 0
    if needed == 0:
        return free
    count = 0
    in_main = 0
    for zone in range(7):
        if is_tribute(state, state.monsters[player, zone]):
            count += 1
            in_main += zone < 5
    return count >= needed and (free or in_main > 0)


@rule
def can_reposition(state, c, player):
    card = state.cards[c]
    if (
        card.status & (SUMMONED_NOW | FLIPPED_NOW | SPECIAL_NOW | MOVED_NOW)
        or card.attacks > 0
        or CARDS[card.code].types & LINK
    ):
        return False
    if frozen(state, c):
        return False
    if card.position & UP:
        return card.resting == 0
    return not state.no_summons[player]


@rule
def frozen(state, c):
    """Whether an effect prevents a monster from changing its position."""
    for player in range(2):
        for zone in range(7):
            other = state.monsters[player, zone]
            if other != NOBODY and other != c and traits_of(state, other) & FREEZES and works(state, other):
                return True
    if state.cards[c].position & UP and CARDS[state.cards[c].code].race & DRAGON:
        return somewhere(state, SITS_DRAGONS)
    return False
