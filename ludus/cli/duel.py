"""`ludus duel`: decks to look at, to check and to make; recorded duels to hold the rules against."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import tyro

from ludus.cli.application import app, print_json, progress_bar
from ludus.types import LudusError


@app.command
def duel(
    tool: Annotated[Literal["decks", "deck", "random", "check", "replay"], tyro.conf.Positional],
    items: Annotated[tuple[str, ...], tyro.conf.Positional] = (),
    /,
    seed: int = 0,
    stage: int = 5,
    game: str = "",
    out: str = "",
    json: bool = False,
) -> None:
    """Tools for duelists: the decks that come with the game, what a deck holds, random decks, and recorded duels.

    Args:
        tool: `decks` lists the decks, `deck` checks and shows one by its name or file, `random` makes a new one;
            `check` replays recorded duels of the real engine, decision by decision, and tells where ours differs;
            `replay` tells what a .yrp file holds, and with --game plays it again in the real engine.
        items: The name of a deck, a .ydk file, a file of recorded duels, or a .yrp file.
        seed: Of a random deck; the same seed makes the same deck.
        stage: Of a random deck: 1 normal monsters, 2 with simple spells, 3 starter cards, 4 Goat cards, 5 all cards.
        game: Of a replay: the real engine, as in "duel@ygopro(core=wasm, cards=cards.cdb)".
        out: The .ydk file that a random deck is written to; without it, the deck is printed.
        json: Print one JSON object: {"decks": […]} of all decks, or the one deck with its cards.
    """
    if tool == "decks":
        _none(tool, items)
        _decks(json)
    elif tool == "deck":
        _deck(_one(tool, items, "the name of a deck or a .ydk file"), json)
    elif tool == "check":
        _check(_one(tool, items, "a file of recorded duels"), json)
    elif tool == "replay":
        _replay(_one(tool, items, "a .yrp file"), game, json)
    else:
        _none(tool, items)
        _random(seed, stage, out, json)


def _one(tool: str, items: tuple[str, ...], what: str) -> str:
    if len(items) != 1:
        raise LudusError(f"ludus duel {tool} takes {what}, and one only; {len(items)} were given")
    return items[0]


def _none(tool: str, items: tuple[str, ...]) -> None:
    if items:
        raise LudusError(f'ludus duel {tool} takes nothing but flags; "{items[0]}" was given')


def _decks(as_json: bool) -> None:
    from ludus.duel import decks, telling

    found = [decks.named(name) for name in decks.names()]
    if as_json:
        print_json({"decks": [telling.counts(deck) for deck in found]})
    else:
        print(telling.table(found))


def _deck(name: str, as_json: bool) -> None:
    from ludus.duel import decks, telling

    deck = decks.find_deck(name)
    if as_json:
        print_json(telling.described(deck))
    else:
        print(telling.deck(deck))


def _random(seed: int, stage: int, out: str, as_json: bool) -> None:
    from ludus.duel import decks, telling

    deck = decks.random_deck(seed, stage)
    if out:
        decks.write_ydk(deck, out)
    if as_json:
        print_json(telling.described(deck))
    elif out:
        print(f"a deck of {len(deck.main)} cards and {len(deck.extra)} in the extra deck is in {out}")
    else:
        print(decks.ydk_text(deck), end="")


def _check(file: str, as_json: bool) -> None:
    import pathlib

    from ludus.duel import checking, golden

    duels = list(golden.read(pathlib.Path(file)))
    with progress_bar() as tell:
        found = checking.check(duels, tell)
    if as_json:
        print_json(checking.as_json(found))
    else:
        print(checking.table(found))
    if found.differences:
        raise SystemExit(1)


def _replay(file: str, game: str, as_json: bool) -> None:
    from ludus.bridges.ygopro import yrp
    from ludus.duel import telling

    replay = yrp.read_yrp(file)
    told = telling.replay(replay)
    if game:
        told |= _played_again(replay, game)
    if as_json:
        print_json(told)
    else:
        print(telling.replay_text(told))


def _played_again(replay: Any, game: str) -> dict[str, Any]:
    """How the duel of a replay stands after its last answer, in a real engine."""
    from ludus.bridges.ygopro import replaying, settings
    from ludus.games import split_name

    name, bracket, inside = game.partition("(")
    if name.strip() != settings.NAME:
        raise LudusError(f'a replay is played again in the real engine: --game "{settings.NAME}(core=…, cards=…)"')
    core, _ = settings.open_core(settings.read(split_name(f"duel{bracket}{inside}")[1]))
    try:
        duel = replaying.play_again(core, replay)
        points = list(duel.field().points)
        return {"turns": duel.turn, "over": duel.winner is not None, "winner": duel.winner, "points": points}
    finally:
        core.close()
