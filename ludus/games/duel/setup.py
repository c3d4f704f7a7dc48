"""Decks of a duel: parsed from the game's parameters, chosen at random, shuffled and dealt."""

import functools

import numpy as np

from ludus.games.duel import machine, stages, ydk
from ludus.games.duel.actions import open_menu, shuffle_deck
from ludus.games.duel.state import DECK_PILE, EXTRA_PILE, MOST_IN_DECK, MOST_IN_EXTRA, MOST_IN_MAIN
from ludus.games.duel.tables import ROWS, ROW_OF
from ludus.games.duel.tables.words import DECK, DOWN, EXTRA
from ludus.games.duel.zones import name_card
from ludus.dsl import rule
from ludus.dsl.random import below

RANDOM, ANY = "random", "any"
MADE_UP, ANY_GIVEN = 0, -1
"""first value in the field of a deck that is chosen at random; otherwise it is the row of a card"""
EITHER = 2
SIZE, MONSTERS, TRIBUTES, SPELLS, COPIES = 40, 22, 6, 12, 3
"""of a random deck: cards, monsters, monsters that need tributes, spells, copies of a card"""


def _rows(kind, fits=lambda card: True):
    return np.array([row for row, card in enumerate(ROWS) if row and stages.kind_of(card) == kind and fits(card)])


LIGHT_ROWS = _rows(stages.MONSTER, lambda card: card.level < ydk.TRIBUTE_LEVEL)
HEAVY_ROWS = _rows(stages.MONSTER, lambda card: card.level >= ydk.TRIBUTE_LEVEL)
SPELL_ROWS, TRAP_ROWS, EXTRA_ROWS = _rows(stages.SPELL), _rows(stages.TRAP), _rows(stages.EXTRA)


def as_rows(deck: ydk.Deck) -> np.ndarray:
    """A deck as the state holds it: rows of main deck and extra deck, each sorted, with zeros behind them."""
    rows = np.zeros(MOST_IN_DECK, np.int16)
    rows[: len(deck.main)] = sorted(ROW_OF[code] for code in deck.main)
    rows[MOST_IN_MAIN : MOST_IN_MAIN + len(deck.extra)] = sorted(ROW_OF[code] for code in deck.extra)
    return rows


@functools.cache
def _named(name: str) -> np.ndarray:
    return as_rows(ydk.named(name))


def parse(text: str) -> np.ndarray:
    """The field of a deck: from its name, a file, `random` or `any`."""
    if text in (RANDOM, ANY):
        rows = np.zeros(MOST_IN_DECK, np.int16)
        rows[0] = MADE_UP if text == RANDOM else ANY_GIVEN
        return rows
    return _named(text) if text in ydk.names() else as_rows(ydk.find_deck(text))


DECKS = np.stack([_named(name) for name in ydk.names()])


@rule
def deal(state):
    """Set up the decks, deal the opening hands, and run to the first question."""
    first = state.starts + 0
    if first == EITHER:
        first = below(state, 2)
    state.first_player = first
    state.turn_player = first
    for player in range(2):
        state.life[player] = state.points
    choose_deck(state, state.deck1)
    choose_deck(state, state.deck2)
    last = lay_out(state, 0, state.deck1, 0)
    state.stamps = lay_out(state, 1, state.deck2, last)
    for player in range(2):
        shuffle_deck(state, player)
    machine.begin(state, state.opening)
    state.seat = state.asked
    open_menu(state)


@rule
def choose_deck(state, deck):
    """Choose a deck at random if none is given."""
    if deck[0] == ANY_GIVEN:
        number = below(state, len(DECKS))
        for k in range(MOST_IN_DECK):
            deck[k] = DECKS[number, k]
    elif deck[0] == MADE_UP:
        make_up(state, deck)


@rule
def make_up(state, deck):
    """Make a random legal deck of monsters (few of which need tributes), spells, traps and extra deck cards."""
    size = draw_cards(state, deck, 0, below(state, TRIBUTES + 1), HEAVY_ROWS)
    size = draw_cards(state, deck, size, MONSTERS - size, LIGHT_ROWS)
    size = draw_cards(state, deck, size, SPELLS, SPELL_ROWS)
    draw_cards(state, deck, size, SIZE - size, TRAP_ROWS)
    draw_extra(state, deck)


@rule
def draw_cards(state, deck, size, count, rows):
    """Insert `count` random cards into a sorted deck; its new size."""
    wanted = size + count
    while size < wanted:
        row = rows[below(state, len(rows))]
        copies = 0
        for k in range(size):
            copies += deck[k] == row
        if copies < COPIES:
            sort_in(deck, 0, size, row)
            size += 1
    return size


@rule
def sort_in(deck, first, last, row):
    at = last
    while at > first and deck[at - 1] > row:
        deck[at] = deck[at - 1]
        at -= 1
    deck[at] = row


@rule
def draw_extra(state, deck):
    """Add up to fifteen different extra deck cards, each with the same probability."""
    taken = 0
    for k in range(len(EXTRA_ROWS)):
        if taken < MOST_IN_EXTRA and below(state, len(EXTRA_ROWS) - k) < MOST_IN_EXTRA - taken:
            deck[MOST_IN_MAIN + taken] = EXTRA_ROWS[k]
            taken += 1


@rule
def lay_out(state, player, deck, number):
    """Create the cards of a deck with consecutive numbers; the last number."""
    state.first_card[player] = number + 1
    for k in range(MOST_IN_DECK):
        if deck[k]:
            number += 1
            card = state.cards[number]
            main = k < MOST_IN_MAIN
            pile = DECK_PILE if main else EXTRA_PILE
            name_card(state, number, deck[k])
            card.owner = player
            card.controller = player
            card.place = DECK if main else EXTRA
            card.position = DOWN
            card.sequence = state.sizes[player, pile]
            card.stamp = number
            card.born = number
            state.piles[player, pile, state.sizes[player, pile]] = number
            state.sizes[player, pile] += 1
    return number
