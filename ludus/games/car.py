"""Car: drive as many laps as possible on a closed road with obstacles, using five distance sensors.

The road is the area within `width` pixels of a ring of 100 points, whose radius follows periodic Perlin noise from the
track seed. The car is a point with a heading. In each step it turns by up to 5 degrees, then changes its speed, then
moves; leaving the road or touching an obstacle ends the game, and the horizon truncates it.

Reward: 10 per lap of progress, paid continuously (negative when driving backwards), 1 for each new tenth of a lap in
the right direction, -5 for a crash. Progress is the fraction of the ring passed; time plays no role.
"""

import math

import numpy as np

from ludus.dsl import (
    CUT,
    HEAD,
    OVER,
    Continuous,
    Control,
    Ghost,
    Instrument,
    LudusError,
    Mirror,
    Parameter,
    Spec,
    draw,
    f32,
    f64,
    i16,
    i32,
    i64,
    integer,
    number,
    random,
    record,
    rule,
    within,
)

POINTS, MOST_OBSTACLES, RAYS = 100, 10, 5
SIGHT, TOP_SPEED, TURN, OBSTACLE_RADIUS = 150.0, 5.0, 5.0, 10.0
CENTRE_X, CENTRE_Y, RADIUS = 400.0, 300.0, 198.0
WAVES = ((4, 48.0), (8, 20.0))
"""(lattice points around the circle, height in pixels) of the two octaves of noise: for every seed, the ring stays
between 143 and 253 px from the centre with a radius of curvature above 46 px, so the road never overlaps itself"""
RAY_ANGLES = np.radians([-45.0, -22.5, 0.0, 22.5, 45.0])
PROGRESS_REWARD, CHECKPOINT_REWARD, CRASH_REWARD = 10.0, 1.0, -5.0
NEAR, FAR = 4, 30
"""Number of segments on either side that are searched for the nearest one (a step is 5 px, a segment at least 8), and
the maximum number of consecutive segments whose road can contain one point."""


PACE = 30
"""comfortable playback speed in steps per second"""


def _parse_track(text: str) -> int:
    if text == "random":
        return -1
    if not (text.isascii() and text.isdigit() and int(text) < 2**31):
        raise LudusError(f'"{text}" is neither random nor a whole number from 0 to {2**31 - 1}')
    return int(text)


PARAMETERS = {
    "track": Parameter("random", _parse_track, "the seed of the track, or random for a new one each game", layout=True),
    "width": number(40, 25, 40, "half the width of the road in pixels"),
    "obstacles": integer(5, 0, MOST_OBSTACLES, "the number of obstacles on the road"),
    "horizon": integer(1000, 1, 100_000, "steps after which a game is cut off"),
}
SPEC = Spec(seats=1, actions=Continuous((-1.0, -1.0), (1.0, 1.0)), horizon=100_000, frame=(800, 600))
"""actions: steering (positive is right, since y points down on the screen) and throttle"""
STATE = record(
    **HEAD, segment=i16, track=i64, width=f64, obstacles=i32, horizon=i32, seed=i64, moves=i32, laps=i32,
    checkpoints=i32, x=f64, y=f64, speed=f64, angle=f64, progress=f64, travelled=f64, sensors=(f64, RAYS),
    points=(f32, (POINTS, 2)), stones=(f32, (MOST_OBSTACLES, 2)),
)  # fmt: skip
OBSERVATION = record(sensors=within(0, 1, f32, RAYS + 1))
"""the five distances / 150, then speed / 5"""
MIRROR = Mirror(seen=(4, 3, 2, 1, 0, 5), actions=(-1.0, 1.0))
CONTROLS = (
    Control("steering", labels=("left", "straight", "right"), seconds=1 / 6),
    Control("throttle", axis="vertical"),
)
INSTRUMENTS = (Instrument("speed", "speed", high=TOP_SPEED),)
GHOST = Ghost("lap", completed="laps")
DASHBOARD = "world_model"
"""the algorithm that the studio's dashboard trains it with (`/video_feed`, `/start`, `/control` …)"""


@rule
def slope(seed, wave, index):
    """The slope of the noise at a lattice point, -1 to 1."""
    bits = random.combine(np.uint64(seed), np.uint64(wave * 64 + index))
    return np.float64(bits >> np.uint64(11)) * random.UNIT * 2.0 - 1.0


@rule
def noise(seed, wave, lattice, turn):
    """Perlin noise of period one: slopes at lattice points, blended by 6t⁵ - 15t⁴ + 10t³."""
    place = turn * lattice
    index = int(place)
    t = place - index
    left = slope(seed, wave, index % lattice) * t
    right = slope(seed, wave, (index + 1) % lattice) * (t - 1.0)
    return left + (right - left) * (t * t * t * (t * (t * 6.0 - 15.0) + 10.0))


@rule
def lay_road(state):
    # The noise is zero at its lattice points; a random phase moves them to other places on every track.
    phase = 0.5 + 0.5 * slope(state.seed, 4, 0)
    for point in range(POINTS):
        turn = point / POINTS
        radius = RADIUS
        for wave in range(len(WAVES)):
            radius += 2.0 * WAVES[wave][1] * noise(state.seed, wave, WAVES[wave][0], (turn + phase) % 1.0)
        state.points[point, 0] = CENTRE_X + radius * math.cos(2.0 * math.pi * turn)
        state.points[point, 1] = CENTRE_Y + radius * math.sin(2.0 * math.pi * turn)


@rule
def place_obstacles(state):
    """Spread the obstacles over the lap, none near the start, each somewhat to the left or right of the middle."""
    reach = state.width * 0.5
    for stone in range(state.obstacles):
        spread = slope(state.seed, 2, stone) * 0.25
        place = (0.12 + 0.84 * (stone + 0.5 + spread) / state.obstacles) * POINTS
        index = int(place)
        ax, ay, ux, uy, length = segment_line(state, index)
        along = (place - index) * length
        aside = slope(state.seed, 3, stone) * reach
        state.stones[stone, 0] = ax + along * ux - aside * uy
        state.stones[stone, 1] = ay + along * uy + aside * ux


@rule
def segment_line(state, segment):
    """A segment's first point, its unit direction and its length."""
    ax, ay, ex, ey = segment_ends(state, segment)
    length = math.sqrt(ex * ex + ey * ey)
    return ax, ay, ex / length, ey / length, length


@rule
def segment_ends(state, segment):
    """The first point of a segment and the vector from it to the second."""
    after = segment + 1 if segment + 1 < POINTS else 0
    ax, ay = np.float64(state.points[segment, 0]), np.float64(state.points[segment, 1])
    return ax, ay, np.float64(state.points[after, 0]) - ax, np.float64(state.points[after, 1]) - ay


@rule
def neighbour(segment, offset):
    """The segment `offset` further along the ring."""
    other = segment + offset
    if other >= POINTS:
        return other - POINTS
    return other + POINTS if other < 0 else other


@rule
def gap_squared(state, segment, x, y):
    """The squared distance of a point from a segment, and the position (0 to 1) of the nearest point on it."""
    ax, ay, ex, ey = segment_ends(state, segment)
    px, py = x - ax, y - ay
    along = min(max((px * ex + py * ey) / (ex * ex + ey * ey), 0.0), 1.0)
    px -= along * ex
    py -= along * ey
    return px * px + py * py, along


@rule
def locate(state):
    """Find the nearest segment around the last one; returns the distance to the middle of the road."""
    best = np.inf
    nearest = np.int64(state.segment)
    part = 0.0
    for offset in range(-NEAR, NEAR + 1):
        segment = neighbour(np.int64(state.segment), offset)
        gap, along = gap_squared(state, segment, state.x, state.y)
        if gap < best:
            best = gap
            nearest = segment
            part = along
    state.segment = nearest
    state.progress = (nearest + part) / POINTS
    return math.sqrt(best)


@rule
def disc_span(ox, oy, dx, dy, cx, cy, radius):
    """The interval of a line inside a disc: (from, to), or (inf, -inf) if it misses."""
    closest = (cx - ox) * dx + (cy - oy) * dy
    gap = (cx - ox) * (cx - ox) + (cy - oy) * (cy - oy) - closest * closest
    left = radius * radius - gap
    if left < 0.0:
        return np.inf, -np.inf
    half = math.sqrt(left)
    return closest - half, closest + half


@rule
def leaves_segment(state, segment, ox, oy, dx, dy):
    """Where a line leaves the area within `width` of a segment: a rectangle with a disc at both ends.

    It leaves through a long side if that point is between the ends, else through the disc at the nearer end.
    """
    ax, ay, ex, ey = segment_ends(state, segment)
    px, py = ox - ax, oy - ay
    square = ex * ex + ey * ey
    drift = dy * ex - dx * ey
    limit = state.width * math.sqrt(square)
    side = ((limit if drift > 0.0 else -limit) - (py * ex - px * ey)) / drift if abs(drift) > 1e-9 else np.inf
    toward = dx * ex + dy * ey
    along = px * ex + py * ey + side * toward if side < np.inf else toward
    if side < np.inf and 0.0 <= along <= square:
        return side
    if along > 0.0:
        ax, ay = ax + ex, ay + ey
    _, leave = disc_span(ox, oy, dx, dy, ax, ay, state.width)
    return leave


@rule
def road_ahead(state, ox, oy, dx, dy):
    """The length of the road along a ray.

    From the point where the ray leaves one segment, continue with the furthest neighbour that still contains that
    point, until none does. The radius of curvature exceeds the width, so the segments that contain a point are
    consecutive and none is missed.
    """
    square = state.width * state.width
    segment = np.int64(state.segment)
    gap, _ = gap_squared(state, segment, ox, oy)
    if gap > square:
        return 0.0
    reach = leaves_segment(state, segment, ox, oy, dx, dy)
    while reach < SIGHT:
        further = furthest_holding(state, segment, ox + reach * dx, oy + reach * dy, square)
        if further == segment:
            break
        leave = leaves_segment(state, further, ox, oy, dx, dy)
        if leave <= reach + 1e-7:
            break
        segment = further
        reach = leave
    return reach


@rule
def furthest_holding(state, segment, x, y, square):
    """The last consecutive segment, forwards or else backwards, that contains a point; `segment` if there is none."""
    for direction in (1, -1):
        further = segment
        for _ in range(FAR):
            other = neighbour(further, direction)
            gap, _ = gap_squared(state, other, x, y)
            if gap > square:
                break
            further = other
        if further != segment:
            return further
    return segment


@rule
def sense(state):
    """Measure the five distances to the edge of the road or an obstacle."""
    heading = math.radians(state.angle)
    for ray in range(RAYS):
        dx = math.cos(heading + RAY_ANGLES[ray])
        dy = math.sin(heading + RAY_ANGLES[ray])
        distance = min(road_ahead(state, state.x, state.y, dx, dy), SIGHT)
        for stone in range(state.obstacles):
            sx, sy = np.float64(state.stones[stone, 0]), np.float64(state.stones[stone, 1])
            enter, leave = disc_span(state.x, state.y, dx, dy, sx, sy, OBSTACLE_RADIUS)
            if leave >= 0.0:
                distance = min(distance, max(enter, 0.0))
        state.sensors[ray] = distance


@rule
def hits_obstacle(state):
    for stone in range(state.obstacles):
        gap_x = state.x - np.float64(state.stones[stone, 0])
        gap_y = state.y - np.float64(state.stones[stone, 1])
        if gap_x * gap_x + gap_y * gap_y <= OBSTACLE_RADIUS * OBSTACLE_RADIUS:
            return True
    return False


@rule
def init(state):
    state.seed = state.track if state.track >= 0 else random.below(state, 2**31 - 1)
    lay_road(state)
    place_obstacles(state)
    ax, ay, ux, uy, _ = segment_line(state, 0)
    state.x = ax
    state.y = ay
    state.angle = math.degrees(math.atan2(uy, ux))
    sense(state)


@rule
def step(state, action, reward):
    state.angle = (state.angle + TURN * action[0]) % 360.0
    state.speed = min(max(state.speed + 0.2 * action[1] - 0.01 * state.speed, 0.0), TOP_SPEED)
    heading = math.radians(state.angle)
    state.x = state.x + state.speed * math.cos(heading)
    state.y = state.y + state.speed * math.sin(heading)
    state.moves += 1
    before = state.progress
    gap = locate(state)
    reward[0] = score_progress(state, before)
    if gap > state.width or hits_obstacle(state):
        reward[0] += CRASH_REWARD
        state.status = OVER
    elif state.moves >= state.horizon:
        state.status = CUT
    sense(state)


@rule
def score_progress(state, before):
    """The reward for progress since `before` and for new checkpoints; updates distance, checkpoints and laps."""
    made = state.progress - before
    made -= math.floor(made + 0.5)
    state.travelled = state.travelled + made
    gained = PROGRESS_REWARD * made
    while state.travelled >= (state.checkpoints + 1) * 0.1 - 1e-9:
        state.checkpoints += 1
        gained += CHECKPOINT_REWARD
    state.laps = state.checkpoints // 10
    return gained


@rule
def observe(state, seat, out):
    for ray in range(RAYS):
        out.sensors[ray] = state.sensors[ray] / SIGHT
    out.sensors[RAYS] = state.speed / TOP_SPEED


@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0, 0, 800, 600, 0x24382B)
    draw_road(state, canvas, state.width + 4, 0xD9D4C7)
    draw_road(state, canvas, state.width, 0x3A3F4B)
    for point in range(0, POINTS, 2):
        ax, ay, ux, uy, length = segment_line(state, point)
        draw.line(canvas, ax, ay, ax + ux * length * 0.6, ay + uy * length * 0.6, 2, 0x6B7280)
    ax, ay, ux, uy, _ = segment_line(state, 0)
    draw.line(canvas, ax - uy * (state.width - 4), ay + ux * (state.width - 4),
              ax + uy * (state.width - 4), ay - ux * (state.width - 4), 5, 0xF5F5F5)  # fmt: skip
    for stone in range(state.obstacles):
        draw.circle(canvas, state.stones[stone, 0], state.stones[stone, 1], OBSTACLE_RADIUS, 0xE4572E)
        draw.circle(canvas, state.stones[stone, 0], state.stones[stone, 1], OBSTACLE_RADIUS * 0.55, 0xFFE8D6)
    draw_car(state, canvas)
    draw.text(canvas, 400, 275, 22, 0xE8EAED, b"lap")
    draw.integer(canvas, 400, 315, 46, 0xFFB454, state.laps)


@rule
def draw_road(state, canvas, half, color):
    for point in range(POINTS):
        ax, ay, ux, uy, length = segment_line(state, point)
        draw.line(canvas, ax, ay, ax + ux * length, ay + uy * length, 2.0 * half, color)


@rule
def draw_car(state, canvas):
    heading = math.radians(state.angle)
    for ray in range(RAYS):
        reach = state.sensors[ray]
        tip_x = state.x + reach * math.cos(heading + RAY_ANGLES[ray])
        tip_y = state.y + reach * math.sin(heading + RAY_ANGLES[ray])
        draw.line(canvas, state.x, state.y, tip_x, tip_y, 1.5, 0x59C2FF)
        draw.circle(canvas, tip_x, tip_y, 3, 0x59C2FF)
    token(state, canvas, 0xFFD23F)


@rule
def token(state, canvas, color):
    """Draw only the car, for pictures of many cars on one road."""
    heading = math.radians(state.angle)
    draw.rect(canvas, state.x - 12, state.y - 7, 24, 14, color, 4.0, state.angle)
    draw.rect(canvas, state.x + 3 * math.cos(heading) - 4, state.y + 3 * math.sin(heading) - 5, 8, 10,
              0x1E2430, 2.0, state.angle)  # fmt: skip


def dream(state, observations, actions):
    """The path from a state that imagined actions [H, 2] and observations [H, RAYS + 1] imply, by dead reckoning.

    Returns points [H + 1, 2] of the path, the first at the car, and tips [H, RAYS, 2] of the imagined rays along it.
    """
    observations, actions = np.asarray(observations, float), np.asarray(actions, float)
    headings = np.radians(float(state["angle"]) + TURN * np.cumsum(actions[:, 0]))
    ways = TOP_SPEED * observations[:, RAYS, None] * np.stack([np.cos(headings), np.sin(headings)], axis=1)
    start = np.array([[state["x"], state["y"]]], float)
    points = np.concatenate([start, start + np.cumsum(ways, axis=0)])
    looks = headings[:, None] + RAY_ANGLES
    rays = np.stack([np.cos(looks), np.sin(looks)], axis=2)
    return points, points[1:, None] + SIGHT * observations[:, :RAYS, None] * rays


def action_name(action) -> str:
    steering, throttle = (float(part) for part in action)
    return f"steer {steering:+.2f} throttle {throttle:+.2f}"


def text(state) -> str:
    sensors = " ".join(f"{distance:5.1f}" for distance in state["sensors"])
    place = f"({state['x']:.1f}, {state['y']:.1f}) heading {state['angle']:.1f} speed {state['speed']:.2f}"
    return f"track {state['seed']} lap {state['laps']} at {100 * state['progress']:.1f} %: {place} sensors {sensors}"
