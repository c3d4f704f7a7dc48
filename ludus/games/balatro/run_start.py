"""The start of a run: its seed, the values of deck and stake, and the draws at the start and with every ante."""

import numpy as np

from ludus.games.balatro import deck, generation, holdings, randomness, scoring
from ludus.games.balatro.state import SEED_LETTERS
from ludus.games.balatro.tables import cards, decks, hands, vouchers
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import random, rule

ALPHABET = np.array(list(b"123456789ABCDEFGHIJKLMNPQRSTUVWXYZ"), np.uint8)
"""characters of random seeds"""
IDOL, MAIL, ANCIENT, CASTLE = stream("idol@"), stream("mail@"), stream("anc@"), stream("cas@")
ORBITAL = stream("orbital")


@rule
def start(state):
    """Start a new run."""
    take_seed(state)
    start_values(state)
    randomness.enter_ante(state, 1)
    randomness.begin_streams(state)
    state.boss = generation.draw_boss(state)
    state.vouchers[0] = generation.draw_voucher(state, generation.VOUCHER_STREAM)
    state.offered_vouchers = 1
    offer_tags(state)
    deck.make_deck(state)
    deck.gather(state)
    state.ancient_suit = cards.SPADES
    choose_targets(state)
    holdings.refresh(state)


@rule
def take_seed(state):
    """Set the given seed, or a random one."""
    if state.seed[0]:
        length = 0
        while length < SEED_LETTERS and state.seed[length]:
            state.seed_text[length] = state.seed[length]
            length += 1
        state.seed_letters = length
    else:
        new_seed(state)
    state.seed_hash = randomness.hash_seed(state, 0)


@rule
def new_seed(state):
    for place in range(SEED_LETTERS):
        state.seed_text[place] = ALPHABET[random.below(state, len(ALPHABET))]
    state.seed_letters = SEED_LETTERS


@rule
def start_values(state):
    """Set the starting values of the deck and the stake."""
    change = decks.CHANGE[state.deck]
    state.hands = decks.START[decks.HANDS] + change[decks.HANDS]
    state.discards = decks.START[decks.DISCARDS] + change[decks.DISCARDS]
    state.discards -= state.stake >= decks.BLUE_STAKE
    state.money = decks.START[decks.DOLLARS] + change[decks.DOLLARS]
    state.hand_size = decks.START[decks.HAND_SIZE] + change[decks.HAND_SIZE]
    state.joker_slots = decks.START[decks.JOKER_SLOTS] + change[decks.JOKER_SLOTS]
    state.consumable_slots = decks.START[decks.CONSUMABLE_SLOTS] + change[decks.CONSUMABLE_SLOTS]
    for hand in range(hands.HANDS):
        state.levels[hand] = 1
    state.ox_hand = hands.HIGH_CARD
    state.tally.limit = scoring.NO_LIMIT
    state.tally.misprint = -1
    for place in range(3):
        voucher = decks.VOUCHERS[state.deck, place]
        if voucher >= 0:
            redeem(state, voucher)
    for place in range(2):
        if decks.CONSUMABLES[state.deck, place]:
            holdings.give_consumable(state, decks.CONSUMABLES[state.deck, place])


@rule
def redeem(state, voucher):
    """Add a voucher and apply its effect."""
    state.owned_vouchers[voucher] = 1
    effect = vouchers.EFFECT[voucher]
    number = int(vouchers.NUMBER[voucher])
    if effect == vouchers.CONSUMABLE_SLOTS:
        state.consumable_slots += number
    elif effect == vouchers.JOKER_SLOTS:
        state.joker_slots += number
    elif effect == vouchers.HANDS:
        state.hands += number
    elif effect == vouchers.DISCARDS:
        state.discards += number
    elif effect == vouchers.HAND_SIZE:
        state.hand_size += number
    elif effect == vouchers.ANTE_AND_HAND:
        randomness.enter_ante(state, state.ante + number)
        state.hands += number
    elif effect == vouchers.ANTE_AND_DISCARD:
        randomness.enter_ante(state, state.ante + number)
        state.discards += number


@rule
def offer_tags(state):
    """Draw the tags of the two blinds that can be skipped, and the poker hands for Orbital Tags."""
    for place in range(2):
        state.offered_tags[place] = generation.draw_tag(state)
    for place in range(3):
        state.orbital_hands[place] = random_known_hand(state, ORBITAL)


@rule
def random_known_hand(state, source):
    """A random known poker hand: secret hands count only after they have been played."""
    count = 0
    for place in range(hands.HANDS):
        hand = hands.ORDER_OF_CHOICE[place]
        count += hand >= hands.SECRET or state.plays[hand] > 0
    skip = randomness.below(state, source, count)
    for place in range(hands.HANDS):
        hand = hands.ORDER_OF_CHOICE[place]
        if hand >= hands.SECRET or state.plays[hand] > 0:
            if skip == 0:
                return hand
            skip -= 1
    return hands.HIGH_CARD


@rule
def random_card(state, source):
    """The number of a random card of the deck that is not a stone card; -1 if there is none."""
    count = 0
    for number in range(state.card_count):
        count += state.cards[number].enhancement != cards.STONE
    if count == 0:
        return -1
    skip = randomness.below(state, source, count)
    if count == state.card_count:
        return skip
    for number in range(state.card_count):
        if state.cards[number].enhancement != cards.STONE:
            if skip == 0:
                return number
            skip -= 1
    return -1


@rule
def choose_targets(state):
    """Draw the targets of The Idol, Mail-In Rebate, Ancient Joker and Castle for the next round."""
    number = random_card(state, IDOL)
    if number >= 0:
        state.idol_rank = state.cards[number].rank
        state.idol_suit = state.cards[number].suit
    number = random_card(state, MAIL)
    if number >= 0:
        state.mail_rank = state.cards[number].rank
    skip = randomness.below(state, ANCIENT, 3)
    for order in range(4):
        suit = cards.SUIT_ORDER[order]
        if suit != state.ancient_suit:
            if skip == 0:
                state.ancient_suit = suit
                break
            skip -= 1
    number = random_card(state, CASTLE)
    if number >= 0:
        state.castle_suit = state.cards[number].suit
