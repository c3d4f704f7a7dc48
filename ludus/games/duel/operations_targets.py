"""What operations have in common: targets that are still there, and cards that go if there are any."""

from ludus.games.duel.chain import is_same
from ludus.games.duel.frames import done
from ludus.games.duel.moving import destroy, put_in, send
from ludus.games.duel.state import BY_EFFECT, NOBODY
from ludus.games.duel.tables.words import OTHER_MONSTERS, UP
from ludus.games.duel.zones import is_up
from ludus.words import rule

FINISHED = 9
"""the step of an effect that has nothing more to do"""


@rule
def live(state, link, k):
    """Target k of a link, if it is still the card that was targeted."""
    c = link.targets[k]
    return c if k < link.count and state.cards[c].stamp == link.stamps[k] else NOBODY


@rule
def still_fits(state, c, effect, player):
    """Some effects ask again when they resolve: face-up (UP), or on the other side (OTHER_MONSTERS)."""
    if effect.a == UP:
        return is_up(state, c)
    return effect.a != OTHER_MONSTERS or state.cards[c].controller != player


@rule
def first_target(state, link):
    return live(state, link, 0)


@rule
def all_or_done(state, frame):
    """Do something to the cards of a frame just begun; nothing, if there are none."""
    if frame.count == 0:
        done(state)
        state.result = 0


@rule
def destroy_one(state, c, player):
    if c != NOBODY:
        put_in(destroy(state, BY_EFFECT, player), c)


@rule
def send_itself(state, link, place, player):
    """The card of the effect goes, if it is still the same card."""
    if is_same(state, link):
        put_in(send(state, place, BY_EFFECT, player), link.card)
