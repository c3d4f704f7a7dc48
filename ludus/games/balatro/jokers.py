"""The jokers in action: their effects at each moment of the game.

`fire` triggers all jokers at a moment, from left to right, by their rows in the table; effects other than chips and
mult are in `joker_actions`.
"""

from ludus.games.balatro import conditions, joker_actions
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.cards import DEBUFFED, RED_SEAL
from ludus.games.balatro.tables.jokers import ACTS, EFFECTS, FIRST, LAST, UNCOMMON, RARITY
from ludus.dsl import rule


@rule
def fire(state, when, subject):
    """Trigger all jokers at a moment; `subject` is the number of the card concerned."""
    index = 0
    while index < state.joker_count:
        born = state.jokers[index].born
        act(state, index, when, subject)
        if state.jokers[index].born == born:  # else it was removed and another joker is at this index
            index += 1


@rule
def act(state, index, when, subject):
    """Trigger one joker at a moment; its ability may be copied from another joker, its value is its own."""
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
            joker_actions.do(state, effect, index, subject, conditions.amount(state, effect, joker, subject))
            if state.joker_count < count:
                return  # a joker was removed, maybe this one


@rule
def operate(state, kind, amount, source, subject):
    """Change chips or mult, unless the limit of operations in the tally is reached."""
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
    """How many times a card triggers: 0 if debuffed, else 1 plus 1 for a red seal plus retriggers by jokers."""
    card = state.cards[number]
    if card.flags & DEBUFFED:
        return 0
    return 1 + (card.seal == RED_SEAL) + repeats(state, when, number)


@rule
def repeats(state, when, subject):
    """The number of retriggers of a card by jokers."""
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
    """Jokers that react to another joker: Baseball Card to an uncommon joker, debuffed or not."""
    if RARITY[state.jokers[other].number] == UNCOMMON:
        fire(state, e.REACT, -1)
