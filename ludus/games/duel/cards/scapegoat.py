"""Scapegoat: special summon four Sheep Tokens."""

from ludus.games.duel.frames import FIRST_STEP
from ludus.games.duel.processes import put_in, special_summon
from ludus.games.duel.tables import ROW_OF
from ludus.games.duel.tables.words import UP_DEFENSE
from ludus.games.duel.zones import count_bits, free_monster_zones, new_token
from ludus.dsl import rule

SHEEP = ROW_OF[73915052]
"""the first of four tokens"""


@rule
def possible(state, player):
    return count_bits(free_monster_zones(state, player)) >= 4 and not state.no_summons[player]


@rule
def resolve(state, step, player):
    """Whether all is done."""
    if step != FIRST_STEP or count_bits(free_monster_zones(state, player)) < 4:
        return True
    work = special_summon(state, player, UP_DEFENSE)
    for k in range(4):
        token = new_token(state, SHEEP + k, player)
        state.cards[token].place = -1
        put_in(work, token)
    for k in range(4):
        state.cards[work.cards[k]].place = 0
    return False
