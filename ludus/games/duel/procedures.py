"""Which monsters can be special summoned by their own procedure, and with which materials.

Synchro, Xyz and Link materials are chosen among at most seven monsters, so a set
is a bit mask and all sets are tried.
"""

from ludus.games.duel.cards import toons
from ludus.games.duel.filters import can_banish, matches
from ludus.games.duel.materials import room_after
from ludus.games.duel.state import GRAVE_PILE, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    DARK, EMPTY_FIELD, LIGHT, LIGHT_AND_DARK, LINK, MONSTER, NO_PROCEDURE, SYNCHRO_PROCEDURE, TOKEN, TOON_PROCEDURE,
    TUNER, XYZ_PROCEDURE,
)  # fmt: skip
from ludus.games.duel.values import has_level, level
from ludus.games.duel.zones import free_monster_zones, is_up, monsters_of
from ludus.dsl import rule


@rule
def can_procedure(state, c, player):
    """Whether a card of hand or extra deck can be summoned by its own procedure now."""
    row = CARDS[state.cards[c].code]
    kind = row.procedure
    if kind == NO_PROCEDURE or state.no_summons[player]:
        return False
    if kind == TOON_PROCEDURE:
        return toons.can_summon(state, c, player, row.procedure_a)
    if kind == LIGHT_AND_DARK:
        return free_monster_zones(state, player) != 0 and has_light_and_dark(state, player)
    if kind == EMPTY_FIELD:
        return monsters_of(state, player) == 0 and monsters_of(state, 1 - player) > 0
    pool = state.frames[state.depth + 1]
    material_pool(state, c, player, pool)
    return completable(state, c, player, pool, 0)


@rule
def has_light_and_dark(state, player):
    light = 0
    dark = 0
    for k in range(state.sizes[player, GRAVE_PILE]):
        c = state.piles[player, GRAVE_PILE, k]
        row = CARDS[state.cards[c].code]
        if row.types & MONSTER and can_banish(state, c, player):
            light += row.attribute == LIGHT
            dark += row.attribute == DARK
    return light > 0 and dark > 0


@rule
def material_pool(state, c, player, pool):
    """Put the player's face-up monsters that could be materials into pool.cards."""
    row = CARDS[state.cards[c].code]
    pool.count = 0
    for zone in range(7):
        m = state.monsters[player, zone]
        if m == NOBODY or not is_up(state, m):
            continue
        types = CARDS[state.cards[m].code].types
        if row.procedure == SYNCHRO_PROCEDURE:
            if not has_level(state, m) or (types & TUNER and not matches(state, row.material, m, c, player)):
                continue
        elif row.procedure == XYZ_PROCEDURE:
            if types & TOKEN or not matches(state, row.material, m, c, player):
                continue
        elif not matches(state, row.material, m, c, player):
            continue
        pool.cards[pool.count] = m
        pool.count += 1


@rule
def is_legal_set(state, c, player, pool, chosen):
    """Whether a set of materials (bits of the pool) is legal for a monster and leaves a zone for it."""
    row = CARDS[state.cards[c].code]
    size = 0
    total = 0
    tuners = 0
    ways = 1
    trial = state.frames[state.depth + 2]
    for k in range(pool.count):
        if chosen >> k & 1:
            m = pool.cards[k]
            trial.cards[size] = m
            size += 1
            tuners += CARDS[state.cards[m].code].types & TUNER != 0
            total += level(state, m)
            rating = CARDS[state.cards[m].code].level if CARDS[state.cards[m].code].types & LINK else 1
            ways = (ways << 1) | (ways << rating)
    if row.procedure == SYNCHRO_PROCEDURE:
        right = tuners == 1 and size >= 2 and total == row.level
    elif row.procedure == XYZ_PROCEDURE:
        right = size == row.procedure_a
    else:
        right = row.procedure_a <= size <= row.procedure_b and ways >> row.level & 1 == 1
    return right and room_after(state, c, player, trial.cards, size)


@rule
def completable(state, c, player, pool, chosen):
    """Whether some legal set contains all chosen materials."""
    for candidate in range(1, 1 << pool.count):
        if candidate & chosen == chosen and is_legal_set(state, c, player, pool, candidate):
            return True
    return False
