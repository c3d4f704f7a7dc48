"""Jokers at work: who acts as whom, and what each does when its moment comes.

`fire` lets all jokers act at a moment, from left to right, by the lines of their table; what is more than a sum is left
to `deeds`.
"""

from ludus.games.balatro import conditions, deeds
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.cards import DEBUFFED, RED_SEAL
from ludus.games.balatro.tables.jokers import ACTS, EFFECTS, FIRST, LAST, UNCOMMON, RARITY
from ludus.words import rule


@rule
def fire(state, when, subject):
    """All jokers act at a moment, `subject` being the card it is about."""
    index = 0
    while index < state.joker_count:
        born = state.jokers[index].born
        act(state, index, when, subject)
        if state.jokers[index].born == born:  # else one is gone, and another stands in its place
            index += 1


@rule
def act(state, index, when, subject):
    """One joker acts at a moment; what it gathers is its own, what it does may be another's."""
    model = state.acts_as[index]
    if model < 0 or not (ACTS[state.jokers[model].number] >> when) & 1:
        return
    number = state.jokers[model].number
    count = state.joker_count
    for line in range(FIRST[number], LAST[number]):
        effect = EFFECTS[line]
        if effect.when != when:
            continue
        joker = state.jokers[model]
        own = model == index
        if not own and effect.does >= e.GAIN:
            continue
        if state.tally.dry and e.CREATE_TAROT <= effect.does <= e.DESTROY_DISCARDED:
            continue
        if not conditions.met(state, effect, joker, subject):
            continue
        if effect.odds and not conditions.succeeds(state, effect.stream, effect.odds):
            continue
        if effect.does <= e.XMULT:
            operate(state, effect.does, conditions.amount(state, effect, joker, subject), index, subject)
        else:
            deeds.do(state, effect, index, subject, conditions.amount(state, effect, joker, subject))
            if state.joker_count < count:
                return  # a joker is gone, perhaps this one


@rule
def operate(state, kind, amount, source, subject):
    """Change chips or mult; only as many operations as the tally's limit allows are carried out."""
    tally = state.tally
    if tally.operations >= tally.limit:
        return
    if kind == e.CHIPS:
        tally.chips += amount
    elif kind == e.MULT:
        tally.mult += amount
    else:
        tally.mult *= amount
    tally.operations += 1
    tally.done_by = source
    tally.done_on = subject


@rule
def times(state, when, number):
    """How often a card acts: never if it is debuffed, once more by a red seal, and as jokers let it."""
    card = state.cards[number]
    if card.flags & DEBUFFED:
        return 0
    return 1 + (card.seal == RED_SEAL) + repeats(state, when, number)


@rule
def repeats(state, when, subject):
    """How many times more jokers let a card act."""
    total = 0
    for index in range(state.joker_count):
        model = state.acts_as[index]
        if model < 0:
            continue
        joker = state.jokers[model]
        if not (ACTS[joker.number] >> when) & 1:
            continue
        for line in range(FIRST[joker.number], LAST[joker.number]):
            effect = EFFECTS[line]
            if effect.when == when and conditions.met(state, effect, joker, subject):
                total += int(effect.number)
    return total


@rule
def react(state, other):
    """Jokers that act on another's turn: Baseball Card, on that of an uncommon joker."""
    joker = state.jokers[other]
    if RARITY[joker.number] == UNCOMMON and not joker.debuffed:
        fire(state, e.REACT, -1)
