"""Enemy Controller: change the position of a monster, or tribute one to take control until the end phase."""

from ludus.games.duel.filters import can_release, can_target
from ludus.games.duel.frames import FIRST_STEP, ask_tribute, offer
from ludus.games.duel.processes import change_position, put_in, take_control
from ludus.games.duel.state import CHOOSES, NOBODY
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables.words import IN_ATTACK, LINK, MZONE, UP_ATTACK, UP_DEFENSE
from ludus.games.duel.zones import free_monster_zones, is_up
from ludus.dsl import rule

TURN, TAKE = 1, 2
"""values of the link: which of the two effects was chosen"""


@rule
def possible(state, player):
    return can_turn(state, player) or can_take(state, player)


@rule
def can_turn(state, player):
    """Whether the opponent has a monster whose position can change."""
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and is_up(state, c) and CARDS[state.cards[c].code].types & LINK == 0 and can_target(state, c):
            return True
    return False


@rule
def can_take(state, player):
    """Whether there are a tribute, a monster of the opponent, and a zone for it."""
    frees = free_monster_zones(state, player) != 0
    releases = False
    for zone in range(7):
        if can_release(state, state.monsters[player, zone]):
            releases = True
            frees = frees or zone < 5
    for zone in range(7):
        c = state.monsters[1 - player, zone]
        if c != NOBODY and is_up(state, c) and can_target(state, c):
            return releases and frees
    return False


@rule
def offer_branches(state, c, player):
    """Those of the two effects that are possible now."""
    if can_turn(state, player):
        offer(state, CHOOSES, c, 0, TURN, 0)
    if can_take(state, player):
        offer(state, CHOOSES, c, 0, TAKE, 0)


@rule
def ask_for_tribute(state, frame, player):
    """Which monster is tributed to take control of another one."""
    frame.count = 0
    for zone in range(7):
        if can_release(state, state.monsters[player, zone]) and (zone < 5 or free_monster_zones(state, player)):
            put_in(frame, state.monsters[player, zone])
    ask_tribute(state, frame, player)


@rule
def keep_targets(state, frame):
    """Drop Link monsters, as their position cannot change."""
    at = 0
    for k in range(frame.count):
        if CARDS[state.cards[frame.cards[k]].code].types & LINK == 0:
            frame.cards[at] = frame.cards[k]
            at += 1
    frame.count = at


@rule
def resolve(state, step, link, c, player):
    """Whether all is done."""
    if step != FIRST_STEP or c == NOBODY or state.cards[c].place != MZONE or not is_up(state, c):
        return True
    if link.value != TAKE:
        change_position(state, c, UP_DEFENSE if state.cards[c].position & IN_ATTACK else UP_ATTACK, player)
        return False
    if state.cards[c].controller == player:
        return True
    take_control(state, c, player, 1)
    return False
