"""Windows: moments when triggered effects are put on a chain and both players may answer."""

from ludus.games.duel.activation import (
    can_pay, can_play_card, can_use, count_use, fast_enough, is_sealed, lies_in_range, no_event, possible,
    try_link, used_up,
)  # fmt: skip
from ludus.games.duel.events import drop_pending
from ludus.games.duel.filters import can_banish
from ludus.games.duel.frames import (
    ADD_CHAIN, CONTINUOUS_PHASE, PHASE_EVENT, POINT_EVENT, QUICK_EFFECT, SOLVE_CHAIN, ask, ask_cards, ask_effect,
    call, clear_options, done, offer, picks_from,
)  # fmt: skip
from ludus.games.duel.moving import put_in, send
from ludus.games.duel.settling import settle
from ludus.games.duel.state import (
    ACTIVATES, BATTLE_END, BY_ADJUSTMENT, BY_DISCARD, BY_RULE, CHAIN, DAMAGE_STEP, END, GRAVE_PILE, HAND_PILE,
    NOBODY, PASSES, READY, STANDBY, TAKEN_UP,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS, FAST, FAST_IN_HAND, ROW_OF, TRIGGERS
from ludus.games.duel.tables.words import (
    ACTIVATE, BATTLE_PHASE_END, COSTS_UPKEEP, DECK, END_PHASE, FLIPPED, FREE, GRAVE, LASTS_THREE_TURNS,
    MAY_TRIGGER, MZONE, QUICK, RESTS_AFTER_ATTACK, STANDBY_PHASE, SZONE, TRIGGER, UP,
)  # fmt: skip
from ludus.games.duel.values import has
from ludus.games.duel.zones import is_up
from ludus.words import rule

USE_TRIGGER = 221
"""the game's own line: use the effect?"""
UPKEEP, REST, COUNT_TURN, SERPENT_LEAVES, CONTROL_ENDS = -1, -2, -3, -4, -5
"""what a phase does by itself, in place of an effect"""
SINISTER_SERPENT = ROW_OF[8131171]
REST_LENGTH = 3
"""end phases, this turn's among them, for which a monster that rests stays as it is"""


@rule
def open_window(state, skip_triggers, skip_free, skip_new):
    frame = call(state, POINT_EVENT)
    frame.args[0] = skip_triggers
    frame.args[1] = skip_free
    frame.args[2] = skip_new


@rule
def point_event(state, frame):
    """Triggered effects first, those that must be used before those that may; then whoever wants to answer."""
    if frame.step == 0:
        for k in range(state.instant_count):
            if state.point_count < len(state.point):
                state.point[state.point_count] = state.instant[k]
                state.point_count += 1
        state.instant_count = 0
        frame.args[3] = state.turn_player
        frame.step = 5 if frame.args[0] else 1
        if frame.step == 1:
            for k in range(state.pending_count):
                if state.pending[k].ready == READY:
                    state.pending[k].ready = TAKEN_UP
    if frame.step == 1:
        offer_pending(state, frame.args[3], True)
        frame.step = 2
        if state.option_count > 1:
            ask(state, CHAIN, frame.args[3], 1, 1, 0)
            state.forced = 1
            return
        state.answer = state.option_count - 1
    if frame.step == 2:
        if state.answer < 0:
            if frame.args[3] == state.turn_player:
                frame.args[3] = 1 - state.turn_player
                frame.step = 1
            else:
                frame.args[3] = state.turn_player
                frame.step = 3
            return
        frame.step = 1
        start_pending(state, state.options[state.answer].value)
        return
    if frame.step == 3:
        offer_pending(state, frame.args[3], False)
        frame.step = 4
        frame.args[4] = state.option_count
        frame.args[5] = -1
        if state.option_count == 1 and state.links == 0:
            frame.args[5] = state.options[0].value
            ask_effect(state, frame.args[3], state.options[0].card, USE_TRIGGER)
            return
        if state.option_count > 0:
            offer(state, PASSES, 0, 0, 0, 0)
            ask(state, CHAIN, frame.args[3], 1, 1, 0)
            return
        state.answer = 0
    if frame.step == 4:
        optional_answered(state, frame)
        return
    if frame.step == 5:
        frame.step = 6
        if state.links == 0:
            if state.hand_adjusted == 0:
                ask_fast(state, frame.args[1], state.turn_player, 0)
        else:
            ask_fast(state, frame.args[1], 1 - state.chain[state.links - 1].player, 0)
        return
    skip_triggers = frame.args[0]
    skip_free = frame.args[1] | frame.args[2]
    skip_new = frame.args[2]
    done(state)
    if state.links:
        solve(state, skip_triggers, skip_free, skip_new)
    else:
        state.point_count = 0
        state.result = 0


@rule
def optional_answered(state, frame):
    """A player uses one of the effects that may be used, or none of them."""
    if frame.args[5] >= 0:
        used = frame.args[5] if state.answer == 1 else -1
    else:
        used = state.options[state.answer].value if 0 <= state.answer < frame.args[4] else -1
    if used >= 0:
        frame.step = 3
        start_pending(state, used)
        return
    forget_pending(state, frame.args[3])
    if frame.args[3] == state.turn_player:
        frame.args[3] = 1 - state.turn_player
        frame.step = 3
    else:
        frame.step = 5


@rule
def offer_pending(state, player, mandatory):
    """List a player's triggered effects; those that cannot be used any more are lost."""
    clear_options(state)
    at = 0
    while at < state.pending_count:
        pending = state.pending[at]
        if pending.ready != TAKEN_UP or (pending.mandatory != 0) != mandatory:
            at += 1
            continue
        refresh(state, pending.link)
        if not still_triggers(state, pending.link):
            drop_pending(state, at)
            continue
        if pending.link.player == player:
            offer(state, ACTIVATES, pending.link.card, pending.link.effect, at, 0)
        at += 1


@rule
def refresh(state, link):
    """Where the card lies now, if it is still the same card."""
    card = state.cards[link.card]
    if card.stamp == link.stamp and card.place & (MZONE | SZONE):
        link.controller = card.controller
        link.player = card.controller
        link.place = card.place
        link.sequence = card.sequence


@rule
def still_triggers(state, link):
    """Whether a triggered effect can be used now."""
    effect = EFFECTS[link.effect]
    card = state.cards[link.card]
    flipped_in_battle = link.event.code == FLIPPED and state.phase == DAMAGE_STEP
    if not flipped_in_battle:
        if card.stamp != link.stamp or card.place == DECK:
            return False
        if card.place & (MZONE | SZONE) and card.position & UP == 0:
            return False
    return (
        can_pay(state, effect, link.card, link.player)
        and not used_up(state, effect, link)
        and not is_sealed(state, link.code, link.player)
        and (effect.kind == TRIGGER or possible(state, link, effect))
    )


@rule
def forget_pending(state, player):
    """A player's effects that may be used are not used."""
    at = 0
    while at < state.pending_count:
        pending = state.pending[at]
        if pending.ready == TAKEN_UP and pending.mandatory == 0 and pending.link.player == player:
            drop_pending(state, at)
        else:
            at += 1


@rule
def start_pending(state, at):
    """A triggered effect becomes a link of the chain."""
    state.adding = state.pending[at].link
    drop_pending(state, at)
    count_use(state, state.adding)
    call(state, ADD_CHAIN)


@rule
def ask_fast(state, skip_free, player, passed):
    frame = call(state, QUICK_EFFECT)
    frame.args[0] = skip_free
    frame.args[1] = player
    frame.args[2] = passed
    """1 where the other player has passed already"""


@rule
def quick_effect(state, frame):
    """Both players in turn may answer, until both have passed one after the other."""
    if frame.step == 0:
        frame.step = 1
        clear_options(state)
        offer_fast(state, frame.args[1], frame.args[0] == 0, True)
        if state.option_count:
            offer(state, PASSES, 0, 0, 0, 0)
            ask(state, CHAIN, frame.args[1], 1, 1, 0)
            return
        state.answer = 0
    chosen = state.options[state.answer]
    player = frame.args[1]
    frame.step = 0
    if state.option_count and chosen.kind == ACTIVATES:
        start_link(state, chosen.card, chosen.effect, chosen.value, player)
        frame.args[0] = 0
        frame.args[1] = 1 - player
        frame.args[2] = 0
        call(state, ADD_CHAIN)
        return
    if frame.args[2]:
        done(state)
        return
    frame.args[1] = 1 - player
    frame.args[2] = 1


@rule
def start_link(state, c, number, event, player):
    """An effect becomes a link of the chain, in answer to an event (-1 for none)."""
    try_link(state, number, c, player)
    set_event(state, event)
    state.adding = state.trial
    count_use(state, state.adding)


@rule
def set_event(state, event):
    """What the effect on trial answers: an event of the window, counted from 0, or one just now, from 100."""
    no_event(state.trial)
    if event >= 100:
        state.trial.event = state.instant[event - 100]
    elif event >= 0:
        state.trial.event = state.point[event]


@rule
def offer_fast(state, player, free, events):
    """List what a player can answer with: from hand and field, freely or because of what happened."""
    wanted = what_happened(state) if events else 0
    if free:
        wanted |= FREE
    for k in range(state.sizes[player, HAND_PILE]):
        c = state.piles[player, HAND_PILE, k]
        if FAST_IN_HAND[state.codes[c]] & wanted:
            offer_fast_of(state, c, player, free, events, wanted)
    for zone in range(7):
        offer_fast_of(state, state.monsters[player, zone], player, free, events, wanted)
    for zone in range(6):
        offer_fast_of(state, state.spells[player, zone], player, free, events, wanted)


@rule
def what_happened(state):
    """All events of the window and of just now, as one number."""
    found = 0
    for k in range(state.point_count):
        found |= state.point[k].code
    for k in range(state.instant_count):
        found |= state.instant[k].code
    return found


@rule
def offer_fast_of(state, c, player, free, events, wanted):
    """`wanted` are the bits of what can be answered; most cards answer nothing of it."""
    if c == NOBODY or FAST[state.codes[c]] & wanted == 0:
        return
    row = CARDS[state.codes[c]]
    for number in range(row.first, row.first + row.count):
        effect = EFFECTS[number]
        if not ((effect.kind == ACTIVATE and effect.speed > 1) or effect.kind == QUICK) or not fast_enough(
            state, number, player
        ):
            continue
        if effect.kind == ACTIVATE:
            if not can_play_card(state, c, player, effect.speed):
                continue
        elif not lies_in_range(state, number, c, player):
            continue
        try_link(state, number, c, player)
        if effect.on & FREE:
            no_event(state.trial)
            if free and can_use(state, state.trial):
                offer(state, ACTIVATES, c, number, -1, 0)
        elif events:
            offer_for_events(state, c, number, effect, player)


@rule
def offer_for_events(state, c, number, effect, player):
    for k in range(state.point_count):
        if state.point[k].code & effect.on:
            state.trial.event = state.point[k]
            if can_use(state, state.trial):
                offer(state, ACTIVATES, c, number, k, 0)
                return
    for k in range(state.instant_count):
        if state.instant[k].code & effect.on:
            state.trial.event = state.instant[k]
            if can_use(state, state.trial):
                offer(state, ACTIVATES, c, number, 100 + k, 0)
                return


@rule
def solve(state, skip_triggers, skip_free, skip_new):
    frame = call(state, SOLVE_CHAIN)
    frame.args[0] = skip_triggers
    frame.args[1] = skip_free
    frame.args[2] = skip_new


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
            return
        else:
            if must + by_itself == 0:
                offer(state, PASSES, 0, 0, 0, 0)
            ask(state, CHAIN, player, 1, 1, 0)
            state.forced = must + by_itself > 0
            return
    if frame.step == 1:
        phase_answered(state, frame, player)
        return
    if frame.step == 2:
        frame.step = 0
        solve(state, 0, 0, 0)
        return
    if frame.step == 3:
        frame.step = 0
        open_window(state, 0, 0, 0)
        settle(state)
        return
    if frame.step == 4:
        hand_limit(state, frame, phase)
        return
    if frame.step == 5:
        picks_from(state, frame)
        frame.step = 6
        sent = send(state, GRAVE, BY_RULE | BY_DISCARD | BY_ADJUSTMENT, state.turn_player)
        for k in range(frame.count):
            put_in(sent, frame.cards[k])
        return
    if frame.step == 6:
        state.hand_adjusted = 1
        frame.step = 0
        frame.args[1] = 0
        frame.args[2] = 0
        open_window(state, 0, 0, 0)
        return
    if frame.step == 7:
        frame.step = 8
        if phase == END:
            end_turn_effects(state)
        settle(state)
        return
    state.instant_count = 0
    state.point_count = 0
    done(state)


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
