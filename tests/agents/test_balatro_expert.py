"""The expert's fast evaluation of poker hands agrees with the game, except for the effects of jokers."""

import numpy as np

from ludus.agents.players.expert.balatro import WORK, hands
from ludus.dsl import rule
from ludus.dsl.compiler import whole
from ludus.dsl.rows import new_rows
from ludus.games.balatro import actions, poker, rounds
from ludus.games.balatro.state import MOST_PLAYED, PLAYING_HAND
from ludus.pool import Pool


@rule
def hand_of(state, bits):
    actions.select(state, bits)
    rounds.take_selected(state)
    poker.evaluate(state)
    return int(state.tally.hand)


def compare(states, work, quick, exact):
    for i in range(len(states)):
        work[0].scenario = states[i]
        hands.look_at_cards(work[0])
        for index in range(len(actions.SUBSETS)):
            quick[i, index] = hands.kind_of(work[0], index, MOST_PLAYED)
            work[0].trial = states[i]
            exact[i, index] = hand_of(work[0].trial, actions.SUBSETS[index])


def test_poker_hands_of_all_subsets_agree_with_the_game():
    pool = Pool("balatro(scale=1e-6)", 256, seed=5)
    pool.play_randomly(80)
    states = pool.states
    fit = (states["phase"] == PLAYING_HAND) & (states["rules"] == 0) & (states["hand_count"] >= actions.REACH)
    states = states[fit]
    quick, exact = (np.zeros((len(states), len(actions.SUBSETS)), np.int64) for _ in range(2))
    whole(compare, kept=False)(states, new_rows(1, WORK), quick, exact)
    assert len(states) > 20 and len(np.unique(exact)) >= 6
    np.testing.assert_array_equal(quick, exact)
