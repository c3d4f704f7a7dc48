"""Cards leave, are destroyed, return, change position: each with all that follows from it."""

from ludus.games.duel.events import tell
from ludus.games.duel.frames import CHANGE_POSITION, DESTROY, SEND, ask_cards, ask_effect, call, done
from ludus.games.duel.state import (
    ACTIVATION_NEGATED, BY_BATTLE, BY_DESTRUCTION, BY_DRAW, BY_EFFECT, BY_REPLACEMENT, BY_RULE, DECK_PILE,
    ENABLED, LOST_TARGET, MOST_IN_FRAME, NOBODY, SHOWN_NOW, SUMMON_NEGATED,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, ROW_OF
from ludus.games.duel.tables.words import (
    BOUND_TO_MONSTER, CHANGED_POSITION, CONTROLS_EQUIPPED, DECK, DESTROYED, DESTROYS_EQUIPPED, DOWN, EXTRA,
    EXTRA_DECK, FLIPPED, GRAVE, HAND, IS_TOON, LINK, MZONE, ON_FIELD, SHIELDED_BY_MATERIAL, TOKEN, TO_GRAVE, UP,
)  # fmt: skip
from ludus.games.duel.values import attack, has, works
from ludus.games.duel.zones import is_up, move, new_stamp, sort_cards, unbind
from ludus.words import rule

TOON_WORLD = ROW_OF[15259703]
USE_REPLACEMENT = 96
"""the game's own line: use the effect instead?"""


@rule
def send(state, place, reason, player):
    """Begin to send cards somewhere; the caller adds them to the frame."""
    frame = call(state, SEND)
    frame.args[0] = place
    frame.args[1] = reason
    frame.args[2] = player
    frame.args[3] = UP
    return frame


@rule
def destroy(state, reason, player):
    """Begin to destroy cards; the caller adds them to the frame."""
    frame = call(state, DESTROY)
    frame.args[0] = reason
    frame.args[1] = player
    return frame


@rule
def put_in(frame, c):
    """One more card for a frame."""
    if frame.count < MOST_IN_FRAME:
        frame.cards[frame.count] = c
        frame.count += 1


@rule
def sending(state, frame):
    """Cards go somewhere together: first all move, then it is told, then what hung on them follows."""
    if frame.step == 0:
        sort_cards(state, frame.cards, frame.count)
        for k in range(frame.count):
            leave(state, frame.cards[k], frame.args[0], frame.args[1], frame.args[2], frame.args[3])
        frame.step = 1
        frame.args[4] = 0
    if frame.step == 1:
        while frame.args[4] < frame.count:
            c = frame.cards[frame.args[4]]
            frame.args[4] += 1
            if follow(state, c):
                return
        frame.step = 2
    if frame.step == 2:
        frame.step = 3
        tell_moves(state, frame)
        if lose_equips(state, frame):
            return
    if frame.step == 3:
        frame.step = 4
        if lose_materials(state, frame):
            return
    state.result = frame.count
    done(state)


@rule
def leave(state, c, place, reason, player, position):
    """One card moves; a monster of the extra deck goes back there instead of to hand or deck."""
    card = state.cards[c]
    row = CARDS[card.code]
    if card.place == 0:
        return
    if card.place == MZONE:
        card.was_attack = attack(state, c) if is_up(state, c) else 0
    card.reason = reason
    card.reason_player = player
    if row.types & EXTRA_DECK and (place == HAND or place == DECK):
        place = EXTRA
    if place == DECK or place == EXTRA or place == HAND:
        position = DOWN
    unseen = card.status & (SUMMON_NEGATED | ACTIVATION_NEGATED)
    in_force = card.status & ENABLED and works(state, c)
    move(state, c, card.owner, place, -1, position)
    card.lasting = 1 if in_force else 0
    if unseen:
        card.was_place = 0


@rule
def follow(state, c):
    """What a card that has left takes along at once: whether something is destroyed now."""
    card = state.cards[c]
    row = CARDS[card.code]
    if card.was_place & ON_FIELD == 0:
        return False
    if row.traits & DESTROYS_EQUIPPED and card.equipped_to and card.reason & BY_DESTRUCTION:
        target = card.equipped_to
        card.equipped_to = NOBODY
        if state.cards[target].place == MZONE:
            frame = destroy(state, BY_EFFECT, card.was_controller)
            put_in(frame, target)
            return True
    if row.traits & BOUND_TO_MONSTER:
        return follow_bound(state, c, card.lasting != 0)
    if card.code == TOON_WORLD and card.reason & BY_DESTRUCTION and card.was_position & UP:
        return fell_toons(state)
    return bury_bindings(state, c)


@rule
def follow_bound(state, c, in_force):
    """The trap that called a monster back has left: so must the monster, unless the trap was negated."""
    for player in range(2):
        for zone in range(7):
            m = state.monsters[player, zone]
            if m != NOBODY and state.cards[m].bound_to == c:
                state.cards[m].bound_to = NOBODY
                if not in_force:
                    return False
                frame = destroy(state, BY_EFFECT, state.cards[c].was_controller)
                put_in(frame, m)
                return True
    return False


@rule
def bury_bindings(state, c):
    """A monster that a trap had called back has left: if it was destroyed, so is the trap."""
    for player in range(2):
        for zone in range(5):
            e = state.spells[player, zone]
            if e != NOBODY and state.cards[e].bound_to == c:
                state.cards[e].bound_to = NOBODY
                if state.cards[c].reason & BY_DESTRUCTION and has(state, e, BOUND_TO_MONSTER):
                    put_in(destroy(state, BY_EFFECT, player), e)
                    return True
    return False


@rule
def fell_toons(state):
    """Toon monsters do not outlive Toon World."""
    frame = destroy(state, BY_EFFECT, state.turn_player)
    for player in range(2):
        for zone in range(7):
            m = state.monsters[player, zone]
            if m != NOBODY and has(state, m, IS_TOON):
                put_in(frame, m)
    if frame.count == 0:
        done(state)
        return False
    return True


@rule
def tell_moves(state, frame):
    """What became of each card, for effects that it triggers."""
    for k in range(frame.count):
        c = frame.cards[k]
        card = state.cards[c]
        if card.place == GRAVE:
            tell(state, TO_GRAVE, c, card.reason_player)
        if card.reason & BY_DESTRUCTION and card.reason & BY_BATTLE == 0:
            tell(state, DESTROYED, c, card.reason_player)


@rule
def lose_equips(state, frame):
    """Equip cards of monsters that have left are destroyed."""
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
    """Materials of Xyz monsters that have left go to the graveyard."""
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
    """Cards are destroyed together; some can have something else happen instead."""
    if frame.step == 0:
        sort_cards(state, frame.cards, frame.count)
        frame.args[2] = 0
        frame.step = 1
    while frame.step == 1 or frame.step == 2 or frame.step == 5:
        if frame.step == 2:
            if ask_material(state, frame):
                frame.step = 5
                return
            frame.step = 1
        elif frame.step == 5:
            frame.step = 1
            give_material(state, frame)
            return
        if frame.args[2] >= frame.count:
            frame.step = 3
        else:
            c = frame.cards[frame.args[2]]
            if can_replace(state, c, frame.args[0]):
                frame.step = 2
                ask_effect(state, state.cards[c].controller, c, USE_REPLACEMENT)
                return
            frame.args[2] += 1
    if frame.step == 3:
        frame.step = 4
        if frame.count == 0:
            state.result = 0
            done(state)
            return
        sent = send(state, GRAVE, frame.args[0] | BY_DESTRUCTION, frame.args[1])
        for k in range(frame.count):
            put_in(sent, frame.cards[k])
        if frame.args[3]:
            sent.args[0] = frame.args[3]
        return
    state.result = frame.count
    done(state)


@rule
def can_replace(state, c, reason):
    """Whether a monster could give up a material instead."""
    card = state.cards[c]
    return (
        card.place == MZONE
        and card.overlays > 0
        and reason & (BY_EFFECT | BY_BATTLE)
        and has(state, c, SHIELDED_BY_MATERIAL)
    )


@rule
def ask_material(state, frame):
    """The answer: if the monster is to be spared, which of its materials goes?"""
    at = frame.args[2]
    if state.answer == 0:
        frame.args[2] += 1
        return False
    c = frame.cards[at]
    frame.args[5] = c
    frame.count -= 1
    for k in range(at, frame.count):
        frame.cards[k] = frame.cards[k + 1]
    card = state.cards[c]
    pool = state.frames[state.depth]
    for k in range(card.overlays):
        pool.cards[k] = card.overlay[k]
    ask_cards(state, card.controller, pool.cards, card.overlays, 1, 1, 0)
    return True


@rule
def give_material(state, frame):
    put_in(send(state, GRAVE, BY_EFFECT | BY_REPLACEMENT, state.cards[frame.args[5]].controller), state.picked[0])


@rule
def change_position(state, c, position, player):
    """Begin to turn a card."""
    frame = call(state, CHANGE_POSITION)
    frame.args[0] = position
    frame.args[1] = player
    put_in(frame, c)
    return frame


@rule
def changing_position(state, frame):
    """Cards are turned together; face-down ones lose what hung on them."""
    if frame.step == 0:
        frame.step = 1
        for k in range(frame.count):
            turn_one(state, frame.cards[k], frame.args[0])
        for k in range(frame.count):
            tell_turn(state, frame.cards[k])
        if frame.args[0] & DOWN and lose_equips(state, frame):
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
    """A card turned face-down loses what it had gathered; who has it by an equip card keeps it."""
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
def tell_turn(state, c):
    card = state.cards[c]
    if card.place != MZONE or card.position == card.was_position:
        return
    if card.was_position & DOWN and card.position & UP:
        tell(state, FLIPPED, c, card.controller)
    tell(state, CHANGED_POSITION, c, card.controller)


@rule
def draw(state, player, count, reason):
    """Draw cards; whoever cannot has lost."""
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
    """Life points are lost, by battle or an effect."""
    state.life[player] -= amount


@rule
def heal(state, player, amount):
    state.life[player] += amount
