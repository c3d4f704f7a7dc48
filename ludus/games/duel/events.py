"""Events: they trigger effects, and those that can be responded to are kept for the next window."""

from ludus.games.duel.conditions import holds
from ludus.games.duel.state import HELD, MOST_EVENTS, MOST_EVENT_CARDS, MOST_PENDING, NOBODY, READY
from ludus.games.duel.tables import CARDS, EFFECTS, TRIGGERS
from ludus.games.duel.tables.words import (
    ATTACK, CHAINING, FLIPPED, FLIP_SUMMON, FLIP_SUMMONED, MAY_TRIGGER, PRE_CALCULATION, SPSUMMON, SPSUMMONED, SUMMON,
    SUMMONED, TRIGGER,
)  # fmt: skip
from ludus.games.duel.zones import is_up
from ludus.dsl import rule

ANSWERABLE = (
    SUMMON | FLIP_SUMMON | SPSUMMON | SUMMONED | FLIP_SUMMONED | SPSUMMONED | ATTACK | CHAINING | PRE_CALCULATION
)
"""events to which cards and effects can be activated"""


@rule
def raise_event(state, event, c, player):
    """Raise an event of one card: keep it for responses, and trigger the card's own effects."""
    if event & ANSWERABLE:
        note(state, event, c, player)
    trigger_own(state, event, c, NOBODY, player)


@rule
def note(state, event, c, player):
    """Keep an event for responses."""
    if state.instant_count < MOST_EVENTS:
        kept = state.instant[state.instant_count]
        kept.code = event
        kept.player = player
        kept.count = 0
        if c != NOBODY:
            kept.cards[0] = c
            kept.count = 1
        state.instant_count += 1


@rule
def note_more(state, c):
    """Add a card to the event that was kept last."""
    kept = state.instant[state.instant_count - 1]
    if kept.count < MOST_EVENT_CARDS:
        kept.cards[kept.count] = c
        kept.count += 1


@rule
def trigger_own(state, event, c, other, player):
    """Trigger the effects of a card that respond to an event of its own."""
    if c == NOBODY or TRIGGERS[state.codes[c]] & event == 0:
        return
    row = CARDS[state.codes[c]]
    for number in range(row.first, row.first + row.count):
        effect = EFFECTS[number]
        if (effect.kind == TRIGGER or effect.kind == MAY_TRIGGER) and effect.on & event:
            trigger(state, number, event, c, other, player)


@rule
def trigger(state, number, event, c, other, player):
    """Add an effect to the pending ones if its condition holds."""
    if state.pending_count >= MOST_PENDING:
        return
    effect = EFFECTS[number]
    card = state.cards[c]
    pending = state.pending[state.pending_count]
    link = pending.link
    link.card = c
    link.code = card.code
    link.effect = number
    link.player = card.controller
    link.controller = card.controller
    link.place = card.place
    link.sequence = card.sequence
    link.stamp = card.stamp
    link.flags = 0
    link.count = 0
    link.value = 0
    link.extra = 0
    link.event.code = event
    link.event.player = player
    link.event.count = 0
    if other != NOBODY:
        link.event.cards[0] = other
        link.event.count = 1
    pending.mandatory = effect.kind == TRIGGER
    pending.ready = HELD if state.holding_flips and event == FLIPPED else READY
    if holds(state, link):
        state.pending_count += 1


@rule
def trigger_on_attack(state):
    """Trigger effects of monsters that respond to any attack."""
    for k in range(2):
        player = state.turn_player if k == 0 else 1 - state.turn_player
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY and is_up(state, c) and c != state.attacker:
                trigger_own(state, ATTACK, c, NOBODY, state.turn_player)


@rule
def drop_pending(state, at):
    """Remove a pending effect."""
    state.pending_count -= 1
    for k in range(at, state.pending_count):
        state.pending[k] = state.pending[k + 1]


@rule
def miss(state):
    """Optional effects miss their timing unless they wait, and earlier events can no longer be responded to."""
    at = 0
    while at < state.pending_count:
        pending = state.pending[at]
        if pending.mandatory == 0 and pending.ready == READY and EFFECTS[pending.link.effect].waits == 0:
            drop_pending(state, at)
        else:
            at += 1
    state.instant_count = 0
