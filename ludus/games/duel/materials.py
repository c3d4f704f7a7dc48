"""Materials of fusion and ritual monsters, and room for monsters of the extra deck."""

from ludus.games.duel.state import EXTRA_PILE, HAND_PILE, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import EXTRA_DECK, FUSION, LINK, MONSTER, MZONE
from ludus.games.duel.values import has_level, level
from ludus.games.duel.zones import free_monster_zones, is_in, is_up, monster_at, pointed_at
from ludus.dsl import rule

MOST_TRIBUTES = 16
"""maximum number of monsters in hand and on the field that are considered for a ritual"""


@rule
def room_after(state, c, player, chosen, count):
    """Whether a monster of hand or extra deck would have a zone once these cards have left."""
    freed = 0
    opened = False
    for k in range(count):
        card = state.cards[chosen[k]]
        if card.place == MZONE and card.controller == player:
            if card.sequence < 5:
                freed |= 1 << card.sequence
            else:
                opened = True
    main = free_monster_zones(state, player) | freed
    types = CARDS[state.cards[c].code].types
    if types & EXTRA_DECK == 0:
        return main != 0
    zones = main
    if types & LINK:
        zones = main & links_without(state, player, chosen, count)
    if zones:
        return True
    mine = state.monsters[player, 5] != NOBODY or state.monsters[player, 6] != NOBODY
    if mine and not opened:
        return False
    if opened:
        return True
    return monster_at(state, player, 5) == NOBODY or monster_at(state, player, 6) == NOBODY


@rule
def links_without(state, player, chosen, count):
    """The player's zones that Link monsters point to, except those that leave."""
    from_all = 0
    for side in range(2):
        for zone in range(7):
            c = state.monsters[side, zone]
            if (
                c != NOBODY
                and is_up(state, c)
                and CARDS[state.cards[c].code].types & LINK
                and not is_in(chosen, count, c)
            ):
                from_all |= points_of(state, c, player)
    return from_all


@rule
def points_of(state, c, player):
    seen = pointed_at(state, c)
    return (seen if state.cards[c].controller == player else seen >> 16) & 0x7F


@rule
def fusion_pool(state, player, out):
    """Put all possible fusion materials, monsters of hand and own field, into out.cards; how many."""
    out.count = 0
    for k in range(state.sizes[player, HAND_PILE]):
        c = state.piles[player, HAND_PILE, k]
        if CARDS[state.cards[c].code].types & MONSTER:
            out.cards[out.count] = c
            out.count += 1
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY:
            out.cards[out.count] = c
            out.count += 1
    return out.count


@rule
def needed_codes(state, c, k):
    row = CARDS[state.cards[c].code]
    return row.material_1 if k == 0 else row.material_2 if k == 1 else row.material_3


@rule
def can_complete(state, fusion, player, pool, chosen, count):
    """Whether the chosen cards can be completed from the pool to the materials of a fusion monster."""
    row = CARDS[state.cards[fusion].code]
    used = 0
    for k in range(count):
        found = False
        for slot in range(row.materials):
            if used >> slot & 1 == 0 and needed_codes(state, fusion, slot) == state.cards[chosen[k]].code:
                used |= 1 << slot
                found = True
                break
        if not found:
            return False
    # The missing materials and a zone must exist; monsters of the field are tried first, as they free zones.
    trial = state.frames[state.depth]
    trial.count = 0
    for k in range(count):
        trial.cards[trial.count] = chosen[k]
        trial.count += 1
    for slot in range(row.materials):
        if used >> slot & 1 == 0:
            code = needed_codes(state, fusion, slot)
            best = NOBODY
            for k in range(pool.count - 1, -1, -1):
                c = pool.cards[k]
                if state.cards[c].code == code and not is_in(trial.cards, trial.count, c):
                    best = c
                    break
            if best == NOBODY:
                return False
            trial.cards[trial.count] = best
            trial.count += 1
    return room_after(state, fusion, player, trial.cards, trial.count)


@rule
def can_fuse(state, player, source):
    """Whether some fusion monster of the extra deck can be summoned."""
    pool = state.frames[state.depth + 1]
    fusion_pool(state, player, pool)
    for k in range(state.sizes[player, EXTRA_PILE]):
        fusion = state.piles[player, EXTRA_PILE, k]
        if fusable(state, fusion, player, pool):
            return True
    return False


@rule
def fusable(state, fusion, player, pool):
    row = CARDS[state.cards[fusion].code]
    return (
        row.types & FUSION != 0
        and row.materials > 0
        and not state.no_summons[player]
        and can_complete(state, fusion, player, pool, pool.cards, 0)
    )


@rule
def can_ritual(state, player, source):
    """Whether the ritual monster of a spell is in the hand and can be summoned."""
    for k in range(state.sizes[player, HAND_PILE]):
        c = state.piles[player, HAND_PILE, k]
        if state.cards[c].code == CARDS[state.cards[source].code].partner and ritual_ready(state, player, c):
            return True
    return False


@rule
def ritual_pool(state, player, ritual, pool):
    """Put all possible tributes for a ritual, monsters with a level of hand and own field, into pool.cards."""
    pool.count = 0
    for k in range(state.sizes[player, HAND_PILE]):
        c = state.piles[player, HAND_PILE, k]
        if c != ritual and CARDS[state.cards[c].code].types & MONSTER and level(state, c) > 0:
            pool.cards[pool.count] = c
            pool.count += 1
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY and has_level(state, c):
            pool.cards[pool.count] = c
            pool.count += 1


@rule
def ritual_ready(state, player, ritual):
    """Whether there are enough levels to tribute and a zone; if no zone is free, a tribute must free one."""
    if state.no_summons[player]:
        return False
    pool = state.frames[state.depth + 2]
    ritual_pool(state, player, ritual, pool)
    if free_monster_zones(state, player):
        total = 0
        for k in range(pool.count):
            total += level(state, pool.cards[k])
        return total >= level(state, ritual)
    return can_tribute(state, ritual, pool, 0)


@rule
def can_tribute(state, ritual, pool, chosen):
    """Whether some minimal set of tributes that frees a zone contains all chosen ones."""
    goal = level(state, ritual)
    for candidate in range(1, 1 << min(pool.count, MOST_TRIBUTES)):
        if candidate & chosen == chosen and is_tribute_set(state, goal, pool, candidate):
            return True
    return False


@rule
def is_tribute_set(state, goal, pool, chosen):
    total = 0
    smallest = 100
    frees = False
    for k in range(pool.count):
        if chosen >> k & 1:
            card = state.cards[pool.cards[k]]
            of = level(state, pool.cards[k])
            total += of
            smallest = min(smallest, of)
            frees = frees or (card.place == MZONE and card.sequence < 5)
    return frees and total >= goal and total - smallest < goal
