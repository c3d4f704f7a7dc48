"""The ring of experience: the last steps, whole sequences, never across its seam."""

import jax
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from small_worlds import agent_of

from ludus.algorithms.world_model.experience import Experience, draw, new_ring, push, reflected
from ludus.types import Mirror


def numbered(first, times, rows):
    """Steps whose every number tells their time and row."""
    time = np.arange(first, first + times)[:, None] * 10.0 + np.arange(rows)
    wide = np.repeat(time[..., None], 2, axis=-1)
    ones = np.ones((times, rows))
    return Experience(*(np.float32(part) for part in (wide, wide[..., :1], wide + 10.0, time, ones, ones)))


SHAPES = ((3, 1, 6), (6, 2, 7), (4, 3, 20), (5, 1, 13))
"""steps of a chunk, rows, and steps that are kept; few, as each is compiled on its own"""


@settings(max_examples=100, deadline=None)
@given(chunks=st.integers(1, 9), shape=st.sampled_from(SHAPES), seed=st.integers(0, 99))
def test_sequences_are_of_the_last_steps_and_whole(chunks, shape, seed):
    times, rows, capacity = shape
    ring = new_ring(capacity, rows, 2, 1)
    for chunk in range(chunks):
        ring = push(ring, numbered(chunk * times, times, rows))
    drawn, weights = draw(ring, jax.random.key(seed), 3, 40, 10.0)
    assert np.asarray(weights).all()
    time, row = np.divmod(np.asarray(drawn.reward), 10)
    oldest = max(chunks * times - capacity, 0)
    assert time.min() >= oldest and time.max() < chunks * times
    assert (np.diff(time, axis=0) == 1).all() and (row == row[0]).all() and row.max() < rows
    assert np.array_equal(drawn.following[..., 0], drawn.seen[..., 0] + 10)


def test_every_sequence_is_drawn():
    ring = push(new_ring(8, 2, 2, 1), numbered(0, 8, 2))
    drawn, _ = draw(ring, jax.random.key(0), 3, 400, 0.0)
    assert set(np.asarray(drawn.reward[0]).tolist()) == {10.0 * time + row for time in range(6) for row in range(2)}


def test_ends_are_drawn_as_often_as_is_said():
    """One game of a hundred steps in one row ends after step 50; three of the 98 sequences hold that step."""
    played = numbered(0, 100, 1)
    played.goes_on[50] = 0.0
    ring = push(new_ring(100, 1, 2, 1), played)
    for ends in (0.0, 10.0, 100.0):
        drawn, _ = draw(ring, jax.random.key(3), 3, 20_000, ends)
        share = float((np.asarray(drawn.goes_on) == 0).any(axis=0).mean())
        expected = 3 * (1 + ends) / (95 + 3 * (1 + ends))
        assert abs(share - expected) < 0.02


def test_about_half_of_what_is_drawn_is_seen_in_a_mirror_and_stays_whole():
    played = numbered(0, 3, 200)
    seen, following = (
        np.concatenate([array[..., :1], -array[..., :1]], axis=-1) for array in (played.seen, played.following)
    )
    played = played._replace(seen=seen, following=following)
    turned = reflected(Mirror((1, 0), (-1.0,)), played, jax.random.key(2))
    flipped = np.asarray(turned.action)[0, :, 0] < 0
    assert 60 < flipped.sum() < 140
    for was, now in ((played.seen, turned.seen), (played.following, turned.following)):
        assert np.array_equal(now, np.where(flipped[:, None], was[..., ::-1], was))
    assert np.array_equal(turned.action, np.where(flipped[:, None], -played.action, played.action))
    assert np.array_equal(turned.reward, played.reward)


def test_actions_and_what_is_seen_are_in_the_units_of_the_model():
    agent = agent_of("gymnasium:Pendulum-v1")
    assert np.allclose(agent.from_game(np.array([[-2.0], [0.0], [2.0]])), [[-1.0], [0.0], [1.0]])
    assert np.allclose(agent.to_game(np.array([[-1.0], [0.5]])), [[-2.0], [1.0]])
    shown = agent.flat({"observation": np.array([[1.0, -1.0, 4.0]], np.float32)})
    assert np.allclose(shown, [[1.0, -1.0, 0.5]])
