"""What a card is worth now: attack, defense, level, and whether its effects are negated."""

from ludus.games.duel.state import BEING_SUMMONED, ENABLED, GRAVE_PILE, HAND_PILE, NOBODY
from ludus.games.duel.tables import CARDS, CHANGES, FILTERS, ROW_OF, TRAITS
from ludus.games.duel.tables.words import (
    BINDS_LEVELS, COPIES_EQUIP, COUNTERS, DARK_MAGICIANS, EQUIP, EQUIPPED_MONSTER, EQUIPS, FREEZES, LINK, LINKED,
    MATERIALS, MONSTER, MZONE, NEGATES_TRAPS, ONE, OWN, OWN_SPELLS_AND_TRAPS, OWN_UP_MONSTERS, SELF, SHORT_HAND,
    SPELL, STOPS_TRAPS, SZONE, TRAP, UP, XYZ,
)  # fmt: skip
from ludus.games.duel.zones import is_up, pointed_at, spells_of
from ludus.words import rule

DARK_MAGICIAN = ROW_OF[46986414]


@rule
def types_of(state, c):
    """A card's types; a monster that serves as an equip card is an equip spell."""
    card = state.cards[c]
    types = CARDS[card.code].types
    if card.place == SZONE and types & MONSTER:
        return SPELL | EQUIP
    return types


@rule
def traits_of(state, c):
    return TRAITS[state.codes[c]]


@rule
def works(state, c):
    """Whether what a card on the field always does is done: it lies face-up, is in force and not negated."""
    card = state.cards[c]
    return card.status & ENABLED != 0 and card.position & UP != 0 and not negated(state, c)


@rule
def has(state, c, trait):
    return traits_of(state, c) & trait != 0 and works(state, c)


@rule
def traps_stopped(state):
    """Whether a monster on the field keeps traps from being activated."""
    if state.traits & STOPS_TRAPS == 0:
        return False
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY and traits_of(state, c) & STOPS_TRAPS:
                card = state.cards[c]
                # A monster's effects are only negated for good, so nothing goes round in a circle here.
                if card.status & ENABLED and card.position & UP and card.negated == 0:
                    return True
    return False


@rule
def first_decree(state):
    """The face-up trap that negates all others; of several, the one that was there first."""
    found = NOBODY
    if state.traits & NEGATES_TRAPS == 0:
        return found
    for player in range(2):
        for zone in range(5):
            c = state.spells[player, zone]
            if (
                c != NOBODY
                and traits_of(state, c) & NEGATES_TRAPS
                and is_up(state, c)
                and state.cards[c].status & ENABLED
            ):
                if found == NOBODY or state.cards[c].enabled_at < state.cards[found].enabled_at:
                    found = c
    return found


@rule
def traps_negated(state, c):
    """Whether something on the field negates what this trap does, wherever the trap lies by now."""
    if traps_stopped(state):
        return True
    decree = first_decree(state)
    return decree != NOBODY and decree != c


@rule
def negated(state, c):
    card = state.cards[c]
    if card.negated:
        return True
    if card.place != SZONE or CARDS[card.code].types & TRAP == 0 or card.position & UP == 0:
        return False
    return traps_negated(state, c)


@rule
def somewhere(state, trait):
    """Whether a card on the field does this now."""
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
        if c != NOBODY and has(state, c, trait):
            return True
    for zone in range(6):
        c = state.spells[player, zone]
        if c != NOBODY and has(state, c, trait) and CARDS[state.cards[c].code].types & MONSTER == 0:
            return True
    return False


@rule
def level(state, c):
    """0 for what has none."""
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
    """Whether something keeps a monster from attacking, an attack that was declared before among them."""
    if has_level(state, c) and level(state, c) >= 4 and somewhere(state, BINDS_LEVELS):
        return True
    if state.traits & FREEZES == 0:
        return False
    for player in range(2):
        for zone in range(7):
            other = state.monsters[player, zone]
            if other != NOBODY and other != c and has(state, other, FREEZES):
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
    """What all cards on the field together add."""
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
    """Whether a change is for this monster."""
    if change.who == SELF:
        return source == c
    if change.who == EQUIPPED_MONSTER:
        return state.cards[source].equipped_to == c
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
