"""A monster that lost a battle no longer affects others, although it leaves the field only after the responses."""

import pytest
from positions import Position

from ludus.games.duel.tables.words import GRAVE, HAND, SZONE, UP_ATTACK

LADY, AXE, KYCOO, JINZO, GRAVITY_BIND, DECREE = 7572887, 40619825, 88240808, 77585513, 85742772, 51452091
RADIANT, HOSHININGEN, GANTETSU, BEAVER = 3987233, 7778726, 10002346, 32452818
ELF, LUSTER, HARPIST, RAIDER, OX, DARK_HOLE = 69140098, 11091375, 80770678, 14898066, 5053103, 53129443


def attacked(position, attacker, target):
    """Player 1 attacks with a monster in monster zone 0, equipped with an axe; returns the next question."""
    position.equip(position.spell(1, AXE, 0), position.monster(1, attacker, 0))
    position.begin().choose("ep").choose("bp").choose("attack", attacker).choose(target)
    return position.question(), position.state["about"]


@pytest.mark.parametrize(
    ("giver", "taker", "attack"),
    [
        (RADIANT, ELF, 1900),
        (RADIANT, LUSTER, 1900),
        (HOSHININGEN, HARPIST, 800),
        (HOSHININGEN, RAIDER, 1900),
        (GANTETSU, OX, 1700),
    ],
)
def test_a_lost_monster_no_longer_changes_attack_or_defense(giver, taker, attack):
    position = Position([giver, taker, BEAVER], [LADY, AXE])
    lost = position.monster(0, giver, 3)
    position.monster(0, taker, 1)
    if giver == GANTETSU:
        position.overlay(0, BEAVER, lost)
    assert position.measured(0, 1)[0] != attack
    question = attacked(position, LADY, giver)
    if giver == GANTETSU:
        position.choose("no")
        question = position.question(), position.state["about"]
    assert question == ("effectyn", position.state["monsters"][1, 0])
    assert lost not in position.grave(0)
    assert position.measured(0, 1)[0] == attack


def test_traps_work_again_once_jinzo_has_lost():
    position = Position([JINZO, GRAVITY_BIND], [LADY, AXE])
    position.monster(0, JINZO, 3)
    position.spell(0, GRAVITY_BIND, 2)
    assert position.measured(0, 2, SZONE)[2] == 1
    assert attacked(position, LADY, JINZO)[0] == "effectyn"
    assert position.state["monsters"][0, 3]
    assert position.measured(0, 2, SZONE)[2] == 0


def test_its_trap_is_destroyed_with_it_though_it_had_negated_the_trap():
    call = 97077563
    position = Position([JINZO, call], [RAIDER, AXE])
    jinzo, trap = position.monster(0, JINZO, 3), position.spell(0, call, 2)
    position.bind(trap, jinzo)
    attacked(position, RAIDER, JINZO)
    assert position.grave(0) == [jinzo, trap]


def test_a_lost_kycoo_no_longer_protects_graveyards():
    position = Position([KYCOO, OX], [KYCOO, AXE])
    position.monster(0, KYCOO, 3)
    position.lay(0, OX, GRAVE)
    assert attacked(position, KYCOO, KYCOO) == ("effectyn", position.state["monsters"][1, 0])
    assert position.state["monsters"][0, 3]


def test_a_decree_that_was_negated_negates_others_only_once_the_next_link_is_complete():
    position = Position([JINZO, GRAVITY_BIND], [LADY, AXE, DECREE])
    position.monster(0, JINZO, 3)
    position.spell(0, GRAVITY_BIND, 2)
    position.spell(1, DECREE, 2)
    assert attacked(position, LADY, JINZO)[0] == "effectyn"
    assert position.measured(0, 2, SZONE)[2] == position.measured(1, 2, SZONE)[2] == 0
    position.choose("yes")
    assert (position.measured(0, 2, SZONE)[2], position.measured(1, 2, SZONE)[2]) == (1, 0)


def test_of_two_decrees_that_a_monster_stopped_the_first_born_is_in_force_when_it_goes():
    position = Position([JINZO, DECREE, DECREE, DARK_HOLE], [OX])
    position.spell(0, DECREE, 3, number=1)
    position.spell(0, DECREE, 1)
    position.monster(0, JINZO, 2)
    position.lay(0, DARK_HOLE, HAND)
    position.begin().choose("act", DARK_HOLE).choose(SZONE, 0)
    assert [position.measured(0, zone, SZONE)[2] for zone in (1, 3)] == [0, 1]


def test_a_trap_that_a_freed_decree_negates_does_nothing_in_between():
    capture_jar, dragon = 50045299, 67724379
    position = Position([JINZO, capture_jar], [LADY, AXE, DECREE, dragon])
    position.monster(0, JINZO, 3)
    position.spell(0, capture_jar, 2)
    position.spell(1, DECREE, 2)
    koumori = position.monster(1, dragon, 1)
    assert attacked(position, LADY, JINZO)[0] == "effectyn"
    position.choose("no")
    assert position.question() == "battlecmd"
    assert position.cards["position"][koumori] == UP_ATTACK
