"""Features of actions: twelve columns each, and the history of actions of each player, the newest first."""

import numpy as np

from ludus.games.duel.state import (
    ACTIVATES, ANNOUNCE_RACE, ATTACKS, BANISHED_PILE, BATTLE, CANCELS, CARD, CHAIN, CHOOSES, DAMAGE_STEP, DECK_PILE,
    DECLARES, EFFECT_YESNO, FINISHES, GRAVE_PILE, HAND_PILE, IDLE, MOST_HISTORY, NOBODY, OPTION, PASSES, PICKS, PLACE,
    PLACES, POSITION, POSITIONS, REPOSITIONS, SAYS_NO, SAYS_YES, SETS_MONSTER, SETS_SPELL, SPECIAL_SUMMONS, SUM,
    SUMMONS, TO_BATTLE, TO_END, TO_MAIN_2, TRIBUTE, UNSELECT, YESNO,
)  # fmt: skip
from ludus.games.duel.tables import EFFECTS
from ludus.games.duel.tables.words import BANISHED, DECK, EXTRA, GRAVE, HAND, MZONE, NO_TEXT, OVERLAY, SYSTEM, SZONE, UP
from ludus.dsl import rule

COLUMNS, HISTORY_COLUMNS = 12, 14
(SPEC, ID_HIGH, ID_LOW, MESSAGE, ACT, FINISH, EFFECT, PHASE, POSITION_ID, NUMBER, PLACE_ID, ATTRIBUTE) = range(COLUMNS)
AGE, PHASE_THEN = 12, 13
MOST_AGE = 16
SET, REPOSITION, SPECIAL_SUMMON, SUMMON, SUMMON_DOWN, ATTACK, DIRECT_ATTACK, ACTIVATE, CANCEL = range(1, 10)
TO_BATTLE_ID, TO_MAIN_2_ID, TO_END_ID = 1, 2, 3
PLAIN_TEXT, FIRST_OWN_TEXT, FIRST_SYSTEM_TEXT, OTHER_TEXT = 1, 2, 16, 255
SYSTEM_TEXTS = (30, 31, 60, 61, 90, 96, 221, 1068, 1105, 1170, 1171)
"""lines of text of the game itself, numbered from FIRST_SYSTEM_TEXT; smaller numbers are lines of a card"""
FIRST_RACE = FIRST_SYSTEM_TEXT + len(SYSTEM_TEXTS)
"""announced types share the column of texts"""
LEAST_SYSTEM_TEXT = 30


def _numbered(pairs, size):
    table = np.zeros(size, np.int64)
    for place, value in pairs:
        table[place] = value
    return table


MESSAGE_IDS = _numbered(
    ((IDLE, 1), (CHAIN, 2), (CARD, 3), (TRIBUTE, 4), (POSITION, 5), (EFFECT_YESNO, 6), (YESNO, 7), (BATTLE, 8),
     (UNSELECT, 9), (OPTION, 10), (PLACE, 11), (SUM, 12), (ANNOUNCE_RACE, 17)), 14)  # fmt: skip
ACTS = _numbered(
    ((SUMMONS, SUMMON), (SPECIAL_SUMMONS, SPECIAL_SUMMON), (REPOSITIONS, REPOSITION), (SETS_MONSTER, SUMMON_DOWN),
     (SETS_SPELL, SET), (ACTIVATES, ACTIVATE), (ATTACKS, ATTACK), (PASSES, CANCEL), (CANCELS, CANCEL),
     (SAYS_NO, CANCEL), (SAYS_YES, ACTIVATE)), 21)  # fmt: skip
PHASES = _numbered(((TO_BATTLE, TO_BATTLE_ID), (TO_MAIN_2, TO_MAIN_2_ID), (TO_END, TO_END_ID)), 21)
POSITION_IDS = _numbered(((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (8, 6), (10, 7), (12, 8)), 16)
PHASE_IDS = _numbered(((1 << place, place) for place in range(10)), 1024)
SYSTEM_IDS = _numbered(((text, FIRST_SYSTEM_TEXT + place) for place, text in enumerate(SYSTEM_TEXTS)), 1200)
SYSTEM_IDS[SYSTEM_IDS == 0] = OTHER_TEXT


def _text_id(text: int) -> int:
    if text == NO_TEXT:
        return PLAIN_TEXT
    return int(SYSTEM_IDS[text - SYSTEM]) if text >= SYSTEM else FIRST_OWN_TEXT + text


TEXT_IDS = np.array([_text_id(int(text)) for text in EFFECTS["text"]])
"""by effect"""


@rule
def phase_id(state):
    """The phase that was announced, and the damage step inside the battle phase."""
    return PHASE_IDS[DAMAGE_STEP if state.in_damage_step else state.told_phase]


@rule
def line_id(line):
    return SYSTEM_IDS[line] if line >= LEAST_SYSTEM_TEXT else FIRST_OWN_TEXT + line


@rule
def describe(state, seat, action, rows, at):
    """Write the twelve columns of an action that the seat may choose."""
    for column in range(COLUMNS):
        rows[at, column] = 0
    question = state.question
    rows[at, MESSAGE] = MESSAGE_IDS[question]
    entry = state.menu[action]
    if entry < 0:
        rows[at, FINISH] = entry == -1
        return
    option = state.options[entry]
    kind = option.kind
    c = option.card
    rows[at, ACT] = ACTS[kind]
    rows[at, PHASE] = PHASES[kind]
    if kind == PLACES:
        rows[at, PLACE_ID] = 1 + option.value + 7 * (option.effect == SZONE) + 15 * (c != seat)
        return
    if kind == ACTIVATES:
        rows[at, EFFECT] = TEXT_IDS[option.effect] if option.effect >= 0 else PLAIN_TEXT
    elif kind == ATTACKS:
        rows[at, ACT] = DIRECT_ATTACK if option.value else ATTACK
    elif kind == POSITIONS:
        rows[at, POSITION_ID] = POSITION_IDS[option.value]
    elif kind == CHOOSES:
        rows[at, EFFECT] = line_id(option.value)
    elif kind == DECLARES:
        rows[at, EFFECT] = FIRST_RACE + lowest_bit(option.value)
    elif kind == FINISHES:
        rows[at, FINISH] = 1
    elif kind == SAYS_YES:
        rows[at, EFFECT] = line_id(state.line)
        c = state.about
    if c != NOBODY:
        rows[at, SPEC] = 0 if kind == POSITIONS or kind == CHOOSES else row_of(state, seat, c) + 1
        if is_seen(state, seat, c) or (kind == PICKS and state.cards[c].place == HAND):
            rows[at, ID_HIGH] = state.cards[c].code // 256
            rows[at, ID_LOW] = state.cards[c].code % 256


@rule
def lowest_bit(bits):
    place = 0
    while bits >> place & 1 == 0:
        place += 1
    return place


@rule
def is_seen(state, seat, c):
    """Whether a seat knows which card this is."""
    card = state.cards[c]
    if card.place == OVERLAY or card.controller == seat:
        return True
    return card.position & UP != 0 and card.place != HAND and card.place != DECK


@rule
def monster_rows(state, player, zones):
    """How many rows the monsters in the first zones take, with their materials."""
    count = 0
    for zone in range(zones):
        c = state.monsters[player, zone]
        if c != NOBODY:
            count += 1 + state.cards[c].overlays
    return count


@rule
def spell_rows(state, player, zones):
    count = 0
    for zone in range(zones):
        count += state.spells[player, zone] != NOBODY
    return count


@rule
def row_of(state, seat, c):
    """The row of a card in the observation of a seat: own cards first; deck, hand, monsters, spells, graveyard,
    banished cards, extra deck."""
    above = c
    below = 0
    if state.cards[c].place == OVERLAY:
        above = state.cards[c].overlaid_on
        below = 1 + state.cards[c].sequence
    card = state.cards[above]
    player = card.controller
    place = card.place
    row = np.int64(below)
    if player != seat:
        row += monster_rows(state, seat, 7) + spell_rows(state, seat, 8)
        for pile in range(5):
            row += state.sizes[seat, pile]
    if place == DECK:
        for k in range(state.sizes[player, DECK_PILE]):
            row += state.piles[player, DECK_PILE, k] < above
        return row
    row += state.sizes[player, DECK_PILE]
    if place == HAND:
        return row + card.sequence
    row += state.sizes[player, HAND_PILE]
    if place == MZONE:
        return row + monster_rows(state, player, card.sequence)
    row += monster_rows(state, player, 7)
    if place == SZONE:
        return row + spell_rows(state, player, card.sequence)
    row += spell_rows(state, player, 8)
    if place == GRAVE:
        return row + card.sequence
    row += state.sizes[player, GRAVE_PILE]
    if place == BANISHED:
        return row + card.sequence
    row += state.sizes[player, BANISHED_PILE]
    return row + card.sequence if place == EXTRA else -1


@rule
def remember(state, action):
    """Append a player's action to the history; passing, refusing and cancelling are not recorded."""
    player = state.asked
    entry = state.menu[action]
    if entry >= 0 and ACTS[state.options[entry].kind] == CANCEL:
        return
    at = newest(state, player, 1)
    rows = state.history[player]
    describe(state, player, action, rows, at)
    rows[at, SPEC] = 0
    rows[at, AGE] = 0
    rows[at, PHASE_THEN] = phase_id(state)
    state.history_turn[player, at] = state.turn
    state.history_count[player] += 1


@rule
def newest(state, player, more):
    """The row of a player's newest action after `more` further ones; the history is a ring that is written from the
    last row up."""
    return (MOST_HISTORY - (state.history_count[player] + more) % MOST_HISTORY) % MOST_HISTORY


@rule
def see_history(state, seat, out):
    """Copy the history of a seat, the newest first; in two blocks, as long loops are much faster than short ones."""
    at = newest(state, seat, 0)
    kept = state.history[seat].reshape(MOST_HISTORY * HISTORY_COLUMNS)
    seen = out.reshape(MOST_HISTORY * HISTORY_COLUMNS)
    before = at * HISTORY_COLUMNS
    behind = (MOST_HISTORY - at) * HISTORY_COLUMNS
    for k in range(behind):
        seen[k] = kept[before + k]
    for k in range(before):
        seen[behind + k] = kept[k]
    for row in range(min(state.history_count[seat], MOST_HISTORY)):
        out[row, AGE] = min(MOST_AGE, state.turn - state.history_turn[seat, (at + row) % MOST_HISTORY])
