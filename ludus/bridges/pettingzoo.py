"""Ludus games as PettingZoo environments: `env("tictactoe")` (AEC) or `parallel_env("goofspiel")`.

An agent sees {"observation": …, "action_mask": …}, or only the observation if actions are continuous. An illegal
action is replaced by a random legal one, unless `illegal` is "end" or "raise". With `env`, simultaneous games collect
the actions agent by agent and step after the last one; with `parallel_env`, alternating games use only the action of
the agent to act.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ludus import games
from ludus.dsl import CUT, OVER, PLAYING, random
from ludus.pool import Pool
from ludus.types import Array, Discrete, LudusError

try:
    from gymnasium import spaces
    from gymnasium.utils.seeding import np_random
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as missing:
    raise LudusError("ludus.bridges.pettingzoo needs PettingZoo: pip install ludus[pettingzoo]") from missing

from ludus.bridges.illegal_actions import PENALTY, ActionError, Illegal, Referee, RowKeys, Verdict
from ludus.bridges.rendering import FRAMES_PER_SECOND, check_render_mode, render, render_modes
from ludus.bridges.spaces import Action, Observation, Space, action_space, fit_row, observation_space

__all__ = ["ActionError", "LudusAEC", "LudusParallel", "env", "parallel_env", "raw_env"]

Info = dict[str, object]
AgentObservation = Observation | dict[str, Observation]
"""an observation, or a dict of the observation and its action_mask"""


def env(
    name: str, render_mode: str | None = None, illegal: Illegal = "random", **parameters: object
) -> AECEnv[str, AgentObservation, Action]:
    """A game whose agents act one after the other, with PettingZoo's check for calls in the wrong order."""
    return OrderEnforcingWrapper(raw_env(name, render_mode, illegal, **parameters))


def raw_env(name: str, render_mode: str | None = None, illegal: Illegal = "random", **parameters: object) -> LudusAEC:
    """Like `env`, without that check."""
    return LudusAEC(AgentGame(games.load(name, **parameters), render_mode, illegal))


def parallel_env(
    name: str, render_mode: str | None = None, illegal: Illegal = "random", **parameters: object
) -> LudusParallel:
    """A game whose agents all act in every step."""
    return LudusParallel(AgentGame(games.load(name, **parameters), render_mode, illegal))


def make_pettingzoo(
    game: str, render_mode: str | None = None, illegal: Illegal = "random", **parameters: object
) -> Any:
    """A game as a PettingZoo environment: the AEC form, or the parallel form if all seats act at once.

    >>> import ludus
    >>> env = ludus.make_pettingzoo("tictactoe")
    >>> env.reset(seed=0)
    >>> env.agent_selection
    'player_0'
    """
    simultaneous = games.load(game, **parameters).spec.turns == "simultaneous"
    return (parallel_env if simultaneous else env)(game, render_mode, illegal, **parameters)


class AgentGame:
    """One game and the names of its agents: the common part of both interfaces."""

    def __init__(self, game: games.Game, render_mode: str | None, illegal: Illegal) -> None:
        check_render_mode(game, render_mode)
        self.pool, self.render_mode = Pool(game, 1, threads=1), render_mode
        self._referee, self._keys = Referee(self.pool, illegal), RowKeys(1)
        self.agents = [f"player_{seat}" for seat in range(game.spec.seats)]
        self.masked = isinstance(game.spec.actions, Discrete)
        self.simultaneous = game.spec.turns == "simultaneous"
        self._space_without_mask = observation_space(self.pool.observation)
        # Each agent has its own space, so that seeding one does not affect the others.
        self.observation_spaces = {agent: self._space() for agent in self.agents}
        self.action_spaces = {agent: action_space(game.spec.actions) for agent in self.agents}
        self._opened = False

    @property
    def metadata(self) -> Info:
        game = self.pool.game
        return {"name": f"{game.name}_v0", "render_modes": render_modes(game), "render_fps": FRAMES_PER_SECOND}

    @property
    def seat(self) -> int:
        """The seat to act, in an alternating game."""
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
        """Start a new game; without a seed, the random stream of the last game continues."""
        if seed is None and not self._opened:
            seed = int(np_random()[0].integers(2**62))
        self.pool.reset(None if seed is None else [seed])
        if seed is not None:
            self._keys.seed(random.seeded([seed]))
        self._opened = True

    def acts(self, seat: int) -> bool:
        """Whether this seat is to act now."""
        return self.running and (self.simultaneous or seat == self.seat)

    def observe(self, seat: int, waiting: int) -> AgentObservation:
        """The observation of a seat; if the seat is not to act, its mask is filled with `waiting`."""
        seen = {name: field[None] for name, field in self.pool.look(0, seat).items()}
        observation = fit_row(seen, self._space_without_mask)
        if not self.masked:
            return observation
        view = seat if self.simultaneous else 0
        mask = self.pool.step.mask[view].astype(np.int8)
        return {"observation": observation, "action_mask": mask if self.acts(seat) else np.full_like(mask, waiting)}

    def judge(self, seat: int, action: Action | None) -> Verdict:
        """Check the action of one seat; other seats may not have chosen yet."""
        line = np.array([seat if self.simultaneous else 0])
        return self._referee.judge(self._referee.read([action], 1), line, self._keys)

    def ended_by(self, verdict: Verdict) -> bool:
        """Whether this action was illegal and ends the game."""
        return self._referee.ends(verdict)

    def play(self, actions: list[Action]) -> list[float]:
        """Play one step; returns the reward of every seat."""
        rewards: list[float] = self.pool.advance(np.array(actions)).reward[0].tolist()
        return rewards

    def _space(self) -> Space:
        space = observation_space(self.pool.observation)
        if not isinstance(self.pool.spec.actions, Discrete):
            return space
        mask = spaces.Box(0, 1, (self.pool.spec.actions.n,), np.int8)
        return spaces.Dict({"observation": space, "action_mask": mask})


def action_info(verdict: Verdict) -> Info:
    """The info dict of an agent about its action; empty if the action was legal."""
    return {name: values[0].item() for name, values in verdict.info.items()}


class LudusAEC(AECEnv[str, AgentObservation, Action]):  # type: ignore[misc]  # PettingZoo is untyped
    """A game whose agents act one after the other; the mask of a waiting agent is all zeros."""

    def __init__(self, game: AgentGame) -> None:
        super().__init__()
        self.game, self.render_mode = game, game.render_mode
        self.metadata = {**game.metadata, "is_parallelizable": game.simultaneous}
        self.possible_agents = list(game.agents)
        self.observation_spaces, self.action_spaces = game.observation_spaces, game.action_spaces
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Info | None = None) -> None:
        """Start a new game."""
        self.game.open(seed)
        self.agents = list(self.possible_agents)
        self.rewards: dict[str, float] = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(self.agents, 0.0)
        self.terminations: dict[str, bool] = dict.fromkeys(self.agents, False)
        self.truncations: dict[str, bool] = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Info] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._chosen: list[Action] = []
        self._select()

    def step(self, action: Action | None) -> None:
        """Take the action of `agent_selection`, and step the game when all required actions are present."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        verdict = self.game.judge(self.possible_agents.index(agent), action)
        self.infos[agent] = action_info(verdict)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._chosen.append(verdict.actions[0])
        if self.game.ended_by(verdict):
            self._conclude({**self.rewards, agent: PENALTY})
        elif not self.game.simultaneous or len(self._chosen) == len(self.possible_agents):
            self._conclude(dict(zip(self.possible_agents, self.game.play(self._chosen), strict=True)))
        self._select()

    def observe(self, agent: str) -> AgentObservation:
        """The current observation of this agent."""
        return self.game.observe(self.possible_agents.index(agent), waiting=0 if self.game.running else 1)

    def render(self) -> Array | str | None:
        """The game in the render mode: pixels, text or None."""
        return render(self.game.pool, self.render_mode)

    def close(self) -> None:
        """Close the pool."""
        self.game.pool.close()

    def _conclude(self, rewards: dict[str, float]) -> None:
        """Update rewards and ends after the game has moved or was ended by an illegal action."""
        self._chosen = []
        self.rewards = rewards
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, self.game.terminated)
        self.truncations = dict.fromkeys(self.agents, self.game.truncated)

    def _select(self) -> None:
        seat = len(self._chosen) if self.game.simultaneous else self.game.seat
        self.agent_selection = self.possible_agents[seat]


class LudusParallel(ParallelEnv[str, AgentObservation, Action]):  # type: ignore[misc]
    """A game whose agents all act in every step.

    In an alternating game only the action of the agent to act is used: infos[agent]["acting"] is True for that agent;
    the others have a mask of ones, and their actions are ignored.
    """

    def __init__(self, game: AgentGame) -> None:
        self.game, self.render_mode = game, game.render_mode
        self.metadata = {**game.metadata, "is_parallelizable": True}
        self.possible_agents = list(game.agents)
        self.observation_spaces, self.action_spaces = game.observation_spaces, game.action_spaces
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Info | None = None
    ) -> tuple[dict[str, AgentObservation], dict[str, Info]]:
        """Start a new game."""
        self.game.open(seed)
        self.agents = list(self.possible_agents)
        return self._observations(), self._infos()

    def step(
        self, actions: Mapping[str, Action]
    ) -> tuple[dict[str, AgentObservation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Step the game with the actions of the agents to act."""
        if not self.agents:
            raise ActionError(f"no game of {self.game.pool.name} is running; call reset() before step()")
        acting = [agent for seat, agent in enumerate(self.agents) if self.game.acts(seat)]
        missing = [agent for agent in acting if agent not in actions]
        if missing:
            raise ActionError(f"an action of {', '.join(missing)} is missing; actions were given for {list(actions)}")
        seats = [self.possible_agents.index(agent) for agent in acting]
        verdicts = [self.game.judge(seat, actions[agent]) for seat, agent in zip(seats, acting, strict=True)]
        rewards = dict(zip(self.agents, self._play(verdicts, seats), strict=True))
        terminations = dict.fromkeys(self.agents, self.game.terminated)
        truncations = dict.fromkeys(self.agents, self.game.truncated)
        if not self.game.running:
            self.agents = []
        infos = self._infos()
        for agent, verdict in zip(acting, verdicts, strict=True):
            infos[agent] |= action_info(verdict)
        return self._observations(), rewards, terminations, truncations, infos

    def render(self) -> Array | str | None:
        """The game in the render mode: pixels, text or None."""
        return render(self.game.pool, self.render_mode)

    def close(self) -> None:
        """Close the pool."""
        self.game.pool.close()

    def _play(self, verdicts: list[Verdict], seats: list[int]) -> list[float]:
        """Step the game, unless an illegal action ends it; returns the reward of every seat."""
        offenders = [seat for seat, verdict in zip(seats, verdicts, strict=True) if self.game.ended_by(verdict)]
        if offenders:
            return [PENALTY if seat in offenders else 0.0 for seat in range(len(self.possible_agents))]
        return self.game.play([verdict.actions[0] for verdict in verdicts])

    def _observations(self) -> dict[str, AgentObservation]:
        return {agent: self.game.observe(seat, waiting=1) for seat, agent in enumerate(self.possible_agents)}

    def _infos(self) -> dict[str, Info]:
        return {agent: {"acting": self.game.acts(seat)} for seat, agent in enumerate(self.possible_agents)}
