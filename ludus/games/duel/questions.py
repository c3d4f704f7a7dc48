"""Texts of questions and answers, and which action concerns which card; for pictures and text."""

import numpy as np

from ludus.games.duel.frames import (
    ADD_CHAIN, BATTLE_COMMAND, CHOOSE_TARGETS, CONTINUOUS_PHASE, NORMAL_SUMMON, OPERATE, PAY_COST, PHASE_EVENT,
    PICK_MATERIALS, SET_MONSTER, SET_SPELL, SPECIAL_SUMMON, SPECIAL_SUMMON_RULE,
)  # fmt: skip
from ludus.games.duel.layout import on_table
from ludus.games.duel.pieces import word_table
from ludus.games.duel.processes import SUBJECT, SUMMONING_AT
from ludus.games.duel.state import (
    ANNOUNCE_RACE, ATTACKS, CARD, CHAIN, CHOOSES, DECLARES, EFFECT_YESNO, MOST_ACTIONS, NOBODY, PLACES, POSITIONS,
    REPOSITIONS, UNSELECT, YESNO,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import RACES
from ludus.games.duel.tables import words as w
from ludus.dsl import PLAYING, rule

VERBS = (
    "summon", "special summon", "turn", "set", "set", "activate", "Battle phase", "End turn", "attack", "Main phase 2",
    "Pass", "choose", "put back", "Done", "Cancel", "place", "position", "No", "Yes", "option", "type",
)  # fmt: skip
"""by kind of option"""
(
    FLIP, TO_DEFENSE, TO_ATTACK, DIRECTLY, IN_ATTACK, IN_DEFENSE, SET_ATTACK, SET_DEFENSE, HEADS, TAILS, FROM_HAND,
    FROM_DECK, TURN_IT, TAKE_IT, MORE_ANSWER,
) = range(len(VERBS), len(VERBS) + 15)  # fmt: skip
FIRST_RACE = MORE_ANSWER + 1
ANSWERS = (
    *VERBS, "flip summon", "to defense", "to attack", "attack directly", "Attack", "Defense", "Face-down attack",
    "Face-down defense", "Heads", "Tails", "From the hand", "From the deck", "Change its position", "Take control",
    "More …", *RACES,
)  # fmt: skip
SHORTER = {"special summon": "special", "flip summon": "flip", "attack directly": "direct"}
QUESTIONS = (
    "", "What will you do?", "Whom do you attack with?", "Will you answer?", "Choose a card", "Choose tributes",
    "Choose the cards", "Tribute enough levels", "Choose a zone", "Which position?", "Use its effect?", "Yes or no?",
    "Which of these?", "Name a type", "Which effect first?", "Pay with which card?", "Choose a target",
    "Attack which monster?", "Discard down to six cards", "Choose the materials", "Attack directly?",
    "Go on with the attack?", "Pay to keep it?", "Set a card of your hand?", "Summon its copies?",
    "Keep it by its effect?",
)  # fmt: skip
(
    WHICH_FIRST, PAY_WITH, A_TARGET, ATTACK_WHICH, DISCARD_DOWN, MATERIALS, DIRECT_ATTACK, GO_ON, PAY_UPKEEP, SET_ONE,
    COPIES, REPLACE,
) = range(ANNOUNCE_RACE + 1, len(QUESTIONS))  # fmt: skip
ANSWER_WORDS, QUESTION_WORDS = word_table(SHORTER.get(answer, answer) for answer in ANSWERS), word_table(QUESTIONS)
HAPPENINGS = (
    "", "is being summoned", "is being flip summoned", "is being special summoned", "was summoned", "was flip summoned",
    "was special summoned", "was turned face-up", "attacks", "is attacked", "was activated", "begins to fight",
    "fights", "dealt damage", "has fought", "destroyed a monster", "lost its battle", "was destroyed",
    "went to the graveyard", "was equipped", "was turned",
)  # fmt: skip
"""by the bit of an event"""
HAPPENING_WORDS = word_table(HAPPENINGS)
CONTINUE_ATTACK, ATTACK_DIRECTLY, USE_REPLACEMENT, HEADS_LINE = 30, 31, 96, 60
"""numbers of lines of text of the game itself"""

NOTHING = -3
"""result of `option_of` for an action that is not in the menu; FINISH and MORE are negative, too"""


@rule
def option_of(state, action):
    """The index of the option that an action selects; or FINISH, MORE or NOTHING."""
    return np.int64(state.menu[action]) if action < state.menu_count else np.int64(NOTHING)


@rule
def is_on_card(state, option):
    """Whether an option is displayed on a card on the table."""
    if option.kind == PLACES or option.kind == POSITIONS or option.kind == CHOOSES or option.kind == DECLARES:
        return False
    return option.card != NOBODY and on_table(state, option.card)


@rule
def actions_on(state, c):
    """How many actions concern a card on the table."""
    count = 0
    for action in range(MOST_ACTIONS):
        at = option_of(state, action)
        if at >= 0 and state.options[at].card == c and is_on_card(state, state.options[at]):
            count += 1
    return count


@rule
def answer_of(state, option):
    """The text of an option, as an index of ANSWERS."""
    kind = option.kind
    if kind == REPOSITIONS:
        position = state.cards[option.card].position
        return FLIP if position & w.DOWN else TO_DEFENSE if position & w.IN_ATTACK else TO_ATTACK
    if kind == ATTACKS and option.value:
        return DIRECTLY
    if kind == POSITIONS:
        if option.value == w.UP_ATTACK:
            return IN_ATTACK
        if option.value == w.UP_DEFENSE:
            return IN_DEFENSE
        return SET_ATTACK if option.value == w.DOWN_ATTACK else SET_DEFENSE
    if kind == CHOOSES:
        if option.card == NOBODY:
            return HEADS if option.value == HEADS_LINE else TAILS
        if CARDS[state.cards[option.card].code].types & w.MONSTER:
            return FROM_HAND if option.value == 1 else FROM_DECK
        return TURN_IT if option.value == 1 else TAKE_IT
    if kind == DECLARES:
        bit = 0
        while option.value >> bit > 1:
            bit += 1
        return FIRST_RACE + bit
    return kind


@rule
def question_of(state):
    """The text of the question, as an index of QUESTIONS."""
    question = state.question
    process = state.frames[max(0, state.depth - 1)].process
    if question == CHAIN and state.forced:
        return WHICH_FIRST
    if question == CARD:
        if process == PAY_COST:
            return PAY_WITH
        if process == CHOOSE_TARGETS:
            return A_TARGET
        if process == BATTLE_COMMAND:
            return ATTACK_WHICH
        if process == PHASE_EVENT:
            return DISCARD_DOWN
    if question == UNSELECT and (process == SPECIAL_SUMMON_RULE or process == PICK_MATERIALS):
        return MATERIALS
    if question == EFFECT_YESNO and state.line == USE_REPLACEMENT:
        return REPLACE
    if question == YESNO:
        return yes_no_question(state, process)
    return question


@rule
def yes_no_question(state, process):
    if state.line == ATTACK_DIRECTLY:
        return DIRECT_ATTACK
    if state.line == CONTINUE_ATTACK:
        return GO_ON
    if process == CONTINUOUS_PHASE:
        return PAY_UPKEEP
    return SET_ONE if state.line == 0 else COPIES


@rule
def subject_of(state):
    """The card that the question is about, or NOBODY."""
    if state.question == 0 or state.about != NOBODY:
        return state.about + 0
    frame = state.frames[max(0, state.depth - 1)]
    process = frame.process
    if process == NORMAL_SUMMON or process == SET_MONSTER or process == SET_SPELL or process == SPECIAL_SUMMON_RULE:
        return frame.args[SUBJECT] + 0
    if process == SPECIAL_SUMMON:
        return frame.cards[frame.args[SUMMONING_AT]] + 0 if frame.args[SUMMONING_AT] < frame.count else NOBODY + 0
    if process == ADD_CHAIN:
        return state.adding.card + 0
    if state.links and (process == PAY_COST or process == CHOOSE_TARGETS or process == OPERATE):
        return state.chain[state.links - 1].card + 0
    return NOBODY + 0


@rule
def happening(state):
    """The latest event of the window: its card (or NOBODY), and an index of HAPPENINGS."""
    for k in range(state.point_count - 1, -1, -1):
        event = state.point[k]
        bit = 0
        while event.code >> bit > 1:
            bit += 1
        if event.count > 0 and bit < len(HAPPENINGS):
            return event.cards[0] + 0, bit
    return NOBODY + 0, 0


@rule
def is_asked(state, seat):
    """Whether the duel waits for this seat."""
    return state.status == PLAYING and state.question != 0 and state.asked == seat
