"""Our games as RLlib's environments: `GameVectorEnv` for one seat, `SelfPlayEnv` for several.

Both count the games that end, and can save and restore the games in progress. `reset` starts new games at first; later
it continues those in progress, so that RLlib may begin each unit of training with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from ludus.algorithms import tally as tallies
from ludus.algorithms.rllib_ppo.features import FlatFeatures, layout_for
from ludus.bridges import balatro_env, pool_state, restore_pool
from ludus.dsl import CUT, OVER, PLAYING
from ludus.pool import Pool
from ludus.types import Array, Continuous, Discrete, LudusError, Spec, Step

BALATRO = "balatro_encoders"
"""the network whose observations are those of BalatroEnv"""
EDGE = 1.0 - 1e-6
SEEDS_APART = 1_000_003
Observed = dict[str, Array]


class View(NamedTuple):
    """What an RLModule sees of a game, and how its actions are meant."""

    observation_space: spaces.Dict
    action_space: spaces.Space[Any]
    encode: Callable[[Mapping[str, Array], Array], Observed]
    """the arrays of N rows, from their observations and masks"""


def view_of(pool: Pool, network: str) -> View:
    """The view of the games of a pool for the network of this name."""
    if network == BALATRO:
        return View(balatro_env.new_observation_space(), balatro_env.new_action_space(), balatro_env.observed)
    features = features_of(pool)
    shown: dict[str, spaces.Space[Any]] = {"features": spaces.Box(-np.inf, np.inf, (features.width,))}
    if features.places:
        most = max(rows for _, rows, _ in features.tables)
        shown["indices"] = spaces.Box(0, most, (features.places,), np.int32)
    if isinstance(pool.spec.actions, Continuous):
        actions = spaces.Box(-np.inf, np.inf, (len(pool.spec.actions.low),))
        return View(spaces.Dict(shown), actions, lambda observation, mask: features(observation))
    count = pool.spec.actions.n
    shown["action_mask"] = spaces.Box(0, 1, (count,), np.int8)

    def encode(observation: Mapping[str, Array], mask: Array) -> Observed:
        return features(observation) | {"action_mask": mask.view(np.int8)}

    return View(spaces.Dict(shown), spaces.Discrete(count), encode)


def features_of(pool: Pool) -> FlatFeatures:
    """The converter of the observations of a pool."""
    return FlatFeatures(layout_for(pool.game.name, pool.game.rules, pool.spec))


def played(spec: Spec, actions: Any) -> Array:
    """Actions of the policy for the pool; continuous ones are squashed to their bounds, as by a SquashedGaussian."""
    if isinstance(spec.actions, Discrete):
        return np.asarray(actions)
    low, high = np.array(spec.actions.low), np.array(spec.actions.high)
    raw = np.clip(np.tanh(np.asarray(actions, np.float64)), -EDGE, EDGE)
    return low + 0.5 * (high - low) * (1.0 + raw)


class Record:
    """Counts the games of a pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.returns, self.lengths = np.zeros((pool.rows, pool.spec.seats)), np.zeros(pool.rows, np.int64)
        self.tally, self.begun = tallies.empty(pool.spec.seats), False

    def begin(self, seed: int | None) -> Step:
        """The step to begin with: of new games with this seed at first, later of the games in progress."""
        ended = self.pool.status != PLAYING
        if not self.begun:
            self.pool.reset(seed)
        elif ended.any():
            self.pool.reset(rows=ended)
        self.begun = True
        return self.pool.step

    def add(self, step: Step, restarted: Array) -> None:
        """Count a step; a row that has restarted has made no decision."""
        views, ended = self.pool.spec.views, (self.pool.status != PLAYING) & ~restarted
        self.tally[tallies.DECISIONS] += views * (~restarted).sum()
        self.returns += step.reward[::views]
        self.lengths += ~restarted
        if ended.any():
            tallies.count(self.tally, self.returns[ended], self.lengths[ended])
            self.returns[ended], self.lengths[ended] = 0.0, 0

    def take(self) -> Array:
        """The tally since the last call."""
        taken, self.tally = self.tally, tallies.empty(self.pool.spec.seats)
        return taken

    def state(self) -> dict[str, Array]:
        return {"returns": self.returns.copy(), "lengths": self.lengths.copy()} | pool_state(self.pool)

    def restore(self, state: Mapping[str, Array]) -> None:
        self.returns[:], self.lengths[:] = state["returns"], state["lengths"]
        restore_pool(self.pool, state)
        self.begun = True


class GameVectorEnv(gymnasium.vector.VectorEnv[Observed, Array, Array]):
    """`num_envs` games of one seat in one pool."""

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.pool = Pool(config["game"], config["num_envs"], threads=1)
        self.view, self.record = view_of(self.pool, config["network"]), Record(self.pool)
        self.num_envs = num_envs = self.pool.rows
        self.single_observation_space, self.single_action_space = self.view.observation_space, self.view.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: Any = None, options: object = None) -> tuple[Observed, dict[str, Any]]:
        """Start with new games; later continue those in progress, and start again those that have ended."""
        step = self.record.begin(seed)
        return self.view.encode(step.observation, step.mask), {}

    def step(self, actions: Array) -> tuple[Observed, Array, Array, Array, dict[str, Any]]:
        """Play one action in every row; a row whose game has ended starts a new one and ignores its action."""
        restarted = self.pool.status != PLAYING
        with torch.profiler.record_function("ludus:step"):
            step = self.pool.advance(played(self.pool.spec, actions))
            seen = self.view.encode(step.observation, step.mask)
        self.record.add(step, restarted)
        status = self.pool.status
        return seen, step.reward[:, 0].astype(np.float64), status == OVER, status == CUT, {}

    def close_extras(self, **kwargs: Any) -> None:
        self.pool.close()


class SelfPlayEnv(MultiAgentEnv):
    """One game whose seats are agents, `seat_0` and so on, all with the same policy."""

    def __init__(self, config: EnvContext) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.pool = Pool(config["game"], 1, threads=1)
        self.view, self.record = view_of(self.pool, config["network"]), Record(self.pool)
        self.shift = SEEDS_APART * config.worker_index
        self.possible_agents: list[Any] = [f"seat_{seat}" for seat in range(self.pool.spec.seats)]
        self.agents = list(self.possible_agents)
        shown: dict[Any, Any] = dict.fromkeys(self.possible_agents, self.view.observation_space)
        acted: dict[Any, Any] = dict.fromkeys(self.possible_agents, self.view.action_space)
        self.observation_spaces, self.action_spaces = shown, acted
        self.observation_space, self.action_space = spaces.Dict(shown), spaces.Dict(acted)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Start with a new game; later continue the one in progress, unless it has ended."""
        # RLlib gives neighbouring seeds to the games of a runner, and also to the runners.
        return self._seen(self.record.begin(None if seed is None else seed + self.shift)), {}

    def step(self, action_dict: dict[Any, Any]) -> tuple[Any, Any, Any, Any, Any]:
        """Play the actions of the seats that act."""
        seats = self._acting(self.pool.step)
        with torch.profiler.record_function("ludus:step"):
            step = self.pool.advance(played(self.pool.spec, [action_dict[seat] for seat in seats]))
        self.record.add(step, np.zeros(1, bool))
        rewards = dict(zip(self.possible_agents, step.reward[0].tolist(), strict=True))
        status = int(self.pool.status[0])
        ends = [dict.fromkeys([*self.possible_agents, "__all__"], status == end) for end in (OVER, CUT)]
        return (self._seen(step) if status == PLAYING else self._last()), rewards, ends[0], ends[1], {}

    def _acting(self, step: Step) -> list[str]:
        return [f"seat_{seat}" for seat in step.seat.tolist()]

    def _seen(self, step: Step) -> dict[str, Observed]:
        seen = self.view.encode(step.observation, step.mask)
        return {
            agent: {name: array[row] for name, array in seen.items()} for row, agent in enumerate(self._acting(step))
        }

    def _last(self) -> dict[Any, Observed]:
        """What every seat sees at the end."""
        found = {}
        for seat, agent in enumerate(self.possible_agents):
            observation = {name: array[None] for name, array in self.pool.look(0, seat).items()}
            mask = np.ones_like(self.pool.step.mask[:1])
            found[agent] = {name: array[0] for name, array in self.view.encode(observation, mask).items()}
        return found

    def close(self) -> None:
        self.pool.close()


def records_of(env: Any) -> Sequence[Record]:
    """The records of all games of an env runner's environment."""
    if isinstance(env, GameVectorEnv):
        return [env.record]
    if (several := getattr(env, "envs", None)) is not None:
        return [one.unwrapped.record for one in several]
    inner = getattr(env, "env", None)
    if inner is None:
        raise LudusError(f"{env!r} is no environment of rllib_ppo")
    return records_of(inner)
