"""The strength of a run, measured by trial hands from its deck with its jokers and levels."""

import math

import numpy as np

from ludus.agents.players.expert.balatro.hands import FLUSHES, PLANS, STRAIGHTS, TWINS, fits, follow, throw
from ludus.dsl import random, rule
from ludus.games.balatro import actions, draws, holdings, trial_score
from ludus.games.balatro.state import MOST_IN_HAND, PLAYING_HAND, SMALL

HANDS_TRIED, DISCARDS_TRIED = 10, 2
LUCK = np.uint64(0x5EED)


@rule
def power(work):
    """The logarithm of the mean score of trial hands, with the same random numbers for all scenarios."""
    scenario = work.scenario
    scenario.phase = PLAYING_HAND
    scenario.blind = SMALL
    scenario.hands_left = max(1, scenario.hands - 1)
    scenario.discards_left = 1
    scenario.hand_count = 0
    holdings.refresh(scenario)
    work.trial = scenario
    trial_score.prepare(work.trial)
    work.key = LUCK
    total = 0.0
    size = max(1, min(draws.hand_limit(scenario), MOST_IN_HAND))
    for _ in range(HANDS_TRIED):
        total += trial_hand(work, size)
    return math.log(1.0 + total / HANDS_TRIED)


@rule
def trial_hand(work, size):
    """Deal a hand and follow three plans; returns the best score."""
    scenario = work.scenario
    for number in range(scenario.card_count):
        scenario.pile[number] = number
    left = np.int64(scenario.card_count)
    size = min(size, left)
    for place in range(size):
        drawn = random.below(work, left)
        left -= 1
        number = scenario.pile[drawn]
        scenario.pile[drawn] = scenario.pile[left]
        scenario.pile[left] = number
        work.dealt[place] = number
    best = 0.0
    for turn in range(3):
        scenario.hand_count = size
        scenario.pile_count = left
        for place in range(size):
            scenario.hand[place] = work.dealt[place]
        plan = (
            TWINS if turn == 0 else likeliest(work, FLUSHES, TWINS) if turn == 1 else likeliest(work, STRAIGHTS, PLANS)
        )
        best = max(best, follow(work, plan, DISCARDS_TRIED, throw(work, plan)))
    scenario.hand_count = 0
    return best


@rule
def likeliest(work, first, last):
    """The plan that most cards in hand fit."""
    best = first
    most = -1
    for plan in range(first, last):
        kept = 0
        for place in range(min(np.int64(work.scenario.hand_count), actions.REACH)):
            kept += fits(work, plan, place)
        if kept > most:
            most = kept
            best = plan
    return best
