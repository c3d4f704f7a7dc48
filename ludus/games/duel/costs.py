"""Paying costs and choosing targets when an effect is activated."""

from ludus.games.duel.cards import hooks, metamorphosis
from ludus.games.duel.cards.hooks import ASKED_BRANCH, ASKED_RACE, NO_QUESTION_FIRST
from ludus.games.duel.filters import can_release, gather
from ludus.games.duel.frames import ask_cards, ask_tribute, done, picks_from
from ludus.games.duel.processes import put_in, send
from ludus.games.duel.state import (
    BY_COST, BY_DISCARD, BY_RELEASE, CANNOT_ATTACK, HAND_PILE, LINK_ACTIVATION, MOST_TARGETS,
)  # fmt: skip
from ludus.games.duel.tables import EFFECTS
from ludus.games.duel.tables.words import (
    AIM_ATTACKER, AIM_BATTLED, AIM_EVENT_CARDS, AIM_PRESENT, CHAINING, DESTROY_IF_TYPE, DETACH, DISCARD, DISCARD_SELF,
    GIVE_UP_ATTACK, GIVE_UP_SUMMONS, GRAVE, NEGATE_ACTIVATION, NO_COST, ON_FIELD, PAY, PAY_HALF, REMOVE_COUNTER, SOLEMN,
    STARDUST, TRIBUTE_FOR_FUSION, TRIBUTE_LINKED, TRIBUTE_SELF,
)  # fmt: skip
from ludus.games.duel.values import level, types_of
from ludus.games.duel.zones import foe_of, is_up, pointed_at
from ludus.dsl import rule

BEGIN_COST, GIVE_CHOSEN, COST_PAID = range(3)
"""the steps of PAY_COST"""
# fmt: off
(BEGIN_TARGETS, BRANCH_CHOSEN, RACE_DECLARED, ASK_TARGETS, TARGETS_CHOSEN, END_TARGETS, TRIBUTE_CHOSEN) = range(7)
# fmt: on
"""the steps of CHOOSE_TARGETS"""


@rule
def paying(state, frame):
    """Pay the cost of the newest link."""
    link = state.chain[state.links - 1]
    effect = EFFECTS[link.effect]
    cost = effect.cost
    c = link.card
    player = link.player
    if frame.step == BEGIN_COST:
        frame.step = GIVE_CHOSEN
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
    if frame.step == GIVE_CHOSEN:
        frame.step = COST_PAID
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
def gather_cost(state, frame, effect, c, player):
    """Collect the cards that a cost can be paid with."""
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
                and (cost != TRIBUTE_FOR_FUSION or metamorphosis.can_become_fusion(state, m, player))
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
    """Ask for branches, declarations and targets of the newest link."""
    link = state.chain[state.links - 1]
    effect = EFFECTS[link.effect]
    do = effect.do
    player = link.player
    if frame.step == BEGIN_TARGETS:
        question = hooks.ask_first(state, link, do, player)
        frame.step = (
            BRANCH_CHOSEN if question == ASKED_BRANCH else RACE_DECLARED if question == ASKED_RACE else ASK_TARGETS
        )
        if question != NO_QUESTION_FIRST:
            return
        set_targets(state, link, effect)
    if frame.step == BRANCH_CHOSEN:
        link.value = state.options[state.answer].value
        frame.step = ASK_TARGETS
        if hooks.ask_after_branch(state, frame, link, do, player):
            frame.step = TRIBUTE_CHOSEN
            return
    if frame.step == TRIBUTE_CHOSEN:
        frame.step = ASK_TARGETS
        put_in(send(state, GRAVE, BY_COST | BY_RELEASE, player), state.picked[0])
        return
    if frame.step == RACE_DECLARED:
        link.value = state.options[state.answer].value
        frame.step = END_TARGETS
    if frame.step == ASK_TARGETS and ask_targets(state, frame, link, effect):
        return
    if frame.step == TARGETS_CHOSEN:
        for k in range(state.picked_count):
            add_target(state, link, state.picked[k])
        frame.step = END_TARGETS
        if hooks.ask_more_targets(state, frame, link, do, player):
            frame.step = TARGETS_CHOSEN
            return
    link.extra = would_destroy(state, link, effect)
    done(state)


@rule
def ask_targets(state, frame, link, effect):
    """Ask which of the possible targets are chosen; whether there are enough to ask."""
    frame.step = END_TARGETS
    if effect.target_where == 0:
        return False
    gather(state, effect.target_where, effect.target, link.card, link.player, True, frame)
    hooks.keep_targets(state, frame, link, effect.do, link.player)
    if frame.count < effect.fewest:
        return False
    frame.step = TARGETS_CHOSEN
    ask_cards(state, link.player, frame.cards, frame.count, effect.fewest, effect.most, 0)
    return True


@rule
def set_targets(state, link, effect):
    """Targets that are not chosen: the attacker, the monsters that were summoned, the other monster of a battle."""
    if effect.aim == AIM_ATTACKER:
        add_target(state, link, state.attacker)
    elif effect.aim == AIM_EVENT_CARDS:
        for k in range(link.event.count):
            add_target(state, link, link.event.cards[k])
    elif effect.aim == AIM_PRESENT:
        link.value = state.stamps  # cards that arrive later have higher stamps
    elif effect.aim == AIM_BATTLED:
        add_target(state, link, foe_of(state, link.card))


@rule
def would_destroy(state, link, effect):
    """Whether a link would destroy a card on the field; negating the activation of a card does not count."""
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
    return effect.destroys != 0 and (effect.target_where == 0 or link.count > 0)
