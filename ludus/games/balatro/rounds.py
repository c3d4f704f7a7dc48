"""The course of a run: blinds, hands, discards, the end of a round, and the next ante."""

import math

import numpy as np

from ludus.games.balatro import (
    run_start,
    bosses,
    deck,
    draws,
    generation,
    holdings,
    jokers,
    poker,
    randomness,
    scoring,
    kept_tags,
)
from ludus.games.balatro.bosses import PERISHED
from ludus.games.balatro.state import (
    BOSS, CASHING_OUT, CHOOSING_BLIND, MOST_PLAYED, PLAYING_HAND, SMALL,
)  # fmt: skip
from ludus.games.balatro.tables import blinds, cards, consumables, decks, hands, tags, vouchers
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.jokers import MR_BONES
from ludus.games.balatro.tables.rules import CHICOT
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import OVER, rule

WIN_ANTE = 8
SHUFFLE, CASH_OUT_SHUFFLE = stream("nr@"), stream("cashout@")
HOOK, BELL, ACORN = (stream(name) for name in ("hook", "cerulean_bell", "aajk"))
PURPLE_TAROT = stream("Tarot8ba@")
SEED_MONEY, MONEY_TREE = vouchers.KEYS.index("v_seed_money"), vouchers.KEYS.index("v_money_tree")


@rule
def ante_score(state, ante):
    """The required score of an ante before a blind's factor; after the eighth it grows faster than exponentially."""
    scaling = decks.SCALING[state.stake]
    if ante < 1:
        return 100.0
    if ante <= 8:
        return decks.REQUIRED[scaling, ante - 1]
    beyond = ante - 8.0
    growth = 1.0 + 0.2 * beyond
    amount = np.floor(decks.REQUIRED[scaling, 7] * (1.6 + (0.75 * beyond) ** growth) ** beyond)
    if amount < 1e300:
        unit = 10.0 ** np.floor(math.log10(amount) - 1.0)
        amount -= amount % unit
    return amount


@rule
def row_of(state, blind):
    """The row in the table of the ante's small, big or boss blind."""
    return np.int64(state.boss) if blind == BOSS else np.int64(blind)


@rule
def asked(state, blind):
    """The required score of a blind of this ante."""
    score = ante_score(state, state.ante) * blinds.FACTOR[row_of(state, blind)] * state.scale
    return score * 2.0 if state.deck == decks.PLASMA else score


@rule
def select_blind(state):
    """Start the current blind."""
    state.phase = PLAYING_HAND
    state.round += 1
    state.score = 0.0
    state.required = asked(state, state.blind)
    state.hands_left = bosses.hands_of_round(state)
    state.discards_left = bosses.discards_of_round(state)
    state.hands_played = 0
    state.discards_used = 0
    state.disabled = 0
    state.eye_hands = 0
    state.mouth_hand = -1
    state.fish = 0
    state.hand_size_now = kept_tags.used_up(state, tags.JUGGLE)
    for hand in range(hands.HANDS):
        state.plays_this_round[hand] = 0
    apply_boss_at_start(state)
    deck.debuff_all(state)
    jokers.fire(state, e.BLIND, -1)
    deck.shuffle(state, SHUFFLE)
    draws.fill_hand(state)
    jokers.fire(state, e.FIRST_DRAW, -1)
    deck.sort_hand(state)
    apply_boss_after_draw(state)
    check_stuck(state)


@rule
def apply_boss_at_start(state):
    """Effects of a boss at the start of its blind; Chicot disables it."""
    effect = deck.boss_effect(state)
    if effect == blinds.NO_DISCARDS:
        state.discards_left = 0
    elif effect == blinds.ONE_HAND:
        state.hands_left = 1
    if state.rules & CHICOT:
        bosses.disable(state)
    elif effect == blinds.HIDE_JOKERS:
        hide_jokers(state)


@rule
def hide_jokers(state):
    """Amber Acorn: turn jokers face down and shuffle them."""
    count = state.joker_count
    for index in range(count):
        state.jokers[index].face_down = 1
    if count > 1:
        sort_by_birth(state)
        randomness.seed_generator(state, randomness.pseudoseed(state, ACORN))
        for last in range(count - 1, 0, -1):
            holdings.swap_jokers(state, last, randomness.draw_below(state, last + 1))
    holdings.refresh(state)


@rule
def sort_by_birth(state):
    for last in range(state.joker_count - 1, 0, -1):
        for index in range(last):
            if state.jokers[index].born > state.jokers[index + 1].born:
                holdings.swap_jokers(state, index, index + 1)


@rule
def draw_hand(state):
    """Fill the hand from the pile, then apply the boss's effect on it."""
    draws.fill_hand(state)
    apply_boss_after_draw(state)


@rule
def apply_boss_after_draw(state):
    """Effects of a boss after a hand was drawn."""
    effect = deck.boss_effect(state)
    if effect == blinds.FORCE_CARD:
        force_card(state)
    elif effect == blinds.DISABLE_JOKER and (state.fish or not draws.round_has_begun(state)):
        bosses.disable_joker(state)
    state.fish = 0


@rule
def nth_in_hand(state, nth):
    """The number of the n-th card of the hand, in order of creation."""
    last = -1
    for _ in range(nth + 1):
        lowest = 9999
        for place in range(state.hand_count):
            number = np.int64(state.hand[place])
            if last < number < lowest:
                lowest = number
        last = lowest
    return last


@rule
def force_card(state):
    """Cerulean Bell: force one card to be selected."""
    for place in range(state.hand_count):
        if state.cards[state.hand[place]].flags & cards.FORCED:
            return
    if state.hand_count:
        number = nth_in_hand(state, randomness.below(state, BELL, state.hand_count))
        state.cards[number].flags |= cards.FORCED | cards.SELECTED


@rule
def take_selected(state):
    """Move the selected cards from the hand into the tally, in order."""
    tally = state.tally
    tally.count = 0
    kept = 0
    for place in range(state.hand_count):
        number = state.hand[place]
        card = state.cards[number]
        if card.flags & cards.SELECTED and tally.count < MOST_PLAYED:
            card.flags &= 255 - cards.SELECTED - cards.FORCED - cards.FACE_DOWN
            tally.cards[tally.count] = number
            tally.count += 1
        else:
            state.hand[kept] = number
            kept += 1
    state.hand_count = kept


@rule
def play_hand(state):
    """Play the selected cards."""
    holdings.refresh(state)  # the state may have been constructed by a caller, for example by tools/scores.py
    take_selected(state)
    tally = state.tally
    state.hands_left -= 1
    if deck.boss_effect(state) == blinds.PAY_PER_CARD:
        state.money -= blinds.NUMBER[state.boss] * tally.count
    for place in range(tally.count):
        state.cards[tally.cards[place]].flags |= cards.PLAYED_THIS_ANTE
    scoring.score_hand(state)
    state.score += tally.score
    state.last_hand = tally.hand
    scoring.after_hand(state)
    state.hands_played += 1
    state.hands_of_run += 1
    deck.grow(state, e.PLAYED, -1)
    if deck.boss_effect(state) == blinds.DISCARD_TWO:
        discard_random(state)
    state.fish = 1
    finish_turn(state)


@rule
def discard_random(state):
    """The Hook: discard two random cards."""
    for _ in range(blinds.NUMBER[state.boss]):
        if state.hand_count:
            number = nth_in_hand(state, randomness.below(state, HOOK, state.hand_count))
            remove_from_hand(state, number)
            discard_card(state, number)


@rule
def discard_card(state, number):
    """Discard one card."""
    jokers.fire(state, e.DISCARDED, number)
    if state.cards[number].seal == cards.PURPLE_SEAL and not state.cards[number].flags & cards.DEBUFFED:
        holdings.create_consumable(state, generation.TAROTS, PURPLE_TAROT)


@rule
def remove_from_hand(state, number):
    kept = 0
    for place in range(state.hand_count):
        if state.hand[place] != number:
            state.hand[kept] = state.hand[place]
            kept += 1
    state.hand_count = kept


@rule
def discard(state):
    """Discard the selected cards and draw new ones."""
    take_selected(state)
    tally = state.tally
    tally.broken = 0
    tally.refused = 0
    poker.evaluate(state)
    jokers.fire(state, e.DISCARD, -1)
    for place in range(tally.count):
        discard_card(state, tally.cards[place])
    scoring.destroy_broken(state)
    state.discards_left -= 1
    state.discards_used += 1
    draw_hand(state)
    check_stuck(state)


@rule
def finish_turn(state):
    """After a hand: the blind is beaten, lost, or continues."""
    if state.score >= state.required:
        end_round(state)
    elif state.hands_left <= 0:
        lose_or_survive(state)
    else:
        draw_hand(state)
        check_stuck(state)


@rule
def check_stuck(state):
    """The blind is lost if there is no card to play."""
    if state.status != OVER and state.phase == PLAYING_HAND and state.hand_count == 0:
        lose_or_survive(state)


@rule
def lose_or_survive(state):
    """The blind is lost, unless Mr. Bones saves the run."""
    if state.score >= 0.25 * state.required:
        for index in range(state.joker_count):
            if state.jokers[index].number == MR_BONES and not state.jokers[index].debuffed:
                holdings.remove_joker(state, index)
                end_round(state)
                return
    state.status = OVER


@rule
def end_round(state):
    """The blind is beaten: apply effects of jokers and held cards, compute the pay, and undo the boss's effects."""
    boss_beaten = state.blind == BOSS
    state.beaten += 1
    state.tally.dollars = 0
    state.unused_discards += state.discards_left
    end_jokers(state)
    for place in range(state.hand_count):
        end_held(state, state.hand[place])
    state.pay = count_pay(state)
    state.phase = CASHING_OUT
    bosses.free_jokers(state)
    back_to_deck(state)
    if boss_beaten:
        if state.ante >= WIN_ANTE and not state.won:
            state.won = 1
            if not state.endless:
                state.status = OVER
        next_ante(state)
    run_start.choose_targets(state)


@rule
def end_held(state, number):
    """Effects of a card held at the end of a round: gold pays, a blue seal gives the planet of the last hand."""
    card = state.cards[number]
    for _ in range(jokers.times(state, e.HELD_AGAIN, number)):
        if card.enhancement == cards.GOLD:
            state.money += 3
        if card.seal == cards.BLUE_SEAL and state.last_hand >= 0:
            holdings.give_consumable(state, consumables.PLANET_OF[state.last_hand])


@rule
def end_jokers(state):
    """End of the round for each joker: rent (also for a joker that is about to be removed), effects, and perishing."""
    index = 0
    while index < state.joker_count:
        born = state.jokers[index].born
        if state.jokers[index].stickers & cards.RENTAL:
            state.money -= 3
        jokers.act(state, index, e.ROUND_END, -1)
        if index < state.joker_count and state.jokers[index].born == born:
            perish(state, index)
            index += 1


@rule
def perish(state, index):
    """Count down the rounds of a perishable joker, debuffed or not; after the last it is debuffed permanently."""
    joker = state.jokers[index]
    if joker.stickers & cards.PERISHABLE and joker.rounds > 0:
        joker.rounds -= 1
        if joker.rounds == 0:
            holdings.set_debuff(state, index, joker.debuffed | PERISHED)


@rule
def count_pay(state):
    """The pay from the blind, remaining hands, jokers, tags and interest."""
    pay = blinds.PAYS[row_of(state, state.blind)]
    if state.blind == SMALL and state.stake >= decks.RED_STAKE:
        pay = 0
    if state.deck == decks.GREEN:
        pay += 2 * state.hands_left + state.discards_left
    else:
        pay += state.hands_left + interest(state)
    before = state.money
    jokers.fire(state, e.CASH_OUT, -1)
    pay += state.money - before
    state.money = before
    if state.blind == BOSS:
        pay += kept_tags.used_up(state, tags.INVESTMENT)
    return pay


@rule
def interest(state):
    most = 20 if state.owned_vouchers[MONEY_TREE] else (10 if state.owned_vouchers[SEED_MONEY] else 5)
    return min(max(state.money, 0) // 5, most) * (1 + holdings.passive(state, e.INTEREST))


@rule
def back_to_deck(state):
    state.hand_count = 0
    for number in range(state.card_count):
        state.cards[number].flags &= cards.PLAYED_THIS_ANTE


@rule
def next_ante(state):
    """After a boss: go to the next ante, draw its voucher, and reset the flags of all cards."""
    randomness.enter_ante(state, state.ante + 1)
    state.offered_vouchers = 0
    state.vouchers[0] = generation.draw_voucher(state, generation.VOUCHER_STREAM)
    state.offered_vouchers = 1
    state.bosses_rerolled = 0
    state.ox_hand = max(generation.most_played(state), 0)
    for number in range(state.card_count):
        state.cards[number].flags = 0
    if state.deck == decks.ANAGLYPH:
        kept_tags.gain(state, tags.DOUBLE_TAG, -1)


@rule
def next_blind(state):
    """Go to the choice of the next blind."""
    state.phase = CHOOSING_BLIND
    state.blind = SMALL if state.blind == BOSS else state.blind + 1


@rule
def cash_out(state):
    """Collect the pay and shuffle; after a boss, draw the next boss and new tags."""
    state.money = min(state.money + state.pay, 2_000_000_000)
    state.pay = 0
    deck.shuffle(state, CASH_OUT_SHUFFLE)
    if state.blind == BOSS:
        run_start.offer_tags(state)
        state.boss = generation.draw_boss(state)
