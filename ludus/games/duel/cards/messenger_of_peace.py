"""Messenger of Peace: its player pays 100 life points in every standby phase, or it is destroyed."""

from ludus.games.duel.frames import ask_yes, done
from ludus.games.duel.processes import destroy, put_in
from ludus.games.duel.state import BY_COST
from ludus.games.duel.tables.words import COSTS_UPKEEP
from ludus.games.duel.values import has
from ludus.dsl import rule

UPKEEP_FEE = 100
ASK_UPKEEP, UPKEEP_ANSWERED, END_UPKEEP = range(3)
"""the steps of its upkeep"""


@rule
def is_due(state, c, player):
    """Whether the upkeep of this turn was not paid yet."""
    return state.turn_player == player and has(state, c, COSTS_UPKEEP) and state.cards[c].lasting != state.turn


@rule
def pay_upkeep(state, frame, c, player):
    """Ask whether the fee is paid; destroy the card if not."""
    if frame.step == ASK_UPKEEP:
        frame.step = UPKEEP_ANSWERED
        state.cards[c].lasting = state.turn
        state.answer = 0
        if state.life[player] >= UPKEEP_FEE:
            ask_yes(state, player, c, 0)
            return
    if frame.step == UPKEEP_ANSWERED:
        frame.step = END_UPKEEP
        if state.answer == 1:
            state.life[player] -= UPKEEP_FEE
        else:
            put_in(destroy(state, BY_COST, player), c)
            return
    done(state)
