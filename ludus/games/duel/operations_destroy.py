"""What effects do when they resolve: destroying, returning to the hand and banishing."""

from ludus.games.duel.filters import gather
from ludus.games.duel.frames import ask_cards
from ludus.games.duel.operations_targets import (
    FINISHED, all_or_done, destroy_one, first_target, is_same, live, send_itself, still_fits,
)  # fmt: skip
from ludus.games.duel.processes import destroy, put_in, send
from ludus.games.duel.state import BY_EFFECT, LEAVING, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    BANISHED, BANISH_BATTLERS, BANISH_TARGETS, DESTROY_ALL, DESTROY_ATTACK_TARGET, DESTROY_EVENT_CARDS,
    DESTROY_HIGHEST_DEFENSE, DESTROY_IF_DOWN, DESTROY_IF_TYPE, DESTROY_SELF, DESTROY_STRONGEST_ATTACKER,
    DESTROY_TARGETS, DESTROY_WEAKEST, HAND, LINK, MZONE, RETURN_ALL, RETURN_ATTACKER, RETURN_SELF, TO_HAND_TARGETS,
    UP_ATTACK,
)  # fmt: skip
from ludus.games.duel.values import attack, defense, types_of
from ludus.games.duel.zones import is_up
from ludus.dsl import rule


@rule
def destroy_something(state, frame, link, effect):
    """Destroy cards, or return or banish targets."""
    do = effect.do
    player = link.player
    if do == DESTROY_TARGETS or do == TO_HAND_TARGETS or do == BANISH_TARGETS:
        take_targets(state, link, effect)
    elif do == DESTROY_ALL:
        destroy_matching(state, frame, link, effect)
    elif do == DESTROY_WEAKEST or do == DESTROY_HIGHEST_DEFENSE or do == DESTROY_STRONGEST_ATTACKER:
        destroy_extreme(state, frame, do, do == DESTROY_STRONGEST_ATTACKER, player)
    elif do == DESTROY_IF_TYPE:
        c = first_target(state, link)
        if c != NOBODY and types_of(state, c) & effect.a:
            destroy_one(state, c, player)
    elif do == DESTROY_IF_DOWN:
        c = first_target(state, link)
        if c != NOBODY and not is_up(state, c):
            destroy_one(state, c, player)
    elif do == DESTROY_SELF:
        if is_same(state, link):
            destroy_one(state, link.card, player)
    elif do == DESTROY_EVENT_CARDS:
        destroy_event_cards(state, link)
    elif do == DESTROY_ATTACK_TARGET:
        c = state.attack_target
        if c != NOBODY and state.cards[c].place == MZONE:
            destroy_one(state, c, player)


@rule
def take_targets(state, link, effect):
    """Destroy, return or banish the targets together that are still there and still legal."""
    player = link.player
    if effect.do == DESTROY_TARGETS:
        work = destroy(state, BY_EFFECT, player)
    else:
        work = send(state, HAND if effect.do == TO_HAND_TARGETS else BANISHED, BY_EFFECT, player)
    for k in range(link.count):
        c = live(state, link, k)
        if c != NOBODY and still_fits(state, c, effect, player):
            put_in(work, c)
    all_or_done(state, work)


@rule
def destroy_matching(state, frame, link, effect):
    """Destroy all cards that match the effect's filter."""
    gather(state, effect.a, effect.which, link.card, link.player, False, frame)
    work = destroy(state, BY_EFFECT, link.player)
    for k in range(frame.count):
        put_in(work, frame.cards[k])
    all_or_done(state, work)


@rule
def destroy_event_cards(state, link):
    """Destroy the cards of the event that are still there."""
    work = destroy(state, BY_EFFECT, link.player)
    for k in range(link.count):
        c = live(state, link, k)
        if c != NOBODY:
            put_in(work, c)
    all_or_done(state, work)


@rule
def destroy_extreme(state, frame, do, both_sides, player):
    """Destroy the weakest or strongest monster of both players or of the opponent; on a tie the player chooses."""
    best = -1
    frame.count = 0
    for side in range(2):
        if side == player and not both_sides:
            continue
        for zone in range(7):
            c = state.monsters[side, zone]
            if c == NOBODY or not is_up(state, c):
                continue
            if do == DESTROY_STRONGEST_ATTACKER and state.cards[c].position != UP_ATTACK:
                continue
            if do == DESTROY_HIGHEST_DEFENSE and CARDS[state.cards[c].code].types & LINK:
                continue
            value = defense(state, c) if do == DESTROY_HIGHEST_DEFENSE else attack(state, c)
            if do == DESTROY_WEAKEST:
                value = 1000000 - value
            if value > best:
                best = value
                frame.count = 0
            if value == best:
                put_in(frame, c)
    if frame.count > 1:
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return
    frame.step = FINISHED
    if frame.count == 1:
        destroy_one(state, frame.cards[0], player)


@rule
def destroy_picked(state, frame, player):
    """After a tie, destroy the chosen monster. Whether all is done."""
    frame.step = FINISHED
    if state.picked_count == 0:
        return True
    destroy_one(state, state.picked[0], player)
    return False


@rule
def return_something(state, link, effect):
    """Cards return to the hand, or both monsters of a battle are banished."""
    do = effect.do
    player = link.player
    if do == RETURN_ATTACKER:
        a = state.attacker
        if a != NOBODY and state.cards[a].place == MZONE and state.cards[a].arrival == state.attacker_stamp:
            put_in(send(state, HAND, BY_EFFECT, player), a)
    elif do == RETURN_ALL:
        work = send(state, HAND, BY_EFFECT, player)
        for side in range(2):
            for zone in range(6):
                c = state.spells[side, zone]
                if c != NOBODY and c != link.card and state.cards[c].status & LEAVING == 0:
                    put_in(work, c)
        all_or_done(state, work)
    elif do == RETURN_SELF:
        send_itself(state, link, HAND, player)
    elif do == BANISH_BATTLERS:
        banish_battlers(state, player)


@rule
def banish_battlers(state, player):
    """Banish both monsters of the battle."""
    work = send(state, BANISHED, BY_EFFECT, player)
    for k in range(2):
        c = state.attacker if k == 0 else state.attack_target
        arrival = state.attacker_stamp if k == 0 else state.target_stamp
        if c != NOBODY and state.cards[c].place == MZONE and state.cards[c].arrival == arrival:
            put_in(work, c)
    all_or_done(state, work)
