"""Bottomless Trap Hole: destroy and banish monsters with at least 1500 attack that were just summoned."""

from ludus.games.duel.operations_targets import all_or_done
from ludus.games.duel.processes import DESTROY_TO, destroy, put_in
from ludus.games.duel.state import BY_EFFECT
from ludus.games.duel.tables.words import BANISHED, MZONE
from ludus.games.duel.values import attack
from ludus.games.duel.zones import is_up
from ludus.dsl import rule

FEWEST_ATTACK = 1500


@rule
def possible(state, link):
    for k in range(link.event.count):
        if falls(state, link.event.cards[k]):
            return True
    return False


@rule
def falls(state, c):
    """Whether a monster is face-up on the field and its attack is high enough."""
    return state.cards[c].place == MZONE and is_up(state, c) and attack(state, c) >= FEWEST_ATTACK


@rule
def resolve(state, link, player):
    """Destroy the summoned monsters; those that came after the activation (a higher stamp) are spared."""
    work = destroy(state, BY_EFFECT, player)
    work.args[DESTROY_TO] = BANISHED
    for k in range(link.event.count):
        c = link.event.cards[k]
        if state.cards[c].stamp <= link.value and falls(state, c):
            put_in(work, c)
    all_or_done(state, work)
