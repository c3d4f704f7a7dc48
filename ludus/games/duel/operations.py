"""What effects do when they resolve: which module is responsible for which word.

Words of one theme stand together in `tables/words.py`, so that most themes are a range.
"""

from ludus.games.duel.cards import hooks
from ludus.games.duel.frames import FIRST_STEP, done
from ludus.games.duel.operations_answer import answer
from ludus.games.duel.operations_change import change_field, change_itself, change_life
from ludus.games.duel.operations_destroy import destroy_picked, destroy_something, return_something
from ludus.games.duel.operations_hand import change_hands, search, take_found
from ludus.games.duel.operations_summon import move_monsters
from ludus.games.duel.operations_targets import FINISHED, GO_ON
from ludus.games.duel.tables import EFFECTS
from ludus.games.duel.tables.words import (
    ADD_COPIES, BANISH_BATTLERS, DESTROY_ALL_OTHERS, DESTROY_HIGHEST_DEFENSE, DESTROY_STRONGEST_ATTACKER,
    DESTROY_WEAKEST, DISCARD_RANDOM, FIRST_MOVING, FIRST_WITH_CODE, LILY, SEARCH, SEARCH_AND_BAN, SNATCH_RECOVER,
    WABOKU,
)  # fmt: skip
from ludus.dsl import rule


@rule
def operating(state, frame):
    """The newest link resolves."""
    link = state.chain[state.links - 1]
    effect = EFFECTS[link.effect]
    if effect.do >= FIRST_MOVING:
        finished = move_monsters(state, frame, link, effect)
    elif frame.step == FIRST_STEP:
        frame.step = GO_ON
        begin(state, frame, link, effect)
        finished = False
    else:
        finished = go_on(state, frame, link, effect)
    if finished:
        done(state)


@rule
def begin(state, frame, link, effect):
    """The first step of effects that do not summon."""
    do = effect.do
    player = link.player
    if do <= DESTROY_ALL_OTHERS:
        destroy_something(state, frame, link, effect)
    elif do <= BANISH_BATTLERS:
        return_something(state, link, effect)
    elif do <= ADD_COPIES:
        search(state, frame, link, effect)
    elif do <= DISCARD_RANDOM:
        change_hands(state, frame, link, effect)
    elif do <= SNATCH_RECOVER:
        change_life(state, link, effect)
    elif do <= LILY:
        change_itself(state, link, do, player)
    elif do <= WABOKU:
        change_field(state, link, effect)
    elif do < FIRST_WITH_CODE:
        answer(state, link, do, player)
    else:
        hooks.resolve(state, frame, link, do, player)


@rule
def go_on(state, frame, link, effect):
    """The later steps. Whether all is done."""
    do = effect.do
    player = link.player
    if frame.step == FINISHED:
        return True
    if do == DESTROY_WEAKEST or do == DESTROY_HIGHEST_DEFENSE or do == DESTROY_STRONGEST_ATTACKER:
        return destroy_picked(state, frame, player)
    if do == SEARCH or do == SEARCH_AND_BAN or do == ADD_COPIES:
        return take_found(state, frame, do, player)
    return hooks.go_on(state, frame, link, do, player)
