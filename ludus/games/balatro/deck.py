"""The cards of a run: adding and destroying them, shuffling, drawing, sorting, debuffing."""

import math

import numpy as np

from ludus.games.balatro import conditions, poker, randomness
from ludus.games.balatro.state import BOSS, MOST_CARDS, MOST_IN_HAND, PLAYING_HAND
from ludus.games.balatro.tables import blinds, cards, decks
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.jokers import ACTS, EFFECTS, FIRST, LAST
from ludus.games.balatro.tables.rules import PAREIDOLIA, SMEARED
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

ERRATIC_STREAM, WHEEL_STREAM, SHUFFLE_STREAM = stream("erratic"), stream("wheel"), stream("nr@")
BY_RANK, BY_SUIT = 0, 1


@rule
def grow(state, when, subject):
    """Update the values of jokers at a moment without other effects: a card was added, destroyed or sold.

    A debuffed joker gains nothing, but still counts the hands played.
    """
    for index in range(state.joker_count):
        joker = state.jokers[index]
        if (joker.debuffed and when != e.PLAYED) or not (ACTS[joker.number] >> when) & 1:
            continue
        for number in range(FIRST[joker.number], LAST[joker.number]):
            effect = EFFECTS[number]
            if effect.when == when and conditions.met(state, effect, joker, subject):
                joker.value += conditions.amount(state, effect, joker, subject)


@rule
def write_card(card, rank, suit, enhancement, edition, seal):
    card.rank = rank
    card.suit = suit
    card.enhancement = enhancement
    card.edition = edition
    card.seal = seal
    card.flags = 0
    card.chips = 0


@rule
def make_deck(state):
    """The cards at the start of a run, in the order of their keys."""
    count = 0
    for place in range(52):
        front = cards.FRONTS[place]
        if state.deck == decks.ERRATIC:
            front = cards.FRONTS[randomness.below(state, ERRATIC_STREAM, 52)]
        suit = front // 13
        rank = front % 13
        if state.deck == decks.ABANDONED and cards.JACK <= rank <= cards.KING:
            continue
        if state.deck == decks.CHECKERED:
            suit = cards.SPADES if suit == cards.CLUBS or suit == cards.SPADES else cards.HEARTS
        write_card(state.cards[count], rank, suit, 0, 0, 0)
        count += 1
    state.card_count = count
    state.starting_cards = count


@rule
def add_card(state, rank, suit, enhancement, edition, seal, in_hand):
    """Add a card permanently, to the hand or only to the deck; returns its number, or -1 if there is no room."""
    number = state.card_count
    if number >= MOST_CARDS or (in_hand and state.hand_count >= MOST_IN_HAND):
        return -1
    write_card(state.cards[number], rank, suit, enhancement, edition, seal)
    state.card_count += 1
    if in_hand:
        state.hand[state.hand_count] = number
        state.hand_count += 1
    debuff(state, number)
    grow(state, e.ADDED, number)
    return number


@rule
def copy_card(state, number, in_hand):
    """Add a permanent copy of a card, including its chips and whether it is debuffed and was played this ante."""
    card = state.cards[number]
    made = add_card(state, card.rank, card.suit, card.enhancement, card.edition, card.seal, in_hand)
    if made >= 0:
        state.cards[made].chips = card.chips
        state.cards[made].flags = card.flags & (cards.DEBUFFED | cards.PLAYED_THIS_ANTE)
    return made


@rule
def enhance(state, number, enhancement):
    """Change the enhancement of a card; it then counts as not played this ante, and its debuff is updated."""
    card = state.cards[number]
    card.enhancement = enhancement
    card.flags &= 255 - cards.PLAYED_THIS_ANTE
    debuff(state, number)


@rule
def forget(numbers, count, gone):
    """Remove a card from a list of card numbers and decrement the numbers above it; returns the new length."""
    kept = 0
    for index in range(count):
        number = numbers[index]
        if number != gone:
            numbers[kept] = number - 1 if number > gone else number
            kept += 1
    return kept


@rule
def destroy_card(state, number):
    """Remove a card from the run permanently."""
    grow(state, e.DESTROYED, number)
    state.hand_count = forget(state.hand, state.hand_count, number)
    state.pile_count = forget(state.pile, state.pile_count, number)
    state.card_count -= 1
    for index in range(number, state.card_count):
        state.cards[index] = state.cards[index + 1]


@rule
def gather(state):
    """Put all cards back into the pile, in the order in which they were created."""
    count = state.card_count
    for number in range(count):
        state.pile[number] = number
        state.cards[number].flags &= cards.PLAYED_THIS_ANTE | cards.DEBUFFED
    state.pile_count = count
    state.hand_count = 0


@rule
def shuffle(state, source):
    """Put all cards back into the pile, in random order."""
    gather(state)
    count = state.card_count
    words = randomness.seeded_words(randomness.pseudoseed(state, source))
    for last in range(count - 1, 0, -1):
        words = randomness.stepped_words(words)
        other = np.int64(math.floor(randomness.as_float(words) * (last + 1)))
        number = state.pile[last]
        state.pile[last] = state.pile[other]
        state.pile[other] = number
    randomness.keep_words(state, words)


@rule
def draw_card(state):
    """Draw the top card of the pile into the hand; returns its number."""
    state.pile_count -= 1
    number = state.pile[state.pile_count]
    state.hand[state.hand_count] = number
    state.hand_count += 1
    return number


@rule
def comes_before(state, one, other):
    """Whether a card is sorted to the left of another: high ranks first, or by suit; stone cards last."""
    first = state.cards[one]
    second = state.cards[other]
    stone = first.enhancement == cards.STONE
    if stone != (second.enhancement == cards.STONE):
        return not stone
    if state.sorted_by == BY_SUIT and suit_order(first.suit) != suit_order(second.suit):
        return suit_order(first.suit) > suit_order(second.suit)
    if first.rank != second.rank:
        return first.rank > second.rank
    if first.suit != second.suit:
        return suit_order(first.suit) > suit_order(second.suit)
    return one < other


@rule
def suit_order(suit):
    """Spades, hearts, clubs, diamonds, from high to low."""
    return 3 if suit == cards.SPADES else (2 if suit == cards.HEARTS else (1 if suit == cards.CLUBS else 0))


@rule
def sort_hand(state):
    """Sort the hand, as the game does after every draw."""
    for place in range(1, state.hand_count):
        number = state.hand[place]
        earlier = place - 1
        while earlier >= 0 and comes_before(state, number, state.hand[earlier]):
            state.hand[earlier + 1] = state.hand[earlier]
            earlier -= 1
        state.hand[earlier + 1] = number


@rule
def boss_effect(state):
    """The effect of the current blind; NOTHING if it was disabled."""
    if state.blind != BOSS or state.disabled:
        return blinds.NOTHING
    return blinds.EFFECT[state.boss]


@rule
def is_debuffed_by_boss(state, card):
    effect = boss_effect(state)
    if effect == blinds.DEBUFF_SUIT:
        suit = blinds.NUMBER[state.boss]
        if card.enhancement == cards.STONE:
            return False
        smeared = state.rules & SMEARED != 0
        return card.enhancement == cards.WILD or poker.suits_alike(card.suit, suit, smeared)
    if effect == blinds.DEBUFF_FACES:
        if state.rules & PAREIDOLIA:
            return True
        return card.enhancement != cards.STONE and cards.JACK <= card.rank <= cards.KING
    if effect == blinds.DEBUFF_PLAYED:
        return card.flags & cards.PLAYED_THIS_ANTE != 0
    return effect == blinds.DEBUFF_ALL


@rule
def debuff(state, number):
    """Update whether the current blind debuffs a card; between blinds no card is debuffed."""
    card = state.cards[number]
    if state.phase == PLAYING_HAND and is_debuffed_by_boss(state, card):
        card.flags |= cards.DEBUFFED
    else:
        card.flags &= 255 - cards.DEBUFFED


@rule
def debuff_all(state):
    for number in range(state.card_count):
        debuff(state, number)
