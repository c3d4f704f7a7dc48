"""Balatro by planning: discards by simulated draws, purchases by their effect on trial hands."""

from __future__ import annotations

import numpy as np

from ludus.agents.players.expert.balatro import hands, shopping
from ludus.agents.players.thinker import Thinker
from ludus.dsl import f64, i64, record, rule, u8, u64
from ludus.games.balatro import actions
from ludus.games.balatro.state import CASHING_OUT, CHOOSING_BLIND, MOST_IN_HAND, OPENING, PLAYING_HAND, STATE
from ludus.games.balatro.tables.hands import HANDS

WORK = record(
    key=u64, scenario=STATE, trial=STATE, scores=(f64, len(actions.SUBSETS)), mask=(u8, actions.ACTIONS), loss=f64,
    candidates=(i64, hands.PLANS + 1), wins=(f64, hands.PLANS + 1), count=i64, chosen=i64, wanted=i64,
    rank=(i64, actions.REACH), suits=(i64, actions.REACH), stone=(u8, actions.REACH),
    chips=(f64, actions.REACH), most_chips=(f64, HANDS), likely=(i64, HANDS), dealt=(u8, MOST_IN_HAND),
)  # fmt: skip
"""working memory: a possible state of the run, a copy for trial plays, and facts about the cards in hand"""


@rule
def choose(state, work):
    actions.legal(state, work.mask)
    phase = state.phase
    if phase == CHOOSING_BLIND:
        return actions.SELECT_BLIND
    if phase == CASHING_OUT:
        return actions.CASH_OUT
    work.key = state.key
    action = shopping.something_to_use(state, work)
    if action >= 0:
        return action
    if phase == PLAYING_HAND:
        return hands.play_or_discard(state, work)
    return shopping.pick(state, work) if phase == OPENING else shopping.buy(state, work)


AGENT = Thinker(__name__, WORK)


def considered(work: np.void) -> dict[int, float]:
    """The plays and discards that were simulated for the last decision, with the fraction of won rounds."""
    count = int(work["count"])
    simulated = hands.QUICKLY + hands.THOROUGHLY
    return {int(work["candidates"][index]): float(work["wins"][index]) / simulated for index in range(count)}
