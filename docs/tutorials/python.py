"""Ludus from Python: train, plot, load, evaluate, act, and train on an environment and a network of your own.

Running this file executes every line, in a temporary folder:

    python docs/tutorials/python.py
"""

import os
import tempfile

import flax.linen as nn
import gymnasium
import numpy as np

import ludus

small = os.environ.get("LUDUS_TUTORIAL") == "small"
os.chdir(tempfile.mkdtemp())

# 1. Train. The run is a folder, runs/connect4-0001. Ctrl-C stops and saves; ludus.train(resume=run) continues.
#    2,000,000 steps make a strong player; the settings after `steps` make this short run learn in several updates.
steps = 10_000 if small else 100_000
run = ludus.train("connect4", algorithm="ppo", steps=steps, num_envs=64, rollout_length=32)
print(run)

# 2. Plot: a matplotlib figure that notebooks show. Here it is saved.
run.plot().savefig("connect4.png")

# 3. Load an agent: of a run, or by its name.
agent = ludus.load("runs/connect4-0001")
search = ludus.agent("mcts(200)", "connect4")

# 4. Evaluate: a win rate with its 95 % interval, and a row for each seat.
print(ludus.evaluate(agent, against=search, games=20))

# 5. Act on observations of Gymnasium: the agent plays one game against another agent.
env = ludus.make("connect4", opponent=agent)
observation, info = env.reset(seed=0)
ended = False
while not ended:
    action = agent.act(observation, info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)
    ended = terminated or truncated
agent.reset()  # the agent forgets the game
print(f"the agent played against itself; the reward of seat 0 is {reward:g}")

# 6. Your own loop: `training` is a generator, and `break` stops and saves.
for progress in ludus.training("car", algorithm="ppo", num_envs=16, rollout_length=32):
    print(f"{progress.steps:,} steps of the car")
    if progress.steps >= 1_000:
        break


# 7. Your own environment: a function that makes it is enough. Guess the sign of a number, ten times.
class Sign(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.turn = 0
        return self._draw(), {}

    def step(self, action):
        reward = float(action == (self.number[0] > 0))
        self.turn += 1
        return self._draw(), reward, self.turn == 10, False, {}

    def _draw(self):
        self.number = self.np_random.uniform(-1, 1, 1).astype(np.float32)
        return self.number


signs = ludus.train(lambda: Sign(), algorithm="ppo", steps=10_000)
print(f"right answers of ten: {signs.score.estimate:.1f}")


# 8. Your own network: a Flax module that returns logits and values. Files do not contain it, so `load` needs it again.
class Network(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, x):
        hidden = nn.relu(nn.Dense(32)(x))
        return nn.Dense(self.actions)(hidden), nn.Dense(1)(hidden)[:, 0]


own = ludus.train("tictactoe", algorithm="ppo", network=Network(9), steps=5_000, num_envs=64, rollout_length=16)
print(ludus.evaluate(ludus.load(own, network=Network(9)), games=20))
