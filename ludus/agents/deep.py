"""Agents that play by a network: a frozen choice of network, whose parameters are whatever was learned.

`act` decides for one step of many rows and is compiled; `evaluate` judges whole sequences and is part of a loss.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ludus import devices
from ludus.agents import distributions
from ludus.agents.distributions import Policy, SquashedGaussian
from ludus.agents.networks import new_variables, reads
from ludus.agents.networks.arguments import MLPArgs, ModelArgs
from ludus.agents.networks.layout import Layout, layout_of, longest, packed, trimmed
from ludus.agents.networks.mlp import MLPAgent
from ludus.agents.networks.recurrent import RNNAgent
from ludus.bridges import AnyPool
from ludus.types import Continuous, Decision, LudusError, Spec, Step

Array = jax.Array
KINDS = {"mlp": MLPArgs, "rnn": ModelArgs}


class Judgement(NamedTuple):
    """What an agent thinks of T steps of N rows."""

    policy: Policy
    """log-probabilities [T, N, A], or a Gaussian"""
    value: Array
    """[T, N, P] to each seat; one column more where it is curious"""
    memory: Any
    """after the last step"""
    statistics: Any
    """what normalising layers have seen; {} where there are none"""


@dataclass(frozen=True)
class DeepAgent:
    """Plays by a network; its params are the variables of it."""

    network: Any
    spec: Spec
    curious: bool = False
    """the last column of a value is that of rewards for what is new"""
    greedy: bool = False
    """the likeliest action, instead of one drawn by its probability"""

    def init(self, spec: Spec, key: Any) -> Any:
        """New parameters."""
        devices.start()
        return new_variables(self.network, jax.random.key(int(key) % 2**32))

    def memory(self, rows: int) -> Any:
        """One memory for each seat of a row: zeros."""
        return self.network.init_rnn_state(rows)

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        """Decide for N rows; illegal actions have no chance, and no time is spent on padding that is masked."""
        shown = self.shown(step.observation, step.mask)
        decision, memory = _act(self, params, memory, shown, step.mask, step.seat, step.first, key)
        action = np.asarray(decision.action)
        return decision._replace(action=_within(self.spec.actions, action)), memory

    def shown(self, observation: Mapping[str, Any], mask: Any) -> dict[str, Any]:
        """What the network reads of N observations: lists of its own making, or the arrays without padding."""
        if reads(self.network):
            return dict(self.network.read(observation))
        return trimmed(self.network.layout, observation, mask) if self.packs else dict(observation)

    @property
    def packs(self) -> bool:
        """Whether it never looks at padding, so that this can be left out."""
        sets = self.network.layout.entities
        looks_away = getattr(self.network.args, "card_mask", False) and any(part.padding >= 0 for part in sets)
        return looks_away or reads(self.network)

    def packed(self, steps: Step) -> Step:
        """[T, N] steps without padding among the entities: what is judged of them is the same."""
        if not self.packs:
            return steps
        flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in steps.observation.items()}
        if reads(self.network):
            cut = self.network.read(flat, agreed)
        else:
            cut = packed(self.network.layout, flat, agreed(longest(self.network.layout, flat)))
        return steps._replace(
            observation={name: array.reshape(*steps.seat.shape, *array.shape[1:]) for name, array in cut.items()}
        )

    def evaluate(self, params: Any, memory: Any, steps: Step, train: bool = False) -> Judgement:
        """Judge [T, N] steps, with the memory that was had before the first of them."""
        times, rows = steps.seat.shape
        flat = jax.tree.map(lambda array: array.reshape(times * rows, *array.shape[2:]), steps)
        policy, value, memory, statistics = _forward(self, params, memory, flat, train)
        apart = partial(jax.tree.map, lambda array: array.reshape(times, rows, *array.shape[1:]))
        return Judgement(_of_policy(apart, policy), apart(value), memory, statistics)

    def choices(self, params: Any, step: Step) -> np.ndarray[Any, Any]:
        """[N, A] the action that greedy play takes; for networks that remember nothing."""
        if self.memory(1) != ():
            raise LudusError("what an agent with a memory does depends on all it saw before; let it play games instead")
        decision, _ = replace(self, greedy=True).act(params, (), step, 0)
        return np.asarray(np.arange(step.mask.shape[1]) == np.asarray(decision.action)[:, None])


def agreed(lengths: Mapping[str, int]) -> dict[str, int]:
    """The longest that any process needs: what learns together must have one shape."""
    return {name: int(max(theirs[name] for theirs in devices.gathered(dict(lengths)))) for name in lengths}


def agent_of(pool: AnyPool, description: Mapping[str, Any]) -> DeepAgent:
    """The agent that a checkpoint or a run describes: {"kind": "mlp", "args": {…}, "bfloat16": false, …}."""
    kind = str(description.get("kind"))
    if kind not in KINDS:
        raise LudusError(f'unknown kind of agent "{kind}"; known are {", ".join(KINDS)}')
    given: Any = description.get("args", {})
    try:
        args = KINDS[kind](**given)
    except TypeError as error:
        raise LudusError(f"the settings of this {kind} agent do not fit: {error}; train it anew") from None
    return new_agent(pool, args, bool(description.get("bfloat16")), bool(description.get("curious")))


def describe(args: Any, bfloat16: bool, curious: bool) -> dict[str, Any]:
    """What `agent_of` reads."""
    kind = next(name for name, known in KINDS.items() if isinstance(args, known))
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(args).items()}
    return {"kind": kind, "args": plain, "bfloat16": bfloat16, "curious": curious}


def new_agent(
    pool: AnyPool, args: MLPArgs | ModelArgs, bfloat16: bool = False, curious: bool = False, truncation: int = 0
) -> DeepAgent:
    """An agent for the games of a pool; with `truncation` gradients flow back through so many steps of memory."""
    spec, rules = pool.spec, getattr(getattr(pool, "game", pool), "rules", None)
    layout = layout_of(pool.observation, spec, own_layout(rules))
    kinds: dict[str, Any] = {"dtype": jnp.bfloat16 if bfloat16 else jnp.float32}
    if isinstance(args, MLPArgs):
        own = args.own and getattr(rules, "NETWORK", None)
        plain = importlib.import_module(own).NETWORK if own else MLPAgent
        network: Any = plain(layout, args, value_columns(spec) + curious, spec.actions, **kinds)
    else:
        seats = 1 if spec.views > 1 else spec.seats
        args = replace(args, int_head=curious)
        if not args.untold_named:
            layout = replace(layout, entities=tuple(replace(part, named=False) for part in layout.entities))
        network = RNNAgent(layout, args, value_columns(spec), spec.actions, seats, truncation, **kinds)
    return DeepAgent(network, spec, curious)


def own_layout(rules: Any) -> Layout | None:
    """The LAYOUT of a game, or of the module that it names: games of ours import nothing of the networks."""
    own = getattr(rules, "LAYOUT", None)
    layout: Layout | None = importlib.import_module(own).LAYOUT if isinstance(own, str) else own
    return layout


def value_columns(spec: Spec) -> int:
    """How many numbers tell what a step is worth to all: one where the other's is its opposite."""
    return 1 if spec.seats == 1 or (spec.seats == 2 and spec.zero_sum) else spec.seats


def by_seat(relative: Array, seat: Array, spec: Spec) -> Array:
    """Values seen from who is to move, own first, as values of the seats 0 to P-1: [B, columns] to [B, P]."""
    if spec.seats == 1:
        return relative
    if relative.shape[-1] == 1:
        return jnp.where(seat[:, None] == jnp.arange(2), relative, -relative)
    return jnp.take_along_axis(relative, (jnp.arange(spec.seats) - seat[:, None]) % spec.seats, axis=-1)


def _forward(agent: DeepAgent, params: Any, memory: Any, step: Any, train: bool) -> tuple[Policy, Array, Any, Any]:
    """Policy, value by seat, memory and statistics for B rows, or T * N of them with the memory of N."""
    seat = step.seat.astype(jnp.int32)
    whose = seat if agent.spec.views == 1 else jnp.zeros_like(seat)
    mutable = [name for name in params if name != "params"] if train else []
    out, statistics = agent.network.apply(
        params, step.observation, memory, step.first, whose, train=train, legal=step.mask, mutable=mutable
    )
    memory, policy, value, _ = out
    extrinsic = by_seat(value[:, : value_columns(agent.spec)], seat, agent.spec)
    value = jnp.concatenate([extrinsic, value[:, value_columns(agent.spec) :]], axis=-1)
    return _policy(agent.spec, policy, step.mask), value, memory, dict(statistics)


def _policy(spec: Spec, policy: Any, mask: Array) -> Policy:
    if isinstance(spec.actions, Continuous):
        mean, log_deviation = policy
        return SquashedGaussian(mean, log_deviation, jnp.array(spec.actions.low), jnp.array(spec.actions.high))
    return distributions.log_probabilities(policy, mask)


def _of_policy(change: Any, policy: Policy) -> Policy:
    """The same done to what a policy says of every row; the bounds of a Gaussian are of no row."""
    if isinstance(policy, SquashedGaussian):
        return policy._replace(mean=change(policy.mean), log_std=change(policy.log_std))
    return change(policy)


@partial(jax.jit, static_argnums=0)
def _act(
    agent: DeepAgent, params: Any, memory: Any, observation: Any, mask: Array, seat: Array, first: Array, key: Array
) -> tuple[Decision, Any]:
    step = Step(observation, mask, seat, None, None, first)  # type: ignore[arg-type]
    policy, value, memory, _ = _forward(agent, params, memory, step, False)
    if agent.greedy:
        action = distributions.mode(policy)
        return Decision(action, distributions.log_prob(policy, action), value), memory  # type: ignore[arg-type]
    action, log_prob = distributions.sample(jax.random.key(key), policy)
    return Decision(action, log_prob, value), memory  # type: ignore[arg-type]


def _within(actions: Any, chosen: Any) -> Any:
    """Continuous actions as the game reads them; in float64 a bound of float32 may lie just outside."""
    if isinstance(actions, Continuous):
        return np.clip(chosen.astype(np.float64), actions.low, actions.high)
    return chosen
