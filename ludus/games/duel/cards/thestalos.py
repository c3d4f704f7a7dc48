"""Thestalos the Firestorm Monarch: the opponent discards a random card and takes damage if it is a monster."""

from ludus.games.duel.card_moves import hurt
from ludus.games.duel.operations_hand import DISCARDED
from ludus.games.duel.state import NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import MONSTER
from ludus.dsl import rule


@rule
def go_on(state, frame, player):
    """Damage for a discarded monster: 100 times its level."""
    c = frame.args[DISCARDED]
    if c != NOBODY and CARDS[state.cards[c].code].types & MONSTER:
        hurt(state, 1 - player, 100 * CARDS[state.cards[c].code].level)
