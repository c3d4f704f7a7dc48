"""Metamorphosis: tribute a monster to special summon a fusion monster of the same level."""

from ludus.games.duel.filters import can_release
from ludus.games.duel.frames import FIRST_STEP, ask_cards
from ludus.games.duel.operations_targets import GO_ON
from ludus.games.duel.processes import put_in, summon_one
from ludus.games.duel.state import EXTRA_PILE, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import FUSION, UP
from ludus.games.duel.values import has_level, level
from ludus.games.duel.zones import extra_zones_for, free_monster_zones, zones_for
from ludus.dsl import rule

SUMMON_CHOSEN = GO_ON
"""the step after the fusion monster was chosen"""


@rule
def fusion_tributes(state, player):
    """How many monsters can be tributed."""
    count = 0
    for zone in range(7):
        count += can_become_fusion(state, state.monsters[player, zone], player)
    return count


@rule
def can_become_fusion(state, c, player):
    if c == NOBODY or not can_release(state, c) or not has_level(state, c) or state.no_summons[player]:
        return False
    freed = 1 << state.cards[c].sequence if state.cards[c].sequence < 5 else 0
    if (
        free_monster_zones(state, player) | freed == 0
        and extra_zones_for(state, FUSION, player, 0) == 0
        and state.cards[c].sequence < 5
    ):
        return False
    for k in range(state.sizes[player, EXTRA_PILE]):
        f = state.piles[player, EXTRA_PILE, k]
        row = CARDS[state.cards[f].code]
        if row.types & FUSION and row.level == level(state, c):
            return True
    return False


@rule
def resolve(state, frame, step, link, player):
    """Choose a fusion monster of the level that was tributed, and summon it. Whether all is done."""
    if step == FIRST_STEP:
        frame.count = 0
        for k in range(state.sizes[player, EXTRA_PILE]):
            c = state.piles[player, EXTRA_PILE, k]
            row = CARDS[state.cards[c].code]
            if (
                row.types & FUSION
                and row.level == link.value
                and not state.no_summons[player]
                and zones_for(state, c, player)
            ):
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == SUMMON_CHOSEN and state.picked_count:
        summon_one(state, state.picked[0], player, UP)
        return False
    return True
