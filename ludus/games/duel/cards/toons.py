"""Toon World and the Toon monsters, which are summoned while it lies face-up and are destroyed with it."""

from ludus.games.duel.state import BY_DESTRUCTION, NOBODY
from ludus.games.duel.tables import CARDS, ROW_OF
from ludus.games.duel.tables.words import ON_FIELD, TOON, UP
from ludus.games.duel.zones import free_monster_zones, is_up, monsters_of
from ludus.dsl import rule

TOON_WORLD = ROW_OF[15259703]
TOON_FEE = 500
"""life points for each attack of a Toon monster"""


@rule
def has_toon_world(state, player):
    for zone in range(5):
        c = state.spells[player, zone]
        if c != NOBODY and state.cards[c].code == TOON_WORLD and is_up(state, c):
            return True
    return False


@rule
def can_summon(state, c, player, tributes):
    if not has_toon_world(state, player):
        return False
    if tributes == 0:
        return free_monster_zones(state, player) != 0
    in_main = 0
    for zone in range(5):
        in_main += state.monsters[player, zone] != NOBODY
    return monsters_of(state, player) >= tributes and (free_monster_zones(state, player) != 0 or in_main > 0)


@rule
def has_toon(state, player):
    """Whether a player has a face-up Toon monster."""
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY and is_up(state, c) and CARDS[state.cards[c].code].types & TOON:
            return True
    return False


@rule
def toon_world_fell(state, frame):
    """Whether a face-up Toon World is among the cards that were destroyed."""
    for k in range(frame.count):
        card = state.cards[frame.cards[k]]
        if (
            card.code == TOON_WORLD
            and card.was_place & ON_FIELD
            and card.was_position & UP
            and card.reason & BY_DESTRUCTION
        ):
            return True
    return False
