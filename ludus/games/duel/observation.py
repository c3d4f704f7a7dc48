"""The observation of a seat: all cards as rows, global values, actions and history; all in bytes.

Own cards come first: deck (sorted by number), hand, monsters with their materials, spells and traps, graveyard,
banished cards, extra deck; then the opponent's. Numbers of 16 bits take two columns, the high byte first. Hidden cards
only have a location, and on the field a position. With `oppo_info` they are shown, and `mask_` says what the seat can
see.
"""

import numpy as np

from ludus.games.duel import action_features, values
from ludus.games.duel.action_features import POSITION_IDS
from ludus.games.duel.state import (
    BANISHED_PILE, BEING_SUMMONED, DECK_PILE, EXTRA_PILE, GRAVE_PILE, HAND_PILE, MOST_ACTIONS, MOST_CARDS, MOST_HISTORY,
    NOBODY,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, CHANGES, ROWS
from ludus.games.duel.tables.words import COPIES_EQUIP, DOWN, EQUIP, LINK, MONSTER, SPELL, UP
from ludus.dsl import PLAYING, rule, u8, within

SHOWN, CARD_COLUMNS, GLOBAL_COLUMNS, MASK_COLUMNS = MOST_CARDS - 1, 41, 23, 14
FIELDS = {
    "cards_": within(0, 255, u8, SHOWN, CARD_COLUMNS), "global_": within(0, 255, u8, GLOBAL_COLUMNS),
    "actions_": within(0, 255, u8, MOST_ACTIONS, action_features.COLUMNS),
    "h_actions_": within(0, 255, u8, MOST_HISTORY, action_features.HISTORY_COLUMNS),
    "mask_": within(0, 255, u8, SHOWN, MASK_COLUMNS),
}  # fmt: skip
(ID_HIGH, ID_LOW, LOCATION, SEQUENCE, CONTROLLER, POSITION, IS_OVERLAY, ATTRIBUTE, RACE, LEVEL, COUNTERS, NEGATED,
 ATTACK, _, DEFENSE, _, TYPES) = range(17)  # fmt: skip
IN_DECK, IN_HAND, ON_MZONE, ON_SZONE, IN_GRAVE, IS_BANISHED, IN_EXTRA = range(1, 8)
FACE_UP, FACE_DOWN = 5, 7
"""positions of cards outside of the monster zones"""
TYPE_BITS = tuple(1 << bit for bit in range(27) if bit not in (3, 15))
MOST_COUNTERS, MOST_TURN, MOST_LIFE, MOST_PACKED = 15, 16, 65535, 7


def _look(row, card):
    """All columns that do not depend on the location of a card."""
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
    action_features.see_history(state, seat, out.h_actions_)


@rule
def clear(out, first, last):
    """Clear rows."""
    for row in range(first, last):
        for column in range(CARD_COLUMNS):
            out.cards_[row, column] = 0


@rule
def changing_cards(state):
    """The cards on the field that change attack or defense of monsters, packed into one number with eight bits each;
    -1 if they are too many."""
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
    """Whether a card in a spell zone changes values of monsters; an equipped monster does not."""
    return row.changes and row.types & MONSTER == 0


@rule
def changes_of(state, c, sources):
    """The sum of the changes of attack and of defense by these cards."""
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
    """Write one player's cards, beginning at a row; the row after them."""
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
    """Write a deck in the order of card numbers, as its real order is hidden."""
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
    """Write cards of which only the location is known."""
    last = row + state.sizes[player, pile]
    clear(out, row, last)
    for k in range(row, last):
        out.cards_[k, LOCATION] = location
        out.cards_[k, CONTROLLER] = 1
    return last


@rule
def see_pile(state, seat, player, pile, location, is_open, out, row):
    """Write the cards of a pile; only banished ones can be face-up or face-down."""
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
    """Write the printed values of a card; nothing if the code is 0."""
    for column in range(CARD_COLUMNS):
        out.cards_[row, column] = LOOKS[code, column]


@rule
def see_mask(out, row, seen, lies_open):
    """Write what the seat sees of a card: everything, or its location, and on the field its position."""
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
    """The position of a card on the field."""
    card = state.cards[c]
    out.cards_[row, LOCATION] = location
    out.cards_[row, SEQUENCE] = zone + 1
    out.cards_[row, CONTROLLER] = card.controller != seat
    out.cards_[row, POSITION] = POSITION_IDS[card.position]


@rule
def see_monster(state, seat, c, zone, is_open, sources, out, row):
    """Write a monster and its materials; the row after them."""
    card = state.cards[c]
    seen = card.controller == seat or card.position & UP != 0
    see_card(card.code if seen or is_open else 0, out, row)
    if seen or is_open:
        see_strength(state, c, sources, out, row)
        out.cards_[row, COUNTERS] = min(card.counters, MOST_COUNTERS)
        out.cards_[row, NEGATED] = card.negated > 0
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
    """Write attack and defense where they differ from the printed ones; most monsters need no scan of the field."""
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
    """Write life points, turn, phase, the turn player, and the number of cards in each location."""
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
        seen[at + 3] = action_features.spell_rows(state, player, 8)
        seen[at + 4] = state.sizes[player, GRAVE_PILE]
        seen[at + 5] = state.sizes[player, BANISHED_PILE]
        seen[at + 6] = state.sizes[player, EXTRA_PILE]
    seen[4] = min(state.turn, MOST_TURN)
    seen[5] = action_features.phase_id(state)
    seen[6] = seat == state.first_player
    seen[7] = seat == state.turn_player
    seen[22] = state.status != PLAYING


@rule
def see_actions(state, seat, out):
    """Write the actions of the seat; none if another seat is asked, or nobody."""
    count = state.menu_count if seat == state.asked else 0
    for action in range(count):
        action_features.describe(state, seat, action, out.actions_, action)
    for action in range(count, MOST_ACTIONS):
        for column in range(action_features.COLUMNS):
            out.actions_[action, column] = 0
