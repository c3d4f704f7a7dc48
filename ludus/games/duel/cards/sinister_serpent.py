"""Sinister Serpent: it returns to the hand; in the opponent's next end phase a copy is banished from the graveyard."""

from ludus.games.duel.filters import can_banish
from ludus.games.duel.frames import ask_cards
from ludus.games.duel.operations_targets import send_itself
from ludus.games.duel.processes import put_in, send
from ludus.games.duel.state import BY_EFFECT, GRAVE_PILE, NOBODY
from ludus.games.duel.tables import ROW_OF
from ludus.games.duel.tables.words import BANISHED, HAND
from ludus.dsl import rule

SINISTER_SERPENT = ROW_OF[8131171]


@rule
def resolve(state, link, player):
    """Return to the hand, and note that a copy must be banished."""
    state.serpents[player] = 1
    send_itself(state, link, HAND, player)


@rule
def due_copy(state, player):
    """A copy that must be banished in this end phase, or NOBODY."""
    if state.turn_player == player or state.serpents[player] == 0:
        return NOBODY
    for k in range(state.sizes[player, GRAVE_PILE]):
        c = state.piles[player, GRAVE_PILE, k]
        if state.cards[c].code == SINISTER_SERPENT and can_banish(state, c, player):
            return c
    return NOBODY


@rule
def ask_copy(state, frame, player):
    """Ask which copy is banished."""
    state.serpents[player] = 0
    frame.count = 0
    for k in range(state.sizes[player, GRAVE_PILE]):
        c = state.piles[player, GRAVE_PILE, k]
        if state.cards[c].code == SINISTER_SERPENT:
            put_in(frame, c)
    ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)


@rule
def banish_copy(state, player):
    put_in(send(state, BANISHED, BY_EFFECT, player), state.picked[0])
