"""What a player can do: the options of a question as at most 24 numbered actions.

Where several cards are chosen, they are picked one after another, and `finish` ends it where fewer would do. What leads
back to where one came from is not offered: neither cancel nor taking back a pick. Both would let players go round in
circles, and nothing is lost: whoever would cancel a summon, an attack or a fusion need not begin it, and since only
picks are offered that lead on, every legal choice is reached by picking its own cards. Where there are more options
than actions, the last action turns the page, and after the last page comes the first.
"""

from ludus.games.duel import describing, machine
from ludus.games.duel.state import (
    CANCELS, CARD, DECK_PILE, EFFECT_YESNO, MOST_ACTIONS, SUM, TRIBUTE, UNPICKS, UNSELECT, YESNO,
)  # fmt: skip
from ludus.games.duel.tables.words import DECK
from ludus.words import PLAYING, rule
from ludus.words.random import below

FINISH, MORE = -1, -2
"""what stands in the menu besides the numbers of options"""
MOST_LEVEL = 12


def name_of(action: int) -> str:
    """Actions are places of a menu; what stands there is told by the position."""
    return f"option {action + 1}"


@rule
def legal(state, mask):
    for action in range(MOST_ACTIONS):
        mask[action] = action < state.menu_count


@rule
def picks_many(state):
    """Whether several cards are chosen at once."""
    return state.question == CARD or state.question == TRIBUTE or state.question == SUM


@rule
def open_menu(state):
    """The menu of a question that was just asked."""
    state.page = 0
    state.chosen_count = 0
    write_menu(state)


@rule
def write_menu(state):
    """Number what can be chosen now."""
    count = state.option_count
    question = state.question
    if question == YESNO or question == EFFECT_YESNO:
        state.menu[0] = 1
        state.menu[1] = 0
        state.menu_count = 2
    elif not picks_many(state) and question != UNSELECT and count <= MOST_ACTIONS:
        for k in range(count):
            state.menu[k] = k
        state.menu_count = count
    else:
        write_page(state, may_finish(state))


@rule
def may_finish(state):
    """Whether what was picked is enough, and more could be."""
    return picks_many(state) and state.question != SUM and state.fewest <= state.chosen_count


@rule
def write_page(state, finish):
    """The part of a long menu that stands on its page."""
    total = np_int(finish)
    for k in range(state.option_count):
        total += choosable(state, k)
    first = 0
    room = MOST_ACTIONS
    if total > MOST_ACTIONS:
        room = MOST_ACTIONS - 1
        if state.page * room >= total:
            state.page = 0
        first = state.page * room
    state.menu_count = 0
    at = 0
    for k in range(state.option_count + 1):
        if k < state.option_count:
            if not choosable(state, k):
                continue
        elif not finish:
            continue
        if first <= at < first + room:
            state.menu[state.menu_count] = k if k < state.option_count else FINISH
            state.menu_count += 1
        at += 1
    if total > MOST_ACTIONS:
        state.menu[state.menu_count] = MORE
        state.menu_count += 1
    elif total == 0:
        write_back(state)


@rule
def np_int(flag):
    return 1 if flag else 0


@rule
def write_back(state):
    """Where nothing leads on, everything is offered."""
    for k in range(min(state.option_count, MOST_ACTIONS)):
        state.menu[k] = k
        state.menu_count += 1


@rule
def choosable(state, k):
    """1 where an option leads on."""
    question = state.question
    if question == UNSELECT:
        kind = state.options[k].kind
        return 0 if kind == UNPICKS or kind == CANCELS else 1
    if not picks_many(state):
        return 1
    if is_chosen(state, k):
        return 0
    return 1 if question != SUM or leads_on(state, k) else 0


@rule
def is_chosen(state, k):
    for at in range(state.chosen_count):
        if state.chosen[at] == k:
            return True
    return False


@rule
def leads_on(state, k):
    """Whether cards of at least the goal together, with none to spare, can be found with this one among them.

    Cards of level v and more have none to spare exactly where they come to less than v beyond the goal.
    """
    total = state.options[k].value + 0
    smallest = total
    for at in range(state.chosen_count):
        value = state.options[state.chosen[at]].value
        total += value
        smallest = min(smallest, value)
    for level in range(1, min(smallest, MOST_LEVEL) + 1):
        if total - level >= state.goal:
            continue
        sums = 1 << total
        for other in range(state.option_count):
            value = state.options[other].value
            if other != k and value >= level and not is_chosen(state, other):
                sums |= sums << value
                sums &= (1 << (state.goal + level)) - 1
        if sums >> state.goal:
            return True
    return False


@rule
def take(state, action):
    """Do what an action says; where that answers the question, the duel goes on to the next one."""
    entry = state.menu[action]
    if entry == MORE:
        state.page += 1
        write_menu(state)
        return
    describing.remember(state, action)
    if entry != FINISH:
        state.chosen[state.chosen_count] = entry
        state.chosen_count += 1
    if entry == FINISH or not picks_many(state) or is_complete(state):
        answer(state)
    else:
        state.page = 0
        write_menu(state)


@rule
def is_complete(state):
    """Whether nothing more can be picked."""
    if state.question != SUM:
        return state.chosen_count >= min(state.most, state.option_count)
    total = 0
    for at in range(state.chosen_count):
        total += state.options[state.chosen[at]].value
    return total >= state.goal


@rule
def answer(state):
    """Go on with what was chosen, to the next question or the end."""
    if state.question == CARD and state.cards[state.options[0].card].place == DECK:
        shuffle_deck(state, state.cards[state.options[0].card].controller)
    machine.resume(state)
    if state.status == PLAYING:
        state.seat = state.asked
        open_menu(state)
    else:
        state.menu_count = 0


@rule
def shuffle_deck(state, player):
    """A new order of a deck: whoever has looked through it knows the old one."""
    pile = DECK_PILE
    count = state.sizes[player, pile]
    for last in range(count - 1, 0, -1):
        other = below(state, last + 1)
        c = state.piles[player, pile, last]
        state.piles[player, pile, last] = state.piles[player, pile, other]
        state.piles[player, pile, other] = c
    for k in range(count):
        state.cards[state.piles[player, pile, k]].sequence = k
