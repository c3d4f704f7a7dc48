"""From a Q-table to a perfect tic-tac-toe player, in five steps.

Running this file does all that it tells of, and leaves the learning curve in `tictactoe_learning.png`:

    python docs/tutorials/tictactoe.py
"""

import itertools
import pathlib
import tempfile

import numpy as np

from ludus import agents
from ludus.agents import checkpoint
from ludus.agents.tabular import TabularAgent
from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.forms import QLearning
from ludus.bridges import open_pool
from ludus.evaluation import scores
from ludus.rendering import plots
from ludus.runtimes import Job, open_source
from ludus.training import config, runs
from ludus.training.loop import train

# 1. One update. A Q-table holds a number for every state and action: what the action is worth there. Q-learning moves
#    it a little (the learning rate) towards what came of it: the reward, and the best that can follow.
#
#        Q(s, a) ← Q(s, a) + α [r + γ max_b Q(s', b) - Q(s, a)]
#
#    The list form is plain Python, for reading; numpy and compiled end in the same table, to the last bit.
for form in ("list", "numpy", "compiled"):
    q = QLearning(form, states=3, actions=2, learning_rate=0.5, discount=0.9)
    q.update(state=1, action=0, reward=1.0, next_state=2, terminated=True)  # the goal: nothing follows it
    q.update(state=0, action=1, reward=0.0, next_state=1, terminated=False)  # a step towards it is worth something too
    assert q.table[1, 0] == 0.5 and q.table[0, 1] == np.float32(0.5 * 0.9 * 0.5)
print("one update, in three forms: the same table")

# 2. A game with two players. What is good for the opponent is bad for us, so the best that follows counts with a minus
#    sign where the opponent moves next, and one table plays both seats. The settings are a frozen dataclass; a job says
#    how many games are played side by side; a source plays them.
game = "tictactoe"
settings = Tabular(method="q_learning", learning_rate="0.3", exploration="0.4")
pool = open_pool(game, rows=1)
agent = TabularAgent.of(pool)
learner = settings.start(settings.new_table(agent.positions, actions=9, seats=2))
source = open_source("single", Job(game, rows=16, seed=7, steps=250, workers=1, algorithm=settings))

# 3. The training loop is a generator, so watching is a `for` loop around it. After every 4,000 steps of play the table
#    plays 200 games against the perfect player, who never loses: the best that can be had is a draw.
perfect = agents.load("perfect", game)
curve = []
for progress in itertools.islice(train(agent, settings, learner, source), 50):
    players = [(agent, learner.table), (perfect, perfect.init(pool.spec, 0))]
    result = scores.match(game, players, games=200, seed=1)
    curve.append((progress.learner.steps, result.mean, result.interval.low, result.interval.high))
source.close()
steps, mean, low, high = np.array(curve).T
series = plots.Series("against the perfect player", steps, mean, low, high)
plots.curves("tictactoe_learning.png", [series], "Q-learning by self-play", "updates", "mean result")
print(f"after {steps[0]:,.0f} updates it gets {mean[0]:+.2f} a game, after {steps[-1]:,.0f} it gets {mean[-1]:+.2f}")
assert mean[-1] > mean[0]

# 4. The same as a run, with its settings from the preset, a folder, metrics, checkpoints and a picture; this is what
#    `ludus train tictactoe` does. It takes about a second, and it may be stopped and resumed at any time.
with tempfile.TemporaryDirectory() as out:
    folder, run = runs.start(config.resolve(game), pathlib.Path(out))
    report = list(runs.carry_out(folder, run))[-1]
    print(f"{report.steps:,} updates; in the folder: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    trained = agents.load(str(folder), game)
    assert checkpoint.newest(folder / "checkpoints") == report.saved

# 5. Never losing to one opponent proves little. So the agent takes each seat, the opponent tries every legal move at
#    every turn, and the agent plays each of its best moves: every line of play there is.
proof = scores.exhaustive(game, trained, trained.params)
for seat in proof.seats:
    print(f"seat {seat.seat}: {seat.positions:,} positions, {seat.lines:,} lines of play, worst result {seat.worst:g}")
assert proof.exact and proof.worst == 0, "FAIL: some line of play beats it"
print("nobody beats it")
