"""Nobleman of Crossout: destroy and banish a face-down monster; if it is a flip monster, banish its copies too."""

from ludus.games.duel.operations_targets import FINISHED, all_or_done, first_target
from ludus.games.duel.processes import DESTROY_TO, destroy, put_in, send
from ludus.games.duel.state import BY_EFFECT, DECK_PILE, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import BANISHED, FLIP
from ludus.games.duel.zones import is_up
from ludus.dsl import rule

CROSSED_OUT = 0
"""argument slot: the monster that was destroyed"""


@rule
def resolve(state, frame, link, player):
    """Destroy the target; it is banished instead of sent to the graveyard."""
    c = first_target(state, link)
    frame.args[CROSSED_OUT] = NOBODY
    if c == NOBODY or is_up(state, c):
        frame.step = FINISHED
        return
    frame.args[CROSSED_OUT] = c
    work = destroy(state, BY_EFFECT, player)
    work.args[DESTROY_TO] = BANISHED
    put_in(work, c)


@rule
def go_on(state, frame, player):
    """Banish the copies in both decks. Whether all is done."""
    c = frame.args[CROSSED_OUT]
    frame.step = FINISHED
    if state.result == 0 or CARDS[state.cards[c].code].types & FLIP == 0 or state.cards[c].place != BANISHED:
        return True
    work = send(state, BANISHED, BY_EFFECT, player)
    for side in range(2):
        for k in range(state.sizes[side, DECK_PILE]):
            other = state.piles[side, DECK_PILE, k]
            if state.cards[other].code == state.cards[c].code:
                put_in(work, other)
    all_or_done(state, work)
    return False
