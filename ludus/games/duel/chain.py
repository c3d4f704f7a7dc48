"""The chain: activating cards and effects, and resolving the links from the last to the first."""

from ludus.games.duel.activation import give_back
from ludus.games.duel.adjustment import break_effect, settle
from ludus.games.duel.cards import spirit_reaper
from ludus.games.duel.cards.trap_negation import hold_decrees, traps_negated
from ludus.games.duel.events import note
from ludus.games.duel.frames import CHOOSE_TARGETS, OPERATE, PAY_COST, ask, call, clear_options, done, offer
from ludus.games.duel.operations_targets import is_same
from ludus.games.duel.processes import put_in, send
from ludus.games.duel.randomness import shuffle_hand, shuffle_if_due
from ludus.games.duel.state import (
    BY_RULE, ENABLED, FIELD_ZONE, FREED_NOW, LEAVING, LINK_ACTIVATION, LINK_DISABLED, LINK_FROM_HAND, LINK_NEGATED,
    LINK_OF_CARD, NOBODY, PLACE, PLACES, SET_NOW,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    ACTIVATE, CHAINING, CONTINUOUS, EQUIP, FIELD, GRAVE, HAND, STAYS_ON_FIELD, SZONE, TRAP, UP,
)  # fmt: skip
from ludus.games.duel.values import is_effectless
from ludus.games.duel.windows import SKIP_FREE, SKIP_NEW, SKIP_TRIGGERS, open_window
from ludus.games.duel.zones import free_spell_zones, move, new_stamp
from ludus.dsl import rule

SHOW_CARD, PLACE_CARD, BEGIN_LINK, TARGET_LINK, ANNOUNCE_LINK, END_ADDING = range(6)
"""the steps of ADD_CHAIN"""
RESOLVE_LINK = 0
# fmt: off
(DESTROY_TARGETED, CLOSE_LINK, BURY_USED, SETTLE_CHAIN, OPEN_NEXT_WINDOW, END_RESOLVING) = range(2, 8)
# fmt: on
"""the steps of SOLVE_CHAIN; END_RESOLVING comes before CLOSE_LINK"""


@rule
def offer_places(state, player, place, zones):
    """Offer zones of a player's field."""
    clear_options(state)
    for zone in range(7):
        if zones >> zone & 1:
            offer(state, PLACES, player, place, zone, 0)


@rule
def ask_place(state, chooser, player, place, zones):
    offer_places(state, player, place, zones)
    ask(state, PLACE, chooser, 1, 1, 0)


@rule
def clear_field_zone(state, player):
    """Send the old field spell to the graveyard; whether there is one."""
    old = state.spells[player, FIELD_ZONE]
    if old == NOBODY:
        return False
    frame = send(state, GRAVE, BY_RULE, 2)
    put_in(frame, old)
    return True


@rule
def adding_chain(state, frame):
    """Activate an effect: show the card, pay the cost, choose targets, announce the link."""
    link = state.adding
    if frame.step == SHOW_CARD:
        c = link.card
        frame.step = BEGIN_LINK
        if EFFECTS[link.effect].kind == ACTIVATE:
            card = state.cards[c]
            player = card.controller
            if card.place == HAND:
                frame.step = PLACE_CARD
                if CARDS[card.code].types & FIELD:
                    clear_field_zone(state, player)
                    return
                ask_place(state, player, player, SZONE, free_spell_zones(state, player))
                return
            card.was_position = card.position
            card.position = UP
            card.status &= ~(SET_NOW | ENABLED)
    if frame.step == PLACE_CARD:
        c = link.card
        card = state.cards[c]
        zone = FIELD_ZONE if CARDS[card.code].types & FIELD else state.options[state.answer].value
        card.reason = 0
        move(state, c, card.controller, SZONE, zone, UP)
        card.status &= ~ENABLED
        frame.step = BEGIN_LINK
    if frame.step == BEGIN_LINK:
        begin_link(state)
        frame.step = TARGET_LINK
        call(state, PAY_COST)
        return
    if frame.step == TARGET_LINK:
        if state.shuffle[0] or state.shuffle[1]:
            shuffle_if_due(state, 0)
        frame.step = ANNOUNCE_LINK
        call(state, CHOOSE_TARGETS)
        return
    if frame.step == ANNOUNCE_LINK:
        if state.shuffle[0] or state.shuffle[1]:
            shuffle_if_due(state, 0)
        frame.step = END_ADDING
        if break_effect(state):
            return
        negate_lost(state)
        announce(state)
        settle(state)
        return
    done(state)


@rule
def begin_link(state):
    """Append the link to the chain."""
    link = state.adding
    card = state.cards[link.card]
    if EFFECTS[link.effect].kind == ACTIVATE:
        link.controller = card.controller
        link.place = card.place
        link.sequence = card.sequence
        link.stamp = card.stamp
        link.flags |= LINK_ACTIVATION
    if card.place == HAND:
        link.flags |= LINK_FROM_HAND
    state.chain[state.links] = link
    state.links += 1


@rule
def negate_lost(state):
    """Put the negations into effect that the battle has caused or ended."""
    hold_decrees(state, FREED_NOW, 0)
    for c in (state.attacker, state.attack_target):
        if c != NOBODY and state.cards[c].negated < 0:
            state.cards[c].negated = -state.cards[c].negated


@rule
def announce(state):
    """Announce the complete link: players may respond to it."""
    link = state.chain[state.links - 1]
    c = link.card
    card = state.cards[c]
    types = CARDS[card.code].types
    lasting = types & (CONTINUOUS | FIELD | EQUIP) != 0
    if link.flags & LINK_ACTIVATION and not lasting and CARDS[card.code].traits & STAYS_ON_FIELD == 0:
        card.status |= LEAVING
    if lasting and card.place == SZONE and is_same(state, link):
        link.flags |= LINK_OF_CARD
    spirit_reaper.mark_targeted(state, link)
    note(state, CHAINING, c, link.player)


@rule
def is_disabled(state, link):
    """Whether a link's effect or its card is negated."""
    if link.flags & LINK_DISABLED:
        return True
    if link.place == SZONE and CARDS[link.code].types & TRAP and traps_negated(state, link.card):
        return True
    return is_same(state, link) and is_effectless(state, link.card)


@rule
def solving_chain(state, frame):
    """Resolve the links from the last to the first, bury used cards, then open a new window."""
    if frame.step == RESOLVE_LINK:
        if state.links == 0:
            done(state)
            return
        link = state.chain[state.links - 1]
        if link.flags & LINK_NEGATED:
            give_back(state, link)
            frame.step = CLOSE_LINK
        else:
            if break_effect(state):
                return
            state.solving = 1
            frame.step = DESTROY_TARGETED
            if link.flags & LINK_OF_CARD and not is_same(state, link):
                frame.step = DESTROY_TARGETED
            else:
                card = state.cards[link.card]
                if link.flags & LINK_ACTIVATION and is_same(state, link):
                    card.status |= ENABLED
                    card.enabled_at = new_stamp(state)
                if not is_disabled(state, link):
                    call(state, OPERATE)
                    return
    if frame.step == DESTROY_TARGETED:
        frame.step = END_RESOLVING
        if spirit_reaper.destroy_marked(state):
            return
    if frame.step == END_RESOLVING:
        state.solving = 0
        if state.shuffle[0] or state.shuffle[1]:
            shuffle_if_due(state, 0)
        frame.step = CLOSE_LINK
    if frame.step == CLOSE_LINK:
        close_link(state)
        frame.step = RESOLVE_LINK if state.links else BURY_USED
        settle(state)
        return
    if frame.step == BURY_USED:
        frame.step = SETTLE_CHAIN
        if bury_used(state):
            return
    if frame.step == SETTLE_CHAIN:
        state.point_count = 0
        frame.step = OPEN_NEXT_WINDOW
        settle(state)
        return
    skip_triggers = frame.args[SKIP_TRIGGERS]
    skip_free = frame.args[SKIP_FREE]
    skip_new = frame.args[SKIP_NEW]
    done(state)
    if not (skip_triggers and skip_free and skip_new):
        open_window(state, skip_triggers, skip_free, skip_new)
    state.result = 1


@rule
def close_link(state):
    """Remove the link from the chain."""
    link = state.chain[state.links - 1]
    card = state.cards[link.card]
    if link.flags & LINK_FROM_HAND and card.place == HAND and is_same(state, link):
        shuffle_hand(state, card.controller)
    if (
        CARDS[card.code].types & EQUIP
        and link.flags & LINK_ACTIVATION
        and card.equipped_to == NOBODY
        and is_same(state, link)
    ):
        card.status |= LEAVING
    state.links -= 1


@rule
def bury_used(state):
    """Send used spells and traps to the graveyard together; whether there are any."""
    frame = send(state, GRAVE, BY_RULE, 2)
    for player in range(2):
        for zone in range(6):
            c = state.spells[player, zone]
            if c != NOBODY and state.cards[c].status & LEAVING:
                put_in(frame, c)
    if frame.count == 0:
        done(state)
        return False
    return True
