"""The player's jokers, consumables and tags: free slots, adding, removing and moving."""

import numpy as np

from ludus.games.balatro import conditions, generation, randomness
from ludus.games.balatro.state import (
    CONSUMABLE, MOST_CONSUMABLES, MOST_JOKERS, MOST_TAGS, OPENING, PLAYING_HAND, SHOPPING,
)  # fmt: skip
from ludus.games.balatro.tables import cards, hands
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.jokers import ACTS, BLUEPRINT, BRAINSTORM, COPIED, EFFECTS, FIRST, LAST, number_of
from ludus.games.balatro.tables.rules import OOPS, RULES
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

TO_DO_LIST, TO_DO = number_of("j_todo_list"), stream("to_do")


@rule
def refresh(state):
    """Update the values derived from the jokers after any change: copied abilities, active rules and luck."""
    state.rules = 0
    state.luck = 1
    for index in range(state.joker_count):
        joker = state.jokers[index]
        state.acts_as[index] = model_of(state, index)
        if not joker.debuffed:
            state.rules |= RULES[joker.number]
            if joker.number == OOPS:
                state.luck = min(state.luck * 2, 16384)


@rule
def model_of(state, index):
    """The index of the joker whose ability a joker has: itself, or the one it finally copies; -1 for none."""
    model = index
    for _ in range(state.joker_count + 1):
        joker = state.jokers[model]
        if joker.debuffed or (model != index and not COPIED[joker.number]):
            return -1
        if joker.number == BLUEPRINT:
            model += 1
        elif joker.number == BRAINSTORM:
            model = 0
        else:
            return model
        if model >= state.joker_count:
            return -1
    return -1  # they copy each other


@rule
def passive(state, does):
    """The sum of a passive bonus over all jokers: hand size, hands, discards, debt, rerolls or interest."""
    total = 0
    for index in range(state.joker_count):
        joker = state.jokers[index]
        if joker.debuffed or not (ACTS[joker.number] >> e.OWNED) & 1:
            continue
        for line in range(FIRST[joker.number], LAST[joker.number]):
            effect = EFFECTS[line]
            if effect.when == e.OWNED and effect.does == does:
                total += int(conditions.amount(state, effect, joker, -1))
    return total


@rule
def settle(state, joker, sign):
    """Immediate effect of adding (1) or removing (-1) a joker: discards of this round, free rerolls of this shop."""
    if joker.debuffed or not (ACTS[joker.number] >> e.OWNED) & 1:
        return
    for line in range(FIRST[joker.number], LAST[joker.number]):
        effect = EFFECTS[line]
        change = sign * int(effect.number)
        if effect.does == e.DISCARDS and state.phase == PLAYING_HAND:
            state.discards_left = max(0, state.discards_left + change)
        elif effect.does == e.FREE_REROLLS and (state.phase == SHOPPING or state.phase == OPENING):
            state.free_rerolls = max(0, state.free_rerolls + change)


@rule
def set_debuff(state, index, reasons):
    """Set the reasons why a joker is debuffed (0 for none); its passive bonus ends or begins at once."""
    joker = state.jokers[index]
    freed = joker.debuffed != 0 and reasons == 0
    if reasons:
        settle(state, joker, -1)
    joker.debuffed = reasons
    if freed:
        settle(state, joker, 1)
    refresh(state)


@rule
def joker_room(state):
    """The number of free joker slots."""
    return min(conditions.slots(state), MOST_JOKERS) - state.joker_count


@rule
def consumable_room(state):
    """The number of free consumable slots; negative consumables take none."""
    total = np.int64(state.consumable_slots)
    for index in range(state.consumable_count):
        total += state.consumables[index].edition == cards.NEGATIVE
    return min(total, MOST_CONSUMABLES) - state.consumable_count


@rule
def keep_joker(state):
    """Add the joker that was just written after the last one."""
    joker = state.jokers[state.joker_count]
    joker.free = 0
    state.joker_count += 1
    if joker.number == TO_DO_LIST:
        list_hand(state, joker, -1)
    settle(state, joker, 1)
    refresh(state)


@rule
def copy_joker(state, index):
    """Append a copy of a joker, even without a free slot; the copy is not negative."""
    if state.joker_count < MOST_JOKERS:
        state.jokers[state.joker_count] = state.jokers[index]
        copy = state.jokers[state.joker_count]
        state.born += 1
        copy.born = state.born
        if copy.edition == cards.NEGATIVE:
            copy.edition = 0
        state.joker_count += 1
        settle(state, copy, 1)
        refresh(state)


@rule
def swap_jokers(state, one, other):
    # The array has one more element than the maximum number of jokers.
    state.jokers[MOST_JOKERS] = state.jokers[one]
    state.jokers[one] = state.jokers[other]
    state.jokers[other] = state.jokers[MOST_JOKERS]


@rule
def close_gap(items, place, count):
    """Close the gap at a removed item by moving later items up; `count` items remain."""
    for index in range(place, count):
        items[index] = items[index + 1]


@rule
def remove_joker(state, index):
    settle(state, state.jokers[index], -1)
    state.joker_count -= 1
    close_gap(state.jokers, index, state.joker_count)
    refresh(state)


@rule
def remove_consumable(state, index):
    state.consumable_count -= 1
    close_gap(state.consumables, index, state.consumable_count)


@rule
def create_joker(state, source, rarity):
    """Add a random joker if there is room."""
    if joker_room(state) > 0:
        generation.draw_joker(state, state.jokers[state.joker_count], source, rarity)
        keep_joker(state)


@rule
def create_consumable(state, pool, source):
    """Add a random consumable if there is room."""
    if consumable_room(state) > 0:
        generation.draw_consumable(state, state.consumables[state.consumable_count], pool, source)
        state.consumable_count += 1


@rule
def give_consumable(state, number):
    """Add a given consumable if there is room."""
    if consumable_room(state) > 0:
        generation.blank_item(state, state.consumables[state.consumable_count], CONSUMABLE, number)
        state.consumable_count += 1


@rule
def nth_born(items, count, allowed, nth):
    """The position of the n-th allowed item, in order of creation; `allowed` is a bit set of positions."""
    last = -1
    for _ in range(nth + 1):
        best = -1
        for place in range(count):
            if (allowed >> place) & 1 and items[place].born > last:
                if best < 0 or items[place].born < items[best].born:
                    best = place
        last = items[best].born
    return best


@rule
def add_tag(state, tag, hand):
    """Add a tag for later use; `hand` is the poker hand of an Orbital Tag."""
    if state.tag_count < MOST_TAGS:
        state.tags[state.tag_count] = tag
        state.tag_hands[state.tag_count] = hand
        state.tag_count += 1


@rule
def list_hand(state, joker, old):
    """Choose a random known poker hand for To Do List, different from the old one."""
    count = 0
    for place in range(hands.HANDS):
        hand = hands.ORDER_OF_CHOICE[place]
        count += hand != old and (hand >= hands.SECRET or state.plays[hand] > 0)
    skip = randomness.below(state, TO_DO, count)
    for place in range(hands.HANDS):
        hand = hands.ORDER_OF_CHOICE[place]
        if hand != old and (hand >= hands.SECRET or state.plays[hand] > 0):
            if skip == 0:
                joker.counter = hand
                return
            skip -= 1
