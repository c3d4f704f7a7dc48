"""CartPole: push a cart left or right so that the pole on it stays upright.

The usual constants (Barto, Sutton and Anderson, 1983): a reward of 1 per step; the game ends when the cart is more than
2.4 from the centre or the pole leans more than 12 degrees, and is truncated after `horizon` steps.
"""

import math

from ludus.dsl import CUT, HEAD, OVER, Discrete, Spec, draw, f32, f64, i32, integer, random, record, rule, within

PACE = 50
SPEC = Spec(seats=1, actions=Discrete(2), horizon=500, frame=(480, 240))
PARAMETERS = {"horizon": integer(500, 1, 500, "steps after which a game is cut off")}
STATE = record(**HEAD, horizon=i32, moves=i32, x=f64, velocity=f64, angle=f64, spin=f64)
OBSERVATION = record(
    motion=within(
        (-4.8, -math.inf, -math.pi * 24 / 180, -math.inf), (4.8, math.inf, math.pi * 24 / 180, math.inf), f32, 4
    )
)
"""position, velocity, angle (radians), angular velocity"""

GRAVITY, CART_MASS, POLE_MASS, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
PER_MASS, POLE_MOMENT = 1 / (CART_MASS + POLE_MASS), POLE_MASS * HALF_LENGTH
EDGE, LEAN = 2.4, 12 * 2 * math.pi / 360
PER_6, PER_20, PER_42, PER_72, PER_110, PER_156 = 1 / 6, 1 / 20, 1 / 42, 1 / 72, 1 / 110, 1 / 156
PER_12, PER_30, PER_56, PER_90, PER_132 = 1 / 12, 1 / 30, 1 / 56, 1 / 90, 1 / 132


@rule
def init(state):
    state.x = random.uniform(state, -0.05, 0.05)
    state.velocity = random.uniform(state, -0.05, 0.05)
    state.angle = random.uniform(state, -0.05, 0.05)
    state.spin = random.uniform(state, -0.05, 0.05)


@rule
def sine_and_cosine(angle):
    """Taylor series, accurate to one or two bits below 0.21 radians, the largest angle before the game ends."""
    square = angle * angle
    sine = 1.0 - square * PER_42 * (1.0 - square * PER_72 * (1.0 - square * PER_110 * (1.0 - square * PER_156)))
    cosine = 1.0 - square * PER_30 * (1.0 - square * PER_56 * (1.0 - square * PER_90 * (1.0 - square * PER_132)))
    sine = angle * (1.0 - square * PER_6 * (1.0 - square * PER_20 * sine))
    return sine, 1.0 - square * 0.5 * (1.0 - square * PER_12 * cosine)


@rule
def step(state, action, reward):
    force = FORCE if action == 1 else -FORCE
    sine, cosine = sine_and_cosine(state.angle)
    push = (force + POLE_MOMENT * (state.spin * state.spin) * sine) * PER_MASS
    turn = (GRAVITY * sine - cosine * push) / (HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cosine * cosine) * PER_MASS))
    pull = push - POLE_MOMENT * turn * cosine * PER_MASS
    state.x = state.x + SECONDS * state.velocity
    state.velocity = state.velocity + SECONDS * pull
    state.angle = state.angle + SECONDS * state.spin
    state.spin = state.spin + SECONDS * turn
    state.moves += 1
    reward[0] = 1.0
    if abs(state.x) > EDGE or abs(state.angle) > LEAN:
        state.status = OVER
    elif state.moves >= state.horizon:
        state.status = CUT


@rule
def legal(state, seat, mask):
    mask[0] = 1
    mask[1] = 1


@rule
def observe(state, seat, out):
    out.motion[0] = state.x
    out.motion[1] = state.velocity
    out.motion[2] = state.angle
    out.motion[3] = state.spin


@rule
def scene(state, seat, canvas):
    x = 240 + min(max(state.x, -EDGE), EDGE) * 85
    tip_x = x + 120 * math.sin(state.angle)
    tip_y = 170 - 120 * math.cos(state.angle)
    draw.rect(canvas, 0, 0, 480, 240, 0x1E2430)
    draw.line(canvas, 20, 195, 460, 195, 4, 0x55617A)
    draw.rect(canvas, x - 30, 165, 60, 28, 0x59C2FF, 6.0)
    draw.line(canvas, x, 168, tip_x, tip_y, 10, 0xFFB454)
    draw.circle(canvas, x, 168, 6, 0x1E2430)
    draw.integer(canvas, 240, 220, 18, 0x8A94A6, state.moves)
    for side in range(2):
        draw.area(canvas, 240 * side, 0, 240, 240, side)


def action_name(action: int) -> str:
    return ("left", "right")[action]


def text(state) -> str:
    return (
        f"step {state['moves']}: cart {state['x']:+.3f} moving {state['velocity']:+.3f}, "
        f"pole {math.degrees(state['angle']):+.2f} degrees turning {math.degrees(state['spin']):+.2f}"
    )
