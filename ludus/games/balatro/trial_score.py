"""The score of a hypothetical play, computed on a copy of the game, without random outcomes or created items."""

import numpy as np

from ludus.games.balatro import actions, holdings, rounds, scoring
from ludus.dsl import rule

ALL_ROLLS, USUAL_MISPRINT = 0xFF, 11


@rule
def prepare(trial):
    """Prepare a copy of a game for trial plays: rolls fail, Misprint is average."""
    holdings.refresh(trial)
    trial.tally.dry = 1
    trial.tally.fixed = ALL_ROLLS
    trial.tally.fixed_to = 0
    trial.tally.misprint = USUAL_MISPRINT
    trial.tally.limit = scoring.NO_LIMIT


@rule
def score_of(trial, state, bits):
    """The score of playing this subset of the first eight cards; `trial` equals `state` again afterwards."""
    actions.select(trial, bits)
    rounds.take_selected(trial)
    trial.hands_left -= 1
    scoring.score_hand(trial)
    score = trial.tally.score
    take_back(trial, state)
    return score


@rule
def take_back(trial, state):
    """Undo the changes made by scoring."""
    tally = trial.tally
    for place in range(tally.count):
        number = tally.cards[place]
        trial.cards[number] = state.cards[number]
    trial.hand_count = state.hand_count
    for place in range(state.hand_count):
        trial.hand[place] = state.hand[place]
    for index in range(state.joker_count):
        trial.jokers[index] = state.jokers[index]
    hand = tally.hand
    trial.plays[hand] = state.plays[hand]
    trial.plays_this_round[hand] = state.plays_this_round[hand]
    trial.levels[hand] = state.levels[hand]
    trial.money = state.money
    trial.hands_left = state.hands_left
    trial.eye_hands = state.eye_hands
    trial.mouth_hand = state.mouth_hand


@rule
def best_play(trial, state, scores):
    """Write the score of every direct play, -1 if it is not legal; returns the index of the best."""
    beyond = ~((1 << min(np.int64(state.hand_count), actions.REACH)) - 1)
    forced = actions.forced_bits(state)
    best = -1
    for index in range(len(actions.SUBSETS)):
        bits = actions.SUBSETS[index]
        far = forced >= 1 << actions.REACH and actions.SIZES[index] < 5
        scores[index] = -1.0
        if bits & beyond == 0 and (bits & forced == forced or far):
            scores[index] = score_of(trial, state, bits)
            if best < 0 or scores[index] > scores[best]:
                best = index
    return best
