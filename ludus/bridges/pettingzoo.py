"""Our games as PettingZoo environments: `env("tictactoe")` seat after seat, `parallel_env("goofspiel")` all at once.

An agent sees {"observation": …, "action_mask": …}, or the bare observation where actions are continuous. An illegal
move is refused with a sentence and changes nothing. Games in which all seats act at once ask them in turn under `env`
and move when the last has chosen; games of turns under `parallel_env` heed only the agent whose turn it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ludus import games
from ludus.pool import Pool
from ludus.types import Array, Discrete, LudusError
from ludus.words import CUT, OVER, PLAYING

try:
    from gymnasium import spaces
    from gymnasium.utils.seeding import np_random
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as missing:
    raise LudusError("ludus.bridges.pettingzoo needs PettingZoo: pip install ludus[pettingzoo]") from missing

from ludus.bridges.rendering import FRAMES_PER_SECOND, check_render_mode, render, render_modes
from ludus.bridges.spaces import Space, action_space, fit_actions, fit_row, observation_space

Agents = dict[str, Any]


class ActionError(LudusError):
    """An action that the game does not allow; the game has not moved."""


def env(name: str, render_mode: str | None = None, **parameters: object) -> AECEnv[str, Any, Any]:
    """A game whose agents act one after the other, guarded against calls in the wrong order."""
    return OrderEnforcingWrapper(raw_env(name, render_mode, **parameters))


def raw_env(name: str, render_mode: str | None = None, **parameters: object) -> LudusAEC:
    """The same without the guard."""
    return LudusAEC(Table(games.load(name, **parameters), render_mode))


def parallel_env(name: str, render_mode: str | None = None, **parameters: object) -> LudusParallel:
    """A game whose agents all act in every step."""
    return LudusParallel(Table(games.load(name, **parameters), render_mode))


class Table:
    """One game and the names of its seats: what both forms share."""

    def __init__(self, game: games.Game, render_mode: str | None) -> None:
        check_render_mode(game, render_mode)
        self.pool, self.render_mode = Pool(game, 1, threads=1), render_mode
        self.agents = [f"player_{seat}" for seat in range(game.spec.seats)]
        self.masked = isinstance(game.spec.actions, Discrete)
        self.simultaneous = game.spec.turns == "simultaneous"
        self.seen = observation_space(self.pool.observation)
        # A space of its own for every agent, so that seeding one leaves the others alone.
        self.observation_spaces = {agent: self._space() for agent in self.agents}
        self.action_spaces = {agent: action_space(game.spec.actions) for agent in self.agents}
        self._opened = False

    @property
    def metadata(self) -> dict[str, Any]:
        game = self.pool.game
        return {"name": f"{game.name}_v0", "render_modes": render_modes(game), "render_fps": FRAMES_PER_SECOND}

    @property
    def seat(self) -> int:
        """Who is to act, in a game of turns."""
        return int(self.pool.states["seat"][0])

    @property
    def running(self) -> bool:
        return bool(self.pool.status[0] == PLAYING)

    @property
    def terminated(self) -> bool:
        return bool(self.pool.status[0] == OVER)

    @property
    def truncated(self) -> bool:
        return bool(self.pool.status[0] == CUT)

    def open(self, seed: int | None) -> None:
        """A new game; without a seed its randomness goes on from the last game's."""
        if seed is None and not self._opened:
            seed = int(np_random()[0].integers(2**62))
        self.pool.reset(None if seed is None else [seed])
        self._opened = True

    def acts(self, seat: int) -> bool:
        """Whether this seat's action counts now."""
        return self.running and (self.simultaneous or seat == self.seat)

    def observe(self, seat: int, waiting: int) -> Any:
        """What a seat may know; where its action does not count, its mask is all `waiting`."""
        seen = {name: field[None] for name, field in self.pool.look(0, seat).items()}
        observation = fit_row(seen, self.seen)
        if not self.masked:
            return observation
        view = seat if self.simultaneous else 0
        mask = self.pool.step.mask[view].astype(np.int8)
        return {"observation": observation, "action_mask": mask if self.acts(seat) else np.full_like(mask, waiting)}

    def check(self, seat: int, action: Any) -> None:
        """Refuse an action at once, though the others of this step may not have chosen yet."""
        legal: list[Any] = list(self.pool.random_actions(0))
        legal[seat if self.simultaneous else 0] = action
        self._fit(legal)

    def play(self, actions: list[Any]) -> list[float]:
        """One step; the reward of every seat."""
        rewards: list[float] = self.pool.advance(self._fit(actions)).reward[0].tolist()
        return rewards

    def _fit(self, actions: list[Any]) -> Array:
        try:
            fitted = fit_actions(self.pool.spec.actions, actions)
            self.pool.check(fitted)
        except LudusError as error:
            raise ActionError(str(error)) from None
        return fitted

    def _space(self) -> Space:
        space = observation_space(self.pool.observation)
        if not isinstance(self.pool.spec.actions, Discrete):
            return space
        mask = spaces.Box(0, 1, (self.pool.spec.actions.n,), np.int8)
        return spaces.Dict({"observation": space, "action_mask": mask})


class LudusAEC(AECEnv[str, Any, Any]):  # type: ignore[misc]  # PettingZoo is untyped
    """A game whose agents act one after the other; an agent that waits has an empty mask."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self.table, self.render_mode = table, table.render_mode
        self.metadata = {**table.metadata, "is_parallelizable": table.simultaneous}
        self.possible_agents = list(table.agents)
        self.observation_spaces, self.action_spaces = table.observation_spaces, table.action_spaces
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Open a new game."""
        self.table.open(seed)
        self.agents = list(self.possible_agents)
        self.rewards: Agents = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards: Agents = dict.fromkeys(self.agents, 0.0)
        self.terminations: Agents = dict.fromkeys(self.agents, False)
        self.truncations: Agents = dict.fromkeys(self.agents, False)
        self.infos: Agents = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._chosen: list[Any] = []
        self._select()

    def step(self, action: Any) -> None:
        """Take the action of `agent_selection`, and move the game once all that count are there."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.table.check(self.possible_agents.index(agent), action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._chosen.append(action)
        if not self.table.simultaneous or len(self._chosen) == len(self.possible_agents):
            self._move()
        self._select()

    def observe(self, agent: str) -> Any:
        """What this agent may know now."""
        return self.table.observe(self.possible_agents.index(agent), waiting=0 if self.table.running else 1)

    def render(self) -> Any:
        """The game as the render mode says: pixels, a text, or None."""
        return render(self.table.pool, self.render_mode)

    def close(self) -> None:
        """Let the pool go."""
        self.table.pool.close()

    def _move(self) -> None:
        rewards = self.table.play(self._chosen)
        self._chosen = []
        self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, self.table.terminated)
        self.truncations = dict.fromkeys(self.agents, self.table.truncated)

    def _select(self) -> None:
        seat = len(self._chosen) if self.table.simultaneous else self.table.seat
        self.agent_selection = self.possible_agents[seat]


class LudusParallel(ParallelEnv[str, Any, Any]):  # type: ignore[misc]
    """A game whose agents all act in every step.

    In a game of turns only the action of the agent whose turn it is counts: infos[agent]["acting"] tells which one
    that is, the others have a mask of ones, and what they pass is ignored.
    """

    def __init__(self, table: Table) -> None:
        self.table, self.render_mode = table, table.render_mode
        self.metadata = {**table.metadata, "is_parallelizable": True}
        self.possible_agents = list(table.agents)
        self.observation_spaces, self.action_spaces = table.observation_spaces, table.action_spaces
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Agents, Agents]:
        """Open a new game."""
        self.table.open(seed)
        self.agents = list(self.possible_agents)
        return self._observations(), self._infos()

    def step(self, actions: Agents) -> tuple[Agents, Agents, Agents, Agents, Agents]:
        """Move the game by the actions that count."""
        if not self.agents:
            raise ActionError(f"no game of {self.table.pool.name} is running; call reset() before step()")
        acting = [agent for seat, agent in enumerate(self.agents) if self.table.acts(seat)]
        missing = [agent for agent in acting if agent not in actions]
        if missing:
            raise ActionError(f"an action of {', '.join(missing)} is missing; actions came from {list(actions)}")
        rewards = dict(zip(self.agents, self.table.play([actions[agent] for agent in acting]), strict=True))
        terminations = dict.fromkeys(self.agents, self.table.terminated)
        truncations = dict.fromkeys(self.agents, self.table.truncated)
        if not self.table.running:
            self.agents = []
        return self._observations(), rewards, terminations, truncations, self._infos()

    def render(self) -> Any:
        """The game as the render mode says: pixels, a text, or None."""
        return render(self.table.pool, self.render_mode)

    def close(self) -> None:
        """Let the pool go."""
        self.table.pool.close()

    def _observations(self) -> Agents:
        return {agent: self.table.observe(seat, waiting=1) for seat, agent in enumerate(self.possible_agents)}

    def _infos(self) -> Agents:
        return {agent: {"acting": self.table.acts(seat)} for seat, agent in enumerate(self.possible_agents)}
