"""Summons by the rules: normal, set, flip, and spells and traps set; and what effects summon."""

from ludus.games.duel.chain import ask_place, clear_field_zone
from ludus.games.duel.events import miss, note, note_more, tell, trigger_own
from ludus.games.duel.frames import (
    SPECIAL_SUMMON, ask, ask_position, call, clear_options, done, offer, offer_unpicks, picks_from,
)  # fmt: skip
from ludus.games.duel.moving import put_in, send
from ludus.games.duel.settling import settle
from ludus.games.duel.state import (
    AS_MATERIAL, BEING_SUMMONED, BY_RELEASE, BY_SPSUMMON, BY_SUMMON, CANCELS, ENABLED, FIELD_ZONE, FLIPPED_NOW,
    NOBODY, NORMAL_SUMMONED, PICKS, PROPER, SET_NOW, SHOWN_NOW, SPECIAL_NOW, SUMMONED_NOW, TRIBUTE,
    TRIBUTE_SUMMONED, UNPICKS, UNSELECT,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    CHANGED_POSITION, DOWN, DOWN_DEFENSE, FIELD, FLIPPED, FLIP_SUMMON, FLIP_SUMMONED, GRAVE, LINK, MZONE,
    SPSUMMONED, SUMMON, SUMMONED, SZONE, UP, UP_ATTACK,
)  # fmt: skip
from ludus.games.duel.turn import is_tribute, tributes_needed
from ludus.games.duel.windows import open_window
from ludus.games.duel.zones import free_monster_zones, free_spell_zones, is_in, move, new_stamp, sort_cards, zones_for
from ludus.words import rule


@rule
def arrive(state, c):
    """A monster is in force on the field, under the control of whoever it came to."""
    card = state.cards[c]
    card.control = card.controller
    if card.position & UP:
        card.status |= ENABLED
        card.enabled_at = new_stamp(state)


@rule
def announce(state, c, summon, player):
    """A monster is being summoned: the moment to negate that."""
    card = state.cards[c]
    card.status = (card.status | BEING_SUMMONED) & ~ENABLED
    state.negating_summon = c
    note(state, summon, c, player)
    open_window(state, 1, 1, 1)


@rule
def was_negated(state, c):
    """Whether the summon that was announced came to nothing; then it is over."""
    card = state.cards[c]
    state.negating_summon = NOBODY
    if card.status & BEING_SUMMONED and card.place == MZONE:
        return False
    done(state)
    open_window(state, 0, 0, 0)
    return True


@rule
def normal_summoning(state, frame):
    """Tributes, a zone, the chance to negate, and the monster is there; or it is set."""
    c = frame.args[0]
    card = state.cards[c]
    player = state.turn_player
    if frame.step < 4 and not tributing(state, frame, player):
        return
    if frame.step == 4:
        miss(state)
        state.summons[player] += 1
        frame.step = 5
        ask_place(state, player, player, MZONE, free_monster_zones(state, player))
    elif frame.step == 5:
        place_monster(state, frame, c, player)
    elif frame.step == 7:
        if was_negated(state, c):
            return
        card.status = (card.status | SUMMONED_NOW | SHOWN_NOW | NORMAL_SUMMONED) & ~BEING_SUMMONED
        arrive(state, c)
        state.summoned_any[player] = 1
        tell(state, SUMMONED, c, player)
        frame.step = 10
        settle(state)
    else:
        done(state)
        open_window(state, 0, 0, 0)


@rule
def tributing(state, frame, player):
    """Tributes are chosen and go to the graveyard; whether the monster can follow at once."""
    if frame.step == 0:
        frame.args[1] = tributes_needed(state, frame.args[0])
        frame.step = 2
        if frame.args[1]:
            frame.step = 1
            ask_tributes(state, frame, player)
            return False
    if frame.step == 1 and not tributes_chosen(state, frame, player):
        return False
    if frame.step == 2:
        frame.step = 3
        if frame.count:
            sent = send(state, GRAVE, BY_RELEASE | BY_SUMMON | AS_MATERIAL, player)
            for k in range(frame.count):
                put_in(sent, frame.cards[k])
            return False
    frame.step = 4
    if frame.count:
        settle(state)
        return False
    return True


@rule
def place_monster(state, frame, c, player):
    """The monster lies in its zone: set, or announced."""
    card = state.cards[c]
    card.reason = BY_SUMMON
    card.reason_player = player
    zone = state.options[state.answer].value
    move(state, c, player, MZONE, zone, DOWN_DEFENSE if frame.args[2] else UP_ATTACK)
    card.control = player
    if frame.count:
        card.status |= TRIBUTE_SUMMONED
    if frame.args[2]:
        card.status = (card.status | SUMMONED_NOW | SET_NOW) & ~ENABLED
        frame.step = 10
        settle(state)
        return
    frame.step = 7
    announce(state, c, SUMMON, player)


@rule
def setting_monster(state, frame):
    frame.args[2] = 1
    normal_summoning(state, frame)


@rule
def ask_tributes(state, frame, player):
    """All at once where a zone is free; otherwise one by one, so that one becomes free."""
    clear_options(state)
    needed = frame.args[1]
    frame.count = 0
    free = free_monster_zones(state, player) != 0
    if free:
        offer_tributes(state, frame, player)
        for k in range(frame.count):
            offer(state, PICKS, frame.cards[k], 0, 1, 0)
        frame.count = 0
        ask(state, TRIBUTE, player, needed, needed, 1)
        frame.args[3] = 1
        return
    frame.args[3] = 0
    ask_next_tribute(state, frame, player, True)


@rule
def offer_tributes(state, frame, player):
    """Own monsters that may be tributed, into the frame's list."""
    for zone in range(7):
        c = state.monsters[player, zone]
        if is_tribute(state, c):
            put_in(frame, c)
    sort_cards(state, frame.cards, frame.count)


@rule
def ask_next_tribute(state, frame, player, for_normal_summon):
    """One more tribute; the last one must free a zone, if none is free and none of the others does."""
    clear_options(state)
    needed = frame.args[1] - frame.count
    frees = free_monster_zones(state, player) != 0
    for k in range(frame.count):
        if state.cards[frame.cards[k]].sequence < 5:
            frees = True
    for zone in range(7):
        c = state.monsters[player, zone]
        if c == NOBODY or (for_normal_summon and not is_tribute(state, c)) or is_in(frame.cards, frame.count, c):
            continue
        if frees or zone < 5 or needed > 1:
            offer(state, PICKS, c, 0, 0, 0)
    offer_unpicks(state, frame)
    if frame.count == 0:
        offer(state, CANCELS, 0, 0, 0, 0)
    ask(state, UNSELECT, player, 1, 1, frame.count == 0)


@rule
def tributes_chosen(state, frame, player):
    """Whether all tributes are chosen now; a cancelled summon leaves no trace."""
    if frame.args[3]:
        if state.picked_count == 0:
            done(state)
            return False
        picks_from(state, frame)
        frame.step = 2
        return True
    chosen = state.options[state.answer]
    if chosen.kind == CANCELS:
        done(state)
        return False
    if chosen.kind == UNPICKS:
        remove_from(frame, chosen.card)
    else:
        put_in(frame, chosen.card)
    if frame.count < frame.args[1]:
        ask_next_tribute(state, frame, player, True)
        return False
    frame.step = 2
    return True


@rule
def remove_from(frame, c):
    """Take a card out of a frame's list."""
    at = 0
    for k in range(frame.count):
        if frame.cards[k] != c:
            frame.cards[at] = frame.cards[k]
            at += 1
    frame.count = at


@rule
def flip_summoning(state, frame):
    c = frame.args[0]
    card = state.cards[c]
    player = state.turn_player
    if frame.step == 0:
        card.was_position = card.position
        card.position = UP_ATTACK
        frame.step = 1
        announce(state, c, FLIP_SUMMON, player)
        return
    if frame.step == 1:
        if was_negated(state, c):
            return
        card.status = (card.status | FLIPPED_NOW | SHOWN_NOW | ENABLED) & ~BEING_SUMMONED
        card.enabled_at = new_stamp(state)
        state.summoned_any[player] = 1
        tell(state, FLIPPED, c, player)
        tell(state, FLIP_SUMMONED, c, player)
        tell(state, CHANGED_POSITION, c, player)
        frame.step = 2
        settle(state)
        return
    done(state)
    open_window(state, 0, 0, 0)


@rule
def setting_spell(state, frame):
    """A spell or trap is put face-down into a zone; args: card, player, whether by an effect."""
    c = frame.args[0]
    player = frame.args[1]
    card = state.cards[c]
    if frame.step == 0:
        frame.step = 1
        if CARDS[card.code].types & FIELD:
            clear_field_zone(state, player)
            return
        ask_place(state, player, player, SZONE, free_spell_zones(state, player))
        return
    if frame.step == 1:
        zone = FIELD_ZONE if CARDS[card.code].types & FIELD else state.options[state.answer].value
        card.reason = 0
        move(state, c, player, SZONE, zone, DOWN)
        card.status = (card.status | SET_NOW) & ~ENABLED
        frame.step = 2
        settle(state)
        return
    by_effect = frame.args[2]
    done(state)
    if not by_effect:
        open_window(state, 0, 0, 0)


@rule
def special_summon(state, player, positions):
    """Begin to special summon; the caller adds the monsters."""
    frame = call(state, SPECIAL_SUMMON)
    frame.args[0] = player
    frame.args[1] = positions
    frame.args[2] = 0x7F
    return frame


@rule
def special_summoning(state, frame):
    """For each monster a zone and a position; then all have arrived together."""
    player = frame.args[0]
    while frame.step < 3:
        at = frame.args[3]
        if at >= frame.count:
            frame.step = 3
            break
        c = frame.cards[at]
        card = state.cards[c]
        if frame.step == 0:
            frame.step = 1
            zones = zones_for(state, c, player) & frame.args[2]
            ask_place(state, player, player, MZONE, zones)
            if state.question == 0:
                drop_monster(state, frame, at)
                continue
            return
        if frame.step == 1:
            frame.args[4] = state.options[state.answer].value
            frame.step = 2
            positions = frame.args[1]
            if CARDS[card.code].types & LINK:
                positions = UP_ATTACK
            state.result = 0
            ask_position(state, player, c, positions)
            if state.question:
                return
        if frame.step == 2:
            position = state.result
            if position == 0:
                position = state.options[state.answer].value
            card.reason = BY_SPSUMMON
            card.reason_player = player
            move(state, c, player, MZONE, frame.args[4], position)
            card.status |= SPECIAL_NOW
            if frame.args[5]:
                card.status |= PROPER
            card.status = (card.status | BEING_SUMMONED) & ~ENABLED
            frame.args[3] += 1
            frame.step = 0
    for k in range(frame.count):
        state.cards[frame.cards[k]].status &= ~BEING_SUMMONED
        arrive(state, frame.cards[k])
    if frame.count:
        state.summoned_any[player] = 1
        if frame.args[1] & UP:
            note(state, SPSUMMONED, frame.cards[0], player)
            for k in range(1, frame.count):
                note_more(state, frame.cards[k])
        for k in range(frame.count):
            trigger_own(state, SPSUMMONED, frame.cards[k], NOBODY, player)
    state.result = frame.count
    done(state)


@rule
def drop_monster(state, frame, at):
    """There is no zone for one of the monsters."""
    frame.count -= 1
    for k in range(at, frame.count):
        frame.cards[k] = frame.cards[k + 1]
    frame.step = 0
