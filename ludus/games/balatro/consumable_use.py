"""Tarots, planets and spectral cards: whether one can be used now, and what it does."""

import numpy as np

from ludus.games.balatro import conditions, deck, generation, holdings, jokers, randomness, rounds
from ludus.games.balatro.state import OPENING, PLAYING_HAND
from ludus.games.balatro.tables import cards, hands
from ludus.games.balatro.tables import consumables as c
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.jokers import LEGENDARY, RARE
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

EMPEROR, PRIESTESS = stream("Tarotemp@"), stream("Planetpri@")
FORTUNE, AURA, SIGIL, OUIJA = stream("wheel_of_fortune"), stream("aura"), stream("sigil"), stream("ouija")
ECTOPLASM, HEX, ANKH, IMMOLATE = stream("ectoplasm"), stream("hex"), stream("ankh_choice"), stream("immolate")
DESTROYED, ENHANCED = stream("random_destroy"), stream("spe_card")
FACES, ACES, NUMBERED = stream("familiar_create"), stream("grim_create"), stream("incantation_create")
BURNT, NOT_STONE = 5, 7


@rule
def has_hand(state):
    """Whether there are cards in hand on which a consumable can be used."""
    return (state.phase == PLAYING_HAND or state.phase == OPENING) and state.hand_count > 0


@rule
def count_selected(state):
    found = 0
    for place in range(state.hand_count):
        found += state.cards[state.hand[place]].flags & cards.SELECTED != 0
    return found


@rule
def nth_selected(state, nth):
    """The number of the n-th selected card, from the left."""
    for place in range(state.hand_count):
        if state.cards[state.hand[place]].flags & cards.SELECTED:
            if nth == 0:
                return int(state.hand[place])
            nth -= 1
    return -1


@rule
def plain_jokers(state):
    """Bits of the jokers without an edition."""
    bits = 0
    for index in range(state.joker_count):
        if state.jokers[index].edition == 0:
            bits |= 1 << index
    return bits


@rule
def usable(state, number, owned):
    """Whether a consumable can be used now on the selected cards; using an `owned` one frees its slot."""
    effect = c.EFFECT[number]
    if c.MOST[number] > 0:
        selected = count_selected(state) if has_hand(state) else 0
        if not c.LEAST[number] <= selected <= c.MOST[number]:
            return False
        return effect != c.ADD_EDITION or state.cards[nth_selected(state, 0)].edition == 0
    if effect == c.COPY_LAST_USED:
        return state.last_used > 0 and state.last_used != c.FOOL and holdings.consumable_room(state) + owned > 0
    if effect == c.CREATE_TAROTS or effect == c.CREATE_PLANETS:
        return holdings.consumable_room(state) + owned > 0
    if effect == c.CREATE_JOKER or effect == c.CREATE_RARE or effect == c.CREATE_LEGENDARY:
        return holdings.joker_room(state) > 0
    if effect == c.FORTUNE or effect == c.MAKE_NEGATIVE or effect == c.MAKE_POLYCHROME:
        return plain_jokers(state) != 0
    if effect == c.COPY_JOKER:
        return state.joker_count > 0
    if c.CREATE_FACES <= effect <= c.CREATE_NUMBERED or effect == c.ONE_SUIT or effect == c.ONE_RANK:
        return has_hand(state) and state.hand_count > 1
    if effect == c.BURN:
        return has_hand(state) and state.hand_count > 1
    return True


@rule
def use(state, number):
    """Apply a consumable and record its use."""
    if c.MOST[number] > 0:
        use_on_cards(state, number)
    elif number < c.FIRST_PLANET:
        use_tarot(state, number)
    elif number < c.FIRST_SPECTRAL:
        state.levels[c.NUMBER[number]] = min(state.levels[c.NUMBER[number]] + 1, 30000)
    else:
        use_spectral(state, number)
    if number < c.FIRST_PLANET:
        state.tarots_used = min(state.tarots_used + 1, 30000)
        state.last_used = number
    elif number < c.FIRST_SPECTRAL:
        state.planets_used |= 1 << (number - c.FIRST_PLANET)
        state.last_used = number
        jokers.fire(state, e.USED, -1)
    deck.debuff_all(state)


@rule
def use_on_cards(state, number):
    """Change the selected cards."""
    effect = c.EFFECT[number]
    value = c.NUMBER[number]
    if effect == c.BECOME_COPY:
        become_copy(state)
    elif effect == c.COPY_CARD:
        for _ in range(value):
            deck.copy_card(state, nth_selected(state, 0), True)
    elif effect == c.DESTROY:
        while count_selected(state):
            deck.destroy_card(state, nth_selected(state, 0))
    else:
        for place in range(state.hand_count):
            if state.cards[state.hand[place]].flags & cards.SELECTED:
                change_card(state, state.hand[place], effect, value)
    unselect(state)


@rule
def unselect(state):
    for place in range(state.hand_count):
        card = state.cards[state.hand[place]]
        card.flags &= 255 - cards.SELECTED
        if card.flags & cards.FORCED:
            card.flags |= cards.SELECTED


@rule
def change_card(state, number, effect, value):
    card = state.cards[number]
    if effect == c.ENHANCE:
        deck.enhance(state, number, value)
    elif effect == c.SET_SUIT:
        card.suit = value
    elif effect == c.SET_SEAL:
        card.seal = value
    elif effect == c.RANK_UP:
        card.rank = (card.rank + 1) % 13
    elif effect == c.ADD_EDITION:
        card.edition = generation.sure_edition_of(randomness.uniform(state, AURA))


@rule
def become_copy(state):
    """Death: the left card becomes a copy of the right one, also in whether it was played this ante."""
    left = state.cards[nth_selected(state, 0)]
    right = state.cards[nth_selected(state, 1)]
    left.rank = right.rank
    left.suit = right.suit
    left.enhancement = right.enhancement
    left.edition = right.edition
    left.seal = right.seal
    left.chips = right.chips
    left.flags = left.flags & (255 - cards.PLAYED_THIS_ANTE) | right.flags & cards.PLAYED_THIS_ANTE


@rule
def use_tarot(state, number):
    effect = c.EFFECT[number]
    if effect == c.COPY_LAST_USED:
        holdings.give_consumable(state, state.last_used)
    elif effect == c.CREATE_TAROTS:
        for _ in range(c.NUMBER[number]):
            holdings.create_consumable(state, generation.TAROTS, EMPEROR)
    elif effect == c.CREATE_PLANETS:
        for _ in range(c.NUMBER[number]):
            holdings.create_consumable(state, generation.PLANETS, PRIESTESS)
    elif effect == c.DOUBLE_MONEY:
        state.money += min(max(state.money, 0), c.NUMBER[number])
    elif effect == c.SELL_VALUES:
        state.money += min(int(conditions.sell_of_jokers(state)), c.NUMBER[number])
    elif effect == c.FORTUNE:
        if conditions.succeeds(state, FORTUNE, c.NUMBER[number]):
            chosen = random_joker(state, plain_jokers(state), FORTUNE)
            state.jokers[chosen].edition = generation.sure_edition_of(randomness.uniform(state, FORTUNE))
    elif effect == c.CREATE_JOKER:
        holdings.create_joker(state, generation.JUDGEMENT, 0)


@rule
def random_joker(state, allowed, source):
    """The position of a random allowed joker."""
    count = conditions.bits_set(allowed)
    return holdings.nth_born(state.jokers, state.joker_count, allowed, randomness.below(state, source, count))


@rule
def use_spectral(state, number):
    effect = c.EFFECT[number]
    if c.CREATE_FACES <= effect <= c.CREATE_NUMBERED:
        create_cards(state, effect, c.NUMBER[number])
    elif effect == c.CREATE_RARE:
        holdings.create_joker(state, generation.WRAITH, RARE)
        state.money = 0
    elif effect == c.CREATE_LEGENDARY:
        holdings.create_joker(state, generation.SOUL, LEGENDARY)
    elif effect == c.LEVEL_UP_ALL:
        for hand in range(hands.HANDS):
            state.levels[hand] = min(state.levels[hand] + 1, 30000)
    elif effect == c.ONE_SUIT:
        suit = cards.SUITS_OF_SIGIL[randomness.below(state, SIGIL, 4)]
        for place in range(state.hand_count):
            state.cards[state.hand[place]].suit = suit
        unselect(state)
    elif effect == c.ONE_RANK:
        rank = randomness.below(state, OUIJA, 13)
        for place in range(state.hand_count):
            state.cards[state.hand[place]].rank = rank
        state.hand_size -= 1
        unselect(state)
    elif effect == c.BURN:
        burn(state)
        state.money += c.NUMBER[number]
    else:
        change_jokers(state, effect)


@rule
def create_cards(state, effect, count):
    """Familiar, Grim, Incantation: destroy a random card and add enhanced ones."""
    deck.destroy_card(state, rounds.nth_in_hand(state, randomness.below(state, DESTROYED, state.hand_count)))
    for _ in range(count):
        if effect == c.CREATE_FACES:
            rank = cards.JACK + randomness.below(state, FACES, 3)
            suit = cards.SUITS_OF_SIGIL[randomness.below(state, FACES, 4)]
        elif effect == c.CREATE_ACES:
            rank = cards.ACE
            suit = cards.SUITS_OF_SIGIL[randomness.below(state, ACES, 4)]
        else:
            rank = randomness.below(state, NUMBERED, 9)
            suit = cards.SUITS_OF_SIGIL[randomness.below(state, NUMBERED, 4)]
        enhancement = 1 + randomness.below(state, ENHANCED, NOT_STONE)
        enhancement += enhancement >= cards.STONE
        deck.add_card(state, rank, suit, enhancement, 0, 0, True)
    deck.sort_hand(state)


@rule
def burn(state):
    """Immolate: destroy five random cards of the hand."""
    randomness.seed_generator(state, randomness.pseudoseed(state, IMMOLATE))
    for place in range(state.hand_count - 1, 0, -1):
        for earlier in range(place):
            if state.hand[earlier] > state.hand[earlier + 1]:
                number = state.hand[earlier]
                state.hand[earlier] = state.hand[earlier + 1]
                state.hand[earlier + 1] = number
    for last in range(state.hand_count - 1, 0, -1):
        other = randomness.draw_below(state, last + 1)
        number = state.hand[last]
        state.hand[last] = state.hand[other]
        state.hand[other] = number
    for _ in range(min(BURNT, state.hand_count)):
        deck.destroy_card(state, state.hand[0])
    deck.sort_hand(state)


@rule
def change_jokers(state, effect):
    """Ectoplasm, Ankh, Hex."""
    if effect == c.MAKE_NEGATIVE:
        state.jokers[random_joker(state, plain_jokers(state), ECTOPLASM)].edition = cards.NEGATIVE
        state.ectoplasms = min(state.ectoplasms + 1, 200)
        state.hand_size -= state.ectoplasms
        return
    if effect == c.COPY_JOKER:
        chosen = random_joker(state, (1 << np.int64(state.joker_count)) - 1, ANKH)
    else:
        chosen = random_joker(state, plain_jokers(state), HEX)
        state.jokers[chosen].edition = cards.POLYCHROME
    born = state.jokers[chosen].born
    index = 0
    while index < state.joker_count:
        joker = state.jokers[index]
        if joker.born != born and not joker.stickers & cards.ETERNAL:
            holdings.remove_joker(state, index)
        else:
            index += 1
    if effect == c.COPY_JOKER:
        for index in range(state.joker_count):
            if state.jokers[index].born == born:
                holdings.copy_joker(state, index)
                break
