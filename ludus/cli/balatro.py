"""`ludus balatro`: list the contents of seeds, score hands, play the real game, and offer ours in its place."""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from ludus.cli.application import app, print_json
from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.agents.player import Player
    from ludus.pool import Pool


@app.command
def balatro(
    tool: Annotated[Literal["seed", "score", "drive", "emulate"], tyro.conf.Positional],
    items: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[SEED …|FILE]")] = (),
    /,
    antes: int = 8,
    deck: str = "red",
    stake: str = "white",
    port: int = 12346,
    host: str = "",
    agent: str = "expert",
    seed: str = "",
    games: int = 1,
    timeout: float = 60.0,
    delay: float = 0.0,
    folder: pathlib.Path | None = None,
    json: bool = False,
) -> None:
    """Tools for Balatro: list what a seed contains, score hands, play the real game, offer ours in its place.

    Args:
        tool: `seed` lists shops, packs and bosses of a seed, `score` scores the hands in a file, `drive` plays the real
            game through the mod BalatroBot, `emulate` serves our game behind the interface of that mod.
        items: Seeds like 7LB2WVPK, or one file in the format balatro-score-vectors/1.
        antes: Number of antes to show of each seed, 1 to 39.
        deck: Deck that the seed is played with: red, blue, yellow, … (see docs/games/balatro.md).
        stake: Stake that the seed is played at: white, red, green, black, blue, purple, orange or gold.
        port: For drive and emulate: the port of the game, 0 to 65535 (0 for emulate: any free port).
        host: For emulate: address for other machines, 0.0.0.0 for all, without a password; by default only this
            machine. For drive: the machine on which the game runs.
        agent: For drive: the agent that plays.
        seed: For drive: the seed of the first run; by default the game chooses.
        games: For drive: number of runs, 1 or more.
        timeout: For drive: seconds to wait for an answer of the game.
        delay: For drive: seconds to pause before each move.
        folder: For emulate: folder for saved runs and screenshots; without it, save, load and screenshot are refused.
        json: Print one JSON object: {"vectors": […]} for seeds, {"results": […]} for scores and runs, {"server": …}.
    """
    if tool in ("drive", "emulate") and items:
        raise LudusError(f'ludus balatro {tool} takes no seed or file, not "{items[0]}"; use --seed')
    if tool == "emulate":
        _emulate(port, host, folder, json)
    elif tool == "drive":
        _check(games, timeout, delay, port)
        _drive((host or "127.0.0.1", port, timeout), (agent, deck, stake), seed, games, delay, json)
    elif tool == "seed":
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


def _emulate(port: int, host: str, folder: pathlib.Path | None, as_json: bool) -> None:
    try:
        from ludus.server import balatrobot
    except ImportError as missing:
        raise LudusError(f"the server needs {missing.name}; install it: pip install 'ludus[server]'") from missing
    from ludus.bridges.balatrobot.emulator import Emulator
    from ludus.bridges.balatrobot.files import Folder
    from ludus.bridges.balatrobot.run import Run
    from ludus.server.listening import address, listen

    emulator = Emulator(Folder(folder) if folder else None)
    listening = listen(host or "127.0.0.1", [port])
    Run("red", "white")  # compiles the rules before the first request
    place = address(host, listening.getsockname()[1])
    if as_json:
        print_json({"server": place})
    else:
        print(f"Balatro answers at {place} as BalatroBot does (Ctrl-C ends it)", flush=True)
    with listening:
        balatrobot.serve(emulator, listening, host)


def _check(games: int, timeout: float, delay: float, port: int) -> None:
    if games < 1 or not 0.0 < timeout < 1e6 or not 0.0 <= delay < 1e6 or not 0 < port < 65536:
        raise LudusError(
            "--games must be at least 1, --timeout more than 0, --delay at least 0 and --port 1 to 65535, not "
            f"{games}, {timeout:g}, {delay:g} and {port}"
        )


def _drive(
    place: tuple[str, int, float], choices: tuple[str, str, str], seed: str, games: int, delay: float, as_json: bool
) -> None:
    """Play runs at a place (host, port, timeout); `choices` are agent, deck and stake. The seed is of the first run."""
    from ludus.bridges.balatrobot.client import Client
    from ludus.evaluation.balatrobot import Turn, drive
    from ludus.evaluation.balatrobot_panel import panel

    results = []
    host, port, timeout = place
    with Client(port, host, timeout) as client, panel(sys.stdout, quiet=as_json) as show:
        for game in range(games):
            for turn in drive(client, *choices, seed if game == 0 else "", _thoughts, delay):
                if isinstance(turn, Turn):
                    show(turn)
                    continue
                results.append(turn)
                if not as_json:
                    print(turn, flush=True)
    if as_json:
        print_json({"results": [dataclasses.asdict(one) for one in results]})


def _thoughts(player: Player, pool: Pool) -> dict[int, float] | None:
    from ludus.agents import thoughts

    found = thoughts.think(player, pool, 0)
    return found.moves if found else None
