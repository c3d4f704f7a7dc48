"""The conditions of effects, as the tables name them."""

from ludus.games.duel.cards import creature_swap, flute_of_summoning_dragon
from ludus.games.duel.filters import count_matching
from ludus.games.duel.materials import can_fuse, can_ritual
from ludus.games.duel.state import (
    BATTLE_LOST, BY_BATTLE, BY_EFFECT, DECK_PILE, HAND_PILE, LINK_ACTIVATION, NOBODY, SHOWN_NOW, TRIBUTE_SUMMONED,
)  # fmt: skip
from ludus.games.duel.tables import CARDS, EFFECTS
from ludus.games.duel.tables.words import (
    ALWAYS, ANY_SUMMON, ATTACKED_FACE_DOWN, ATTACKS_FACE_DOWN, ATTACK_BY_ANYONE, ATTACK_BY_OTHER, ATTACK_TO_DEFENSE,
    BATTLES_A_MONSTER, CARDS_IN_DECK, CHAINING, DAMAGE_TO_OTHER, DEFENSE_TO_ATTACK, DESTROYED_AS_ATTACKER,
    DESTROYED_BY_BATTLE_OR_EFFECT, DESTROYED_TO_GRAVE, DESTROY_EVENT_CARDS, DIRECT_DAMAGE_TO_OTHER, EXISTS,
    FREE_MONSTER_ZONES, FROM_FIELD, FROM_HAND, FUSION_POSSIBLE, GRAVE, HAND, IN_ATTACK, IN_DEFENSE, IN_GRAVE,
    IN_THIS_BATTLE, LORD_OF_D, NORMAL_SPELL_ACTIVATED, NOT_ATTACKED_YET, NOT_EQUIPPED_YET, NO_MATERIAL, ON_FIELD,
    OTHERS_FACE_DOWN, OTHERS_STANDBY, OTHERS_TURN, OTHERS_TURN_WOULD_TAKE_DAMAGE, OTHER_HAS_HAND, OWN_STANDBY,
    RITUAL_POSSIBLE, SOMEONE_HAS_HAND, SPELL, SPELL_ACTIVATED, SPELL_OR_TRAP_ACTIVATED, SUMMONED_THIS_TURN,
    SUMMON_BY_OTHER, SWAP_POSSIBLE, TARGETS_OWN_CARD, TRAP, TRAP_ACTIVATED, TRIBUTED, UP_ATTACK, UP_DEFENSE,
    USED_THIS_TURN, WAS_ATTACKED_BY_SURVIVOR, WOULD_DESTROY,
)  # fmt: skip
from ludus.games.duel.values import equip_of
from ludus.games.duel.zones import count_bits, foe_of, free_monster_zones, free_spell_zones, is_up
from ludus.dsl import rule


@rule
def holds(state, link):
    """Whether the condition of a link's effect is met."""
    effect = EFFECTS[link.effect]
    which = effect.when
    if which == ALWAYS:
        return True
    if which == EXISTS:
        return (
            count_matching(state, effect.seen_where, effect.seen, link.card, link.player, False) >= effect.seen_fewest
        )
    if which <= DESTROYED_TO_GRAVE:
        return fate(state, link, which)
    if which <= ANY_SUMMON:
        return moment(state, link, which)
    if which <= TARGETS_OWN_CARD:
        return answers(state, link, which)
    return situation(state, link, effect)


@rule
def fate(state, link, which):
    """Conditions on the card itself."""
    c = link.card
    card = state.cards[c]
    if which == FROM_FIELD:
        return card.was_place & ON_FIELD != 0 and card.place == GRAVE
    if which == FROM_HAND:
        return card.was_place == HAND and card.place == GRAVE
    if which == TRIBUTED:
        return card.status & TRIBUTE_SUMMONED != 0
    if which == IN_GRAVE:
        return card.place == GRAVE and card.reason & BY_BATTLE != 0
    if which == DAMAGE_TO_OTHER:
        return link.event.player != link.player
    if which == DIRECT_DAMAGE_TO_OTHER:
        return link.event.player != link.player and state.attack_target == NOBODY
    if which == ATTACK_TO_DEFENSE:
        return card.was_position & IN_ATTACK != 0 and card.position == UP_DEFENSE
    if which == DEFENSE_TO_ATTACK:
        return card.was_position & IN_DEFENSE != 0 and card.position == UP_ATTACK
    if which == WAS_ATTACKED_BY_SURVIVOR:
        return state.attack_target == c and state.cards[state.attacker].status & BATTLE_LOST == 0
    if which == BATTLES_A_MONSTER:
        return state.attack_target != NOBODY and (c == state.attacker or c == state.attack_target)
    if which == ATTACKS_FACE_DOWN:
        return state.attacker == c and state.attack_target != NOBODY and not is_up(state, state.attack_target)
    if which == ATTACKED_FACE_DOWN:
        return state.attack_target == c and state.target_was_down == 1
    foe = foe_of(state, c)
    if foe == NOBODY:
        return False
    beaten = state.cards[foe]
    if which == DESTROYED_AS_ATTACKER:
        return c == state.attacker and beaten.reason & BY_BATTLE != 0
    return beaten.place == GRAVE and beaten.reason & BY_BATTLE != 0


@rule
def moment(state, link, which):
    """Conditions on the current event."""
    c = link.card
    player = link.player
    if which == OTHERS_TURN_WOULD_TAKE_DAMAGE:
        return state.turn_player != player and state.battle_damage[player] > 0
    if which == IN_THIS_BATTLE:
        return c == state.attacker or c == state.attack_target
    if which == OWN_STANDBY:
        return state.turn_player == player
    if which == OTHERS_STANDBY:
        return state.turn_player != player
    if which == SUMMONED_THIS_TURN:
        return state.cards[c].status & SHOWN_NOW != 0
    if which == USED_THIS_TURN:
        return state.cards[c].lasting == state.turn + 1
    if which == ATTACK_BY_OTHER:
        return state.turn_player != player
    if which == ATTACK_BY_ANYONE:
        return True
    if which == NO_MATERIAL:
        return state.cards[c].overlays == 0
    if which == SUMMON_BY_OTHER:
        return link.event.player != player
    return True


@rule
def answers(state, link, which):
    """Conditions on the newest link of the chain."""
    if link.event.code != CHAINING:
        return link.event.code != 0
    if state.links == 0:
        return False
    last = state.chain[state.links - 1]
    types = CARDS[last.code].types
    activation = last.flags & LINK_ACTIVATION != 0
    if which == SPELL_ACTIVATED:
        return activation and types & SPELL != 0
    if which == TRAP_ACTIVATED:
        return activation and types & TRAP != 0
    if which == SPELL_OR_TRAP_ACTIVATED:
        return activation and types & (SPELL | TRAP) != 0
    if which == NORMAL_SPELL_ACTIVATED:
        return activation and types == SPELL
    if which == WOULD_DESTROY:
        return last.extra > 0
    if EFFECTS[last.effect].do == DESTROY_EVENT_CARDS:
        return False  # its cards are not chosen as targets
    return last.player != link.player and targets_card_of(state, last, link.player)


@rule
def targets_card_of(state, link, player):
    for k in range(link.count):
        card = state.cards[link.targets[k]]
        if card.stamp == link.stamps[k] and card.place & ON_FIELD and card.controller == player:
            return True
    return False


@rule
def situation(state, link, effect):
    """Conditions on the position."""
    which = effect.when
    c = link.card
    player = link.player
    if which == OTHERS_TURN:
        return state.turn_player != player
    if which == CARDS_IN_DECK:
        return state.sizes[player, DECK_PILE] >= effect.when_a
    if which == OTHER_HAS_HAND:
        return state.sizes[1 - player, HAND_PILE] > 0
    if which == SOMEONE_HAS_HAND:
        return someone_has_hand(state, c, player)
    if which == FREE_MONSTER_ZONES:
        return count_bits(free_monster_zones(state, player)) >= effect.when_a
    if which == LORD_OF_D:
        return (
            flute_of_summoning_dragon.lord_is_there(state)
            and free_monster_zones(state, player) != 0
            and (count_matching(state, effect.seen_where, effect.seen, c, player, False) >= effect.seen_fewest)
        )
    if which == OTHERS_FACE_DOWN:
        return others_face_down(state, player)
    if which == NOT_EQUIPPED_YET:
        return equip_of(state, c) == NOBODY and free_spell_zones(state, player) != 0
    if which == FUSION_POSSIBLE:
        return can_fuse(state, player, c)
    if which == RITUAL_POSSIBLE:
        return can_ritual(state, player, c)
    if which == SWAP_POSSIBLE:
        return creature_swap.possible(state)
    if which == NOT_ATTACKED_YET:
        return state.cards[c].attacks == 0
    if which == DESTROYED_BY_BATTLE_OR_EFFECT:
        return state.cards[c].reason & (BY_BATTLE | BY_EFFECT) != 0 and state.cards[c].was_place & ON_FIELD != 0
    return True


@rule
def someone_has_hand(state, c, player):
    """Whether there is another card in a hand, and enough cards to draw."""
    own = state.sizes[player, HAND_PILE] - (1 if state.cards[c].place == HAND else 0)
    other = state.sizes[1 - player, HAND_PILE]
    return own + other > 0 and state.sizes[player, DECK_PILE] >= own


@rule
def others_face_down(state, player):
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and not is_up(state, c):
            return True
    for zone in range(6):
        c = state.spells[1 - player, zone]
        if c != NOBODY and not is_up(state, c):
            return True
    return False
