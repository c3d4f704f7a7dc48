"""Whether a card or effect can be activated now: its time, its condition, its cost, and something for it to do."""

from ludus.games.duel.conditions import holds
from ludus.games.duel.filters import can_special_summon, can_target, count_matching
from ludus.games.duel.state import (
    BATTLE_LOST, BEING_SUMMONED, CANNOT_ATTACK, DAMAGE_CALCULATION, DAMAGE_STEP, DECK_PILE, ENABLED, EXTRA_PILE,
    HAND_PILE, LINK_ACTIVATION, MAIN_1, MAIN_2, NOBODY, SET_NOW,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    ACTIVATE, ADD_COUNTER, ALWAYS_IN_DAMAGE_STEP, BANISH_BATTLERS, BEFORE_CALCULATION, BOTTOMLESS, CHAINING,
    CYLINDER, DESTROY_ALL, DESTROY_ATTACKER, DESTROY_THREE, DETACH, DISCARD, DON_ZALOOG, DRAINING,
    ENEMY_CONTROLLER, FUSION, GIVE_UP_ATTACK, GIVE_UP_SUMMONS, GOYO, HAND, LINK, MAY_TRIGGER, MONSTER, MONSTERS,
    MZONE, NEGATE_ATTACK, NEGATE_ATTACK_AND_END, NEGATE_SUMMON, NO_COST, OFTEN, ONCE_A_BATTLE, ONCE_A_TURN,
    ONCE_BY_NAME, ONCE_BY_NAME_GIVEN_BACK, OTHER_MONSTERS, PAY, QUICKPLAY, RECRUIT, REMOVE_COUNTER, REVIVE,
    REVIVE_BOUND, REVIVE_EQUIPPED, REVIVE_NEGATED, REVIVE_SELF, RING, RUIN, SNATCH, SOLEMN, SUMMON_FROM_HAND,
    SUMMON_LINKED, SZONE, TAKE_CONTROL, TOKENS, TRAP, TRAP_HOLE, TRIBUTE, TRIBUTE_FOR_FUSION, TRIBUTE_LINKED,
    TRIBUTE_SELF, TRIGGER, UP, UP_ATTACK, UP_DEFENSE,
)  # fmt: skip
from ludus.games.duel.values import attack, level, has_level, traps_stopped
from ludus.games.duel.zones import can_place_spell, count_bits, extra_zones_for, free_monster_zones, is_up, pointed_at
from ludus.words import rule


@rule
def try_link(state, number, c, player):
    """Put an effect on trial: what it would be as a link of the chain. Its event is filled in by whoever calls."""
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
    """Whether a link may be activated, its place and speed apart."""
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
    """Most effects rest during the damage step."""
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
    """Whether an effect that is used once a turn by name was used; copies of a card share it."""
    for k in range(state.named_count[player]):
        if state.named[player, k] == number:
            return True
    return False


@rule
def count_use(state, link):
    """The effect counts as used."""
    effect = EFFECTS[link.effect]
    if effect.once == ONCE_A_TURN or effect.once == ONCE_A_BATTLE:
        state.cards[link.card].used |= 1 << effect.number
    elif effect.once == ONCE_BY_NAME or effect.once == ONCE_BY_NAME_GIVEN_BACK:
        if state.named_count[link.player] < 16:
            state.named[link.player, state.named_count[link.player]] = link.effect
            state.named_count[link.player] += 1


@rule
def give_back(state, link):
    """A negated activation does not count, and what was given up for it is not."""
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
    """Whether a player may not use cards of this name for the rest of the turn."""
    for k in range(state.sealed_count[player]):
        if state.sealed[player, k] == code:
            return True
    return False


@rule
def can_play_card(state, c, player, speed):
    """Whether a spell or trap lies where it can be played from now; a chain asks for speed."""
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
    """A link must be at least as fast as the one it answers, and never slow."""
    speed = EFFECTS[number].speed
    if state.links == 0:
        return True
    last = EFFECTS[state.chain[state.links - 1].effect]
    return speed >= 2 and speed >= last.speed


@rule
def lies_in_range(state, number, c, player):
    """Whether a monster's effect, or one of the graveyard, can be used from where its card lies."""
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
    """Own monsters that can be tributed as a cost."""
    count = 0
    for zone in range(7):
        count += can_release(state, state.monsters[player, zone])
    return count


@rule
def can_release(state, c):
    return c != NOBODY and state.cards[c].status & (BATTLE_LOST | BEING_SUMMONED) == 0


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
        return fusion_tributes(state, player) > 0
    if cost == GIVE_UP_SUMMONS:
        return state.summoned_any[player] == 0
    return True


@rule
def linked_tributes(state, c, player):
    """Own monsters that a Link monster points to."""
    seen = pointed_at(state, c)
    count = 0
    for zone in range(7):
        if seen >> zone & 1 and can_release(state, state.monsters[player, zone]):
            count += 1
    return count


@rule
def fusion_tributes(state, player):
    """Own monsters for which there is a fusion monster of the same level."""
    count = 0
    for zone in range(7):
        count += can_become_fusion(state, state.monsters[player, zone], player)
    return count


@rule
def can_become_fusion(state, c, player):
    if c == NOBODY or not can_release(state, c) or not has_level(state, c) or state.no_summons[player]:
        return False
    freed = 1 << state.cards[c].sequence if state.cards[c].sequence < 5 else 0
    if (
        free_monster_zones(state, player) | freed == 0
        and extra_zones_for(state, FUSION, player, 0) == 0
        and state.cards[c].sequence < 5
    ):
        return False
    for k in range(state.sizes[player, EXTRA_PILE]):
        f = state.piles[player, EXTRA_PILE, k]
        row = CARDS[state.cards[f].code]
        if row.types & FUSION and row.level == level(state, c):
            return True
    return False


@rule
def possible(state, link, effect):
    """Whether there is something to target, and room for what would come."""
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
        foe = state.attack_target if c == state.attacker else state.attacker
        return free_monster_zones(state, player) != 0 and can_special_summon(state, foe, player, UP_DEFENSE)
    if do == SUMMON_LINKED:
        return free_monster_zones(state, player) & pointed_at(state, c) != 0 and not state.no_summons[player]
    if do == TOKENS:
        return count_bits(free_monster_zones(state, player)) >= 4 and not state.no_summons[player]
    if do == TAKE_CONTROL or do == SNATCH:
        return free_monster_zones(state, player) != 0
    if do == TRAP_HOLE:
        return falls(state, link.event.cards[0], player)
    if do == BOTTOMLESS:
        for k in range(link.event.count):
            if sinks(state, link.event.cards[k], player):
                return True
        return False
    if do == DESTROY_ATTACKER or do == CYLINDER or do == NEGATE_ATTACK or do == NEGATE_ATTACK_AND_END or do == DRAINING:
        return state.cards[state.attacker].place == MZONE and can_target(state, state.attacker)
    if do == ENEMY_CONTROLLER:
        return can_turn_enemy(state, player) or can_take_enemy(state, player)
    if do == DON_ZALOOG:
        return state.sizes[1 - player, HAND_PILE] > 0 or state.sizes[1 - player, DECK_PILE] >= 2
    if do == DESTROY_THREE:
        return count_matching(state, OTHER_MONSTERS, 0, c, player, True) >= 1
    if do == DESTROY_ALL:
        return count_matching(state, effect.a, effect.which, c, player, False) > 0
    if do == RUIN:
        return state.cards[state.attacker].controller != player and has_attacker(state, 1 - player)
    if do == RING:
        return count_ring(state, player) > 0
    if do == ADD_COUNTER:
        return state.cards[c].counters == 0
    if do == BANISH_BATTLERS:
        return state.attack_target != NOBODY
    return True


@rule
def can_turn_enemy(state, player):
    """Whether a monster of the other player could be put into another position."""
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and is_up(state, c) and CARDS[state.cards[c].code].types & LINK == 0 and can_target(state, c):
            return True
    return False


@rule
def can_take_enemy(state, player):
    """Whether a monster could be tributed to take one of the other player's, with a zone for it."""
    frees = free_monster_zones(state, player) != 0
    releases = False
    for zone in range(7):
        if can_release(state, state.monsters[player, zone]):
            releases = True
            frees = frees or zone < 5
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and is_up(state, c) and can_target(state, c):
            return releases and frees
    return False


@rule
def has_attacker(state, player):
    """Whether a player has a monster in face-up attack position."""
    for zone in range(7):
        c = state.monsters[player, zone]
        if c != NOBODY and state.cards[c].position == UP_ATTACK:
            return True
    return False


@rule
def falls(state, c, player):
    """Whether a trap hole would take a monster that was just summoned."""
    card = state.cards[c]
    return card.place == MZONE and is_up(state, c) and attack(state, c) >= 1000 and can_target(state, c)


@rule
def sinks(state, c, player):
    card = state.cards[c]
    return card.place == MZONE and is_up(state, c) and attack(state, c) >= 1500


@rule
def count_ring(state, player):
    """Face-up monsters of the other player whose attack is not above that player's life."""
    count = 0
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and is_up(state, c) and attack(state, c) <= state.life[1 - player] and can_target(state, c):
            count += 1
    return count
