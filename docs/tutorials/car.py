"""PPO from scratch on the car, in six steps: from a car that crashes at once to one that laps unseen tracks.

Running this file takes a minute or two. It writes two learning curves to `car_learning.png` and a drive on an unseen
track to `car_driving.gif`:

    python docs/tutorials/car.py

With LUDUS_TUTORIAL=small it runs in seconds, with few cars and updates, and learns nothing.
"""

import os
import pathlib
import tempfile
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ludus import agents
from ludus.agents.neural import distributions
from ludus.agents.neural.agent import new_agent
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.algorithms import losses, returns
from ludus.bridges import open_pool
from ludus.evaluation import scores, show
from ludus.rendering import images, plots
from ludus.training import config, runs

SMALL = os.environ.get("LUDUS_TUTORIAL") == "small"
NUM_ENVS, ROLLOUT_LENGTH, UPDATES, GAMES = (16, 16, 2, 4) if SMALL else (256, 128, 24, 32)
UPDATE_EPOCHS, NUM_MINIBATCHES, GAMMA, GAE_LAMBDA, CLIP_COEF, VF_COEF = 4, 4, 0.99, 0.95, 0.2, 0.5

# 1. The pool: 256 cars on 256 tracks. An observation is five distances and the speed; an action is two floats, steering
#    and throttle. The agent is a plain network with two heads: a policy, here a Gaussian squashed into [-1, 1], and a
#    value, the expected return. Everything learned is in `params`; the agent itself only describes the network.
pool = open_pool("car", NUM_ENVS, seed=1)
agent = new_agent(pool, MLPArgs(width=64, depth=2))
params = agent.init(pool.spec, key=0)
print(f"{NUM_ENVS} cars; {sum(leaf.size for leaf in jax.tree.leaves(params)):,} untrained parameters")


# 2. A rollout: T decisions between T+1 steps, in every row. After the end of a game the pool starts the next one, whose
#    first step is marked `first`. Decisions are stored with their log-probability, because the update compares it with
#    the log-probability of the same decision under newer parameters.
def play(params, number):
    steps, decisions = [pool.step], []
    for time in range(ROLLOUT_LENGTH):
        decision, _ = agent.act(params, (), steps[-1], np.uint32(number * ROLLOUT_LENGTH + time))
        steps.append(pool.advance(decision.action))
        decisions.append(decision)
    stack = partial(jax.tree.map, lambda *parts: np.stack(parts))
    return stack(*steps), stack(*decisions)


steps, decisions = play(params, 0)
print(f"a rollout: {steps.first.size:,} steps, rewards {steps.reward.shape}, actions {decisions.action.shape}")


# 3. Advantages. The TD error δ compares the value before a decision with the reward and the value after it. GAE sums
#    the TD errors that follow, weighted by (γλ)^k, up to the end of the game:
#
#        δ_t = r_{t+1} + γ V_{t+1} - V_t          A_t = δ_t + γ λ A_{t+1}          G_t = A_t + V_t
#
#    The advantage A says which decisions the actor should make more likely; G is the target of the critic.
def advantages(params, steps):
    value = agent.evaluate(params, (), steps).value
    advantage = returns.gae(steps.reward, steps.discount, steps.first, value, GAMMA, GAE_LAMBDA)
    return returns.acting(advantage, steps.seat), advantage + value[:-1]


# 4. The loss. r = π(a) / μ(a) is the probability of a decision now, divided by that when it was made. The actor
#    maximises r A. One rollout says little about policies far from the one that collected it, so r is clipped to
#    1 ± ε:
#
#        loss = - mean min( r A, clip(r, 1-ε, 1+ε) A )  +  c_V · ½ mean (V - G)²
#
#    `valid` masks the steps that only start the next game, where the action has no effect.
def loss(params, part):
    steps, decisions, advantage, target = part
    valid = returns.valid_steps(steps.first)
    evaluated = agent.evaluate(params, (), jax.tree.map(lambda array: array[:-1], steps))
    log_prob = distributions.log_prob(evaluated.policy, decisions.action)
    actor = losses.clipped_surrogate(
        log_prob, decisions.log_prob, losses.normalised(advantage, valid), CLIP_COEF, valid
    )
    kl = losses.approximate_kl(log_prob, decisions.log_prob, valid)
    return actor + VF_COEF * losses.value_loss(evaluated.value, target, valid), kl


#    One update makes four passes over the rollout, each in four minibatches of rows with one gradient step each.
optimiser = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3, eps=1e-5))


@jax.jit
def update(params, optimiser_state, steps, decisions, key):
    rollout = (steps, decisions, *advantages(params, steps))

    def gradient_step(carry, rows):
        params, optimiser_state = carry
        minibatch = jax.tree.map(lambda array: array[:, rows], rollout)
        gradient, kl = jax.grad(loss, has_aux=True)(params, minibatch)
        change, optimiser_state = optimiser.update(gradient, optimiser_state, params)
        return (optax.apply_updates(params, change), optimiser_state), kl

    shuffled = [jax.random.permutation(epoch, NUM_ENVS) for epoch in jax.random.split(key, UPDATE_EPOCHS)]
    rows = jnp.stack(shuffled).reshape(UPDATE_EPOCHS * NUM_MINIBATCHES, -1)
    (params, optimiser_state), kl = jax.lax.scan(gradient_step, (params, optimiser_state), rows)
    return params, optimiser_state, kl.mean()


# 5. The training loop: collect a rollout, update, and evaluate every few updates. In evaluation the car takes the mean
#    of its Gaussian instead of a sample. A lap is worth 20 points, and a crash costs 5.
def score(params):
    return scores.score("car", replace(agent, greedy=True), params, GAMES, seed=7).interval


optimiser_state, curve = optimiser.init(params), [(0, *score(params))]
for number in range(UPDATES):
    steps, decisions = play(params, number)
    params, optimiser_state, kl = update(params, optimiser_state, steps, decisions, jax.random.key(number))
    if (number + 1) % (1 if SMALL else 4) == 0:
        curve.append(((number + 1) * NUM_ENVS * ROLLOUT_LENGTH, *score(params)))
        print(f"{curve[-1][0]:>9,} steps: return {curve[-1][1]:6.1f}, approximate KL divergence {kl:.4f}")
pool.close()
tutorial = plots.Series("this tutorial", *np.array(curve).T)
assert SMALL or curve[-1][1] > 20.0 > curve[0][1], "FAIL: it has not learned to drive"

# 6. The same as a run, which is what `ludus train car` does: settings from the preset, a decaying learning rate, a
#    worker that plays while the learner updates, all cores, metrics, checkpoints and exact resume. The worker plays
#    with parameters that are one update old, so the curve rises later than that of the loop above; `--runtime local`
#    plays with the newest parameters, like that loop.
settings = config.resolve("car", "ppo")
if SMALL:
    settings = replace(
        settings,
        steps=2 * 64 * 16,
        num_envs=64,
        eval_games=GAMES,
        settings=replace(settings.settings, rollout_length=16),
    )
with tempfile.TemporaryDirectory() as out:
    folder, run = runs.start(settings, pathlib.Path(out))
    report = list(runs.carry_out(folder, run))[-1]
    print(f"ludus train car: {report.steps:,} steps in {report.seconds:.0f} s, score {report.score.estimate:.1f}")
    as_a_run = runs.score_series(folder)._replace(name="ludus train car")
    plots.curves("car_learning.png", [tutorial, as_a_run], "PPO on the car", "steps", "return")

    # Tracks that it was not trained on, one drive each; a drive ends after 1000 steps or with a crash.
    trained = agents.load(str(folder), "car")
    drives = [scores.score(f"car(track={track})", trained, trained.params, 1, track) for track in range(1001, 1009)]
    lapped = sum(drive.cut == 1 and drive.mean > 20.0 for drive in drives)
    print(f"{lapped} of {len(drives)} unseen tracks lapped without a crash")
    assert SMALL or lapped >= 7, "FAIL: it crashes on unseen tracks"
    drive = show.play("car(track=1001)", agent=str(folder), steps=20 if SMALL else 400)
    images.save(pathlib.Path("car_driving.gif"), show.thinned(drive.frames), drive.frame, fps=20, scale=0.5)
