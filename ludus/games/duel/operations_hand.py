"""What effects do when they resolve: drawing, discarding, searching, and setting from the hand."""

from ludus.games.duel.events import miss
from ludus.games.duel.filters import gather
from ludus.games.duel.frames import SET_SPELL, ask_cards, ask_yes, call
from ludus.games.duel.moving import draw, heal, hurt, put_in, send
from ludus.games.duel.operations_targets import FINISHED, all_or_done
from ludus.games.duel.randomness import random_in_hand, shuffle_hand
from ludus.games.duel.state import BY_DISCARD, BY_EFFECT, DECK_PILE, HAND_PILE, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import (
    ADD_COPIES, CARD_DESTRUCTION, CHARITY, DISCARD_RANDOM, DON_ZALOOG, DRAW, DUO, FIELD, GRAVE, HAND, MONSTER,
    MORPHING_JAR, OWN_DECK, SEARCH_AND_BAN, SPELL, THESTALOS, TRAP, UPSTART,
)  # fmt: skip
from ludus.games.duel.zones import free_spell_zones
from ludus.words import rule


@rule
def change_hands(state, frame, link, effect):
    """Drawing and discarding, by either player."""
    do = effect.do
    player = link.player
    if do == DRAW:
        draw(state, player, effect.a, BY_EFFECT)
    elif do == UPSTART:
        if draw(state, player, 1, BY_EFFECT):
            heal(state, 1 - player, 1000)
    elif do == CHARITY:
        draw_then_discard(state, frame, player)
    elif do == DUO or do == DISCARD_RANDOM or do == THESTALOS:
        discard_random(state, frame, player)
    elif do == CARD_DESTRUCTION or do == MORPHING_JAR:
        discard_hands(state, frame, player)
    elif do == DON_ZALOOG:
        zaloog(state, frame, link, player)


@rule
def draw_then_discard(state, frame, player):
    """Three cards are drawn, then two of the hand chosen to be discarded."""
    if draw(state, player, 3, BY_EFFECT) < 3:
        frame.step = FINISHED
        return
    shuffle_hand(state, player)
    frame.count = 0
    for k in range(state.sizes[player, HAND_PILE]):
        put_in(frame, state.piles[player, HAND_PILE, k])
    ask_cards(state, player, frame.cards, frame.count, 2, 2, 0)


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
    frame.step = FINISHED
    discard_picked(state, other)
    return False


@rule
def burn_for_discarded(state, frame, player):
    """A monster that was discarded burns its owner for its level."""
    c = frame.args[0]
    if c != NOBODY and CARDS[state.cards[c].code].types & MONSTER:
        hurt(state, 1 - player, 100 * CARDS[state.cards[c].code].level)


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
def take_found(state, frame, do, player):
    """What was found goes to the hand; its name may be sealed for the turn."""
    if state.picked_count == 0:
        return True
    frame.step = FINISHED
    work = send(state, HAND, BY_EFFECT, player)
    for k in range(state.picked_count):
        put_in(work, state.picked[k])
    if do == SEARCH_AND_BAN and state.sealed_count[player] < 8:
        state.sealed[player, state.sealed_count[player]] = state.cards[state.picked[0]].code
        state.sealed_count[player] += 1
    return False


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
    frame.step = FINISHED
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
