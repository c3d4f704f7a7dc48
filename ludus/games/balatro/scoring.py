"""Scoring of a played hand, in the order of the original game."""

import math

import numpy as np

from ludus.games.balatro import conditions, deck, joker_actions, jokers, poker
from ludus.games.balatro.tables import blinds, cards, consumables, decks, hands, vouchers
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

OBSERVATORY = vouchers.KEYS.index("v_observatory")
LUCKY_MULT, LUCKY_MONEY, GLASS = stream("lucky_mult"), stream("lucky_money"), stream("glass")
BY_CARD, BY_HELD, BY_EDITION, BY_PLANET, BY_DECK = range(100, 105)
"""the source of an operation, if it is not a joker"""
NO_LIMIT = 30000


@rule
def level_chips(state, hand):
    numbers = hands.NUMBERS[hand]
    return max(0.0, numbers[0] + numbers[2] * (state.levels[hand] - 1))


@rule
def level_mult(state, hand):
    numbers = hands.NUMBERS[hand]
    return max(1.0, numbers[1] + numbers[3] * (state.levels[hand] - 1))


@rule
def refuses(state):
    """Whether the boss forbids the hand to score."""
    effect = deck.boss_effect(state)
    hand = state.tally.hand
    if effect == blinds.FIVE_CARDS:
        return state.tally.count < 5
    if effect == blinds.NO_REPEATS:
        return (state.eye_hands >> hand) & 1 != 0
    return effect == blinds.ONE_KIND and state.mouth_hand >= 0 and state.mouth_hand != hand


@rule
def apply_boss_before_scoring(state):
    """Effects of a boss on a hand before it scores."""
    tally = state.tally
    effect = deck.boss_effect(state)
    tally.refused = refuses(state)
    tally.boss_acted = tally.refused
    if effect == blinds.NO_REPEATS:
        state.eye_hands |= 1 << np.int64(tally.hand)
    elif effect == blinds.ONE_KIND:
        if state.mouth_hand < 0:
            state.mouth_hand = tally.hand
    elif effect == blinds.LEVEL_DOWN and state.levels[tally.hand] > 1:
        state.levels[tally.hand] -= 1
        tally.boss_acted = 1
    elif effect == blinds.TAKE_MONEY and tally.hand == state.ox_hand:
        state.money = 0
        tally.boss_acted = 1
    elif effect == blinds.HALVE:
        tally.boss_acted = 1


@rule
def score_hand(state):
    """Score the cards in the tally, which have left the hand; the result is `tally.score`."""
    tally = state.tally
    poker.evaluate(state)
    state.plays[tally.hand] += 1
    state.plays_this_round[tally.hand] += 1
    apply_boss_before_scoring(state)
    tally.operations = 0
    tally.dollars = 0
    tally.broken = 0
    tally.changed = 0
    if tally.refused:
        tally.chips = 0.0
        tally.mult = 0.0
        tally.level = state.levels[tally.hand]
        tally.score = 0.0
        jokers.fire(state, e.REFUSED, -1)
        return
    jokers.fire(state, e.BEFORE, tally.cards[0])
    begin(state)
    for place in range(tally.count):
        if (tally.scoring >> place) & 1:
            score_card(state, tally.cards[place])
    for place in range(state.hand_count):
        score_held(state, state.hand[place])
    for index in range(state.joker_count):
        score_joker(state, index)
    finish(state)
    tally.score = np.floor(tally.chips * tally.mult)


@rule
def begin(state):
    """Chips and mult of the hand at its level; The Flint halves them."""
    tally = state.tally
    tally.level = state.levels[tally.hand]
    tally.chips = level_chips(state, tally.hand)
    tally.mult = level_mult(state, tally.hand)
    if deck.boss_effect(state) == blinds.HALVE:
        tally.chips = math.floor(tally.chips * 0.5 + 0.5)
        tally.mult = max(1.0, math.floor(tally.mult * 0.5 + 0.5))


@rule
def score_card(state, number):
    """Score a card: its own chips, mult and money, then jokers; repeated for each retrigger."""
    card = state.cards[number]
    if card.flags & cards.DEBUFFED and deck.boss_effect(state) != blinds.NOTHING:
        state.tally.boss_acted = 1
    for _ in range(jokers.times(state, e.AGAIN, number)):
        score_once(state, card, number)
        jokers.fire(state, e.SCORED, number)


@rule
def score_once(state, card, number):
    chips = card.chips + (0.0 if card.enhancement == cards.STONE else cards.RANK_CHIPS[card.rank])
    if card.enhancement == cards.BONUS:
        chips += 30.0
    elif card.enhancement == cards.STONE:
        chips += 50.0
    jokers.operate(state, e.CHIPS, chips, BY_CARD, number)
    state.tally.lucky = 0
    if card.enhancement == cards.MULT:
        jokers.operate(state, e.MULT, 4.0, BY_CARD, number)
    elif card.enhancement == cards.LUCKY:
        if conditions.succeeds(state, LUCKY_MULT, 5):
            jokers.operate(state, e.MULT, 20.0, BY_CARD, number)
            state.tally.lucky = 1
        if conditions.succeeds(state, LUCKY_MONEY, 15):
            joker_actions.earn(state, 20)
            state.tally.lucky = 1
    if card.seal == cards.GOLD_SEAL:
        joker_actions.earn(state, 3)
    if card.enhancement == cards.GLASS:
        jokers.operate(state, e.XMULT, 2.0, BY_CARD, number)
    apply_edition(state, card.edition, BY_EDITION, number)


@rule
def apply_edition(state, edition, source, number):
    if edition == cards.FOIL:
        jokers.operate(state, e.CHIPS, 50.0, source, number)
    elif edition == cards.HOLO:
        jokers.operate(state, e.MULT, 10.0, source, number)
    elif edition == cards.POLYCHROME:
        jokers.operate(state, e.XMULT, 1.5, source, number)


@rule
def score_held(state, number):
    """Effects of a card held in hand: steel, then jokers."""
    card = state.cards[number]
    for _ in range(jokers.times(state, e.HELD_AGAIN, number)):
        if card.enhancement == cards.STEEL:
            jokers.operate(state, e.XMULT, 1.5, BY_HELD, number)
        jokers.fire(state, e.HELD, number)


@rule
def score_joker(state, index):
    """Score a joker: foil and holographic first, polychrome last. A debuffed joker's edition has no effect."""
    joker = state.jokers[index]
    edition = 0 if joker.debuffed else joker.edition
    if edition != cards.POLYCHROME:
        apply_edition(state, edition, index, -1)
    jokers.act(state, index, e.MAIN, -1)
    jokers.react(state, index)
    if edition == cards.POLYCHROME:
        apply_edition(state, edition, index, -1)


@rule
def finish(state):
    """Effects of the voucher Observatory and of the Plasma Deck."""
    tally = state.tally
    if state.owned_vouchers[OBSERVATORY]:
        for index in range(state.consumable_count):
            if state.consumables[index].number == consumables.PLANET_OF[tally.hand]:
                jokers.operate(state, e.XMULT, 1.5, BY_PLANET, -1)
    if state.deck == decks.PLASMA:
        half = np.floor((tally.chips + tally.mult) / 2.0)
        tally.chips = half
        tally.mult = half


@rule
def after_hand(state):
    """After scoring: glass cards may break, jokers act, and broken cards are destroyed."""
    tally = state.tally
    for place in range(tally.count):
        card = state.cards[tally.cards[place]]
        scored = (tally.scoring >> place) & 1 != 0 and not tally.refused
        if scored and card.enhancement == cards.GLASS and not card.flags & cards.DEBUFFED:
            if conditions.succeeds(state, GLASS, 4):
                tally.broken |= 1 << place
    jokers.fire(state, e.AFTER, tally.cards[0])
    destroy_broken(state)


@rule
def destroy_broken(state):
    """Destroy the marked cards of the tally, from the highest number down."""
    tally = state.tally
    left = np.int64(tally.broken)
    while left:
        highest = -1
        for place in range(tally.count):
            if (left >> place) & 1 and (highest < 0 or tally.cards[place] > tally.cards[highest]):
                highest = place
        deck.destroy_card(state, tally.cards[highest])
        left &= ~(1 << highest)
