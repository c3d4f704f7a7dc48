# ruff: noqa: E501  (a list of words is one thing)
"""The record of a duel: cards, zones, the stack of processes, the chain, and the question."""

from ludus.games.duel.tables import words
from ludus.dsl import HEAD, i16, i32, i64, record, u8

# fmt: off
NOBODY = 0
"""no card; cards are numbered from 1"""
MOST_CARDS, MOST_TOKENS, MOST_IN_PILE = 161, 10, 80
FIRST_TOKEN = MOST_CARDS - MOST_TOKENS
MOST_FRAMES, MOST_IN_FRAME, FRAME_ARGUMENTS = 40, 80, 8
MOST_LINKS, MOST_TARGETS, MOST_PENDING, MOST_EVENTS, MOST_EVENT_CARDS = 16, 6, 24, 12, 12
MOST_OPTIONS, MOST_FED, MOST_HISTORY = 160, 256, 32
MOST_ACTIONS, MOST_IN_MAIN, MOST_IN_EXTRA = 24, 60, 15
MOST_IN_DECK = MOST_IN_MAIN + MOST_IN_EXTRA

DECK_PILE, HAND_PILE, GRAVE_PILE, BANISHED_PILE, EXTRA_PILE = range(5)
FIELD_ZONE = 5
"""the index of the field zone among the spell zones"""

# Phases, as the real engine numbers them.
DRAW_PHASE, STANDBY, MAIN_1, BATTLE_START, BATTLE_STEP, DAMAGE_STEP, DAMAGE_CALCULATION, BATTLE_END, MAIN_2, END = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512

# Questions.
(NO_QUESTION, IDLE, BATTLE, CHAIN, CARD, TRIBUTE, UNSELECT, SUM, PLACE, POSITION, EFFECT_YESNO, YESNO, OPTION, ANNOUNCE_RACE) = range(14)
MESSAGES = ("", "idlecmd", "battlecmd", "chain", "card", "tribute", "unselect_card", "sum", "place", "position", "effectyn", "yesno", "option", "announce_race")

# Kinds of options.
(SUMMONS, SPECIAL_SUMMONS, REPOSITIONS, SETS_MONSTER, SETS_SPELL, ACTIVATES, TO_BATTLE, TO_END, ATTACKS, TO_MAIN_2, PASSES, PICKS, UNPICKS, FINISHES,
 CANCELS, PLACES, POSITIONS, SAYS_NO, SAYS_YES, CHOOSES, DECLARES) = range(21)

# Temporary status of a card, one bit each.
(SUMMONED_NOW, FLIPPED_NOW, SPECIAL_NOW, SET_NOW, MOVED_NOW, ATTACK_ENDED, BATTLE_LOST, LEAVING, PROPER, CHAINED, ENABLED, BEING_SUMMONED,
 SUMMON_NEGATED, TRIBUTE_SUMMONED, ACTIVATION_NEGATED, CANNOT_ATTACK, FROM_HAND_NOW, NORMAL_SUMMONED, TARGETED_NOW, FELLED, SHOWN_NOW) = (1 << bit for bit in range(21))
THIS_TURN = SUMMONED_NOW | FLIPPED_NOW | SPECIAL_NOW | SET_NOW | MOVED_NOW | CANNOT_ATTACK | SHOWN_NOW

# Why a card moved: the bits of the real engine.
(BY_DESTRUCTION, BY_RELEASE, TEMPORARILY, AS_MATERIAL, BY_SUMMON, BY_BATTLE, BY_EFFECT, BY_COST, BY_ADJUSTMENT, LOST_TARGET, BY_RULE, BY_SPSUMMON) = (1 << bit for bit in range(12))
BY_DISCARD, BY_REPLACEMENT, BY_DRAW = 0x4000, 0x1000000, 0x2000000

LINK_NEGATED, LINK_DISABLED, LINK_OF_CARD, LINK_FROM_HAND, LINK_ACTIVATION = 1, 2, 4, 8, 16
"""flags of a link: its activation was negated; its effect was negated; it only resolves while its card stays on the field;
it was activated in the hand; it is the activation of a spell or trap card"""
# fmt: on

CARD_STATE = record(
    code=i16, owner=i16, controller=i16, place=i16, sequence=i16, position=i16, was_place=i16, was_sequence=i16,
    was_position=i16, was_controller=i16, was_attack=i32, reason=i32, reason_player=i16, reason_card=i16, status=i32,
    stamp=i32, arrival=i32, born=i32, fought=i16, enabled_at=i32, counters=i16, equipped_to=i16, overlaid_on=i16,
    bound_to=i16, bound_stamp=i32, attack_up=i32, defense_up=i32, swapped=i16, calculation_up=i32, attacks=i16,
    attacked=(i16, 8), resting=i16, negated=i16, used=i16, turns=i16, lent_until_end=i16, control=i16,
    control_order=i32, lent_order=i32, control_source=i16, lasting=i16, overlays=i16, overlay=(i16, 4),
)  # fmt: skip
"""one card. `stamp` changes whenever effects lose track of it; `was_…` describes it before its last move; `used` has one bit
for each of its effects that was used this turn"""

FRAME = record(process=i16, step=i16, args=(i32, FRAME_ARGUMENTS), count=i16, cards=(i16, MOST_IN_FRAME))
"""a process on the stack: see `frames`"""

EVENT = record(code=i32, player=i16, count=i16, cards=(i16, MOST_EVENT_CARDS))

LINK = record(
    card=i16, code=i16, effect=i16, player=i16, controller=i16, place=i16, sequence=i16, stamp=i32, flags=i16,
    count=i16, targets=(i16, MOST_TARGETS), stamps=(i32, MOST_TARGETS), value=i32, extra=i32, event=EVENT,
)  # fmt: skip
"""a link of the chain, or an effect that may become one"""

NEGATED_IN_GRAVE = 2
"""`negated` of a card whose effects stay negated in the graveyard; the negative value means that it does not apply yet"""
FREED_NOW = -1
"""`negated` of a trap that works again after a battle, but whose own negation is not displayed yet"""

PENDING = record(mandatory=i16, ready=i16, link=LINK)
HELD, READY, TAKEN_UP = range(3)
"""`ready` of a triggered effect: held back until flip effects may be used in the damage step; ready; taken up by a window"""

CHOICE = record(kind=i16, card=i16, effect=i16, value=i32, other=i32)
"""an option of the question"""

STATE = record(
    **HEAD, deck1=(i16, MOST_IN_DECK), deck2=(i16, MOST_IN_DECK), starts=i16, points=i32, opening=i16,
    oppo_info=i16, greedy=i16, turn=i16, turn_player=i16, phase=i16, told_phase=i16, in_damage_step=i16,
    life=(i32, 2), winner=i16, win_reason=i16, overdrawn=(i16, 2), cards=(CARD_STATE, MOST_CARDS), tokens=i32,
    sizes=(i16, (2, 5)), piles=(i16, (2, 5, MOST_IN_PILE)), monsters=(i16, (2, 7)), spells=(i16, (2, 8)), stamps=i32,
    summons=(i16, 2), no_summons=(i16, 2), summoned_any=(i16, 2), sealed=(i16, (2, 8)), sealed_count=(i16, 2),
    named=(i16, (2, 16)), named_count=(i16, 2), waboku=(i16, 2), no_damage=(i16, 2), attacked=(i16, 2),
    serpents=(i16, 2), end_battle=i16, hand_adjusted=i16, shuffle=(i16, 2), attacker=i16, attack_target=i16,
    attacker_stamp=i32, target_stamp=i32, chain_attack=i16, replaying=i16, battle_damage=(i32, 2), calculated=i16,
    holding_flips=i16, sparing=i16, damage_source=i16, zone_stamps=(i32, 7), cancelable=i16, negating_summon=i16,
    depth=i16, frames=(FRAME, MOST_FRAMES), links=i16, chain=(LINK, MOST_LINKS), adding=LINK, trial=LINK,
    target_was_down=i16, pending_count=i16, pending=(PENDING, MOST_PENDING), instant_count=i16,
    instant=(EVENT, MOST_EVENTS), point_count=i16, point=(EVENT, MOST_EVENTS), solving=i16, question=i16, asked=i16,
    fewest=i16, most=i16, may_cancel=i16, may_finish=i16, forced=i16, about=i16, line=i32, goal=i32, option_count=i16,
    options=(CHOICE, MOST_OPTIONS), answer=i16, result=i32, picked_count=i16, picked=(i16, MOST_IN_FRAME), fed=i16,
    fed_at=i16, fed_count=i16, feed=(i16, MOST_FED), decisions=i32, page=i16, chosen_count=i16,
    chosen=(i16, MOST_OPTIONS), history_count=(i16, 2), history=(u8, (2, MOST_HISTORY, 14)),
    history_turn=(i16, (2, MOST_HISTORY)), first_player=i16, menu_count=i16, menu=(i16, MOST_ACTIONS),
    first_card=(i16, 2), codes=(i16, MOST_CARDS), traits=i64, triggers=i32,
)  # fmt: skip
"""`codes` repeats the codes of all cards as a compact array; `traits` and `triggers` are the union over all cards of this
duel, so that searches for a trait that no card has can be skipped"""

assert words.EXTRA == 64
