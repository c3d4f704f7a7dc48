"""Tribe-Infecting Virus: declare a type; all face-up monsters of it are destroyed."""

from ludus.games.duel.frames import clear_options, offer
from ludus.games.duel.operations_targets import all_or_done
from ludus.games.duel.processes import destroy, put_in
from ludus.games.duel.state import BY_EFFECT, DECLARES, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.zones import is_up
from ludus.dsl import rule


@rule
def offer_races(state):
    """Offer the types of all face-up monsters."""
    clear_options(state)
    races = 0
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY and is_up(state, c):
                races |= CARDS[state.cards[c].code].race
    for bit in range(25):
        if races >> bit & 1:
            offer(state, DECLARES, NOBODY, 0, 1 << bit, 0)


@rule
def resolve(state, link):
    """Destroy all face-up monsters of the declared type."""
    work = destroy(state, BY_EFFECT, link.player)
    for side in range(2):
        for zone in range(7):
            c = state.monsters[side, zone]
            if c != NOBODY and is_up(state, c) and CARDS[state.cards[c].code].race & link.value:
                put_in(work, c)
    all_or_done(state, work)
