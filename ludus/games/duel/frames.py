# ruff: noqa: E501  (a list of words is one thing)
"""The stack of processes, and the question that the duel waits for.

A process is a function of the state and its frame; `frame.step` is its program counter. On each call it does one part of
its work, then calls another process, asks a question, or is done. The process on top of the stack runs until a question is
asked.
"""

from ludus.games.duel.state import (
    CARD, EFFECT_YESNO, FRAME_ARGUMENTS, MOST_OPTIONS, NOBODY, PICKS, POSITION, POSITIONS, SAYS_NO, SAYS_YES, UNPICKS,
    UNSELECT, YESNO,
)  # fmt: skip
from ludus.games.duel.zones import sort_cards
from ludus.dsl import rule

# fmt: off
(TURN, IDLE_COMMAND, BATTLE_COMMAND, PHASE_EVENT, POINT_EVENT, QUICK_EFFECT, ADD_CHAIN, SOLVE_CHAIN, PAY_COST, CHOOSE_TARGETS, OPERATE, ADJUST,
 DESTROY, SEND, NORMAL_SUMMON, SET_MONSTER, SET_SPELL, FLIP_SUMMON_RULE, SPECIAL_SUMMON_RULE, SPECIAL_SUMMON, CHANGE_POSITION, TAKE_CONTROL_OF,
 SWAP_CONTROL_OF, EQUIP_WITH, CONTINUOUS_PHASE, PICK_MATERIALS, START) = range(27)
# fmt: on
FIRST_STEP = 0
"""the first step of every process"""


@rule
def call(state, process):
    """Push a new process; the present one continues when it is done."""
    frame = state.frames[state.depth]
    frame.process = process
    frame.step = FIRST_STEP
    frame.count = 0
    for k in range(FRAME_ARGUMENTS):
        frame.args[k] = 0
    state.depth += 1
    return frame


@rule
def done(state):
    """Pop the process on top."""
    state.depth -= 1


@rule
def clear_options(state):
    state.option_count = 0


@rule
def offer(state, kind, card, effect, value, other):
    """Add an option to the question."""
    if state.option_count < MOST_OPTIONS:
        option = state.options[state.option_count]
        option.kind = kind
        option.card = card
        option.effect = effect
        option.value = value
        option.other = other
        state.option_count += 1


@rule
def ask(state, question, player, fewest, most, may_cancel):
    """Ask a player to choose among the options; without options nothing is asked."""
    state.picked_count = 0
    state.answer = -1
    if state.option_count == 0:
        return
    state.question = question
    state.asked = player
    state.fewest = fewest
    state.most = most
    state.may_cancel = may_cancel
    state.may_finish = 0
    state.forced = 0
    state.about = NOBODY
    state.line = 0
    state.goal = 0


@rule
def ask_cards(state, player, cards, count, fewest, most, may_cancel):
    """Ask a player to choose cards; they are listed in the order of `zones.comes_before`."""
    clear_options(state)
    sort_cards(state, cards, count)
    for k in range(count):
        offer(state, PICKS, cards[k], 0, 0, 0)
    ask(state, CARD, player, min(fewest, count), min(most, count), may_cancel)


@rule
def ask_tribute(state, frame, player):
    """Ask which monster of the frame is tributed."""
    clear_options(state)
    for k in range(frame.count):
        offer(state, PICKS, frame.cards[k], 0, 0, 0)
    ask(state, UNSELECT, player, 1, 1, 0)


@rule
def ask_yes(state, player, card, line):
    """Ask a yes-or-no question: a line of text of the card, or of the game itself if there is no card."""
    clear_options(state)
    offer(state, SAYS_NO, 0, 0, 0, 0)
    offer(state, SAYS_YES, 0, 0, 0, 0)
    ask(state, YESNO, player, 1, 1, 0)
    state.about = card
    state.line = line


@rule
def ask_effect(state, player, card, line):
    """Ask whether an effect of this card is used."""
    ask_yes(state, player, card, line)
    state.question = EFFECT_YESNO


@rule
def ask_position(state, player, card, positions):
    """Ask for a position; if only one is possible, nothing is asked and it is in state.result."""
    if positions & (positions - 1) == 0:
        state.result = positions
        return
    clear_options(state)
    for bit in range(4):
        if positions >> bit & 1:
            offer(state, POSITIONS, card, 0, 1 << bit, 0)
    ask(state, POSITION, player, 1, 1, 0)
    state.about = card


@rule
def offer_unpicks(state, frame):
    """Offer to deselect the cards that are already chosen, in the order of their numbers."""
    sort_by_birth(state, frame)
    for k in range(frame.count):
        offer(state, UNPICKS, frame.cards[k], 0, 0, 0)


@rule
def sort_by_birth(state, frame):
    """Sort the cards of a frame by their numbers (`born`)."""
    for k in range(1, frame.count):
        c = frame.cards[k]
        at = k
        while at > 0 and state.cards[frame.cards[at - 1]].born > state.cards[c].born:
            frame.cards[at] = frame.cards[at - 1]
            at -= 1
        frame.cards[at] = c


@rule
def picks_from(state, frame):
    """Copy the picked cards to the frame's list."""
    frame.count = state.picked_count
    for k in range(state.picked_count):
        frame.cards[k] = state.picked[k]
