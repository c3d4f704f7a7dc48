"""Boat: sail around a buoy, as often as you can, without touching the shore.

A second game with continuous actions, written as a user would write it. Tests of the studio use it to check that
all controls come from the declarations below.
"""

import math

from ludus.dsl import (
    CUT,
    HEAD,
    OVER,
    Continuous,
    Control,
    Ghost,
    Instrument,
    LudusError,
    Parameter,
    Spec,
    draw,
    f32,
    f64,
    i32,
    i64,
    random,
    record,
    rule,
    within,
)

SIZE, HORIZON, TOP_SPEED = 400.0, 2000, 4.0
PACE = 30


def _parse_harbour(text: str) -> int:
    if text == "random":
        return -1
    if not text.isdigit():
        raise LudusError(f'"{text}" is neither random nor a whole number')
    return int(text)


PARAMETERS = {"harbour": Parameter("random", _parse_harbour, "the seed of the buoy's place, or random", layout=True)}
SPEC = Spec(seats=1, actions=Continuous((-1.0, 0.0), (1.0, 1.0)), horizon=HORIZON, frame=(400, 400))
STATE = record(
    **HEAD, harbour=i64, buoy_x=f64, buoy_y=f64, x=f64, y=f64, heading=f64, speed=f64, turned=f64, moves=i32
)  # fmt: skip
OBSERVATION = record(seen=within(-1, 1, f32, 4))

CONTROLS = (
    Control("rudder", keys=(("KeyJ",), ("KeyL",)), labels=("port", "ahead", "starboard")),
    Control("thrust", axis="vertical"),
)
INSTRUMENTS = (
    Instrument("speed", "speed", high=TOP_SPEED, unit="kn"),
    Instrument(
        "distance", lambda state: math.hypot(state["x"] - state["buoy_x"], state["y"] - state["buoy_y"]), 0, 200
    ),
)
GHOST = Ghost("round", completed=lambda state: int(abs(state["turned"]) // 360))


@rule
def bearing(state):
    """The direction of the boat as seen from the buoy, in degrees."""
    return math.degrees(math.atan2(state.y - state.buoy_y, state.x - state.buoy_x))


@rule
def init(state):
    place = state.harbour if state.harbour >= 0 else random.below(state, 2**31 - 1)
    state.buoy_x = SIZE / 2 + place % 41 - 20
    state.buoy_y = SIZE / 2
    state.x = state.buoy_x
    state.y = state.buoy_y - 80
    state.speed = 1.0


@rule
def step(state, action, reward):
    before = bearing(state)
    state.heading = (state.heading + 4.0 * action[0]) % 360.0
    state.speed = min(0.97 * state.speed + 0.15 * action[1], TOP_SPEED)
    state.x = state.x + state.speed * math.cos(math.radians(state.heading))
    state.y = state.y + state.speed * math.sin(math.radians(state.heading))
    made = (bearing(state) - before + 180.0) % 360.0 - 180.0
    state.turned = state.turned + made
    reward[0] = made / 360.0
    state.moves += 1
    if not (0.0 < state.x < SIZE and 0.0 < state.y < SIZE):
        state.status = OVER
    elif state.moves >= HORIZON:
        state.status = CUT


@rule
def observe(state, seat, out):
    out.seen[0] = min(max((state.x - state.buoy_x) / SIZE, -1.0), 1.0)
    out.seen[1] = min(max((state.y - state.buoy_y) / SIZE, -1.0), 1.0)
    out.seen[2] = math.cos(math.radians(state.heading))
    out.seen[3] = math.sin(math.radians(state.heading))


@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0, 0, SIZE, SIZE, 0x1F4E6B)
    draw.circle(canvas, state.buoy_x, state.buoy_y, 10, 0xE4572E)
    token(state, canvas, 0xFFD23F)


@rule
def token(state, canvas, color):
    draw.rect(canvas, state.x - 12, state.y - 5, 24, 10, color, 4.0, state.heading)


def action_name(action) -> str:
    return f"rudder {float(action[0]):+.2f} thrust {float(action[1]):.2f}"


def text(state) -> str:
    return f"heading {state['heading']:.1f} speed {state['speed']:.2f} rounds {int(abs(state['turned']) // 360)}"
