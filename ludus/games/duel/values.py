"""Current values of cards: attack, defense, level, and whether effects are negated."""

from ludus.games.duel.cards.trap_negation import first_decree, traps_negated, traps_stopped
from ludus.games.duel.state import BATTLE_LOST, BEING_SUMMONED, ENABLED, FREED_NOW, GRAVE_PILE, HAND_PILE, NOBODY
from ludus.games.duel.tables import CARDS, CHANGES, FILTERS, ROW_OF
from ludus.games.duel.tables.words import (
    BINDS_LEVELS, COPIES_EQUIP, COUNTERS, DARK_MAGICIANS, EQUIP, EQUIPPED_MONSTER, EQUIPS, FREEZES, LINK, LINKED,
    MATERIALS, MONSTER, MZONE, ONE, OWN, OWN_SPELLS_AND_TRAPS, OWN_UP_MONSTERS, SELF, SHORT_HAND, SPELL, SZONE, TRAP,
    UP, XYZ,
)  # fmt: skip
from ludus.games.duel.zones import is_up, pointed_at, spells_of, traits_of
from ludus.dsl import rule

DARK_MAGICIAN = ROW_OF[46986414]


@rule
def types_of(state, c):
    """A card's types; a monster that is equipped to another one counts as an equip spell."""
    card = state.cards[c]
    types = CARDS[card.code].types
    if card.place == SZONE and types & MONSTER:
        return SPELL | EQUIP
    return types


@rule
def works(state, c):
    """Whether a card's continuous effects apply: it is face-up, enabled and not negated."""
    card = state.cards[c]
    return card.status & ENABLED != 0 and card.position & UP != 0 and not is_effectless(state, c)


@rule
def has(state, c, trait):
    return traits_of(state, c) & trait != 0 and works(state, c)


@rule
def reaches_others(state, c, trait):
    """Whether a trait that affects other cards applies; it does not once its monster has lost a battle."""
    return has(state, c, trait) and state.cards[c].status & BATTLE_LOST == 0


@rule
def is_effectless(state, c):
    card = state.cards[c]
    if card.negated > 0:
        return True
    if card.place != SZONE or CARDS[card.code].types & TRAP == 0 or card.position & UP == 0:
        return False
    return traps_negated(state, c)


@rule
def negated(state, c):
    """Whether a card is displayed as negated; negation by a trap with FREED_NOW is not displayed yet."""
    if not is_effectless(state, c):
        return False
    if state.cards[c].negated > 0 or traps_stopped(state):
        return True
    return state.cards[first_decree(state)].negated != FREED_NOW


@rule
def somewhere(state, trait):
    """Whether a trait of some card on the field applies."""
    for player in range(2):
        if on_side(state, player, trait):
            return True
    return False


@rule
def on_side(state, player, trait):
    if state.traits & trait == 0:
        return False
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY and reaches_others(state, c, trait):
            return True
    for zone in range(6):
        c = state.spells[player, zone]
        if c != NOBODY and has(state, c, trait) and CARDS[state.cards[c].code].types & MONSTER == 0:
            return True
    return False


@rule
def level(state, c):
    """The level of a card; 0 if it has none."""
    row = CARDS[state.cards[c].code]
    if row.types & (XYZ | LINK) or row.types & MONSTER == 0:
        return 0
    return row.level


@rule
def has_level(state, c):
    row = CARDS[state.cards[c].code]
    return row.types & MONSTER != 0 and row.types & (XYZ | LINK) == 0


@rule
def held_back(state, c):
    """Whether an effect prevents a monster from attacking, or from continuing its attack."""
    if has_level(state, c) and level(state, c) >= 4 and somewhere(state, BINDS_LEVELS):
        return True
    if state.traits & FREEZES == 0:
        return False
    for player in range(2):
        for zone in range(7):
            other = state.monsters[player, zone]
            if other != NOBODY and other != c and reaches_others(state, other, FREEZES):
                return True
    return False


@rule
def equip_of(state, c):
    """The monster that an effect of this one has equipped it with."""
    for player in range(2):
        for zone in range(5):
            e = state.spells[player, zone]
            if e != NOBODY and state.cards[e].equipped_to == c and CARDS[state.cards[e].code].types & MONSTER:
                return e
    return NOBODY


@rule
def base_attack(state, c):
    card = state.cards[c]
    row = CARDS[card.code]
    return row.defense if card.swapped else row.attack


@rule
def base_defense(state, c):
    card = state.cards[c]
    row = CARDS[card.code]
    return row.attack if card.swapped else row.defense


@rule
def attack(state, c):
    card = state.cards[c]
    value = base_attack(state, c)
    if card.place != MZONE:
        return value
    if card.position & UP and traits_of(state, c) & COPIES_EQUIP and works(state, c):
        e = equip_of(state, c)
        if e != NOBODY:
            value = CARDS[state.cards[e].code].attack if is_up(state, e) else 0
    return max(0, value + card.attack_up + card.calculation_up + changed(state, c, True))


@rule
def defense(state, c):
    card = state.cards[c]
    value = base_defense(state, c)
    if CARDS[card.code].types & LINK:
        return 0
    if card.place != MZONE:
        return value
    if card.position & UP and traits_of(state, c) & COPIES_EQUIP and works(state, c):
        e = equip_of(state, c)
        if e != NOBODY:
            value = CARDS[state.cards[e].code].defense if is_up(state, e) else 0
    return max(0, value + card.defense_up + changed(state, c, False))


@rule
def changed(state, c, of_attack):
    """The sum of all changes by cards on the field."""
    total = 0
    if state.cards[c].position & UP == 0 or state.cards[c].status & BEING_SUMMONED:
        return total
    for player in range(2):
        for zone in range(7):
            source = state.monsters[player, zone]
            if source != NOBODY:
                total += changed_by(state, c, source, of_attack)
        for zone in range(6):
            source = state.spells[player, zone]
            if source != NOBODY:
                total += changed_by(state, c, source, of_attack)
    return total


@rule
def changed_by(state, c, source, of_attack):
    card = state.cards[source]
    row = CARDS[card.code]
    total = 0
    if row.changes == 0 or (card.place == SZONE and row.types & MONSTER) or not works(state, source):
        return total
    for number in range(row.first_change, row.first_change + row.changes):
        change = CHANGES[number]
        amount = change.attack if of_attack else change.defense
        if amount != 0 and concerns(state, change, source, c):
            total += amount * counted(state, change.per, source)
    return total


@rule
def concerns(state, change, source, c):
    """Whether a change applies to this monster."""
    if change.who == SELF:
        return source == c
    if change.who == EQUIPPED_MONSTER:
        return state.cards[source].equipped_to == c
    if state.cards[source].status & BATTLE_LOST:
        return False
    if change.who == OWN and state.cards[source].controller != state.cards[c].controller:
        return False
    which = FILTERS[change.which]
    row = CARDS[state.cards[c].code]
    return (which.races == 0 or row.race & which.races != 0) and (
        which.attributes == 0 or row.attribute & which.attributes != 0
    )


@rule
def counted(state, per, source):
    card = state.cards[source]
    player = card.controller
    if per == ONE:
        return 1
    if per == EQUIPS:
        return equips_on(state, source)
    if per == COUNTERS:
        return card.counters
    if per == OWN_UP_MONSTERS:
        return up_monsters(state, player)
    if per == OWN_SPELLS_AND_TRAPS:
        return spells_of(state, player)
    if per == MATERIALS:
        return card.overlays
    if per == SHORT_HAND:
        return 1 if state.sizes[player, HAND_PILE] <= 1 else 0
    if per == DARK_MAGICIANS:
        return dark_magicians(state)
    if per == LINKED:
        return linked_monsters(state, source)
    return 0


@rule
def equips_on(state, c):
    count = 0
    for player in range(2):
        for zone in range(5):
            e = state.spells[player, zone]
            if e != NOBODY and state.cards[e].equipped_to == c:
                count += 1
    return count


@rule
def up_monsters(state, player):
    count = 0
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY and is_up(state, c) and state.cards[c].status & BEING_SUMMONED == 0:
            count += 1
    return count


@rule
def dark_magicians(state):
    count = 0
    for player in range(2):
        for k in range(state.sizes[player, GRAVE_PILE]):
            count += state.cards[state.piles[player, GRAVE_PILE, k]].code == DARK_MAGICIAN
    return count


@rule
def linked_monsters(state, c):
    """How many monsters a Link monster points to."""
    seen = pointed_at(state, c)
    player = state.cards[c].controller
    count = 0
    for zone in range(7):
        if seen >> zone & 1 and state.monsters[player, zone] != NOBODY:
            count += 1
        if seen >> (16 + zone) & 1 and state.monsters[1 - player, zone] != NOBODY:
            count += 1
    return count
