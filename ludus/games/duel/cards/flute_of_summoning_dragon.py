"""The Flute of Summoning Dragon: with Lord of D. on the field, summon up to two dragons from the hand."""

from ludus.games.duel.filters import gather
from ludus.games.duel.frames import FIRST_STEP, ask_cards
from ludus.games.duel.operations_targets import GO_ON
from ludus.games.duel.processes import put_in, special_summon
from ludus.games.duel.state import NOBODY
from ludus.games.duel.tables import ROW_OF
from ludus.games.duel.tables.words import OWN_HAND, UP
from ludus.games.duel.zones import count_bits, free_monster_zones, is_up
from ludus.dsl import rule

LORD = ROW_OF[17985575]
SUMMON_CHOSEN = GO_ON
"""the step after the dragons were chosen"""


@rule
def lord_is_there(state):
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY and state.cards[c].code == LORD and is_up(state, c):
                return True
    return False


@rule
def resolve(state, frame, step, link, effect, player):
    """Choose the dragons and summon them. Whether all is done."""
    if step == FIRST_STEP:
        gather(state, OWN_HAND, effect.which, link.card, player, False, frame)
        most = min(2, count_bits(free_monster_zones(state, player)))
        if most == 0 or not lord_is_there(state):
            return True
        ask_cards(state, player, frame.cards, frame.count, 1, most, 0)
        return state.question == 0
    if step == SUMMON_CHOSEN and state.picked_count:
        work = special_summon(state, player, UP)
        for k in range(state.picked_count):
            put_in(work, state.picked[k])
        return False
    return True
