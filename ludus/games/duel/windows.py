"""Windows: moments when triggered effects are put on a chain and both players may answer."""

from ludus.games.duel.activation import (
    can_pay, can_play_card, can_use, count_use, fast_enough, is_sealed, lies_in_range, no_event, possible, try_link,
    used_up,
)  # fmt: skip
from ludus.games.duel.events import drop_pending
from ludus.games.duel.frames import (
    ADD_CHAIN, POINT_EVENT, QUICK_EFFECT, SOLVE_CHAIN, ask, ask_effect, call, clear_options, done, offer,
)  # fmt: skip
from ludus.games.duel.state import ACTIVATES, CHAIN, DAMAGE_STEP, HAND_PILE, NOBODY, PASSES, READY, TAKEN_UP
from ludus.games.duel.tables import CARDS, EFFECTS, FAST, FAST_IN_HAND
from ludus.games.duel.tables.words import ACTIVATE, DECK, FLIPPED, FREE, MZONE, QUICK, SZONE, TRIGGER, UP
from ludus.words import rule

USE_TRIGGER = 221
"""the game's own line: use the effect?"""


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
        take_up(state, frame)
    if frame.step == 1:
        ask_mandatory(state, frame)
        if state.question:
            return
    if frame.step == 2:
        mandatory_answered(state, frame)
        return
    if frame.step == 3:
        ask_optional(state, frame)
        if state.question:
            return
    if frame.step == 4:
        optional_answered(state, frame)
    elif frame.step == 5:
        ask_to_answer(state, frame)
    else:
        close_window(state, frame)


@rule
def take_up(state, frame):
    """What has happened can be answered now; what it triggered is taken up, unless this window skips that."""
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


@rule
def ask_mandatory(state, frame):
    """Which of the effects that must be used comes first; nothing is asked about a single one."""
    offer_pending(state, frame.args[3], True)
    frame.step = 2
    if state.option_count > 1:
        ask(state, CHAIN, frame.args[3], 1, 1, 0)
        state.forced = 1
        return
    state.answer = state.option_count - 1


@rule
def mandatory_answered(state, frame):
    """The effect is used; when none is left, the other player's come, and then those that may be used."""
    if state.answer >= 0:
        frame.step = 1
        start_pending(state, state.options[state.answer].value)
    elif frame.args[3] == state.turn_player:
        frame.args[3] = 1 - state.turn_player
        frame.step = 1
    else:
        frame.args[3] = state.turn_player
        frame.step = 3


@rule
def ask_optional(state, frame):
    """Whether one of the effects that may be used is used; a single one is a matter of yes or no."""
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
def ask_to_answer(state, frame):
    """The turn player may begin a chain; a chain is answered by whoever did not add the newest link."""
    frame.step = 6
    if state.links == 0:
        if state.hand_adjusted == 0:
            ask_fast(state, frame.args[1], state.turn_player, 0)
    else:
        ask_fast(state, frame.args[1], 1 - state.chain[state.links - 1].player, 0)


@rule
def close_window(state, frame):
    """The chain, if there is one, resolves."""
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
