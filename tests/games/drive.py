"""Ways to drive the car in tests: at random, and fast by a simple rule."""

import numpy as np

from ludus.pool import Pool


def by_rule(sensors, fast: float = 1.0):
    """Turn toward the longer side, and go as fast as the view ahead allows."""
    left, half_left, ahead, half_right, right, speed = sensors.T
    steering = 3 * (right - left) + 3 * (half_right - half_left)
    throttle = 6 * (fast * np.clip(ahead, 0.2, 0.8) - speed)
    return np.clip(np.stack([steering, throttle], -1), -1, 1)


def states_met(name: str, rows: int, seed: int, steps: int, every: int, fast: float | None = None):
    """States visited during play, including the last of each game: `fast` by rule, else at random."""
    pool = Pool(name, rows, seed, threads=1)
    met = [pool.states.copy()]
    for step in range(1, steps + 1):
        sensors = pool.step.observation["sensors"]
        pool.advance(pool.random_actions(step) if fast is None else by_rule(sensors, fast))
        ended = pool.status != 0
        met.append(pool.states.copy() if step % every == 0 else pool.states[ended].copy())
    return np.concatenate(met)


def states_placed(name: str, rows: int, seed: int):
    """Cars placed anywhere on the road with any heading, after one step without moving."""
    pool, dice = Pool(name, rows, seed, threads=1), np.random.default_rng(seed)
    start = pool.states["points"].astype(float)
    way = np.roll(start, -1, axis=1) - start
    segment, row = dice.integers(100, size=rows), np.arange(rows)
    along, across = way[row, segment], way[row, segment][:, ::-1] * [-1, 1]
    aside = dice.uniform(-1, 1, (rows, 1)) * pool.states["width"][:, None] / np.linalg.norm(across, axis=1)[:, None]
    pool.states["x"], pool.states["y"] = (start[row, segment] + dice.random((rows, 1)) * along + aside * across).T
    pool.states["angle"], pool.states["segment"] = dice.uniform(0, 360, rows), segment
    pool.advance(np.zeros((rows, 2)))
    return pool.states
