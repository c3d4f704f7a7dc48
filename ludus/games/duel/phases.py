"""What phases trigger, do by themselves and leave room for, and the hand limit at the end of a turn."""

from ludus.games.duel.activation import can_use, no_event, try_link
from ludus.games.duel.filters import can_banish
from ludus.games.duel.frames import (
    ADD_CHAIN, CONTINUOUS_PHASE, PHASE_EVENT, ask, ask_cards, ask_effect, call, clear_options, done, offer,
    picks_from,
)  # fmt: skip
from ludus.games.duel.moving import put_in, send
from ludus.games.duel.settling import settle
from ludus.games.duel.state import (
    ACTIVATES, BATTLE_END, BY_ADJUSTMENT, BY_DISCARD, BY_RULE, CHAIN, END, GRAVE_PILE, HAND_PILE, NOBODY, PASSES,
    STANDBY,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS, ROW_OF, TRIGGERS
from ludus.games.duel.tables.words import (
    BATTLE_PHASE_END, COSTS_UPKEEP, END_PHASE, GRAVE, LASTS_THREE_TURNS, MAY_TRIGGER, MZONE, RESTS_AFTER_ATTACK,
    STANDBY_PHASE, SZONE, TRIGGER,
)  # fmt: skip
from ludus.games.duel.values import has
from ludus.games.duel.windows import ask_fast, offer_fast, open_window, solve, start_link
from ludus.games.duel.zones import is_up
from ludus.words import rule

UPKEEP, REST, COUNT_TURN, SERPENT_LEAVES, CONTROL_ENDS = -1, -2, -3, -4, -5
"""what a phase does by itself, in place of an effect"""
SINISTER_SERPENT = ROW_OF[8131171]
REST_LENGTH = 3
"""end phases, this turn's among them, for which a monster that rests stays as it is"""


@rule
def phase_window(state, phase):
    frame = call(state, PHASE_EVENT)
    frame.args[0] = phase


@rule
def phase_event(state, frame):
    """What a phase triggers or does by itself, and what players use in it, until both have nothing more."""
    phase = frame.args[0]
    player = 1 - state.turn_player if frame.args[1] else state.turn_player
    if frame.step == 0:
        ask_in_phase(state, frame, player, phase)
        if state.question:
            return
    if frame.step == 1:
        phase_answered(state, frame, player)
    elif frame.step == 2:
        frame.step = 0
        solve(state, 0, 0, 0)
    elif frame.step == 3:
        frame.step = 0
        open_window(state, 0, 0, 0)
        settle(state)
    elif frame.step == 4:
        hand_limit(state, frame, phase)
    elif frame.step == 5:
        discard_chosen(state, frame)
    elif frame.step == 6:
        begin_anew(state, frame)
    elif frame.step == 7:
        frame.step = 8
        if phase == END:
            end_turn_effects(state)
        settle(state)
    else:
        state.instant_count = 0
        state.point_count = 0
        done(state)


@rule
def ask_in_phase(state, frame, player, phase):
    """What a player may or must do now; where only one thing can happen, it is answered without a question."""
    clear_options(state)
    must = offer_phase(state, player, phase, TRIGGER)
    by_itself = offer_by_itself(state, player, phase)
    may = 0
    fast = 0
    if state.hand_adjusted == 0:
        may = offer_phase(state, player, phase, MAY_TRIGGER)
        before = state.option_count
        no_event(state.trial)
        offer_fast(state, player, True, False)
        fast = state.option_count - before
    frame.step = 1
    frame.args[3] = 0
    if state.option_count == 0:
        state.answer = -1
    elif must == 0 and by_itself == 1 and may == 0 and fast == 0:
        state.answer = 0
    elif must == 0 and may == 1 and fast == 0 and by_itself == 0:
        frame.args[3] = 1
        frame.args[4] = state.options[0].card
        frame.args[5] = state.options[0].effect
        ask_effect(state, player, state.options[0].card, 0)
    else:
        if must + by_itself == 0:
            offer(state, PASSES, 0, 0, 0, 0)
        ask(state, CHAIN, player, 1, 1, 0)
        state.forced = must + by_itself > 0


@rule
def phase_answered(state, frame, player):
    chosen = state.options[state.answer]
    if frame.args[3]:
        passed = state.answer == 0
        c = frame.args[4]
        number = frame.args[5]
    else:
        passed = state.answer < 0 or chosen.kind == PASSES
        c = chosen.card
        number = chosen.effect
    if passed:
        if frame.args[2]:
            frame.step = 4
        else:
            frame.args[2] = 1
            frame.args[1] = 1 - frame.args[1]
            frame.step = 0
        return
    frame.args[2] = 0
    if number < 0:
        frame.step = 3
        work = call(state, CONTINUOUS_PHASE)
        work.args[0] = number
        work.args[1] = c
        work.args[2] = player
        return
    start_link(state, c, number, -1, player)
    state.cards[c].used |= 1 << EFFECTS[number].number
    frame.step = 2
    ask_fast(state, 0, 1 - player, 0)
    call(state, ADD_CHAIN)


@rule
def hand_limit(state, frame, phase):
    """At the end of a turn at most six cards stay in the hand."""
    player = state.turn_player
    over = state.sizes[player, HAND_PILE] - 6
    if phase != END or over <= 0:
        frame.step = 7
        return
    frame.step = 5
    frame.count = 0
    for k in range(state.sizes[player, HAND_PILE]):
        put_in(frame, state.piles[player, HAND_PILE, k])
    ask_cards(state, player, frame.cards, frame.count, over, over, 0)


@rule
def discard_chosen(state, frame):
    """The cards beyond the limit go together."""
    picks_from(state, frame)
    frame.step = 6
    sent = send(state, GRAVE, BY_RULE | BY_DISCARD | BY_ADJUSTMENT, state.turn_player)
    for k in range(frame.count):
        put_in(sent, frame.cards[k])


@rule
def begin_anew(state, frame):
    """What was discarded may trigger something, so both players are asked once more."""
    state.hand_adjusted = 1
    frame.step = 0
    frame.args[1] = 0
    frame.args[2] = 0
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
    """Effects that the phase triggers, on the field and in the graveyard."""
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
def offer_by_itself(state, player, phase):
    """What the phase does without a chain."""
    before = state.option_count
    for zone in range(7):
        c = state.monsters[player, zone]
        if c == NOBODY:
            continue
        if (
            phase == BATTLE_END
            and has(state, c, RESTS_AFTER_ATTACK)
            and state.cards[c].fought > 0
            and state.cards[c].resting < REST_LENGTH
        ):
            offer(state, ACTIVATES, c, REST, 0, 0)
        if phase == END and state.cards[c].lent_until_end:
            offer(state, ACTIVATES, c, CONTROL_ENDS, 0, 0)
    for zone in range(5):
        c = state.spells[player, zone]
        if c == NOBODY:
            continue
        if phase == STANDBY and state.turn_player == player and has(state, c, COSTS_UPKEEP):
            if state.cards[c].lasting != state.turn:
                offer(state, ACTIVATES, c, UPKEEP, 0, 0)
        if (
            phase == END
            and state.turn_player != player
            and has(state, c, LASTS_THREE_TURNS)
            and state.cards[c].lasting != state.turn
        ):
            offer(state, ACTIVATES, c, COUNT_TURN, 0, 0)
    if phase == END and state.turn_player != player and state.serpents[player]:
        c = serpent_of(state, player)
        if c != NOBODY:
            offer(state, ACTIVATES, c, SERPENT_LEAVES, 0, 0)
    return state.option_count - before


@rule
def serpent_of(state, player):
    for k in range(state.sizes[player, GRAVE_PILE]):
        c = state.piles[player, GRAVE_PILE, k]
        if state.cards[c].code == SINISTER_SERPENT and can_banish(state, c, player):
            return c
    return NOBODY


@rule
def end_turn_effects(state):
    """What lasted until the end of the turn is over."""
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
