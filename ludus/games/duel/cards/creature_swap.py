"""Creature Swap: each player chooses a monster of their own; the two change sides."""

from ludus.games.duel.frames import FIRST_STEP, ask_cards
from ludus.games.duel.operations_targets import GO_ON
from ludus.games.duel.processes import put_in, swap_control
from ludus.games.duel.state import NOBODY
from ludus.games.duel.zones import free_monster_zones
from ludus.dsl import rule

CHOOSE_OTHERS, SWAP_CHOSEN = range(GO_ON, 3)
"""the steps after the player of the card was asked"""
OWN_MONSTER = 0
"""argument slot: the monster that the player of the card chose"""


@rule
def possible(state):
    return has_swappable(state, 0) and has_swappable(state, 1)


@rule
def can_swap(state, player, zone):
    """Whether a monster can be swapped; one in an extra zone only if a main zone is free for the other monster."""
    return state.monsters[player, zone] != NOBODY and (zone < 5 or free_monster_zones(state, player) != 0)


@rule
def has_swappable(state, player):
    for zone in range(7):
        if can_swap(state, player, zone):
            return True
    return False


@rule
def resolve(state, frame, step, player):
    """Ask both players, first the player of the card, then swap. Whether all is done."""
    if step < SWAP_CHOSEN:
        if step == FIRST_STEP and not possible(state):
            return True
        side = player if step == FIRST_STEP else 1 - player
        if step == CHOOSE_OTHERS:
            frame.args[OWN_MONSTER] = state.picked[0]
        frame.count = 0
        for zone in range(7):
            if can_swap(state, side, zone):
                put_in(frame, state.monsters[side, zone])
        ask_cards(state, side, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == SWAP_CHOSEN:
        swap_control(state, frame.args[OWN_MONSTER], state.picked[0], player)
        return False
    return True
