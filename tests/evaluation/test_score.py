"""Scores: exactly the requested number of games, no bias towards short games, and correct intervals."""

import numpy as np
import pytest
from habits import Always, Counting, player

from ludus.bridges import open_pool
from ludus.dsl import PLAYING
from ludus.evaluation import scores
from ludus.pool import Pool
from ludus.types import LudusError


def first_finished(name, games, rows, seed):
    """The biased estimate: the mean of the first games that finish."""
    pool, found, total = Pool(name, rows, seed), [], np.zeros(rows)
    while len(found) < games:
        total += pool.advance(pool.random_actions(0)).reward[:, 0]
        ended = pool.status != PLAYING
        found.extend(total[ended])
        total[ended] = 0
    return np.array(found[:games])


def test_short_games_are_not_preferred():
    """With a row for each game, the first games to finish are all short, so the biased estimate is 1."""
    score = scores.score("patience", *player("random", "patience"), games=2000, seed=3, rows=2000)
    assert score.interval.low < 0.5 < score.interval.high
    assert abs(score.lengths.mean() - 20.5) < 2
    assert first_finished("patience", 2000, 2000, 3).mean() == 1


@pytest.mark.parametrize(("games", "rows"), [(1, 256), (10, 4), (7, 7), (100, 256), (257, 256)])
def test_exactly_the_requested_games_are_played(games, rows):
    score = scores.score("patience", Always(0), (), games=games, rows=rows)
    assert score.games == games and score.returns.shape == (games, 1) and score.lengths.shape == (games,)
    assert set(score.lengths) <= {1, 40}, "every game was played to its end"
    np.testing.assert_array_equal(score.returns[:, 0], score.lengths == 1)
    assert score.mean == score.returns.mean() and score.cut == 0


def test_games_do_not_depend_on_how_many_are_counted():
    """It is known in advance which games count; more games only add to them."""
    few, many = (scores.score("patience", Always(0), (), games=games, rows=16) for games in (20, 50))
    np.testing.assert_array_equal(few.lengths, many.lengths[:20])


def frozen_lake_value(steps=100):
    """The exact probability that random moves reach the goal, computed step by step."""
    import gymnasium

    table = gymnasium.make("FrozenLake-v1").unwrapped.P
    value = np.zeros(16)
    for _ in range(steps):
        value = np.array(
            [
                np.mean([sum(p * (r + (not end) * value[to]) for p, to, r, end in table[s][a]) for a in range(4)])
                for s in range(16)
            ]
        )
    return value[0]


def test_the_score_of_a_foreign_game_equals_its_exact_value():
    pytest.importorskip("gymnasium")
    name = "gymnasium:FrozenLake-v1"
    pool = open_pool(name, 256)
    score = scores.score(pool, *player("random", name, pool.spec), games=20_000)
    truth = frozen_lake_value()
    assert 0.01 < truth < 0.02
    assert score.interval.low < truth < score.interval.high
    assert score.interval.high - score.interval.low < 0.005


def test_a_game_stepped_in_python_is_scored_too():
    pytest.importorskip("gymnasium")
    score = scores.score("gymnasium:CartPole-v1", Always(1), (), games=9, rows=4)
    np.testing.assert_array_equal(score.returns[:, 0], score.lengths)
    assert score.lengths.min() >= 8 and score.lengths.max() <= 11, "pushing one way topples the pole at once"


def test_games_that_were_cut_off_are_counted():
    score = scores.score("cartpole", *player("scripted", "cartpole"), games=12, rows=8)
    assert score.cut == 12 and set(score.lengths) == {500} and score.mean == 500
    assert scores.score("cartpole", Always(1), (), games=12, rows=8).cut == 0


def test_continuous_actions_are_played():
    score = scores.score("car", *player("random", "car"), games=3, rows=2)
    assert score.returns.shape == (3, 1) and np.isfinite(score.returns).all()


def test_several_seats_have_a_mean_each():
    score = scores.score("trio", Always(2), (), games=30, rows=8)
    assert [seat.estimate for seat in score.seats] == [2, 12, 22] and score.mean == 12
    assert set(score.lengths) == {3}
    duel = scores.score("tictactoe", *player("random", "tictactoe"), games=5000)
    assert duel.mean == 0 and duel.seats[0].low < 0.2972 < duel.seats[0].high, "known: 58.5 % wins, 28.8 % losses"


def test_all_seats_at_once():
    score = scores.score("goofspiel", *player("random", "goofspiel"), games=200, rows=16)
    assert score.returns.shape == (200, 2) and set(score.lengths) == {13}
    np.testing.assert_array_equal(score.returns.sum(axis=1), 0)
    assert set(np.unique(score.returns)) >= {-1, 1}


def test_pettingzoo_by_turns_and_at_once():
    pytest.importorskip("pettingzoo")
    name = "pettingzoo:classic/tictactoe-v3"
    pool = open_pool(name, 8)
    by_turns = scores.score(pool, *player("random", name, pool.spec), games=30)
    assert by_turns.returns.shape == (30, 2) and by_turns.lengths.min() >= 5 and by_turns.lengths.max() <= 9
    at_once = scores.score("pettingzoo:classic/rps-v2(max_cycles=4)", Always(0), (), games=6, rows=4)
    assert at_once.returns.shape == (6, 2) and not at_once.returns.any() and set(at_once.lengths) == {4}


def test_equal_seeds_give_equal_scores():
    def returns(seed):
        return scores.score("patience", *player("random", "patience"), games=300, seed=seed, rows=32).returns

    np.testing.assert_array_equal(returns(5), returns(5))
    assert not np.array_equal(returns(5), returns(6))
    pool = Pool("patience", 32, 99)
    pool.play_randomly(17)
    used = scores.score(pool, *player("random", "patience"), games=300, seed=5)
    np.testing.assert_array_equal(used.returns, returns(5))


def test_memory_is_kept_for_every_row():
    agent = Counting(lambda step: step.observation["moves"], [])
    scores.score("patience", agent, (), games=50, rows=8)
    assert sum(agent.compared) > 500


def test_memory_without_rows_is_rejected():
    class Clock(Always):
        def memory(self, rows):
            return 0

    with pytest.raises(LudusError, match="must have one row for each of 4 rows"):
        scores.score("patience", Clock(0), (), games=4)


def test_progress_is_reported():
    told = []
    scores.score("patience", Always(0), (), games=40, rows=8, tell=lambda *words: told.append(words))
    done = [words[1] for words in told]
    assert told[-1] == ("patience", 40, 40) and done == sorted(set(done))


def test_an_agent_that_needs_the_pool_gets_it():
    class Searching(Always):
        def at(self, pool):
            seen.append(pool)
            return Always(2)

    seen, pool = [], Pool("trio", 4)
    assert scores.seated(Always(1), pool) == Always(1)
    score = scores.score(pool, Searching(0), (), games=4)
    assert score.seats[0].estimate == 2 and seen == [pool]


@pytest.mark.parametrize("games", [0, -3])
def test_zero_games_are_rejected(games):
    with pytest.raises(LudusError, match=f"cannot play {games} games; play at least one"):
        scores.score("patience", Always(0), (), games=games)


def test_actions_of_the_wrong_type_are_rejected():
    class Vague(Always):
        def act(self, params, memory, step, key):
            return super().act(params, memory, step, key)[0]._replace(action=np.zeros(len(step.seat))), memory

    with pytest.raises(LudusError, match=r"player 0 returned float64 actions of shape \(4,\); expected int64"):
        scores.score("patience", Vague(0), (), games=4)
