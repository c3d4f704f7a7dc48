"""Dust Tornado: destroy a spell or trap of the opponent, then set one from the hand if you like."""

from ludus.games.duel.adjustment import break_effect
from ludus.games.duel.frames import ask_cards, ask_yes
from ludus.games.duel.operations_targets import FINISHED, GO_ON, destroy_one, first_target
from ludus.games.duel.processes import put_in, set_spell
from ludus.games.duel.state import HAND_PILE
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import FIELD, SPELL, TRAP
from ludus.games.duel.zones import free_spell_zones
from ludus.dsl import rule

ASK_TO_SET, CHOOSE_TO_SET, SET_CHOSEN = range(GO_ON, 4)
"""the steps after the destruction"""


@rule
def resolve(state, link, player):
    destroy_one(state, first_target(state, link), player)


@rule
def go_on(state, frame, link, player):
    """Ask whether a card is set, and which one. Whether all is done."""
    if frame.step == ASK_TO_SET:
        if state.result == 0 or not settable(state, player):
            return True
        frame.step = CHOOSE_TO_SET
        ask_yes(state, player, link.card, 0)
        return False
    if frame.step == CHOOSE_TO_SET:
        if state.answer == 0:
            return True
        break_effect(state)
        frame.step = SET_CHOSEN
        frame.count = 0
        for k in range(state.sizes[player, HAND_PILE]):
            c = state.piles[player, HAND_PILE, k]
            if can_set(state, c, player):
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return False
    frame.step = FINISHED
    set_spell(state, state.picked[0], player, 1)
    return False


@rule
def can_set(state, c, player):
    types = CARDS[state.cards[c].code].types
    return types & (SPELL | TRAP) != 0 and (types & FIELD != 0 or free_spell_zones(state, player) != 0)


@rule
def settable(state, player):
    for k in range(state.sizes[player, HAND_PILE]):
        if can_set(state, state.piles[player, HAND_PILE, k], player):
            return True
    return False
