"""Ring of Destruction: destroy a monster; both players take its printed attack as damage."""

from ludus.games.duel.adjustment import break_effect
from ludus.games.duel.card_moves import hurt
from ludus.games.duel.filters import can_target
from ludus.games.duel.operations_targets import FINISHED, destroy_one, first_target
from ludus.games.duel.state import NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.values import attack
from ludus.games.duel.zones import is_up
from ludus.dsl import rule

DAMAGE_DEALT = 0
"""argument slot: the damage to both players"""


@rule
def possible(state, player):
    """Whether the opponent has a face-up monster whose attack does not exceed the opponent's life points."""
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and is_up(state, c) and attack(state, c) <= state.life[1 - player] and can_target(state, c):
            return True
    return False


@rule
def keep_targets(state, frame, player):
    """Only monsters whose attack does not exceed the opponent's life points can be chosen."""
    at = 0
    for k in range(frame.count):
        if attack(state, frame.cards[k]) <= state.life[1 - player]:
            frame.cards[at] = frame.cards[k]
            at += 1
    frame.count = at


@rule
def resolve(state, frame, link, player):
    """Destroy the target and note its printed attack."""
    c = first_target(state, link)
    if c != NOBODY and is_up(state, c):
        frame.args[DAMAGE_DEALT] = CARDS[state.cards[c].code].attack
        destroy_one(state, c, player)
    else:
        frame.step = FINISHED


@rule
def go_on(state, frame, player):
    """Damage to both players, first to the player of the card."""
    if state.result > 0:
        hurt(state, player, frame.args[DAMAGE_DEALT])
        if frame.args[DAMAGE_DEALT] > 0 and state.life[player] > 0:
            break_effect(state)
            hurt(state, 1 - player, frame.args[DAMAGE_DEALT])
