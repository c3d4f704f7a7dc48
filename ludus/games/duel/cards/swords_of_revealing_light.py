"""Swords of Revealing Light: it shows face-down monsters and stays for three turns of the opponent."""

from ludus.games.duel.operations_targets import all_or_done
from ludus.games.duel.processes import change_position, destroy, put_in
from ludus.games.duel.state import BY_RULE, NOBODY
from ludus.games.duel.tables.words import LASTS_THREE_TURNS, UP_DEFENSE
from ludus.games.duel.values import has
from ludus.games.duel.zones import is_up
from ludus.dsl import rule

MOST_TURNS = 3


@rule
def resolve(state, player):
    """Turn the opponent's face-down monsters face-up."""
    work = change_position(state, NOBODY, UP_DEFENSE, player)
    work.count = 0
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and not is_up(state, c):
            put_in(work, c)
    all_or_done(state, work)


@rule
def is_due(state, c, player):
    """Whether this turn of the opponent was not counted yet."""
    return state.turn_player != player and has(state, c, LASTS_THREE_TURNS) and state.cards[c].lasting != state.turn


@rule
def count_turn(state, c, player):
    """Count a turn; whether the card is destroyed after it."""
    card = state.cards[c]
    card.lasting = state.turn
    card.turns += 1
    if card.turns < MOST_TURNS:
        return False
    put_in(destroy(state, BY_RULE, player), c)
    return True
