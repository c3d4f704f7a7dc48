"""Spirit Reaper: it is destroyed when it is targeted, equipped or called back by a trap."""

from ludus.games.duel.frames import done
from ludus.games.duel.processes import destroy, put_in
from ludus.games.duel.state import BY_EFFECT, DAMAGE_STEP, FELLED, NOBODY, TARGETED_NOW
from ludus.games.duel.tables.words import DIES_WHEN_TARGETED, MZONE
from ludus.games.duel.values import equips_on, has
from ludus.dsl import rule


@rule
def mark_targeted(state, link):
    """Mark the targets of a link that was just activated."""
    for k in range(link.count):
        if has(state, link.targets[k], DIES_WHEN_TARGETED):
            state.cards[link.targets[k]].status |= TARGETED_NOW


@rule
def destroy_marked(state):
    """Destroy marked targets once the effect has resolved; before damage calculation, note them for later."""
    link = state.chain[state.links - 1]
    frame = destroy(state, BY_EFFECT, 2)
    for k in range(link.count):
        c = link.targets[k]
        card = state.cards[c]
        if card.stamp == link.stamps[k] and card.place == MZONE and card.status & TARGETED_NOW:
            card.status &= ~TARGETED_NOW
            if not has(state, c, DIES_WHEN_TARGETED):
                continue
            if state.phase == DAMAGE_STEP and not state.calculated:
                card.status |= FELLED
            else:
                put_in(frame, c)
    if frame.count == 0:
        done(state)
        return False
    return True


@rule
def destroy_held(state):
    """Destroy those that are equipped, called back, or were noted in battle."""
    frame = destroy(state, BY_EFFECT, 2)
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if (
                c != NOBODY
                and has(state, c, DIES_WHEN_TARGETED)
                and (equips_on(state, c) > 0 or state.cards[c].bound_to != NOBODY or state.cards[c].status & FELLED)
            ):
                put_in(frame, c)
    if frame.count == 0:
        done(state)
        return False
    return True
