"""Play a game and keep its pictures: what `ludus show`, `ludus demo` and the documents use."""

from __future__ import annotations

import pathlib
from typing import NamedTuple

from ludus import agents, games, pictures
from ludus.bridges import AnyPool, open_pool
from ludus.pool import Pool
from ludus.types import Array
from ludus.words import PLAYING

LONGEST_GIF, LONGEST_VIDEO = 240, 3000
"""frames; a longer show leaves frames out instead of making a picture nobody can load"""
GALLERY_WIDTH = 480
"""pixels"""


class Show(NamedTuple):
    """What was played: the shapes (or pixels) of every step kept, the size of the picture, and how it went."""

    frames: list[Array]
    frame: tuple[int, int]
    steps: int
    games: int
    returns: list[float]
    """what the first seat got in all, a number for each game begun"""
    text: str


def play(name: str, agent: str = "best", seed: int = 0, steps: int = 200, every: int = 1) -> Show:
    """Let one kind of agent play all seats for `steps` steps or until the game is over, and watch."""
    pool = open_drawable(name, seed)
    player = agents.seated(agents.load(agent, name), pool)
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
    """The one picture of how things stand, from the first seat, or none of a game that has no scene."""
    return [] if isinstance(pool, Pool) and not hasattr(pool.game.rules, "scene") else [pool.scene(seat=0).copy()]


def open_drawable(name: str, seed: int) -> AnyPool:
    """A pool of one game that can be drawn; foreign environments must be told so when they are made."""
    if ":" not in name:
        return open_pool(name, 1, [seed], threads=1)
    bare, _, settings = name.partition("(")
    asked = ", ".join(filter(None, [settings.rstrip(") "), "render_mode=rgb_array"]))
    return open_pool(f"{bare}({asked})", 1, [seed])


def demo(folder: pathlib.Path, name: str, seed: int = 7, scale: float = 1.0) -> Show:
    """A still picture and a moving one of a game in `folder`."""
    show = play(name, seed=seed, steps=600 if games.load(name).spec.seats == 1 else 100)
    if not show.frames:
        return show
    pictures.save(folder / f"{name}.png", [show.frames[len(show.frames) * 2 // 3]], show.frame, scale=scale)
    pictures.save(
        folder / f"{name}.gif", thinned(show.frames), show.frame, fps=20 if len(show.frames) > 60 else 2, scale=scale
    )
    return show


def gallery(folder: pathlib.Path, name: str, seed: int = 7) -> pathlib.Path | None:
    """A small still picture of a game that is well under way, played by the best there is; None without a scene."""
    frames, frame, *_ = play(name, seed=seed, steps=600 if games.load(name).spec.seats == 1 else 100)
    if not frames:
        return None
    path = folder / f"{name}.webp"
    pictures.save(path, [richest(frames)], frame, scale=GALLERY_WIDTH / frame[0])
    return path


def richest(frames: list[Array]) -> Array:
    """Of the pictures from the last third of a show, but its very end, the one with the most shapes."""
    return max(frames[len(frames) * 2 // 3 : len(frames) * 5 // 6 + 1], key=len)


def thinned(frames: list[Array], most: int = LONGEST_GIF) -> list[Array]:
    """Every n-th frame, so that at most `most` are left, and always the last."""
    every = -(-len(frames) // most)
    kept = frames[::every]
    return kept if (len(frames) - 1) % every == 0 else [*kept, frames[-1]]
