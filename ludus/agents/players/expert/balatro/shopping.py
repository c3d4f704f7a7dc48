"""Buying, selling, using and picking items by how much they raise the score of trial hands for their price."""

import math

import numpy as np

from ludus.agents.players.expert.balatro import worth
from ludus.agents.players.expert.balatro.hands import strength
from ludus.agents.players.expert.balatro.power import power
from ludus.dsl import rule
from ludus.games.balatro import actions, holdings, prices, rounds, shop, trial_score
from ludus.games.balatro.state import BOSS, CONSUMABLE, JOKER, PLAYING_CARD
from ludus.games.balatro.tables import cards
from ludus.games.balatro.tables import consumables as c

INTEREST_FROM = 25
"""dollars that earn the maximum interest"""
REPLACED = 0.15
"""minimum gain for replacing a joker, in logarithms of the score"""
SAFE = 0.7
"""safety margin of the score of a round over the boss's requirement, in logarithms"""
NOTHING = -100.0


@rule
def antes_left(state):
    """The remaining fraction of a run."""
    return max(0.1, (9.0 - state.ante) / 8.0)


@rule
def static_worth(state, joker):
    """The value of a joker that trial hands do not measure."""
    number = joker.number
    found = (worth.GROWTH[number] + worth.INCOME[number] * 3.0 * worth.PER_DOLLAR) * antes_left(state)
    return found + worth.HELP[number] - 0.3 * (joker.stickers & cards.RENTAL != 0)


@rule
def gain_of_joker(state, work, joker, base):
    """The value of adding a joker."""
    work.scenario = state
    scenario = work.scenario
    scenario.jokers[scenario.joker_count] = joker
    scenario.jokers[scenario.joker_count].face_down = 0
    scenario.joker_count += 1
    return power(work) - base + static_worth(state, joker)


@rule
def loss_of_joker(state, work, index, base):
    """The value lost without one of the jokers."""
    work.scenario = state
    holdings.remove_joker(work.scenario, index)
    return base - power(work) + static_worth(state, state.jokers[index])


@rule
def weakest_joker(state, work, base):
    """The sellable joker with the smallest loss, or -1; its loss is written to `work.loss`."""
    weakest = -1
    work.loss = -NOTHING
    for index in range(state.joker_count):
        if state.jokers[index].stickers & cards.ETERNAL:
            continue
        loss = loss_of_joker(state, work, index, base)
        if loss < work.loss:
            work.loss = loss
            weakest = index
    return weakest


@rule
def gain_of_planet(state, work, number, base):
    work.scenario = state
    work.scenario.levels[int(c.NUMBER[number])] += 1
    return power(work) - base + 0.03


@rule
def gain_of_item(state, work, item, base):
    """The value of an item of the shop or a pack, without its price."""
    if item.kind == JOKER:
        return gain_of_joker(state, work, item, base)
    if item.kind == PLAYING_CARD:
        return 0.01 + 0.02 * (item.enhancement > 0) + 0.03 * (item.edition > 0) + 0.03 * (item.seal > 0)
    if c.FIRST_PLANET <= item.number < c.FIRST_SPECTRAL:
        return gain_of_planet(state, work, item.number, base)
    return worth.TAKEN[item.number]


@rule
def danger(state, work, base):
    """How much the next boss's requirement exceeds the strength of the run, in logarithms; above 0 means danger."""
    return math.log(max(1.0, rounds.asked(state, BOSS))) + SAFE - base - math.log(max(1.0, float(state.hands)))


@rule
def spare(state, price, risk):
    """Whether a price leaves enough money for interest; without danger of losing only."""
    reserve = 0 if risk > 0.0 else min(INTEREST_FROM, 5 * np.int64(state.ante))
    return state.money - price >= reserve


@rule
def buy(state, work):
    """Choose an action in the shop."""
    work.scenario = state
    base = power(work)
    risk = danger(state, work, base)
    best = 0.02
    action = -1
    for place in range(state.shelf_count):
        item = state.shelf[place]
        cost = np.int64(prices.price(state, item))
        if not shop.affordable(state, cost):
            continue
        gain = gain_of_item(state, work, item, base) - cost * worth.PER_DOLLAR * antes_left(state)
        if item.kind == CONSUMABLE and not spare(state, cost, risk):
            continue
        if gain <= best:
            continue
        if work.mask[actions.BUY_AND_USE + place] and worth_using(item.number):
            best = gain
            action = actions.BUY_AND_USE + place
        elif work.mask[actions.BUY + place]:
            best = gain
            action = actions.BUY + place
        elif item.kind == JOKER and state.joker_count:
            weakest = weakest_joker(state, work, base)
            if weakest >= 0 and gain - work.loss > REPLACED and gain - work.loss > best:
                best = gain - work.loss
                action = actions.SELL_JOKER + weakest
    if action >= 0:
        return action
    return buy_other(state, work, risk)


@rule
def buy_other(state, work, risk):
    """Buy vouchers and packs or reroll the shop, if there is money to spare."""
    price = np.int64(prices.voucher_price(state))
    for place in range(state.offered_vouchers):
        if work.mask[actions.BUY_VOUCHER + place]:
            gain = worth.VOUCHER[state.vouchers[place]] * antes_left(state)
            if gain > price * worth.PER_DOLLAR * antes_left(state) and spare(state, price, min(risk, 0.0)):
                return actions.BUY_VOUCHER + place
    room = holdings.joker_room(state) > 0
    for place in range(state.offered_packs):
        if state.packs[place] >= 0 and work.mask[actions.BUY_PACK + place]:
            kind = state.packs[place] // 3
            gain = worth.PACK[kind] * (1.0 if room or kind != 3 else 0.4) * (1.0 + 0.2 * (state.packs[place] % 3))
            price = np.int64(prices.pack_price(state, place))
            if gain > price * worth.PER_DOLLAR and spare(state, price, risk):
                return actions.BUY_PACK + place
    price = np.int64(shop.reroll_price(state))
    if work.mask[actions.REROLL] and (price == 0 or (spare(state, price + 5, risk) and (room or risk > 0.0))):
        return actions.REROLL
    return actions.LEAVE


@rule
def worth_using(number):
    return c.FIRST_PLANET <= number < c.FIRST_SPECTRAL or worth.TAKEN[number] > 0.0


@rule
def pick(state, work):
    """Choose an item of a pack."""
    work.scenario = state
    base = power(work)
    best = 0.0
    action = actions.SKIP_PACK
    for place in range(state.pack_count):
        item = state.pack[place]
        gain = gain_of_item(state, work, item, base)
        if gain <= best:
            continue
        if work.mask[actions.PICK + place]:
            best = gain
            action = actions.PICK + place
        elif item.kind == CONSUMABLE and c.MOST[item.number] > 0:
            target = best_target(state, work, actions.PICK_ON + place * actions.PAIRS, actions.PAIRS)
            if target >= 0:
                best = gain
                action = target
        elif item.kind == JOKER and state.joker_count:
            weakest = weakest_joker(state, work, base)
            if weakest >= 0 and work.mask[actions.SELL_JOKER + weakest] and gain - work.loss > max(best, REPLACED):
                best = gain - work.loss
                action = actions.SELL_JOKER + weakest
    return action


@rule
def best_target(state, work, first, count):
    """The action of a block after which the hand scores most; ties are broken towards the lowest cards."""
    best = -1
    most = 0.0
    for index in range(count):
        if not work.mask[first + index]:
            continue
        work.scenario = state
        actions.take(work.scenario, first + index)
        work.trial = work.scenario
        trial_score.prepare(work.trial)
        found = strength(work) + 1e-3 * (actions.SIZES[index] - lowness(state, actions.TARGETS[index]))
        if best < 0 or found > most:
            most = found
            best = first + index
    return best


@rule
def lowness(state, bits):
    """The scaled sum of the ranks of some cards, to break ties."""
    total = 0.0
    for place in range(actions.REACH):
        if (bits >> place) & 1:
            total += state.cards[state.hand[place]].rank / 40.0
    return total


@rule
def something_to_use(state, work):
    """The action that uses a helpful consumable, or -1."""
    for index in range(state.consumable_count):
        if worth_using(state.consumables[index].number):
            if work.mask[actions.USE + index]:
                return actions.USE + index
            if index < 2 and state.hand_count:
                action = best_target(state, work, actions.USE_ON + index * len(actions.TARGETS), len(actions.TARGETS))
                if action >= 0:
                    return action
    return -1
