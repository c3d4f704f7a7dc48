"""What effects do when they resolve: destroying, returning to the hand and banishing."""

from ludus.games.duel.chain import is_same
from ludus.games.duel.filters import gather
from ludus.games.duel.frames import ask, ask_cards, clear_options, offer
from ludus.games.duel.moving import destroy, hurt, put_in, send
from ludus.games.duel.operations_targets import (
    FINISHED, all_or_done, destroy_one, first_target, live, send_itself, still_fits,
)  # fmt: skip
from ludus.games.duel.randomness import toss_coin
from ludus.games.duel.state import BY_EFFECT, CHOOSES, DECK_PILE, LEAVING, NOBODY, OPTION
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    BANISHED, BANISH_TARGETS, DESTROY_ALL, DESTROY_ATTACK_TARGET, DESTROY_EVENT_CARDS, DESTROY_HIGHEST_DEFENSE,
    DESTROY_IF_DOWN, DESTROY_IF_TYPE, DESTROY_RACE, DESTROY_SELF, DESTROY_STRONGEST_ATTACKER, DESTROY_TARGETS,
    DESTROY_THREE, DESTROY_WEAKEST, FLIP, HAND, LINK, MZONE, RETURN_ALL, RETURN_ATTACKER, RETURN_SELF, RUIN,
    TO_HAND_TARGETS, UP, UP_ATTACK,
)  # fmt: skip
from ludus.games.duel.values import attack, defense, types_of
from ludus.games.duel.zones import is_up
from ludus.words import rule

HEADS, TAILS = 60, 61
"""the game's own lines"""


@rule
def destroy_something(state, frame, link, effect):
    """All that only destroys, or banishes or returns targets."""
    do = effect.do
    player = link.player
    if do == DESTROY_TARGETS or do == TO_HAND_TARGETS or do == BANISH_TARGETS:
        take_targets(state, link, effect)
    elif do == DESTROY_ALL:
        destroy_matching(state, frame, link, effect)
    elif do == DESTROY_WEAKEST or do == DESTROY_HIGHEST_DEFENSE or do == DESTROY_STRONGEST_ATTACKER:
        destroy_extreme(state, frame, do, player)
    elif do == DESTROY_IF_TYPE:
        c = first_target(state, link)
        if c != NOBODY and types_of(state, c) & effect.a:
            destroy_one(state, c, player)
    elif do == DESTROY_IF_DOWN:
        c = first_target(state, link)
        if c != NOBODY and not is_up(state, c):
            destroy_one(state, c, player)
    elif do == DESTROY_THREE:
        destroy_three(state, link)
    elif do == DESTROY_SELF:
        if is_same(state, link):
            destroy_one(state, link.card, player)
    elif do == DESTROY_EVENT_CARDS:
        destroy_event_cards(state, link)
    elif do == DESTROY_ATTACK_TARGET:
        c = state.attack_target
        if c != NOBODY and state.cards[c].place == MZONE:
            destroy_one(state, c, player)
    elif do == DESTROY_RACE:
        destroy_race(state, link)


@rule
def take_targets(state, link, effect):
    """Targets that are still there and still fit are destroyed, returned or banished together."""
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
    """All cards that fit the effect's filter."""
    gather(state, effect.a, effect.which, link.card, link.player, False, frame)
    work = destroy(state, BY_EFFECT, link.player)
    for k in range(frame.count):
        put_in(work, frame.cards[k])
    all_or_done(state, work)


@rule
def destroy_three(state, link):
    """All three targets, or none if one of them is gone."""
    if live(state, link, 0) and live(state, link, 1) and live(state, link, 2):
        work = destroy(state, BY_EFFECT, link.player)
        for k in range(3):
            put_in(work, link.targets[k])


@rule
def destroy_event_cards(state, link):
    """The cards of the event that are still there."""
    work = destroy(state, BY_EFFECT, link.player)
    for k in range(link.count):
        c = live(state, link, k)
        if c != NOBODY:
            put_in(work, c)
    all_or_done(state, work)


@rule
def destroy_race(state, link):
    """All face-up monsters of the race that was announced."""
    work = destroy(state, BY_EFFECT, link.player)
    for side in range(2):
        for zone in range(7):
            c = state.monsters[side, zone]
            if c != NOBODY and is_up(state, c) and CARDS[state.cards[c].code].race & link.value:
                put_in(work, c)
    all_or_done(state, work)


@rule
def destroy_extreme(state, frame, do, player):
    """The weakest or strongest of some monsters; on a tie the player chooses."""
    best = -1
    frame.count = 0
    for k in range(2):
        side = k
        if (do == DESTROY_WEAKEST or do == DESTROY_HIGHEST_DEFENSE or do == RUIN) and side == player:
            continue
        for zone in range(7):
            c = state.monsters[side, zone]
            if c == NOBODY or not is_up(state, c):
                continue
            if (do == DESTROY_STRONGEST_ATTACKER or do == RUIN) and state.cards[c].position != UP_ATTACK:
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
def return_something(state, link, effect):
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


@rule
def banish_battlers(state, player):
    """Both monsters of the battle leave the game."""
    work = send(state, BANISHED, BY_EFFECT, player)
    for k in range(2):
        c = state.attacker if k == 0 else state.attack_target
        arrival = state.attacker_stamp if k == 0 else state.target_stamp
        if c != NOBODY and state.cards[c].place == MZONE and state.cards[c].arrival == arrival:
            put_in(work, c)
    all_or_done(state, work)


@rule
def cross_out(state, frame, link, player):
    """A face-down monster is destroyed and banished; if it was a flip monster, so are its copies in the decks."""
    c = first_target(state, link)
    frame.args[0] = NOBODY
    if c == NOBODY or is_up(state, c):
        frame.step = FINISHED
        return
    frame.args[0] = c
    work = destroy(state, BY_EFFECT, player)
    work.args[3] = BANISHED
    put_in(work, c)


@rule
def nobleman_goes_on(state, frame, player):
    c = frame.args[0]
    frame.step = FINISHED
    if state.result == 0 or CARDS[state.cards[c].code].types & FLIP == 0 or state.cards[c].place != BANISHED:
        return True
    work = send(state, BANISHED, BY_EFFECT, player)
    for side in range(2):
        for k in range(state.sizes[side, DECK_PILE]):
            other = state.piles[side, DECK_PILE, k]
            if state.cards[other].code == state.cards[c].code:
                put_in(work, other)
    all_or_done(state, work)
    return False


@rule
def ask_coin(state, player):
    """Heads or tails?"""
    clear_options(state)
    offer(state, CHOOSES, NOBODY, 0, HEADS, 0)
    offer(state, CHOOSES, NOBODY, 0, TAILS, 0)
    ask(state, OPTION, player, 1, 1, 0)


@rule
def wizard_goes_on(state, frame, player):
    """A coin decides whose monsters are destroyed; one's own cost half their attack."""
    if frame.step == 1:
        right = (state.options[state.answer].value == HEADS) == (toss_coin(state) == 1)
        side = 1 - player if right else player
        frame.args[0] = 0 if right else 1
        work = destroy(state, BY_EFFECT, player)
        for zone in range(7):
            if state.monsters[side, zone] != NOBODY:
                put_in(work, state.monsters[side, zone])
        frame.count = work.count
        for k in range(work.count):
            frame.cards[k] = work.cards[k]
        all_or_done(state, work)
        frame.step = 2
        return False
    if frame.args[0]:
        total = 0
        for k in range(frame.count):
            card = state.cards[frame.cards[k]]
            if card.was_position & UP and card.place != MZONE:
                total += card.was_attack
        hurt(state, player, total // 2)
    return True
