"""The places where the engine calls cards with code of their own.

    possible          when an effect could be activated    is there anything for it to do?
    ask_first         before targets are chosen            branches of an effect, a declared type
    ask_after_branch  after a branch was chosen            a tribute
    keep_targets      when targets are offered             drop those that the filter of the row cannot describe
    ask_more_targets  after targets were chosen            a second group of targets
    resolve, go_on    when the effect resolves             its first step, and all later ones
    resolve_moving    the same for effects that summon monsters or change their control

An effect with code has a word of its own in `tables/words.py`.
"""

from ludus.games.duel.cards import (
    bottomless_trap_hole, card_destruction, creature_swap, delinquent_duo, don_zaloog, dust_tornado, enemy_controller,
    flute_of_summoning_dragon, graceful_charity, metamorphosis, nobleman_of_crossout, ring_of_destruction, scapegoat,
    sinister_serpent, swords_of_revealing_light, thestalos, time_wizard, trap_hole, tribe_infecting_virus,
    two_pronged_attack, widespread_ruin,
)  # fmt: skip
from ludus.games.duel.frames import ask, clear_options
from ludus.games.duel.operations_destroy import destroy_picked
from ludus.games.duel.operations_hand import discard_random
from ludus.games.duel.state import ANNOUNCE_RACE, OPTION
from ludus.games.duel.tables.words import (
    BOTTOMLESS, CARD_DESTRUCTION, CHARITY, DESTROY_RACE, DESTROY_THREE, DON_ZALOOG, DUO, DUST_TORNADO, ENEMY_CONTROLLER,
    FLUTE, METAMORPHOSIS, MORPHING_JAR, NOBLEMAN, RING, RUIN, SERPENT, SWAP_CONTROL, SWORDS, THESTALOS, TIME_WIZARD,
    TOKENS, TRAP_HOLE,
)  # fmt: skip
from ludus.dsl import rule

NO_QUESTION_FIRST, ASKED_BRANCH, ASKED_RACE = range(3)
"""results of `ask_first`"""


@rule
def possible(state, link, effect):
    """Whether there is something to do for an effect; True for effects without a hook."""
    do = effect.do
    player = link.player
    if do == RING:
        return ring_of_destruction.possible(state, player)
    if do == RUIN:
        return widespread_ruin.possible(state, player)
    if do == TRAP_HOLE:
        return trap_hole.possible(state, link)
    if do == BOTTOMLESS:
        return bottomless_trap_hole.possible(state, link)
    if do == ENEMY_CONTROLLER:
        return enemy_controller.possible(state, player)
    if do == DON_ZALOOG:
        return don_zaloog.possible(state, player)
    if do == DESTROY_THREE:
        return two_pronged_attack.possible(state, link.card, player)
    if do == TOKENS:
        return scapegoat.possible(state, player)
    return True


@rule
def ask_first(state, link, do, player):
    """Ask for a branch or a type, and say which."""
    if do == ENEMY_CONTROLLER or do == DON_ZALOOG:
        clear_options(state)
        if do == ENEMY_CONTROLLER:
            enemy_controller.offer_branches(state, link.card, player)
        else:
            don_zaloog.offer_branches(state, link.card, player)
        ask(state, OPTION, player, 1, 1, 0)
        return ASKED_BRANCH
    if do == DESTROY_RACE:
        tribe_infecting_virus.offer_races(state)
        ask(state, ANNOUNCE_RACE, player, 1, 1, 0)
        return ASKED_RACE
    return NO_QUESTION_FIRST


@rule
def ask_after_branch(state, frame, link, do, player):
    """Whether a tribute is asked for."""
    if do != ENEMY_CONTROLLER or link.value != enemy_controller.TAKE:
        return False
    enemy_controller.ask_for_tribute(state, frame, player)
    return True


@rule
def keep_targets(state, frame, link, do, player):
    if do == RING:
        ring_of_destruction.keep_targets(state, frame, player)
    elif do == ENEMY_CONTROLLER and link.value == enemy_controller.TURN:
        enemy_controller.keep_targets(state, frame)


@rule
def ask_more_targets(state, frame, link, do, player):
    """Whether further targets are asked for."""
    if do != DESTROY_THREE or link.count != 2:
        return False
    two_pronged_attack.ask_third(state, frame, link, player)
    return True


@rule
def resolve(state, frame, link, do, player):
    """The first step of an effect."""
    if do == CHARITY:
        graceful_charity.resolve(state, frame, player)
    elif do == DUO or do == THESTALOS:
        discard_random(state, frame, player)
    elif do == CARD_DESTRUCTION or do == MORPHING_JAR:
        card_destruction.resolve(state, frame, player)
    elif do == DON_ZALOOG:
        don_zaloog.resolve(state, frame, link, player)
    elif do == TIME_WIZARD:
        time_wizard.resolve(state, player)
    elif do == NOBLEMAN:
        nobleman_of_crossout.resolve(state, frame, link, player)
    elif do == RING:
        ring_of_destruction.resolve(state, frame, link, player)
    elif do == DUST_TORNADO:
        dust_tornado.resolve(state, link, player)
    elif do == RUIN:
        widespread_ruin.resolve(state, frame, player)
    else:
        resolve_short(state, link, do, player)


@rule
def resolve_short(state, link, do, player):
    """Effects of a single step."""
    if do == TRAP_HOLE:
        trap_hole.resolve(state, link, player)
    elif do == BOTTOMLESS:
        bottomless_trap_hole.resolve(state, link, player)
    elif do == DESTROY_THREE:
        two_pronged_attack.resolve(state, link)
    elif do == DESTROY_RACE:
        tribe_infecting_virus.resolve(state, link)
    elif do == SWORDS:
        swords_of_revealing_light.resolve(state, player)
    elif do == SERPENT:
        sinister_serpent.resolve(state, link, player)


@rule
def go_on(state, frame, link, do, player):
    """The later steps of an effect. Whether all is done."""
    if do == RUIN:
        return destroy_picked(state, frame, player)
    if do == DUO:
        return delinquent_duo.go_on(state, frame, player)
    if do == TIME_WIZARD:
        return time_wizard.go_on(state, frame, player)
    if do == NOBLEMAN:
        return nobleman_of_crossout.go_on(state, frame, player)
    if do == DUST_TORNADO:
        return dust_tornado.go_on(state, frame, link, player)
    if do == CHARITY:
        graceful_charity.go_on(state, frame, player)
        return False
    if do == THESTALOS:
        thestalos.go_on(state, frame, player)
    elif do == CARD_DESTRUCTION or do == MORPHING_JAR:
        card_destruction.go_on(state, frame, do, player)
    elif do == RING:
        ring_of_destruction.go_on(state, frame, player)
    return True


@rule
def resolve_moving(state, frame, step, link, effect, c, player):
    """One step of an effect that summons monsters or changes their control. Whether all is done."""
    do = effect.do
    if do == ENEMY_CONTROLLER:
        return enemy_controller.resolve(state, step, link, c, player)
    if do == SWAP_CONTROL:
        return creature_swap.resolve(state, frame, step, player)
    if do == TOKENS:
        return scapegoat.resolve(state, step, player)
    if do == METAMORPHOSIS:
        return metamorphosis.resolve(state, frame, step, link, player)
    if do == FLUTE:
        return flute_of_summoning_dragon.resolve(state, frame, step, link, effect, player)
    return True
