"""Special summons by a monster's own procedure: materials or cost, zone, position, the window to negate it."""

from ludus.games.duel.adjustment import settle
from ludus.games.duel.chain import ask_place
from ludus.games.duel.events import miss, note, trigger_own
from ludus.games.duel.filters import can_banish
from ludus.games.duel.frames import (
    ask, ask_cards, ask_position, clear_options, done, offer, offer_unpicks, picks_from, sort_by_birth,
)  # fmt: skip
from ludus.games.duel.procedures import completable, is_legal_set, material_pool
from ludus.games.duel.processes import CHOSEN_ZONE, SUBJECT, put_in, send
from ludus.games.duel.state import (
    AS_MATERIAL, BEING_SUMMONED, BY_COST, BY_RELEASE, BY_SPSUMMON, CANCELS, FINISHES, GRAVE_PILE, NOBODY, PICKS, PROPER,
    SPECIAL_NOW, UNPICKS, UNSELECT,
)  # fmt: skip
from ludus.games.duel.summons import (
    ALL_AT_ONCE, TRIBUTES_NEEDED, announce, arrive, ask_next_tribute, remove_from, was_negated,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    BANISHED, DARK, EMPTY_FIELD, GRAVE, LIGHT, LIGHT_AND_DARK, LINK, MONSTER, MZONE, SPSUMMON, SPSUMMONED,
    SYNCHRO_PROCEDURE, TOON_PROCEDURE, TUNER, UP, UP_ATTACK, XYZ_PROCEDURE,
)  # fmt: skip
from ludus.games.duel.windows import open_window
from ludus.games.duel.zones import attach, count_bits, free_monster_zones, move, sort_cards, zones_for
from ludus.dsl import rule

# fmt: off
(BEGIN_MATERIALS, MATERIAL_CHOSEN, GIVE_MATERIALS, SETTLE_MATERIALS, CHOOSE_ZONE, CHOOSE_POSITION, ENTER_FIELD,
 COMPLETE_PROCEDURE, END_PROCEDURE) = range(9)
# fmt: on
"""the steps of SPECIAL_SUMMON_RULE; its argument slots are SUBJECT and those imported from `summons`"""


@rule
def proceeding(state, frame):
    c = frame.args[SUBJECT]
    player = state.turn_player
    if frame.step < SETTLE_MATERIALS and not giving_materials(state, frame, c, player):
        return
    if frame.step == SETTLE_MATERIALS:
        frame.step = CHOOSE_ZONE
        settle(state)
        return
    if frame.step == CHOOSE_ZONE:
        miss(state)
        frame.step = CHOOSE_POSITION
        ask_place(state, player, player, MZONE, zones_for(state, c, player))
        return
    if frame.step == CHOOSE_POSITION:
        frame.args[CHOSEN_ZONE] = state.options[state.answer].value
        frame.step = ENTER_FIELD
        state.result = 0
        ask_position(state, player, c, UP_ATTACK if CARDS[state.cards[c].code].types & LINK else UP)
        if state.question:
            return
    if frame.step == ENTER_FIELD:
        enter_field(state, frame, c, player)
    elif frame.step == COMPLETE_PROCEDURE:
        if not was_negated(state, c):
            be_summoned(state, frame, c, player)
    else:
        done(state)
        open_window(state, 0, 0, 0)


@rule
def giving_materials(state, frame, c, player):
    """Choose and use materials or cost; whether this is finished."""
    kind = CARDS[state.cards[c].code].procedure
    if frame.step == BEGIN_MATERIALS:
        frame.step = MATERIAL_CHOSEN
        begin_choice(state, frame, c, player, kind)
        if state.question:
            return False
    if frame.step == MATERIAL_CHOSEN and not chosen_all(state, frame, c, player, kind):
        return False
    frame.step = SETTLE_MATERIALS
    if frame.count:
        use_materials(state, frame, c, player, kind)
        return False
    return True


@rule
def enter_field(state, frame, c, player):
    """Put the monster into its zone and announce the summon."""
    position = state.result
    if position == 0:
        position = state.options[state.answer].value
    card = state.cards[c]
    card.reason = BY_SPSUMMON
    card.reason_player = player
    move(state, c, player, MZONE, frame.args[CHOSEN_ZONE], position)
    frame.step = COMPLETE_PROCEDURE
    announce(state, c, SPSUMMON, player)


@rule
def be_summoned(state, frame, c, player):
    """Complete a summon that was not negated."""
    card = state.cards[c]
    card.status = (card.status | SPECIAL_NOW | PROPER) & ~BEING_SUMMONED
    arrive(state, c)
    state.summoned_any[player] = 1
    note(state, SPSUMMONED, c, player)
    trigger_own(state, SPSUMMONED, c, NOBODY, player)
    frame.step = END_PROCEDURE
    settle(state)


@rule
def begin_choice(state, frame, c, player, kind):
    """Ask the first question about materials or cost, if there are any."""
    row = CARDS[state.cards[c].code]
    frame.count = 0
    if kind == EMPTY_FIELD or (kind == TOON_PROCEDURE and row.procedure_a == 0):
        frame.step = GIVE_MATERIALS
        return
    if kind == TOON_PROCEDURE:
        frame.args[TRIBUTES_NEEDED] = row.procedure_a
        if count_bits(free_monster_zones(state, player)) >= row.procedure_a:
            for zone in range(7):
                m = state.monsters[player, zone]
                if m != NOBODY:
                    put_in(frame, m)
            ask_cards(state, player, frame.cards, frame.count, row.procedure_a, row.procedure_a, 1)
            frame.args[ALL_AT_ONCE] = 1
            return
        frame.args[ALL_AT_ONCE] = 0
        ask_next_tribute(state, frame, player, False)
        return
    ask_next_material(state, frame, c, player, kind)


@rule
def ask_next_material(state, frame, c, player, kind):
    """Ask for one more material among those that some legal set contains."""
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
    """Sort the options in the order of `zones.comes_before`."""
    trial = state.frames[state.depth + 1]
    for k in range(state.option_count):
        trial.cards[k] = state.options[k].card
    sort_cards(state, trial.cards, state.option_count)
    for k in range(state.option_count):
        state.options[k].card = trial.cards[k]


@rule
def offer_light_and_dark(state, frame, player):
    """Offer cards of the attribute that is still missing."""
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
    """Offer monsters that complete a legal set with those already chosen; whether the chosen ones are a legal set."""
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
            continue  # the tuner is chosen first
        if chosen >> k & 1 == 0 and completable(state, c, player, pool, chosen | (1 << k)):
            offer(state, PICKS, pool.cards[k], 0, 0, 0)
    return is_legal_set(state, c, player, pool, chosen)


@rule
def chosen_all(state, frame, c, player, kind):
    """Take the answer; whether all is chosen. Cancelling ends the process."""
    if kind == TOON_PROCEDURE and frame.args[ALL_AT_ONCE]:
        if state.picked_count == 0:
            done(state)
            return False
        picks_from(state, frame)
        frame.step = GIVE_MATERIALS
        return True
    chosen = state.options[state.answer]
    if chosen.kind == CANCELS:
        done(state)
        return False
    if chosen.kind == FINISHES:
        frame.step = GIVE_MATERIALS
        return True
    if chosen.kind == UNPICKS:
        remove_from(frame, chosen.card)
    else:
        put_in(frame, chosen.card)
    if kind == TOON_PROCEDURE:
        if frame.count < frame.args[TRIBUTES_NEEDED]:
            ask_next_tribute(state, frame, player, False)
            return False
    else:
        ask_next_material(state, frame, c, player, kind)
        if state.question:
            return False
    frame.step = GIVE_MATERIALS
    return True


@rule
def use_materials(state, frame, c, player, kind):
    """Attach the materials to the monster, send them to the graveyard, or banish them."""
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
    """Attach monsters as Xyz materials."""
    sort_by_birth(state, frame)
    for k in range(frame.count):
        attach(state, frame.cards[k], c)
