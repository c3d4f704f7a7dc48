"""PPO from scratch on the car, in six steps: from a car that crashes at once to one that laps roads it has never seen.

Running this file does all that it tells of, in a minute or two, and leaves two curves in `car_learning.png` and a drive
on an unseen road in `car_driving.gif`:

    python docs/tutorials/car.py

With LUDUS_TUTORIAL=small everything is tiny: it runs in seconds, and learns nothing.
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
ROWS, LENGTH, UPDATES, GAMES = (16, 16, 2, 4) if SMALL else (256, 128, 24, 32)
EPOCHS, MINIBATCHES, DISCOUNT, TRACE, CLIP = 4, 4, 0.99, 0.95, 0.2

# 1. The pool: 256 cars on 256 roads. Each sees five distances and its speed, and answers with two floats, steering and
#    throttle. The agent is a plain network with two heads: a policy, here a Gaussian squashed into [-1, 1], and a
#    value, what it expects from here on. Everything learned is in `params`; the agent is only a choice of network.
pool = open_pool("car", ROWS, seed=1)
agent = new_agent(pool, MLPArgs(width=64, depth=2))
params = agent.init(pool.spec, key=0)
print(f"{ROWS} cars; {sum(leaf.size for leaf in jax.tree.leaves(params)):,} parameters that know nothing")


# 2. A rollout: T decisions between T+1 steps, in every row. A game that ends opens the next one by itself; the step
#    that opens it is marked `first`. What was decided is kept with its log-probability, for the update wants to know
#    how much likelier the same decision has become since.
def play(params, number):
    steps, decisions = [pool.step], []
    for time in range(LENGTH):
        decision, _ = agent.act(params, (), steps[-1], np.uint32(number * LENGTH + time))
        steps.append(pool.advance(decision.action))
        decisions.append(decision)
    stack = partial(jax.tree.map, lambda *parts: np.stack(parts))
    return stack(*steps), stack(*decisions)


steps, decisions = play(params, 0)
print(f"a rollout: {steps.first.size:,} steps, rewards {steps.reward.shape}, actions {decisions.action.shape}")


# 3. What was a decision worth? More than was expected, if what it brought and what is expected after it exceed what was
#    expected before it: δ. GAE adds up the surprises that followed, later ones less, and never past the end of a game:
#
#        δ_t = r_{t+1} + γ V_{t+1} - V_t          A_t = δ_t + γ λ A_{t+1}          G_t = A_t + V_t
#
#    A tells the actor what to do more often, G tells the critic what it should have said.
def judge(params, steps):
    value = agent.evaluate(params, (), steps).value
    advantage = returns.gae(steps.reward, steps.discount, steps.first, value, DISCOUNT, TRACE)
    return returns.acting(advantage, steps.seat), advantage + value[:-1]


# 4. The loss. With r = π(a) / μ(a), how much likelier the decision is now than when it was made, the actor wants r A to
#    be large; but one rollout says little about a policy far from the one that made it. So there is nothing to gain
#    from an r beyond 1 ± ε:
#
#        loss = - mean min( r A, clip(r, 1-ε, 1+ε) A )  +  ½ · ½ mean (V - G)²
#
#    `valid` leaves out the decisions that were none, because they only opened the next game.
def loss(params, part):
    steps, decisions, advantage, target = part
    valid = returns.valid_steps(steps.first)
    judged = agent.evaluate(params, (), jax.tree.map(lambda array: array[:-1], steps))
    log_prob = distributions.log_prob(judged.policy, decisions.action)
    actor = losses.clipped_surrogate(log_prob, decisions.log_prob, losses.normalised(advantage, valid), CLIP, valid)
    kl = losses.approximate_kl(log_prob, decisions.log_prob, valid)
    return actor + 0.5 * losses.value_loss(judged.value, target, valid), kl


#    One update goes over the rollout four times, each time in four parts of the rows, and follows the gradient of each.
optimiser = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3, eps=1e-5))


@jax.jit
def update(params, memory, steps, decisions, key):
    rollout = (steps, decisions, *judge(params, steps))

    def follow(carry, rows):
        params, memory = carry
        part = jax.tree.map(lambda array: array[:, rows], rollout)
        gradient, kl = jax.grad(loss, has_aux=True)(params, part)
        change, memory = optimiser.update(gradient, memory, params)
        return (optax.apply_updates(params, change), memory), kl

    shuffled = [jax.random.permutation(epoch, ROWS) for epoch in jax.random.split(key, EPOCHS)]
    rows = jnp.stack(shuffled).reshape(EPOCHS * MINIBATCHES, -1)
    (params, memory), kl = jax.lax.scan(follow, (params, memory), rows)
    return params, memory, kl.mean()


# 5. The training loop: play, learn, and now and then a score. In earnest the car takes the middle of its Gaussian
#    instead of a draw from it. Over a lap there are 20 points to earn, and a crash costs 5.
def score(params):
    return scores.score("car", replace(agent, greedy=True), params, GAMES, seed=7).interval


memory, curve = optimiser.init(params), [(0, *score(params))]
for number in range(UPDATES):
    steps, decisions = play(params, number)
    params, memory, kl = update(params, memory, steps, decisions, jax.random.key(number))
    if (number + 1) % (1 if SMALL else 4) == 0:
        curve.append(((number + 1) * ROWS * LENGTH, *score(params)))
        print(f"after {curve[-1][0]:>9,} steps a drive is worth {curve[-1][1]:6.1f}; the policy moves by {kl:.4f}")
pool.close()
by_hand = plots.Series("by hand", *np.array(curve).T)
assert SMALL or curve[-1][1] > 20.0 > curve[0][1], "FAIL: it has not learned to drive"

# 6. The same as a run, which is what `ludus train car` does: settings from the preset, a learning rate that falls,
#    an actor that plays while the learner learns, all cores, metrics, checkpoints, and resume to the bit. As the actor
#    plays with the parameters of one update ago, the curve rises later than that of our loop, which always plays with
#    the newest; `--runtime local` does as our loop does.
settings = config.resolve("car", "ppo")
if SMALL:
    settings = replace(
        settings, steps=2 * 64 * 16, rows=64, games=GAMES, settings=replace(settings.settings, length=16)
    )
with tempfile.TemporaryDirectory() as out:
    folder, run = runs.start(settings, pathlib.Path(out))
    report = list(runs.carry_out(folder, run))[-1]
    print(f"ludus train car: {report.steps:,} steps in {report.seconds:.0f} s, score {report.score.estimate:.1f}")
    as_a_run = runs.score_series(folder)._replace(name="ludus train car")
    plots.curves("car_learning.png", [by_hand, as_a_run], "PPO on the car", "steps", "return of a drive")

    # Roads that it has never seen, one drive each; a drive ends after 1000 steps, or with a crash.
    trained = agents.load(str(folder), "car")
    drives = [scores.score(f"car(track={track})", trained, trained.params, 1, track) for track in range(1001, 1009)]
    lapped = sum(drive.cut == 1 and drive.mean > 20.0 for drive in drives)
    print(f"{lapped} of {len(drives)} unseen roads lapped without a crash")
    assert SMALL or lapped >= 7, "FAIL: it crashes on unseen roads"
    drive = show.play("car(track=1001)", agent=str(folder), steps=20 if SMALL else 400)
    images.save(pathlib.Path("car_driving.gif"), show.thinned(drive.frames), drive.frame, fps=20, scale=0.5)
