"""Normal summons, sets and flip summons, setting spells and traps, and special summons by effects."""

from ludus.games.duel.adjustment import settle
from ludus.games.duel.chain import ask_place, clear_field_zone
from ludus.games.duel.events import miss, note, note_more, raise_event, trigger_own
from ludus.games.duel.frames import ask, ask_position, clear_options, done, offer, offer_unpicks, picks_from
from ludus.games.duel.processes import (
    ALLOWED_POSITIONS, ALLOWED_ZONES, AS_PROPER, CHOSEN_ZONE, SET_BY_EFFECT, SET_PLAYER, SPECIAL_PLAYER, SUBJECT,
    SUMMONING_AT, put_in, send,
)  # fmt: skip
from ludus.games.duel.state import (
    AS_MATERIAL, BEING_SUMMONED, BY_RELEASE, BY_SPSUMMON, BY_SUMMON, CANCELS, ENABLED, FIELD_ZONE, FLIPPED_NOW, NOBODY,
    NORMAL_SUMMONED, PICKS, PROPER, SET_NOW, SHOWN_NOW, SPECIAL_NOW, SUMMONED_NOW, TRIBUTE, TRIBUTE_SUMMONED, UNPICKS,
    UNSELECT,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    CHANGED_POSITION, DOWN, DOWN_DEFENSE, FIELD, FLIPPED, FLIP_SUMMON, FLIP_SUMMONED, GRAVE, LINK, MZONE, SPSUMMONED,
    SUMMON, SUMMONED, SZONE, UP, UP_ATTACK,
)  # fmt: skip
from ludus.games.duel.turn import is_tribute, tributes_needed
from ludus.games.duel.windows import open_window
from ludus.games.duel.zones import free_monster_zones, free_spell_zones, is_in, move, new_stamp, sort_cards, zones_for
from ludus.dsl import rule

# fmt: off
(COUNT_TRIBUTES, TAKE_TRIBUTES, SEND_TRIBUTES, SETTLE_TRIBUTES, CHOOSE_ZONE, PLACE_MONSTER) = range(6)
# fmt: on
COMPLETE_SUMMON, END_SUMMON = 7, 10
"""the steps of NORMAL_SUMMON and SET_MONSTER"""
TRIBUTES_NEEDED, FACE_DOWN, ALL_AT_ONCE = 1, 2, 3
"""their argument slots after SUBJECT: how many tributes; whether the monster is set; whether the tributes are chosen in
one question"""

TURN_UP, COMPLETE_FLIP, END_FLIP = range(3)
"""the steps of FLIP_SUMMON_RULE"""

CHOOSE_SPELL_ZONE, PLACE_SPELL, END_SET = range(3)
"""the steps of SET_SPELL"""

ASK_ZONE, ASK_POSITION, LAY_MONSTER, ALL_ARRIVED = range(4)
"""the steps of SPECIAL_SUMMON; the first three are repeated for every monster"""


@rule
def arrive(state, c):
    """Make a monster's effects apply, once it is on the field."""
    card = state.cards[c]
    card.control = card.controller
    if card.position & UP:
        card.status |= ENABLED
        card.enabled_at = new_stamp(state)


@rule
def announce(state, c, summon, player):
    """Open the window in which a summon can be negated."""
    card = state.cards[c]
    card.status = (card.status | BEING_SUMMONED) & ~ENABLED
    state.negating_summon = c
    note(state, summon, c, player)
    open_window(state, 1, 1, 1)


@rule
def was_negated(state, c):
    """Whether the announced summon was negated; if so, end the process."""
    card = state.cards[c]
    state.negating_summon = NOBODY
    if card.status & BEING_SUMMONED and card.place == MZONE:
        return False
    done(state)
    open_window(state, 0, 0, 0)
    return True


@rule
def normal_summoning(state, frame):
    """Tributes, zone, the window to negate the summon, then the summon is complete; or the monster is set."""
    c = frame.args[SUBJECT]
    card = state.cards[c]
    player = state.turn_player
    if frame.step < CHOOSE_ZONE and not tributing(state, frame, player):
        return
    if frame.step == CHOOSE_ZONE:
        miss(state)
        state.summons[player] += 1
        frame.step = PLACE_MONSTER
        ask_place(state, player, player, MZONE, free_monster_zones(state, player))
    elif frame.step == PLACE_MONSTER:
        place_monster(state, frame, c, player)
    elif frame.step == COMPLETE_SUMMON:
        if was_negated(state, c):
            return
        card.status = (card.status | SUMMONED_NOW | SHOWN_NOW | NORMAL_SUMMONED) & ~BEING_SUMMONED
        arrive(state, c)
        state.summoned_any[player] = 1
        raise_event(state, SUMMONED, c, player)
        frame.step = END_SUMMON
        settle(state)
    else:
        done(state)
        open_window(state, 0, 0, 0)


@rule
def tributing(state, frame, player):
    """Choose the tributes and send them to the graveyard; whether this is finished."""
    if frame.step == COUNT_TRIBUTES:
        frame.args[TRIBUTES_NEEDED] = tributes_needed(state, frame.args[SUBJECT])
        frame.step = SEND_TRIBUTES
        if frame.args[TRIBUTES_NEEDED]:
            frame.step = TAKE_TRIBUTES
            ask_tributes(state, frame, player)
            return False
    if frame.step == TAKE_TRIBUTES and not tributes_chosen(state, frame, player):
        return False
    if frame.step == SEND_TRIBUTES:
        frame.step = SETTLE_TRIBUTES
        if frame.count:
            sent = send(state, GRAVE, BY_RELEASE | BY_SUMMON | AS_MATERIAL, player)
            for k in range(frame.count):
                put_in(sent, frame.cards[k])
            return False
    frame.step = CHOOSE_ZONE
    if frame.count:
        settle(state)
        return False
    return True


@rule
def place_monster(state, frame, c, player):
    """Put the monster into its zone; a face-up one is announced."""
    card = state.cards[c]
    card.reason = BY_SUMMON
    card.reason_player = player
    zone = state.options[state.answer].value
    move(state, c, player, MZONE, zone, DOWN_DEFENSE if frame.args[FACE_DOWN] else UP_ATTACK)
    card.control = player
    if frame.count:
        card.status |= TRIBUTE_SUMMONED
    if frame.args[FACE_DOWN]:
        card.status = (card.status | SUMMONED_NOW | SET_NOW) & ~ENABLED
        frame.step = END_SUMMON
        settle(state)
        return
    frame.step = COMPLETE_SUMMON
    announce(state, c, SUMMON, player)


@rule
def setting_monster(state, frame):
    frame.args[FACE_DOWN] = 1
    normal_summoning(state, frame)


@rule
def ask_tributes(state, frame, player):
    """Ask for all tributes in one question if a zone is free; otherwise one by one, so that one frees a zone."""
    clear_options(state)
    needed = frame.args[TRIBUTES_NEEDED]
    frame.count = 0
    free = free_monster_zones(state, player) != 0
    if free:
        offer_tributes(state, frame, player)
        for k in range(frame.count):
            offer(state, PICKS, frame.cards[k], 0, 1, 0)
        frame.count = 0
        ask(state, TRIBUTE, player, needed, needed, 1)
        frame.args[ALL_AT_ONCE] = 1
        return
    frame.args[ALL_AT_ONCE] = 0
    ask_next_tribute(state, frame, player, True)


@rule
def offer_tributes(state, frame, player):
    """Put the monsters that may be tributed into the frame's list."""
    for zone in range(7):
        c = state.monsters[player, zone]
        if is_tribute(state, c):
            put_in(frame, c)
    sort_cards(state, frame.cards, frame.count)


@rule
def ask_next_tribute(state, frame, player, for_normal_summon):
    """Ask for one more tribute; the last one must free a zone if nothing else does."""
    clear_options(state)
    needed = frame.args[TRIBUTES_NEEDED] - frame.count
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
    """Take the answer; whether all tributes are chosen. Cancelling ends the process."""
    if frame.args[ALL_AT_ONCE]:
        if state.picked_count == 0:
            done(state)
            return False
        picks_from(state, frame)
        frame.step = SEND_TRIBUTES
        return True
    chosen = state.options[state.answer]
    if chosen.kind == CANCELS:
        done(state)
        return False
    if chosen.kind == UNPICKS:
        remove_from(frame, chosen.card)
    else:
        put_in(frame, chosen.card)
    if frame.count < frame.args[TRIBUTES_NEEDED]:
        ask_next_tribute(state, frame, player, True)
        return False
    frame.step = SEND_TRIBUTES
    return True


@rule
def remove_from(frame, c):
    """Remove a card from a frame's list."""
    at = 0
    for k in range(frame.count):
        if frame.cards[k] != c:
            frame.cards[at] = frame.cards[k]
            at += 1
    frame.count = at


@rule
def flip_summoning(state, frame):
    c = frame.args[SUBJECT]
    card = state.cards[c]
    player = state.turn_player
    if frame.step == TURN_UP:
        card.was_position = card.position
        card.position = UP_ATTACK
        frame.step = COMPLETE_FLIP
        announce(state, c, FLIP_SUMMON, player)
        return
    if frame.step == COMPLETE_FLIP:
        if was_negated(state, c):
            return
        card.status = (card.status | FLIPPED_NOW | SHOWN_NOW | ENABLED) & ~BEING_SUMMONED
        card.enabled_at = new_stamp(state)
        state.summoned_any[player] = 1
        raise_event(state, FLIPPED, c, player)
        raise_event(state, FLIP_SUMMONED, c, player)
        raise_event(state, CHANGED_POSITION, c, player)
        frame.step = END_FLIP
        settle(state)
        return
    done(state)
    open_window(state, 0, 0, 0)


@rule
def setting_spell(state, frame):
    """Put a spell or trap face-down into a zone."""
    c = frame.args[SUBJECT]
    player = frame.args[SET_PLAYER]
    card = state.cards[c]
    if frame.step == CHOOSE_SPELL_ZONE:
        frame.step = PLACE_SPELL
        if CARDS[card.code].types & FIELD:
            clear_field_zone(state, player)
            return
        ask_place(state, player, player, SZONE, free_spell_zones(state, player))
        return
    if frame.step == PLACE_SPELL:
        zone = FIELD_ZONE if CARDS[card.code].types & FIELD else state.options[state.answer].value
        card.reason = 0
        move(state, c, player, SZONE, zone, DOWN)
        card.status = (card.status | SET_NOW) & ~ENABLED
        frame.step = END_SET
        if not frame.args[SET_BY_EFFECT]:
            settle(state)
        return
    by_effect = frame.args[SET_BY_EFFECT]
    done(state)
    if not by_effect:
        open_window(state, 0, 0, 0)


@rule
def special_summoning(state, frame):
    """Ask for a zone and a position of each monster; then the summon of all is complete."""
    player = frame.args[SPECIAL_PLAYER]
    while frame.step < ALL_ARRIVED:
        at = frame.args[SUMMONING_AT]
        if at >= frame.count:
            frame.step = ALL_ARRIVED
            break
        c = frame.cards[at]
        card = state.cards[c]
        if frame.step == ASK_ZONE:
            frame.step = ASK_POSITION
            zones = zones_for(state, c, player) & frame.args[ALLOWED_ZONES]
            ask_place(state, player, player, MZONE, zones)
            if state.question == 0:
                drop_monster(state, frame, at)
                continue
            return
        if frame.step == ASK_POSITION:
            frame.args[CHOSEN_ZONE] = state.options[state.answer].value
            frame.step = LAY_MONSTER
            positions = frame.args[ALLOWED_POSITIONS]
            if CARDS[card.code].types & LINK:
                positions = UP_ATTACK
            state.result = 0
            ask_position(state, player, c, positions)
            if state.question:
                return
        if frame.step == LAY_MONSTER:
            position = state.result
            if position == 0:
                position = state.options[state.answer].value
            card.reason = BY_SPSUMMON
            card.reason_player = player
            move(state, c, player, MZONE, frame.args[CHOSEN_ZONE], position)
            card.status |= SPECIAL_NOW
            if frame.args[AS_PROPER]:
                card.status |= PROPER
            card.status = (card.status | BEING_SUMMONED) & ~ENABLED
            frame.args[SUMMONING_AT] += 1
            frame.step = ASK_ZONE
    for k in range(frame.count):
        state.cards[frame.cards[k]].status &= ~BEING_SUMMONED
        arrive(state, frame.cards[k])
    if frame.count:
        state.summoned_any[player] = 1
        if frame.args[ALLOWED_POSITIONS] & UP:
            note(state, SPSUMMONED, frame.cards[0], player)
            for k in range(1, frame.count):
                note_more(state, frame.cards[k])
        for k in range(frame.count):
            trigger_own(state, SPSUMMONED, frame.cards[k], NOBODY, player)
    state.result = frame.count
    done(state)


@rule
def drop_monster(state, frame, at):
    """Drop a monster for which there is no zone."""
    frame.count -= 1
    for k in range(at, frame.count):
        frame.cards[k] = frame.cards[k + 1]
    frame.step = ASK_ZONE
