"""Time Wizard: call a coin toss; a right call destroys the opponent's monsters, a wrong one your own."""

from ludus.games.duel.card_moves import hurt
from ludus.games.duel.frames import ask, clear_options, offer
from ludus.games.duel.operations_targets import GO_ON, all_or_done
from ludus.games.duel.processes import destroy, put_in
from ludus.games.duel.randomness import toss_coin
from ludus.games.duel.state import BY_EFFECT, CHOOSES, NOBODY, OPTION
from ludus.games.duel.tables.words import MZONE, UP
from ludus.dsl import rule

HEADS, TAILS = 60, 61
"""lines of text of the game itself"""
TOSS_COIN, BURN_FOR_LOST = range(GO_ON, 3)
"""the steps after the call"""
CALL_WAS_WRONG = 0
"""argument slot"""


@rule
def resolve(state, player):
    """Ask for heads or tails."""
    clear_options(state)
    offer(state, CHOOSES, NOBODY, 0, HEADS, 0)
    offer(state, CHOOSES, NOBODY, 0, TAILS, 0)
    ask(state, OPTION, player, 1, 1, 0)


@rule
def go_on(state, frame, player):
    """Toss the coin and destroy; after a wrong call take half the attack of the lost monsters. Whether all is done."""
    if frame.step == TOSS_COIN:
        right = (state.options[state.answer].value == HEADS) == (toss_coin(state) == 1)
        side = 1 - player if right else player
        frame.args[CALL_WAS_WRONG] = 0 if right else 1
        work = destroy(state, BY_EFFECT, player)
        for zone in range(7):
            if state.monsters[side, zone] != NOBODY:
                put_in(work, state.monsters[side, zone])
        frame.count = work.count
        for k in range(work.count):
            frame.cards[k] = work.cards[k]
        all_or_done(state, work)
        frame.step = BURN_FOR_LOST
        return False
    if frame.args[CALL_WAS_WRONG]:
        total = 0
        for k in range(frame.count):
            card = state.cards[frame.cards[k]]
            if card.was_position & UP and card.place != MZONE:
                total += card.was_attack
        hurt(state, player, total // 2)
    return True
