"""What effects do when they resolve: life points, positions, attack and defense."""

from ludus.games.duel.card_moves import heal, hurt
from ludus.games.duel.filters import count_matching
from ludus.games.duel.operations_targets import first_target, is_same, send_itself
from ludus.games.duel.processes import change_position
from ludus.games.duel.randomness import roll_die
from ludus.games.duel.state import NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    ADD_COUNTER, ATTACK_AGAIN, DAMAGE, DAMAGE_BOTH, DAMAGE_PER, DICE, DOWN_DEFENSE, HAND, IN_DEFENSE, LILY, LINK, MZONE,
    NO_BATTLE_DAMAGE, OWN_MONSTERS, RAISE_ATTACK, RAISE_DEFENSE, RECOVER, SNATCH_RECOVER, SPIRIT_RETURN,
    SWAP_BASE_VALUES, TO_ATTACK, TO_DEFENSE, TURN_DOWN, UP, UP_ATTACK, UP_DEFENSE, WABOKU,
)  # fmt: skip
from ludus.games.duel.zones import is_up
from ludus.dsl import rule


@rule
def change_life(state, link, effect):
    """Damage and recovery."""
    do = effect.do
    player = link.player
    if do == DAMAGE:
        hurt(state, 1 - player, effect.a)
    elif do == DAMAGE_BOTH:
        hurt(state, 1 - player, effect.a)
        hurt(state, player, effect.b)
    elif do == RECOVER:
        heal(state, player, effect.a)
    elif do == SNATCH_RECOVER:
        heal(state, 1 - player, 1000)
    elif do == DAMAGE_PER:
        hurt(state, 1 - player, effect.a * count_matching(state, effect.b, 0, link.card, player, False))


@rule
def change_itself(state, link, do, player):
    """Effects on the card itself, or on its player in a battle."""
    if do == ADD_COUNTER:
        if is_same(state, link) and is_up(state, link.card):
            state.cards[link.card].counters += 1
    elif do == NO_BATTLE_DAMAGE:
        state.no_damage[player] = 1
    elif do == ATTACK_AGAIN:
        if is_same(state, link):
            state.chain_attack = link.card
    elif do == SPIRIT_RETURN:
        send_itself(state, link, HAND, player)
    elif do == LILY:
        if is_same(state, link):
            state.cards[link.card].calculation_up += 3000


@rule
def change_field(state, link, effect):
    """Positions and values of monsters, and protection of a player for a turn."""
    do = effect.do
    player = link.player
    if do == TURN_DOWN or do == TO_DEFENSE or do == TO_ATTACK:
        turn_target(state, link, do, player)
    elif do == RAISE_ATTACK or do == RAISE_DEFENSE:
        raise_target(state, link, effect)
    elif do == DICE:
        roll(state, effect, player)
    elif do == SWAP_BASE_VALUES:
        swap_values(state, link)
    elif do == WABOKU:
        state.waboku[player] = 1


@rule
def turn_target(state, link, do, player):
    c = first_target(state, link)
    if c == NOBODY or state.cards[c].place != MZONE:
        return
    position = state.cards[c].position
    if do == TURN_DOWN:
        if position & UP:
            change_position(state, c, DOWN_DEFENSE, player)
    elif do == TO_DEFENSE:
        if position == UP_ATTACK:
            change_position(state, c, UP_DEFENSE, player)
    elif position & IN_DEFENSE:
        change_position(state, c, UP_ATTACK, player)


@rule
def raise_target(state, link, effect):
    c = first_target(state, link)
    if c == NOBODY or not is_up(state, c) or state.cards[c].place != MZONE:
        return
    if effect.do == RAISE_ATTACK:
        state.cards[c].attack_up += effect.a
    else:
        state.cards[c].defense_up += effect.a


@rule
def roll(state, effect, player):
    """Change all monsters of one side by 100 times a die roll."""
    amount = effect.a * 100 * roll_die(state)
    side = player if effect.b == OWN_MONSTERS else 1 - player
    for zone in range(7):
        c = state.monsters[side, zone]
        if c != NOBODY and is_up(state, c):
            state.cards[c].attack_up += amount
            state.cards[c].defense_up += amount


@rule
def swap_values(state, link):
    """Swap the original attack and defense of monsters that were face-up at the activation."""
    for side in range(2):
        for zone in range(7):
            c = state.monsters[side, zone]
            if c == NOBODY or state.cards[c].stamp > link.value or state.cards[c].enabled_at > link.value:
                continue
            if is_up(state, c) and CARDS[state.cards[c].code].types & LINK == 0:
                state.cards[c].swapped = 1 - state.cards[c].swapped
