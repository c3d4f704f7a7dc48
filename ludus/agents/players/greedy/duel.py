"""The duel, greedily: the strongest summon, attacks that win their battle, and cards with an immediate benefit.

It reads only the observation, so it has no hidden information and works in every engine with the same observation.
Every action gets points; the first action with the most points is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ludus.agents.protocol import Key, Memory, Params, PoolAgent
from ludus.dsl import kernel, rule
from ludus.games.duel import action_features as act
from ludus.games.duel import observation as see
from ludus.games.duel.tables import ROWS
from ludus.games.duel.tables import words as w
from ludus.pool.protocol import AnyPool
from ludus.types import Array, Decision, Step

TRAP, QUICKPLAY, FLIP = 2, 14, 19
"""columns relative to the first type"""
IDLE, CHAIN, CARD, TRIBUTE, POSITION, EFFECT_YESNO, YESNO, BATTLE, UNSELECT, OPTION, PLACE, SUM = range(1, 13)
"""kinds of questions"""
UNKNOWN, GAINS, HITS_MONSTER, HITS_SPELL, HITS_MONSTERS, HITS_SPELLS, TAKES, HELPS, ANSWERS, COUNTERS, NEVER = range(11)
"""uses of a card: an immediate benefit; against a monster, a spell, all monsters, all spells; taking a monster; making
an own monster stronger; answering attacks and summons; answering cards; never used"""
UNSEEN_DEFENSE, UNSEEN_VALUE, SPELL_VALUE = 1400, 1300, 1200
"""assumed defense and value of a face-down card, and value of a spell or trap compared with monsters"""
MASKED = (2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 25)
"""number of columns of a card that each column of `mask_` covers"""
NO_MONSTER, WEAK, STRONG = -1, 1200, 1500

_GAINS = {
    w.DRAW, w.UPSTART, w.CHARITY, w.DUO, w.SEARCH, w.SEARCH_AND_BAN, w.ADD_COPIES, w.DAMAGE, w.RECOVER, w.DAMAGE_PER,
    w.DISCARD_RANDOM, w.DON_ZALOOG, w.THESTALOS, w.RECRUIT, w.GERM, w.MOMONGA, w.SUMMON_FROM_HAND, w.SUMMON_LINKED,
    w.REVIVE, w.REVIVE_NEGATED, w.REVIVE_EQUIPPED, w.REVIVE_BOUND, w.REVIVE_SELF, w.GOYO, w.TOKENS, w.FUSE,
    w.RITUAL_SUMMON, w.FLUTE, w.SWORDS, w.ADD_COUNTER, w.SERPENT, w.TO_DECK_TOP, w.STARDUST, w.ATTACK_AGAIN,
}  # fmt: skip
_CLASSES = {
    **dict.fromkeys(_GAINS, GAINS),
    **dict.fromkeys((w.DESTROY_WEAKEST, w.DESTROY_HIGHEST_DEFENSE, w.DESTROY_STRONGEST_ATTACKER), HITS_MONSTER),
    **dict.fromkeys((w.NOBLEMAN, w.RING, w.BANISH_BATTLERS, w.TURN_DOWN, w.EQUIP_TARGET), HITS_MONSTER),
    **dict.fromkeys((w.TAKE_CONTROL, w.SNATCH, w.ENEMY_CONTROLLER), TAKES),
    **dict.fromkeys((w.EQUIP_CARD, w.RAISE_ATTACK, w.RAISE_DEFENSE, w.LILY), HELPS),
    **dict.fromkeys((w.WABOKU, w.NO_BATTLE_DAMAGE), ANSWERS),
    **dict.fromkeys((w.SWAP_CONTROL, w.SWAP_BASE_VALUES, w.CARD_DESTRUCTION, w.METAMORPHOSIS), NEVER),
}


def _class_of(effect: w.Effect) -> int:
    """The use of an effect, by its operation and the location of its targets."""
    do, where = effect.do[0], effect.target.where
    if effect.kind in (w.ACTIVATE, w.QUICK) and not effect.on & w.FREE:
        return COUNTERS if effect.on & w.CHAINING else ANSWERS
    if do in (w.DESTROY_TARGETS, w.TO_HAND_TARGETS, w.BANISH_TARGETS, w.DESTROY_IF_TYPE, w.DESTROY_IF_DOWN):
        if not where & (w.OTHER_MONSTERS | w.OTHER_SPELLS):
            return GAINS if where & w.OWN_GRAVE else UNKNOWN
        return HITS_MONSTER if where & w.OTHER_MONSTERS else HITS_SPELL
    if do in (w.DESTROY_ALL, w.RETURN_ALL, w.DESTROY_ALL_OTHERS):
        where = effect.do[1] if len(effect.do) > 1 else w.MONSTERS
        return HITS_MONSTERS if where & w.MONSTERS else HITS_SPELLS
    if do == w.DUST_TORNADO:
        return HITS_SPELL
    return _CLASSES.get(do, UNKNOWN)


def _class_of_card(card: w.Card) -> int:
    found = [_class_of(effect) for effect in card.effects]
    known = [each for each in found if each != UNKNOWN]
    if known:
        return known[0]
    return HELPS if card.types & (w.EQUIP | w.FIELD) else UNKNOWN


CLASSES = np.array([_class_of_card(card) for card in ROWS])


@rule
def class_at(code):
    """The use of a card; UNKNOWN for cards of other engines."""
    return CLASSES[code] if code < len(CLASSES) else UNKNOWN


@rule
def number(cards, n, row, column):
    """A 16-bit number in two columns."""
    return np.int64(cards[n, row, column]) * 256 + cards[n, row, column + 1]


@rule
def is_monster_at(cards, n, row, controller):
    lies = cards[n, row, see.LOCATION] == see.ON_MZONE and cards[n, row, see.IS_OVERLAY] == 0
    return lies and cards[n, row, see.CONTROLLER] == controller


@rule
def is_known(cards, n, row):
    return cards[n, row, see.ID_HIGH] != 0 or cards[n, row, see.ID_LOW] != 0


@rule
def strongest(cards, n, controller, attackers_only):
    """The highest attack of a side's face-up monsters, or NO_MONSTER."""
    best = NO_MONSTER
    for row in range(see.SHOWN):
        if is_monster_at(cards, n, row, controller) and is_known(cards, n, row):
            if cards[n, row, see.POSITION] == 1 or not attackers_only:
                best = max(best, number(cards, n, row, see.ATTACK))
    return best


@rule
def weakest(cards, n, count):
    """The total attack of the `count` weakest own monsters, which would be tributed."""
    first = 100_000
    second = 100_000
    for row in range(see.SHOWN):
        if is_monster_at(cards, n, row, 0):
            attack = number(cards, n, row, see.ATTACK)
            if attack < first:
                second = first
                first = attack
            elif attack < second:
                second = attack
    return first if count == 1 else first + second


@rule
def count_at(cards, n, controller, location):
    count = 0
    for row in range(see.SHOWN):
        if cards[n, row, see.LOCATION] == location and cards[n, row, see.CONTROLLER] == controller:
            count += cards[n, row, see.IS_OVERLAY] == 0
    return count


@rule
def gain_of_attack(cards, n, attack, target):
    """The gain of attacking a monster: positive if the attack wins, negative if it loses, 0 if both fall."""
    position = cards[n, target, see.POSITION]
    if not is_known(cards, n, target):
        return 200 if attack > UNSEEN_DEFENSE else -1
    against = number(cards, n, target, see.ATTACK if position == 1 else see.DEFENSE)
    if attack > against:
        return 500 + against + (attack - against if position == 1 else 0)
    return -1 if attack < against else 0


@rule
def best_gain(cards, n, attack):
    best = -1
    for row in range(see.SHOWN):
        if is_monster_at(cards, n, row, 1):
            best = max(best, gain_of_attack(cards, n, attack, row))
    return best


@rule
def points_of_card(cards, totals, n, code, answering):
    """The points for activating a card or its effect now."""
    kind = class_at(code)
    mine = np.int64(totals[n, 10])
    others = np.int64(totals[n, 17])
    if kind == GAINS:
        return 900
    if kind == HITS_MONSTER:
        return 850 if others else -1
    if kind == TAKES:
        return 880 if others else -1
    if kind == HITS_MONSTERS:
        theirs = strongest(cards, n, 1, False)
        worth_it = others > mine + 1 or (theirs >= STRONG and theirs > strongest(cards, n, 0, False))
        return 950 if worth_it else -1
    if kind == HITS_SPELL:
        return 840 if totals[n, 18] else -1
    if kind == HITS_SPELLS:
        return 840 if totals[n, 18] > totals[n, 11] else -1
    if kind == HELPS:
        return 300 if strongest(cards, n, 0, True) > NO_MONSTER and not answering else -1
    if kind == ANSWERS or kind == COUNTERS:
        # In one's own turn, the answer would mostly be to one's own attack, summon or card.
        return 200 if answering and totals[n, 7] == 0 else -1
    return -1 if kind == NEVER else -1 if answering else 120


@rule
def points_of_summon(cards, n, row, special):
    """The points for a face-up summon: high if the monster is not beaten at once and stronger than its tributes.

    Weak monsters and flip monsters get few points, because they are better set face-down.
    """
    attack = number(cards, n, row, see.ATTACK)
    level = cards[n, row, see.LEVEL]
    if special:
        return 700 + attack // 10 if attack >= 1500 or cards[n, row, see.LOCATION] == see.IN_HAND else 40
    given_up = 0
    if level >= 5:
        given_up = weakest(cards, n, 1 if level < 7 else 2)
    if attack <= given_up:
        return -1
    if attack < WEAK or cards[n, row, see.TYPES + FLIP]:
        return 30
    return 500 + attack // 10 if attack >= strongest(cards, n, 1, False) else 30


@rule
def points_of_set(cards, n, row):
    defense = number(cards, n, row, see.DEFENSE)
    return 310 + defense // 100 if cards[n, row, see.LEVEL] < 5 else -1


@rule
def points_of_turn(cards, n, row):
    """The points for changing a monster's position: to defense if it is in danger, to attack if it is strong enough."""
    attack = number(cards, n, row, see.ATTACK)
    danger = strongest(cards, n, 1, True)
    if cards[n, row, see.POSITION] == 1:
        return 320 if attack < danger and number(cards, n, row, see.DEFENSE) >= attack else -1
    return 600 if attack >= danger and attack >= number(cards, n, row, see.DEFENSE) // 2 else -1


@rule
def points_of_command(cards, totals, actions, n, k):
    """The points of an action in the main or battle phase."""
    kind = actions[n, k, act.ACT]
    row = np.int64(actions[n, k, act.SPEC]) - 1
    code = np.int64(actions[n, k, act.ID_HIGH]) * 256 + actions[n, k, act.ID_LOW]
    phase = actions[n, k, act.PHASE]
    if phase:
        return 100 if phase == act.TO_BATTLE_ID else 50 if phase == act.TO_MAIN_2_ID else 20
    if kind == act.ACTIVATE:
        return points_of_card(cards, totals, n, code, False)
    if kind == act.SET:
        return 250 if cards[n, row, see.TYPES + TRAP] or cards[n, row, see.TYPES + QUICKPLAY] else -1
    if kind == act.SUMMON or kind == act.SPECIAL_SUMMON:
        return points_of_summon(cards, n, row, kind == act.SPECIAL_SUMMON)
    if kind == act.SUMMON_DOWN:
        return points_of_set(cards, n, row)
    if kind == act.REPOSITION:
        return points_of_turn(cards, n, row)
    attack = number(cards, n, row, see.ATTACK)
    if kind == act.DIRECT_ATTACK:
        return 5000 + attack
    gain = best_gain(cards, n, attack)
    return 1000 + gain if gain > 0 else -1


@rule
def attack_of(cards, n, code):
    """The attack of the own monster in attack position with this code."""
    best = 0
    for row in range(see.SHOWN):
        if is_monster_at(cards, n, row, 0) and cards[n, row, see.POSITION] == 1:
            if np.int64(cards[n, row, see.ID_HIGH]) * 256 + cards[n, row, see.ID_LOW] == code:
                best = max(best, number(cards, n, row, see.ATTACK))
    return best


@rule
def value_of(cards, n, row):
    """The value of a card to its owner."""
    if not is_known(cards, n, row):
        return UNSEEN_VALUE
    return 1 + number(cards, n, row, see.ATTACK) if cards[n, row, see.TYPES] else SPELL_VALUE


@rule
def last_action(past, n):
    """The newest past action that was not only the choice of a card or a place."""
    for at in range(past.shape[1]):
        if past[n, at, act.ACT]:
            return at
    return 0


@rule
def points_of_pick(cards, actions, past, n, k):
    """The points for choosing a card; its purpose is inferred from the last action."""
    if actions[n, k, act.FINISH]:
        return 0
    row = np.int64(actions[n, k, act.SPEC]) - 1
    if row < 0:
        return -1
    question = actions[n, k, act.MESSAGE]
    newest = last_action(past, n)
    last = np.int64(past[n, newest, act.ID_HIGH]) * 256 + past[n, newest, act.ID_LOW]
    theirs = cards[n, row, see.CONTROLLER] == 1
    if question == CARD and past[n, newest, act.ACT] == act.ATTACK and theirs:
        return 1000 + gain_of_attack(cards, n, attack_of(cards, n, last), row)
    value = value_of(cards, n, row)
    if theirs:
        return 100 + value
    location = cards[n, row, see.LOCATION]
    given_up = location == see.IN_HAND or location == see.ON_MZONE or location == see.ON_SZONE
    if question == TRIBUTE or question == SUM or question == UNSELECT:
        return -value
    helped = past[n, newest, act.ACT] == act.ACTIVATE and class_at(last) == HELPS
    return -value if given_up and not helped else value


@rule
def points_of_position(cards, actions, n, k):
    """The points for a position: attack if the monster is at least as strong as all opponents, else defense."""
    code = np.int64(actions[n, k, act.ID_HIGH]) * 256 + actions[n, k, act.ID_LOW]
    known = code if code < len(CLASSES) else 0
    attack = np.int64(see.LOOKS[known, see.ATTACK]) * 256 + see.LOOKS[known, see.ATTACK + 1]
    stands = attack >= strongest(cards, n, 1, False)
    return 100 if (actions[n, k, act.POSITION_ID] == 1) == stands else 0


@rule
def has_answered(past, n):
    """Whether the newest action already was an answer to the same event."""
    code = np.int64(past[n, 0, act.ID_HIGH]) * 256 + past[n, 0, act.ID_LOW]
    just_now = past[n, 0, act.MESSAGE] == CHAIN and past[n, 0, act.AGE] == 0
    return just_now and (class_at(code) == ANSWERS or class_at(code) == COUNTERS)


@rule
def is_own_doing(past, n):
    """Whether the card to be answered is probably an own one: one was activated in this phase."""
    newest = last_action(past, n)
    return past[n, newest, act.ACT] == act.ACTIVATE and past[n, newest, act.AGE] == 0


@rule
def points(cards, totals, actions, past, n, k):
    question = actions[n, k, act.MESSAGE]
    if question == IDLE or question == BATTLE:
        return points_of_command(cards, totals, actions, n, k)
    if question == CHAIN or question == EFFECT_YESNO:
        if actions[n, k, act.ACT] != act.ACTIVATE:
            return 50
        code = np.int64(actions[n, k, act.ID_HIGH]) * 256 + actions[n, k, act.ID_LOW]
        if question == CHAIN and (has_answered(past, n) or (class_at(code) == COUNTERS and is_own_doing(past, n))):
            return 0
        return points_of_card(cards, totals, n, code, question == CHAIN)
    if question == CARD or question == TRIBUTE or question == UNSELECT or question == SUM:
        return points_of_pick(cards, actions, past, n, k)
    if question == POSITION:
        return points_of_position(cards, actions, n, k)
    return 0


@rule
def favourite(cards, totals, actions, past, n):
    """The action with the most points."""
    best = 0
    most = -1_000_000
    for k in range(actions.shape[1]):
        if actions[n, k, act.MESSAGE]:
            worth = points(cards, totals, actions, past, n, k)
            if worth > most:
                most = worth
                best = k
    return best


@kernel
def decide(cards, totals, actions, past, out):
    """The action with the most points in each row: [N, …] arrays of the observation to [N]."""
    for n in range(len(out)):
        out[n] = favourite(cards, totals, actions, past, n)


@kernel
def hide(cards, mask, out):
    """[N, …] cards without the columns that `mask` hides; an empty mask hides nothing."""
    for n in range(len(cards)):
        masked = mask[n].any()
        for row in range(cards.shape[1]):
            column = 0
            for group in range(len(MASKED)):
                for _ in range(MASKED[group]):
                    out[n, row, column] = cards[n, row, column] if mask[n, row, group] or not masked else 0
                    column += 1


def seen(observation: Mapping[str, Array]) -> Array:
    """The cards [N, …] without hidden information, which `oppo_info` provides for critics only."""
    cards: Array = np.ascontiguousarray(observation["cards_"])
    mask = observation.get("mask_")
    if mask is None or not mask.any():
        return cards
    known = np.empty_like(cards)
    hide(cards, np.ascontiguousarray(mask), known)
    return known


@dataclass(frozen=True)
class GreedyDuelist(PoolAgent):
    """Chooses the action with the most points, computed from the observation."""

    def at(self, pool: AnyPool) -> GreedyDuelist:
        """The same agent, which needs only steps and no pool."""
        return self

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        names = ("global_", "actions_", "h_actions_")
        totals, actions, past = (np.ascontiguousarray(step.observation[name]) for name in names)
        action: Array = np.zeros(len(step.seat), np.int64)
        decide(seen(step.observation), totals, actions, past, action)
        return Decision(action, np.zeros(len(action), np.float32), np.zeros(step.reward.shape, np.float32)), memory


AGENT = GreedyDuelist()
