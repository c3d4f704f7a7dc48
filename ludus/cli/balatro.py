"""`ludus balatro`: what a seed holds, and what a hand scores."""

from __future__ import annotations

from typing import Annotated, Literal

import tyro

from ludus.cli.application import app, print_json
from ludus.types import LudusError


@app.command
def balatro(
    tool: Annotated[Literal["seed", "score"], tyro.conf.Positional],
    items: Annotated[tuple[str, ...], tyro.conf.Positional],
    /,
    antes: int = 8,
    deck: str = "red",
    stake: str = "white",
    json: bool = False,
) -> None:
    """Tools for players of Balatro: what seeds of the real game hold, and how a hand scores, step by step.

    Args:
        tool: `seed` walks through the game on a seed, `score` reads a file of situations and scores them.
        items: Seeds like 7LB2WVPK, or one file in the format balatro-score-vectors/1.
        antes: How many antes of a seed to show.
        deck: The deck that a seed is played with.
        stake: The stake that a seed is played at.
        json: Print one JSON object: {"vectors": […]} of seeds, {"results": […]} of scores.
    """
    if tool == "seed":
        _seeds(items, antes, deck, stake, json)
    elif len(items) != 1:
        raise LudusError(f"ludus balatro score reads one file, not {len(items)}")
    else:
        _scores(items[0], json)


def _seeds(names: tuple[str, ...], antes: int, deck: str, stake: str, as_json: bool) -> None:
    from ludus.balatro import seeds, telling

    if not names:
        raise LudusError("say which seeds, like ludus balatro seed 7LB2WVPK")
    entries = (seeds.entry(name, antes, deck, stake) for name in names)
    if as_json:
        print_json({"vectors": list(entries)})
        return
    for entry in entries:
        print(telling.seed(entry), flush=True)


def _scores(path: str, as_json: bool) -> None:
    from ludus.balatro import scores, telling

    situations = scores.read(path)
    results = scores.score(situations)
    if as_json:
        print_json({"results": results})
        return
    for situation, result in zip(situations, results, strict=True):
        print(telling.score(situation, result, scores.steps(situation)), flush=True)
