"""Card Destruction and Morphing Jar: both players discard their hands and draw."""

from ludus.games.duel.card_moves import draw
from ludus.games.duel.operations_targets import all_or_done
from ludus.games.duel.processes import put_in, send
from ludus.games.duel.state import BY_DISCARD, BY_EFFECT, HAND_PILE
from ludus.games.duel.tables.words import GRAVE, MORPHING_JAR
from ludus.dsl import rule

OWN_DISCARDED, OTHER_DISCARDED = range(2)
"""argument slots: how many cards the player of the effect and the opponent have discarded"""
MORPHING_JAR_DRAWS = 5


@rule
def resolve(state, frame, player):
    """Discard both hands at once."""
    work = send(state, GRAVE, BY_EFFECT | BY_DISCARD, player)
    for side in range(2):
        frame.args[OWN_DISCARDED if side == player else OTHER_DISCARDED] = state.sizes[side, HAND_PILE]
        for k in range(state.sizes[side, HAND_PILE]):
            put_in(work, state.piles[side, HAND_PILE, k])
    all_or_done(state, work)


@rule
def go_on(state, frame, do, player):
    """Card Destruction draws as many cards as were discarded, Morphing Jar always the same number."""
    if do == MORPHING_JAR:
        draw_again(state, player, MORPHING_JAR_DRAWS, MORPHING_JAR_DRAWS)
    else:
        draw_again(state, player, frame.args[OWN_DISCARDED], frame.args[OTHER_DISCARDED])


@rule
def draw_again(state, player, own, other):
    draw(state, player, own, BY_EFFECT)
    draw(state, 1 - player, other, BY_EFFECT)
