"""Matches: every player has each seat equally often, and the results are those of the first player."""

import numpy as np
import pytest
from habits import Always, Counting, player

from ludus.bridges import open_pool
from ludus.evaluation import scores
from ludus.evaluation.statistics import wilson
from ludus.types import LudusError


def test_perfect_players_draw():
    match = scores.match("tictactoe", [player("perfect", "tictactoe")] * 2, games=200, rows=64)
    assert (match.wins, match.draws, match.losses) == (0, 200, 0)
    assert match.mean == 0 and match.rate.estimate == 0.5


def test_the_perfect_player_never_loses_to_a_random_one():
    players = [player("perfect", "tictactoe"), player("random", "tictactoe")]
    match = scores.match("tictactoe", players, games=1000)
    assert match.losses == 0 and match.wins > 800 and match.wins + match.draws == match.games == 1000
    assert [seat.games for seat in match.seats] == [500, 500] and match.seats[0].wins > match.seats[1].wins
    assert sum(seat.wins for seat in match.seats) == match.wins and match.mean == match.wins / 1000
    assert match.rate == wilson(match.wins + match.draws / 2, 1000)
    other = scores.match("tictactoe", players[::-1], games=1000)
    assert other.wins == 0 and other.losses > 800 and other.mean == -other.losses / 1000


def test_three_players_sit_in_each_seat_equally_often():
    match = scores.match("trio", [(Always(n), ()) for n in range(3)], games=30, rows=7)
    places = match.returns - np.arange(3)
    assert set(np.unique(places)) == {0, 10, 20}, "everyone played its own number, wherever it sat"
    for place in (0, 10, 20):
        np.testing.assert_array_equal((places == place).sum(axis=0), [10, 10, 10])
    assert (match.wins, match.draws, match.losses) == (10, 0, 20), "who sits last gets most"
    assert [seat.interval.estimate for seat in match.seats] == [0, 10, 20]
    assert [seat.wins for seat in match.seats] == [0, 0, 10]


def test_two_players_share_many_seats():
    match = scores.match("trio", [(Always(0), ()), (Always(2), ())], games=10)
    np.testing.assert_array_equal(match.returns, [[10, 12]] * 10)
    assert [seat.games for seat in match.seats] == [5, 5, 5] and match.losses == 10
    assert [seat.interval.estimate for seat in match.seats] == [0, 10, 20]


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_seats_are_balanced_for_every_number_of_rows(rows):
    match = scores.match("tictactoe", [player("random", "tictactoe")] * 2, games=22, rows=rows)
    assert [seat.games for seat in match.seats] == [11, 11]


def test_all_seats_at_once_in_a_native_game():
    """A player that bids the value of the prize beats one that bids at random, from either seat."""

    class Greedy(Always):
        def act(self, params, memory, step, key):
            decision, _ = super().act(params, memory, step, key)
            return decision._replace(action=step.observation["prize"].astype(np.int64).clip(1) - 1), memory

    match = scores.match("goofspiel", [(Greedy(0), ()), player("random", "goofspiel")], games=400, rows=64)
    assert match.rate.low > 0.8 and min(seat.wins for seat in match.seats) > 150
    np.testing.assert_array_equal(match.returns.sum(axis=1), 0)


def test_all_seats_at_once_in_pettingzoo():
    pytest.importorskip("pettingzoo")
    rock, paper = (Always(0), ()), (Always(1), ())
    match = scores.match("pettingzoo:classic/rps-v2(max_cycles=3)", [paper, rock], games=8, rows=3)
    assert match.wins == 8 and [seat.wins for seat in match.seats] == [4, 4] and match.mean == 3


def test_turns_in_pettingzoo():
    pytest.importorskip("pettingzoo")
    name = "pettingzoo:classic/tictactoe-v3"
    pool = open_pool(name, 16)

    class FirstFree(Always):
        def act(self, params, memory, step, key):
            decision, _ = super().act(params, memory, step, key)
            return decision._replace(action=step.mask.argmax(axis=1)), memory

    match = scores.match(pool, [(FirstFree(0), ()), (FirstFree(0), ())], games=16)
    assert [(seat.wins, seat.losses) for seat in match.seats] == [(8, 0), (0, 8)], "the one who begins fills a line"


def test_memory_is_kept_by_each_player_alone():
    """Every player's count of its own moves agrees with the board, in both seats and in every game."""
    first, second = (Counting(lambda step: (step.observation["board"] == 1).sum(axis=1), []) for _ in range(2))
    scores.match("tictactoe", [(first, ()), (second, ())], games=60, rows=8)
    assert sum(first.compared) > 150 and sum(second.compared) > 150


def test_memory_is_kept_where_all_act_at_once():
    def spent(step):
        return 13 - step.observation["cards"][:, 0].sum(axis=1)

    agent = Counting(spent, [])
    scores.match("goofspiel", [(agent, ()), player("random", "goofspiel")], games=20, rows=6)
    assert sum(agent.compared) == 20 * 13


def test_equal_seeds_give_equal_matches():
    def returns(seed):
        return scores.match("goofspiel", [player("random", "goofspiel")] * 2, games=60, seed=seed, rows=16).returns

    np.testing.assert_array_equal(returns(1), returns(1))
    assert not np.array_equal(returns(1), returns(-2))


def test_equal_players_have_different_random_numbers():
    keys = [], []

    def recording(received):
        class Listening(Always):
            def act(self, params, memory, step, key):
                received.append(key)
                return super().act(params, memory, step, key)

        return Listening(0), ()

    scores.match("trio", [recording(received) for received in keys], games=40, rows=2)
    assert len(keys[0]) > 20 and len(set(keys[0] + keys[1])) == len(keys[0] + keys[1])


REFUSED = [
    ("tictactoe", 2, 0, "cannot play 0 games"),
    ("tictactoe", 2, 5, "with 5 games, 2 players cannot have each seat equally often; play 4 or 6"),
    ("trio", 3, 2, "with 2 games, 3 players cannot have each seat equally often; play 3"),
    ("tictactoe", 1, 4, "tictactoe has 2 seats; a match needs one player for each, or two, not 1"),
    ("tictactoe", 3, 6, "not 3"),
    ("trio", 4, 12, "trio has 3 seats; a match needs one player for each, or two, not 4"),
    ("patience", 2, 4, "patience has only one seat, so there are no matches; compare the scores of two agents instead"),
]


@pytest.mark.parametrize(("game", "players", "games", "message"), REFUSED)
def test_unbalanced_matches_are_rejected(game, players, games, message):
    with pytest.raises(LudusError, match=message):
        scores.match(game, [(Always(0), ())] * players, games=games)
