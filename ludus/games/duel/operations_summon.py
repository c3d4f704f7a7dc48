"""What effects do when they resolve: summoning, equipping and taking control."""

from ludus.games.duel.adjustment import break_effect
from ludus.games.duel.card_moves import heal, hurt
from ludus.games.duel.cards import hooks
from ludus.games.duel.control import equip
from ludus.games.duel.filters import can_special_summon, gather
from ludus.games.duel.frames import FIRST_STEP, ask, ask_cards, ask_yes, clear_options, offer, offer_unpicks, picks_from
from ludus.games.duel.materials import (
    MOST_TRIBUTES, can_complete, can_tribute, fusable, fusion_pool, ritual_pool, ritual_ready,
)  # fmt: skip
from ludus.games.duel.operations_targets import GO_ON, first_target, is_same
from ludus.games.duel.procedure_summons import sort_options
from ludus.games.duel.processes import (
    ALLOWED_ZONES, ANY_ZONE, AS_PROPER, equip_monster, put_in, send, special_summon, summon_one, take_control,
)  # fmt: skip
from ludus.games.duel.state import (
    AS_MATERIAL, BY_EFFECT, BY_RELEASE, BY_RULE, CANCELS, DECK_PILE, EXTRA_PILE, FINISHES, HAND_PILE, NOBODY,
    NO_QUESTION, PICKS, SUM, UNPICKS, UNSELECT,
)  # fmt: skip
from ludus.games.duel.summons import remove_from
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    DOWN_DEFENSE, EQUIP_CARD, EQUIP_TARGET, FIRST_MOVING_WITH_CODE, FUSE, GERM, GOYO, GRAVE, MOMONGA, MZONE, OWN_DECK,
    OWN_HAND, RECRUIT, REVIVE, REVIVE_BOUND, REVIVE_EQUIPPED, REVIVE_NEGATED, REVIVE_SELF, RITUAL_SUMMON, SNATCH,
    SUMMON_FROM_HAND, SUMMON_LINKED, UP, UP_ATTACK,
)  # fmt: skip
from ludus.games.duel.values import level
from ludus.games.duel.zones import count_bits, free_monster_zones, is_in, is_up, pointed_at
from ludus.dsl import rule


# Steps of OPERATE after FIRST_STEP, in which something is chosen, and argument slots.
SUMMON_CHOSEN = GO_ON
"""effects that summon monsters chosen from hand, deck or extra deck"""
CHOOSE_COPIES, SUMMON_COPIES = range(GO_ON, 3)
"""effects that summon copies of their card, once the player has agreed"""
TAKE_RESULT, TAKE_MATERIALS, SUMMON_RESULT = range(GO_ON, 4)
"""fusion and ritual summons: the monster is known; a material is chosen; all materials have left"""
RESULT, ONE_BY_ONE = range(2)
"""their argument slots: the monster to summon; whether tributes are chosen one by one"""


@rule
def move_monsters(state, frame, link, effect):
    """Effects that bring monsters to the field or to another side. Whether all is done."""
    do = effect.do
    player = link.player
    c = first_target(state, link)
    step = frame.step
    frame.step += 1
    if do >= FIRST_MOVING_WITH_CODE:
        return hooks.resolve_moving(state, frame, step, link, effect, c, player)
    if do == REVIVE or do == REVIVE_NEGATED or do == GOYO:
        return revive(state, step, link, effect, c, player)
    if do == REVIVE_EQUIPPED or do == REVIVE_BOUND:
        return revive_bound(state, step, link, do, c, player)
    if do == REVIVE_SELF:
        return revive_itself(state, step, link, player)
    if do == RECRUIT or do == SUMMON_FROM_HAND or do == SUMMON_LINKED:
        return summon_chosen(state, frame, step, link, effect, player)
    if do == GERM or do == MOMONGA:
        return summon_copies(state, frame, step, link, effect, player)
    if do == FUSE:
        return fuse(state, frame, step, player)
    if do == RITUAL_SUMMON:
        return ritual(state, frame, step, link, player)
    return handover(state, step, link, do, c, player)


@rule
def revive_itself(state, step, link, player):
    """Special summon the card of the effect. Whether all is done."""
    if (
        step != FIRST_STEP
        or not is_same(state, link)
        or free_monster_zones(state, player) == 0
        or state.no_summons[player]
    ):
        return True
    summon_one(state, link.card, player, UP)
    return False


@rule
def handover(state, step, link, do, c, player):
    """Equip cards and change control. Whether all is done."""
    if do == EQUIP_CARD or do == SNATCH:
        if (
            state.cards[link.card].stamp == link.stamp
            and c != NOBODY
            and state.cards[c].place == MZONE
            and is_up(state, c)
        ):
            equip(state, link.card, c)
        return True
    if do == EQUIP_TARGET:
        if step == FIRST_STEP and c != NOBODY and state.cards[c].place == MZONE and state.cards[c].controller != player:
            if state.cards[link.card].stamp == link.stamp and is_up(state, link.card):
                equip_monster(state, c, link.card, player)
            else:
                put_in(send(state, GRAVE, BY_RULE, 2), c)  # the card to be equipped is gone
            return False
        return True
    if step == FIRST_STEP and c != NOBODY and state.cards[c].place == MZONE and state.cards[c].controller != player:
        take_control(state, c, player, 1)
        return False
    return True


@rule
def revive(state, step, link, effect, c, player):
    if step == FIRST_STEP:
        positions = effect.a if effect.a else UP
        if c != NOBODY and free_monster_zones(state, player) and can_special_summon(state, c, player, positions):
            summon_one(state, c, player, positions)
            return False
        return True
    if effect.do == REVIVE_NEGATED and state.result:
        state.cards[link.targets[0]].negated = 1
    return True


@rule
def revive_bound(state, step, link, do, c, player):
    """Revive a monster that is bound to this card. Whether all is done."""
    here = state.cards[link.card].stamp == link.stamp
    if step == FIRST_STEP:
        if (
            here
            and c != NOBODY
            and free_monster_zones(state, player)
            and can_special_summon(state, c, player, UP_ATTACK)
        ):
            summon_one(state, c, player, UP_ATTACK)
            return False
        return True
    if state.result and here:
        target = link.targets[0]
        if do == REVIVE_EQUIPPED:
            equip(state, link.card, target)
        else:
            state.cards[target].bound_to = link.card
            state.cards[link.card].bound_to = target
    return True


@rule
def summon_chosen(state, frame, step, link, effect, player):
    """Special summon a chosen monster of deck or hand. Whether all is done."""
    if step == FIRST_STEP:
        zones = free_monster_zones(state, player)
        if effect.do == SUMMON_LINKED:
            if state.cards[link.card].stamp != link.stamp:
                return True
            zones &= pointed_at(state, link.card)
        if zones == 0:
            return True
        gather(state, OWN_DECK if effect.do == RECRUIT else OWN_HAND, effect.which, link.card, player, False, frame)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == SUMMON_CHOSEN and state.picked_count:
        work = special_summon(state, player, UP_ATTACK if effect.do == RECRUIT else UP)
        if effect.do == SUMMON_LINKED:
            work.args[ALLOWED_ZONES] = pointed_at(state, link.card) & ANY_ZONE
        put_in(work, state.picked[0])
        return False
    return True


@rule
def summon_copies(state, frame, step, link, effect, player):
    """Deal damage or gain life points, then summon copies from the deck. Whether all is done."""
    if step == FIRST_STEP:
        if effect.do == GERM:
            hurt(state, 1 - player, effect.a)
        else:
            heal(state, player, effect.a)
        frame.count = 0
        for k in range(state.sizes[player, DECK_PILE]):
            c = state.piles[player, DECK_PILE, k]
            if state.cards[c].code == link.code:
                put_in(frame, c)
        if frame.count == 0 or free_monster_zones(state, player) == 0 or state.no_summons[player]:
            return True
        ask_yes(state, player, link.card, 1)
        return False
    if step == CHOOSE_COPIES:
        if state.answer == 0 or break_effect(state):
            return True
        most = min(frame.count, count_bits(free_monster_zones(state, player)))
        ask_cards(state, player, frame.cards, frame.count, 1, most, 0)
        return False
    if step == SUMMON_COPIES:
        work = special_summon(state, player, UP_ATTACK if effect.do == GERM else DOWN_DEFENSE)
        for k in range(state.picked_count):
            put_in(work, state.picked[k])
        return False
    return True


@rule
def fuse(state, frame, step, player):
    """Choose a fusion monster and its materials, send them to the graveyard, and summon it. Whether all is done."""
    if step == FIRST_STEP:
        pool = state.frames[state.depth + 1]
        fusion_pool(state, player, pool)
        frame.count = 0
        for k in range(state.sizes[player, EXTRA_PILE]):
            c = state.piles[player, EXTRA_PILE, k]
            if fusable(state, c, player, pool):
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == TAKE_RESULT:
        frame.args[RESULT] = state.picked[0]
        frame.count = 0
        ask_fusion_material(state, frame, player)
        return False
    if step == TAKE_MATERIALS:
        chosen = state.options[state.answer]
        if chosen.kind == CANCELS:
            frame.step = FIRST_STEP
            return False
        if chosen.kind == UNPICKS:
            remove_from(frame, chosen.card)
        else:
            put_in(frame, chosen.card)
        if frame.count < CARDS[state.cards[frame.args[RESULT]].code].materials:
            frame.step = TAKE_MATERIALS
            ask_fusion_material(state, frame, player)
            return False
        work = send(state, GRAVE, BY_EFFECT | AS_MATERIAL, player)
        for k in range(frame.count):
            put_in(work, frame.cards[k])
        return False
    if step == SUMMON_RESULT:
        break_effect(state)
        work = special_summon(state, player, UP)
        work.args[AS_PROPER] = 1
        put_in(work, frame.args[RESULT])
        return False
    return True


@rule
def ask_fusion_material(state, frame, player):
    """Ask for one more material that can be completed to a legal set."""
    clear_options(state)
    pool = state.frames[state.depth + 1]
    fusion_pool(state, player, pool)
    trial = state.frames[state.depth + 2]
    for k in range(pool.count):
        if is_in(frame.cards, frame.count, pool.cards[k]):
            continue
        for at in range(frame.count):
            trial.cards[at] = frame.cards[at]
        trial.cards[frame.count] = pool.cards[k]
        if can_complete(state, frame.args[RESULT], player, pool, trial.cards, frame.count + 1):
            offer(state, PICKS, pool.cards[k], 0, 0, 0)
    sort_options(state)
    offer_unpicks(state, frame)
    if frame.count == 0:
        offer(state, CANCELS, 0, 0, 0, 0)
    ask(state, UNSELECT, player, 1, 1, frame.count == 0)


@rule
def ritual(state, frame, step, link, player):
    """Choose a ritual monster and tributes of at least its level, and summon it. Whether all is done."""
    if step == FIRST_STEP:
        frame.count = 0
        for k in range(state.sizes[player, HAND_PILE]):
            c = state.piles[player, HAND_PILE, k]
            if state.cards[c].code == CARDS[link.code].partner and ritual_ready(state, player, c):
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == TAKE_RESULT:
        frame.args[RESULT] = state.picked[0]
        frame.count = 0
        ask_ritual_tributes(state, frame, player)
        return False
    if step == TAKE_MATERIALS:
        if frame.args[ONE_BY_ONE] == 0:
            picks_from(state, frame)
        else:
            chosen = state.options[state.answer]
            if chosen.kind == UNPICKS:
                remove_from(frame, chosen.card)
            elif chosen.kind == PICKS:
                put_in(frame, chosen.card)
            if chosen.kind != FINISHES:
                frame.step = TAKE_MATERIALS
                ask_ritual_tributes(state, frame, player)
                if state.question:
                    return False
                frame.step = SUMMON_RESULT
        work = send(state, GRAVE, BY_EFFECT | AS_MATERIAL | BY_RELEASE, player)
        for k in range(frame.count):
            put_in(work, frame.cards[k])
        return False
    if step == SUMMON_RESULT:
        break_effect(state)
        work = special_summon(state, player, UP)
        work.args[AS_PROPER] = 1
        put_in(work, frame.args[RESULT])
        return False
    return True


@rule
def ask_ritual_tributes(state, frame, player):
    """Ask for all tributes in one question if a zone is free; otherwise one by one, so that one frees a zone."""
    clear_options(state)
    goal = level(state, frame.args[RESULT])
    pool = state.frames[state.depth + 1]
    ritual_pool(state, player, frame.args[RESULT], pool)
    if free_monster_zones(state, player):
        frame.args[ONE_BY_ONE] = 0
        ask_cards(state, player, pool.cards, pool.count, 1, pool.count, 0)
        state.question = SUM
        state.goal = goal
        for k in range(state.option_count):
            state.options[k].value = level(state, state.options[k].card)
        return
    frame.args[ONE_BY_ONE] = 1
    ask_next_ritual(state, frame, pool, player)


@rule
def ask_next_ritual(state, frame, pool, player):
    """Ask for one more tribute that can be completed to a minimal set that frees a zone."""
    clear_options(state)
    state.question = NO_QUESTION
    chosen = 0
    for k in range(pool.count):
        if is_in(frame.cards, frame.count, pool.cards[k]):
            chosen |= 1 << k
    for k in range(min(pool.count, MOST_TRIBUTES)):
        if chosen >> k & 1 == 0 and can_tribute(state, frame.args[RESULT], pool, chosen | (1 << k)):
            offer(state, PICKS, pool.cards[k], 0, 0, 0)
    if state.option_count == 0:
        return
    sort_options(state)
    offer_unpicks(state, frame)
    ask(state, UNSELECT, player, 1, 1, 0)
