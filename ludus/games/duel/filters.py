"""Filters of the tables: which cards match, and where they are searched."""

from ludus.games.duel.state import (
    BATTLE_LOST, BEING_SUMMONED, DECK_PILE, EXTRA_PILE, FIELD_ZONE, GRAVE_PILE, HAND_PILE, NOBODY, PROPER,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, FILTERS
from ludus.games.duel.tables.words import (
    DOWN, DRAGON, EXTRA_DECK, GRAVE, KEEPS_GRAVES, LINK, MONSTER, MZONE, NO_SPECIAL_SUMMON, OTHER_DECK, OTHER_GRAVE,
    OTHER_HAND, OTHER_MONSTERS, OTHER_SPELLS, OWN_DECK, OWN_EXTRA, OWN_GRAVE, OWN_HAND, OWN_MONSTERS, OWN_SPELLS,
    RITUAL, SHIELDS_DRAGONS, SUMMONED_PROPERLY_ONLY, TOKEN, TRAP,
)  # fmt: skip
from ludus.games.duel.values import attack, defense, has_level, level, on_side, somewhere, types_of
from ludus.games.duel.zones import is_up
from ludus.dsl import rule


@rule
def matches(state, number, c, source, player):
    """Whether a card matches a filter, for an effect of `source` that `player` uses."""
    which = FILTERS[number]
    card = state.cards[c]
    types = types_of(state, c)
    if which.or_down and card.position & DOWN and not (which.types & TRAP and card.sequence == FIELD_ZONE):
        return not (which.other and c == source)
    if which.types and types & which.types == 0:
        return False
    if types & which.without:
        return False
    if which.exactly and types != which.exactly:
        return False
    if which.position and card.position & which.position == 0:
        return False
    if which.other and c == source:
        return False
    row = CARDS[card.code]
    if which.races and row.race & which.races == 0:
        return False
    if which.attributes and row.attribute & which.attributes == 0:
        return False
    if which.code and card.code != which.code:
        return False
    if which.except_code and card.code == which.except_code:
        return False
    if (which.lowest_level or which.highest_level) and not of_level(state, which, c):
        return False
    if which.most_attack >= 0 and attack(state, c) > which.most_attack:
        return False
    if (which.most_defense >= 0 or which.has_defense) and row.types & LINK:
        return False
    if which.most_defense >= 0 and defense(state, c) > which.most_defense:
        return False
    if which.summonable and not can_special_summon(state, c, player, which.summonable):
        return False
    if which.banishable and not can_banish(state, c, player):
        return False
    return not which.controllable or can_take(state, c)


@rule
def of_level(state, which, c):
    if not has_level(state, c):
        return False
    of = level(state, c)
    return of >= which.lowest_level and (which.highest_level == 0 or of <= which.highest_level)


@rule
def can_special_summon(state, c, player, position):
    """Whether an effect may special summon a card; some monsters require their own procedure first."""
    card = state.cards[c]
    row = CARDS[card.code]
    if row.types & MONSTER == 0 or row.types & TOKEN or row.traits & NO_SPECIAL_SUMMON or state.no_summons[player]:
        return False
    if row.types & LINK and position & 1 == 0:
        return False
    limited = row.types & (EXTRA_DECK | RITUAL) or row.traits & SUMMONED_PROPERLY_ONLY
    return not limited or card.status & PROPER != 0


@rule
def can_banish(state, c, player):
    card = state.cards[c]
    return card.place != GRAVE or not on_side(state, 1 - player, KEEPS_GRAVES)


@rule
def can_take(state, c):
    """Whether control of a monster can change."""
    return state.cards[c].place == MZONE


@rule
def can_release(state, c):
    """Whether a monster can be tributed; a monster that lost a battle can until it leaves the field."""
    return c != NOBODY and state.cards[c].status & BEING_SUMMONED == 0


@rule
def can_target(state, c):
    """Whether effects may target a card."""
    card = state.cards[c]
    if card.status & (BATTLE_LOST | BEING_SUMMONED):
        return False
    if card.place == MZONE and is_up(state, c) and CARDS[card.code].race & DRAGON:
        return not somewhere(state, SHIELDS_DRAGONS)
    return True


@rule
def gather(state, where, number, source, player, targeted, out):
    """Put all matching cards, in the order of zones, into out.cards; how many."""
    out.count = 0
    for k in range(2):
        side = player if k == 0 else 1 - player
        if where & (OTHER_MONSTERS if k else OWN_MONSTERS):
            for zone in range(7):
                consider(state, state.monsters[side, zone], number, source, player, targeted, out)
        if where & (OTHER_SPELLS if k else OWN_SPELLS):
            for zone in range(6):
                consider(state, state.spells[side, zone], number, source, player, targeted, out)
        if where & (OTHER_GRAVE if k else OWN_GRAVE):
            for at in range(state.sizes[side, GRAVE_PILE]):
                consider(state, state.piles[side, GRAVE_PILE, at], number, source, player, targeted, out)
        if where & (OTHER_HAND if k else OWN_HAND):
            for at in range(state.sizes[side, HAND_PILE]):
                consider(state, state.piles[side, HAND_PILE, at], number, source, player, targeted, out)
        if where & (OTHER_DECK if k else OWN_DECK):
            for at in range(state.sizes[side, DECK_PILE]):
                consider(state, state.piles[side, DECK_PILE, at], number, source, player, targeted, out)
        if k == 0 and where & OWN_EXTRA:
            for at in range(state.sizes[side, EXTRA_PILE]):
                consider(state, state.piles[side, EXTRA_PILE, at], number, source, player, targeted, out)
    return out.count


@rule
def consider(state, c, number, source, player, targeted, out):
    if fits(state, c, number, source, player, targeted):
        out.cards[out.count] = c
        out.count += 1


@rule
def count_matching(state, where, number, source, player, targeted):
    """How many cards match."""
    count = 0
    for k in range(2):
        side = player if k == 0 else 1 - player
        if where & (OTHER_MONSTERS if k else OWN_MONSTERS):
            for zone in range(7):
                count += fits(state, state.monsters[side, zone], number, source, player, targeted)
        if where & (OTHER_SPELLS if k else OWN_SPELLS):
            for zone in range(6):
                count += fits(state, state.spells[side, zone], number, source, player, targeted)
        if where & (OTHER_GRAVE if k else OWN_GRAVE):
            for at in range(state.sizes[side, GRAVE_PILE]):
                count += fits(state, state.piles[side, GRAVE_PILE, at], number, source, player, targeted)
        if where & (OTHER_HAND if k else OWN_HAND):
            for at in range(state.sizes[side, HAND_PILE]):
                count += fits(state, state.piles[side, HAND_PILE, at], number, source, player, targeted)
        if where & (OTHER_DECK if k else OWN_DECK):
            for at in range(state.sizes[side, DECK_PILE]):
                count += fits(state, state.piles[side, DECK_PILE, at], number, source, player, targeted)
        if k == 0 and where & OWN_EXTRA:
            for at in range(state.sizes[side, EXTRA_PILE]):
                count += fits(state, state.piles[side, EXTRA_PILE, at], number, source, player, targeted)
    return count


@rule
def fits(state, c, number, source, player, targeted):
    """1 or 0; monsters whose summon is not complete do not match."""
    if c == NOBODY or state.cards[c].status & BEING_SUMMONED:
        return 0
    return 1 if matches(state, number, c, source, player) and (not targeted or can_target(state, c)) else 0
