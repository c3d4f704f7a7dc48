"""Pig: roll a die as often as you dare; a one loses the turn's points, holding banks them.

This file is the tutorial "write a game in ten minutes": it is a whole game, and running it plays, checks and draws it:

    python docs/tutorials/pig.py

Everything a game needs is below, in the order in which one writes it. There is no class and nothing to register: a game
is a module, and its name is the name of its file.
"""

# 1. The words. Games import NumPy and these, nothing else.
from ludus.dsl import CUT, HEAD, OVER, Discrete, Spec, draw, i16, random, record, rule, within

# 2. What everyone must know before playing: two seats, two actions, a bound on the length, the size of the picture.
GOAL, LONGEST = 50, 400
SPEC = Spec(seats=2, actions=Discrete(2), horizon=LONGEST, zero_sum=True, frame=(420, 160))

# 3. The state is a flat record of bytes. Copying it clones a game, so search, undo and replays cost you nothing.
#    Every state begins with HEAD: key (the game's randomness), seat (who is to act), status (PLAYING, OVER or CUT).
STATE = record(**HEAD, moves=i16, turn=i16, die=i16, scores=(i16, 2))

# 4. What a player sees, with the range of each number. Agents' networks and Gymnasium's spaces are made from this.
OBSERVATION = record(mine=within(0, GOAL + 5, i16), theirs=within(0, GOAL + 5, i16), turn=within(0, GOAL + 5, i16))

ROLL, HOLD = 0, 1


# 5. The rules: plain `if`, compiled by Numba. A rule reads and writes only its arguments.
@rule
def init(state):
    """The record comes in as zeros, and here that is a fresh game already; only the first to roll is drawn."""
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


# 6. What may be played. The mask must never be empty while the game runs.
@rule
def legal(state, seat, mask):
    mask[ROLL] = 1
    mask[HOLD] = state.turn > 0


@rule
def observe(state, seat, out):
    out.mine = state.scores[seat]
    out.theirs = state.scores[1 - seat]
    out.turn = state.turn


# 7. Drawing: shapes, once, for the terminal, pictures and the browser alike. An area is seen by nobody; in the browser
#    who clicks there plays its action: one's bar rolls, one's score banks what was rolled.
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


# 8. Names for people.
def action_name(action: int) -> str:
    return ("roll", "hold")[action]


def text(state) -> str:
    return f"scores {state['scores'][0]} to {state['scores'][1]}, this turn {state['turn']}, last die {state['die']}"


# 9. That was the game. Now it can do everything every other game can.
def main() -> None:
    import os
    import pathlib

    here = pathlib.Path(__file__).resolve().parent
    os.environ["LUDUS_GAMES"] = str(here)  # the folder where `ludus` looks for games of yours

    from ludus.evaluation import conformance
    from ludus.pool import Pool
    from ludus.rendering import images

    pool = Pool("pig", rows=1024, seed=1)  # a thousand games at once
    decisions = pool.play_randomly(steps=1000)
    print(f"played {decisions:,} random moves; one of the games stands at: {pool.describe(row=0)}")

    step = pool.step  # what all the players see, as arrays
    print(f"row 0: seat {step.seat[0]} sees { ({name: int(field[0]) for name, field in step.observation.items()}) }")

    findings = conformance.check_game("pig")  # everything the house asks of a game
    for finding in findings:
        print(f"{'ok  ' if finding.passed else 'FAIL'} {finding.check}")
    assert all(finding.passed for finding in findings)

    picture = pathlib.Path("pig.png")
    images.save(picture, [pool.scene(row=0)], pool.spec.frame)
    print(f"drew {picture}")


if __name__ == "__main__":
    main()
