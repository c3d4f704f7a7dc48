"""Whether a card or effect can be activated now: timing, condition, cost, and targets."""

from ludus.games.duel.cards import hooks, metamorphosis
from ludus.games.duel.cards.trap_negation import traps_stopped
from ludus.games.duel.conditions import holds
from ludus.games.duel.filters import can_release, can_special_summon, can_target, count_matching
from ludus.games.duel.state import (
    BATTLE_LOST, BEING_SUMMONED, CANNOT_ATTACK, DAMAGE_CALCULATION, DAMAGE_STEP, ENABLED, HAND_PILE, LINK_ACTIVATION,
    MAIN_1, MAIN_2, NOBODY, SET_NOW,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    ACTIVATE, ADD_COUNTER, AIM_ATTACKER, ALWAYS_IN_DAMAGE_STEP, BANISH_BATTLERS, BEFORE_CALCULATION, CHAINING,
    DESTROY_ALL, DETACH, DISCARD, GIVE_UP_ATTACK, GIVE_UP_SUMMONS, GOYO, HAND, MAY_TRIGGER, MONSTER, MONSTERS, MZONE,
    NEGATE_SUMMON, NO_COST, OFTEN, ONCE_A_BATTLE, ONCE_A_TURN, ONCE_BY_NAME, ONCE_BY_NAME_GIVEN_BACK, PAY, QUICKPLAY,
    RECRUIT, REMOVE_COUNTER, REVIVE, REVIVE_BOUND, REVIVE_EQUIPPED, REVIVE_NEGATED, REVIVE_SELF, SNATCH, SOLEMN,
    SUMMON_FROM_HAND, SUMMON_LINKED, SZONE, TAKE_CONTROL, TRAP, TRIBUTE, TRIBUTE_FOR_FUSION, TRIBUTE_LINKED,
    TRIBUTE_SELF, TRIGGER, UP, UP_DEFENSE,
)  # fmt: skip
from ludus.games.duel.zones import can_place_spell, foe_of, free_monster_zones, is_up, pointed_at
from ludus.dsl import rule


@rule
def try_link(state, number, c, player):
    """Fill the trial link with an effect; the caller sets its event."""
    card = state.cards[c]
    trial = state.trial
    trial.card = c
    trial.code = card.code
    trial.effect = number
    trial.player = player
    trial.controller = card.controller
    trial.place = card.place
    trial.sequence = card.sequence
    trial.stamp = card.stamp
    trial.flags = LINK_ACTIVATION if EFFECTS[number].kind == ACTIVATE else 0
    trial.count = 0
    trial.value = 0
    trial.extra = 0


@rule
def no_event(link):
    link.event.code = 0
    link.event.player = 0
    link.event.count = 0


@rule
def can_use(state, link):
    """Whether a link may be activated; location and spell speed are checked elsewhere."""
    effect = EFFECTS[link.effect]
    return (
        in_time(state, effect)
        and not used_up(state, effect, link)
        and not is_sealed(state, link.code, link.player)
        and holds(state, link)
        and can_pay(state, effect, link.card, link.player)
        and (effect.kind == TRIGGER or possible(state, link, effect))
    )


@rule
def in_time(state, effect):
    """Whether an effect may be used in the current part of the damage step; outside of it, True."""
    if effect.kind == TRIGGER or effect.kind == MAY_TRIGGER:
        return True
    if state.phase == DAMAGE_STEP:
        if effect.in_damage_step == BEFORE_CALCULATION:
            return state.calculated == 0
        return effect.in_damage_step == ALWAYS_IN_DAMAGE_STEP
    if state.phase == DAMAGE_CALCULATION:
        return effect.in_damage_step >= ALWAYS_IN_DAMAGE_STEP
    return True


@rule
def used_up(state, effect, link):
    if effect.once == OFTEN:
        return False
    if effect.once == ONCE_A_TURN or effect.once == ONCE_A_BATTLE:
        return state.cards[link.card].used >> effect.number & 1 == 1
    return was_named(state, link.effect, link.player)


@rule
def was_named(state, number, player):
    """Whether an effect that is limited by name was used this turn; copies of a card share the limit."""
    for k in range(state.named_count[player]):
        if state.named[player, k] == number:
            return True
    return False


@rule
def count_use(state, link):
    """Count an effect as used."""
    effect = EFFECTS[link.effect]
    if effect.once == ONCE_A_TURN or effect.once == ONCE_A_BATTLE:
        state.cards[link.card].used |= 1 << effect.number
    elif effect.once == ONCE_BY_NAME or effect.once == ONCE_BY_NAME_GIVEN_BACK:
        if state.named_count[link.player] < 16:
            state.named[link.player, state.named_count[link.player]] = link.effect
            state.named_count[link.player] += 1


@rule
def give_back(state, link):
    """Undo the restrictions and the count of use of a negated activation."""
    player = link.player
    cost = EFFECTS[link.effect].cost
    if cost == GIVE_UP_SUMMONS:
        state.no_summons[player] = 0
    elif cost == GIVE_UP_ATTACK:
        state.cards[link.card].status &= ~CANNOT_ATTACK
    if EFFECTS[link.effect].once != ONCE_BY_NAME_GIVEN_BACK:
        return
    for k in range(state.named_count[player]):
        if state.named[player, k] == link.effect:
            state.named_count[player] -= 1
            state.named[player, k] = state.named[player, state.named_count[player]]
            return


@rule
def is_sealed(state, code, player):
    """Whether a player may not use cards of this name this turn."""
    for k in range(state.sealed_count[player]):
        if state.sealed[player, k] == code:
            return True
    return False


@rule
def can_play_card(state, c, player, speed):
    """Whether a spell or trap can be activated from its location, with its spell speed."""
    card = state.cards[c]
    types = CARDS[card.code].types
    if card.controller != player:
        return False
    if card.place == HAND:
        if types & TRAP or state.turn_player != player or not can_place_spell(state, c, player):
            return False
    elif card.place == SZONE:
        if is_up(state, c) or types & MONSTER or (card.status & SET_NOW and types & (TRAP | QUICKPLAY)):
            return False
    else:
        return False
    if types & TRAP and traps_stopped(state):
        return False
    if speed == 1:
        return state.turn_player == player and state.links == 0 and (state.phase == MAIN_1 or state.phase == MAIN_2)
    return True


@rule
def fast_enough(state, number, player):
    """Whether the spell speed is high enough to respond to the newest link."""
    speed = EFFECTS[number].speed
    if state.links == 0:
        return True
    last = EFFECTS[state.chain[state.links - 1].effect]
    return speed >= 2 and speed >= last.speed


@rule
def lies_in_range(state, number, c, player):
    """Whether an effect can be used from its card's location."""
    effect = EFFECTS[number]
    card = state.cards[c]
    if card.place & effect.where == 0 or card.controller != player:
        return False
    if card.place == MZONE and (
        card.position & UP == 0 or card.status & (BATTLE_LOST | BEING_SUMMONED) or card.status & ENABLED == 0
    ):
        return False
    return True


@rule
def releasable(state, player):
    """How many monsters a player can tribute as a cost."""
    count = 0
    for zone in range(7):
        count += can_release(state, state.monsters[player, zone])
    return count


@rule
def can_pay(state, effect, c, player):
    cost = effect.cost
    if cost == NO_COST:
        return True
    card = state.cards[c]
    if cost == PAY:
        return state.life[player] >= effect.cost_a
    if cost == DISCARD:
        return state.sizes[player, HAND_PILE] - (1 if card.place == HAND else 0) >= effect.cost_a
    if cost == TRIBUTE:
        return releasable(state, player) >= effect.cost_a
    if cost == DETACH:
        return card.overlays >= effect.cost_a
    if cost == REMOVE_COUNTER:
        return card.counters >= effect.cost_a
    if cost == GIVE_UP_ATTACK:
        return card.attacks == 0
    if cost == TRIBUTE_LINKED:
        return linked_tributes(state, c, player) > 0
    if cost == TRIBUTE_FOR_FUSION:
        return metamorphosis.fusion_tributes(state, player) > 0
    if cost == GIVE_UP_SUMMONS:
        return state.summoned_any[player] == 0
    return True


@rule
def linked_tributes(state, c, player):
    """How many tributable monsters of a player a Link monster points to."""
    seen = pointed_at(state, c)
    count = 0
    for zone in range(7):
        if seen >> zone & 1 and can_release(state, state.monsters[player, zone]):
            count += 1
    return count


@rule
def possible(state, link, effect):
    """Whether there are enough targets, and zones for summons."""
    c = link.card
    player = link.player
    if effect.target_where:
        found = count_matching(state, effect.target_where, effect.target, c, player, True)
        if effect.cost == TRIBUTE_SELF and effect.target_where & MONSTERS:
            found -= 1
        if found < effect.fewest:
            return False
    do = effect.do
    if do == NEGATE_SUMMON or (do == SOLEMN and link.event.code != CHAINING):
        return state.links == 0
    if (
        do == REVIVE
        or do == REVIVE_NEGATED
        or do == REVIVE_EQUIPPED
        or do == REVIVE_BOUND
        or do == RECRUIT
        or do == SUMMON_FROM_HAND
    ):
        return free_monster_zones(state, player) != 0 and not state.no_summons[player]
    if do == REVIVE_SELF:
        return free_monster_zones(state, player) != 0 and can_special_summon(state, c, player, UP)
    if do == GOYO:
        return free_monster_zones(state, player) != 0 and can_special_summon(
            state, foe_of(state, c), player, UP_DEFENSE
        )
    if do == SUMMON_LINKED:
        return free_monster_zones(state, player) & pointed_at(state, c) != 0 and not state.no_summons[player]
    if do == TAKE_CONTROL or do == SNATCH:
        return free_monster_zones(state, player) != 0
    if effect.aim == AIM_ATTACKER:
        return state.cards[state.attacker].place == MZONE and can_target(state, state.attacker)
    if do == DESTROY_ALL:
        return count_matching(state, effect.a, effect.which, c, player, False) > 0
    if do == ADD_COUNTER:
        return state.cards[c].counters == 0
    if do == BANISH_BATTLERS:
        return state.attack_target != NOBODY
    return hooks.possible(state, link, effect)
