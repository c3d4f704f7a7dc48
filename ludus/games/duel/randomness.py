"""Random results: coins, dice, discards and shuffles. Results of another engine can be fed in instead."""

from ludus.games.duel.state import HAND_PILE, NOBODY
from ludus.dsl import rule
from ludus.dsl.random import below

HAND_ORDER, COIN, DICE, RANDOM_CARD = 1, 2, 3, 4
"""kinds of fed results; each is stored as kind, player, count, then the numbers"""


@rule
def fed(state, kind):
    """Whether the next fed result is of this kind; its numbers begin at state.fed_at + 3."""
    return state.fed and state.fed_at < state.fed_count and state.feed[state.fed_at] == kind


@rule
def next_fed(state):
    state.fed_at += 3 + state.feed[state.fed_at + 2]


@rule
def shuffle_hand(state, player):
    """Shuffle a hand."""
    state.shuffle[player] = 0
    count = state.sizes[player, HAND_PILE]
    if state.fed:
        if fed(state, HAND_ORDER):
            order_hand(state, player, count)
            next_fed(state)
        return
    for last in range(count - 1, 0, -1):
        other = below(state, last + 1)
        c = state.piles[player, HAND_PILE, last]
        state.piles[player, HAND_PILE, last] = state.piles[player, HAND_PILE, other]
        state.piles[player, HAND_PILE, other] = c
    for k in range(count):
        state.cards[state.piles[player, HAND_PILE, k]].sequence = k


@rule
def order_hand(state, player, count):
    """Put a hand into the order of the fed codes."""
    for k in range(min(count, state.feed[state.fed_at + 2])):
        code = state.feed[state.fed_at + 3 + k]
        for at in range(k, count):
            c = state.piles[player, HAND_PILE, at]
            if state.cards[c].code == code:
                state.piles[player, HAND_PILE, at] = state.piles[player, HAND_PILE, k]
                state.piles[player, HAND_PILE, k] = c
                break
    for k in range(count):
        state.cards[state.piles[player, HAND_PILE, k]].sequence = k


@rule
def shuffle_if_due(state, first):
    """Shuffle the hands that are marked for it, this player's first."""
    for k in range(2):
        player = first if k == 0 else 1 - first
        if state.shuffle[player]:
            shuffle_hand(state, player)


@rule
def toss_coin(state):
    """1 for heads."""
    if state.fed:
        result = 0
        if fed(state, COIN):
            result = state.feed[state.fed_at + 3]
            next_fed(state)
        return result
    return below(state, 2)


@rule
def roll_die(state):
    if state.fed:
        result = 1
        if fed(state, DICE):
            result = state.feed[state.fed_at + 3]
            next_fed(state)
        return result
    return 1 + below(state, 6)


@rule
def random_in_hand(state, player):
    """A random card of a hand; the fed result is its index."""
    count = state.sizes[player, HAND_PILE]
    if count == 0:
        return NOBODY
    at = 0
    if state.fed:
        if fed(state, RANDOM_CARD):
            at = state.feed[state.fed_at + 3]
            next_fed(state)
    else:
        at = below(state, count)
    return state.piles[player, HAND_PILE, at]
