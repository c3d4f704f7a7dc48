"""Moving, destroying and turning cards, with the consequences of each."""

from ludus.games.duel.events import raise_event
from ludus.games.duel.frames import ask_cards, ask_effect, done, sort_by_birth
from ludus.games.duel.leaving import next_victim
from ludus.games.duel.processes import (
    DESTROY_AT, DESTROY_PLAYER, DESTROY_REASON, DESTROY_TO, NEW_POSITION, SEND_PLACE, SEND_PLAYER, SEND_POSITION,
    SEND_REASON, destroy, put_in, send,
)  # fmt: skip
from ludus.games.duel.state import (
    ACTIVATION_NEGATED, BY_BATTLE, BY_DESTRUCTION, BY_DRAW, BY_EFFECT, BY_REPLACEMENT, BY_RULE, DECK_PILE, ENABLED,
    LOST_TARGET, NOBODY, SHOWN_NOW, SUMMON_NEGATED,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    CHANGED_POSITION, CONTROLS_EQUIPPED, DECK, DESTROYED, DOWN, EXTRA, EXTRA_DECK, FLIPPED, GRAVE, HAND, LINK, MZONE,
    SHIELDED_BY_MATERIAL, TOKEN, TO_GRAVE, UP,
)  # fmt: skip
from ludus.games.duel.values import attack, has, works
from ludus.games.duel.zones import is_up, move, new_stamp, sort_cards, unbind
from ludus.dsl import rule

USE_REPLACEMENT = 96
"""line of text of the game itself: use the effect instead?"""

MOVE_CARDS, DESTROY_DEPENDENTS, LOSE_EQUIPS, LOSE_MATERIALS, END_SEND = range(5)
"""the steps of SEND"""

# fmt: off
(SORT_DESTROYED, OFFER_REPLACEMENT, REPLACEMENT_ANSWERED, SEND_DESTROYED, END_DESTROY, MATERIAL_CHOSEN) = range(6)
# fmt: on
"""the steps of DESTROY"""
PAYING = 5
"""argument slot of DESTROY and of the damage step: the monster that detaches a material instead of being destroyed"""

TURN_CARDS, END_CHANGE = range(2)
"""the steps of CHANGE_POSITION"""


@rule
def sending(state, frame):
    """Send cards together: all move, then events are raised, then their equip cards and materials leave."""
    if frame.step == MOVE_CARDS:
        sort_cards(state, frame.cards, frame.count)
        for k in range(frame.count):
            note_values(state, frame.cards[k])
        for k in range(frame.count):
            leave(
                state,
                frame.cards[k],
                frame.args[SEND_PLACE],
                frame.args[SEND_REASON],
                frame.args[SEND_PLAYER],
                frame.args[SEND_POSITION],
            )
        sort_by_birth(state, frame)
        frame.step = DESTROY_DEPENDENTS
    if frame.step == DESTROY_DEPENDENTS:
        c = next_victim(state, frame)
        if c != NOBODY:
            put_in(destroy(state, BY_EFFECT, state.cards[c].controller), c)
            return
        frame.step = LOSE_EQUIPS
    if frame.step == LOSE_EQUIPS:
        frame.step = LOSE_MATERIALS
        raise_move_events(state, frame)
        if lose_equips(state, frame):
            return
    if frame.step == LOSE_MATERIALS:
        frame.step = END_SEND
        if lose_materials(state, frame):
            return
    state.result = frame.count
    done(state)


@rule
def note_values(state, c):
    """Record a card's values before any card of the group moves."""
    card = state.cards[c]
    card.lasting = 1 if card.status & ENABLED and works(state, c) else 0
    if card.place == MZONE:
        card.was_attack = attack(state, c) if is_up(state, c) else 0


@rule
def leave(state, c, place, reason, player, position):
    """Move one card; an extra deck monster goes to the extra deck instead of hand or deck."""
    card = state.cards[c]
    row = CARDS[card.code]
    if card.place == 0:
        return
    card.reason = reason
    card.reason_player = player
    if row.types & EXTRA_DECK and (place == HAND or place == DECK):
        place = EXTRA
    if place == DECK or place == EXTRA or place == HAND:
        position = DOWN
    unseen = card.status & (SUMMON_NEGATED | ACTIVATION_NEGATED)
    in_force = card.lasting
    move(state, c, card.owner, place, -1, position)
    card.lasting = in_force
    if unseen:
        card.was_place = 0


@rule
def raise_move_events(state, frame):
    """Raise the events of the moved cards."""
    for k in range(frame.count):
        c = frame.cards[k]
        card = state.cards[c]
        if card.place == GRAVE:
            raise_event(state, TO_GRAVE, c, card.reason_player)
        if card.reason & BY_DESTRUCTION and card.reason & BY_BATTLE == 0:
            raise_event(state, DESTROYED, c, card.reason_player)


@rule
def lose_equips(state, frame):
    """Destroy the equip cards of monsters that have left; whether there are any."""
    lost = destroy(state, BY_RULE | LOST_TARGET, 2)
    for k in range(frame.count):
        c = frame.cards[k]
        state.cards[c].equipped_to = NOBODY
        for player in range(2):
            for zone in range(5):
                e = state.spells[player, zone]
                if e != NOBODY and state.cards[e].equipped_to == c:
                    state.cards[e].equipped_to = NOBODY
                    put_in(lost, e)
    if lost.count == 0:
        done(state)
        return False
    return True


@rule
def lose_materials(state, frame):
    """Send the materials of Xyz monsters that have left to the graveyard; whether there are any."""
    lost = send(state, GRAVE, BY_RULE | LOST_TARGET, 2)
    for k in range(frame.count):
        card = state.cards[frame.cards[k]]
        for at in range(card.overlays):
            put_in(lost, card.overlay[at])
    if lost.count == 0:
        done(state)
        return False
    return True


@rule
def destroying(state, frame):
    """Destroy cards together; replacement effects are offered first, in the order of card numbers."""
    if frame.step == SORT_DESTROYED:
        sort_by_birth(state, frame)
        frame.args[DESTROY_AT] = 0
        frame.step = OFFER_REPLACEMENT
    while frame.step == OFFER_REPLACEMENT or frame.step == REPLACEMENT_ANSWERED or frame.step == MATERIAL_CHOSEN:
        if frame.step == REPLACEMENT_ANSWERED:
            if ask_material(state, frame):
                frame.step = MATERIAL_CHOSEN
                return
            frame.step = OFFER_REPLACEMENT
        elif frame.step == MATERIAL_CHOSEN:
            frame.step = OFFER_REPLACEMENT
            give_material(state, frame)
            return
        if frame.args[DESTROY_AT] >= frame.count:
            frame.step = SEND_DESTROYED
        else:
            c = frame.cards[frame.args[DESTROY_AT]]
            if can_replace(state, c, frame.args[DESTROY_REASON]):
                frame.step = REPLACEMENT_ANSWERED
                ask_effect(state, state.cards[c].controller, c, USE_REPLACEMENT)
                return
            frame.args[DESTROY_AT] += 1
    if frame.step == SEND_DESTROYED:
        frame.step = END_DESTROY
        if frame.count == 0:
            state.result = 0
            done(state)
            return
        sent = send(state, GRAVE, frame.args[DESTROY_REASON] | BY_DESTRUCTION, frame.args[DESTROY_PLAYER])
        for k in range(frame.count):
            put_in(sent, frame.cards[k])
        if frame.args[DESTROY_TO]:
            sent.args[SEND_PLACE] = frame.args[DESTROY_TO]
        return
    state.result = frame.count
    done(state)


@rule
def can_replace(state, c, reason):
    """Whether a monster can detach a material instead of being destroyed."""
    card = state.cards[c]
    return (
        card.place == MZONE
        and card.overlays > 0
        and reason & (BY_EFFECT | BY_BATTLE)
        and has(state, c, SHIELDED_BY_MATERIAL)
    )


@rule
def ask_material(state, frame):
    """After the answer yes, ask which material is detached; whether it was yes."""
    at = frame.args[DESTROY_AT]
    if state.answer == 0:
        frame.args[DESTROY_AT] += 1
        return False
    c = frame.cards[at]
    frame.args[PAYING] = c
    frame.count -= 1
    for k in range(at, frame.count):
        frame.cards[k] = frame.cards[k + 1]
    ask_which_material(state, c)
    return True


@rule
def ask_which_material(state, c):
    card = state.cards[c]
    pool = state.frames[state.depth]
    for k in range(card.overlays):
        pool.cards[k] = card.overlay[k]
    ask_cards(state, card.controller, pool.cards, card.overlays, 1, 1, 0)


@rule
def give_material(state, frame):
    put_in(send(state, GRAVE, BY_EFFECT | BY_REPLACEMENT, state.cards[frame.args[PAYING]].controller), state.picked[0])


@rule
def changing_position(state, frame):
    """Change the position of cards together; cards turned face-down lose their equip cards."""
    if frame.step == TURN_CARDS:
        frame.step = END_CHANGE
        for k in range(frame.count):
            turn_one(state, frame.cards[k], frame.args[NEW_POSITION])
        for k in range(frame.count):
            raise_position_events(state, frame.cards[k])
        if frame.args[NEW_POSITION] & DOWN and lose_equips(state, frame):
            return
    state.result = frame.count
    done(state)


@rule
def turn_one(state, c, position):
    card = state.cards[c]
    card.was_position = card.position
    if card.place == MZONE and (CARDS[card.code].types & LINK or (position & DOWN and CARDS[card.code].types & TOKEN)):
        return
    card.position = position
    if card.was_position & UP and position & DOWN:
        cover(state, c)
    elif card.was_position & DOWN and position & UP and card.place == MZONE:
        uncover(state, c)


@rule
def cover(state, c):
    """Reset a card that was turned face-down; control by an equip card becomes permanent."""
    card = state.cards[c]
    for zone in range(5):
        e = state.spells[card.controller, zone]
        if e != NOBODY and state.cards[e].equipped_to == c and CARDS[state.cards[e].code].traits & CONTROLS_EQUIPPED:
            card.control = card.controller
            card.control_order = new_stamp(state)
    unbind(state, c)
    card.counters = 0
    card.attack_up = 0
    card.defense_up = 0
    card.swapped = 0
    card.negated = 0
    card.resting = 0
    card.used = 0
    card.bound_to = NOBODY


@rule
def uncover(state, c):
    card = state.cards[c]
    card.status |= ENABLED | SHOWN_NOW
    card.enabled_at = new_stamp(state)


@rule
def raise_position_events(state, c):
    card = state.cards[c]
    if card.place != MZONE or card.position == card.was_position:
        return
    if card.was_position & DOWN and card.position & UP:
        raise_event(state, FLIPPED, c, card.controller)
    raise_event(state, CHANGED_POSITION, c, card.controller)


@rule
def draw(state, player, count, reason):
    """Draw cards; how many were drawn. A player whose deck is empty loses."""
    drawn = 0
    for _ in range(count):
        size = state.sizes[player, DECK_PILE]
        if size == 0:
            state.overdrawn[player] = 1
            break
        c = state.piles[player, DECK_PILE, size - 1]
        state.cards[c].reason = reason | BY_DRAW
        state.cards[c].reason_player = player
        move(state, c, player, HAND, -1, DOWN)
        drawn += 1
    return drawn


@rule
def hurt(state, player, amount):
    """Reduce a player's life points."""
    state.life[player] -= amount


@rule
def heal(state, player, amount):
    state.life[player] += amount
