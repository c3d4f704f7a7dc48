"""Recall: what is shown at each step, and that an answer needs memory and is always possible with it."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus import games
from ludus.dsl import OVER, PLAYING
from ludus.pool import Pool
from ludus.types import LudusError

WAIT = 0
GAMES = ("recall", "recall(cues=2, delay=1)", "recall(cues=8, delay=200)")


@functools.cache
def pool(name: str, rows: int) -> Pool:
    return Pool(name, rows, threads=1)


def wait_for_the_question(games_played: Pool) -> None:
    """Wait until the question, which comes in the same step in all games."""
    for _ in range(int(games_played.states["delay"][0]) + 1):
        games_played.advance(np.zeros(games_played.rows, int))
    assert (games_played.step.observation["moment"] == 2).all()


@given(st.integers(0, 2**32), st.integers(2, 8), st.integers(1, 20), st.data())
def test_cue_then_distractions_then_the_question(seed, cues, delay, data):
    one = Pool(f"recall(cues={cues}, delay={delay})", 1, seed, threads=1)
    cue = int(one.step.observation["symbol"][0])
    for moves in range(delay + 1):
        symbol, moment = (int(one.step.observation[name][0]) for name in ("symbol", "moment"))
        assert 1 <= symbol <= cues
        assert moment == (0 if moves == 0 else 1)
        assert one.step.mask[0].nonzero()[0].tolist() == [WAIT]
        assert one.advance([WAIT]).reward[0, 0] == 0
    assert [int(one.step.observation[name][0]) for name in ("symbol", "moment")] == [0, 2]
    assert one.step.mask[0].nonzero()[0].tolist() == list(range(1, cues + 1))
    answer = data.draw(st.integers(1, cues))
    assert one.status[0] == PLAYING
    step = one.advance([answer])
    assert one.status[0] == OVER and step.discount[0] == 0
    assert step.reward[0, 0] == (answer == cue)


@pytest.mark.parametrize("name", GAMES)
def test_memory_of_the_cue_is_always_right(name):
    many = pool(name, 500)
    seen = many.reset(3).observation["symbol"].astype(int)
    wait_for_the_question(many)
    assert many.advance(seen).reward.mean() == 1


@pytest.mark.parametrize("name", GAMES)
def test_after_the_first_step_the_cue_is_not_observed(name):
    honest, changed = pool(name, 50), Pool(name, 50, 4, threads=1)
    honest.reset(4)
    cues, waiting = int(honest.states["cues"][0]), np.zeros(50, int)
    honest.advance(waiting)
    changed.advance(waiting)
    changed.states["cue"] = changed.states["cue"] % cues + 1
    for _ in range(int(honest.states["delay"][0]) + 1):
        for field in honest.step.observation:
            assert honest.step.observation[field].tolist() == changed.step.observation[field].tolist()
        assert honest.step.mask.tolist() == changed.step.mask.tolist()
        assert honest.describe() == changed.describe()
        assert honest.scene().tobytes() == changed.scene().tobytes()
        if not honest.step.mask[0, WAIT]:
            break
        honest.advance(waiting)
        changed.advance(waiting)
    answer = honest.states["cue"].astype(int)
    assert honest.advance(answer).reward.min() == 1
    assert changed.advance(answer).reward.max() == 0


@pytest.mark.parametrize(("name", "cues"), [("recall", 4), ("recall(cues=2, delay=1)", 2)])
def test_without_memory_every_answer_is_a_guess(name, cues):
    many = pool(name, 4000)
    for answer in range(1, cues + 1):
        many.reset(5)
        wait_for_the_question(many)
        assert many.advance(np.full(4000, answer)).reward.mean() == pytest.approx(1 / cues, abs=0.03)


def test_distractions_are_as_random_after_every_cue():
    many = pool("recall", 4000)
    cue = many.reset(6).observation["symbol"]
    for _ in range(3):
        symbol = many.advance(np.zeros(4000, int)).observation["symbol"]
        pairs = np.histogram2d(cue, symbol, bins=4, range=((1, 5), (1, 5)))[0]
        assert pairs.sum() == 4000
        # Each of the 16 pairs is expected 250 times, give or take 15.
        assert np.abs(pairs - 250).max() < 75


def test_answering_before_the_question_and_waiting_at_it_are_refused():
    one = pool("recall(cues=2, delay=1)", 1)
    one.reset(7)
    with pytest.raises(LudusError, match="legal actions: wait"):
        one.advance([1])
    wait_for_the_question(one)
    with pytest.raises(LudusError, match="legal actions: disc, square"):
        one.advance([WAIT])
    with pytest.raises(LudusError, match="legal actions: disc, square"):
        one.advance([3])


def test_the_game_as_text():
    one = pool("recall(cues=2, delay=1)", 1)
    one.reset(8)
    names = [None, "disc", "square"]
    cue, said = int(one.states["cue"][0]), [one.describe()]
    one.advance([WAIT])
    symbol = int(one.states["symbol"][0])
    for action in (WAIT, 3 - cue):
        said.append(one.describe())
        one.advance([action])
    assert [*said, one.describe()] == [
        f"{names[cue]}: remember this one",
        f"{names[symbol]}: never mind this one (1 of 1)",
        "which one was it?",
        f"it was the {names[cue]}; the answer: {names[3 - cue]}",
    ]


@pytest.mark.parametrize("setting", ["cues=1", "cues=9", "delay=0", "delay=201"])
def test_settings_out_of_range_are_refused(setting):
    with pytest.raises(LudusError, match="is not a whole number from"):
        games.load(f"recall({setting})")
