"""Small batches for PPO, an agent whose every word is a parameter, and PPO's mathematics once more in plain loops."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.neural import devices, distributions
from ludus.agents.neural.agent import Judgement
from ludus.algorithms.ppo import PPO, sharding, update
from ludus.types import Decision, Discrete, Spec, Step

devices.start()  # so that what was compiled once is found again
T, N, A = 7, 4, 3
SOLO = Spec(seats=1, actions=Discrete(A))
DUEL = Spec(seats=2, actions=Discrete(A), zero_sum=True)


def alone(function, *arguments):
    """What a function answers that sums over devices, on the only one."""
    answer = jax.vmap(lambda _: function(*arguments), axis_name=sharding.ROWS)(np.zeros(1))
    return jax.tree.map(lambda array: array[0], answer)


@dataclass(frozen=True)
class TableAgent:
    """It says of every place what its parameters say; it counts the steps that it saw, and values are that higher."""

    spec: Spec

    def evaluate(self, variables: Any, memory: Any, steps: Any, train: bool = False) -> Judgement:
        place, told = steps.observation["place"], variables["params"]
        policy = distributions.log_probabilities(told["logits"][place], steps.mask)
        value = told["value"][place] + memory[:, None]
        return Judgement(policy, value, memory + told["weight"] * len(place), {})


def parameters_of(seed, seats=2):
    rng = np.random.default_rng(seed)
    places = (T + 1) * N
    value = rng.normal(size=(places, 1)) * [[1.0, -1.0]] if seats == 2 else rng.normal(size=(places, 1))
    table = {"logits": rng.normal(size=(places, A)), "value": value, "weight": np.ones(())}
    return {name: jnp.asarray(array, jnp.float32) for name, array in table.items()}


def state_of(settings, table):
    kl_coef = jnp.float32(settings.kl_coef) if settings.kl_coef else ()
    return update.State({"params": table}, (), optimiser_state(settings, table), jnp.zeros((), jnp.int32), kl_coef)


def optimiser_state(settings, table):
    return update.optimiser_of(settings).init({"agent": table})


def random_batch(seed, seats=2, all_own=False):
    """T decisions of N rows that obey the table of docs/architecture.md; games end truly and are cut off."""
    rng = np.random.default_rng(seed)
    discount, first, over = np.ones((T + 1, N)), np.zeros((T + 1, N), bool), np.zeros(N, bool)
    for t in range(T + 1):
        first[t] = over
        over = (rng.random(N) < 0.35) & ~first[t]
        discount[t] = np.where(over & (rng.random(N) < 0.5), 0.0, 1.0)
    gain = rng.normal(size=(T + 1, N, 1)) * ~first[..., None]
    mask = rng.random((T + 1, N, A)) < 0.7
    mask[..., 0] = True
    action = np.where(mask, rng.random((T + 1, N, A)), -1.0).argmax(axis=-1)[:T]
    place = np.arange((T + 1) * N).reshape(T + 1, N)
    steps = Step(
        {"place": place}, mask, rng.integers(0, seats, (T + 1, N)),
        (gain * [1.0, -1.0][:seats]).astype(np.float32), discount.astype(np.float32), first,
    )  # fmt: skip
    value = (rng.normal(size=(T + 1, N, 1)) * [1.0, -1.0][:seats]).astype(np.float32)
    decisions = Decision(action, rng.normal(-1.0, 0.4, (T, N)).astype(np.float32), value)
    own = np.ones((T, N), bool) if all_own else rng.random((T, N)) < 0.7
    return sharding.Batch(steps, decisions, own, np.zeros(N, np.float32), ())


def one_row(discount=(1, 1, 0, 1, 1, 1), seats=1):
    """Two games of one seat in one row: the first is over at step 2, the second goes on at the end of the rollout."""
    column = [np.array(numbers, np.float32)[:, None] for numbers in (discount, (0, 1, 2, 0, 3, 4))]
    first = np.array([1, 0, 0, 1, 0, 0], bool)[:, None]
    steps = Step({}, np.ones((6, 1, A), bool), np.zeros((6, 1), int), column[1][..., None], column[0], first)
    value = np.array([10, 20, 30, 40, 50, 60], np.float32)[:, None, None]
    decisions = Decision(np.zeros((5, 1), int), np.zeros((5, 1), np.float32), value)
    return sharding.Batch(steps, decisions, np.ones((5, 1), bool), (), ())


def looped(shape, fill):
    """[T, N, P] of `fill(t, n, p, what it said of t + 1)`, from the last step backwards."""
    answer = np.zeros(shape)
    for t in reversed(range(shape[0])):
        for n, p in np.ndindex(shape[1:]):
            answer[t, n, p] = fill(t, n, p, answer[t + 1, n, p] if t + 1 < shape[0] else 0.0)
    return answer


def gae(steps, value, gamma, trace):
    def fill(t, n, p, after):
        if steps.first[t + 1, n]:
            return 0.0
        keep = gamma * steps.discount[t + 1, n]
        return steps.reward[t + 1, n, p] + keep * value[t + 1, n, p] - value[t, n, p] + keep * trace * after

    return looped((len(value) - 1, *value.shape[1:]), fill)


def vtrace(steps, value, ratio, settings):
    """Targets and advantages; `ratio` [T, N] counts for the seat that acted."""
    gamma = settings.gamma

    def ratio_of(t, n, p):
        return ratio[t, n] if steps.seat[t, n] == p else 1.0

    def fill(t, n, p, after):
        if steps.first[t + 1, n]:
            return 0.0
        keep = gamma * steps.discount[t + 1, n]
        error = steps.reward[t + 1, n, p] + keep * value[t + 1, n, p] - value[t, n, p]
        rho, c = (
            min(settings.rho_clip, ratio_of(t, n, p)),
            settings.gae_lambda * min(settings.c_clip, ratio_of(t, n, p)),
        )
        return rho * error + keep * c * after

    surprise = looped((len(value) - 1, *value.shape[1:]), fill)
    told = value + np.concatenate([surprise, np.zeros_like(value[:1])])

    def gain(t, n, p, after):
        keep = gamma * steps.discount[t + 1, n]
        ahead = steps.reward[t + 1, n, p] + keep * told[t + 1, n, p] - value[t, n, p]
        return 0.0 if steps.first[t + 1, n] else ahead

    return looped(surprise.shape, gain), told[:-1]


def upgo(steps, value, gamma):
    """Upgoing returns by their definition: what happened, while the seat's own decisions kept what was expected."""
    last = len(value) - 1

    def follow(t, n, p, after):
        """What decision t led to, if `after` tells what step t + 1 was worth."""
        if steps.first[t + 1, n]:
            return value[t, n, p]
        return steps.reward[t + 1, n, p] + gamma * steps.discount[t + 1, n] * after(t + 1, n, p)

    def expected(t, n, p):
        """Up to the seat's next decision, and the critic's word there."""
        here = t == last or steps.seat[t, n] == p
        return value[t, n, p] if here else follow(t, n, p, expected)

    def best(t, n, p):
        if t == last:
            return value[t, n, p]
        worse = steps.seat[t, n] == p and follow(t, n, p, expected) < value[t, n, p]
        return value[t, n, p] if worse else follow(t, n, p, best)

    return looped((last, *value.shape[1:]), lambda t, n, p, _: follow(t, n, p, best))


def acting(per_seat, seat):
    return np.take_along_axis(per_seat, seat[: len(per_seat), :, None], axis=-1)[..., 0]


def valid(steps):
    return ~steps.first[1:]


def counts_of(settings, batch):
    """How many steps count in the whole batch, and how many of them the agent decided."""
    counts = valid(batch.steps)[settings.burn_in :]
    return counts.sum(), (counts & batch.own[settings.burn_in :]).sum()


def policy_of(table, steps):
    """[T+1, N, A] probabilities of the legal actions."""
    logits = np.asarray(table["logits"], np.float64)[steps.observation["place"]]
    weights = np.exp(logits) * steps.mask
    return weights / weights.sum(axis=-1, keepdims=True)


def ppo_loss(settings, table, batch, advantage, target, entropy, memory=0.0, begin=0):
    """The loss, by every decision that counts after the first `begin` steps."""
    probability = policy_of(table, batch.steps)
    value = np.asarray(table["value"], np.float64)[batch.steps.observation["place"]] + memory
    actor, critic, undecided = [], [], []
    for t, n in np.ndindex(T, N):
        if t < begin or batch.steps.first[t + 1, n]:
            continue
        for p in range(value.shape[-1]):
            error, old = value[t, n, p] - target[t, n, p], batch.decisions.value[t, n, p]
            bound = settings.clip_range_vf
            near = old + np.clip(value[t, n, p] - old, -bound, bound) - target[t, n, p]
            critic.append(0.5 * (max(error**2, near**2) if settings.clip_range_vf else error**2))
        if batch.own[t, n]:
            chances, gain = probability[t, n], advantage[t, n]
            ratio = chances[batch.decisions.action[t, n]] / np.exp(batch.decisions.log_prob[t, n])
            worth = min(ratio * gain, np.clip(ratio, 1 - settings.clip_coef, 1 + settings.clip_coef) * gain)
            actor.append(max(worth, settings.dual_clip * gain) if settings.dual_clip and gain < 0 else worth)
            undecided.append(-sum(chance * np.log(chance) for chance in chances if chance))
    return -np.mean(actor) + settings.vf_coef * np.mean(critic) - entropy * np.mean(undecided)


def plain(**settings):
    """Settings that a hand can follow."""
    easy = {
        "gamma": 0.5,
        "gae_lambda": 0.5,
        "norm_adv": False,
        "update_epochs": 1,
        "num_minibatches": 1,
        "refresh_rollouts": False,
    }
    return PPO(**(easy | settings))
