"""Trap Hole: destroy a monster with at least 1000 attack that was just summoned."""

from ludus.games.duel.filters import can_target
from ludus.games.duel.operations_targets import destroy_one, first_target
from ludus.games.duel.state import NOBODY
from ludus.games.duel.tables.words import MZONE
from ludus.games.duel.values import attack
from ludus.games.duel.zones import is_up
from ludus.dsl import rule

FEWEST_ATTACK = 1000


@rule
def possible(state, link):
    c = link.event.cards[0]
    return state.cards[c].place == MZONE and falls(state, c) and can_target(state, c)


@rule
def falls(state, c):
    """Whether the attack of a face-up monster is high enough."""
    return is_up(state, c) and attack(state, c) >= FEWEST_ATTACK


@rule
def resolve(state, link, player):
    c = first_target(state, link)
    if c != NOBODY and falls(state, c):
        destroy_one(state, c, player)
