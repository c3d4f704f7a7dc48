"""Pig: roll a die as often as you like; a one loses the points of the turn, holding banks them.

This file is the tutorial "write a game in ten minutes": a complete game. Running it plays, checks and draws the game:

    python docs/tutorials/pig.py

The parts of a game follow in the order in which you would write them. There is no class and nothing to register: a game
is a module, and its name is the name of its file.
"""

# 1. Imports. Games import NumPy and names from `ludus.dsl`, nothing else.
from ludus.dsl import CUT, HEAD, OVER, Discrete, Spec, draw, i16, random, record, rule, within

# 2. The specification: number of seats and actions, the longest game, and the size of the picture.
GOAL, LONGEST = 50, 400
SPEC = Spec(seats=2, actions=Discrete(2), horizon=LONGEST, zero_sum=True, frame=(420, 160))

# 3. The state is a flat record. Copying it clones the game, so search, undo and replays work without further code.
#    Every state begins with HEAD: key (of the random numbers), seat (to act), status (PLAYING, OVER or CUT).
STATE = record(**HEAD, moves=i16, turn=i16, die=i16, scores=(i16, 2))

# 4. The observation of a player, with the range of each number. Networks and Gymnasium spaces are derived from it.
OBSERVATION = record(mine=within(0, GOAL + 5, i16), theirs=within(0, GOAL + 5, i16), turn=within(0, GOAL + 5, i16))

ROLL, HOLD = 0, 1


# 5. The rules: plain Python, compiled by Numba. A rule reads and writes only its arguments.
@rule
def init(state):
    """The record is all zeros, which is already a new game; only the seat that rolls first is random."""
    state.seat = random.below(state, 2)


@rule
def step(state, action, reward):
    state.moves += 1
    if action == HOLD:
        state.scores[state.seat] += state.turn
        pass_turn(state)
    else:
        state.die = 1 + random.below(state, 6)
        if state.die == 1:
            pass_turn(state)
        else:
            state.turn += state.die
            if state.scores[state.seat] + state.turn >= GOAL:
                finish(state, reward)
    if state.moves >= LONGEST and state.status != OVER:
        state.status = CUT


@rule
def pass_turn(state):
    state.turn = 0
    state.seat = 1 - state.seat


@rule
def finish(state, reward):
    state.scores[state.seat] += state.turn
    state.turn = 0
    reward[state.seat] = 1.0
    reward[1 - state.seat] = -1.0
    state.status = OVER


# 6. The legal actions. At least one action must be legal while the game runs.
@rule
def legal(state, seat, mask):
    mask[ROLL] = 1
    mask[HOLD] = state.turn > 0


@rule
def observe(state, seat, out):
    out.mine = state.scores[seat]
    out.theirs = state.scores[1 - seat]
    out.turn = state.turn


# 7. The picture, as shapes, which image files, windows and the browser all draw. An area is invisible; a click on it in
#    the browser plays its action: here, a click on the bar of the player to move rolls, and one on the score holds.
@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0, 0, 420, 160, 0x1E2430)
    for player in range(2):
        y = 45 + 70 * player
        color = 0xFFB454 if player == state.seat else 0x59C2FF
        draw.rect(canvas, 100, y - 14, 300, 28, 0x39445A, 8.0)
        draw.rect(canvas, 100, y - 14, 300 * min(int(state.scores[player]), GOAL) / GOAL, 28, color, 8.0)
        draw.integer(canvas, 50, y, 30, color, state.scores[player])
        if player == state.seat:
            draw.area(canvas, 100, y - 25, 300, 50, ROLL)
            draw.area(canvas, 10, y - 25, 80, 50, HOLD)


# 8. Actions and positions as text.
def action_name(action: int) -> str:
    return ("roll", "hold")[action]


def text(state) -> str:
    return f"scores {state['scores'][0]} to {state['scores'][1]}, this turn {state['turn']}, last die {state['die']}"


# 9. The game is complete. All commands and functions of Ludus work with it.
def main() -> None:
    import os
    import pathlib

    here = pathlib.Path(__file__).resolve().parent
    os.environ["LUDUS_GAMES"] = str(here)  # the folder of the user's own games

    from ludus.evaluation import conformance
    from ludus.pool import Pool
    from ludus.rendering import images

    pool = Pool("pig", rows=1024, seed=1)  # 1024 games, stepped together
    decisions = pool.play_randomly(steps=1000)
    print(f"played {decisions:,} random moves; the position in row 0: {pool.describe(row=0)}")

    step = pool.step  # the observations of all rows, as arrays
    print(f"row 0: seat {step.seat[0]} sees { ({name: int(field[0]) for name, field in step.observation.items()}) }")

    findings = conformance.check_game("pig")  # the conformance checks of `ludus check`
    for finding in findings:
        print(f"{'ok  ' if finding.passed else 'FAIL'} {finding.check}")
    assert all(finding.passed for finding in findings)

    picture = pathlib.Path("pig.png")
    images.save(picture, [pool.scene(row=0)], pool.spec.frame)
    print(f"drew {picture}")


if __name__ == "__main__":
    main()
