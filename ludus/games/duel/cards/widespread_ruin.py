"""Widespread Ruin: destroy the strongest attack position monster of the attacking player."""

from ludus.games.duel.operations_destroy import destroy_extreme
from ludus.games.duel.state import NOBODY
from ludus.games.duel.tables.words import DESTROY_STRONGEST_ATTACKER, UP_ATTACK
from ludus.dsl import rule


@rule
def possible(state, player):
    return state.cards[state.attacker].controller != player and has_attacker(state, 1 - player)


@rule
def has_attacker(state, player):
    """Whether a player has a monster in face-up attack position."""
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY and state.cards[c].position == UP_ATTACK:
            return True
    return False


@rule
def resolve(state, frame, player):
    destroy_extreme(state, frame, DESTROY_STRONGEST_ATTACKER, False, player)
