"""What effects do when they resolve: summoning, equipping and taking control."""

from ludus.games.duel.conditions import can_swap, lord_is_there, swappable
from ludus.games.duel.control import equip, equip_monster, take_control
from ludus.games.duel.events import miss
from ludus.games.duel.filters import can_special_summon, gather
from ludus.games.duel.frames import (
    SWAP_CONTROL_OF, ask, ask_cards, ask_yes, call, clear_options, offer, offer_unpicks, picks_from,
)  # fmt: skip
from ludus.games.duel.fusing import (
    MOST_TRIBUTES, can_complete, can_tribute, fusable, fusion_pool, ritual_pool, ritual_ready,
)  # fmt: skip
from ludus.games.duel.moving import change_position, heal, hurt, put_in, send
from ludus.games.duel.operations_targets import first_target
from ludus.games.duel.proceeding import sort_options
from ludus.games.duel.state import (
    AS_MATERIAL, BY_EFFECT, BY_RELEASE, BY_RULE, CANCELS, DECK_PILE, EXTRA_PILE, FINISHES, HAND_PILE, NOBODY,
    NO_QUESTION, PICKS, SUM, UNPICKS, UNSELECT,
)  # fmt: skip
from ludus.games.duel.summoning import remove_from, special_summon
from ludus.games.duel.tables import CARDS, ROW_OF
from ludus.games.duel.tables.words import (
    DOWN_DEFENSE, ENEMY_CONTROLLER, EQUIP_CARD, EQUIP_TARGET, FLUTE, FUSE, FUSION, GERM, GOYO, GRAVE, IN_ATTACK,
    METAMORPHOSIS, MOMONGA, MZONE, OWN_DECK, OWN_HAND, RECRUIT, REVIVE, REVIVE_BOUND, REVIVE_EQUIPPED,
    REVIVE_NEGATED, REVIVE_SELF, RITUAL_SUMMON, SNATCH, SUMMON_FROM_HAND, SUMMON_LINKED, TAKE_CONTROL, TOKENS, UP,
    UP_ATTACK, UP_DEFENSE,
)  # fmt: skip
from ludus.games.duel.values import level
from ludus.games.duel.zones import count_bits, free_monster_zones, is_in, is_up, new_token, pointed_at, zones_for
from ludus.words import rule

SHEEP = ROW_OF[73915052]


@rule
def summon_one(state, c, player, positions):
    put_in(special_summon(state, player, positions), c)


@rule
def summoning_effect(state, frame, link, effect):
    """Effects that bring monsters to the field or to another side. Whether all is done."""
    do = effect.do
    player = link.player
    c = first_target(state, link)
    step = frame.step
    frame.step += 1
    if do == REVIVE or do == REVIVE_NEGATED or do == GOYO:
        return revive(state, step, link, effect, c, player)
    if do == REVIVE_EQUIPPED or do == REVIVE_BOUND:
        return revive_bound(state, step, link, do, c, player)
    if do == REVIVE_SELF:
        if (
            step == 0
            and state.cards[link.card].stamp == link.stamp
            and free_monster_zones(state, player)
            and not state.no_summons[player]
        ):
            summon_one(state, link.card, player, UP)
            return False
        return True
    if do == RECRUIT or do == SUMMON_FROM_HAND or do == SUMMON_LINKED:
        return summon_chosen(state, frame, step, link, effect, player)
    if do == GERM or do == MOMONGA:
        return summon_copies(state, frame, step, link, effect, player)
    if do == FLUTE:
        return play_flute(state, frame, step, link, effect, player)
    if do == TOKENS:
        return summon_tokens(state, step, player)
    if do == METAMORPHOSIS:
        return metamorphose(state, frame, step, link, player)
    if do == FUSE:
        return fuse(state, frame, step, player)
    if do == RITUAL_SUMMON:
        return ritual(state, frame, step, link, player)
    return handover(state, frame, step, link, effect, c, player)


@rule
def handover(state, frame, step, link, effect, c, player):
    """Equips and changes of control."""
    do = effect.do
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
        if step == 0 and c != NOBODY and state.cards[c].place == MZONE and state.cards[c].controller != player:
            if state.cards[link.card].stamp == link.stamp and is_up(state, link.card):
                equip_monster(state, c, link.card, player)
            else:
                put_in(send(state, GRAVE, BY_RULE, 2), c)  # there is nothing to equip with it any more
            return False
        return True
    if do == TAKE_CONTROL or (do == ENEMY_CONTROLLER and link.value == 2):
        fits = c != NOBODY and state.cards[c].place == MZONE and (do == TAKE_CONTROL or is_up(state, c))
        if step == 0 and fits and state.cards[c].controller != player:
            take_control(state, c, player, 1)
            return False
        return True
    if do == ENEMY_CONTROLLER:
        if step == 0 and c != NOBODY and is_up(state, c) and state.cards[c].place == MZONE:
            change_position(state, c, UP_DEFENSE if state.cards[c].position & IN_ATTACK else UP_ATTACK, player)
            return False
        return True
    return swap(state, frame, step, player)


@rule
def revive(state, step, link, effect, c, player):
    if step == 0:
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
    """A monster comes back, tied to the card that called it."""
    here = state.cards[link.card].stamp == link.stamp
    if step == 0:
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
    """A monster of deck or hand that the player chooses."""
    if step == 0:
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
    if step == 1 and state.picked_count:
        work = special_summon(state, player, UP_ATTACK if effect.do == RECRUIT else UP)
        if effect.do == SUMMON_LINKED:
            work.args[2] = pointed_at(state, link.card) & 0x7F
        put_in(work, state.picked[0])
        return False
    return True


@rule
def summon_copies(state, frame, step, link, effect, player):
    """Damage or life points, then any number of copies from the deck."""
    if step == 0:
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
    if step == 1:
        if state.answer == 0:
            return True
        most = min(frame.count, count_bits(free_monster_zones(state, player)))
        ask_cards(state, player, frame.cards, frame.count, 1, most, 0)
        return False
    if step == 2:
        work = special_summon(state, player, UP_ATTACK if effect.do == GERM else DOWN_DEFENSE)
        for k in range(state.picked_count):
            put_in(work, state.picked[k])
        return False
    return True


@rule
def play_flute(state, frame, step, link, effect, player):
    """Up to two dragons of the hand."""
    if step == 0:
        gather(state, OWN_HAND, effect.which, link.card, player, False, frame)
        most = min(2, count_bits(free_monster_zones(state, player)))
        if most == 0 or not lord_is_there(state):
            return True
        ask_cards(state, player, frame.cards, frame.count, 1, most, 0)
        return state.question == 0
    if step == 1 and state.picked_count:
        work = special_summon(state, player, UP)
        for k in range(state.picked_count):
            put_in(work, state.picked[k])
        return False
    return True


@rule
def summon_tokens(state, step, player):
    if step or count_bits(free_monster_zones(state, player)) < 4:
        return True
    work = special_summon(state, player, UP_DEFENSE)
    for k in range(4):
        token = new_token(state, SHEEP + k, player)
        state.cards[token].place = -1
        put_in(work, token)
    for k in range(4):
        state.cards[work.cards[k]].place = 0
    return False


@rule
def metamorphose(state, frame, step, link, player):
    """A fusion monster of the level that was tributed."""
    if step == 0:
        frame.count = 0
        for k in range(state.sizes[player, EXTRA_PILE]):
            c = state.piles[player, EXTRA_PILE, k]
            row = CARDS[state.cards[c].code]
            if (
                row.types & FUSION
                and row.level == link.value
                and not state.no_summons[player]
                and zones_for(state, c, player)
            ):
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == 1 and state.picked_count:
        summon_one(state, state.picked[0], player, UP)
        return False
    return True


@rule
def fuse(state, frame, step, player):
    """A fusion monster, its materials one by one, all of them to the graveyard, and it is there."""
    if step == 0:
        pool = state.frames[state.depth + 1]
        fusion_pool(state, player, pool)
        frame.count = 0
        for k in range(state.sizes[player, EXTRA_PILE]):
            c = state.piles[player, EXTRA_PILE, k]
            if fusable(state, c, player, pool):
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == 1:
        frame.args[0] = state.picked[0]
        frame.count = 0
        ask_fusion_material(state, frame, player)
        return False
    if step == 2:
        chosen = state.options[state.answer]
        if chosen.kind == CANCELS:
            frame.step = 0
            return False
        if chosen.kind == UNPICKS:
            remove_from(frame, chosen.card)
        else:
            put_in(frame, chosen.card)
        if frame.count < CARDS[state.cards[frame.args[0]].code].materials:
            frame.step = 2
            ask_fusion_material(state, frame, player)
            return False
        work = send(state, GRAVE, BY_EFFECT | AS_MATERIAL, player)
        for k in range(frame.count):
            put_in(work, frame.cards[k])
        return False
    if step == 3:
        miss(state)
        work = special_summon(state, player, UP)
        work.args[5] = 1
        put_in(work, frame.args[0])
        return False
    return True


@rule
def ask_fusion_material(state, frame, player):
    """One more material, of those that can lead to all of them."""
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
        if can_complete(state, frame.args[0], player, pool, trial.cards, frame.count + 1):
            offer(state, PICKS, pool.cards[k], 0, 0, 0)
    sort_options(state)
    offer_unpicks(state, frame)
    if frame.count == 0:
        offer(state, CANCELS, 0, 0, 0, 0)
    ask(state, UNSELECT, player, 1, 1, frame.count == 0)


@rule
def ritual(state, frame, step, link, player):
    """A ritual monster of the hand, tributes of at least its level, and it is there."""
    if step == 0:
        frame.count = 0
        for k in range(state.sizes[player, HAND_PILE]):
            c = state.piles[player, HAND_PILE, k]
            if state.cards[c].code == CARDS[link.code].partner and ritual_ready(state, player, c):
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == 1:
        frame.args[0] = state.picked[0]
        frame.count = 0
        ask_ritual_tributes(state, frame, player)
        return False
    if step == 2:
        if frame.args[1] == 0:
            picks_from(state, frame)
        else:
            chosen = state.options[state.answer]
            if chosen.kind == UNPICKS:
                remove_from(frame, chosen.card)
            elif chosen.kind == PICKS:
                put_in(frame, chosen.card)
            if chosen.kind != FINISHES:
                frame.step = 2
                ask_ritual_tributes(state, frame, player)
                if state.question:
                    return False
                frame.step = 3
        work = send(state, GRAVE, BY_EFFECT | AS_MATERIAL | BY_RELEASE, player)
        for k in range(frame.count):
            put_in(work, frame.cards[k])
        return False
    if step == 3:
        miss(state)
        work = special_summon(state, player, UP)
        work.args[5] = 1
        put_in(work, frame.args[0])
        return False
    return True


@rule
def ask_ritual_tributes(state, frame, player):
    """All at once where a zone is free; otherwise one by one, one of the field among them."""
    clear_options(state)
    goal = level(state, frame.args[0])
    pool = state.frames[state.depth + 1]
    ritual_pool(state, player, frame.args[0], pool)
    if free_monster_zones(state, player):
        frame.args[1] = 0
        ask_cards(state, player, pool.cards, pool.count, 1, pool.count, 0)
        state.question = SUM
        state.goal = goal
        for k in range(state.option_count):
            state.options[k].value = level(state, state.options[k].card)
        return
    frame.args[1] = 1
    ask_next_ritual(state, frame, pool, player)


@rule
def ask_next_ritual(state, frame, pool, player):
    """One more tribute, of those that can lead to a set that frees a zone with none to spare."""
    clear_options(state)
    state.question = NO_QUESTION
    chosen = 0
    for k in range(pool.count):
        if is_in(frame.cards, frame.count, pool.cards[k]):
            chosen |= 1 << k
    for k in range(min(pool.count, MOST_TRIBUTES)):
        if chosen >> k & 1 == 0 and can_tribute(state, frame.args[0], pool, chosen | (1 << k)):
            offer(state, PICKS, pool.cards[k], 0, 0, 0)
    if state.option_count == 0:
        return
    sort_options(state)
    offer_unpicks(state, frame)
    ask(state, UNSELECT, player, 1, 1, 0)


@rule
def swap(state, frame, step, player):
    """Each player chooses a monster, the one who plays the card first; then they change sides."""
    if step < 2:
        if step == 0 and not (swappable(state, 0) and swappable(state, 1)):
            return True
        side = player if step == 0 else 1 - player
        if step == 1:
            frame.args[0] = state.picked[0]
        frame.count = 0
        for zone in range(7):
            if can_swap(state, side, zone):
                put_in(frame, state.monsters[side, zone])
        ask_cards(state, side, frame.cards, frame.count, 1, 1, 0)
        return state.question == 0
    if step == 2:
        other = state.picked[0]
        work = call(state, SWAP_CONTROL_OF)
        work.args[0] = player
        put_in(work, frame.args[0])
        put_in(work, other)
        return False
    return True
