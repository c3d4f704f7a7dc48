"""Ludus: train, watch, play against and evaluate game-playing agents.

    run = ludus.train("connect4", algorithm="ppo", steps=2_000_000)    # a run on disk, with a progress bar
    run.plot()                                                         # matplotlib: score with interval, losses
    agent = ludus.load("runs/connect4-0001")                           # or run.agent, or ludus.agent(name, game)
    ludus.evaluate(agent, against="mcts(200)", games=200)              # Score(0.63 ± 0.05)
    env = ludus.make("connect4", opponent=agent)                       # a Gymnasium environment

The page docs/python.md explains every name. They are imported when they are first used, so `import ludus` takes
milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.agents.bound import BoundAgent, agent, load
    from ludus.algorithms.tabular.forms import QLearning
    from ludus.bridges import open_pool
    from ludus.bridges.gymnasium import make
    from ludus.bridges.pettingzoo import make_pettingzoo
    from ludus.evaluation.evaluate import Score
    from ludus.games import Game
    from ludus.pool import Pool
    from ludus.server.client import AsyncClient, Client
    from ludus.training.agent_service import NeuralAgentService
    from ludus.training.api import TrainingRun, train, training
    from ludus.training.evaluation import battle, evaluate
    from ludus.training.sweep import Sweep, sweep
    from ludus.types import Continuous, Decision, Discrete, LudusError, Rollout, Spec, Step

__version__ = "0.1.0"

__all__ = [
    "AsyncClient", "BoundAgent", "Client", "Continuous", "Decision", "Discrete", "Game", "LudusError",
    "NeuralAgentService", "Pool", "QLearning", "Rollout", "Score", "Spec", "Step", "Sweep", "TrainingRun", "agent",
    "battle", "evaluate", "load", "make", "make_pettingzoo", "open_pool", "sweep", "train", "training",
]  # fmt: skip

_HOMES = {
    "agents.bound": ("BoundAgent", "agent", "load"),
    "algorithms.tabular.forms": ("QLearning",),
    "bridges": ("open_pool",),
    "bridges.gymnasium": ("make",),
    "bridges.pettingzoo": ("make_pettingzoo",),
    "evaluation.evaluate": ("Score",),
    "games": ("Game",),
    "pool": ("Pool",),
    "server.client": ("AsyncClient", "Client"),
    "training.agent_service": ("NeuralAgentService",),
    "training.api": ("TrainingRun", "train"),
    "training.evaluation": ("battle", "evaluate"),
    "training.sweep": ("Sweep", "sweep"),
    "types": ("Continuous", "Decision", "Discrete", "LudusError", "Rollout", "Spec", "Step"),
}
"""the module of each public name"""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    from ludus.files import discovery

    if name == "training":  # a package that can be called, see ludus/training/__init__.py
        return discovery.load_bundled(__name__, name)
    home = next(home for home, names in _HOMES.items() if name in names)
    return getattr(discovery.load_bundled(__name__, home), name)


def __dir__() -> list[str]:
    """The public names, for completion, with what Python itself and imported modules of the package add."""
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "annotations"})
