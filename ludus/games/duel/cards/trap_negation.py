"""Jinzo and Royal Decree: monsters that stop all traps, and traps that negate all other traps."""

from ludus.games.duel.state import BATTLE_LOST, ENABLED, NOBODY
from ludus.games.duel.tables.words import NEGATES_TRAPS, STOPS_TRAPS, UP
from ludus.games.duel.zones import is_up, traits_of
from ludus.dsl import rule


@rule
def traps_stopped(state):
    """Whether a monster on the field keeps traps from being activated."""
    if state.traits & STOPS_TRAPS == 0:
        return False
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY and traits_of(state, c) & STOPS_TRAPS:
                card = state.cards[c]
                # Monsters are only negated permanently, so this check does not depend on traps.
                if card.status & (ENABLED | BATTLE_LOST) == ENABLED and card.position & UP and card.negated <= 0:
                    return True
    return False


@rule
def first_decree(state):
    """The face-up trap that negates all others; of several, the one that was enabled first."""
    found = NOBODY
    if state.traits & NEGATES_TRAPS == 0:
        return found
    for player in range(2):
        for zone in range(5):
            c = state.spells[player, zone]
            if (
                c != NOBODY
                and traits_of(state, c) & NEGATES_TRAPS
                and is_up(state, c)
                and state.cards[c].status & ENABLED
                and state.cards[c].negated <= 0
            ):
                if found == NOBODY or state.cards[c].enabled_at < state.cards[found].enabled_at:
                    found = c
    return found


@rule
def order_decrees(state):
    """While a monster stops traps, order the decrees by card number: when it leaves, the first of them applies."""
    if state.traits & STOPS_TRAPS == 0 or state.traits & NEGATES_TRAPS == 0 or not traps_stopped(state):
        return
    for player in range(2):
        for zone in range(5):
            c = state.spells[player, zone]
            if c != NOBODY and traits_of(state, c) & NEGATES_TRAPS and is_up(state, c):
                state.cards[c].enabled_at = state.cards[c].born


@rule
def hold_decrees(state, was, now):
    """Change the field `negated` of all decrees from one value to another."""
    if state.traits & NEGATES_TRAPS == 0:
        return
    for player in range(2):
        for zone in range(5):
            c = state.spells[player, zone]
            if c != NOBODY and traits_of(state, c) & NEGATES_TRAPS and state.cards[c].negated == was:
                state.cards[c].negated = now


@rule
def traps_negated(state, c):
    """Whether a card on the field negates the effect of this trap, wherever the trap is now."""
    if traps_stopped(state):
        return True
    decree = first_decree(state)
    return decree != NOBODY and decree != c
