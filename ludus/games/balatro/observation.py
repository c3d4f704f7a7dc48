"""The observation: the table as it is, and a compact form in numbers between 0 and 1.

Hidden from the player: the order of the pile, face-down cards, and the contents of later shops and packs.
"""

import math

from ludus.games.balatro import prices, rounds, shop
from ludus.games.balatro.state import (
    JOKER, MOST_IN_PACK, MOST_JOKERS, MOST_ON_SHELF, MOST_PACKS, PLAYING_CARD, PLAYING_HAND, SHOPPING,
)  # fmt: skip
from ludus.games.balatro.tables import blinds, cards, hands, jokers, packs, tags, vouchers
from ludus.dsl import f32, rule, u8, within

HAND, OWNED, KEPT, HELD_TAGS = 16, 8, 6, 4
"""maximum number of cards, jokers, consumables and tags shown; if there are more, the first are shown"""
IDOL, MAIL, ANCIENT, CASTLE = map(jokers.number_of, ("j_idol", "j_mail", "j_ancient", "j_castle"))
CARD_FIELDS = 8
"""rank + 1 (14 face down), suit, enhancement, edition, seal, debuffed, selected, played this ante"""
ITEM_FIELDS = 8
"""kind, number, edition, stickers, rank + 1, suit, enhancement, seal"""
GAME_STATE = 50

FIELDS = {
    "phase": within(0, 4, u8), "blind": within(0, blinds.BLINDS - 1, u8), "boss": within(0, blinds.BLINDS - 1, u8),
    "tags": within(0, tags.TAGS - 1, u8, 2), "hand": within(0, 64, u8, HAND, CARD_FIELDS),
    "owned": within(0, 255, u8, OWNED, ITEM_FIELDS), "counters": within(-1e30, 1e30, f32, OWNED, 3),
    "consumables": within(0, 255, u8, KEPT), "shelf": within(0, 255, u8, MOST_ON_SHELF, ITEM_FIELDS),
    "pack": within(0, 255, u8, MOST_IN_PACK, ITEM_FIELDS), "prices": within(0, 1000, f32, MOST_ON_SHELF + 4),
    "redeemed": within(0, 1, u8, vouchers.VOUCHERS), "held_tags": within(0, tags.TAGS, u8, HELD_TAGS),
    "played": within(0, 255, u8, hands.HANDS),
    "vouchers": within(0, vouchers.VOUCHERS, u8, 2), "packs": within(0, packs.PACKS, u8, MOST_PACKS),
    "cards": within(0, 1, f32, 52, 4), "jokers": within(0, 1, f32, jokers.JOKERS_IN_ALL, 8),
    "game_state": within(-1e30, 1e30, f32, GAME_STATE),
}  # fmt: skip


@rule
def observe(state, out):
    out.phase = state.phase
    out.blind = rounds.row_of(state, state.blind)
    out.boss = state.boss
    for place in range(2):
        out.tags[place] = state.offered_tags[place]
    for place in range(HELD_TAGS):
        out.held_tags[place] = state.tags[place] + 1 if place < state.tag_count else 0
    for voucher in range(vouchers.VOUCHERS):
        out.redeemed[voucher] = state.owned_vouchers[voucher]
    for hand in range(hands.HANDS):
        out.played[hand] = min(255, state.plays_this_round[hand])
    see_hand(state, out)
    see_items(state, out)
    see_deck(state, out)
    see_jokers(state, out)
    see_numbers(state, out)


@rule
def see_hand(state, out):
    for place in range(HAND):
        for field in range(CARD_FIELDS):
            out.hand[place, field] = 0
    for place in range(min(state.hand_count, HAND)):
        card = state.cards[state.hand[place]]
        if card.flags & cards.FACE_DOWN:
            out.hand[place, 0] = 14
        else:
            out.hand[place, 0] = card.rank + 1
            out.hand[place, 1] = card.suit
            out.hand[place, 2] = card.enhancement
            out.hand[place, 3] = card.edition
            out.hand[place, 4] = card.seal
            out.hand[place, 5] = card.flags & cards.DEBUFFED
            out.hand[place, 7] = card.flags & cards.PLAYED_THIS_ANTE != 0
        out.hand[place, 6] = card.flags & cards.SELECTED != 0


@rule
def see_item(rows, place, item):
    rows[place, 0] = item.kind
    rows[place, 1] = item.number
    rows[place, 2] = item.edition
    rows[place, 3] = item.stickers
    if item.kind == PLAYING_CARD:
        rows[place, 4] = item.rank + 1
        rows[place, 5] = item.suit
        rows[place, 6] = item.enhancement
        rows[place, 7] = item.seal


@rule
def clear(rows, places):
    for place in range(places):
        for field in range(ITEM_FIELDS):
            rows[place, field] = 0


@rule
def target_of(state, joker):
    """The target of a joker in this round, as printed on it: a card, a rank or a suit; else its counter."""
    if joker.number == IDOL:
        return state.idol_rank * 4 + state.idol_suit
    if joker.number == MAIL:
        return int(state.mail_rank)
    if joker.number == ANCIENT:
        return int(state.ancient_suit)
    return int(state.castle_suit) if joker.number == CASTLE else int(joker.counter)


@rule
def see_items(state, out):
    """Owned and offered items with their prices; nothing is shown of a face-down joker."""
    clear(out.owned, OWNED)
    clear(out.shelf, MOST_ON_SHELF)
    clear(out.pack, MOST_IN_PACK)
    for place in range(OWNED):
        for field in range(3):
            out.counters[place, field] = 0.0
    for place in range(min(state.joker_count, OWNED)):
        joker = state.jokers[place]
        if joker.face_down:
            out.owned[place, 0] = JOKER
            continue
        see_item(out.owned, place, joker)
        out.owned[place, 4] = joker.debuffed != 0
        out.owned[place, 5] = joker.rounds
        out.counters[place, 0] = joker.value
        out.counters[place, 1] = target_of(state, joker)
        out.counters[place, 2] = prices.sell_value(state, joker)
    for place in range(KEPT):
        out.consumables[place] = state.consumables[place].number if place < state.consumable_count else 0
    for place in range(MOST_ON_SHELF + 4):
        out.prices[place] = 0.0
    for place in range(state.shelf_count):
        see_item(out.shelf, place, state.shelf[place])
        out.prices[place] = prices.price(state, state.shelf[place])
    for place in range(state.pack_count):
        see_item(out.pack, place, state.pack[place])
    for place in range(2):
        out.vouchers[place] = state.vouchers[place] + 1 if place < state.offered_vouchers else 0
        offered = place < state.offered_packs and state.packs[place] >= 0
        out.packs[place] = state.packs[place] + 1 if offered else 0
        if offered:
            out.prices[MOST_ON_SHELF + place] = prices.pack_price(state, place)
    if state.phase == SHOPPING:
        out.prices[MOST_ON_SHELF + 2] = shop.reroll_price(state)
        out.prices[MOST_ON_SHELF + 3] = prices.voucher_price(state)


@rule
def see_deck(state, out):
    """For each of the 52 cards: how many are in hand, in the pile, gone this round, and enhanced, each divided by 4.

    Face-down cards in hand are counted as part of the pile, so that they stay hidden.
    """
    seen = out.cards
    for front in range(52):
        for field in range(4):
            seen[front, field] = 0.0
    for number in range(state.card_count):
        card = state.cards[number]
        front = card.suit * 13 + card.rank
        seen[front, 2] += 0.25
        if card.enhancement:
            seen[front, 3] += 0.25
    for place in range(state.hand_count):
        card = state.cards[state.hand[place]]
        seen[card.suit * 13 + card.rank, 1 if card.flags & cards.FACE_DOWN else 0] += 0.25
    for index in range(state.pile_count):
        card = state.cards[state.pile[index]]
        seen[card.suit * 13 + card.rank, 1] += 0.25
    for front in range(52):
        seen[front, 2] = max(0.0, seen[front, 2] - seen[front, 0] - seen[front, 1])
        for field in range(4):
            seen[front, field] = min(1.0, seen[front, field])


@rule
def see_jokers(state, out):
    """For each of the 150 jokers: how many are owned, position, value, edition, sell value; whether it is offered, at
    what price, and whether it is in the open pack."""
    for index in range(jokers.JOKERS_IN_ALL):
        for field in range(8):
            out.jokers[index, field] = 0.0
    for place in range(state.joker_count):
        joker = state.jokers[place]
        if joker.face_down:
            continue
        row = joker.number - 1
        out.jokers[row, 0] = min(1.0, out.jokers[row, 0] + 0.5)
        out.jokers[row, 1] = (place + 1) / (MOST_JOKERS + 1)
        out.jokers[row, 2] = max(0.0, joker.value) / (max(0.0, joker.value) + 10.0)
        out.jokers[row, 3] = joker.edition * 0.25
        out.jokers[row, 4] = min(1.0, prices.sell_value(state, joker) / 50.0)
    for place in range(state.shelf_count):
        if state.shelf[place].kind == JOKER:
            out.jokers[state.shelf[place].number - 1, 5] = 1.0
            out.jokers[state.shelf[place].number - 1, 6] = min(1.0, prices.price(state, state.shelf[place]) / 25.0)
    for place in range(state.pack_count):
        if state.pack[place].kind == JOKER:
            out.jokers[state.pack[place].number - 1, 7] = 1.0


@rule
def see_numbers(state, out):
    """Fifty numbers, scaled to about 1."""
    seen = out.game_state
    seen[0] = state.ante / 8.0
    seen[1] = state.blind / 2.0
    seen[2] = math.log10(1.0 + max(0.0, state.score))
    required = state.required if state.phase == PLAYING_HAND else rounds.asked(state, state.blind)
    seen[3] = math.log10(1.0 + required)
    seen[4] = min(1.0, state.score / required) if state.phase == PLAYING_HAND else 0.0
    seen[5] = state.money / 25.0
    seen[6] = state.hands_left / 4.0
    seen[7] = state.discards_left / 4.0
    seen[8] = state.hand_count / 8.0
    seen[9] = state.pile_count / 52.0
    seen[10] = state.card_count / 52.0
    seen[11] = state.joker_count / 5.0
    seen[12] = state.joker_slots / 5.0
    seen[13] = state.consumable_count / 2.0
    seen[14] = state.consumable_slots / 2.0
    seen[15] = state.hands / 4.0
    seen[16] = state.discards / 4.0
    seen[17] = state.hand_size / 8.0
    seen[18] = state.round / 24.0
    seen[19] = state.skips / 4.0
    seen[20] = state.tag_count / 4.0
    seen[21] = state.picks_left / 2.0
    seen[22] = state.rerolls / 5.0
    seen[23] = state.tarots_used / 10.0
    seen[24] = state.stake / 7.0
    seen[25] = state.deck / 14.0
    for hand in range(hands.HANDS):
        seen[26 + hand] = state.levels[hand] / 5.0
        seen[38 + hand] = state.plays[hand] / 10.0
