"""Balatro, greedily: the play with the best exact score, and simple rules for discards and the shop."""

from __future__ import annotations

import numpy as np

from ludus.agents.players.thinker import Thinker
from ludus.dsl import f64, record, rule, u8
from ludus.games.balatro import actions, prices, trial_score
from ludus.games.balatro.actions import SUBSETS
from ludus.games.balatro.state import (
    CASHING_OUT,
    CHOOSING_BLIND,
    JOKER,
    OPENING,
    PLAYING_HAND,
    STATE,
)  # fmt: skip

WORK = record(trial=STATE, scores=(f64, len(SUBSETS)), mask=(u8, actions.ACTIONS))
RESERVE = 10
"""dollars kept for interest when buying vouchers and packs"""


@rule
def choose(state, work):
    actions.legal(state, work.mask)
    phase = state.phase
    if phase == CHOOSING_BLIND:
        return actions.SELECT_BLIND
    if phase == CASHING_OUT:
        return actions.CASH_OUT
    used = something_to_use(state, work.mask)
    if used >= 0:
        return used
    if phase == PLAYING_HAND:
        return play_or_discard(state, work)
    return pick(work.mask) if phase == OPENING else shop(state, work.mask)


@rule
def first_legal(mask, first, count):
    """The first legal action of a block, or -1."""
    for action in range(first, first + count):
        if mask[action]:
            return action
    return -1


@rule
def something_to_use(state, mask):
    """The action that uses a consumable now, on the first legal targets if it needs any; or -1."""
    action = first_legal(mask, actions.USE, actions.USE_ON - actions.USE)
    return action if action >= 0 else first_legal(mask, actions.USE_ON, actions.BUY - actions.USE_ON)


@rule
def play_or_discard(state, work):
    """The best play; or, if it does not win the round, a discard if one is left."""
    work.trial = state
    trial_score.prepare(work.trial)
    best = trial_score.best_play(work.trial, state, work.scores)
    if state.score + work.scores[best] < state.required and state.discards_left > 0:
        away = worst_cards(state)
        if away and work.mask[actions.DISCARD + actions.SUBSET_OF[away]]:
            return actions.DISCARD + actions.SUBSET_OF[away]
    return actions.PLAY + best


@rule
def worst_cards(state):
    """Bits of up to five of the first eight cards that fit neither the longest suit nor a pair."""
    count = min(np.int64(state.hand_count), actions.REACH)
    suit = longest_suit(state, count)
    chosen = 0
    bits = 0
    for place in range(count - 1, -1, -1):
        card = state.cards[state.hand[place]]
        keeps = card.suit == suit if suit >= 0 else has_twin(state, count, place)
        if not keeps and chosen < 5:
            bits |= 1 << place
            chosen += 1
    return bits


@rule
def longest_suit(state, count):
    """The suit of which four cards or more are in hand, -1 for none."""
    for suit in range(4):
        found = 0
        for place in range(count):
            found += state.cards[state.hand[place]].suit == suit
        if found >= 4:
            return suit
    return -1


@rule
def has_twin(state, count, place):
    rank = state.cards[state.hand[place]].rank
    for other in range(count):
        if other != place and state.cards[state.hand[other]].rank == rank:
            return True
    return False


@rule
def pick(mask):
    """Pick the first item of a pack, on the first legal targets if it needs any."""
    action = first_legal(mask, actions.PICK, actions.PICK_ON - actions.PICK)
    if action < 0:
        action = first_legal(mask, actions.PICK_ON, actions.SKIP_PACK - actions.PICK_ON)
    return action if action >= 0 else actions.SKIP_PACK


@rule
def shop(state, mask):
    """Buy jokers first, then planets and other cards for immediate use, then vouchers and packs if affordable."""
    dearest = -1
    for place in range(state.shelf_count):
        item = state.shelf[place]
        if mask[actions.BUY + place] and item.kind == JOKER:
            if dearest < 0 or prices.price(state, item) > prices.price(state, state.shelf[dearest]):
                dearest = place
    if dearest >= 0:
        return actions.BUY + dearest
    action = first_legal(mask, actions.BUY_AND_USE, actions.BUY_VOUCHER - actions.BUY_AND_USE)
    if action >= 0:
        return action
    if state.money >= prices.voucher_price(state) + RESERVE:
        action = first_legal(mask, actions.BUY_VOUCHER, actions.REROLL - actions.BUY_VOUCHER)
        if action >= 0:
            return action
    return actions.LEAVE


AGENT = Thinker(__name__, WORK)
