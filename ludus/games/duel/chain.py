"""The chain: how a card or effect is activated, and how links resolve, the last one first."""

from ludus.games.duel.activation import give_back
from ludus.games.duel.events import miss, note
from ludus.games.duel.frames import CHOOSE_TARGETS, OPERATE, PAY_COST, ask, call, clear_options, done, offer
from ludus.games.duel.moving import destroy, put_in, send
from ludus.games.duel.randomness import shuffle_hand, shuffle_if_due
from ludus.games.duel.settling import check_end, settle
from ludus.games.duel.state import (
    BY_EFFECT, BY_RULE, DAMAGE_STEP, ENABLED, FELLED, FIELD_ZONE, LEAVING, LINK_ACTIVATION, LINK_DISABLED,
    LINK_FROM_HAND, LINK_NEGATED, LINK_OF_CARD, NOBODY, PLACE, PLACES, SET_NOW, TARGETED_NOW,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    ACTIVATE, CHAINING, CONTINUOUS, DIES_WHEN_TARGETED, EQUIP, FIELD, GRAVE, HAND, MZONE, STAYS_ON_FIELD, SZONE,
    TRAP, UP,
)  # fmt: skip
from ludus.games.duel.values import has, negated, traps_negated
from ludus.games.duel.windows import open_window
from ludus.games.duel.zones import free_spell_zones, move, new_stamp
from ludus.words import rule


@rule
def is_same(state, link):
    """Whether a link's card is still the one that was activated."""
    return state.cards[link.card].stamp == link.stamp


@rule
def offer_places(state, player, place, zones):
    """Zones of the player's own field, as options."""
    clear_options(state)
    for zone in range(7):
        if zones >> zone & 1:
            offer(state, PLACES, player, place, zone, 0)


@rule
def ask_place(state, asked, player, place, zones):
    offer_places(state, player, place, zones)
    ask(state, PLACE, asked, 1, 1, 0)


@rule
def clear_field_zone(state, player):
    """A new field spell sends the old one away."""
    old = state.spells[player, FIELD_ZONE]
    if old == NOBODY:
        return False
    frame = send(state, GRAVE, BY_RULE, 2)
    put_in(frame, old)
    return True


@rule
def adding_chain(state, frame):
    """A card is shown, its effect announced, its cost paid, its targets chosen."""
    link = state.adding
    if frame.step == 0:
        c = link.card
        frame.step = 2
        if EFFECTS[link.effect].kind == ACTIVATE:
            card = state.cards[c]
            player = card.controller
            if card.place == HAND:
                frame.step = 1
                if CARDS[card.code].types & FIELD:
                    clear_field_zone(state, player)
                    return
                ask_place(state, player, player, SZONE, free_spell_zones(state, player))
                return
            card.was_position = card.position
            card.position = UP
            card.status &= ~(SET_NOW | ENABLED)
    if frame.step == 1:
        c = link.card
        card = state.cards[c]
        zone = FIELD_ZONE if CARDS[card.code].types & FIELD else state.options[state.answer].value
        card.reason = 0
        move(state, c, card.controller, SZONE, zone, UP)
        card.status &= ~ENABLED
        frame.step = 2
    if frame.step == 2:
        begin_link(state)
        frame.step = 3
        call(state, PAY_COST)
        return
    if frame.step == 3:
        if state.shuffle[0] or state.shuffle[1]:
            shuffle_if_due(state, 0)
        frame.step = 4
        call(state, CHOOSE_TARGETS)
        return
    if frame.step == 4:
        if state.shuffle[0] or state.shuffle[1]:
            shuffle_if_due(state, 0)
        frame.step = 5
        miss(state)
        if check_end(state):
            return
        announce(state)
        settle(state)
        return
    done(state)


@rule
def begin_link(state):
    """The link stands on the chain."""
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
def announce(state):
    """The link is complete: it can be answered now."""
    link = state.chain[state.links - 1]
    c = link.card
    card = state.cards[c]
    types = CARDS[card.code].types
    lasting = types & (CONTINUOUS | FIELD | EQUIP) != 0
    if link.flags & LINK_ACTIVATION and not lasting and CARDS[card.code].traits & STAYS_ON_FIELD == 0:
        card.status |= LEAVING
    if lasting and card.place == SZONE and is_same(state, link):
        link.flags |= LINK_OF_CARD
    for k in range(link.count):
        if has(state, link.targets[k], DIES_WHEN_TARGETED):
            state.cards[link.targets[k]].status |= TARGETED_NOW
    note(state, CHAINING, c, link.player)


@rule
def is_disabled(state, link):
    """Whether a link's effect was negated, or its card is."""
    if link.flags & LINK_DISABLED:
        return True
    if link.place == SZONE and CARDS[link.code].types & TRAP and traps_negated(state, link.card):
        return True
    return is_same(state, link) and negated(state, link.card)


@rule
def solving_chain(state, frame):
    """Links resolve from the last to the first; then cards that are used up leave, and a new window opens."""
    if frame.step == 0:
        if state.links == 0:
            done(state)
            return
        link = state.chain[state.links - 1]
        if link.flags & LINK_NEGATED:
            give_back(state, link)
            frame.step = 3
        else:
            miss(state)
            if check_end(state):
                return
            state.solving = 1
            frame.step = 2
            if link.flags & LINK_OF_CARD and not is_same(state, link):
                frame.step = 2
            else:
                card = state.cards[link.card]
                if link.flags & LINK_ACTIVATION and is_same(state, link):
                    card.status |= ENABLED
                    card.enabled_at = new_stamp(state)
                if not is_disabled(state, link):
                    call(state, OPERATE)
                    return
    if frame.step == 2:
        frame.step = 7
        if fell_targets(state):
            return
    if frame.step == 7:
        state.solving = 0
        if state.shuffle[0] or state.shuffle[1]:
            shuffle_if_due(state, 0)
        frame.step = 3
    if frame.step == 3:
        close_link(state)
        frame.step = 0 if state.links else 4
        settle(state)
        return
    if frame.step == 4:
        frame.step = 5
        if bury_used(state):
            return
    if frame.step == 5:
        state.point_count = 0
        frame.step = 6
        settle(state)
        return
    skip_triggers = frame.args[0]
    skip_free = frame.args[1]
    skip_new = frame.args[2]
    done(state)
    if not (skip_triggers and skip_free and skip_new):
        open_window(state, skip_triggers, skip_free, skip_new)
    state.result = 1


@rule
def fell_targets(state):
    """Monsters that do not bear to be targeted are destroyed once the effect has resolved; in battle they wait."""
    link = state.chain[state.links - 1]
    frame = destroy(state, BY_EFFECT, 2)
    for k in range(link.count):
        c = link.targets[k]
        card = state.cards[c]
        if card.stamp == link.stamps[k] and card.place == MZONE and card.status & TARGETED_NOW:
            card.status &= ~TARGETED_NOW
            if not has(state, c, DIES_WHEN_TARGETED):
                continue
            if state.phase == DAMAGE_STEP and not state.calculated:
                card.status |= FELLED
            else:
                put_in(frame, c)
    if frame.count == 0:
        done(state)
        return False
    return True


@rule
def close_link(state):
    """The link is over."""
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
    """Spells and traps that do not stay go to the graveyard together."""
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
