"""From a Q-table to a perfect tic-tac-toe player, in five steps.

Running this file executes all of them and writes the learning curve to `tictactoe_learning.png`:

    python docs/tutorials/tictactoe.py
"""

import itertools
import pathlib
import tempfile

import numpy as np

from ludus import agents
from ludus.agents import checkpoint
from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.forms import QLearning
from ludus.bridges import open_pool
from ludus.evaluation import scores
from ludus.evaluation.exhaustive import exhaustive
from ludus.rendering import plots
from ludus.runtimes import Job, open_source
from ludus.training import config, runs
from ludus.training.loop import train

# 1. One update. A Q-table holds the value of every action in every state. Q-learning moves the value of an action by a
#    fraction α (the learning rate) towards the reward plus the discounted value of the best next action:
#
#        Q(s, a) ← Q(s, a) + α [r + γ max_b Q(s', b) - Q(s, a)]
#
#    The list form is plain Python, to be read; the NumPy and the compiled form produce the same table, bit for bit.
for form in ("list", "numpy", "compiled"):
    q = QLearning(form, states=3, actions=2, learning_rate=0.5, gamma=0.9)
    q.update(state=1, action=0, reward=1.0, next_state=2, terminated=True)  # the goal: the episode ends here
    q.update(state=0, action=1, reward=0.0, next_state=1, terminated=False)  # a step towards the goal
    assert q.table[1, 0] == 0.5 and q.table[0, 1] == np.float32(0.5 * 0.9 * 0.5)
print("one update in three forms: the same table")

# 2. A game of two players. The game is zero-sum, so the next value has a minus sign where the opponent moves next, and
#    one table plays both seats. An algorithm is a frozen dataclass of settings. It makes the agent, which plays by a
#    table, and the learner, which holds the table that is being learned. A job describes the work of one worker: 16
#    games at once, 250 steps of each per unit of work. A source runs the workers and returns what they learned.
game = "tictactoe"
algorithm = Tabular(method="q_learning", learning_rate="0.3", exploration="0.4")
pool = open_pool(game, rows=1)
agent = algorithm.new_agent(pool)
learner = algorithm.new_learner(agent, seed=7)
source = open_source("local", Job(game, rows=16, seed=7, steps=250, workers=1, algorithm=algorithm))

# 3. The training loop is a generator, so evaluation is a `for` loop around it. After every 4,000 steps the agent plays
#    200 games against the perfect player, which never loses: the best possible mean result is 0, all games drawn.
perfect = agents.load("perfect", game)
curve = []
for progress in itertools.islice(train(agent, algorithm, learner, source), 50):
    players = [(agent, progress.learner.params), (perfect, perfect.init(pool.spec, 0))]
    result = scores.match(game, players, games=200, seed=1)
    curve.append((progress.learner.steps, result.mean, result.interval.low, result.interval.high))
source.close()
steps, mean, low, high = np.array(curve).T
series = plots.Series("against the perfect player", steps, mean, low, high)
plots.curves("tictactoe_learning.png", [series], "Q-learning by self-play", "updates", "mean result")
print(f"mean result after {steps[0]:,.0f} updates: {mean[0]:+.2f}; after {steps[-1]:,.0f} updates: {mean[-1]:+.2f}")
assert mean[-1] > mean[0]

# 4. The same as a run: settings from the preset, and a folder with metrics, checkpoints and a plot of the score. This
#    is what `ludus train tictactoe` does. It takes about a second, and can be stopped and resumed at any time.
with tempfile.TemporaryDirectory() as out:
    folder, run = runs.start(config.resolve(game), pathlib.Path(out))
    report = list(runs.carry_out(folder, run))[-1]
    print(f"{report.steps:,} updates; files in the folder: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    trained = agents.load(str(folder), game)
    assert checkpoint.newest(folder / "checkpoints") == report.saved

# 5. Never losing to one opponent proves little. For each seat of the agent, `exhaustive` lets the opponent try every
#    legal move at every turn and the agent play each of its best moves, so it visits every line of play.
proof = exhaustive(game, trained, trained.params)
for seat in proof.seats:
    print(f"seat {seat.seat}: {seat.positions:,} positions, {seat.lines:,} lines of play, worst result {seat.worst:g}")
assert proof.exact and proof.worst == 0, "FAIL: some line of play beats it"
print("no line of play beats the trained agent")
