"""`ludus balatro`: list the contents of seeds and score hands."""

from __future__ import annotations

from typing import Annotated, Literal

import tyro

from ludus.cli.application import app, print_json
from ludus.types import LudusError


@app.command
def balatro(
    tool: Annotated[Literal["seed", "score"], tyro.conf.Positional],
    items: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SEED …|FILE")],
    /,
    antes: int = 8,
    deck: str = "red",
    stake: str = "white",
    json: bool = False,
) -> None:
    """Tools for players of Balatro: list what a seed of the real game contains, and score hands step by step.

    Args:
        tool: `seed` lists shops, packs and bosses of a seed, `score` scores the hands in a file.
        items: Seeds like 7LB2WVPK, or one file in the format balatro-score-vectors/1.
        antes: Number of antes to show of each seed, 1 to 39.
        deck: Deck that the seed is played with: red, blue, yellow, … (see docs/games/balatro.md).
        stake: Stake that the seed is played at: white, red, green, black, blue, purple, orange or gold.
        json: Print one JSON object: {"vectors": […]} for seeds, {"results": […]} for scores.
    """
    if tool == "seed":
        _seeds(items, antes, deck, stake, json)
    elif len(items) != 1:
        raise LudusError(f"ludus balatro score takes exactly one file, not {len(items)}")
    else:
        _scores(items[0], json)


def _seeds(names: tuple[str, ...], antes: int, deck: str, stake: str, as_json: bool) -> None:
    from ludus.games.balatro.tools import reports, seeds

    if not names:
        raise LudusError("no seed given; name one or more, for example: ludus balatro seed 7LB2WVPK")
    entries = (seeds.entry(name, antes, deck, stake) for name in names)
    if as_json:
        print_json({"vectors": list(entries)})
        return
    for entry in entries:
        print(reports.seed(entry), flush=True)


def _scores(path: str, as_json: bool) -> None:
    from ludus.games.balatro.tools import reports, scores

    situations = scores.read(path)
    results = scores.score(situations)
    if as_json:
        print_json({"results": results})
        return
    for situation, result in zip(situations, results, strict=True):
        print(reports.score(situation, result, scores.steps(situation)), flush=True)
