"""Locations of cards: piles, zones and materials, and moving cards between them."""

from ludus.games.duel.state import (
    BANISHED_PILE, BATTLE_LOST, BY_DRAW, DECK_PILE, ENABLED, EXTRA_PILE, FIELD_ZONE, FIRST_TOKEN, GRAVE_PILE, HAND_PILE,
    MOST_CARDS, NEGATED_IN_GRAVE, NOBODY, PROPER,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, TRAITS, TRIGGERS
from ludus.games.duel.tables.words import (
    BANISHED, BOTTOM, BOTTOM_LEFT, BOTTOM_RIGHT, DECK, DOWN, EXTRA, EXTRA_DECK, FIELD, GRAVE, HAND, LEFT, LINK, MZONE,
    ON_FIELD, OVERLAY, RIGHT, SZONE, TOKEN, TOP, TOP_LEFT, TOP_RIGHT, UP,
)  # fmt: skip
from ludus.dsl import rule


@rule
def pile_of(place):
    """The index of the pile at a place."""
    if place == DECK:
        return DECK_PILE
    if place == HAND:
        return HAND_PILE
    if place == GRAVE:
        return GRAVE_PILE
    if place == BANISHED:
        return BANISHED_PILE
    return EXTRA_PILE


@rule
def new_stamp(state):
    """A stamp that was not used before."""
    state.stamps += 1
    return state.stamps


@rule
def is_up(state, c):
    return state.cards[c].position & UP != 0


@rule
def is_down(state, c):
    return state.cards[c].position & DOWN != 0


@rule
def traits_of(state, c):
    return TRAITS[state.codes[c]]


@rule
def foe_of(state, c):
    """The other monster of the battle that this one is in, or NOBODY."""
    return state.attack_target if c == state.attacker else state.attacker


@rule
def lift(state, c):
    """Remove a card from its location."""
    card = state.cards[c]
    place = card.place
    if place == MZONE:
        state.monsters[card.controller, card.sequence] = NOBODY
    elif place == SZONE:
        state.spells[card.controller, card.sequence] = NOBODY
    elif place == OVERLAY:
        below = state.cards[card.overlaid_on]
        below.overlays -= 1
        for place in range(card.sequence, below.overlays):
            below.overlay[place] = below.overlay[place + 1]
            state.cards[below.overlay[place]].sequence = place
        card.overlaid_on = NOBODY
    elif place != 0:
        pile = pile_of(place)
        player = card.controller
        state.sizes[player, pile] -= 1
        for k in range(card.sequence, state.sizes[player, pile]):
            follower = state.piles[player, pile, k + 1]
            state.piles[player, pile, k] = follower
            state.cards[follower].sequence = k


@rule
def lay(state, c, player, place, sequence, position):
    """Put a lifted card into a zone, or on top of a pile."""
    card = state.cards[c]
    card.controller = player
    card.place = place
    card.position = position
    if place == MZONE:
        state.monsters[player, sequence] = c
        card.sequence = sequence
    elif place == SZONE:
        state.spells[player, sequence] = c
        card.sequence = sequence
    elif place != 0:
        pile = pile_of(place)
        card.sequence = state.sizes[player, pile]
        state.piles[player, pile, card.sequence] = c
        state.sizes[player, pile] += 1
        if place == HAND and card.reason & BY_DRAW == 0:
            state.shuffle[player] = 1


@rule
def forget(state, c):
    """Reset what applies to a card only while it stays on the field."""
    card = state.cards[c]
    card.counters = 0
    card.attack_up = 0
    card.defense_up = 0
    card.swapped = 0
    card.calculation_up = 0
    card.negated = 0
    card.resting = 0
    card.turns = 0
    card.lasting = 0
    card.bound_to = NOBODY
    card.status &= PROPER | ENABLED | BATTLE_LOST
    card.lent_until_end = 0
    card.control_order = 0


@rule
def move(state, c, player, place, sequence, position):
    """Move a card; effects lose track of it, as its stamp changes."""
    card = state.cards[c]
    card.was_place = card.place
    card.was_sequence = card.sequence
    card.was_position = card.position
    card.was_controller = card.controller
    if card.place == OVERLAY:
        card.was_controller = state.cards[card.overlaid_on].controller
    was = card.place
    kept = NEGATED_IN_GRAVE if abs(card.negated) == NEGATED_IN_GRAVE and place == GRAVE else 0
    lift(state, c)
    if CARDS[card.code].types & TOKEN and place & ON_FIELD == 0:
        place = 0
    lay(state, c, player, place, sequence, position)
    card.stamp = new_stamp(state)
    card.arrival = card.stamp
    card.used = 0
    if was & ON_FIELD or place & ON_FIELD:
        forget(state, c)
        card.attacks = 0
        card.fought = 0
        for k in range(8):
            card.attacked[k] = 0
    card.negated = kept
    if place == MZONE:
        card.control = player
    if place == HAND or place == DECK or place == EXTRA:
        card.status &= ~PROPER
    if place & ON_FIELD == 0:
        card.status |= ENABLED


@rule
def unbind(state, c):
    """Break the bond between a monster and the trap that revived it."""
    for player in range(2):
        for zone in range(5):
            e = state.spells[player, zone]
            if e != NOBODY and state.cards[e].bound_to == c:
                state.cards[e].bound_to = NOBODY


@rule
def attach(state, c, below):
    """Put a card under an Xyz monster."""
    card = state.cards[c]
    card.was_place = card.place
    card.was_sequence = card.sequence
    card.was_position = card.position
    card.was_controller = card.controller
    lift(state, c)
    forget(state, c)
    unbind(state, c)
    holder = state.cards[below]
    card.place = OVERLAY
    card.controller = holder.controller
    card.overlaid_on = below
    card.sequence = holder.overlays
    card.position = UP
    holder.overlay[holder.overlays] = c
    holder.overlays += 1
    card.stamp = new_stamp(state)


@rule
def side_of(state, c):
    """The controller of a card; for a material, the controller of its monster."""
    card = state.cards[c]
    if card.place == OVERLAY:
        return state.cards[card.overlaid_on].controller
    return card.controller


@rule
def comes_before(state, a, b):
    """The order in which cards are listed and moved: the turn player's first, then by place, then by sequence."""
    one = state.cards[a]
    other = state.cards[b]
    side = side_of(state, a)
    if side != side_of(state, b):
        return side == state.turn_player
    if one.place != other.place:
        return one.place < other.place
    if one.place == OVERLAY and one.overlaid_on != other.overlaid_on:
        return state.cards[one.overlaid_on].sequence < state.cards[other.overlaid_on].sequence
    if one.place == DECK or one.place == EXTRA or one.place == GRAVE or one.place == BANISHED:
        return one.sequence > other.sequence
    return one.sequence < other.sequence


@rule
def sort_cards(state, cards, count):
    """Put the first `count` of a list of cards in that order."""
    for k in range(1, count):
        c = cards[k]
        at = k
        while at > 0 and comes_before(state, c, cards[at - 1]):
            cards[at] = cards[at - 1]
            at -= 1
        cards[at] = c


@rule
def is_in(cards, count, c):
    """Whether a card is among the first `count` of a list."""
    for k in range(count):
        if cards[k] == c:
            return True
    return False


@rule
def name_card(state, c, code):
    """Set the code of a card."""
    state.cards[c].code = code
    state.codes[c] = code
    state.traits |= TRAITS[code]
    state.triggers |= TRIGGERS[code]


@rule
def new_token(state, code, owner):
    """Create a token that has no location yet."""
    for c in range(FIRST_TOKEN, MOST_CARDS):
        card = state.cards[c]
        if card.place == 0:
            name_card(state, c, code)
            card.owner = owner
            card.controller = owner
            card.status = 0
            state.tokens += 1
            card.born = 1000 + state.tokens
            return c
    return NOBODY


@rule
def monsters_of(state, player):
    """How many monsters a player has."""
    count = 0
    for zone in range(7):
        count += state.monsters[player, zone] != NOBODY
    return count


@rule
def spells_of(state, player):
    """How many cards are in a player's spell zones, including the field zone."""
    count = 0
    for zone in range(6):
        count += state.spells[player, zone] != NOBODY
    return count


@rule
def free_monster_zones(state, player):
    """Main monster zones that are free, as bits."""
    zones = 0
    for zone in range(5):
        if state.monsters[player, zone] == NOBODY:
            zones |= 1 << zone
    return zones


@rule
def free_spell_zones(state, player):
    zones = 0
    for zone in range(5):
        if state.spells[player, zone] == NOBODY:
            zones |= 1 << zone
    return zones


@rule
def count_bits(bits):
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@rule
def pointed_at(state, c):
    """The zones that a Link monster points to: its own side in bits 0 to 6, the other side in bits 16 to 22."""
    card = state.cards[c]
    markers = CARDS[card.code].markers
    zone = card.sequence
    seen = 0
    if zone < 5:
        if markers & LEFT and zone > 0:
            seen |= 1 << (zone - 1)
        if markers & RIGHT and zone < 4:
            seen |= 1 << (zone + 1)
        if (markers & TOP and zone == 1) or (markers & TOP_RIGHT and zone == 0) or (markers & TOP_LEFT and zone == 2):
            seen |= (1 << 5) | (1 << 22)
        if (markers & TOP and zone == 3) or (markers & TOP_RIGHT and zone == 2) or (markers & TOP_LEFT and zone == 4):
            seen |= (1 << 6) | (1 << 21)
        return seen
    middle = 1 if zone == 5 else 3
    if markers & BOTTOM:
        seen |= 1 << middle
    if markers & BOTTOM_LEFT:
        seen |= 1 << (middle - 1)
    if markers & BOTTOM_RIGHT:
        seen |= 1 << (middle + 1)
    across = 3 if zone == 5 else 1
    if markers & TOP:
        seen |= 1 << (16 + across)
    if markers & TOP_LEFT:
        seen |= 1 << (16 + across + 1)
    if markers & TOP_RIGHT:
        seen |= 1 << (16 + across - 1)
    return seen


@rule
def linked_zones(state, player):
    """Own zones, as bits, that some Link monster on the field points to."""
    zones = 0
    for side in range(2):
        for zone in range(7):
            c = state.monsters[side, zone]
            if c != NOBODY and is_up(state, c) and CARDS[state.cards[c].code].types & LINK:
                seen = pointed_at(state, c)
                zones |= (seen if side == player else seen >> 16) & 0x7F
    return zones


@rule
def monster_at(state, player, zone):
    """The monster in a zone; an extra monster zone is the same square for both."""
    c = state.monsters[player, zone]
    if c == NOBODY and zone >= 5:
        c = state.monsters[1 - player, 11 - zone]
    return c


@rule
def zones_for(state, c, player):
    """Monster zones, as bits, that a card may be summoned to."""
    card = state.cards[c]
    row = CARDS[card.code]
    main = free_monster_zones(state, player)
    if card.place != EXTRA or row.types & EXTRA_DECK == 0:
        return main
    return extra_zones_for(state, row.types, player, main)


@rule
def extra_zones_for(state, types, player, main):
    """The same for a monster of the extra deck; `main` are the free main zones."""
    zones = main & linked_zones(state, player) if types & LINK else main
    occupied = state.monsters[player, 5] != NOBODY or state.monsters[player, 6] != NOBODY
    if not occupied:
        for zone in range(5, 7):
            if monster_at(state, player, zone) == NOBODY:
                zones |= 1 << zone
    return zones


@rule
def can_place_spell(state, c, player):
    """Whether there is a zone for a spell or trap of the hand."""
    if CARDS[state.cards[c].code].types & FIELD:
        return True
    return free_spell_zones(state, player) != 0


@rule
def field_card(state, player):
    return state.spells[player, FIELD_ZONE]
