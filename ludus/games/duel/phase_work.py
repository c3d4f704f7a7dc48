"""What a phase does to cards by itself, without a chain: upkeep, counted turns, and control that ends."""

from ludus.games.duel.cards import goblin_attack_force, messenger_of_peace, sinister_serpent, swords_of_revealing_light
from ludus.games.duel.frames import CONTINUOUS_PHASE, call, done, offer
from ludus.games.duel.state import ACTIVATES, BATTLE_END, END, NOBODY, STANDBY
from ludus.dsl import rule

UPKEEP, REST, COUNT_TURN, SERPENT_LEAVES, CONTROL_ENDS = -1, -2, -3, -4, -5
"""kinds of work; options of a phase name one of them in place of an effect"""
DO_WORK, END_WORK, BANISH_SERPENT = range(3)
"""the steps of CONTINUOUS_PHASE; those of UPKEEP are in `messenger_of_peace`"""
WORK, WORK_CARD, WORK_PLAYER = range(3)
"""its argument slots: the kind of work, the card it is about, and that card's player"""


@rule
def begin_work(state, which, c, player):
    frame = call(state, CONTINUOUS_PHASE)
    frame.args[WORK] = which
    frame.args[WORK_CARD] = c
    frame.args[WORK_PLAYER] = player


@rule
def offer_work(state, player, phase):
    """Offer what the phase does to a player's cards; how many options that gives."""
    before = state.option_count
    for zone in range(7):
        c = state.monsters[player, zone]
        if c == NOBODY:
            continue
        if phase == BATTLE_END and goblin_attack_force.is_due(state, c):
            offer(state, ACTIVATES, c, REST, 0, 0)
        if phase == END and state.cards[c].lent_until_end:
            offer(state, ACTIVATES, c, CONTROL_ENDS, 0, 0)
    for zone in range(5):
        c = state.spells[player, zone]
        if c == NOBODY:
            continue
        if phase == STANDBY and messenger_of_peace.is_due(state, c, player):
            offer(state, ACTIVATES, c, UPKEEP, 0, 0)
        if phase == END and swords_of_revealing_light.is_due(state, c, player):
            offer(state, ACTIVATES, c, COUNT_TURN, 0, 0)
    if phase == END:
        c = sinister_serpent.due_copy(state, player)
        if c != NOBODY:
            offer(state, ACTIVATES, c, SERPENT_LEAVES, 0, 0)
    return state.option_count - before


@rule
def working(state, frame):
    """The work on one card."""
    which = frame.args[WORK]
    c = frame.args[WORK_CARD]
    player = frame.args[WORK_PLAYER]
    if which == UPKEEP:
        messenger_of_peace.pay_upkeep(state, frame, c, player)
        return
    if frame.step == DO_WORK:
        frame.step = END_WORK
        if do_work(state, frame, which, c, player):
            return
    if frame.step == BANISH_SERPENT:
        frame.step = END_WORK
        sinister_serpent.banish_copy(state, player)
        return
    done(state)


@rule
def do_work(state, frame, which, c, player):
    """Whether a process was begun or something is asked."""
    if which == REST:
        return goblin_attack_force.rest(state, c, player)
    if which == COUNT_TURN:
        return swords_of_revealing_light.count_turn(state, c, player)
    if which == SERPENT_LEAVES:
        frame.step = BANISH_SERPENT
        sinister_serpent.ask_copy(state, frame, player)
        return True
    state.cards[c].lent_until_end = 0
    return False
