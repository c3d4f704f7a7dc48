"""What acts. An agent is chosen by a word (`random`, `perfect`, `scripted`) and sees only what its seat sees."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import re
from typing import Any, Protocol

from ludus.games import split_name
from ludus.types import Decision, LudusError, Spec, Step

KINDS = ("perfect", "expert", "greedy", "scripted", "random", "first")
"""from the strongest to the weakest; every game has `random`"""
SHIPPED = pathlib.Path(__file__).with_name("shipped")
TRAINED = {"trained": "", "dreamer": " --algorithm world_model"}
"""what comes with ludus already trained: by the usual method of its game, or with a world model, whose dreams can be
seen; and how one is made"""
SEARCH = re.compile(r"mcts(?:\((\d{1,7})\))?")
LOOKAHEAD = re.compile(r"lookahead(?:\((?:(\d{1,4})|([^()]+))\))?")


class Agent(Protocol):
    """A frozen dataclass: everything learned is in `params`, everything chosen in its fields."""

    def init(self, spec: Spec, key: Any) -> Any: ...
    def memory(self, rows: int) -> Any: ...
    def act(self, params: Any, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]: ...


def load(kind: str, game: str) -> Agent:
    """The agent of this kind for a game; `best` is the strongest that needs no training, a path one that was trained.

    `mcts`, or `mcts(2000)` with another number of simulations, searches; `trained` and `dreamer` come with ludus.
    `lookahead` tries out what `trained` would do and more, `lookahead(64)` in so many copies of every option, and
    `lookahead(runs/…)` with what was learned there.
    """
    if ahead := LOOKAHEAD.fullmatch(kind):
        deals = {"deals": int(ahead[1])} if ahead[1] else {}
        look: Agent = importlib.import_module("ludus.agents.search.lookahead").load(game, ahead[2], **deals)
        return look
    if "/" in kind or pathlib.Path(kind).is_dir():
        return importlib.import_module("ludus.agents.trained").load(kind, game)
    if search := SEARCH.fullmatch(kind):
        return importlib.import_module("ludus.agents.search.mcts").MCTS(simulations=int(search[1] or 400))
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
    home = "ludus.agents.random" if kind == "random" else f"ludus.agents.{kind}.{name}"
    agent: Agent = importlib.import_module(home).AGENT
    return agent


def shipped(game: str, kind: str = "trained") -> pathlib.Path | None:
    """The checkpoint of a small trained agent that comes with ludus for a game, or None where there is none."""
    name = "" if ":" in game.partition("(")[0] else split_name(game)[0].partition("@")[0]
    folder = SHIPPED / (name if kind == "trained" else f"{name}.{kind}")
    return folder if name.isidentifier() and (folder / "manifest.json").is_file() else None


def shipped_kinds(game: str) -> list[str]:
    """The agents that come with ludus already trained for a game, by name; the usual one first."""
    return [kind for kind in TRAINED if shipped(game, kind) is not None]


def _load_shipped(kind: str, name: str, game: str) -> Agent:
    folder = shipped(name, kind)
    if folder is None:
        raise LudusError(f"no {kind} agent comes with ludus for {name}; make one: ludus train {name}{TRAINED[kind]}")
    agent: Agent = importlib.import_module("ludus.agents.trained").load(folder, game)
    return agent


def seated(agent: Agent, pool: Any) -> Agent:
    """The agent for the games of this pool: what its `at(pool)` gives, as search needs the games themselves, or itself.

    It acts on the newest step of the pool. In rows where it has nothing to decide the step's discount is 0, as after
    the end of a game: it may skip the thinking there, and whatever it answers is ignored.
    """
    bind = getattr(agent, "at", None)
    return bind(pool) if bind else agent


def kinds_for(name: str) -> list[str]:
    """Which kinds of agent a game has, the strongest first."""
    return [kind for kind in KINDS if kind == "random" or _exists(f"ludus.agents.{kind}.{name}")]


def _exists(module: str) -> bool:
    return module.rpartition(".")[2].isidentifier() and importlib.util.find_spec(module) is not None
