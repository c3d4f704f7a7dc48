"""What effects do when they resolve: negating, and springing on what was summoned or attacks."""

from ludus.games.duel.events import miss
from ludus.games.duel.moving import destroy, heal, hurt, put_in
from ludus.games.duel.operations_destroy import destroy_extreme
from ludus.games.duel.operations_targets import FINISHED, all_or_done, destroy_one, first_target, send_itself
from ludus.games.duel.state import (
    ACTIVATION_NEGATED, ATTACK_ENDED, BEING_SUMMONED, BY_EFFECT, LINK_ACTIVATION, LINK_DISABLED, LINK_NEGATED,
    NOBODY, SUMMON_NEGATED,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    BANISHED, BOTTOMLESS, CHAINING, CYLINDER, DECK, DESTROY_ATTACKER, DRAINING, DUST_TORNADO, GRAVE, IN_ATTACK,
    MIRROR_FORCE, MZONE, NEGATE_ACTIVATION, NEGATE_ATTACK, NEGATE_ATTACK_AND_END, NEGATE_EFFECT, NEGATE_SUMMON,
    RING, RUIN, SOLEMN, STARDUST, TORRENTIAL, TO_DECK_TOP, TRAP_HOLE, UP_ATTACK, UTOPIA_NEGATE,
)  # fmt: skip
from ludus.games.duel.values import attack, held_back
from ludus.games.duel.zones import is_up
from ludus.words import rule


@rule
def answer(state, frame, link, do, player):
    """What is played against a card, a summon or an attack."""
    if do == NEGATE_ACTIVATION or do == NEGATE_EFFECT or do == NEGATE_SUMMON or do == SOLEMN or do == STARDUST:
        negate(state, link, do, player)
    elif do == CYLINDER or do == NEGATE_ATTACK or do == NEGATE_ATTACK_AND_END or do == DRAINING or do == UTOPIA_NEGATE:
        stop_attack(state, link, do, player)
    elif do == RING:
        ring(state, frame, link, player)
    elif do == DUST_TORNADO:
        destroy_one(state, first_target(state, link), player)
    elif do == TO_DECK_TOP:
        send_itself(state, link, DECK, player)
    elif do == RUIN:
        destroy_extreme(state, frame, RUIN, player)
    elif do == TRAP_HOLE or do == DESTROY_ATTACKER:
        catch_target(state, link, do, player)
    elif do == BOTTOMLESS:
        catch_summoned(state, link, player)
    elif do == TORRENTIAL or do == MIRROR_FORCE:
        sweep(state, do, player)


@rule
def negate(state, link, do, player):
    """The link before this one, or a summon, comes to nothing."""
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
    """The attack is negated, with what follows."""
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
def ring(state, frame, link, player):
    """The target is destroyed; what it costs both is its attack as printed."""
    c = first_target(state, link)
    if c != NOBODY and is_up(state, c):
        frame.args[0] = CARDS[state.cards[c].code].attack
        destroy_one(state, c, player)
    else:
        frame.step = FINISHED


@rule
def ring_goes_on(state, frame, player):
    """Damage to both, the player of the card first."""
    if state.result > 0:
        hurt(state, player, frame.args[0])
        if frame.args[0] > 0 and state.life[player] > 0:
            miss(state)
            hurt(state, 1 - player, frame.args[0])


@rule
def catch_target(state, link, do, player):
    """A monster that was summoned, or that attacks, is destroyed if it is still what was answered."""
    c = first_target(state, link)
    if c == NOBODY:
        return
    if do == TRAP_HOLE:
        if is_up(state, c) and attack(state, c) >= 1000:
            destroy_one(state, c, player)
    elif state.cards[c].position == UP_ATTACK and state.cards[c].status & ATTACK_ENDED == 0 and not held_back(state, c):
        destroy_one(state, c, player)


@rule
def catch_summoned(state, link, player):
    """Strong monsters of a summon are destroyed and banished."""
    work = destroy(state, BY_EFFECT, player)
    work.args[3] = BANISHED
    for k in range(link.event.count):
        c = link.event.cards[k]
        if (
            state.cards[c].place == MZONE
            and state.cards[c].stamp <= link.value
            and is_up(state, c)
            and attack(state, c) >= 1500
        ):
            put_in(work, c)
    all_or_done(state, work)


@rule
def sweep(state, do, player):
    """All monsters are destroyed, or those of the other player that are in attack."""
    work = destroy(state, BY_EFFECT, player)
    for side in range(2):
        for zone in range(7):
            c = state.monsters[side, zone]
            if c == NOBODY or (do == MIRROR_FORCE and (side == player or state.cards[c].position & IN_ATTACK == 0)):
                continue
            put_in(work, c)
    all_or_done(state, work)
