"""Agents: everything that chooses actions. `load` finds one by its name (`random`, `perfect`, `trained`) or path."""

from __future__ import annotations

import pathlib
import re

from ludus.agents import players
from ludus.agents.protocol import Agent, PoolAgent, seated, simulates
from ludus.files import discovery
from ludus.games import split_name
from ludus.types import LudusError

KINDS = ("perfect", "expert", "greedy", "scripted", "random", "first")
"""from the strongest to the weakest; every game has `random`"""
PRETRAINED = pathlib.Path(__file__).with_name("pretrained")
TRAINED = {"trained": "", "dreamer": " --algorithm world_model"}
"""kinds of trained agents that come with ludus, and the flags of `ludus train` that make one: `dreamer` has a world
model, whose imagined rollouts can be shown"""
SEARCH = re.compile(r"mcts(?:\((\d{1,7})\))?")
LOOKAHEAD = re.compile(r"lookahead(?:\((?:(\d{1,4})|([^()]+))\))?")


def load(kind: str, game: str) -> Agent:
    """The agent of this kind for a game.

    `best` is the strongest agent that needs no training. A path is the folder of a run, a checkpoint or an exported
    file. `mcts` is tree search; `mcts(2000)` sets the number of simulations. `trained` and `dreamer` come with ludus.
    `lookahead` improves the decisions of `trained` by simulation; `lookahead(64)` sets the number of copies per
    option, `lookahead(runs/…)` uses the agent of a run. `http://host:3000/model` is an agent of a `ludus serve`.
    """
    if ahead := LOOKAHEAD.fullmatch(kind):
        from ludus.agents.search import lookahead

        deals = {"deals": int(ahead[1])} if ahead[1] else {}
        return lookahead.load(game, ahead[2], **deals)
    if kind.startswith(("http://", "https://")):
        from ludus.agents import remote

        return remote.load(kind, game)
    if is_path(kind):
        from ludus.agents import exported, trained

        return exported.load(kind, game) if exported.is_exported(kind) else trained.load(kind, game)
    if search := SEARCH.fullmatch(kind):
        from ludus.agents.search import mcts

        return mcts.MCTS(simulations=int(search[1] or 400))
    name = game if ":" in game.partition("(")[0] else split_name(game)[0].partition("@")[0]
    if kind in TRAINED:
        return _load_shipped(kind, name, game)
    offered = kinds_for(name)
    if kind == "best":
        kind = offered[0]
    if kind not in KINDS:
        known = ", ".join(("best", *KINDS, "mcts", *TRAINED, "lookahead", "the folder of a run"))
        raise LudusError(f'unknown agent "{kind}"; known are {known}, and in battles person')
    if kind not in offered:
        raise LudusError(f"{name} has no {kind} player; it has {', '.join(offered)}")
    agent: Agent = discovery.load_bundled(_home(kind, name)).AGENT
    return agent


def is_path(kind: str) -> bool:
    """Whether the name of an agent is a path: of a run, a checkpoint or an exported file."""
    from ludus.agents import exported

    return "/" in kind or pathlib.Path(kind).is_dir() or exported.is_exported(kind)


def game_of(path: str | pathlib.Path) -> str:
    """The game that the agent at a path plays."""
    from ludus.agents import checkpoint, exported, trained

    if exported.is_exported(path):
        return exported.read_metadata(path).game
    return checkpoint.read_manifest(trained.newest_in(pathlib.Path(path))).game


def shipped(game: str, kind: str = "trained") -> pathlib.Path | None:
    """The checkpoint of the trained agent that comes with ludus for a game, or None if there is none."""
    name = "" if ":" in game.partition("(")[0] else split_name(game)[0].partition("@")[0]
    folder = PRETRAINED / (name if kind == "trained" else f"{name}.{kind}")
    return folder if name.isidentifier() and (folder / "manifest.json").is_file() else None


def shipped_kinds(game: str) -> list[str]:
    """The kinds of trained agents that come with ludus for a game; `trained` is first."""
    return [kind for kind in TRAINED if shipped(game, kind) is not None]


def _load_shipped(kind: str, name: str, game: str) -> Agent:
    folder = shipped(name, kind)
    if folder is None:
        raise LudusError(f"no {kind} agent comes with ludus for {name}; make one: ludus train {name}{TRAINED[kind]}")
    from ludus.agents import trained

    return trained.load(folder, game)


def kinds_for(name: str) -> list[str]:
    """The kinds of agents that a game has, the strongest first."""
    return [kind for kind in KINDS if kind == "random" or name in discovery.bundled(_home(kind))]


def _home(kind: str, *game: str) -> str:
    """The package of the players of a kind, or the module of the player for a game; `random` is one module for all."""
    return ".".join((players.__name__, kind, *(() if kind == "random" else game)))


__all__ = [
    "KINDS",
    "TRAINED",
    "Agent",
    "PoolAgent",
    "game_of",
    "is_path",
    "kinds_for",
    "load",
    "seated",
    "shipped",
    "shipped_kinds",
    "simulates",
]
