"""Actions: the options of a question as at most 24 numbered actions.

If several cards are chosen, they are picked one after another, and `finish` ends the choice early where that is
legal. Cancelling and deselecting are not offered, as they would allow endless loops. Nothing is lost: a player who
would cancel a summon, an attack or a fusion need not begin it, and as only picks are offered that can be completed,
every legal choice can be reached. If there are more options than actions, the last action turns the page; the first
page follows the last.
"""

from ludus.games.duel import action_features, machine
from ludus.games.duel.state import (
    CANCELS, CARD, DECK_PILE, EFFECT_YESNO, MOST_ACTIONS, SUM, TRIBUTE, UNPICKS, UNSELECT, YESNO,
)  # fmt: skip
from ludus.games.duel.tables.words import DECK
from ludus.dsl import PLAYING, rule
from ludus.dsl.random import below

FINISH, MORE = -1, -2
"""entries of the menu besides indices of options"""
MOST_LEVEL = 12


def name_of(action: int) -> str:
    """Actions are numbered entries of a menu; `names.move_name` describes them in a position."""
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
    """Write the menu: what can be chosen now."""
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
    """Whether the picks so far are enough, and more are allowed."""
    return picks_many(state) and state.question != SUM and state.fewest <= state.chosen_count


@rule
def write_page(state, finish):
    """Keep the entries of the current page of a long menu."""
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
    """Offer everything if no option can be completed."""
    for k in range(min(state.option_count, MOST_ACTIONS)):
        state.menu[k] = k
        state.menu_count += 1


@rule
def choosable(state, k):
    """1 if an option can be completed to a legal choice, else 0."""
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
    """Whether some minimal set of cards that reaches the goal contains this one.

    A set whose smallest level is v is minimal exactly if its sum is less than goal + v.
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
    """Take an action; if it completes the answer, run to the next question."""
    entry = state.menu[action]
    if entry == MORE:
        state.page += 1
        write_menu(state)
        return
    action_features.remember(state, action)
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
    """Whether the answer is complete."""
    if state.question != SUM:
        return state.chosen_count >= min(state.most, state.option_count)
    total = 0
    for at in range(state.chosen_count):
        total += state.options[state.chosen[at]].value
    return total >= state.goal


@rule
def answer(state):
    """Run with the chosen options to the next question or the end."""
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
    """Shuffle a deck that its owner has searched."""
    pile = DECK_PILE
    count = state.sizes[player, pile]
    for last in range(count - 1, 0, -1):
        other = below(state, last + 1)
        c = state.piles[player, pile, last]
        state.piles[player, pile, last] = state.piles[player, pile, other]
        state.piles[player, pile, other] = c
    for k in range(count):
        state.cards[state.piles[player, pile, k]].sequence = k
