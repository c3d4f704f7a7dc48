"""Design a game and balance it, without knowing anything about machine learning.

You have an idea for a game. In this tutorial you write it down in forty lines, play it in the browser, let an agent
learn it, watch the agent, and ask it whether your game is fair. Running the file executes every command:

    python docs/tutorials/designer.py
"""

import os
import pathlib
import subprocess
import sys
import tempfile

os.chdir(tempfile.mkdtemp())
small = os.environ.get("LUDUS_TUTORIAL") == "small"
steps, games = (100_000, 400) if small else (2_000_000, 4_000)


def shell(command: str) -> None:
    print(f"\n$ {command}", flush=True)
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    subprocess.run(command, shell=True, check=True, env={**os.environ, "LUDUS_GAMES": "ludus_games", "PATH": path})


# 1. The idea. Two runners race over twenty fields. On your turn you walk (three fields, always), run (roll a die; a one
#    makes you stumble and you stay where you are), or trip the other runner (who falls back one field).

# 2. Forty lines. The game is a file in the folder `ludus_games`. Its state is a record of numbers; `init`, `step` and
#    `legal` are the rules; `observe` is what players see; `scene` is the picture. The parameter `lead` is a question
#    for later: how many fields should the second player start ahead?
RACE = '''
"""Race: first to reach field twenty; walk, run or trip the other."""
from ludus.dsl import HEAD, OVER, CUT, Discrete, Spec, draw, i8, i16, integer, random, record, rule, within

GOAL, LONGEST = 20, 200
SPEC = Spec(seats=2, actions=Discrete(3), horizon=LONGEST, zero_sum=True, frame=(460, 140))
PARAMETERS = {"lead": integer(0, 0, 6, "fields by which the second player starts ahead")}
STATE = record(**HEAD, lead=i8, moves=i16, place=(i8, 2))
OBSERVATION = record(mine=within(0, GOAL + 6, i8), theirs=within(0, GOAL + 6, i8))
WALK, RUN, TRIP = 0, 1, 2

@rule
def init(state):
    state.place[1] = state.lead

@rule
def step(state, action, reward):
    me, other = state.seat, 1 - state.seat
    die = 1 + random.below(state, 6)
    if action == WALK:
        state.place[me] += 3
    elif action == RUN and die > 1:
        state.place[me] += die
    elif action == TRIP:
        state.place[other] = max(state.place[other] - 1, 0)
    state.moves += 1
    if state.place[me] >= GOAL:
        reward[me], reward[other] = 1.0, -1.0
        state.status = OVER
    elif state.moves >= LONGEST:
        state.status = CUT
    state.seat = other

@rule
def legal(state, seat, mask):
    mask[:] = 1

@rule
def observe(state, seat, out):
    out.mine, out.theirs = state.place[seat], state.place[1 - seat]

@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0, 0, 460, 140, 0x1E2430)
    for runner in range(2):
        y = 40 + 60 * runner
        draw.rect(canvas, 20, y - 4, 420, 8, 0x39445A, 4.0)
        draw.circle(canvas, 20 + 21 * min(int(state.place[runner]), GOAL), y, 14, 0xFFB454 if runner == 0 else 0x59C2FF)

def action_name(action):
    return ("walk", "run", "trip")[action]
'''
pathlib.Path("ludus_games").mkdir()
pathlib.Path("ludus_games/race.py").write_text(RACE.lstrip())

# 3. Check it. Ludus plays thousands of random games and looks for mistakes: illegal states, results that differ from
#    run to run, pictures that fail. A mistake is reported with its line and what to write instead.
shell("ludus check race")

# 4. Play it in the browser. `ludus studio` opens a page; click on Race, choose an opponent, and play with the buttons
#    or the keys 1 to 3. (This file does not start it. In the terminal: `ludus play race`.)

# 5. Let an agent learn. It plays both sides against itself and keeps a table of how good every move is in every
#    position. Nothing has to be adjusted. In the studio, the button Train does the same and shows live charts.
shell(f"ludus train race --algorithm q_learning --steps {steps}")

# 6. Watch it. The file is a moving picture of a game that the agent plays against itself.
shell("ludus show race --agent runs/race-0001 --out race.gif")

# 7. Is the game fair? `ludus analyse` lets the agent play against itself and counts. "first player" is the advantage of
#    moving first, here 14 points: the first player wins 64 % of the games. "length" tells whether games drag on, and
#    actions that a good player never uses are listed. The plot shows how often each action is chosen.
shell(f"ludus analyse race --agent runs/race-0001 --games {games} --out race.png")

# 8. Balance it. Ask the same question with a lead for the second player, and keep the lead at which both win equally
#    often: one field (51 %); two are too many (42 %).
for lead in (1, 2):
    shell(f"ludus analyse 'race(lead={lead})' --agent runs/race-0001 --games {games}")


# 9. Change a rule. What if tripping costs the other runner more? Change the line, train again for two seconds, and look
#    at the numbers. With two fields, moving first is worth only 8 points, and games take 15 moves instead of 12. With
#    three, trained players trip each other until the game is cut off after 200 moves: 99 % of the games are drawn.
for number, fields in ((2, 2), (3, 3)):
    changed = RACE.replace("state.place[other] - 1", f"state.place[other] - {fields}")
    pathlib.Path("ludus_games/race.py").write_text(changed.lstrip())
    shell(f"ludus train race --algorithm q_learning --steps {steps}")
    shell(f"ludus analyse race --agent runs/race-000{number} --games {games}")
