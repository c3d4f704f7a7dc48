"""`ludus duel`: show, check and generate decks; compare the rules with recorded duels and the real engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from ludus.cli.application import app, print_json, progress_bar
from ludus.types import JsonObject, LudusError

if TYPE_CHECKING:
    from ludus.bridges.ygopro.yrp import Yrp


@app.command
def duel(
    tool: Annotated[Literal["decks", "deck", "random", "check", "compare", "replay"], tyro.conf.Positional],
    items: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[DECK|FILE]")] = (),
    /,
    seed: int = 0,
    stage: int = 5,
    game: str = "",
    out: str = "",
    decisions: int = 10_000,
    workers: int = 1,
    kind: Literal["plain", "scripted", "both"] = "both",
    json: bool = False,
) -> None:
    """Tools for duels: list, show and generate decks; compare the rules with recorded duels and the real engine.

    Args:
        tool: `decks` lists the decks, `deck` checks and shows one by its name or file, `random` generates one;
            `check` replays recorded duels of the real engine and reports every decision where ours differs;
            `compare` plays random duels in our rules and in the real engine and compares every decision (needs
            `make real-core`);
            `replay` shows the contents of a .yrp file, and with --game plays it again in the real engine.
        items: The name of a deck, a .ydk file, a file of recorded duels, or a .yrp file.
        seed: Random seed of `random` and of the first duel of `compare`, 0 or more.
        stage: Cards that `random` uses: 1 normal monsters, 2 plus simple spells, 3 starter cards, 4 Goat cards, 5 all.
        game: The real engine for `replay`, for example "duel@ygopro(core=wasm, cards=cards.cdb)".
        out: The .ydk file that `random` writes; without it, the deck is printed.
        decisions: Number of decisions that `compare` checks, 1 or more, split evenly between the kinds of duels.
        workers: Number of processes that `compare` uses, 1 or more.
        kind: Duels that `compare` plays: Normal Monsters only (plain), cards with our own scripts (scripted), or both.
        json: Print one JSON object instead of text.
    """
    if tool == "decks":
        _none(tool, items)
        _decks(json)
    elif tool == "deck":
        _deck(_one(tool, items, "the name of a deck or a .ydk file"), json)
    elif tool == "check":
        _check(_one(tool, items, "a file of recorded duels"), json)
    elif tool == "compare":
        _none(tool, items)
        _compare(decisions, seed, workers, kind, json)
    elif tool == "replay":
        _replay(_one(tool, items, "a .yrp file"), game, json)
    else:
        _none(tool, items)
        _random(seed, stage, out, json)


def _one(tool: str, items: tuple[str, ...], what: str) -> str:
    if len(items) != 1:
        raise LudusError(f"ludus duel {tool} takes exactly one argument, {what}; {len(items)} were given")
    return items[0]


def _none(tool: str, items: tuple[str, ...]) -> None:
    if items:
        raise LudusError(f'ludus duel {tool} takes only flags; remove "{items[0]}"')


def _decks(as_json: bool) -> None:
    from ludus.games.duel import ydk
    from ludus.games.duel.tools import reports

    found = [ydk.named(name) for name in ydk.names()]
    if as_json:
        print_json({"decks": [reports.counts(deck) for deck in found]})
    else:
        print(reports.table(found))


def _deck(name: str, as_json: bool) -> None:
    from ludus.games.duel import ydk
    from ludus.games.duel.tools import reports

    deck = ydk.find_deck(name)
    if as_json:
        print_json(reports.described(deck))
    else:
        print(reports.deck(deck))


def _random(seed: int, stage: int, out: str, as_json: bool) -> None:
    from ludus.games.duel import ydk
    from ludus.games.duel.tools import reports

    deck = ydk.random_deck(seed, stage)
    if out:
        ydk.write_ydk(deck, out)
    if as_json:
        print_json(reports.described(deck))
    elif out:
        print(f"wrote a deck of {len(deck.main)} cards and {len(deck.extra)} in the extra deck to {out}")
    else:
        print(ydk.ydk_text(deck), end="")


def _check(file: str, as_json: bool) -> None:
    import pathlib

    from ludus.games.duel.tools import check, recorded_duels

    duels = list(recorded_duels.read(pathlib.Path(file)))
    with progress_bar() as tell:
        found = check.check(duels, tell)
    if as_json:
        print_json(check.as_json(found))
    else:
        print(check.table(found))
    if found.differences:
        raise SystemExit(1)


def _compare(decisions: int, seed: int, workers: int, kind: str, as_json: bool) -> None:
    from ludus.games.duel.tools import comparison, scripts

    if decisions < 1 or workers < 1:
        raise LudusError(f"--decisions {decisions} and --workers {workers} must both be at least 1")
    kinds = scripts.KINDS if kind == "both" else (kind,)
    with progress_bar() as tell:
        found = comparison.compare_engines(decisions, seed, workers, kinds, tell)
    if as_json:
        print_json(comparison.as_json(found))
    else:
        print(comparison.table(found))
    if found.differences:
        raise SystemExit(1)


def _replay(file: str, game: str, as_json: bool) -> None:
    from ludus.bridges.ygopro import yrp
    from ludus.games.duel.tools import reports

    replay = yrp.read_yrp(file)
    facts = reports.replay(replay)
    if game:
        facts |= _played_again(replay, game)
    if as_json:
        print_json(facts)
    else:
        print(reports.replay_text(facts))


def _played_again(replay: Yrp, game: str) -> JsonObject:
    """The state of a replayed duel after its last answer, in the real engine."""
    from ludus.bridges.ygopro import replays, settings
    from ludus.games import split_name

    name, bracket, inside = game.partition("(")
    if name.strip() != settings.NAME:
        raise LudusError(f'a replay needs the real engine: --game "{settings.NAME}(core=…, cards=…)"')
    core, _ = settings.open_core(settings.read(split_name(f"duel{bracket}{inside}")[1]))
    try:
        duel = replays.play_again(core, replay)
        points = list(duel.field().points)
        return {"turns": duel.turn, "over": duel.winner is not None, "winner": duel.winner, "points": points}
    finally:
        core.close()
