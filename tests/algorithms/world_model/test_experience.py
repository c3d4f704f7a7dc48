"""The replay buffer: it holds the last steps and samples sequences that do not cross the write position."""

import jax
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from small_worlds import agent_of

from ludus.algorithms.world_model.replay import Experience, mirror_half, new_replay_buffer, push, sample
from ludus.types import Mirror


def numbered(first, times, rows):
    """Steps whose numbers all encode their time and row."""
    time = np.arange(first, first + times)[:, None] * 10.0 + np.arange(rows)
    wide = np.repeat(time[..., None], 2, axis=-1)
    ones = np.ones((times, rows))
    return Experience(*(np.float32(part) for part in (wide, wide[..., :1], wide + 10.0, time, ones, ones)))


SHAPES = ((3, 1, 6), (6, 2, 7), (4, 3, 20), (5, 1, 13))
"""steps per push, rows and capacity; few combinations, since each is compiled separately"""


@settings(max_examples=100, deadline=None)
@given(chunks=st.integers(1, 9), shape=st.sampled_from(SHAPES), seed=st.integers(0, 99))
def test_sampled_sequences_are_consecutive_and_among_the_last_steps(chunks, shape, seed):
    times, rows, capacity = shape
    replay = new_replay_buffer(capacity, rows, 2, 1)
    for chunk in range(chunks):
        replay = push(replay, numbered(chunk * times, times, rows))
    sampled, mask = sample(replay, jax.random.key(seed), 3, 40, 10.0)
    assert np.asarray(mask).all()
    time, row = np.divmod(np.asarray(sampled.reward), 10)
    oldest = max(chunks * times - capacity, 0)
    assert time.min() >= oldest and time.max() < chunks * times
    assert (np.diff(time, axis=0) == 1).all() and (row == row[0]).all() and row.max() < rows
    assert np.array_equal(sampled.next_observation[..., 0], sampled.observation[..., 0] + 10)


def test_every_stored_sequence_can_be_sampled():
    replay = push(new_replay_buffer(8, 2, 2, 1), numbered(0, 8, 2))
    sampled, _ = sample(replay, jax.random.key(0), 3, 400, 0.0)
    assert set(np.asarray(sampled.reward[0]).tolist()) == {10.0 * time + row for time in range(6) for row in range(2)}


def test_terminal_oversampling_sets_the_share_of_terminal_sequences():
    """Of 100 steps in one row, step 50 is terminal; 3 of the 98 sequences of length 3 contain it."""
    played = numbered(0, 100, 1)
    played.continues[50] = 0.0
    replay = push(new_replay_buffer(100, 1, 2, 1), played)
    for oversampling in (0.0, 10.0, 100.0):
        sampled, _ = sample(replay, jax.random.key(3), 3, 20_000, oversampling)
        share = float((np.asarray(sampled.continues) == 0).any(axis=0).mean())
        expected = 3 * (1 + oversampling) / (95 + 3 * (1 + oversampling))
        assert abs(share - expected) < 0.02


def test_about_half_of_the_sequences_are_mirrored_as_a_whole():
    played = numbered(0, 3, 200)
    observation, next_observation = (
        np.concatenate([array[..., :1], -array[..., :1]], axis=-1)
        for array in (played.observation, played.next_observation)
    )
    played = played._replace(observation=observation, next_observation=next_observation)
    mirrored = mirror_half(Mirror((1, 0), (-1.0,)), played, jax.random.key(2))
    flipped = np.asarray(mirrored.action)[0, :, 0] < 0
    assert 60 < flipped.sum() < 140
    for was, now in ((played.observation, mirrored.observation), (played.next_observation, mirrored.next_observation)):
        assert np.array_equal(now, np.where(flipped[:, None], was[..., ::-1], was))
    assert np.array_equal(mirrored.action, np.where(flipped[:, None], -played.action, played.action))
    assert np.array_equal(mirrored.reward, played.reward)


def test_actions_and_observations_are_scaled_to_minus_one_to_one():
    agent = agent_of("gymnasium:Pendulum-v1")
    assert np.allclose(agent.scale_action(np.array([[-2.0], [0.0], [2.0]])), [[-1.0], [0.0], [1.0]])
    assert np.allclose(agent.unscale_action(np.array([[-1.0], [0.5]])), [[-2.0], [1.0]])
    flat = agent.flatten({"observation": np.array([[1.0, -1.0, 4.0]], np.float32)})
    assert np.allclose(flat, [[1.0, -1.0, 0.5]])
