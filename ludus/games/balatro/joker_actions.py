"""Effects of jokers other than chips and mult: create, destroy, copy, level up."""

import numpy as np

from ludus.games.balatro import bosses, deck, draws, generation, holdings, randomness
from ludus.games.balatro.prices import sell_value
from ludus.games.balatro.state import MOST_CONSUMABLES
from ludus.games.balatro.tables import cards, tags
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.jokers import COMMON, ENDS, GROS_MICHEL, NEVER
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

MARBLE_FRONT, SEALED_FRONT, SEALED_SEAL = stream("marb_fr"), stream("cert_fr"), stream("certsl")
MADNESS, INVISIBLE, PERKEO = stream("madness"), stream("invisible"), stream("perkeo")
NEARLY = 1e-9
"""tolerance for rounding errors of repeated subtraction"""


@rule
def do(state, effect, index, subject, amount):
    """Carry out an effect of joker `index`."""
    does = effect.does
    if does >= e.GAIN:
        change_itself(state, does, index, amount)
    elif does >= e.CREATE_TAROT:
        create_or_destroy(state, effect, index, amount)
    elif does == e.DOLLARS:
        earn(state, int(amount))
    elif does == e.CARD_CHIPS:
        state.cards[subject].chips = min(state.cards[subject].chips + int(amount), 30000)
        mark_changed(state, subject)
    elif does == e.HANDS:
        state.hands_left += int(amount)
    elif does == e.LEVEL_UP:
        state.levels[state.tally.hand] += 1
    elif does == e.NO_DISCARDS:
        state.discards_left = 0
    elif does == e.DISABLE_BOSS:
        bosses.disable(state)
    elif does == e.DOUBLE_TAG:
        holdings.add_tag(state, tags.DOUBLE_TAG, -1)


@rule
def earn(state, dollars):
    """Add money earned while a hand is scored."""
    state.money += dollars
    state.tally.dollars += dollars


@rule
def mark_changed(state, number):
    """Record that a played card has changed."""
    for place in range(state.tally.count):
        if state.tally.cards[place] == number:
            state.tally.changed |= 1 << place


@rule
def change_itself(state, does, index, amount):
    joker = state.jokers[index]
    if does == e.GAIN:
        joker.value += amount
    elif does == e.SET:
        joker.value = amount
    elif does == e.LOSE:
        joker.value = joker.value - amount
        if joker.value <= ENDS[joker.number] + NEARLY:
            holdings.remove_joker(state, index)
        elif ENDS[joker.number] == NEVER:
            joker.value = max(0.0, joker.value)
    elif does == e.GAIN_EVERY:
        joker.counter += 1
        if joker.counter >= amount:
            joker.counter = 0
            joker.value += 1.0
    elif does == e.SELL_VALUE:
        joker.sell_value += int(amount)
    elif does == e.STRIP_ENHANCEMENTS:
        strip_enhancements(state)
    elif does == e.DESTROY_RIGHT:
        destroy_right(state, index, amount)
    elif does == e.DESTROY_RANDOM:
        destroy_random(state, index)
    elif does == e.DESTROY_ITSELF:
        state.gros_michel_gone |= joker.number == GROS_MICHEL
        holdings.remove_joker(state, index)
    elif does == e.NEW_LISTED_HAND:
        holdings.list_hand(state, joker, joker.counter)


@rule
def create_or_destroy(state, effect, index, amount):
    does = effect.does
    if does == e.CREATE_TAROT:
        holdings.create_consumable(state, generation.TAROTS, effect.source)
    elif does == e.CREATE_SPECTRAL:
        holdings.create_consumable(state, generation.SPECTRALS, effect.source)
    elif does == e.CREATE_JOKERS:
        for _ in range(int(amount)):
            holdings.create_joker(state, generation.RIFF_RAFF, COMMON)
    elif does == e.ADD_STONE:
        front = cards.FRONTS[randomness.below(state, MARBLE_FRONT, 52)]
        added = deck.add_card(state, front % 13, front // 13, cards.STONE, 0, 0, False)
        if added >= 0:
            state.cards[added].flags = 0  # the boss debuffed the deck before this card was added
    elif does == e.ADD_SEALED:
        front = cards.FRONTS[randomness.below(state, SEALED_FRONT, 52)]
        seal = generation.seal_of(randomness.uniform(state, SEALED_SEAL))
        deck.add_card(state, front % 13, front // 13, 0, 0, seal, True)
    elif does == e.COPY_PLAYED:
        deck.copy_card(state, state.tally.cards[0], True)
    elif does == e.COPY_CONSUMABLE:
        copy_consumable(state)
    elif does == e.DUPLICATE_JOKER:
        duplicate_joker(state, index)
    elif does == e.DESTROY_SIX:
        state.tally.broken |= 1
        holdings.create_consumable(state, generation.SPECTRALS, effect.source)
    elif does == e.DESTROY_DISCARDED:
        state.tally.broken |= 1
    elif does == e.GILD_FACES:
        gild_faces(state)
    elif does == e.GIFT:
        for place in range(state.joker_count):
            state.jokers[place].sell_value += 1
        for place in range(state.consumable_count):
            state.consumables[place].sell_value += 1


@rule
def strip_enhancements(state):
    """Vampire: remove the enhancements of scoring cards."""
    for place in range(state.tally.count):
        number = state.tally.cards[place]
        card = state.cards[number]
        if (state.tally.scoring >> place) & 1 and card.enhancement != 0 and not card.flags & cards.DEBUFFED:
            deck.enhance(state, number, 0)
            state.tally.changed |= 1 << place


@rule
def gild_faces(state):
    """Midas Mask: turn scoring face cards into gold cards."""
    for place in range(state.tally.count):
        number = state.tally.cards[place]
        if (state.tally.scoring >> place) & 1 and deck.poker.is_face(state, state.cards[number]):
            deck.enhance(state, number, cards.GOLD)
            state.tally.changed |= 1 << place


@rule
def destroy_right(state, index, factor):
    """Ceremonial Dagger: destroy the joker to the right and add its sell value to the dagger."""
    if index + 1 < state.joker_count and not state.jokers[index + 1].stickers & cards.ETERNAL:
        state.jokers[index].value += factor * sell_value(state, state.jokers[index + 1])
        holdings.remove_joker(state, index + 1)


@rule
def destroy_random(state, index):
    """Madness: destroy another joker at random."""
    allowed = 0
    count = 0
    for place in range(state.joker_count):
        if place != index and not state.jokers[place].stickers & cards.ETERNAL:
            allowed |= 1 << place
            count += 1
    if count:
        nth = randomness.below(state, MADNESS, count)
        holdings.remove_joker(state, holdings.nth_born(state.jokers, state.joker_count, allowed, nth))


@rule
def duplicate_joker(state, index):
    """Invisible Joker, when sold after two rounds: copy another joker."""
    if state.jokers[index].value < 2.0 or state.joker_count < 2:
        return
    allowed = ((1 << np.int64(state.joker_count)) - 1) & ~(1 << index)
    nth = randomness.below(state, INVISIBLE, state.joker_count - 1)
    before = holdings.passive(state, e.HAND_SIZE)
    holdings.copy_joker(state, holdings.nth_born(state.jokers, state.joker_count, allowed, nth))
    draws.deal_growth(state, before)


@rule
def copy_consumable(state):
    """Perkeo: add a negative copy of a random consumable."""
    count = state.consumable_count
    if count and count < MOST_CONSUMABLES:
        nth = randomness.below(state, PERKEO, count)
        place = holdings.nth_born(state.consumables, count, (1 << np.int64(count)) - 1, nth)
        state.consumables[count] = state.consumables[place]
        state.born += 1
        state.consumables[count].born = state.born
        state.consumables[count].edition = cards.NEGATIVE
        state.consumable_count += 1
