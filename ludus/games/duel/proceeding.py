"""How a monster is special summoned by its own procedure: materials or cost, zone, position, the chance to negate."""

from ludus.games.duel.chain import ask_place
from ludus.games.duel.events import miss, note, trigger_own
from ludus.games.duel.filters import can_banish
from ludus.games.duel.frames import (
    ask,
    ask_cards,
    ask_position,
    clear_options,
    done,
    offer,
    offer_unpicks,
    picks_from,
    sort_by_birth,
)
from ludus.games.duel.moving import put_in, send
from ludus.games.duel.procedures import completable, is_legal_set, material_pool
from ludus.games.duel.settling import settle
from ludus.games.duel.state import (
    AS_MATERIAL, BEING_SUMMONED, BY_COST, BY_RELEASE, BY_SPSUMMON, CANCELS, FINISHES, GRAVE_PILE, NOBODY, PICKS,
    PROPER, SPECIAL_NOW, UNPICKS, UNSELECT,
)  # fmt: skip
from ludus.games.duel.summoning import announce, arrive, ask_next_tribute, remove_from, was_negated
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    BANISHED, DARK, EMPTY_FIELD, GRAVE, LIGHT, LIGHT_AND_DARK, LINK, MONSTER, MZONE, SPSUMMON, SPSUMMONED,
    SYNCHRO_PROCEDURE, TOON_PROCEDURE, TUNER, UP, UP_ATTACK, XYZ_PROCEDURE,
)  # fmt: skip
from ludus.games.duel.windows import open_window
from ludus.games.duel.zones import attach, count_bits, free_monster_zones, move, sort_cards, zones_for
from ludus.words import rule


@rule
def proceeding(state, frame):
    c = frame.args[0]
    player = state.turn_player
    if frame.step < 3 and not giving_materials(state, frame, c, player):
        return
    if frame.step == 3:
        frame.step = 4
        settle(state)
        return
    if frame.step == 4:
        miss(state)
        frame.step = 5
        ask_place(state, player, player, MZONE, zones_for(state, c, player))
        return
    if frame.step == 5:
        frame.args[4] = state.options[state.answer].value
        frame.step = 6
        state.result = 0
        ask_position(state, player, c, UP_ATTACK if CARDS[state.cards[c].code].types & LINK else UP)
        if state.question:
            return
    if frame.step == 6:
        enter_field(state, frame, c, player)
    elif frame.step == 7:
        if not was_negated(state, c):
            be_summoned(state, frame, c, player)
    else:
        done(state)
        open_window(state, 0, 0, 0)


@rule
def giving_materials(state, frame, c, player):
    """Materials or cost are chosen and given up; whether the monster can follow at once."""
    kind = CARDS[state.cards[c].code].procedure
    if frame.step == 0:
        frame.step = 1
        begin_choice(state, frame, c, player, kind)
        if state.question:
            return False
    if frame.step == 1 and not chosen_all(state, frame, c, player, kind):
        return False
    frame.step = 3
    if frame.count:
        use_materials(state, frame, c, player, kind)
        return False
    return True


@rule
def enter_field(state, frame, c, player):
    """The monster lies in its zone, and its summon is announced."""
    position = state.result
    if position == 0:
        position = state.options[state.answer].value
    card = state.cards[c]
    card.reason = BY_SPSUMMON
    card.reason_player = player
    move(state, c, player, MZONE, frame.args[4], position)
    frame.step = 7
    announce(state, c, SPSUMMON, player)


@rule
def be_summoned(state, frame, c, player):
    """Nobody has negated the summon."""
    card = state.cards[c]
    card.status = (card.status | SPECIAL_NOW | PROPER) & ~BEING_SUMMONED
    arrive(state, c)
    state.summoned_any[player] = 1
    note(state, SPSUMMONED, c, player)
    trigger_own(state, SPSUMMONED, c, NOBODY, player)
    frame.step = 8
    settle(state)


@rule
def begin_choice(state, frame, c, player, kind):
    """The first question about materials or cost; none where nothing is needed."""
    row = CARDS[state.cards[c].code]
    frame.count = 0
    if kind == EMPTY_FIELD or (kind == TOON_PROCEDURE and row.procedure_a == 0):
        frame.step = 2
        return
    if kind == TOON_PROCEDURE:
        frame.args[1] = row.procedure_a
        if count_bits(free_monster_zones(state, player)) >= row.procedure_a:
            for zone in range(7):
                m = state.monsters[player, zone]
                if m != NOBODY:
                    put_in(frame, m)
            ask_cards(state, player, frame.cards, frame.count, row.procedure_a, row.procedure_a, 1)
            frame.args[3] = 1
            return
        frame.args[3] = 0
        ask_next_tribute(state, frame, player, False)
        return
    ask_next_material(state, frame, c, player, kind)


@rule
def ask_next_material(state, frame, c, player, kind):
    """One more material among those that can still lead somewhere; whether the choice is complete instead."""
    clear_options(state)
    state.question = 0
    finishable = False
    if kind == LIGHT_AND_DARK:
        offer_light_and_dark(state, frame, player)
        if frame.count == 2:
            clear_options(state)
    else:
        finishable = offer_materials(state, frame, c, player)
    if state.option_count == 0:
        return
    sort_options(state)
    offer_unpicks(state, frame)
    if finishable:
        offer(state, FINISHES, 0, 0, 0, 0)
    elif frame.count == 0:
        offer(state, CANCELS, 0, 0, 0, 0)
    ask(state, UNSELECT, player, 1, 1, frame.count == 0)
    state.may_finish = finishable


@rule
def sort_options(state):
    """Cards that can be picked, in the usual order."""
    trial = state.frames[state.depth + 1]
    for k in range(state.option_count):
        trial.cards[k] = state.options[k].card
    sort_cards(state, trial.cards, state.option_count)
    for k in range(state.option_count):
        state.options[k].card = trial.cards[k]


@rule
def offer_light_and_dark(state, frame, player):
    """A card of the attribute that is still missing."""
    have = 0
    for k in range(frame.count):
        have |= CARDS[state.cards[frame.cards[k]].code].attribute
    for k in range(state.sizes[player, GRAVE_PILE]):
        c = state.piles[player, GRAVE_PILE, k]
        row = CARDS[state.cards[c].code]
        if row.types & MONSTER and row.attribute & (LIGHT | DARK) & ~have and can_banish(state, c, player):
            offer(state, PICKS, c, 0, 0, 0)


@rule
def offer_materials(state, frame, c, player):
    """Monsters that some legal set holds beside those already chosen; whether what is chosen is legal itself."""
    pool = state.frames[state.depth]
    material_pool(state, c, player, pool)
    synchro = CARDS[state.cards[c].code].procedure == SYNCHRO_PROCEDURE
    chosen = 0
    for k in range(pool.count):
        for at in range(frame.count):
            if frame.cards[at] == pool.cards[k]:
                chosen |= 1 << k
    for k in range(pool.count):
        if synchro and (CARDS[state.cards[pool.cards[k]].code].types & TUNER != 0) != (chosen == 0):
            continue  # the tuner first, then the others
        if chosen >> k & 1 == 0 and completable(state, c, player, pool, chosen | (1 << k)):
            offer(state, PICKS, pool.cards[k], 0, 0, 0)
    return is_legal_set(state, c, player, pool, chosen)


@rule
def chosen_all(state, frame, c, player, kind):
    """Take the answer; whether all is chosen. A cancelled summon leaves no trace."""
    if kind == TOON_PROCEDURE and frame.args[3]:
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
    if chosen.kind == FINISHES:
        frame.step = 2
        return True
    if chosen.kind == UNPICKS:
        remove_from(frame, chosen.card)
    else:
        put_in(frame, chosen.card)
    if kind == TOON_PROCEDURE:
        if frame.count < frame.args[1]:
            ask_next_tribute(state, frame, player, False)
            return False
    else:
        ask_next_material(state, frame, c, player, kind)
        if state.question:
            return False
    frame.step = 2
    return True


@rule
def use_materials(state, frame, c, player, kind):
    """Materials go where they go: under the monster, to the graveyard, out of the game."""
    if kind == XYZ_PROCEDURE:
        overlay(state, frame, c)
        return
    if kind == LIGHT_AND_DARK:
        sent = send(state, BANISHED, BY_COST, player)
    elif kind == TOON_PROCEDURE:
        sent = send(state, GRAVE, BY_RELEASE | BY_COST, player)
    else:
        sent = send(state, GRAVE, AS_MATERIAL, player)
    for k in range(frame.count):
        put_in(sent, frame.cards[k])


@rule
def overlay(state, frame, c):
    """Monsters become materials; what was equipped to them, and their own materials, are lost."""
    sort_by_birth(state, frame)
    for k in range(frame.count):
        attach(state, frame.cards[k], c)
