"""An agent with a world in its head: it plans in it, or does at once what its actor learned there.

Its params hold all that changes while it learns, also how much it explores and how often it plans.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ludus import devices
from ludus.agents import mppi
from ludus.agents.networks import IN_A_HURRY
from ludus.agents.networks.features import bounded
from ludus.agents.networks.layout import Field, layout_of
from ludus.agents.networks.world_model import Actor, Critics, WorldModel
from ludus.agents.networks.world_model_args import PlanArgs, WorldModelArgs
from ludus.bridges import AnyPool
from ludus.types import Continuous, Decision, LudusError, Mirror, Spec, Step

Array = jax.Array
Params = dict[str, Any]


class Dream(NamedTuple):
    """What an agent expects of the next steps, if its actor goes on as it likes."""

    observations: Any
    """[H+1, N, D] in the game's own units, field after field; the first is what the model makes of now"""
    actions: Any
    """[H, N, k] in the game's own units"""
    rewards: Any
    """[H, N]"""
    values: Any
    """[H+1, N] of what is still to come"""


@dataclass(frozen=True)
class WorldModelAgent:
    """Plays by a world model; whoever is `earnest` neither explores nor listens to how often params want a plan."""

    args: WorldModelArgs
    plan: PlanArgs
    spec: Spec
    fields: tuple[Field, ...]
    discount: float = 0.99
    reward_scale: float = 1.0
    """rewards in the head are those of the game times this"""
    drift: float = 0.0
    """how much of the noise on an action stays for the next: noise that lasts leads somewhere"""
    earnest: bool = False
    plans: bool = False
    """whether it plans in earnest"""
    mirror: Mirror | None = None
    """how its game looks in a mirror, if that is learned from too"""

    @property
    def shown(self) -> int:
        """Numbers of an observation."""
        return sum(field.size for field in self.fields)

    @property
    def actions(self) -> int:
        """Numbers of an action."""
        return len(self.spec.actions.low)  # type: ignore[union-attr]

    @property
    def model(self) -> WorldModel:
        return WorldModel(self.args, self.shown, self.actions)

    @property
    def actor(self) -> Actor:
        return Actor(self.args, self.actions)

    @property
    def critics(self) -> Critics:
        return Critics(self.args)

    def init(self, spec: Spec, key: Any) -> Params:
        """New parameters."""
        devices.start()
        params: Params = _initialiser(self)(np.uint32(int(key) % 2**32))
        return params

    def memory(self, rows: int) -> Any:
        """The plan of a step ago, [rows, H, k], and the noise [rows, k] while learning; nothing where nobody plans."""
        plan = np.zeros((rows, self.plan.horizon, self.actions), np.float32)
        if self.earnest:
            return {"plan": plan} if self.plans else ()
        return {"plan": plan, "noise": np.zeros((rows, self.actions), np.float32)}

    def act(self, params: Params, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        """Decide for N rows."""
        decision, memory = _act(self, params, memory, self.flat(step.observation), step.first, key)
        actions: Any = self.spec.actions
        action = np.clip(np.asarray(decision.action, np.float64), actions.low, actions.high)
        return decision._replace(action=action), memory

    def imagine(self, params: Params, step: Step, horizon: int, key: Any = 0) -> Dream:
        """What comes of following the actor; no dice are thrown, so the key changes nothing."""
        return Dream(*map(np.asarray, _imagine(self, params, self.flat(step.observation), horizon)))

    def flat(self, observation: Mapping[str, Any]) -> Array:
        """All that is shown in one row, from -1 to 1 where the game says the bounds: [..., D]."""
        rows = [observation[field.name] for field in self.fields]
        lead = rows[0].ndim - len(self.fields[0].shape)
        together = np.concatenate([np.reshape(row, (*row.shape[:lead], -1)) for row in rows], axis=-1)
        middle, half = self.ranges
        return (together.astype(np.float32) - middle) / half

    @functools.cached_property
    def ranges(self) -> tuple[Any, Any]:
        """Middle and half width of each number's bounds; 0 and 1 where there are none."""
        known, low, high = (np.concatenate(parts) for parts in zip(*map(bounded, self.fields), strict=True))
        middle, half = np.where(known, (low + high) / 2, 0.0), np.where(known, (high - low) / 2, 1.0)
        return middle.astype(np.float32), half.astype(np.float32)

    def to_game(self, action: Array) -> Array:
        """Actions between -1 and 1 as the game reads them."""
        low, high = (jnp.asarray(end, jnp.float32) for end in self.spec.actions)
        return low + (action + 1.0) * (high - low) / 2.0

    def from_game(self, action: Any) -> Any:
        """The other way."""
        low, high = (np.asarray(end, np.float32) for end in self.spec.actions)
        return (np.asarray(action, np.float32) - low) / (high - low) * 2.0 - 1.0


def new_agent(
    pool: AnyPool, args: WorldModelArgs, plan: PlanArgs, discount: float, reward_scale: float
) -> WorldModelAgent:
    """An agent for the games of a pool, if they are of the kind that it can imagine."""
    spec = pool.spec
    if spec.seats != 1:
        raise LudusError(f"{pool.name} has {spec.seats} seats; a world_model plays alone: train it with ppo")
    if not isinstance(spec.actions, Continuous):
        raise LudusError(f"{pool.name} has actions by number; a world_model wants continuous ones: train it with ppo")
    if not np.isfinite([spec.actions.low, spec.actions.high]).all():
        raise LudusError(f"{pool.name} has actions without bounds; a world_model wants to know how far they go")
    layout = layout_of(pool.observation, spec)
    floats = all(array.dtype.startswith("float") and len(array.shape) <= 1 for array in layout.shown)
    if layout.sets or not floats or any(field.kind != "number" for field in layout.globals):
        raise LudusError(
            f"{pool.name} does not show a row of floats, which is what a world_model reads: train it with ppo"
        )
    mirror = getattr(getattr(getattr(pool, "game", None), "rules", None), "MIRROR", None)
    return WorldModelAgent(args, plan, spec, layout.globals, discount, reward_scale, mirror=mirror)


def describe(args: WorldModelArgs, plan: PlanArgs, discount: float, reward_scale: float, plans: bool) -> dict[str, Any]:
    """What `agent_of` reads."""
    plain = [
        {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(part).items()}
        for part in (args, plan)
    ]
    named = {"kind": "world_model", "args": plain[0], "plan": plain[1], "discount": discount}
    return named | {"reward_scale": reward_scale, "plans": plans}


def agent_of(pool: AnyPool, description: Mapping[str, Any]) -> WorldModelAgent:
    """The agent that a checkpoint describes."""
    try:
        sizes: Any = description["args"]
        args: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in sizes.items()}
        parts = WorldModelArgs(**args), PlanArgs(**description["plan"])
        agent = new_agent(pool, *parts, float(description["discount"]), float(description["reward_scale"]))
        return replace(agent, plans=bool(description["plans"]))
    except (TypeError, KeyError, AttributeError) as error:
        raise LudusError(f"the settings of this world_model agent do not fit: {error}; train it anew") from None


@functools.cache
def _initialiser(agent: WorldModelAgent) -> Any:
    return jax.jit(functools.partial(initialised, agent), compiler_options=IN_A_HURRY)


def initialised(agent: WorldModelAgent, seed: Array) -> Params:
    """New parameters, inside of a program that does more."""
    model, actor, critics = jax.random.split(jax.random.key(seed), 3)
    observation, action = jnp.zeros((1, agent.shown)), jnp.zeros((1, agent.actions))
    latent = jnp.zeros((1, agent.args.latent))
    learned = {
        "model": agent.model.init(model, observation, action)["params"],
        "actor": agent.actor.init(actor, latent)["params"],
        "critics": agent.critics.init(critics, latent, action)["params"],
    }
    return learned | {"calm": learned, "exploration": jnp.float32(0.0), "planning": jnp.float32(0.0)}


class Mind(NamedTuple):
    """The networks of an agent with their parameters: plain functions of arrays.

    In earnest it thinks with `calm`, the mean of its parameters of late: the newest ones sway from update to update.
    """

    agent: WorldModelAgent
    params: Params

    def _part(self, name: str) -> Any:
        return {"params": (self.params["calm"] if self.agent.earnest else self.params)[name]}

    def _asked(self, method: str, *given: Array) -> Array:
        found: Any = self.agent.model.apply(self._part("model"), *given, method=method)
        return found

    def encode(self, observation: Array) -> Array:
        return self._asked("encode", observation)

    def next(self, latent: Array, action: Array) -> Array:
        return self._asked("next", latent, action)

    def reward(self, following: Array) -> Array:
        return self._asked("reward", following)

    def goes_on(self, following: Array) -> Array:
        """The logit of it."""
        return self._asked("goes_on", following)

    def decode(self, latent: Array) -> Array:
        return self._asked("decode", latent)

    def act(self, latent: Array) -> Array:
        found: Any = self.agent.actor.apply(self._part("actor"), latent)
        return found

    def unbent(self, latent: Array) -> Array:
        """Actions before they are bent to lie between -1 and 1."""
        found: Any = self.agent.actor.apply(self._part("actor"), latent, method="unbent")
        return found

    def worth(self, latent: Array, action: Array, critics: Any = None) -> Array:
        """[critics, ...] what an action is worth; by the params' own critics, or those given."""
        chosen = self._part("critics") if critics is None else {"params": critics}
        found: Any = self.agent.critics.apply(chosen, latent, action)
        return found

    def follow(self, latent: Array, actions: Array) -> Array:
        """What futures are worth: [...] of a latent [..., L] and actions [..., H, k].

        Σ γᵗ cᵗ r + γᴴ cᴴ Q(z, π(z)), where c is the chance that the game goes on so far. While it learns, Q is the
        critics' mean and some deviations more: what they do not agree on is worth a try.
        """

        def on(carry: tuple[Array, Array, Array], action: Array) -> tuple[tuple[Array, Array, Array], None]:
            latent, total, left = carry
            latent = self.next(latent, action)
            total = total + left * self.reward(latent)
            return (latent, total, left * self.agent.discount * jax.nn.sigmoid(self.goes_on(latent))), None

        begin = latent, jnp.zeros(latent.shape[:-1]), jnp.ones(latent.shape[:-1])
        (latent, total, left), _ = jax.lax.scan(on, begin, jnp.moveaxis(actions, -2, 0))
        judged = self.worth(latent, self.act(latent))
        hope = 0.0 if self.agent.earnest else self.agent.plan.hope
        return total + left * (judged.mean(axis=0) + hope * judged.std(axis=0))


@functools.partial(jax.jit, static_argnums=0)
def _act(
    agent: WorldModelAgent, params: Params, memory: Any, observation: Array, first: Array, key: Array
) -> tuple[Decision, Any]:
    mind = Mind(agent, params)
    latent, dice = mind.encode(observation), jax.random.key(key)
    if agent.earnest:
        action, plan = _planned(mind, latent, memory["plan"], first, dice) if agent.plans else (mind.act(latent), None)
        memory = () if plan is None else {"plan": plan}
    else:
        action, memory = _explored(mind, latent, memory, first, dice)
    value = mind.worth(latent, action).mean(axis=0)[:, None] / agent.reward_scale
    found: Any = Decision(agent.to_game(action), jnp.zeros(action.shape[0]), value)  # type: ignore[arg-type]
    return found, memory


def _explored(mind: Mind, latent: Array, memory: Any, first: Array, key: Array) -> tuple[Array, Any]:
    """What is done while learning: planned or not by a throw of dice, and a little astray."""
    choose, think, wander = jax.random.split(key, 3)
    action, plan = jax.lax.cond(
        jax.random.uniform(choose) < mind.params["planning"],
        lambda: _planned(mind, latent, memory["plan"], first, think),
        lambda: (mind.act(latent), jnp.zeros_like(memory["plan"])),
    )
    drift = mind.agent.drift
    fresh = (1.0 - drift**2) ** 0.5 * jax.random.normal(wander, action.shape)
    noise = fresh + drift * jnp.where(first[:, None], 0.0, memory["noise"])
    action = jnp.clip(action + mind.params["exploration"] * noise, -1.0, 1.0)
    return action, {"plan": plan, "noise": noise}


def _planned(mind: Mind, latent: Array, before: Array, first: Array, key: Array) -> tuple[Array, Array]:
    """The first action of a plan for each row [N, k], and what is left of the plans."""
    args = mind.agent.plan
    before = jnp.where(first[:, None, None], 0.0, before)

    def one(latent: Array, mean: Array, key: Array) -> Array:
        wander, think = jax.random.split(key)
        proposals = _proposals(mind, latent, wander)

        def worth_of(futures: Array) -> Array:
            return mind.follow(jnp.broadcast_to(latent, (len(futures), *latent.shape)), futures)

        return mppi.plan(args, worth_of, mean, proposals, think)

    plans = jax.vmap(one)(latent, before, jax.random.split(key, len(latent)))
    return plans[:, 0], jnp.concatenate([plans[:, 1:], jnp.zeros_like(plans[:, :1])], axis=1)


def _proposals(mind: Mind, latent: Array, key: Array) -> Array:
    """[P, H, k] what the actor would do, a little astray."""
    args = mind.agent.plan

    def on(latent: Array, key: Array) -> tuple[Array, Array]:
        action = mind.act(latent)
        action = jnp.clip(action + args.least * jax.random.normal(key, action.shape), -1.0, 1.0)
        return mind.next(latent, action), action

    begin = jnp.broadcast_to(latent, (args.proposals, *latent.shape))
    _, actions = jax.lax.scan(on, begin, jax.random.split(key, args.horizon))
    return jnp.moveaxis(actions, 0, 1)


@functools.partial(jax.jit, static_argnums=(0, 3))
def _imagine(agent: WorldModelAgent, params: Params, observation: Array, horizon: int) -> tuple[Array, ...]:
    mind = Mind(agent, params)

    def on(latent: Array, _: None) -> tuple[Array, Any]:
        action = mind.act(latent)
        following = mind.next(latent, action)
        return following, (latent, action, mind.reward(following), mind.worth(latent, action).mean(axis=0))

    last, (latents, actions, rewards, values) = jax.lax.scan(on, mind.encode(observation), None, horizon)
    latents = jnp.concatenate([latents, last[None]])
    values = jnp.concatenate([values, mind.worth(last, mind.act(last)).mean(axis=0)[None]])
    middle, half = agent.ranges
    scale = agent.reward_scale
    return mind.decode(latents) * half + middle, agent.to_game(actions), rewards / scale, values / scale
