"""Agents with a neural network: an immutable network definition; the learned parameters are passed separately.

`act` decides for one step of many rows and is compiled; `evaluate` processes whole sequences and is used in losses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.neural import devices, distributions
from ludus.agents.neural.distributions import Policy, SquashedGaussian
from ludus.agents.neural.networks import games as game_networks
from ludus.agents.neural.networks import named as named_networks
from ludus.agents.neural.networks import new_variables, reads
from ludus.agents.neural.networks.layout import Layout, layout_of, longest, packed, trimmed
from ludus.agents.neural.networks.mlp import MLPAgent
from ludus.agents.neural.networks.own import OwnNetwork
from ludus.agents.neural.networks.own import find as find_own
from ludus.agents.neural.networks.recurrent import RNNAgent
from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.agents.protocol import Agent, Key, Memory, Params
from ludus.bridges import AnyPool
from ludus.games import plain_name
from ludus.types import Array as NumpyArray
from ludus.types import Continuous, Decision, Discrete, DType, JsonObject, LudusError, PyTree, Spec, Step

if TYPE_CHECKING:
    from ludus.agents.neural.networks import Network, NetworkPolicy

Array = jax.Array
KINDS = {"mlp": MLPArgs, "rnn": ModelArgs}


class NetworkStep(NamedTuple):
    """The parts of B steps that a network reads."""

    observation: Mapping[str, Array]
    mask: Array
    """[B, A]"""
    seat: Array
    """[B]"""
    first: Array
    """[B]"""


class Judgement(NamedTuple):
    """The output of a network for T steps of N rows."""

    policy: Policy
    """log-probabilities [T, N, A], or a Gaussian"""
    value: Array
    """[T, N, P] for each seat, and one more column for intrinsic rewards if the agent is `curious`"""
    memory: Memory
    """after the last step"""
    statistics: PyTree
    """updated statistics of normalisation layers; {} if there are none"""


class Judged(NamedTuple):
    """Decisions for N rows with all that is known of them."""

    action: Array
    """[N(, k)]"""
    probabilities: Array
    """[N, A] of all actions; [N, 0] for continuous actions"""
    value: Array
    """[N] for the seat that acts"""
    memory: Memory


@dataclass(frozen=True)
class DeepAgent(Agent):
    """Plays by a network; its params are the variables of the network."""

    network: Network
    spec: Spec
    curious: bool = False
    """the last column of the value is for intrinsic rewards"""
    greedy: bool = False
    """choose the most likely action instead of sampling"""

    def init(self, spec: Spec, key: Key) -> Params:
        """New parameters."""
        devices.start()
        return new_variables(self.network, jax.random.key(int(key) % 2**32))

    def memory(self, rows: int) -> Memory:
        """One memory for each seat of a row: zeros."""
        return self.network.init_rnn_state(rows)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        """Decide for N rows; illegal actions have probability 0, and masked padding is cut off to save time."""
        x = self.shown(step.observation, step.mask)
        decision, memory = _act(self, params, memory, x, step.mask, step.seat, step.first, key)
        action = np.asarray(decision.action)
        return decision._replace(action=_clipped(self.spec.actions, action)), memory

    def shown(self, observation: Mapping[str, NumpyArray], mask: NumpyArray) -> dict[str, NumpyArray]:
        """The input of the network for N observations: its own features, or the arrays without padding."""
        if reads(self.network):
            return dict(self.network.read(observation))
        return trimmed(self.network.layout, observation, mask) if self.packs else dict(observation)

    @property
    def packs(self) -> bool:
        """Whether the network ignores padding, so that it can be cut off."""
        sets = self.network.layout.entities
        masks_padding = getattr(self.network.args, "card_mask", False) and any(part.padding >= 0 for part in sets)
        return masks_padding or reads(self.network)

    def packed(self, steps: Step) -> Step:
        """[T, N] steps with the padding of entities cut off, which does not change the output."""
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

    def evaluate(self, params: Params, memory: Memory, steps: Step, train: bool = False) -> Judgement:
        """Evaluate [T, N] steps, with the memory from before the first of them."""
        times, rows = steps.seat.shape
        flat = jax.tree.map(lambda array: array.reshape(times * rows, *array.shape[2:]), steps)
        inputs = NetworkStep(flat.observation, flat.mask, flat.seat, flat.first)
        policy, value, memory, statistics = _forward(self, params, memory, inputs, train)
        apart = partial(jax.tree.map, lambda array: array.reshape(times, rows, *array.shape[1:]))
        return Judgement(_map_policy(apart, policy), apart(value), memory, statistics)

    def choices(self, params: Params, step: Step) -> NumpyArray:
        """[N, A] the action of greedy play; only for networks without memory."""
        if self.memory(1) != ():
            raise LudusError("the choices of an agent with a memory depend on earlier steps; let it play games instead")
        decision, _ = replace(self, greedy=True).act(params, (), step, 0)
        return np.asarray(np.arange(step.mask.shape[1]) == np.asarray(decision.action)[:, None])


def agreed(lengths: Mapping[str, int]) -> dict[str, int]:
    """The maximum lengths over all processes, because arrays of one update must have equal shapes."""
    return {name: int(max(theirs[name] for theirs in devices.gathered(dict(lengths)))) for name in lengths}


def agent_of(pool: AnyPool, description: JsonObject) -> DeepAgent:
    """The agent that a checkpoint or a run describes: {"kind": "mlp", "args": {…}, "bfloat16": false, …}."""
    kind = str(description.get("kind"))
    if kind not in KINDS:
        raise LudusError(f'unknown kind of agent "{kind}"; expected one of {", ".join(KINDS)}')
    settings = description.get("args", {})
    try:
        args = KINDS[kind](**settings)
    except TypeError as error:
        raise LudusError(f"invalid settings of this {kind} agent: {error}; train it again") from None
    return new_agent(pool, args, bool(description.get("bfloat16")), bool(description.get("curious")))


def describe(args: MLPArgs | ModelArgs, bfloat16: bool, curious: bool) -> JsonObject:
    """The description of an agent that `agent_of` reads."""
    kind = next(name for name, known in KINDS.items() if isinstance(args, known))
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(args).items()}
    return {"kind": kind, "args": plain, "bfloat16": bfloat16, "curious": curious}


def new_agent(
    pool: AnyPool, args: MLPArgs | ModelArgs, bfloat16: bool = False, curious: bool = False, truncation: int = 0
) -> DeepAgent:
    """An agent for the games of a pool; with `truncation` gradients flow back through this number of memory steps."""
    rules = pool.compiled.game.rules if pool.compiled is not None else None
    facts = GameFacts(pool.name, pool.spec, pool.observation, getattr(rules, "LAYOUT", None))
    return agent_for(facts, args, bfloat16, curious, truncation)


class GameFacts(NamedTuple):
    """What a new agent needs to know about a game; there may not be a pool of it yet."""

    name: str
    spec: Spec
    observation: DType
    layout: Layout | None
    """the LAYOUT that a user's game declares itself"""


def agent_for(
    game: GameFacts, args: MLPArgs | ModelArgs, bfloat16: bool = False, curious: bool = False, truncation: int = 0
) -> DeepAgent:
    """An agent for a game, see `new_agent`."""
    spec, made = game.spec, game_networks.find(plain_name(game.name))
    layout = layout_of(game.observation, spec, made.layout or game.layout)
    dtype = jnp.bfloat16 if bfloat16 else jnp.float32
    network: Network
    named = named_networks.find(args.network) if isinstance(args, MLPArgs) and args.network else None
    if named is not None:
        network = named(layout, args, value_columns(spec) + curious, spec.actions, dtype=dtype)
    elif isinstance(args, MLPArgs) and args.network:
        network = OwnNetwork(layout, args, value_columns(spec) + curious, spec.actions, find_own(args.network))
    elif isinstance(args, MLPArgs):
        plain = made.network if args.own and made.network else MLPAgent
        network = plain(layout, args, value_columns(spec) + curious, spec.actions, dtype=dtype)
    else:
        check_heads_for_play(args, curious)
        seats = 1 if spec.views > 1 else spec.seats
        args = replace(args, int_head=curious)
        if not args.untold_named:
            layout = replace(layout, entities=tuple(replace(part, keep_identified=False) for part in layout.entities))
        make = _reference(game, made.reference) if args.reference else RNNAgent
        network = make(layout, args, value_columns(spec), spec.actions, seats, truncation, dtype=dtype)
    return DeepAgent(network, spec, curious)


def _reference(game: GameFacts, declared: Callable[..., Network] | None) -> Callable[..., Network]:
    if declared is None:
        raise LudusError(f"{game.name} has no reference network; set model.reference to false")
    return declared


def check_heads_for_play(args: ModelArgs, curious: bool) -> None:
    """Raise LudusError for heads that this agent cannot use: q_head, or int_head without intrinsic rewards."""
    if args.q_head:
        raise LudusError(
            "q_head gives action values, but this agent needs a policy and a value; set model.q_head to false"
        )
    if args.int_head and not curious:
        raise LudusError("int_head is the value of intrinsic rewards, but there are none; set int_coef above 0")


def value_columns(spec: Spec) -> int:
    """The number of value outputs: one per seat, or one if the second seat's value is its negative."""
    return 1 if spec.seats == 1 or (spec.seats == 2 and spec.zero_sum) else spec.seats


def by_seat(relative: Array, seat: Array, spec: Spec) -> Array:
    """Values relative to the seat to move (own value first) as values of seats 0 to P-1: [B, columns] to [B, P]."""
    if spec.seats == 1:
        return relative
    if relative.shape[-1] == 1:
        return jnp.where(seat[:, None] == jnp.arange(2), relative, -relative)
    return jnp.take_along_axis(relative, (jnp.arange(spec.seats) - seat[:, None]) % spec.seats, axis=-1)


def _forward(
    agent: DeepAgent, params: Params, memory: Memory, step: NetworkStep, train: bool
) -> tuple[Policy, Array, Memory, PyTree]:
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


def _policy(spec: Spec, policy: NetworkPolicy, mask: Array) -> Policy:
    if isinstance(policy, tuple):
        assert isinstance(spec.actions, Continuous)
        mean, log_deviation = policy
        return SquashedGaussian(mean, log_deviation, jnp.array(spec.actions.low), jnp.array(spec.actions.high))
    return distributions.log_probabilities(policy, mask)


def _map_policy(change: Callable[[Array], Array], policy: Policy) -> Policy:
    """Apply a function to the parts of a policy that have rows, which the bounds of a Gaussian have not."""
    if isinstance(policy, SquashedGaussian):
        return policy._replace(mean=change(policy.mean), log_std=change(policy.log_std))
    return change(policy)


@partial(jax.jit, static_argnums=0)
def _act(
    agent: DeepAgent,
    params: Params,
    memory: Memory,
    observation: Mapping[str, Array],
    mask: Array,
    seat: Array,
    first: Array,
    key: Array,
) -> tuple[Decision, Memory]:
    policy, value, memory, _ = _forward(agent, params, memory, NetworkStep(observation, mask, seat, first), False)
    if agent.greedy:
        action = distributions.mode(policy)
        return Decision(action, distributions.log_prob(policy, action), value), memory  # type: ignore[arg-type]
    action, log_prob = _sample_rows(key, policy) if key.ndim else distributions.sample(jax.random.key(key), policy)
    return Decision(action, log_prob, value), memory  # type: ignore[arg-type]


def _sample_rows(seeds: Array, policy: Policy) -> tuple[Array, Array]:
    """Actions [N(, k)] and their log-probabilities [N]; those of a row depend on its own seed only."""
    rows = SquashedGaussian(0, 0, None, None) if isinstance(policy, SquashedGaussian) else 0  # type: ignore[arg-type]
    return jax.vmap(distributions.sample, in_axes=(0, rows))(jax.vmap(jax.random.key)(seeds), policy)


def judge(agent: DeepAgent, params: Params, memory: Memory, step: NetworkStep, seeds: Array) -> Judged:
    """Decide for N rows, with probabilities and values; a row that samples uses only its own seed. Not compiled."""
    policy, value, memory, _ = _forward(agent, params, memory, step, False)
    if agent.greedy:
        action = distributions.mode(policy)
    else:
        action, _ = _sample_rows(seeds, policy)
    probabilities = jnp.zeros((len(action), 0)) if isinstance(policy, SquashedGaussian) else jnp.exp(policy)
    own = jnp.take_along_axis(value, step.seat.astype(jnp.int32)[:, None], axis=1)[:, 0]
    return Judged(action, probabilities, own, memory)


def _clipped(actions: Discrete | Continuous, chosen: NumpyArray) -> NumpyArray:
    """Continuous actions as float64, clipped, because rounding to float32 may exceed a bound."""
    if isinstance(actions, Continuous):
        return np.clip(chosen.astype(np.float64), actions.low, actions.high)
    return chosen
