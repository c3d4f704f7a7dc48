"""Triggered effects, responses and other work in a phase, and the hand limit at the end of a turn."""

from ludus.games.duel.activation import can_use, no_event, try_link
from ludus.games.duel.adjustment import settle
from ludus.games.duel.frames import (
    ADD_CHAIN, PHASE_EVENT, ask, ask_cards, ask_effect, call, clear_options, done, offer, picks_from,
)  # fmt: skip
from ludus.games.duel.phase_work import begin_work, offer_work
from ludus.games.duel.processes import put_in, send
from ludus.games.duel.state import (
    ACTIVATES, BATTLE_END, BY_ADJUSTMENT, BY_DISCARD, BY_RULE, CHAIN, END, GRAVE_PILE, HAND_PILE, NOBODY, PASSES,
    STANDBY,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS, TRIGGERS
from ludus.games.duel.tables.words import (
    BATTLE_PHASE_END, END_PHASE, GRAVE, MAY_TRIGGER, MZONE, STANDBY_PHASE, SZONE, TRIGGER,
)  # fmt: skip
from ludus.games.duel.windows import ask_fast, offer_fast, open_window, solve, start_link
from ludus.games.duel.zones import is_up
from ludus.dsl import rule

# fmt: off
(ASK_IN_PHASE, PHASE_ANSWERED, SOLVE_PHASE_CHAIN, ANSWER_PHASE_WORK, CHECK_HAND_LIMIT, DISCARD_CHOSEN, ASK_AGAIN,
 END_TURN_EFFECTS, END_PHASE_WINDOW) = range(9)
# fmt: on
"""the steps of PHASE_EVENT"""
PHASE, OPPONENT_ASKED, ONE_PASSED, IS_SINGLE, SINGLE_CARD, SINGLE_EFFECT = range(6)
"""its argument slots: the phase; whether the turn player's opponent is asked; whether one player has just passed;
whether the question is about a single effect, its card, and its number"""


@rule
def phase_window(state, phase):
    frame = call(state, PHASE_EVENT)
    frame.args[PHASE] = phase


@rule
def phase_event(state, frame):
    """Everything that happens in a phase, until both players pass."""
    phase = frame.args[PHASE]
    player = 1 - state.turn_player if frame.args[OPPONENT_ASKED] else state.turn_player
    if frame.step == ASK_IN_PHASE:
        ask_in_phase(state, frame, player, phase)
        if state.question:
            return
    if frame.step == PHASE_ANSWERED:
        phase_answered(state, frame, player)
    elif frame.step == SOLVE_PHASE_CHAIN:
        frame.step = ASK_IN_PHASE
        solve(state, 0, 0, 0)
    elif frame.step == ANSWER_PHASE_WORK:
        frame.step = ASK_IN_PHASE
        open_window(state, 0, 0, 0)
        settle(state)
    elif frame.step == CHECK_HAND_LIMIT:
        hand_limit(state, frame, phase)
    elif frame.step == DISCARD_CHOSEN:
        discard_chosen(state, frame)
    elif frame.step == ASK_AGAIN:
        begin_anew(state, frame)
    elif frame.step == END_TURN_EFFECTS:
        frame.step = END_PHASE_WINDOW
        if phase == END:
            end_turn_effects(state)
        settle(state)
    else:
        state.instant_count = 0
        state.point_count = 0
        done(state)


@rule
def ask_in_phase(state, frame, player, phase):
    """Ask what a player does now; a single piece of phase work is done without a question."""
    clear_options(state)
    must = offer_phase(state, player, phase, TRIGGER)
    by_itself = offer_work(state, player, phase)
    may = 0
    fast = 0
    if state.hand_adjusted == 0:
        may = offer_phase(state, player, phase, MAY_TRIGGER)
        before = state.option_count
        no_event(state.trial)
        offer_fast(state, player, True, False)
        fast = state.option_count - before
    frame.step = PHASE_ANSWERED
    frame.args[IS_SINGLE] = 0
    if state.option_count == 0:
        state.answer = -1
    elif must == 0 and by_itself == 1 and may == 0 and fast == 0:
        state.answer = 0
    elif must == 0 and may == 1 and fast == 0 and by_itself == 0:
        frame.args[IS_SINGLE] = 1
        frame.args[SINGLE_CARD] = state.options[0].card
        frame.args[SINGLE_EFFECT] = state.options[0].effect
        ask_effect(state, player, state.options[0].card, 0)
    else:
        if must + by_itself == 0:
            offer(state, PASSES, 0, 0, 0, 0)
        ask(state, CHAIN, player, 1, 1, 0)
        state.forced = must + by_itself > 0


@rule
def phase_answered(state, frame, player):
    chosen = state.options[state.answer]
    if frame.args[IS_SINGLE]:
        passed = state.answer == 0
        c = frame.args[SINGLE_CARD]
        number = frame.args[SINGLE_EFFECT]
    else:
        passed = state.answer < 0 or chosen.kind == PASSES
        c = chosen.card
        number = chosen.effect
    if passed:
        if frame.args[ONE_PASSED]:
            frame.step = CHECK_HAND_LIMIT
        else:
            frame.args[ONE_PASSED] = 1
            frame.args[OPPONENT_ASKED] = 1 - frame.args[OPPONENT_ASKED]
            frame.step = ASK_IN_PHASE
        return
    frame.args[ONE_PASSED] = 0
    if number < 0:
        frame.step = ANSWER_PHASE_WORK
        begin_work(state, number, c, player)
        return
    start_link(state, c, number, -1, player)
    state.cards[c].used |= 1 << EFFECTS[number].number
    frame.step = SOLVE_PHASE_CHAIN
    ask_fast(state, 0, 1 - player, 0)
    call(state, ADD_CHAIN)


@rule
def hand_limit(state, frame, phase):
    """Ask which cards are discarded at the end of a turn; six stay in the hand."""
    player = state.turn_player
    over = state.sizes[player, HAND_PILE] - 6
    if phase != END or over <= 0:
        frame.step = END_TURN_EFFECTS
        return
    frame.step = DISCARD_CHOSEN
    frame.count = 0
    for k in range(state.sizes[player, HAND_PILE]):
        put_in(frame, state.piles[player, HAND_PILE, k])
    ask_cards(state, player, frame.cards, frame.count, over, over, 0)


@rule
def discard_chosen(state, frame):
    """Discard the chosen cards together."""
    picks_from(state, frame)
    frame.step = ASK_AGAIN
    sent = send(state, GRAVE, BY_RULE | BY_DISCARD | BY_ADJUSTMENT, state.turn_player)
    for k in range(frame.count):
        put_in(sent, frame.cards[k])


@rule
def begin_anew(state, frame):
    """Discarded cards may trigger effects, so both players are asked again."""
    state.hand_adjusted = 1
    frame.step = ASK_IN_PHASE
    frame.args[OPPONENT_ASKED] = 0
    frame.args[ONE_PASSED] = 0
    open_window(state, 0, 0, 0)


@rule
def event_of(phase):
    if phase == STANDBY:
        return STANDBY_PHASE
    if phase == BATTLE_END:
        return BATTLE_PHASE_END
    if phase == END:
        return END_PHASE
    return 0


@rule
def offer_phase(state, player, phase, kind):
    """Offer the effects that the phase triggers, on the field and in the graveyard; how many."""
    event = event_of(phase)
    count = 0
    if state.triggers & event == 0:
        return count
    for zone in range(7):
        count += offer_phase_of(state, state.monsters[player, zone], player, event, kind)
    for zone in range(6):
        count += offer_phase_of(state, state.spells[player, zone], player, event, kind)
    for k in range(state.sizes[player, GRAVE_PILE]):
        count += offer_phase_of(state, state.piles[player, GRAVE_PILE, k], player, event, kind)
    return count


@rule
def offer_phase_of(state, c, player, event, kind):
    if c == NOBODY or TRIGGERS[state.codes[c]] & event == 0:
        return 0
    row = CARDS[state.codes[c]]
    for number in range(row.first, row.first + row.count):
        effect = EFFECTS[number]
        if effect.kind == kind and effect.on & event and state.cards[c].place & effect.where:
            if state.cards[c].used >> effect.number & 1:
                continue
            if state.cards[c].place & (MZONE | SZONE) and not is_up(state, c):
                continue
            try_link(state, number, c, player)
            no_event(state.trial)
            if can_use(state, state.trial):
                offer(state, ACTIVATES, c, number, -1, 0)
                return 1
    return 0


@rule
def end_turn_effects(state):
    """End what lasts until the end of the turn."""
    for player in range(2):
        state.sealed_count[player] = 0
        state.waboku[player] = 0
        state.no_summons[player] = 0
        if player != state.turn_player:
            state.serpents[player] = 0
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY:
                card = state.cards[c]
                card.attack_up = 0
                card.defense_up = 0
                card.swapped = 0
                if card.resting > 0:
                    card.resting -= 1
