"""Play a game and collect its pictures, for `ludus show`, `ludus demo` and the documentation."""

from __future__ import annotations

import pathlib
import sys
from typing import NamedTuple

from ludus import agents, games
from ludus.bridges import AnyPool, open_pool
from ludus.dsl import PLAYING
from ludus.evaluation.preparation import interpreted_until_compiled
from ludus.rendering import images
from ludus.types import Array

LONGEST_GIF, LONGEST_VIDEO = 240, 3000
"""maximum frames of a picture; longer shows skip frames"""
GALLERY_WIDTH = 480
"""pixels"""


class Show(NamedTuple):
    """A played game: shapes or pixels of its frames, the size of the picture, and the results."""

    frames: list[Array]
    frame: tuple[int, int]
    steps: int
    games: int
    returns: list[float]
    """the return of the first seat in each started game"""
    text: str


def play(name: str, agent: str = "best", seed: int = 0, steps: int = 200, every: int = 1) -> Show:
    """Let one kind of agent play all seats for `steps` steps; games with several seats are played only once."""
    with interpreted_until_compiled(name) as wait:
        pool, found = open_drawable(name, seed), agents.load(agent, name)
        wait(found, lambda words: print(f"ludus: {words}", file=sys.stderr))
        return _play(pool, agents.seated(found, pool), seed, steps, every)


def _play(pool: AnyPool, player: agents.Agent, seed: int, steps: int, every: int) -> Show:
    params, memory, step = player.init(pool.spec, seed), player.memory(len(pool.step.seat)), pool.step
    frames, returns, taken = draw(pool), [0.0], 0
    for taken in range(1, steps + 1):
        decision, memory = player.act(params, memory, step, seed * 1_000_003 + taken)
        step = pool.advance(decision.action)
        returns[-1] += float(step.reward[0, 0])
        ended = pool.status[0] != PLAYING
        if taken % every == 0 or ended:
            frames += draw(pool)
        if ended and taken < steps and pool.spec.seats > 1:
            break
        if ended and taken < steps:
            returns.append(0.0)
    text, frame = pool.describe(), pool.spec.frame
    pool.close()
    return Show(frames, frame, taken, len(returns), returns, text)


def draw(pool: AnyPool) -> list[Array]:
    """A list with the picture of the current position for the first seat; empty if the game has no scene."""
    return [pool.scene(seat=0).copy()] if pool.can_draw else []


def open_drawable(name: str, seed: int, rows: int = 1) -> AnyPool:
    """A pool of drawable games with one seed; environments of other libraries need render_mode when created."""
    if ":" not in name:
        return open_pool(name, rows, [seed] * rows, threads=1)
    bare, _, settings = name.partition("(")
    extended = ", ".join(filter(None, [settings.rstrip(") "), "render_mode=rgb_array"]))
    return open_pool(f"{bare}({extended})", rows, [seed] * rows)


def demo(folder: pathlib.Path, name: str, seed: int = 7, scale: float = 1.0) -> Show:
    """Write a still and an animated picture of a game into `folder`."""
    show = play(name, seed=seed, steps=600 if games.load(name).spec.seats == 1 else 100)
    if not show.frames:
        return show
    images.save(folder / f"{name}.png", [show.frames[len(show.frames) * 2 // 3]], show.frame, scale=scale)
    images.save(
        folder / f"{name}.gif", thinned(show.frames), show.frame, fps=20 if len(show.frames) > 60 else 2, scale=scale
    )
    return show


def gallery(folder: pathlib.Path, name: str, seed: int = 7) -> pathlib.Path | None:
    """Write a small picture of a game in progress, played by its best agent; returns None without a scene."""
    frames, frame, *_ = play(name, seed=seed, steps=600 if games.load(name).spec.seats == 1 else 100)
    if not frames:
        return None
    path = folder / f"{name}.webp"
    images.save(path, [richest(frames)], frame, scale=GALLERY_WIDTH / frame[0])
    return path


def richest(frames: list[Array]) -> Array:
    """The frame with the most shapes among those between two thirds and five sixths of a show."""
    return max(frames[len(frames) * 2 // 3 : len(frames) * 5 // 6 + 1], key=len)


def thinned(frames: list[Array], most: int = LONGEST_GIF) -> list[Array]:
    """Every n-th frame, so that about `most` remain, and always the last."""
    every = -(-len(frames) // most)
    kept = frames[::every]
    return kept if (len(frames) - 1) % every == 0 else [*kept, frames[-1]]
