"""The course of a run: blinds, hands, discards, the end of a round, and what the next ante brings."""

import math

import numpy as np

from ludus.games.balatro import (
    beginning, bosses, deck, generation, holdings, jokers, poker, randomness, scoring, tagging,
)  # fmt: skip
from ludus.games.balatro.bosses import DISABLED, PERISHED
from ludus.games.balatro.state import (
    BOSS, CASHING_OUT, CHOOSING_BLIND, MOST_IN_HAND, MOST_PLAYED, PLAYING_HAND, SMALL,
)  # fmt: skip
from ludus.games.balatro.tables import blinds, cards, consumables, decks, hands, tags, vouchers
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.jokers import MR_BONES
from ludus.games.balatro.tables.rules import CHICOT
from ludus.games.balatro.tables.streams import stream
from ludus.words import OVER, rule

WIN_ANTE = 8
SHUFFLE, CASH_OUT_SHUFFLE = stream("nr@"), stream("cashout@")
HOOK, BELL, HEART, ACORN, WHEEL = (stream(name) for name in ("hook", "cerulean_bell", "crimson_heart", "aajk", "wheel"))
PURPLE_TAROT = stream("Tarot8ba@")
SEED_MONEY, MONEY_TREE = vouchers.KEYS.index("v_seed_money"), vouchers.KEYS.index("v_money_tree")


@rule
def ante_score(state, ante):
    """What an ante asks before a blind's factor; beyond the eighth it grows faster and faster."""
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
    """The row of the ante's small, big or boss blind."""
    return np.int64(state.boss) if blind == BOSS else np.int64(blind)


@rule
def asked(state, blind):
    """What a blind of this ante asks for."""
    score = ante_score(state, state.ante) * blinds.FACTOR[row_of(state, blind)] * state.scale
    return score * 2.0 if state.deck == decks.PLASMA else score


@rule
def select_blind(state):
    """Take on the blind."""
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
    state.hand_size_now = tagging.used_up(state, tags.JUGGLE)
    for hand in range(hands.HANDS):
        state.plays_this_round[hand] = 0
    meet_blind(state)
    jokers.fire(state, e.BLIND, -1)
    deck.shuffle(state, SHUFFLE)
    deck.debuff_all(state)
    draw_hand(state)
    jokers.fire(state, e.FIRST_DRAW, -1)
    deck.sort_hand(state)
    check_stuck(state)


@rule
def meet_blind(state):
    """What a boss does at once; Chicot gives back what it took."""
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
    """Amber Acorn: jokers are turned face down and shuffled."""
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
def hand_limit(state):
    """How many cards the hand holds now."""
    limit = state.hand_size + holdings.passive(state, e.HAND_SIZE)
    if state.phase == PLAYING_HAND:
        limit += state.hand_size_now
        limit -= deck.boss_effect(state) == blinds.SMALLER_HAND
    return min(max(limit, 0), MOST_IN_HAND)


@rule
def draw_hand(state):
    """Fill the hand from the pile, some cards face down where the boss wants it."""
    effect = deck.boss_effect(state)
    wanted = hand_limit(state) - state.hand_count
    begun = state.hands_played + state.discards_used > 0
    if effect == blinds.DRAW_THREE and begun:
        wanted = min(blinds.NUMBER[state.boss], MOST_IN_HAND - state.hand_count)
    for _ in range(min(wanted, state.pile_count)):
        number = deck.draw_card(state)
        if comes_face_down(state, effect, state.cards[number], begun):
            state.cards[number].flags |= cards.FACE_DOWN
    deck.sort_hand(state)
    if effect == blinds.FORCE_CARD:
        force_card(state)
    elif effect == blinds.DISABLE_JOKER and (state.fish or not begun):
        disable_joker(state)
    state.fish = 0


@rule
def comes_face_down(state, effect, card, begun):
    if effect == blinds.FIRST_FACE_DOWN:
        return not begun
    if effect == blinds.SOME_FACE_DOWN:
        return randomness.uniform(state, WHEEL) < state.luck / blinds.NUMBER[state.boss]
    if effect == blinds.LATER_FACE_DOWN:
        return state.fish != 0
    return effect == blinds.FACES_DOWN and poker.is_face(state, card)


@rule
def nth_in_hand(state, nth):
    """The number of the n-th card of the hand, in the order in which the cards came to be."""
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
    """Cerulean Bell: one card is always selected."""
    for place in range(state.hand_count):
        if state.cards[state.hand[place]].flags & cards.FORCED:
            return
    if state.hand_count:
        number = nth_in_hand(state, randomness.below(state, BELL, state.hand_count))
        state.cards[number].flags |= cards.FORCED | cards.SELECTED


@rule
def disable_joker(state):
    """Crimson Heart: another joker has no effect, from hand to hand."""
    allowed = 0
    count = 0
    for index in range(state.joker_count):
        joker = state.jokers[index]
        was = joker.debuffed & DISABLED
        joker.debuffed &= PERISHED
        if not was or state.joker_count == 1:
            allowed |= 1 << index
            count += 1
    if count:
        nth = randomness.below(state, HEART, count)
        state.jokers[holdings.nth_born(state.jokers, state.joker_count, allowed, nth)].debuffed |= DISABLED
    holdings.refresh(state)


@rule
def take_selected(state):
    """Move the selected cards from the hand into the tally, in their order."""
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
    holdings.refresh(state)  # a situation may have been put together from outside
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
    if deck.boss_effect(state) == blinds.DISCARD_TWO:
        discard_random(state)
    state.fish = 1
    finish_turn(state)


@rule
def discard_random(state):
    """The Hook: two random cards are discarded."""
    for _ in range(blinds.NUMBER[state.boss]):
        if state.hand_count:
            number = nth_in_hand(state, randomness.below(state, HOOK, state.hand_count))
            leave_hand(state, number)
            let_go(state, number)


@rule
def let_go(state, number):
    """A card is discarded."""
    jokers.fire(state, e.DISCARDED, number)
    if state.cards[number].seal == cards.PURPLE_SEAL and not state.cards[number].flags & cards.DEBUFFED:
        holdings.create_consumable(state, generation.TAROTS, PURPLE_TAROT)


@rule
def leave_hand(state, number):
    kept = 0
    for place in range(state.hand_count):
        if state.hand[place] != number:
            state.hand[kept] = state.hand[place]
            kept += 1
    state.hand_count = kept


@rule
def discard(state):
    """Discard the selected cards and draw others."""
    take_selected(state)
    tally = state.tally
    tally.broken = 0
    tally.refused = 0
    poker.evaluate(state)
    jokers.fire(state, e.DISCARD, -1)
    for place in range(tally.count):
        let_go(state, tally.cards[place])
    scoring.destroy_broken(state)
    state.discards_left -= 1
    state.discards_used += 1
    draw_hand(state)
    check_stuck(state)


@rule
def finish_turn(state):
    """After a hand: the blind is beaten, or lost, or goes on."""
    if state.score >= state.required:
        end_round(state)
    elif state.hands_left <= 0:
        lose_or_survive(state)
    else:
        draw_hand(state)
        check_stuck(state)


@rule
def check_stuck(state):
    """Without a card to play the blind is lost."""
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
    """The blind is beaten: what is held pays, jokers change, and the pay is counted."""
    boss_beaten = state.blind == BOSS
    state.beaten += 1
    state.tally.dollars = 0
    for place in range(state.hand_count):
        end_held(state, state.hand[place])
    jokers.fire(state, e.ROUND_END, -1)
    end_stickers(state)
    state.unused_discards += state.discards_left
    state.pay = count_pay(state)
    state.phase = CASHING_OUT
    back_to_deck(state)
    if boss_beaten:
        if state.ante >= WIN_ANTE and not state.won:
            state.won = 1
            if not state.endless:
                state.status = OVER
        next_ante(state)
    beginning.choose_targets(state)


@rule
def end_held(state, number):
    """A card that is still held at the end: gold pays, a blue seal gives the planet of the last hand."""
    card = state.cards[number]
    for _ in range(jokers.times(state, e.HELD_AGAIN, number)):
        if card.enhancement == cards.GOLD:
            state.money += 3
        if card.seal == cards.BLUE_SEAL and state.last_hand >= 0:
            holdings.give_consumable(state, consumables.PLANET_OF[state.last_hand])


@rule
def end_stickers(state):
    """Rental jokers cost, perishable ones come to their end, and what a boss did to jokers is over."""
    for index in range(state.joker_count):
        joker = state.jokers[index]
        joker.face_down = 0
        joker.debuffed &= PERISHED
        if joker.stickers & cards.RENTAL:
            state.money -= 3
        if joker.stickers & cards.PERISHABLE and joker.rounds > 0:
            joker.rounds -= 1
            if joker.rounds == 0:
                joker.debuffed |= PERISHED
    holdings.refresh(state)


@rule
def count_pay(state):
    """What the blind, hands that are left, jokers, tags and interest pay."""
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
        pay += tagging.used_up(state, tags.INVESTMENT)
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
    """After a boss: the next ante, its voucher, and cards that count as not played."""
    randomness.enter_ante(state, state.ante + 1)
    state.offered_vouchers = 0
    state.vouchers[0] = generation.draw_voucher(state, generation.VOUCHER_STREAM)
    state.offered_vouchers = 1
    state.bosses_rerolled = 0
    state.ox_hand = max(generation.most_played(state), 0)
    for number in range(state.card_count):
        state.cards[number].flags = 0
    if state.deck == decks.ANAGLYPH:
        tagging.gain(state, tags.DOUBLE_TAG, -1)


@rule
def next_blind(state):
    """Back to the choice of a blind, the next one."""
    state.phase = CHOOSING_BLIND
    state.blind = SMALL if state.blind == BOSS else state.blind + 1


@rule
def cash_out(state):
    """Take the pay and go to the shop; after a boss the next one and new tags are known."""
    state.money = min(state.money + state.pay, 2_000_000_000)
    state.pay = 0
    deck.shuffle(state, CASH_OUT_SHUFFLE)
    if state.blind == BOSS:
        beginning.offer_tags(state)
        state.boss = generation.draw_boss(state)
