# ruff: noqa: E501  (a list of words is one thing)
"""The stack of work that is going on, and the question that it waits for.

A process is a function of the state and its frame; `frame.step` says how far it has come. It does a little, then calls
another process, asks something, or is done. When nothing is asked, the process on top goes on.
"""

from ludus.games.duel.state import (
    CARD, EFFECT_YESNO, FRAME_ARGUMENTS, MOST_OPTIONS, NOBODY, PICKS, POSITION, POSITIONS, SAYS_NO, SAYS_YES,
    UNPICKS, YESNO,
)  # fmt: skip
from ludus.games.duel.zones import sort_cards
from ludus.words import rule

# fmt: off
(TURN, IDLE_COMMAND, BATTLE_COMMAND, PHASE_EVENT, POINT_EVENT, QUICK_EFFECT, ADD_CHAIN, SOLVE_CHAIN, PAY_COST, CHOOSE_TARGETS, OPERATE, ADJUST,
 DESTROY, SEND, NORMAL_SUMMON, SET_MONSTER, SET_SPELL, FLIP_SUMMON_RULE, SPECIAL_SUMMON_RULE, SPECIAL_SUMMON, CHANGE_POSITION, TAKE_CONTROL_OF,
 SWAP_CONTROL_OF, EQUIP_WITH, CONTINUOUS_PHASE, PICK_MATERIALS, START) = range(27)
# fmt: on


@rule
def call(state, process):
    """Begin a process on top of the present one, which goes on after it."""
    frame = state.frames[state.depth]
    frame.process = process
    frame.step = 0
    frame.count = 0
    for k in range(FRAME_ARGUMENTS):
        frame.args[k] = 0
    state.depth += 1
    return frame


@rule
def done(state):
    """The process on top has ended."""
    state.depth -= 1


@rule
def clear_options(state):
    state.option_count = 0


@rule
def offer(state, kind, card, effect, value, other):
    """One more option of the question."""
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
    """Ask a player; nothing is asked where there is no option."""
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
    """Choose among cards, listed in the usual order."""
    clear_options(state)
    sort_cards(state, cards, count)
    for k in range(count):
        offer(state, PICKS, cards[k], 0, 0, 0)
    ask(state, CARD, player, min(fewest, count), min(most, count), may_cancel)


@rule
def ask_yes(state, player, card, line):
    """Yes or no, about a line of a card (or of the game itself, where there is no card)."""
    clear_options(state)
    offer(state, SAYS_NO, 0, 0, 0, 0)
    offer(state, SAYS_YES, 0, 0, 0, 0)
    ask(state, YESNO, player, 1, 1, 0)
    state.about = card
    state.line = line


@rule
def ask_effect(state, player, card, line):
    """Whether an effect of this card is used."""
    ask_yes(state, player, card, line)
    state.question = EFFECT_YESNO


@rule
def ask_position(state, player, card, positions):
    """Face-up attack or defense; with one possibility, nothing is asked. The answer is in state.result."""
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
    """What is chosen can be put back; listed from the card that came first into the duel."""
    sort_by_birth(state, frame)
    for k in range(frame.count):
        offer(state, UNPICKS, frame.cards[k], 0, 0, 0)


@rule
def sort_by_birth(state, frame):
    """Cards of a frame from the one that came first into the duel to the last."""
    for k in range(1, frame.count):
        c = frame.cards[k]
        at = k
        while at > 0 and state.cards[frame.cards[at - 1]].born > state.cards[c].born:
            frame.cards[at] = frame.cards[at - 1]
            at -= 1
        frame.cards[at] = c


@rule
def picks_from(state, frame):
    """Keep what was picked in the frame's own list."""
    frame.count = state.picked_count
    for k in range(state.picked_count):
        frame.cards[k] = state.picked[k]
