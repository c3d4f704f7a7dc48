"""Cards that leave the field together: which values count, and in which order effects and questions come."""

import pytest
from positions import Position

from ludus.games.duel.tables.words import HAND

CALL, BURIAL, DECREE, TOON_WORLD = 97077563, 70828912, 51452091, 15259703
TRUNADE, STORM, DARK_HOLE = 42703248, 19613556, 53129443
OX, RAIDER, ELF, BEAVER, JAR = 5053103, 48305365, 69140098, 32452818, 33508719
MERMAID, TOON_SKULL = 65458948, 91842653
TIME_WIZARD, RADIANT = 71625222, 3987233
GANTETSU, RELINQUISHED = 10002346, 64631466
TAILS = (2, 0, 1, 0)
"""the fed random result: a coin of player 0, one number, tails"""


def play(position, code):
    """Player 0 activates a card of the hand in spell zone 4."""
    position.lay(0, code, HAND)
    return position.begin().choose("act", code).choose(8, 4)


@pytest.mark.parametrize("sweeper", [TRUNADE, STORM])
@pytest.mark.parametrize("other", [CALL, BURIAL])
def test_cards_that_have_left_act_in_the_order_of_their_numbers(sweeper, other):
    position = Position([CALL, other, OX, RAIDER, sweeper], [])
    ox, raider = position.monster(0, OX, 4), position.monster(0, RAIDER, 0)
    position.bind(position.spell(0, CALL, 3), ox)
    if other == CALL:
        position.bind(position.spell(0, CALL, 2), raider)
    else:
        position.equip(position.spell(0, BURIAL, 2), raider)
    play(position, sweeper)
    stays = [raider] if (sweeper, other) == (TRUNADE, BURIAL) else []
    assert [c for c in position.grave(0) if c in (ox, raider)] == [c for c in (ox, raider) if c not in stays]


def test_cards_on_the_field_act_in_the_order_in_which_they_came():
    position = Position([CALL, CALL, OX, RAIDER, DARK_HOLE], [])
    early, late = position.spell(0, CALL, 3), position.spell(0, CALL, 0)
    position.bind(early, position.monster(0, OX, 4))
    position.bind(late, position.monster(0, RAIDER, 0))
    play(position, DARK_HOLE)
    assert [c for c in position.grave(0) if c in (early, late)] == [early, late]


def test_toons_fall_one_by_one_in_the_order_in_which_they_came():
    position = Position([TOON_WORLD, MERMAID, TOON_SKULL, STORM], [])
    position.spell(0, TOON_WORLD, 0)
    early, late = position.monster(0, TOON_SKULL, 3), position.monster(0, MERMAID, 1)
    play(position, STORM)
    assert [c for c in position.grave(0) if c in (early, late)] == [early, late]


def test_cards_that_have_left_act_before_cards_that_watch():
    position = Position([TOON_WORLD, CALL, MERMAID, OX, STORM], [])
    position.spell(0, TOON_WORLD, 0)
    toon, ox = position.monster(0, MERMAID, 0), position.monster(0, OX, 1)
    position.bind(position.spell(0, CALL, 1), ox)
    play(position, STORM)
    assert [c for c in position.grave(0) if c in (toon, ox)] == [ox, toon]


@pytest.mark.parametrize("sweeper", [STORM, DARK_HOLE])
def test_cards_of_the_turn_player_act_first(sweeper):
    position = Position([CALL, OX], [CALL, RAIDER, sweeper])
    ox, raider = position.monster(0, OX, 0), position.monster(1, RAIDER, 0)
    traps = position.spell(0, CALL, 0), position.spell(1, CALL, 0)
    position.bind(traps[0], ox)
    position.bind(traps[1], raider)
    position.lay(1, sweeper, HAND)
    position.begin().choose("ep").choose("act", sweeper).choose(8, 4)
    mine, others = (ox, raider) if sweeper == STORM else traps
    assert (mine in position.grave(0), others in position.grave(1)) == (True, True)
    assert position.cards["stamp"][others] < position.cards["stamp"][mine]


def test_a_trap_that_leaves_with_what_negated_it_stays_negated():
    position = Position([DECREE, CALL, OX, STORM], [])
    ox = position.monster(0, OX, 2)
    position.spell(0, DECREE, 0)
    position.bind(position.spell(0, CALL, 1), ox)
    play(position, STORM)
    assert ox not in position.grave(0)


def test_monsters_that_leave_together_keep_their_mutual_bonuses():
    position = Position([TIME_WIZARD, RADIANT, ELF], [])
    position.monster(0, RADIANT, 0)
    position.monster(0, TIME_WIZARD, 1)
    position.monster(0, ELF, 2)
    position.begin().choose("act", TIME_WIZARD).choose(60, random=TAILS)
    assert position.state["life"][0] == 8000 - (1400 + 500 + 500 + 1900 + 500) // 2


def gantetsus(position):
    """A Gantetsu with a material on each side: first the opponent's, then that of player 0."""
    others, mine = position.monster(1, GANTETSU, 1), position.monster(0, GANTETSU, 3)
    position.overlay(1, BEAVER, others)
    position.overlay(0, BEAVER, mine)
    return mine, others


def test_replacements_are_offered_in_the_order_of_card_numbers():
    position = Position([DARK_HOLE, GANTETSU, GANTETSU, BEAVER, BEAVER], [])
    first, second = position.monster(0, GANTETSU, 4), position.monster(0, GANTETSU, 0)
    position.overlay(0, BEAVER, first)
    position.overlay(0, BEAVER, second)
    play(position, DARK_HOLE)
    assert (position.question(), position.state["about"]) == ("effectyn", first)
    position.choose("yes").choose(BEAVER)
    assert (position.question(), position.state["about"]) == ("effectyn", second)


def test_in_a_battle_all_replacements_are_offered_before_one_is_paid():
    position = Position([GANTETSU, BEAVER], [GANTETSU, BEAVER])
    mine, others = gantetsus(position)
    position.begin().choose("ep").choose("bp").choose("attack", GANTETSU).choose(GANTETSU)
    assert (position.question(), position.state["about"]) == ("effectyn", mine)
    position.choose("yes")
    assert (position.question(), position.state["about"]) == ("effectyn", others)
    position.choose("yes")
    assert (position.question(), position.state["asked"]) == ("card", 0)
    position.choose(BEAVER)
    assert (position.question(), position.state["asked"]) == ("card", 1)
    position.choose(BEAVER)
    assert position.question() == "battlecmd"
    assert position.cards["overlays"][[mine, others]].tolist() == [0, 0]


def test_a_monster_without_a_chosen_replacement_is_lost():
    position = Position([GANTETSU, BEAVER], [GANTETSU, BEAVER])
    mine, others = gantetsus(position)
    position.begin().choose("ep").choose("bp").choose("attack", GANTETSU).choose(GANTETSU)
    position.choose("no").choose("yes").choose(BEAVER)
    assert mine in position.grave(0)
    assert others not in position.grave(1)


def test_an_equip_card_shields_its_monster_after_all_questions():
    position = Position([RELINQUISHED, JAR], [GANTETSU, BEAVER])
    gantetsu, eater = position.monster(1, GANTETSU, 1), position.monster(0, RELINQUISHED, 2)
    position.overlay(1, BEAVER, gantetsu)
    shield = position.equip(position.spell(0, JAR, 0), eater)
    assert position.measured(0, 2)[0] == position.measured(1, 1)[0] == 700
    position.begin().choose("ep").choose("bp").choose("attack", GANTETSU).choose(RELINQUISHED)
    assert (position.question(), position.state["about"]) == ("effectyn", gantetsu)
    assert shield not in position.grave(0)
    position.choose("yes").choose(BEAVER)
    assert shield in position.grave(0)
