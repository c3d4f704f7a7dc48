"""Windows: moments at which triggered effects form a chain and both players may respond."""

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
from ludus.dsl import rule

USE_TRIGGER = 221
"""line of text of the game itself: use the effect?"""

# fmt: off
(TAKE_UP, ASK_MANDATORY, MANDATORY_ANSWERED, ASK_OPTIONAL, OPTIONAL_ANSWERED, ASK_TO_ANSWER, CLOSE_WINDOW) = range(7)
# fmt: on
"""the steps of POINT_EVENT"""
SKIP_TRIGGERS, SKIP_FREE, SKIP_NEW = range(3)
"""argument slots of POINT_EVENT and SOLVE_CHAIN: leave out triggered effects; leave out effects that need no event;
leave out both in the windows that follow"""
ASKED_PLAYER, OFFERED_COUNT, SINGLE_TRIGGER = range(3, 6)
"""further slots of POINT_EVENT: whose effects are offered; how many are; the index of a single one, or -1"""

ASK_QUICK, QUICK_ANSWERED = range(2)
"""the steps of QUICK_EFFECT"""
QUICK_SKIP_FREE, QUICK_PLAYER, QUICK_PASSED = range(3)
"""its argument slots: leave out effects that need no event; who is asked; whether the other player has just passed"""


@rule
def open_window(state, skip_triggers, skip_free, skip_new):
    frame = call(state, POINT_EVENT)
    frame.args[SKIP_TRIGGERS] = skip_triggers
    frame.args[SKIP_FREE] = skip_free
    frame.args[SKIP_NEW] = skip_new


@rule
def point_event(state, frame):
    """Triggered effects first, mandatory ones before optional ones; then both players may respond."""
    if frame.step == TAKE_UP:
        take_up(state, frame)
    if frame.step == ASK_MANDATORY:
        ask_mandatory(state, frame)
        if state.question:
            return
    if frame.step == MANDATORY_ANSWERED:
        mandatory_answered(state, frame)
        return
    if frame.step == ASK_OPTIONAL:
        ask_optional(state, frame)
        if state.question:
            return
    if frame.step == OPTIONAL_ANSWERED:
        optional_answered(state, frame)
    elif frame.step == ASK_TO_ANSWER:
        ask_to_answer(state, frame)
    else:
        close_window(state, frame)


@rule
def take_up(state, frame):
    """Make the latest events answerable, and take up the triggered effects unless this window skips them."""
    for k in range(state.instant_count):
        if state.point_count < len(state.point):
            state.point[state.point_count] = state.instant[k]
            state.point_count += 1
    state.instant_count = 0
    frame.args[ASKED_PLAYER] = state.turn_player
    frame.step = ASK_TO_ANSWER if frame.args[SKIP_TRIGGERS] else ASK_MANDATORY
    if frame.step == ASK_MANDATORY:
        for k in range(state.pending_count):
            if state.pending[k].ready == READY:
                state.pending[k].ready = TAKEN_UP


@rule
def ask_mandatory(state, frame):
    """Ask which mandatory effect comes first; a single one is used without a question."""
    offer_pending(state, frame.args[ASKED_PLAYER], True)
    frame.step = MANDATORY_ANSWERED
    if state.option_count > 1:
        ask(state, CHAIN, frame.args[ASKED_PLAYER], 1, 1, 0)
        state.forced = 1
        return
    state.answer = state.option_count - 1


@rule
def mandatory_answered(state, frame):
    """Use the chosen mandatory effect; when none is left, go on to the other player and then to optional effects."""
    if state.answer >= 0:
        frame.step = ASK_MANDATORY
        start_pending(state, state.options[state.answer].value)
    elif frame.args[ASKED_PLAYER] == state.turn_player:
        frame.args[ASKED_PLAYER] = 1 - state.turn_player
        frame.step = ASK_MANDATORY
    else:
        frame.args[ASKED_PLAYER] = state.turn_player
        frame.step = ASK_OPTIONAL


@rule
def ask_optional(state, frame):
    """Ask which optional effect is used; a single one is a yes-or-no question."""
    offer_pending(state, frame.args[ASKED_PLAYER], False)
    frame.step = OPTIONAL_ANSWERED
    frame.args[OFFERED_COUNT] = state.option_count
    frame.args[SINGLE_TRIGGER] = -1
    if state.option_count == 1 and state.links == 0:
        frame.args[SINGLE_TRIGGER] = state.options[0].value
        ask_effect(state, frame.args[ASKED_PLAYER], state.options[0].card, USE_TRIGGER)
        return
    if state.option_count > 0:
        offer(state, PASSES, 0, 0, 0, 0)
        ask(state, CHAIN, frame.args[ASKED_PLAYER], 1, 1, 0)
        return
    state.answer = 0


@rule
def optional_answered(state, frame):
    """Use the chosen optional effect; if none was chosen, go on to the other player."""
    if frame.args[SINGLE_TRIGGER] >= 0:
        used = frame.args[SINGLE_TRIGGER] if state.answer == 1 else -1
    else:
        used = state.options[state.answer].value if 0 <= state.answer < frame.args[OFFERED_COUNT] else -1
    if used >= 0:
        frame.step = ASK_OPTIONAL
        start_pending(state, used)
        return
    forget_pending(state, frame.args[ASKED_PLAYER])
    if frame.args[ASKED_PLAYER] == state.turn_player:
        frame.args[ASKED_PLAYER] = 1 - state.turn_player
        frame.step = ASK_OPTIONAL
    else:
        frame.step = ASK_TO_ANSWER


@rule
def ask_to_answer(state, frame):
    """The turn player may begin a chain; the opponent of the newest link's player may respond to it."""
    frame.step = CLOSE_WINDOW
    if state.links == 0:
        if state.hand_adjusted == 0:
            ask_fast(state, frame.args[SKIP_FREE], state.turn_player, 0)
    else:
        ask_fast(state, frame.args[SKIP_FREE], 1 - state.chain[state.links - 1].player, 0)


@rule
def close_window(state, frame):
    """Resolve the chain, if there is one."""
    skip_triggers = frame.args[SKIP_TRIGGERS]
    skip_free = frame.args[SKIP_FREE] | frame.args[SKIP_NEW]
    skip_new = frame.args[SKIP_NEW]
    done(state)
    if state.links:
        solve(state, skip_triggers, skip_free, skip_new)
    else:
        state.point_count = 0
        state.result = 0


@rule
def offer_pending(state, player, mandatory):
    """Offer a player's triggered effects; drop those that can no longer be used."""
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
    """Update the location of the link's card, if it is still the same card."""
    card = state.cards[link.card]
    if card.stamp != link.stamp:
        return
    link.place = card.place
    link.sequence = card.sequence
    if card.place & (MZONE | SZONE):
        link.controller = card.controller
        link.player = card.controller


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
    """Drop a player's optional effects."""
    at = 0
    while at < state.pending_count:
        pending = state.pending[at]
        if pending.ready == TAKEN_UP and pending.mandatory == 0 and pending.link.player == player:
            drop_pending(state, at)
        else:
            at += 1


@rule
def start_pending(state, at):
    """Add a triggered effect to the chain."""
    state.adding = state.pending[at].link
    drop_pending(state, at)
    count_use(state, state.adding)
    call(state, ADD_CHAIN)


@rule
def ask_fast(state, skip_free, player, passed):
    frame = call(state, QUICK_EFFECT)
    frame.args[QUICK_SKIP_FREE] = skip_free
    frame.args[QUICK_PLAYER] = player
    frame.args[QUICK_PASSED] = passed


@rule
def quick_effect(state, frame):
    """Both players may respond in turn until both pass in succession."""
    if frame.step == ASK_QUICK:
        frame.step = QUICK_ANSWERED
        clear_options(state)
        offer_fast(state, frame.args[QUICK_PLAYER], frame.args[QUICK_SKIP_FREE] == 0, True)
        if state.option_count:
            offer(state, PASSES, 0, 0, 0, 0)
            ask(state, CHAIN, frame.args[QUICK_PLAYER], 1, 1, 0)
            return
        state.answer = 0
    chosen = state.options[state.answer]
    player = frame.args[QUICK_PLAYER]
    frame.step = ASK_QUICK
    if state.option_count and chosen.kind == ACTIVATES:
        start_link(state, chosen.card, chosen.effect, chosen.value, player)
        frame.args[QUICK_SKIP_FREE] = 0
        frame.args[QUICK_PLAYER] = 1 - player
        frame.args[QUICK_PASSED] = 0
        call(state, ADD_CHAIN)
        return
    if frame.args[QUICK_PASSED]:
        done(state)
        return
    frame.args[QUICK_PLAYER] = 1 - player
    frame.args[QUICK_PASSED] = 1


@rule
def start_link(state, c, number, event, player):
    """Prepare an effect to be added to the chain, in response to an event (-1 for none)."""
    try_link(state, number, c, player)
    set_event(state, event)
    state.adding = state.trial
    count_use(state, state.adding)


@rule
def set_event(state, event):
    """Set the event of the trial link: events of the window are numbered from 0, the latest ones from 100."""
    no_event(state.trial)
    if event >= 100:
        state.trial.event = state.instant[event - 100]
    elif event >= 0:
        state.trial.event = state.point[event]


@rule
def offer_fast(state, player, free, events):
    """Offer the fast effects of a player's hand and field; `free` and `events` choose which ones."""
    wanted = event_bits(state) if events else 0
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
def event_bits(state):
    """The bits of all events of the window and of the latest ones."""
    found = 0
    for k in range(state.point_count):
        found |= state.point[k].code
    for k in range(state.instant_count):
        found |= state.instant[k].code
    return found


@rule
def offer_fast_of(state, c, player, free, events, wanted):
    """Offer the fast effects of one card; `wanted` are bits of events, by which most cards are skipped."""
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
    frame.args[SKIP_TRIGGERS] = skip_triggers
    frame.args[SKIP_FREE] = skip_free
    frame.args[SKIP_NEW] = skip_new
