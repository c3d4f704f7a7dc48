"""What operations share: targets that are still valid, and starting processes that may have no cards."""

from ludus.games.duel.frames import done
from ludus.games.duel.processes import destroy, put_in, send
from ludus.games.duel.state import BY_EFFECT, NOBODY
from ludus.games.duel.tables.words import OTHER_MONSTERS, UP
from ludus.games.duel.zones import is_up
from ludus.dsl import rule

GO_ON, FINISHED = 1, 9
"""steps of OPERATE after FIRST_STEP: effects with several steps number theirs from GO_ON; nothing is left to do"""


@rule
def is_same(state, link):
    """Whether a link's card is still the one that was activated."""
    return state.cards[link.card].stamp == link.stamp


@rule
def live(state, link, k):
    """Target k of a link, if it is still the card that was targeted."""
    c = link.targets[k]
    return c if k < link.count and state.cards[c].stamp == link.stamps[k] else NOBODY


@rule
def still_fits(state, c, effect, player):
    """Whether a target is still legal: some effects require face-up (UP) or the opponent's side (OTHER_MONSTERS)."""
    if effect.a == UP:
        return is_up(state, c)
    return effect.a != OTHER_MONSTERS or state.cards[c].controller != player


@rule
def first_target(state, link):
    return live(state, link, 0)


@rule
def all_or_done(state, frame):
    """Drop the process just begun if it has no cards."""
    if frame.count == 0:
        done(state)
        state.result = 0


@rule
def destroy_one(state, c, player):
    """Begin to destroy a card, if there is one; state.result becomes the number of destroyed cards."""
    state.result = 0
    if c != NOBODY:
        put_in(destroy(state, BY_EFFECT, player), c)


@rule
def send_itself(state, link, place, player):
    """Begin to send the card of the effect, if it is still the same card."""
    if is_same(state, link):
        put_in(send(state, place, BY_EFFECT, player), link.card)
