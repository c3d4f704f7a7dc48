"""What a player sees: all cards as rows, the state of the duel, what can be done and what was done; all in bytes.

Own cards come first, deck (in no order), hand, monsters with what lies below them, spells and traps, graveyard,
banished cards, extra deck; then the opponent's. Numbers of 16 bits take two columns, the higher first. Of hidden cards
only the place is told, and on the field how they lie. With `oppo_info` they are open, and `mask_` tells what is seen.
"""

import numpy as np

from ludus.games.duel import describing, values
from ludus.games.duel.describing import POSITION_IDS
from ludus.games.duel.state import (
    BANISHED_PILE, BEING_SUMMONED, DECK_PILE, EXTRA_PILE, GRAVE_PILE, HAND_PILE, MOST_ACTIONS, MOST_CARDS,
    MOST_HISTORY, NOBODY,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, CHANGES, ROWS
from ludus.games.duel.tables.words import COPIES_EQUIP, DOWN, EQUIP, LINK, MONSTER, SPELL, UP
from ludus.words import PLAYING, rule, u8, within

SHOWN, CARD_COLUMNS, GLOBAL_COLUMNS, MASK_COLUMNS = MOST_CARDS - 1, 41, 23, 14
FIELDS = {
    "cards_": within(0, 255, u8, SHOWN, CARD_COLUMNS), "global_": within(0, 255, u8, GLOBAL_COLUMNS),
    "actions_": within(0, 255, u8, MOST_ACTIONS, describing.COLUMNS),
    "h_actions_": within(0, 255, u8, MOST_HISTORY, describing.HISTORY_COLUMNS),
    "mask_": within(0, 255, u8, SHOWN, MASK_COLUMNS),
}  # fmt: skip
(ID_HIGH, ID_LOW, LOCATION, SEQUENCE, CONTROLLER, POSITION, IS_OVERLAY, ATTRIBUTE, RACE, LEVEL, COUNTERS, NEGATED,
 ATTACK, _, DEFENSE, _, TYPES) = range(17)  # fmt: skip
IN_DECK, IN_HAND, ON_MZONE, ON_SZONE, IN_GRAVE, IS_BANISHED, IN_EXTRA = range(1, 8)
FACE_UP, FACE_DOWN = 5, 7
"""positions, where there is neither attack nor defense"""
TYPE_BITS = tuple(1 << bit for bit in range(27) if bit not in (3, 15))
MOST_COUNTERS, MOST_TURN, MOST_LIFE, MOST_PACKED = 15, 16, 65535, 7


def _look(row, card):
    """All columns that are the same wherever a card lies."""
    attack, defense = max(card.attack, 0), 0 if card.types & LINK else max(card.defense, 0)
    types = [int(card.types & bit != 0) for bit in TYPE_BITS]
    return [row // 256, row % 256, 0, 0, 0, 0, 0, card.attribute.bit_length(), card.race.bit_length(), card.level, 0, 0,
            attack // 256, attack % 256, defense // 256, defense % 256, *types]  # fmt: skip


LOOKS = np.array([_look(row, card) for row, card in enumerate(ROWS)], np.uint8)
LOOKS[0] = 0


@rule
def observe(state, seat, out):
    for row in range(SHOWN):
        for column in range(MASK_COLUMNS):
            out.mask_[row, column] = 0
    sources = changing_cards(state)
    row = see_side(state, seat, seat, True, sources, out, 0)
    row = see_side(state, seat, 1 - seat, state.oppo_info != 0, sources, out, row)
    clear(out, row, SHOWN)
    see_numbers(state, seat, out)
    see_actions(state, seat, out)
    describing.see_history(state, seat, out.h_actions_)


@rule
def clear(out, first, last):
    """Rows of nothing."""
    for row in range(first, last):
        for column in range(CARD_COLUMNS):
            out.cards_[row, column] = 0


@rule
def changing_cards(state):
    """The cards on the field that change attack or defense of monsters now, packed into one number, eight bits each;
    -1 where they are too many for that."""
    found = 0
    count = 0
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY and CARDS[state.codes[c]].changes and values.works(state, c):
                found = found << 8 | np.int64(c)
                count += 1
        for zone in range(6):
            c = state.spells[player, zone]
            if c != NOBODY and changes_others(CARDS[state.codes[c]]) and values.works(state, c):
                found = found << 8 | np.int64(c)
                count += 1
    return found if count <= MOST_PACKED else -1


@rule
def changes_others(row):
    """Whether a card among the spells changes monsters; a monster that serves as an equip card does not."""
    return row.changes and row.types & MONSTER == 0


@rule
def changes_of(state, c, sources):
    """What these cards add to a monster's attack and to its defense."""
    attack = 0
    defense = 0
    while sources:
        source = sources & 255
        sources >>= 8
        row = CARDS[state.codes[source]]
        for number in range(row.first_change, row.first_change + row.changes):
            change = CHANGES[number]
            if values.concerns(state, change, source, c):
                times = values.counted(state, change.per, source)
                attack += change.attack * times
                defense += change.defense * times
    return attack, defense


@rule
def see_side(state, seat, player, is_open, sources, out, row):
    """One player's cards, from this row on; the row after them."""
    row = see_deck(state, seat, player, is_open, out, row)
    row = see_pile(state, seat, player, HAND_PILE, IN_HAND, is_open, out, row)
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY:
            row = see_monster(state, seat, c, zone, is_open, sources, out, row)
    for zone in range(6):
        c = state.spells[player, zone]
        if c != NOBODY:
            see_spell(state, seat, c, zone, is_open, out, row)
            row += 1
    row = see_pile(state, seat, player, GRAVE_PILE, IN_GRAVE, True, out, row)
    row = see_pile(state, seat, player, BANISHED_PILE, IS_BANISHED, True, out, row)
    return see_pile(state, seat, player, EXTRA_PILE, IN_EXTRA, is_open, out, row)


@rule
def see_deck(state, seat, player, is_open, out, row):
    """A deck in the order of card numbers: its own order is nobody's to know."""
    if not is_open:
        return see_hidden(state, player, DECK_PILE, IN_DECK, out, row)
    first = state.first_card[player]
    numbers = np.int64(0)
    for k in range(state.sizes[player, DECK_PILE]):
        numbers |= np.int64(1) << np.int64(state.piles[player, DECK_PILE, k] - first)
    c = first
    while numbers:
        if numbers & 1:
            see_card(state.codes[c], out, row)
            out.cards_[row, LOCATION] = IN_DECK
            out.cards_[row, POSITION] = FACE_DOWN
            out.cards_[row, CONTROLLER] = player != seat
            if state.oppo_info:
                see_mask(out, row, player == seat, False)
            row += 1
        numbers >>= 1
        c += 1
    return row


@rule
def see_hidden(state, player, pile, location, out, row):
    """Cards of which only the place is known."""
    last = row + state.sizes[player, pile]
    clear(out, row, last)
    for k in range(row, last):
        out.cards_[k, LOCATION] = location
        out.cards_[k, CONTROLLER] = 1
    return last


@rule
def see_pile(state, seat, player, pile, location, is_open, out, row):
    """Cards of a pile; only banished ones may lie in either way."""
    if not is_open:
        return see_hidden(state, player, pile, location, out, row)
    for k in range(state.sizes[player, pile]):
        c = state.piles[player, pile, k]
        down = location != IN_GRAVE
        if location == IS_BANISHED:
            down = state.cards[c].position & DOWN != 0
        seen = player == seat or not down
        see_card(state.codes[c] if seen or state.oppo_info else 0, out, row)
        out.cards_[row, LOCATION] = location
        out.cards_[row, CONTROLLER] = player != seat
        if location == IN_GRAVE:
            out.cards_[row, SEQUENCE] = k + 1
        out.cards_[row, POSITION] = FACE_DOWN if down else FACE_UP
        if state.oppo_info:
            see_mask(out, row, seen, location == IS_BANISHED)
        row += 1
    return row


@rule
def see_card(code, out, row):
    """What is printed on a card; nothing where the code is 0."""
    for column in range(CARD_COLUMNS):
        out.cards_[row, column] = LOOKS[code, column]


@rule
def see_mask(out, row, seen, lies_open):
    """What is really seen of a card: everything, or where it lies, and on the field also how."""
    for column in range(MASK_COLUMNS):
        out.mask_[row, column] = seen
    if not seen:
        out.mask_[row, 1] = 1
        out.mask_[row, 3] = 1
        for column in range(2, 6):
            if lies_open:
                out.mask_[row, column] = 1


@rule
def see_lying(state, seat, c, location, zone, out, row):
    """How a card lies on the field."""
    card = state.cards[c]
    out.cards_[row, LOCATION] = location
    out.cards_[row, SEQUENCE] = zone + 1
    out.cards_[row, CONTROLLER] = card.controller != seat
    out.cards_[row, POSITION] = POSITION_IDS[card.position]


@rule
def see_monster(state, seat, c, zone, is_open, sources, out, row):
    """A monster, and what lies below it; the row after them."""
    card = state.cards[c]
    seen = card.controller == seat or card.position & UP != 0
    see_card(card.code if seen or is_open else 0, out, row)
    if seen or is_open:
        see_strength(state, c, sources, out, row)
        out.cards_[row, COUNTERS] = min(card.counters, MOST_COUNTERS)
        out.cards_[row, NEGATED] = card.negated != 0
    see_lying(state, seat, c, ON_MZONE, zone, out, row)
    if state.oppo_info:
        see_mask(out, row, seen, True)
    row += 1
    for k in range(card.overlays):
        see_card(state.cards[card.overlay[k]].code, out, row)
        out.cards_[row, LOCATION] = ON_MZONE
        out.cards_[row, SEQUENCE] = zone + 1
        out.cards_[row, CONTROLLER] = card.controller != seat
        out.cards_[row, POSITION] = FACE_UP
        out.cards_[row, IS_OVERLAY] = 1
        if state.oppo_info:
            see_mask(out, row, True, True)
        row += 1
    return row


@rule
def see_strength(state, c, sources, out, row):
    """Attack and defense, where they are not as printed; for most monsters without looking at the whole field."""
    card = state.cards[c]
    if sources < 0 or CARDS[card.code].traits & COPIES_EQUIP:
        write_number(out, row, ATTACK, values.attack(state, c))
        write_number(out, row, DEFENSE, values.defense(state, c))
        return
    if card.position & UP == 0 or card.status & BEING_SUMMONED:
        sources = 0
    if sources or card.attack_up or card.calculation_up or card.defense_up or card.swapped:
        attack, defense = changes_of(state, c, sources)
        raised = card.attack_up + card.calculation_up + attack
        write_number(out, row, ATTACK, values.base_attack(state, c) + raised)
        if CARDS[card.code].types & LINK == 0:
            write_number(out, row, DEFENSE, values.base_defense(state, c) + card.defense_up + defense)


@rule
def write_number(out, row, column, value):
    value = max(0, min(value, MOST_LIFE))
    out.cards_[row, column] = value // 256
    out.cards_[row, column + 1] = value % 256


@rule
def see_spell(state, seat, c, zone, is_open, out, row):
    card = state.cards[c]
    seen = card.controller == seat or card.position & UP != 0
    see_card(card.code if seen or is_open else 0, out, row)
    if seen or is_open:
        out.cards_[row, COUNTERS] = min(card.counters, MOST_COUNTERS)
        out.cards_[row, NEGATED] = values.negated(state, c)
        if CARDS[card.code].types & MONSTER:
            for k in range(len(TYPE_BITS)):
                out.cards_[row, TYPES + k] = TYPE_BITS[k] & (SPELL | EQUIP) != 0
    see_lying(state, seat, c, ON_SZONE, zone, out, row)
    if state.oppo_info:
        see_mask(out, row, seen, True)


@rule
def see_numbers(state, seat, out):
    """Life points, turn, phase, whose turn it is, and how many cards lie where."""
    seen = out.global_
    for k in range(2):
        player = seat if k == 0 else 1 - seat
        life = max(0, min(state.life[player], MOST_LIFE))
        seen[2 * k] = life // 256
        seen[2 * k + 1] = life % 256
        at = 8 + 7 * k
        seen[at] = state.sizes[player, DECK_PILE]
        seen[at + 1] = state.sizes[player, HAND_PILE]
        monsters = 0
        for zone in range(7):
            monsters += state.monsters[player, zone] != NOBODY
        seen[at + 2] = monsters
        seen[at + 3] = describing.spell_rows(state, player, 8)
        seen[at + 4] = state.sizes[player, GRAVE_PILE]
        seen[at + 5] = state.sizes[player, BANISHED_PILE]
        seen[at + 6] = state.sizes[player, EXTRA_PILE]
    seen[4] = min(state.turn, MOST_TURN)
    seen[5] = describing.phase_id(state)
    seen[6] = seat == state.first_player
    seen[7] = seat == state.turn_player
    seen[22] = state.status != PLAYING


@rule
def see_actions(state, seat, out):
    """What the seat can do now; nothing where another seat is asked, or nobody."""
    count = state.menu_count if seat == state.asked else 0
    for action in range(count):
        describing.describe(state, seat, action, out.actions_, action)
    for action in range(count, MOST_ACTIONS):
        for column in range(describing.COLUMNS):
            out.actions_[action, column] = 0
