"""The main loop: it runs processes until a question is asked or the duel is over."""

from ludus.games.duel.adjustment import DRAWN_DUEL, adjusting
from ludus.games.duel.battle import battling
from ludus.games.duel.card_moves import changing_position, destroying, draw, sending
from ludus.games.duel.chain import adding_chain, solving_chain
from ludus.games.duel.control import equipping, swapping_control, taking_control
from ludus.games.duel.costs import paying, targeting
from ludus.games.duel.frames import (
    ADD_CHAIN, ADJUST, BATTLE_COMMAND, CHANGE_POSITION, CHOOSE_TARGETS, CONTINUOUS_PHASE, DESTROY, EQUIP_WITH,
    FLIP_SUMMON_RULE, IDLE_COMMAND, NORMAL_SUMMON, OPERATE, PAY_COST, PHASE_EVENT, POINT_EVENT, QUICK_EFFECT, SEND,
    SET_MONSTER, SET_SPELL, SOLVE_CHAIN, SPECIAL_SUMMON, SPECIAL_SUMMON_RULE, SWAP_CONTROL_OF, TAKE_CONTROL_OF, TURN,
    call,
)  # fmt: skip
from ludus.games.duel.operations import operating
from ludus.games.duel.phase_work import working
from ludus.games.duel.phases import phase_event
from ludus.games.duel.procedure_summons import proceeding
from ludus.games.duel.state import MOST_FRAMES, NO_QUESTION
from ludus.games.duel.summons import flip_summoning, normal_summoning, setting_monster, setting_spell, special_summoning
from ludus.games.duel.turn import commanding, turning
from ludus.games.duel.windows import point_event, quick_effect
from ludus.dsl import OVER, PLAYING, rule

MOST_STEPS = 20_000
"""maximum number of process calls between two questions; beyond it the duel is a draw"""
DEEPEST = MOST_FRAMES - 4
"""the deepest stack; the frames above it are scratch space for rules that try something out"""


@rule
def run(state):
    """Call the process on top of the stack again and again; an endless loop makes the duel a draw."""
    steps = 0
    while state.question == NO_QUESTION and state.status == PLAYING:
        steps += 1
        if steps > MOST_STEPS or state.depth > DEEPEST:
            state.winner = DRAWN_DUEL
            state.status = OVER
            return
        frame = state.frames[state.depth - 1]
        process = frame.process
        if process == ADJUST:
            adjusting(state, frame)
        elif process == QUICK_EFFECT:
            quick_effect(state, frame)
        elif process == POINT_EVENT:
            point_event(state, frame)
        elif process == PHASE_EVENT:
            phase_event(state, frame)
        elif process == TURN:
            turning(state, frame)
        elif process == IDLE_COMMAND:
            commanding(state, frame)
        elif process == BATTLE_COMMAND:
            battling(state, frame)
        elif process == SEND:
            sending(state, frame)
        elif process == DESTROY:
            destroying(state, frame)
        elif process == CHANGE_POSITION:
            changing_position(state, frame)
        elif process == NORMAL_SUMMON:
            normal_summoning(state, frame)
        elif process == SET_MONSTER:
            setting_monster(state, frame)
        elif process == SET_SPELL:
            setting_spell(state, frame)
        elif process == FLIP_SUMMON_RULE:
            flip_summoning(state, frame)
        else:
            run_rest(state, frame, process)


@rule
def run_rest(state, frame, process):
    if process == ADD_CHAIN:
        adding_chain(state, frame)
    elif process == SOLVE_CHAIN:
        solving_chain(state, frame)
    elif process == PAY_COST:
        paying(state, frame)
    elif process == CHOOSE_TARGETS:
        targeting(state, frame)
    elif process == OPERATE:
        operating(state, frame)
    elif process == SPECIAL_SUMMON_RULE:
        proceeding(state, frame)
    elif process == SPECIAL_SUMMON:
        special_summoning(state, frame)
    elif process == TAKE_CONTROL_OF:
        taking_control(state, frame)
    elif process == SWAP_CONTROL_OF:
        swapping_control(state, frame)
    elif process == EQUIP_WITH:
        equipping(state, frame)
    elif process == CONTINUOUS_PHASE:
        working(state, frame)


@rule
def begin(state, opening):
    """Deal the opening hands, player 0's first, and begin the first turn."""
    for player in range(2):
        draw(state, player, opening, 0)
    state.shuffle[0] = 0
    state.shuffle[1] = 0
    state.turn = 0
    call(state, TURN)
    run(state)


@rule
def resume(state):
    """Continue with the chosen options as the answer."""
    state.picked_count = 0
    state.answer = -1
    for k in range(state.chosen_count):
        option = state.options[state.chosen[k]]
        state.answer = state.chosen[k]
        state.picked[state.picked_count] = option.card
        state.picked_count += 1
    state.chosen_count = 0
    state.question = NO_QUESTION
    run(state)
