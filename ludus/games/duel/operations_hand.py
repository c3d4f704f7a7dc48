"""What effects do when they resolve: drawing, discarding and searching."""

from ludus.games.duel.card_moves import draw, heal
from ludus.games.duel.filters import gather
from ludus.games.duel.frames import ask_cards
from ludus.games.duel.operations_targets import FINISHED, all_or_done
from ludus.games.duel.processes import put_in, send
from ludus.games.duel.randomness import random_in_hand
from ludus.games.duel.state import BY_DISCARD, BY_EFFECT, DECK_PILE, NOBODY
from ludus.games.duel.tables.words import (
    ADD_COPIES, DISCARD_RANDOM, DRAW, GRAVE, HAND, OWN_DECK, SEARCH_AND_BAN, UPSTART,
)  # fmt: skip
from ludus.dsl import rule

DISCARDED = 0
"""argument slot of effects that discard a random card: that card"""


@rule
def change_hands(state, frame, link, effect):
    """Draw or discard cards."""
    do = effect.do
    player = link.player
    if do == DRAW:
        draw(state, player, effect.a, BY_EFFECT)
    elif do == UPSTART:
        if draw(state, player, 1, BY_EFFECT):
            heal(state, 1 - player, 1000)
    elif do == DISCARD_RANDOM:
        discard_random(state, frame, player)


@rule
def discard_picked(state, player):
    work = send(state, GRAVE, BY_EFFECT | BY_DISCARD, player)
    for k in range(state.picked_count):
        put_in(work, state.picked[k])
    all_or_done(state, work)


@rule
def discard_random(state, frame, player):
    """The opponent discards a random card."""
    c = random_in_hand(state, 1 - player)
    frame.args[DISCARDED] = c
    if c != NOBODY:
        put_in(send(state, GRAVE, BY_EFFECT | BY_DISCARD, player), c)


@rule
def search(state, frame, link, effect):
    """Ask for a card of the deck, or for copies of this one."""
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
    """Add the chosen cards to the hand; SEARCH_AND_BAN forbids their use this turn. Whether all is done."""
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
