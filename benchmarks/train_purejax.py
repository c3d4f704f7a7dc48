"""PPO in the style of PureJaxRL: environment, network and optimiser in one compiled program, updates scanned.

It uses gymnax for the environment, and Flax and Optax for learning. Where this style leaves a choice, the faster option
was taken.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import flax.linen as nn
import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from training import PPO, Trainer

ENVIRONMENT, PARAMETERS = gymnax.make("CartPole-v1")


class ActorCritic(nn.Module):
    """Observations [..., 4] to logits [..., 2] and values [...], with two separate networks."""

    hidden: tuple[int, ...]

    @nn.compact
    def __call__(self, observation: jax.Array) -> tuple[jax.Array, jax.Array]:
        logits = self.tower(observation, outputs=2, gain=0.01)
        return logits, self.tower(observation, outputs=1, gain=1.0)[..., 0]

    def tower(self, features: jax.Array, outputs: int, gain: float) -> jax.Array:
        for width in self.hidden:
            features = nn.tanh(nn.Dense(width, kernel_init=nn.initializers.orthogonal(np.sqrt(2)))(features))
        return nn.Dense(outputs, kernel_init=nn.initializers.orthogonal(gain))(features)


class Moment(NamedTuple):
    """One step of all rows; over a rollout [T, N, …]."""

    observation: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array


class Sample(NamedTuple):
    """The input of the loss."""

    observation: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    advantage: jax.Array


class Carry(NamedTuple):
    """The state carried from one update to the next."""

    params: Any
    optimizer: Any
    state: Any
    observation: jax.Array
    length: jax.Array
    """[N] length of the running game, which is also its return so far"""
    key: jax.Array


def start(ppo: PPO, setting: Mapping[str, Any], seed: int) -> Trainer:
    """Split the rows over the devices, which average their gradients."""
    devices = setting["devices"]
    jax.config.update("jax_num_cpu_devices", devices)
    share = ppo._replace(num_envs=ppo.num_envs // devices)
    carry = jax.pmap(functools.partial(begin, share), "device")(jax.random.split(jax.random.key(seed), devices))
    learn_several = jax.pmap(
        functools.partial(scan_updates, share), "device", static_broadcasted_argnums=1, donate_argnums=0
    )
    mean_return = float("nan")

    def learn(updates: int) -> int:
        nonlocal carry, mean_return
        carry, returns = jax.block_until_ready(learn_several(carry, updates))
        mean_return = float(returns[:, -1].mean())
        return updates * ppo.num_envs * ppo.rollout_length

    return Trainer(learn, lambda: mean_return, close=lambda: None)


def begin(ppo: PPO, key: jax.Array) -> Carry:
    """New games, different on each device, and a new network, the same on all devices."""
    of_network, of_games, rest = jax.random.split(key, 3)
    observation, state = jax.vmap(ENVIRONMENT.reset, (0, None))(jax.random.split(of_games, ppo.num_envs), PARAMETERS)
    params = jax.lax.all_gather(ActorCritic(ppo.hidden).init(of_network, observation), "device")
    params = jax.tree.map(lambda leaf: leaf[0], params)
    return Carry(params, optimizer(ppo).init(params), state, observation, jnp.zeros(ppo.num_envs), rest)


def optimizer(ppo: PPO) -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(ppo.max_grad_norm), optax.adam(ppo.learning_rate, eps=1e-5))


def scan_updates(ppo: PPO, carry: Carry, updates: int) -> tuple[Carry, jax.Array]:
    """Run several updates; returns [updates] the mean returns of the games that ended during each."""
    return jax.lax.scan(lambda carry, _: update(ppo, carry), carry, length=updates)


def update(ppo: PPO, carry: Carry) -> tuple[Carry, jax.Array]:
    """One rollout and the epochs over it."""
    carry, (moments, lengths) = jax.lax.scan(lambda carry, _: play(ppo, carry), carry, length=ppo.rollout_length)
    _, last_value = ActorCritic(ppo.hidden).apply(carry.params, carry.observation)
    advantage = advantages(ppo, moments, last_value)
    samples = Sample(moments.observation, moments.action, moments.log_prob, moments.value, advantage)
    key, *epochs = jax.random.split(carry.key, ppo.update_epochs + 1)
    (params, state), _ = jax.lax.scan(
        lambda learned, key: (epoch(ppo, learned, samples, key), None),
        (carry.params, carry.optimizer),
        jnp.stack(epochs),
    )
    mean_return = lengths.sum() / jnp.maximum(1, moments.done.sum())
    return carry._replace(params=params, optimizer=state, key=key), mean_return


def play(ppo: PPO, carry: Carry) -> tuple[Carry, tuple[Moment, jax.Array]]:
    """One step of all rows; also returns the length of each game that ended, else 0."""
    key, dice, luck = jax.random.split(carry.key, 3)
    logits, value = ActorCritic(ppo.hidden).apply(carry.params, carry.observation)
    action = jax.random.categorical(dice, logits)
    log_prob = chosen(jax.nn.log_softmax(logits), action)
    keys = jax.random.split(luck, ppo.num_envs)
    step = jax.vmap(ENVIRONMENT.step, (0, 0, 0, None))
    observation, state, reward, done, _ = step(keys, carry.state, action, PARAMETERS)
    moment = Moment(carry.observation, action, log_prob, value, reward, done)
    length = carry.length + 1
    following = carry._replace(state=state, observation=observation, length=jnp.where(done, 0, length), key=key)
    return following, (moment, jnp.where(done, length, 0))


def chosen(numbers: jax.Array, action: jax.Array) -> jax.Array:
    """The number of the chosen action; faster than a gather on CPUs, for the two actions of CartPole."""
    return jnp.where(action == 0, numbers[..., 0], numbers[..., 1])


def advantages(ppo: PPO, moments: Moment, last_value: jax.Array) -> jax.Array:
    """[T, N] generalised advantage estimates, from the last step to the first."""

    def back(carry: tuple[jax.Array, jax.Array], moment: Moment) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        advantage, next_value = carry
        alive = ppo.gamma * (1 - moment.done)
        surprise = moment.reward + alive * next_value - moment.value
        advantage = surprise + alive * ppo.gae_lambda * advantage
        return (advantage, moment.value), advantage

    return jax.lax.scan(back, (jnp.zeros_like(last_value), last_value), moments, reverse=True, unroll=16)[1]


def epoch(ppo: PPO, learned: tuple[Any, Any], samples: Sample, key: jax.Array) -> tuple[Any, Any]:
    """One pass over all samples [T, N, …] in shuffled minibatches."""
    order = random_order(key, samples.action.size)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[order], samples)
    minibatches = jax.tree.map(lambda leaf: leaf.reshape(ppo.num_minibatches, -1, *leaf.shape[1:]), flat)
    return jax.lax.scan(lambda learned, some: (descend(ppo, learned, some), None), learned, minibatches)[0]


def random_order(key: jax.Array, count: int) -> jax.Array:
    """A random permutation of 0 .. count-1 by one sort of integers, ten times faster than `jax.random.permutation`.

    The high bits are random, the low bits are the number itself; for equal high bits, the lower number comes first.
    """
    low = jnp.uint32((1 << (count - 1).bit_length()) - 1)
    tagged = jax.random.bits(key, (count,)) & ~low | jnp.arange(count, dtype=jnp.uint32)
    return jnp.sort(tagged) & low


def descend(ppo: PPO, learned: tuple[Any, Any], samples: Sample) -> tuple[Any, Any]:
    params, state = learned
    gradient = jax.lax.pmean(jax.grad(functools.partial(loss, ppo))(params, samples), "device")
    change, state = optimizer(ppo).update(gradient, state, params)
    return optax.apply_updates(params, change), state


def loss(ppo: PPO, params: Any, samples: Sample) -> jax.Array:
    """Clipped surrogate, clipped value error, entropy."""
    logits, value = ActorCritic(ppo.hidden).apply(params, samples.observation)
    log_probs = jax.nn.log_softmax(logits)
    advantage = (samples.advantage - samples.advantage.mean()) / (samples.advantage.std() + 1e-8)
    ratio = jnp.exp(chosen(log_probs, samples.action) - samples.log_prob)
    surrogate = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - ppo.clip_coef, 1 + ppo.clip_coef) * advantage)
    target = samples.value + samples.advantage
    near = samples.value + jnp.clip(value - samples.value, -ppo.clip_coef, ppo.clip_coef)
    error = jnp.maximum(jnp.square(value - target), jnp.square(near - target))
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1)
    return (ppo.vf_coef * 0.5 * error - surrogate - ppo.ent_coef * entropy).mean()
