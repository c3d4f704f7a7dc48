"""What is destroyed at once, without a chain, when cards leave the field.

Cards that have left act first, then cards that still lie on the field and watch others leave. In both groups the turn
player's cards come first; cards that have left are ordered by number (`born`), cards on the field by arrival
(`stamp`). Each acts alone: what it destroys has left before the next one acts.
"""

from ludus.games.duel.cards import toons
from ludus.games.duel.state import BY_DESTRUCTION, NOBODY
from ludus.games.duel.tables.words import BOUND_TO_MONSTER, DESTROYS_EQUIPPED, IS_TOON, MZONE, ON_FIELD
from ludus.games.duel.values import has, reaches_others
from ludus.games.duel.zones import is_in, traits_of
from ludus.dsl import rule

WATCHES = BOUND_TO_MONSTER | IS_TOON
"""traits of cards that watch others leave the field"""
ACTS_ON_LEAVING = WATCHES | DESTROYS_EQUIPPED
"""traits of all cards that act when something leaves the field"""
LEFT, WATCHER, LAST = 4, 5, 6
"""argument slots of SEND: how many cards that have left were examined, once for each player; whose watchers are
examined, 0 for the turn player's; the stamp of the watcher that was examined last"""


@rule
def next_victim(state, frame):
    """The next card that is destroyed because the cards of this frame have left, or NOBODY."""
    victim = NOBODY
    if state.traits & ACTS_ON_LEAVING:
        victim = victim_of_leaving(state, frame)
        if victim == NOBODY and state.traits & WATCHES:
            victim = victim_of_watching(state, frame)
    return victim


@rule
def victim_of_leaving(state, frame):
    """The next card that is destroyed by a card that has left."""
    while frame.args[LEFT] < 2 * frame.count:
        turn_players = frame.args[LEFT] < frame.count
        c = frame.cards[frame.args[LEFT] % frame.count]
        frame.args[LEFT] += 1
        if (state.cards[c].controller == state.turn_player) == turn_players:
            victim = taken_along(state, c)
            if victim != NOBODY:
                return victim
    return NOBODY


@rule
def victim_of_watching(state, frame):
    """The next card on the field that is destroyed because of the cards that have left."""
    while frame.args[WATCHER] < 2:
        player = state.turn_player if frame.args[WATCHER] == 0 else 1 - state.turn_player
        watcher = next_watcher(state, player, frame.args[LAST])
        if watcher == NOBODY:
            frame.args[WATCHER] += 1
            frame.args[LAST] = 0
            continue
        frame.args[LAST] = state.cards[watcher].stamp
        if falls_with(state, watcher, frame):
            return watcher
    return NOBODY


@rule
def taken_along(state, c):
    """The monster that a card destroys when it leaves the field."""
    card = state.cards[c]
    if card.was_place & ON_FIELD == 0:
        return NOBODY
    if traits_of(state, c) & DESTROYS_EQUIPPED and card.reason & BY_DESTRUCTION:
        target = card.equipped_to
        card.equipped_to = NOBODY
        return target if target != NOBODY and state.cards[target].place == MZONE else NOBODY
    if traits_of(state, c) & BOUND_TO_MONSTER:
        return released(state, c)
    return NOBODY


@rule
def released(state, c):
    """The monster that this trap has revived and that is destroyed with it, unless the trap was negated."""
    for player in range(2):
        for zone in range(7):
            m = state.monsters[player, zone]
            if m != NOBODY and state.cards[m].bound_to == c:
                state.cards[m].bound_to = NOBODY
                return m if state.cards[c].lasting else NOBODY
    return NOBODY


@rule
def next_watcher(state, player, after):
    """The player's watching card with the lowest stamp above this one."""
    found = NOBODY
    for zone in range(7):
        found = earlier(state, state.monsters[player, zone], found, IS_TOON, after)
    for zone in range(5):
        found = earlier(state, state.spells[player, zone], found, BOUND_TO_MONSTER, after)
    return found


@rule
def earlier(state, c, found, trait, after):
    """The earlier one of two cards, if `c` has the trait and arrived after a stamp."""
    if c == NOBODY or traits_of(state, c) & trait == 0 or state.cards[c].stamp <= after:
        return found
    return c if found == NOBODY or state.cards[c].stamp < state.cards[found].stamp else found


@rule
def falls_with(state, c, frame):
    """Whether a card on the field is destroyed because of the cards that have left."""
    if traits_of(state, c) & IS_TOON:
        return toons.toon_world_fell(state, frame) and reaches_others(state, c, IS_TOON)
    monster = state.cards[c].bound_to
    if monster == NOBODY or not is_in(frame.cards, frame.count, monster):
        return False
    state.cards[c].bound_to = NOBODY
    return state.cards[monster].reason & BY_DESTRUCTION != 0 and has(state, c, BOUND_TO_MONSTER)
