"""Resampling of hidden cards, for agents that search."""

from ludus.games.duel.actions import shuffle_deck
from ludus.games.duel.state import FIELD_ZONE, FRAME_ARGUMENTS, MOST_CARDS, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    DECK, DOWN, EXTRA_DECK, FIELD, HAND, MONSTER, MZONE, RITUAL, SPECIAL_ONLY, SZONE,
)  # fmt: skip
from ludus.dsl import rule
from ludus.dsl.random import below

TRIES = 8
"""attempts to find a partner for each swap"""


@rule
def redeal(state, seat):
    """Shuffle both decks, and exchange the opponent's hidden cards: those of deck and hand, and set cards.

    Face-down monsters stay monsters, set spells and traps stay spells and traps. Cards that a current
    process refers to are not exchanged, as the duel could not continue without them.
    """
    shuffle_deck(state, seat)
    shuffle_deck(state, 1 - seat)
    for c in range(1, MOST_CARDS):
        if is_hidden(state, seat, c) and not in_use(state, c):
            for _ in range(TRIES):
                other = 1 + below(state, MOST_CARDS - 1)
                if is_hidden(state, seat, other) and not in_use(state, other) and may_swap(state, c, other):
                    swap(state, c, other)
                    break


@rule
def swap(state, c, other):
    """Exchange the codes of two cards."""
    code = state.cards[c].code
    state.cards[c].code = state.cards[other].code
    state.cards[other].code = code
    state.codes[c] = state.cards[c].code
    state.codes[other] = code


@rule
def is_hidden(state, seat, c):
    """Whether a seat does not know which card of the opponent's main deck this is."""
    card = state.cards[c]
    if card.code == 0 or card.owner == seat or card.controller == seat or CARDS[card.code].types & EXTRA_DECK:
        return False
    return card.place == DECK or card.place == HAND or (card.place & (MZONE | SZONE) != 0 and card.position & DOWN != 0)


@rule
def may_swap(state, c, other):
    return fits(state, c, other) and fits(state, other, c)


@rule
def fits(state, c, other):
    """Whether a card could be in the location of another one."""
    types = CARDS[state.cards[c].code].types
    there = state.cards[other]
    if there.place == MZONE:
        return types & MONSTER != 0 and types & (RITUAL | SPECIAL_ONLY) == 0
    if there.place == SZONE:
        return types & MONSTER == 0 and (types & FIELD != 0) == (there.sequence == FIELD_ZONE)
    return True


@rule
def in_use(state, c):
    """Whether a question, a link or a process refers to this card."""
    for k in range(state.option_count):
        if state.options[k].card == c:
            return True
    for k in range(state.links):
        if state.chain[k].card == c:
            return True
    for k in range(state.pending_count):
        if state.pending[k].link.card == c:
            return True
    if state.attacker == c or state.attack_target == c or state.about == c:
        return c != NOBODY
    for depth in range(state.depth):
        frame = state.frames[depth]
        for k in range(FRAME_ARGUMENTS):
            if frame.args[k] == c:
                return True
        for k in range(frame.count):
            if frame.cards[k] == c:
                return True
    return False
