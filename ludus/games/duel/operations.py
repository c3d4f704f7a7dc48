"""What effects do when they resolve: destroying, returning, drawing, damaging, searching."""

from ludus.games.duel.events import miss
from ludus.games.duel.filters import count_matching, gather
from ludus.games.duel.frames import SET_SPELL, ask, ask_cards, ask_yes, call, clear_options, done, offer
from ludus.games.duel.moving import change_position, destroy, draw, heal, hurt, put_in, send
from ludus.games.duel.randomness import random_in_hand, roll_die, shuffle_hand, toss_coin
from ludus.games.duel.state import (
    ACTIVATION_NEGATED, ATTACK_ENDED, BEING_SUMMONED, BY_DISCARD, BY_EFFECT, CHOOSES, DECK_PILE, HAND_PILE,
    LEAVING, LINK_ACTIVATION, LINK_DISABLED, LINK_NEGATED, NOBODY, OPTION, SUMMON_NEGATED,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    ADD_COPIES, ADD_COUNTER, ATTACK_AGAIN, BANISHED, BANISH_BATTLERS, BANISH_TARGETS, BOTTOMLESS,
    CARD_DESTRUCTION, CHAINING, CHARITY, CYLINDER, DAMAGE, DAMAGE_BOTH, DAMAGE_PER, DECK, DESTROY_ALL,
    DESTROY_ALL_OTHERS, DESTROY_ATTACKER, DESTROY_ATTACK_TARGET, DESTROY_EVENT_CARDS, DESTROY_HIGHEST_DEFENSE,
    DESTROY_IF_DOWN, DESTROY_IF_TYPE, DESTROY_RACE, DESTROY_SELF, DESTROY_STRONGEST_ATTACKER, DESTROY_TARGETS,
    DESTROY_THREE, DESTROY_WEAKEST, DICE, DISCARD_RANDOM, DON_ZALOOG, DOWN_DEFENSE, DRAINING, DRAW, DUO,
    DUST_TORNADO, FIELD, FLIP, GRAVE, HAND, IN_ATTACK, IN_DEFENSE, LILY, LINK, MIRROR_FORCE, MONSTER,
    MORPHING_JAR, MZONE, NEGATE_ACTIVATION, NEGATE_ATTACK, NEGATE_ATTACK_AND_END, NEGATE_EFFECT, NEGATE_SUMMON,
    NOBLEMAN, NOTHING, NO_BATTLE_DAMAGE, OTHER_MONSTERS, OWN_DECK, OWN_MONSTERS, RAISE_ATTACK, RAISE_DEFENSE,
    RECOVER, RETURN_ALL, RETURN_ATTACKER, RETURN_SELF, RING, RUIN, SEARCH, SEARCH_AND_BAN, SERPENT,
    SNATCH_RECOVER, SOLEMN, SPELL, SPIRIT_RETURN, STARDUST, SWAP_BASE_VALUES, SWORDS, THESTALOS, TIME_WIZARD,
    TORRENTIAL, TO_ATTACK, TO_DECK_TOP, TO_DEFENSE, TO_HAND_TARGETS, TRAP, TRAP_HOLE, TURN_DOWN, UP, UPSTART,
    UP_ATTACK, UP_DEFENSE, UTOPIA_NEGATE, WABOKU,
)  # fmt: skip
from ludus.games.duel.values import attack, defense, held_back, types_of
from ludus.games.duel.zones import free_spell_zones, is_up
from ludus.words import rule


@rule
def live(state, link, k):
    """Target k of a link, if it is still the card that was targeted."""
    c = link.targets[k]
    return c if k < link.count and state.cards[c].stamp == link.stamps[k] else NOBODY


@rule
def still_fits(state, c, effect, player):
    """Some effects ask again when they resolve: face-up (UP), or on the other side (OTHER_MONSTERS)."""
    if effect.a == UP:
        return is_up(state, c)
    return effect.a != OTHER_MONSTERS or state.cards[c].controller != player


@rule
def first_target(state, link):
    return live(state, link, 0)


@rule
def all_or_done(state, frame):
    """Do something to the cards of a frame just begun; nothing, if there are none."""
    if frame.count == 0:
        done(state)
        state.result = 0


@rule
def destroy_one(state, c, player):
    if c != NOBODY:
        put_in(destroy(state, BY_EFFECT, player), c)


@rule
def simple(state, frame, link, effect):
    """Effects of one or two steps. Whether this is one of them and all of it is done."""
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
    else:
        other_things(state, frame, link, effect, player)
    return False


@rule
def destroy_something(state, frame, link, effect):
    """All that only destroys, or banishes or returns targets."""
    do = effect.do
    player = link.player
    if do == NOTHING:
        return
    if do == DESTROY_TARGETS or do == TO_HAND_TARGETS or do == BANISH_TARGETS:
        if do == DESTROY_TARGETS:
            work = destroy(state, BY_EFFECT, player)
        else:
            work = send(state, HAND if do == TO_HAND_TARGETS else BANISHED, BY_EFFECT, player)
        for k in range(link.count):
            c = live(state, link, k)
            if c != NOBODY and still_fits(state, c, effect, player):
                put_in(work, c)
        all_or_done(state, work)
    elif do == DESTROY_ALL:
        gather(state, effect.a, effect.which, link.card, player, False, frame)
        work = destroy(state, BY_EFFECT, player)
        for k in range(frame.count):
            put_in(work, frame.cards[k])
        all_or_done(state, work)
    elif do == DESTROY_WEAKEST or do == DESTROY_HIGHEST_DEFENSE or do == DESTROY_STRONGEST_ATTACKER:
        destroy_extreme(state, frame, do, player)
    elif do == DESTROY_IF_TYPE:
        c = first_target(state, link)
        if c != NOBODY and types_of(state, c) & effect.a:
            destroy_one(state, c, player)
    elif do == DESTROY_IF_DOWN:
        c = first_target(state, link)
        if c != NOBODY and not is_up(state, c):
            destroy_one(state, c, player)
    elif do == DESTROY_THREE:
        if live(state, link, 0) and live(state, link, 1) and live(state, link, 2):
            work = destroy(state, BY_EFFECT, player)
            for k in range(3):
                put_in(work, link.targets[k])
    elif do == DESTROY_SELF:
        if state.cards[link.card].stamp == link.stamp:
            destroy_one(state, link.card, player)
    elif do == DESTROY_EVENT_CARDS:
        work = destroy(state, BY_EFFECT, player)
        for k in range(link.count):
            c = live(state, link, k)
            if c != NOBODY:
                put_in(work, c)
        all_or_done(state, work)
    elif do == DESTROY_ATTACK_TARGET:
        c = state.attack_target
        if c != NOBODY and state.cards[c].place == MZONE:
            destroy_one(state, c, player)
    elif do == DESTROY_RACE:
        work = destroy(state, BY_EFFECT, player)
        for side in range(2):
            for zone in range(7):
                c = state.monsters[side, zone]
                if c != NOBODY and is_up(state, c) and CARDS[state.cards[c].code].race & link.value:
                    put_in(work, c)
        all_or_done(state, work)


@rule
def destroy_extreme(state, frame, do, player):
    """The weakest or strongest of some monsters; on a tie the player chooses."""
    best = -1
    frame.count = 0
    for k in range(2):
        side = k
        if (do == DESTROY_WEAKEST or do == DESTROY_HIGHEST_DEFENSE or do == RUIN) and side == player:
            continue
        for zone in range(7):
            c = state.monsters[side, zone]
            if c == NOBODY or not is_up(state, c):
                continue
            if (do == DESTROY_STRONGEST_ATTACKER or do == RUIN) and state.cards[c].position != UP_ATTACK:
                continue
            if do == DESTROY_HIGHEST_DEFENSE and CARDS[state.cards[c].code].types & LINK:
                continue
            value = defense(state, c) if do == DESTROY_HIGHEST_DEFENSE else attack(state, c)
            if do == DESTROY_WEAKEST:
                value = 1000000 - value
            if value > best:
                best = value
                frame.count = 0
            if value == best:
                put_in(frame, c)
    if frame.count > 1:
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return
    frame.step = 9
    if frame.count == 1:
        destroy_one(state, frame.cards[0], player)


@rule
def return_something(state, link, effect):
    do = effect.do
    player = link.player
    if do == RETURN_ATTACKER:
        a = state.attacker
        if a != NOBODY and state.cards[a].place == MZONE and state.cards[a].arrival == state.attacker_stamp:
            put_in(send(state, HAND, BY_EFFECT, player), a)
    elif do == RETURN_ALL:
        work = send(state, HAND, BY_EFFECT, player)
        for side in range(2):
            for zone in range(6):
                c = state.spells[side, zone]
                if c != NOBODY and c != link.card and state.cards[c].status & LEAVING == 0:
                    put_in(work, c)
        all_or_done(state, work)
    elif do == RETURN_SELF and state.cards[link.card].stamp == link.stamp:
        put_in(send(state, HAND, BY_EFFECT, player), link.card)


@rule
def search(state, frame, link, effect):
    """A card, or copies of this one, from the deck."""
    player = link.player
    if effect.do == ADD_COPIES:
        frame.count = 0
        for k in range(state.sizes[player, DECK_PILE]):
            c = state.piles[player, DECK_PILE, k]
            if state.cards[c].code == link.code:
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, effect.a, 0)
        return
    gather(state, OWN_DECK, effect.which, link.card, player, False, frame)
    ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)


@rule
def other_things(state, frame, link, effect, player):
    do = effect.do
    if do == DRAW:
        draw(state, player, effect.a, BY_EFFECT)
    elif do == UPSTART:
        if draw(state, player, 1, BY_EFFECT):
            heal(state, 1 - player, 1000)
    elif do == CHARITY:
        if draw(state, player, 3, BY_EFFECT) < 3:
            frame.step = 9
            return
        shuffle_hand(state, player)
        frame.count = 0
        for k in range(state.sizes[player, HAND_PILE]):
            put_in(frame, state.piles[player, HAND_PILE, k])
        ask_cards(state, player, frame.cards, frame.count, 2, 2, 0)
    elif do == DUO or do == DISCARD_RANDOM or do == THESTALOS:
        discard_random(state, frame, player)
    elif do == CARD_DESTRUCTION or do == MORPHING_JAR:
        discard_hands(state, frame, player)
    elif do == DAMAGE:
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
    elif do == DON_ZALOOG:
        zaloog(state, frame, link, player)
    elif do == TIME_WIZARD:
        clear_options(state)
        offer(state, CHOOSES, NOBODY, 0, 60, 0)
        offer(state, CHOOSES, NOBODY, 0, 61, 0)
        ask(state, OPTION, player, 1, 1, 0)
    elif do == ADD_COUNTER:
        if state.cards[link.card].stamp == link.stamp and is_up(state, link.card):
            state.cards[link.card].counters += 1
    elif do == NO_BATTLE_DAMAGE:
        state.no_damage[player] = 1
    elif do == BANISH_BATTLERS:
        banish_battlers(state, player)
    elif do == ATTACK_AGAIN:
        if state.cards[link.card].stamp == link.stamp:
            state.chain_attack = link.card
    elif do == SERPENT:
        state.serpents[player] = 1
        if state.cards[link.card].stamp == link.stamp:
            put_in(send(state, HAND, BY_EFFECT, player), link.card)
    elif do == SPIRIT_RETURN:
        if state.cards[link.card].stamp == link.stamp:
            put_in(send(state, HAND, BY_EFFECT, player), link.card)
    elif do == LILY:
        if state.cards[link.card].stamp == link.stamp:
            state.cards[link.card].calculation_up += 3000
    elif do == TURN_DOWN or do == TO_DEFENSE or do == TO_ATTACK:
        turn_target(state, link, do, player)
    elif do == SWORDS:
        show_monsters(state, player)
    elif do == RAISE_ATTACK or do == RAISE_DEFENSE:
        raise_target(state, link, effect)
    elif do == DICE:
        roll(state, effect, player)
    elif do == SWAP_BASE_VALUES:
        swap_values(state, link)
    elif do == NOBLEMAN:
        cross_out(state, frame, link, player)
    elif do == WABOKU:
        state.waboku[player] = 1
    elif do == NEGATE_ACTIVATION or do == NEGATE_EFFECT or do == NEGATE_SUMMON or do == SOLEMN or do == STARDUST:
        negate(state, frame, link, do, player)
    elif (
        do == TORRENTIAL
        or do == MIRROR_FORCE
        or do == RUIN
        or do == TRAP_HOLE
        or do == BOTTOMLESS
        or do == DESTROY_ATTACKER
    ):
        spring(state, frame, link, do, player)
    elif do == RING:
        c = first_target(state, link)
        if c != NOBODY and is_up(state, c):
            frame.args[0] = CARDS[state.cards[c].code].attack
            destroy_one(state, c, player)
        else:
            frame.step = 9
    elif do == CYLINDER or do == NEGATE_ATTACK or do == NEGATE_ATTACK_AND_END or do == DRAINING or do == UTOPIA_NEGATE:
        stop_attack(state, link, do, player)
    elif do == DUST_TORNADO:
        destroy_one(state, first_target(state, link), player)
    elif do == TO_DECK_TOP:
        if state.cards[link.card].stamp == link.stamp:
            put_in(send(state, DECK, BY_EFFECT, player), link.card)


@rule
def after(state, frame, link, effect):
    """The second and later steps. Whether all is done."""
    do = effect.do
    player = link.player
    if frame.step == 9:
        return True
    if do == DESTROY_WEAKEST or do == DESTROY_HIGHEST_DEFENSE or do == DESTROY_STRONGEST_ATTACKER or do == RUIN:
        frame.step = 9
        if state.picked_count:
            destroy_one(state, state.picked[0], player)
            return False
    elif do == SEARCH or do == SEARCH_AND_BAN or do == ADD_COPIES:
        return take_found(state, frame, do, player)
    elif do == CHARITY:
        frame.step = 9
        discard_picked(state, player)
        return False
    elif do == DUO:
        return duo_goes_on(state, frame, player)
    elif do == THESTALOS:
        c = frame.args[0]
        if c != NOBODY and CARDS[state.cards[c].code].types & MONSTER:
            hurt(state, 1 - player, 100 * CARDS[state.cards[c].code].level)
    elif do == CARD_DESTRUCTION:
        draw_again(state, player, frame.args[0], frame.args[1])
    elif do == MORPHING_JAR:
        draw_again(state, player, 5, 5)
    elif do == TIME_WIZARD:
        return wizard_goes_on(state, frame, player)
    elif do == NOBLEMAN:
        return nobleman_goes_on(state, frame, player)
    elif do == RING:
        if state.result > 0:
            hurt(state, player, frame.args[0])
            if frame.args[0] > 0 and state.life[player] > 0:
                miss(state)
                hurt(state, 1 - player, frame.args[0])
    elif do == DUST_TORNADO:
        return tornado_goes_on(state, frame, link, player)
    elif do == STARDUST:
        return True
    return True


@rule
def take_found(state, frame, do, player):
    """What was found goes to the hand; its name may be sealed for the turn."""
    if state.picked_count == 0:
        return True
    frame.step = 9
    work = send(state, HAND, BY_EFFECT, player)
    for k in range(state.picked_count):
        put_in(work, state.picked[k])
    if do == SEARCH_AND_BAN and state.sealed_count[player] < 8:
        state.sealed[player, state.sealed_count[player]] = state.cards[state.picked[0]].code
        state.sealed_count[player] += 1
    return False


@rule
def discard_picked(state, player):
    work = send(state, GRAVE, BY_EFFECT | BY_DISCARD, player)
    for k in range(state.picked_count):
        put_in(work, state.picked[k])
    all_or_done(state, work)


@rule
def discard_random(state, frame, player):
    """The other player loses a random card of the hand."""
    c = random_in_hand(state, 1 - player)
    frame.args[0] = c
    if c != NOBODY:
        put_in(send(state, GRAVE, BY_EFFECT | BY_DISCARD, player), c)


@rule
def duo_goes_on(state, frame, player):
    """After the random card, one that its owner chooses."""
    other = 1 - player
    if frame.step == 1:
        frame.step = 2
        frame.count = 0
        for k in range(state.sizes[other, HAND_PILE]):
            put_in(frame, state.piles[other, HAND_PILE, k])
        ask_cards(state, other, frame.cards, frame.count, 1, 1, 0)
        if state.question:
            return False
        return True
    frame.step = 9
    discard_picked(state, other)
    return False


@rule
def discard_hands(state, frame, player):
    """Both hands at once."""
    work = send(state, GRAVE, BY_EFFECT | BY_DISCARD, player)
    for side in range(2):
        frame.args[0 if side == player else 1] = state.sizes[side, HAND_PILE]
        for k in range(state.sizes[side, HAND_PILE]):
            put_in(work, state.piles[side, HAND_PILE, k])
    all_or_done(state, work)


@rule
def draw_again(state, player, own, other):
    draw(state, player, own, BY_EFFECT)
    draw(state, 1 - player, other, BY_EFFECT)


@rule
def zaloog(state, frame, link, player):
    """A random discard, or the two top cards of the deck."""
    other = 1 - player
    if link.value == 1:
        discard_random(state, frame, player)
        return
    work = send(state, GRAVE, BY_EFFECT, player)
    for k in range(min(2, state.sizes[other, DECK_PILE])):
        put_in(work, state.piles[other, DECK_PILE, state.sizes[other, DECK_PILE] - 1 - k])
    all_or_done(state, work)


@rule
def wizard_goes_on(state, frame, player):
    """A coin decides whose monsters are destroyed; one's own cost half their attack."""
    if frame.step == 1:
        right = (state.options[state.answer].value == 60) == (toss_coin(state) == 1)
        side = 1 - player if right else player
        frame.args[0] = 0 if right else 1
        work = destroy(state, BY_EFFECT, player)
        for zone in range(7):
            if state.monsters[side, zone] != NOBODY:
                put_in(work, state.monsters[side, zone])
        frame.count = work.count
        for k in range(work.count):
            frame.cards[k] = work.cards[k]
        all_or_done(state, work)
        frame.step = 2
        return False
    if frame.args[0]:
        total = 0
        for k in range(frame.count):
            card = state.cards[frame.cards[k]]
            if card.was_position & UP and card.place != MZONE:
                total += card.was_attack
        hurt(state, player, total // 2)
    return True


@rule
def banish_battlers(state, player):
    """Both monsters of the battle leave the game."""
    work = send(state, BANISHED, BY_EFFECT, player)
    for k in range(2):
        c = state.attacker if k == 0 else state.attack_target
        arrival = state.attacker_stamp if k == 0 else state.target_stamp
        if c != NOBODY and state.cards[c].place == MZONE and state.cards[c].arrival == arrival:
            put_in(work, c)
    all_or_done(state, work)


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
def show_monsters(state, player):
    """Face-down monsters of the other player are turned face-up as they lie."""
    work = change_position(state, NOBODY, UP_DEFENSE, player)
    work.count = 0
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and not is_up(state, c):
            put_in(work, c)
    all_or_done(state, work)


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
    """A die's number times a hundred, for all monsters of one side."""
    amount = effect.a * 100 * roll_die(state)
    side = player if effect.b == OWN_MONSTERS else 1 - player
    for zone in range(7):
        c = state.monsters[side, zone]
        if c != NOBODY and is_up(state, c):
            state.cards[c].attack_up += amount
            state.cards[c].defense_up += amount


@rule
def swap_values(state, link):
    """Original attack and defense change places, for those that lay face-up when the card was played."""
    for side in range(2):
        for zone in range(7):
            c = state.monsters[side, zone]
            if c == NOBODY or state.cards[c].stamp > link.value or state.cards[c].enabled_at > link.value:
                continue
            if is_up(state, c) and CARDS[state.cards[c].code].types & LINK == 0:
                state.cards[c].swapped = 1 - state.cards[c].swapped


@rule
def cross_out(state, frame, link, player):
    """A face-down monster is destroyed and banished; if it was a flip monster, so are its copies in the decks."""
    c = first_target(state, link)
    frame.args[0] = NOBODY
    if c == NOBODY or is_up(state, c):
        frame.step = 9
        return
    frame.args[0] = c
    work = destroy(state, BY_EFFECT, player)
    work.args[3] = BANISHED
    put_in(work, c)


@rule
def nobleman_goes_on(state, frame, player):
    c = frame.args[0]
    frame.step = 9
    if state.result == 0 or CARDS[state.cards[c].code].types & FLIP == 0 or state.cards[c].place != BANISHED:
        return True
    work = send(state, BANISHED, BY_EFFECT, player)
    for side in range(2):
        for k in range(state.sizes[side, DECK_PILE]):
            other = state.piles[side, DECK_PILE, k]
            if state.cards[other].code == state.cards[c].code:
                put_in(work, other)
    all_or_done(state, work)
    return False


@rule
def negate(state, frame, link, do, player):
    """The link before this one, or a summon, comes to nothing."""
    if do == NEGATE_SUMMON or (do == SOLEMN and link.event.code != CHAINING):
        c = state.negating_summon
        if c != NOBODY and state.cards[c].status & BEING_SUMMONED:
            state.cards[c].status = (state.cards[c].status | SUMMON_NEGATED) & ~BEING_SUMMONED
            destroy_one(state, c, player)
        return
    if state.links < 2:
        return
    answered = state.chain[state.links - 2]
    if do == NEGATE_EFFECT:
        answered.flags |= LINK_DISABLED
        return
    answered.flags |= LINK_NEGATED
    if do == STARDUST:
        state.cards[link.card].lasting = state.turn + 1
    card = state.cards[answered.card]
    if card.stamp == answered.stamp and card.place & (GRAVE | BANISHED) == 0:
        if answered.flags & LINK_ACTIVATION:
            card.status |= ACTIVATION_NEGATED
        destroy_one(state, answered.card, player)


@rule
def spring(state, frame, link, do, player):
    """Traps that destroy what attacks or was summoned."""
    if do == RUIN:
        destroy_extreme(state, frame, RUIN, player)
        return
    if do == TRAP_HOLE:
        c = first_target(state, link)
        if c != NOBODY and is_up(state, c) and attack(state, c) >= 1000:
            destroy_one(state, c, player)
        return
    if do == DESTROY_ATTACKER:
        c = first_target(state, link)
        if (
            c != NOBODY
            and state.cards[c].position == UP_ATTACK
            and state.cards[c].status & ATTACK_ENDED == 0
            and not held_back(state, c)
        ):
            destroy_one(state, c, player)
        return
    work = destroy(state, BY_EFFECT, player)
    if do == BOTTOMLESS:
        work.args[3] = BANISHED
        for k in range(link.event.count):
            c = link.event.cards[k]
            if (
                state.cards[c].place == MZONE
                and state.cards[c].stamp <= link.value
                and is_up(state, c)
                and attack(state, c) >= 1500
            ):
                put_in(work, c)
    else:
        for side in range(2):
            for zone in range(7):
                c = state.monsters[side, zone]
                if c == NOBODY or (do == MIRROR_FORCE and (side == player or state.cards[c].position & IN_ATTACK == 0)):
                    continue
                put_in(work, c)
    all_or_done(state, work)


@rule
def stop_attack(state, link, do, player):
    """The attack is negated, with what follows."""
    a = state.attacker
    if (
        a == NOBODY
        or state.cards[a].place != MZONE
        or state.cards[a].position != UP_ATTACK
        or state.cards[a].status & ATTACK_ENDED
    ):
        return
    if held_back(state, a):
        return
    strength = attack(state, a)
    if do != UTOPIA_NEGATE and first_target(state, link) == NOBODY:
        return
    state.cards[a].status |= ATTACK_ENDED
    if do == CYLINDER:
        hurt(state, 1 - player, strength)
    elif do == DRAINING:
        heal(state, player, strength)
    elif do == NEGATE_ATTACK_AND_END:
        state.end_battle = 1


@rule
def tornado_goes_on(state, frame, link, player):
    """After the destruction a spell or trap of the hand may be set."""
    if frame.step == 1:
        if state.result == 0 or not settable(state, player):
            return True
        frame.step = 2
        ask_yes(state, player, link.card, 0)
        return False
    if frame.step == 2:
        if state.answer == 0:
            return True
        miss(state)
        frame.step = 3
        frame.count = 0
        for k in range(state.sizes[player, HAND_PILE]):
            c = state.piles[player, HAND_PILE, k]
            if can_set(state, c, player):
                put_in(frame, c)
        ask_cards(state, player, frame.cards, frame.count, 1, 1, 0)
        return False
    frame.step = 9
    work = call(state, SET_SPELL)
    work.args[0] = state.picked[0]
    work.args[1] = player
    work.args[2] = 1
    return False


@rule
def can_set(state, c, player):
    types = CARDS[state.cards[c].code].types
    return types & (SPELL | TRAP) != 0 and (types & FIELD != 0 or free_spell_zones(state, player) != 0)


@rule
def settable(state, player):
    for k in range(state.sizes[player, HAND_PILE]):
        if can_set(state, state.piles[player, HAND_PILE, k], player):
            return True
    return False
