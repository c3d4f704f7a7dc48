"""Play a game and keep its pictures: what `ludus show`, `ludus demo` and the documents use."""

from __future__ import annotations

import pathlib
from typing import Any, NamedTuple

import numpy as np

from ludus import agents, games, pictures
from ludus.pool import Pool
from ludus.types import Array
from ludus.words import PLAYING

LONGEST_GIF = 240
"""frames; a longer show leaves frames out instead of making a picture nobody can load"""


class Show(NamedTuple):
    """What was played: the shapes of every step kept, and how it went."""

    frames: list[Array]
    steps: int
    games: int
    returns: list[float]
    """what the first seat got in all, a number for each game begun"""
    text: str


def play(name: str, agent: str = "best", seed: int = 0, steps: int = 200, every: int = 1) -> Show:
    """Let one kind of agent play all seats for `steps` steps or until the game is over, and watch."""
    pool = Pool(name, 1, [seed], threads=1)
    player = agents.load(agent, name)
    params, memory, step = player.init(pool.spec, seed), player.memory(len(pool.step.seat)), pool.step
    frames, returns, taken = [pool.scene()], [0.0], 0
    for taken in range(1, steps + 1):
        decision, memory = player.act(params, memory, step, seed * 1_000_003 + taken)
        step = pool.advance(decision.action)
        returns[-1] += float(step.reward[0, 0])
        ended = pool.status[0] != PLAYING
        if taken % every == 0 or ended:
            frames.append(pool.scene())
        if ended and taken < steps and pool.spec.seats > 1:
            break
        if ended and taken < steps:
            returns.append(0.0)
    return Show(frames, taken, len(returns), returns, describe(pool.game, pool.states[0]))


def describe(game: games.Game, state: Any) -> str:
    """The position in words or letters, by the game's own `text` where it has one."""
    if hasattr(game.rules, "text"):
        words: str = game.rules.text(state)
        return words
    return "\n".join(f"{field}: {np.asarray(state[field]).tolist()}" for field in state.dtype.names)


def demo(folder: pathlib.Path, name: str, seed: int = 7) -> Show:
    """A still picture and a moving one of a game in `folder`."""
    show = play(name, seed=seed, steps=600 if games.load(name).spec.seats == 1 else 100)
    frame = games.load(name).spec.frame
    pictures.save(folder / f"{name}.png", [show.frames[len(show.frames) * 2 // 3]], frame)
    pictures.save(folder / f"{name}.gif", thinned(show.frames), frame, fps=20 if len(show.frames) > 60 else 2)
    return show


def thinned(frames: list[Array], most: int = LONGEST_GIF) -> list[Array]:
    """Every n-th frame, so that at most `most` are left, and always the last."""
    every = -(-len(frames) // most)
    kept = frames[::every]
    return kept if (len(frames) - 1) % every == 0 else [*kept, frames[-1]]
