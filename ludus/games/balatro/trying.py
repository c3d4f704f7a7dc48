"""What a play would score, found on a copy of the game, without chance and without creating anything."""

import numpy as np

from ludus.games.balatro import actions, holdings, rounds, scoring
from ludus.words import rule

ALL_ROLLS, USUAL_MISPRINT = 0xFF, 11


@rule
def prepare(trial):
    """Make a copy of a game one to try plays on: rolls fail, Misprint is average."""
    holdings.refresh(trial)
    trial.tally.dry = 1
    trial.tally.fixed = ALL_ROLLS
    trial.tally.fixed_to = 0
    trial.tally.misprint = USUAL_MISPRINT
    trial.tally.limit = scoring.NO_LIMIT


@rule
def score_of(trial, state, bits):
    """What the play of these of the first eight cards scores; `trial` is as `state` afterwards again."""
    actions.select(trial, bits)
    rounds.take_selected(trial)
    trial.hands_left -= 1
    scoring.score_hand(trial)
    score = trial.tally.score
    take_back(trial, state)
    return score


@rule
def take_back(trial, state):
    """Undo what scoring has changed."""
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
    """Write what every legal direct play scores, -1 where it is not legal; the best one."""
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
