"""What effects do when they resolve: answers to activations, summons and attacks."""

from ludus.games.duel.card_moves import heal, hurt
from ludus.games.duel.operations_targets import destroy_one, first_target, send_itself
from ludus.games.duel.state import (
    ACTIVATION_NEGATED, ATTACK_ENDED, BEING_SUMMONED, LINK_ACTIVATION, LINK_DISABLED, LINK_NEGATED, NOBODY,
    SUMMON_NEGATED,
)  # fmt: skip
from ludus.games.duel.tables.words import (
    BANISHED, CHAINING, CYLINDER, DECK, DESTROY_ATTACKER, DRAINING, GRAVE, MZONE, NEGATE_ATTACK_AND_END, NEGATE_EFFECT,
    NEGATE_SUMMON, SOLEMN, STARDUST, UP_ATTACK, UTOPIA_NEGATE,
)  # fmt: skip
from ludus.games.duel.values import attack, held_back
from ludus.dsl import rule


@rule
def answer(state, link, do, player):
    """Effects that respond to a card, a summon or an attack."""
    if do <= STARDUST:
        negate(state, link, do, player)
    elif do == DESTROY_ATTACKER:
        destroy_attacker(state, link, player)
    elif do <= UTOPIA_NEGATE:
        stop_attack(state, link, do, player)
    else:
        send_itself(state, link, DECK, player)


@rule
def negate(state, link, do, player):
    """Negate the previous link, or a summon."""
    if do == NEGATE_SUMMON or (do == SOLEMN and link.event.code != CHAINING):
        c = state.negating_summon
        if c != NOBODY and state.cards[c].status & BEING_SUMMONED:
            state.cards[c].status = (state.cards[c].status | SUMMON_NEGATED) & ~BEING_SUMMONED
            destroy_one(state, c, player)
        return
    if state.links < 2:
        return
    answered = state.chain[state.links - 2]
    if do == NEGATE_EFFECT:
        answered.flags |= LINK_DISABLED
        return
    answered.flags |= LINK_NEGATED
    if do == STARDUST:
        state.cards[link.card].lasting = state.turn + 1
    card = state.cards[answered.card]
    if card.stamp == answered.stamp and card.place & (GRAVE | BANISHED) == 0:
        if answered.flags & LINK_ACTIVATION:
            card.status |= ACTIVATION_NEGATED
        destroy_one(state, answered.card, player)


@rule
def stop_attack(state, link, do, player):
    """Negate the attack, with its consequences."""
    a = state.attacker
    if (
        a == NOBODY
        or state.cards[a].place != MZONE
        or state.cards[a].position != UP_ATTACK
        or state.cards[a].status & ATTACK_ENDED
    ):
        return
    if held_back(state, a):
        return
    strength = attack(state, a)
    if do != UTOPIA_NEGATE and first_target(state, link) == NOBODY:
        return
    state.cards[a].status |= ATTACK_ENDED
    if do == CYLINDER:
        hurt(state, 1 - player, strength)
    elif do == DRAINING:
        heal(state, player, strength)
    elif do == NEGATE_ATTACK_AND_END:
        state.end_battle = 1


@rule
def destroy_attacker(state, link, player):
    """Destroy the attacker if it is still attacking."""
    c = first_target(state, link)
    if (
        c != NOBODY
        and state.cards[c].position == UP_ATTACK
        and state.cards[c].status & ATTACK_ENDED == 0
        and not held_back(state, c)
    ):
        destroy_one(state, c, player)
