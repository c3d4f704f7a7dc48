"""The worker: one unit of work is one iteration of RLlib's PPO, which plays and learns.

RLlib is opened at the first unit. Each unit begins with its own random numbers and with the games as they are, so that
a run continues exactly from its checkpoints.
"""

from __future__ import annotations

import contextlib
import random as python_random
import shutil
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ludus.algorithms import tally as tallies
from ludus.algorithms.protocol import Arrays, Desk, Metrics
from ludus.algorithms.rllib_ppo import session
from ludus.algorithms.rllib_ppo.learner import Unit, Weights
from ludus.bridges import AnyPool
from ludus.dsl import random
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ludus.agents.neural.agent import DeepAgent
    from ludus.algorithms.rllib_ppo import RLlibPPO

UNIT = 0x726C6C6962
"""makes the random numbers of units differ from those of games with the same seed"""
LEARNED = {
    "policy_loss": "policy_loss", "vf_loss": "value_loss", "entropy": "entropy", "mean_kl_loss": "approx_kl",
    "curr_kl_coeff": "kl_coef", "vf_explained_var": "explained_variance",
    "gradients_default_optimizer_global_norm": "grad_norm",
}  # fmt: skip
"""our names of RLlib's metrics"""
ALL = "__all_modules__"
"""what RLlib calls the metrics of no single module"""
T = TypeVar("T")


class RLlibWorker:
    """Trains with RLlib on one game."""

    def __init__(self, settings: RLlibPPO, agent: DeepAgent, pool: AnyPool, desk: Desk) -> None:
        self.settings, self.agent, self.desk, self.game = settings, agent, desk, pool.name
        self.rows, self.spec = pool.rows, pool.spec
        pool.close()
        self.time, self.version = 0, 0
        self.weights: Weights | None = None
        self.loaded: Weights | None = None
        """the weights that RLlib has now"""
        self.games: Arrays = {}
        """games to continue, until RLlib is opened"""
        self.algorithm: Any = None
        self.resources = contextlib.ExitStack()

    def publish(self, params: Any, version: int) -> None:
        self.weights, self.version = Weights(*params), version

    def work(self) -> Unit:
        """One iteration: collect a batch of experience and learn from it."""
        assert self.weights is not None, "publish parameters before the first unit"
        if self.algorithm is None:
            self._open()
        self._load(self.weights)
        seed = int(random.keys((self.desk.pool_seed ^ UNIT) + self.time, 1)[0] >> 33)
        self._everywhere(lambda runner: begin_unit(runner, seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # RLlib and NumPy warn of their own code
            result = self.algorithm.train()
        self.time += self.desk.steps
        self.loaded = self._read()
        tally = tallies.merged([tally for taken in self._everywhere(take_tallies) for tally in taken])
        return Unit(self.loaded, tally, self.version, notes_of(result))

    def state(self) -> Arrays:
        """The time, and the games in progress of every env runner."""
        games = self.games
        if self.algorithm is not None:
            found = self._everywhere(states_of)
            games = {
                f"runner_{runner}.game_{number}.{name}": array
                for runner, states in enumerate(found)
                for number, state in enumerate(states)
                for name, array in state.items()
            }
        return {"time": np.array([self.time], np.int64)} | games

    def restore(self, state: Mapping[str, Array]) -> None:
        self.time = int(state["time"][0])
        games = {name: np.array(array) for name, array in state.items() if name != "time"}
        runners, several = max(self.settings.num_env_runners, 1), self.spec.seats > 1
        pools, rows = (self.rows, 1) if several else (1, self.rows)
        wanted = {f"runner_{runner}.game_{number}.returns" for runner in range(runners) for number in range(pools)}
        found = {name for name in games if name.endswith(".returns")}
        if games and (found != wanted or any(len(games[name]) != rows for name in found)):
            raise LudusError(
                "this checkpoint is of a run with another number of rows or env runners; "
                "resume it with its own run.toml"
            )
        self.games = games
        if self.algorithm is not None and games:
            self._restore_games()

    def close(self) -> None:
        self.algorithm = None
        self.resources.close()

    def _open(self) -> None:
        from ludus.algorithms.rllib_ppo import build

        session.load_rllib()
        try:
            self.resources.enter_context(session.started())
            config = build.config_of(self.settings, self.game, self.rows, self.desk.pool_seed)
            self.algorithm = build.built(config)
            self.resources.callback(shutil.rmtree, self.algorithm.logdir, ignore_errors=True)
            self.resources.callback(self.algorithm.stop)
            if self.games:
                self._restore_games()
        except BaseException:
            self.close()
            raise

    def _restore_games(self) -> None:
        games = self.games
        self._everywhere(lambda runner: restore_games(runner, games))
        self.games = {}

    def _everywhere(self, call: Callable[[Any], T]) -> list[T]:
        """The results of a function of each env runner that plays."""
        group, here = self.algorithm.env_runner_group, self.settings.num_env_runners == 0
        found: list[T] = group.foreach_env_runner(call, local_env_runner=here)
        return found

    def _load(self, weights: Weights) -> None:
        """Let RLlib continue from these weights, unless it has just learned them."""
        if self.loaded is not None and same(weights, self.loaded):
            return
        group = self.algorithm.learner_group
        list(group.foreach_learner(lambda learner: write_weights(learner, weights)))
        self.algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=group, inference_only=True)

    def _read(self) -> Weights:
        results = self.algorithm.learner_group.foreach_learner(read_weights)
        found: Weights = next(iter(results)).get()
        return found


def same(one: Weights, other: Weights) -> bool:
    """Whether two weights are equal, number by number."""
    if (one.gradient_steps, one.kl_coef) != (other.gradient_steps, other.kl_coef):
        return False
    return all(np.array_equal(one.params[name], array) for name, array in other.params.items()) and all(
        np.array_equal(one.mean[name], array) for name, array in other.mean.items()
    )


def begin_unit(runner: Any, seed: int) -> None:
    """Let an env runner begin with these random numbers, and with the games in progress as new episodes."""
    import torch

    place = (seed + (runner.worker_index or 0)) % 2**32
    torch.manual_seed(place)
    np.random.seed(place)
    python_random.seed(place)
    runner._needs_initial_reset = True


def take_tallies(runner: Any) -> list[Array]:
    from ludus.algorithms.rllib_ppo.environments import records_of

    return [record.take() for record in records_of(runner.env)]


def states_of(runner: Any) -> list[Arrays]:
    from ludus.algorithms.rllib_ppo.environments import records_of

    return [record.state() for record in records_of(runner.env)]


def restore_games(runner: Any, games: Mapping[str, Array]) -> None:
    """Continue the games of this env runner among those of all."""
    from ludus.algorithms.rllib_ppo.environments import records_of

    place = max((runner.worker_index or 0) - 1, 0)
    for number, record in enumerate(records_of(runner.env)):
        prefix = f"runner_{place}.game_{number}."
        record.restore({name.removeprefix(prefix): games[name] for name in games if name.startswith(prefix)})


def write_weights(learner: Any, weights: Weights) -> None:
    """Give an RLlib learner these weights."""
    import torch

    from ludus.algorithms.rllib_ppo.modules import torch_tensors

    (key,) = learner.module.keys()
    module, optimizer = learner.module[key].unwrapped(), learner.get_optimizer(key)
    tensors, mean, square = (
        torch_tensors(module, part) for part in (weights.params, weights.mean, weights.square)
    )  # fmt: skip
    module.load_state_dict(tensors)
    optimizer.state.clear()
    for name, parameter in module.named_parameters() if weights.gradient_steps else ():
        optimizer.state[parameter] = {
            "step": torch.tensor(float(weights.gradient_steps)),
            "exp_avg": mean[name].to(parameter.device),
            "exp_avg_sq": square[name].to(parameter.device),
        }
    learner.curr_kl_coeffs_per_module[key].data.fill_(weights.kl_coef)
    learner._weights_seq_no += 1  # env runners take only newer weights


def read_weights(learner: Any) -> Weights:
    """The weights of an RLlib learner."""
    from ludus.algorithms.rllib_ppo.modules import flax_arrays

    (key,) = learner.module.keys()
    module, optimizer = learner.module[key].unwrapped(), learner.get_optimizer(key)
    named = dict(module.named_parameters())
    states = {name: optimizer.state.get(parameter, {}) for name, parameter in named.items()}
    mean, square = (
        flax_arrays(module, {name: state.get(part, named[name] * 0.0) for name, state in states.items()})
        for part in ("exp_avg", "exp_avg_sq")
    )
    steps = max((int(state["step"]) for state in states.values() if state), default=0)
    kl_coef = float(learner.curr_kl_coeffs_per_module[key])
    return Weights(flax_arrays(module, named), mean, square, steps, kl_coef)


def notes_of(result: Mapping[str, Any]) -> Metrics:
    """The metrics of an iteration under our names."""
    (learned,) = (part for name, part in result["learners"].items() if name != ALL)
    found = {ours: float(learned[name]) for name, ours in LEARNED.items() if name in learned}
    return found | {"play_seconds": float(result["timers"]["env_runner_sampling_timer"])}
