"""An agent with its parameters, for one game: it takes observations of NumPy or Gymnasium and returns actions.

Other code chooses agents by their names (`kind`); a `BoundAgent` has such a name too, so it is accepted in their place.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ludus import agents
from ludus.agents.observations import Observation, check_fields, check_mask
from ludus.agents.protocol import Agent, Memory, Params, PoolAgent
from ludus.bridges import open_pool
from ludus.types import Discrete, DType, LudusError, Spec, Step

Named = str | os.PathLike[str]
"""the name of an agent, a run, or the folder of a run"""


class BoundAgent:
    """An agent that plays one game.

    >>> import ludus, numpy as np
    >>> agent = ludus.agent("perfect", "tictactoe")
    >>> agent.act(np.array([1, 1, 0, -1, -1, 0, 0, 0, 0]), mask=[0, 0, 1, 0, 0, 1, 1, 1, 1])
    2
    """

    def __init__(self, kind: str, agent: Agent, game: str, spec: Spec, observation: DType, seed: int = 0) -> None:
        self.kind, self.agent, self.game, self.spec, self.observation = kind, agent, game, spec, observation
        self.params: Params = agent.init(spec, seed)
        self._dice = np.random.default_rng(seed)
        self._state: Memory = None

    def __repr__(self) -> str:
        return f'<ludus agent "{self.kind}" for {self.game}>'

    def reset(self) -> None:
        """Forget the current game; call it before the first observation of a new one."""
        self._state = None

    def act(self, observation: Observation, mask: ArrayLike | None = None, seat: int = 0) -> Any:
        """The action for an observation: an int or a row of floats; for N observations, an array of N actions.

        `mask` marks the legal actions, [A] or [N, A]; without it, all are legal. The agent remembers the game until
        `reset`. `seat` is the seat that is to act.
        """
        action, self._state = self._decide(observation, self._state, None, mask, seat, self.agent)
        return action

    def predict(
        self, observation: Observation, state: Memory = None, episode_start: ArrayLike | None = None,
        deterministic: bool = False, action_masks: ArrayLike | None = None,
    ) -> tuple[Any, Memory]:  # fmt: skip
        """The action and the next state, as in Stable-Baselines3; what is remembered is in `state`, not in the agent.

        The state is None if the agent has no memory.
        With `deterministic`, a network chooses its most likely action instead of sampling.
        """
        agent = self.agent if deterministic else _sampling(self.agent)
        return self._decide(observation, state, episode_start, action_masks, 0, agent)

    def _decide(
        self, observation: Observation, state: Memory, start: ArrayLike | None, mask: ArrayLike | None, seat: int,
        agent: Agent,
    ) -> tuple[Any, Memory]:  # fmt: skip
        if isinstance(agent, PoolAgent):
            raise LudusError(
                f"{self.kind} simulates the game and cannot act on an observation alone; use ludus.evaluate, "
                "ludus.battle or ludus.make(…, opponent=agent)"
            )
        if not 0 <= seat < self.spec.seats:
            raise LudusError(f"seat {seat} does not exist; {self.game} has the seats 0 to {self.spec.seats - 1}")
        fields, single = check_fields(self.observation, observation, self.game)
        rows = len(next(iter(fields.values())))
        first = np.full(rows, state is None) if start is None else np.broadcast_to(np.asarray(start, bool), (rows,))
        step = Step(
            fields, check_mask(self.spec.actions, mask, rows), np.full(rows, seat, np.int8),
            np.zeros((rows, self.spec.seats), np.float32), np.ones(rows, np.float32), first | (state is None),
        )  # fmt: skip
        memory = agent.memory(rows) if state is None else state
        decision, memory = agent.act(self.params, memory, step, int(self._dice.integers(2**31)))
        state = None if isinstance(memory, tuple) and not memory else memory
        actions = np.asarray(decision.action)
        if single and isinstance(self.spec.actions, Discrete):
            return int(actions[0]), state
        return (actions[0] if single else actions), state


def _sampling(agent: Agent) -> Agent:
    """The same agent, sampling its actions if it has a network for discrete or continuous actions."""
    inner = getattr(agent, "agent", None)
    return replace(agent, agent=replace(inner, greedy=False)) if hasattr(inner, "greedy") else agent  # type: ignore[type-var]


def agent(kind: Named | BoundAgent, game: str | Callable[[], Any]) -> BoundAgent:
    """An agent by its name: random, greedy, perfect, best, trained, mcts(200), lookahead, or the folder of a run.

    `ludus.load` needs no game, because a run knows its own.

    >>> import ludus
    >>> ludus.agent("mcts(200)", "connect4")
    <ludus agent "mcts(200)" for connect4>
    """
    name = name_of_game(game)
    if isinstance(kind, BoundAgent):
        if _rules_of(kind.game) != _rules_of(name):
            raise LudusError(f"{kind!r} cannot play {name}")
        return kind
    pool = open_pool(name, 1, 0, threads=1)
    try:
        found = name_of_agent(kind)
        return BoundAgent(found, agents.load(found, name), pool.name, pool.spec, pool.observation)
    finally:
        pool.close()


def name_of_agent(kind: Named | BoundAgent) -> str:
    """The name by which `agents.load` finds an agent."""
    if isinstance(kind, BoundAgent):
        return kind.kind
    if isinstance(kind, os.PathLike):
        return str(pathlib.Path(kind).resolve())
    if not isinstance(kind, str):
        raise LudusError(f'{kind!r} is not an agent; give a name such as "mcts(200)", an agent or a run')
    return kind


def _rules_of(game: str) -> str:
    """The name of a game without parameters and engine."""
    return game.partition("(")[0].partition("@")[0]


def load(path: Named, game: str | Callable[[], Any] | None = None, network: Any = None) -> BoundAgent:
    """The agent of a run, of one of its checkpoints or of an exported file; it knows its game.

    `game` is needed for a run on an environment object, and `network` for a run with a network of your own, because
    files contain neither.

    >>> import ludus
    >>> run = ludus.train("tictactoe", algorithm="q_learning", steps=20_000, progress=False)
    >>> ludus.load(run.folder).game
    'tictactoe'
    """
    if network is not None:
        from ludus.agents.neural.networks import own

        own.register(network)
    if not isinstance(path, str | os.PathLike):
        raise LudusError(f"{path!r} is not a run; give the folder of a run or of a checkpoint")
    found = pathlib.Path(path)
    name = agents.game_of(found) if game is None else name_of_game(game)
    if is_own_environment(name):
        check_own_environment(name)
    return agent(str(found.resolve()), name)


def name_of_game(game: Any) -> str:
    """The name of a game; an environment of Gymnasium, or a function that makes one, gets a name in this process."""
    if isinstance(game, str):
        return game
    from ludus.bridges import own_environments

    return own_environments.name_of(game)


def is_own_environment(game: str) -> bool:
    """Whether a name is that of an environment object, which exists only in one process."""
    return game.startswith("gymnasium:own/")


def check_own_environment(game: str) -> None:
    """Raise LudusError if this process does not have the environment."""
    from ludus.bridges import own_environments

    if not own_environments.is_known(game):
        raise LudusError(f"{game} was an environment object, which files do not contain; give it: load(…, game=MyEnv)")
