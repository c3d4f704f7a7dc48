"""Goblin Attack Force: after an attack it changes to defense position and stays so for a turn."""

from ludus.games.duel.processes import change_position
from ludus.games.duel.tables.words import RESTS_AFTER_ATTACK, UP_ATTACK, UP_DEFENSE
from ludus.games.duel.values import has
from ludus.dsl import rule

REST_LENGTH = 3
"""end phases, this turn's included, before its position can change again"""


@rule
def is_due(state, c):
    return has(state, c, RESTS_AFTER_ATTACK) and state.cards[c].fought > 0 and state.cards[c].resting < REST_LENGTH


@rule
def rest(state, c, player):
    """Whether its position changes."""
    card = state.cards[c]
    card.resting = REST_LENGTH
    if card.position != UP_ATTACK:
        return False
    change_position(state, c, UP_DEFENSE, player)
    return True
