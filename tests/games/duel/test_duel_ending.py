"""The end of a duel: when it ends, the winner, and the reason."""

import pytest
from positions import Position

from ludus.dsl import OVER
from ludus.dsl.rows import new_rows
from ludus.games.duel.adjustment import BY_DECK, BY_LIFE, DRAWN_DUEL, check_end
from ludus.games.duel.state import STATE
from ludus.games.duel.tables.words import HAND

GERM, RAIDER, FIRE = 95178994, 14898066, 46918794


def attacked_germ(life):
    """Player 1, with these life points, destroyed a Giant Germ of player 0 by battle; another one is in the deck."""
    position = Position([GERM, GERM], [RAIDER], life=(8000, life))
    position.monster(0, GERM, 2)
    position.monster(1, RAIDER, 2)
    return position.begin().choose("ep").choose("bp").choose("attack", RAIDER).choose(GERM)


def ended(position):
    state = position.state
    return state["status"] == OVER and (int(state["winner"]), int(state["win_reason"]))


def test_an_effect_with_further_parts_ends_the_duel_at_its_lethal_part():
    position = attacked_germ(400)
    assert (position.question(), position.state["life"][1]) == ("yesno", -100)
    position.choose("yes")
    assert ended(position) == (0, BY_LIFE)
    assert position.state["links"] == 1, "the effect has not been resolved to its end"


def test_an_effect_without_further_parts_resolves_before_the_duel_ends():
    position = attacked_germ(400)
    position.choose("no")
    assert ended(position) == (0, BY_LIFE)
    assert position.state["links"] == 0


def test_an_effect_continues_if_nobody_has_lost():
    position = attacked_germ(1000)
    position.choose("yes")
    assert position.question() == "card"
    assert not ended(position)


def test_both_lose_at_once():
    position = Position([FIRE], [], life=(500, 1000))
    position.lay(0, FIRE, HAND)
    position.begin().choose("act", FIRE).choose(8, 0)
    assert ended(position) == (DRAWN_DUEL, BY_LIFE)


@pytest.mark.parametrize(
    ("life", "overdrawn", "result"),
    [
        ((1, 1), (0, 0), None),
        ((0, 1), (0, 0), (1, BY_LIFE)),
        ((1, -5), (0, 0), (0, BY_LIFE)),
        ((0, -5), (0, 0), (DRAWN_DUEL, BY_LIFE)),
        ((1, 1), (1, 0), (1, BY_DECK)),
        ((1, 1), (0, 1), (0, BY_DECK)),
        ((1, 1), (1, 1), (DRAWN_DUEL, BY_DECK)),
        ((0, 1), (1, 0), (1, BY_DECK)),
        ((0, 1), (0, 1), (0, BY_DECK)),
        ((1, 0), (1, 0), (0, BY_LIFE)),
        ((1, 0), (0, 1), (0, BY_DECK)),
        ((0, 0), (0, 1), (DRAWN_DUEL, BY_LIFE)),
        ((0, 0), (1, 0), (DRAWN_DUEL, BY_LIFE)),
        ((0, 1), (1, 1), (DRAWN_DUEL, BY_DECK)),
        ((0, 0), (1, 1), (DRAWN_DUEL, BY_DECK)),
    ],
)
def test_of_several_reasons_the_one_checked_last_counts(life, overdrawn, result):
    rows = new_rows(1, STATE)
    rows["life"][0], rows["overdrawn"][0] = life, overdrawn
    assert check_end(rows[0]) == (result is not None)
    if result:
        assert (rows["winner"][0], rows["win_reason"][0], rows["status"][0]) == (*result, OVER)
