"""Costs are paid and targets are chosen when an effect is activated."""

from ludus.games.duel.activation import can_become_fusion, can_release, can_take_enemy, can_turn_enemy
from ludus.games.duel.filters import gather
from ludus.games.duel.frames import ask, ask_cards, clear_options, done, offer, picks_from
from ludus.games.duel.moving import put_in, send
from ludus.games.duel.state import (
    ANNOUNCE_RACE, BY_COST, BY_DISCARD, BY_RELEASE, CANNOT_ATTACK, CHOOSES, DECK_PILE, DECLARES, HAND_PILE,
    LINK_ACTIVATION, MOST_TARGETS, NOBODY, OPTION, PICKS, UNSELECT,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    BANISH_TARGETS, BOTTOMLESS, CHAINING, CYLINDER, DESTROY_ALL_OTHERS, DESTROY_ATTACKER, DESTROY_EVENT_CARDS,
    DESTROY_IF_DOWN, DESTROY_IF_TYPE, DESTROY_RACE, DESTROY_TARGETS, DESTROY_THREE, DETACH, DISCARD, DISCARD_SELF,
    DON_ZALOOG, DRAINING, DUST_TORNADO, ENEMY_CONTROLLER, GIVE_UP_ATTACK, GIVE_UP_SUMMONS, GOYO, GRAVE, LINK,
    NEGATE_ACTIVATION, NEGATE_ATTACK, NEGATE_ATTACK_AND_END, NEGATE_SUMMON, NOBLEMAN, NOTHING, NO_COST, ON_FIELD,
    OTHER_MONSTERS, PAY, PAY_HALF, REMOVE_COUNTER, RING, RUIN, SOLEMN, STARDUST, SWAP_BASE_VALUES, TIME_WIZARD,
    TO_HAND_TARGETS, TRAP_HOLE, TRIBUTE_FOR_FUSION, TRIBUTE_LINKED, TRIBUTE_SELF,
)  # fmt: skip
from ludus.games.duel.values import attack, level, types_of
from ludus.games.duel.zones import free_monster_zones, is_up, pointed_at
from ludus.words import rule


@rule
def paying(state, frame):
    """The cost of the newest link."""
    link = state.chain[state.links - 1]
    effect = EFFECTS[link.effect]
    cost = effect.cost
    c = link.card
    player = link.player
    if frame.step == 0:
        frame.step = 1
        frame.count = 0
        if cost == NO_COST:
            done(state)
            return
        if cost == PAY:
            state.life[player] -= effect.cost_a
        elif cost == PAY_HALF:
            state.life[player] -= state.life[player] // 2
        elif cost == REMOVE_COUNTER:
            state.cards[c].counters -= effect.cost_a
        elif cost == GIVE_UP_ATTACK:
            state.cards[c].status |= CANNOT_ATTACK
        elif cost == GIVE_UP_SUMMONS:
            state.no_summons[player] = 1
        elif cost == DISCARD_SELF:
            put_in(send(state, GRAVE, BY_COST | BY_DISCARD, player), c)
            return
        elif cost == TRIBUTE_SELF:
            put_in(send(state, GRAVE, BY_COST | BY_RELEASE, player), c)
            return
        else:
            gather_cost(state, frame, effect, c, player)
            if cost == DISCARD or cost == DETACH:
                ask_cards(state, player, frame.cards, frame.count, effect.cost_a, effect.cost_a, 0)
            else:
                ask_tribute(state, frame, player)
            return
        done(state)
        return
    if frame.step == 1:
        frame.step = 2
        if cost != DISCARD_SELF and cost != TRIBUTE_SELF:
            picks_from(state, frame)
            if cost == TRIBUTE_FOR_FUSION:
                link.value = level(state, frame.cards[0])
            reason = BY_COST | BY_DISCARD if cost == DISCARD else BY_COST if cost == DETACH else BY_COST | BY_RELEASE
            sent = send(state, GRAVE, reason, player)
            for k in range(frame.count):
                put_in(sent, frame.cards[k])
            return
    done(state)


@rule
def ask_tribute(state, frame, player):
    """One monster to be tributed as a cost."""
    clear_options(state)
    for k in range(frame.count):
        offer(state, PICKS, frame.cards[k], 0, 0, 0)
    ask(state, UNSELECT, player, 1, 1, 0)


@rule
def gather_cost(state, frame, effect, c, player):
    """What a cost can be paid with."""
    cost = effect.cost
    if cost == DISCARD:
        for k in range(state.sizes[player, HAND_PILE]):
            put_in(frame, state.piles[player, HAND_PILE, k])
    elif cost == DETACH:
        for k in range(state.cards[c].overlays):
            put_in(frame, state.cards[c].overlay[k])
    else:
        seen = pointed_at(state, c) if cost == TRIBUTE_LINKED else 0x7F
        for zone in range(7):
            m = state.monsters[player, zone]
            if (
                seen >> zone & 1
                and can_release(state, m)
                and (cost != TRIBUTE_FOR_FUSION or can_become_fusion(state, m, player))
            ):
                put_in(frame, m)


@rule
def add_target(state, link, c):
    if link.count < MOST_TARGETS:
        link.targets[link.count] = c
        link.stamps[link.count] = state.cards[c].stamp
        link.count += 1


@rule
def targeting(state, frame):
    """The targets, options and declarations of the newest link."""
    link = state.chain[state.links - 1]
    effect = EFFECTS[link.effect]
    do = effect.do
    player = link.player
    if frame.step == 0:
        frame.step = 3
        if do == ENEMY_CONTROLLER or do == DON_ZALOOG:
            frame.step = 1
            offer_branches(state, link, do, player)
            ask(state, OPTION, player, 1, 1, 0)
            return
        if do == DESTROY_RACE:
            frame.step = 2
            offer_races(state)
            ask(state, ANNOUNCE_RACE, player, 1, 1, 0)
            return
        set_targets(state, link, do)
    if frame.step == 1:
        link.value = state.options[state.answer].value
        frame.step = 3
        if do == ENEMY_CONTROLLER and link.value == 2:
            frame.step = 6
            frame.count = 0
            for zone in range(7):
                if can_release(state, state.monsters[player, zone]) and (zone < 5 or free_monster_zones(state, player)):
                    put_in(frame, state.monsters[player, zone])
            ask_tribute(state, frame, player)
            return
    if frame.step == 6:
        frame.step = 3
        put_in(send(state, GRAVE, BY_COST | BY_RELEASE, player), state.picked[0])
        return
    if frame.step == 2:
        link.value = state.options[state.answer].value
        frame.step = 5
    if frame.step == 3:
        frame.step = 4
        if effect.target_where:
            gather(state, effect.target_where, effect.target, link.card, player, True, frame)
            if do == RING:
                keep_weak(state, frame, player)
            elif do == ENEMY_CONTROLLER and link.value == 1:
                keep_turnable(state, frame)
            if frame.count >= effect.fewest:
                ask_cards(state, player, frame.cards, frame.count, effect.fewest, effect.most, 0)
                return
        frame.step = 5
    if frame.step == 4:
        for k in range(state.picked_count):
            add_target(state, link, state.picked[k])
        frame.step = 5
        if do == DESTROY_THREE and link.count == 2:
            gather(state, OTHER_MONSTERS, 0, link.card, player, True, frame)
            frame.step = 4
            ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
            return
    link.extra = would_destroy(state, link, effect)
    done(state)


@rule
def keep_weak(state, frame, player):
    """Of the other player's monsters, those that would not cost more life than that player has."""
    at = 0
    for k in range(frame.count):
        if attack(state, frame.cards[k]) <= state.life[1 - player]:
            frame.cards[at] = frame.cards[k]
            at += 1
    frame.count = at


@rule
def keep_turnable(state, frame):
    """Link monsters have one position only."""
    at = 0
    for k in range(frame.count):
        if CARDS[state.cards[frame.cards[k]].code].types & LINK == 0:
            frame.cards[at] = frame.cards[k]
            at += 1
    frame.count = at


@rule
def set_targets(state, link, do):
    """Targets that are not chosen: the attacker, the monster that was summoned."""
    if do == DESTROY_ATTACKER or do == CYLINDER or do == NEGATE_ATTACK or do == NEGATE_ATTACK_AND_END or do == DRAINING:
        add_target(state, link, state.attacker)
    elif do == TRAP_HOLE or do == DESTROY_EVENT_CARDS:
        for k in range(link.event.count):
            add_target(state, link, link.event.cards[k])
    elif do == BOTTOMLESS or do == SWAP_BASE_VALUES:
        link.value = state.stamps  # whatever comes later has a higher one
    elif do == GOYO:
        add_target(state, link, state.attack_target if link.card == state.attacker else state.attacker)


@rule
def offer_branches(state, link, do, player):
    """The branches of an effect that are possible now."""
    clear_options(state)
    if do == DON_ZALOOG:
        if state.sizes[1 - player, HAND_PILE] > 0:
            offer(state, CHOOSES, link.card, 0, 1, 0)
        if state.sizes[1 - player, DECK_PILE] >= 2:
            offer(state, CHOOSES, link.card, 0, 2, 0)
        return
    if can_turn_enemy(state, player):
        offer(state, CHOOSES, link.card, 0, 1, 0)
    if can_take_enemy(state, player):
        offer(state, CHOOSES, link.card, 0, 2, 0)


@rule
def offer_races(state):
    """The types of the monsters that lie face-up."""
    clear_options(state)
    races = 0
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY and is_up(state, c):
                races |= CARDS[state.cards[c].code].race
    for bit in range(25):
        if races >> bit & 1:
            offer(state, DECLARES, NOBODY, 0, 1 << bit, 0)


@rule
def would_destroy(state, link, effect):
    """Whether a link threatens to destroy something on the field; negating an activated card does not."""
    do = effect.do
    if do == DESTROY_IF_TYPE:
        c = link.targets[0]
        return link.count > 0 and is_up(state, c) and types_of(state, c) & effect.a != 0
    if do == NEGATE_ACTIVATION or do == STARDUST or (do == SOLEMN and link.event.code == CHAINING):
        if state.links < 2:
            return False
        answered = state.chain[state.links - 2]
        card = state.cards[answered.card]
        return answered.flags & LINK_ACTIVATION == 0 and card.stamp == answered.stamp and card.place & ON_FIELD != 0
    if effect.target_where:
        return link.count > 0 and (
            do == DESTROY_TARGETS
            or do == DESTROY_IF_DOWN
            or do == DESTROY_THREE
            or do == RING
            or do == NOBLEMAN
            or do == DUST_TORNADO
        )
    return (NOTHING < do <= DESTROY_ALL_OTHERS and do != TO_HAND_TARGETS and do != BANISH_TARGETS) or (
        do == RUIN
        or do == TIME_WIZARD
        or do == TRAP_HOLE
        or do == BOTTOMLESS
        or do == DESTROY_ATTACKER
        or do == NEGATE_SUMMON
        or do == SOLEMN
    )
