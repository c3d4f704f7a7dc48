"""What jokers do that is more than a sum: create, destroy, copy, level up."""

import numpy as np

from ludus.games.balatro import bosses, deck, generation, holdings, randomness
from ludus.games.balatro.prices import sell_value
from ludus.games.balatro.state import MOST_CONSUMABLES
from ludus.games.balatro.tables import cards, tags
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.jokers import COMMON, ENDS, GROS_MICHEL, NEVER
from ludus.games.balatro.tables.streams import stream
from ludus.words import rule

MARBLE_FRONT, SEALED_FRONT, SEALED_SEAL = stream("marb_fr"), stream("cert_fr"), stream("certsl")
MADNESS, INVISIBLE, PERKEO = stream("madness"), stream("invisible"), stream("perkeo")
NEARLY = 1e-9
"""what many subtractions of a hundredth may be off by"""


@rule
def do(state, effect, index, subject, amount):
    """Joker `index` does what an effect says."""
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
    """Money that comes in while a hand is scored, and counts at once."""
    state.money += dollars
    state.tally.dollars += dollars


@rule
def mark_changed(state, number):
    """Remember that a played card is no longer what it was."""
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
        deck.add_card(state, front % 13, front // 13, cards.STONE, 0, 0, False)
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
    """Vampire: the enhancements of scoring cards are gone at once."""
    for place in range(state.tally.count):
        card = state.cards[state.tally.cards[place]]
        if (state.tally.scoring >> place) & 1 and card.enhancement != 0 and not card.flags & cards.DEBUFFED:
            card.enhancement = 0
            state.tally.changed |= 1 << place


@rule
def gild_faces(state):
    """Midas Mask: scoring face cards are gold from now on."""
    for place in range(state.tally.count):
        card = state.cards[state.tally.cards[place]]
        if (state.tally.scoring >> place) & 1 and deck.poker.is_face(state, card):
            card.enhancement = cards.GOLD
            state.tally.changed |= 1 << place


@rule
def destroy_right(state, index, factor):
    """Ceremonial Dagger: the joker to the right is destroyed, and its worth gathered."""
    if index + 1 < state.joker_count and not state.jokers[index + 1].stickers & cards.ETERNAL:
        state.jokers[index].value += factor * sell_value(state, state.jokers[index + 1])
        holdings.remove_joker(state, index + 1)


@rule
def destroy_random(state, index):
    """Madness: another joker is destroyed."""
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
    """Invisible Joker, when it is sold after two rounds: a copy of another joker."""
    if state.jokers[index].value < 2.0 or state.joker_count < 2:
        return
    allowed = ((1 << np.int64(state.joker_count)) - 1) & ~(1 << index)
    nth = randomness.below(state, INVISIBLE, state.joker_count - 1)
    holdings.copy_joker(state, holdings.nth_born(state.jokers, state.joker_count, allowed, nth))


@rule
def copy_consumable(state):
    """Perkeo: a negative copy of a random consumable."""
    count = state.consumable_count
    if count and count < MOST_CONSUMABLES:
        nth = randomness.below(state, PERKEO, count)
        place = holdings.nth_born(state.consumables, count, (1 << np.int64(count)) - 1, nth)
        state.consumables[count] = state.consumables[place]
        state.born += 1
        state.consumables[count].born = state.born
        state.consumables[count].edition = cards.NEGATIVE
        state.consumable_count += 1
