"""What effects do when they resolve, all but summoning: which rule is for which, at first and later on."""

from ludus.games.duel.operations_answer import answer, ring_goes_on
from ludus.games.duel.operations_change import change_field, change_itself, change_life
from ludus.games.duel.operations_destroy import (
    ask_coin, banish_battlers, cross_out, destroy_something, nobleman_goes_on, return_something, wizard_goes_on,
)  # fmt: skip
from ludus.games.duel.operations_hand import (
    burn_for_discarded, change_hands, discard_picked, draw_again, duo_goes_on, search, take_found,
    tornado_goes_on,
)  # fmt: skip
from ludus.games.duel.operations_targets import FINISHED, destroy_one
from ludus.games.duel.tables.words import (
    ADD_COPIES, BANISH_BATTLERS, CARD_DESTRUCTION, CHARITY, DAMAGE, DAMAGE_PER, DESTROY_ALL_OTHERS,
    DESTROY_HIGHEST_DEFENSE, DESTROY_STRONGEST_ATTACKER, DESTROY_WEAKEST, DON_ZALOOG, DUO, DUST_TORNADO, LILY,
    MORPHING_JAR, NOBLEMAN, RETURN_SELF, RING, RUIN, SEARCH, SEARCH_AND_BAN, SNATCH_RECOVER, THESTALOS,
    TIME_WIZARD, WABOKU,
)  # fmt: skip
from ludus.words import rule


@rule
def simple(state, frame, link, effect):
    """Effects of one or two steps. Whether this is one of them and all of it is done.

    Words of one theme stand together in `words.py`, so that most themes are a range.
    """
    do = effect.do
    player = link.player
    if frame.step > 0:
        return after(state, frame, link, effect)
    frame.step = 1
    if do <= DESTROY_ALL_OTHERS:
        destroy_something(state, frame, link, effect)
    elif do <= RETURN_SELF:
        return_something(state, link, effect)
    elif do <= ADD_COPIES:
        search(state, frame, link, effect)
    elif DAMAGE <= do <= DAMAGE_PER or do == SNATCH_RECOVER:
        change_life(state, link, effect)
    elif do <= DON_ZALOOG:
        change_hands(state, frame, link, effect)
    elif do == TIME_WIZARD:
        ask_coin(state, player)
    elif do == BANISH_BATTLERS:
        banish_battlers(state, player)
    elif do == NOBLEMAN:
        cross_out(state, frame, link, player)
    elif do <= LILY:
        change_itself(state, link, do, player)
    elif do <= WABOKU:
        change_field(state, link, effect)
    else:
        answer(state, frame, link, do, player)
    return False


@rule
def after(state, frame, link, effect):
    """The second and later steps. Whether all is done."""
    do = effect.do
    player = link.player
    if frame.step == FINISHED:
        return True
    if do == DESTROY_WEAKEST or do == DESTROY_HIGHEST_DEFENSE or do == DESTROY_STRONGEST_ATTACKER or do == RUIN:
        frame.step = FINISHED
        if state.picked_count:
            destroy_one(state, state.picked[0], player)
            return False
    elif do == SEARCH or do == SEARCH_AND_BAN or do == ADD_COPIES:
        return take_found(state, frame, do, player)
    elif do == CHARITY:
        frame.step = FINISHED
        discard_picked(state, player)
        return False
    elif do == DUO:
        return duo_goes_on(state, frame, player)
    elif do == THESTALOS:
        burn_for_discarded(state, frame, player)
    elif do == CARD_DESTRUCTION:
        draw_again(state, player, frame.args[0], frame.args[1])
    elif do == MORPHING_JAR:
        draw_again(state, player, 5, 5)
    elif do == TIME_WIZARD:
        return wizard_goes_on(state, frame, player)
    elif do == NOBLEMAN:
        return nobleman_goes_on(state, frame, player)
    elif do == RING:
        ring_goes_on(state, frame, player)
    elif do == DUST_TORNADO:
        return tornado_goes_on(state, frame, link, player)
    return True
