"""Goofspiel: both players bid a card in secret for the prize on show; the higher bid takes it.

Each player holds the cards 1 to 13 and uses each once. Prizes 1 to 13 come in random order; with equal bids nobody gets
the prize. The player with more points at the end gets 1, the other -1. All seats act at once.
"""

from ludus.dsl import HEAD, OVER, Discrete, Spec, draw, i8, i16, random, record, rule, within

CARDS = 13
COLORS = (0xFF8A5B, 0x59C2FF)
"""of the two seats"""
SPEC = Spec(seats=2, actions=Discrete(CARDS), turns="simultaneous", horizon=CARDS, zero_sum=True, frame=(480, 330))
STATE = record(**HEAD, round=i8, points=(i16, 2), prizes=(i8, CARDS), bids=(i8, (2, CARDS)))
OBSERVATION = record(
    prize=within(0, CARDS, i8), points=within(0, 91, i16, 2), cards=within(0, 1, i8, 2, CARDS),
    prizes_left=within(0, 1, i8, CARDS),
)  # fmt: skip
"""the current prize; points and remaining cards of the player and the opponent; prizes still to come"""


@rule
def init(state):
    for card in range(CARDS):
        state.prizes[card] = card + 1
    random.shuffle(state, state.prizes, CARDS)


@rule
def step(state, actions, reward):
    for seat in range(2):
        state.bids[seat, state.round] = actions[seat] + 1
    if actions[0] != actions[1]:
        state.points[0 if actions[0] > actions[1] else 1] += state.prizes[state.round]
    state.round += 1
    if state.round == CARDS:
        state.status = OVER
        if state.points[0] != state.points[1]:
            winner = 0 if state.points[0] > state.points[1] else 1
            reward[winner] = 1.0
            reward[1 - winner] = -1.0


@rule
def legal(state, seat, mask):
    for card in range(CARDS):
        mask[card] = 1
    for turn in range(state.round):
        mask[state.bids[seat, turn] - 1] = 0


@rule
def observe(state, seat, out):
    for card in range(CARDS):
        out.cards[0, card] = 1
        out.cards[1, card] = 1
        out.prizes_left[card] = 1
    for turn in range(state.round):
        out.cards[0, state.bids[seat, turn] - 1] = 0
        out.cards[1, state.bids[1 - seat, turn] - 1] = 0
        out.prizes_left[state.prizes[turn] - 1] = 0
    out.prize = 0
    if state.round < CARDS:
        out.prize = state.prizes[state.round]
        out.prizes_left[out.prize - 1] = 0
    out.points[0] = state.points[seat]
    out.points[1] = state.points[1 - seat]


@rule
def redeal(state, seat):
    """Reshuffle the prizes to come, whose order is hidden from both players."""
    for last in range(CARDS - 1, state.round + 1, -1):
        other = state.round + 1 + random.below(state, last - state.round)
        prize = state.prizes[last]
        state.prizes[last] = state.prizes[other]
        state.prizes[other] = prize


@rule
def scene(state, seat, canvas):
    """The opponent's bids above the prizes, the player's own below, and the player's cards at the bottom."""
    draw.rect(canvas, 0, 0, 480, 330, 0x1E2430)
    for turn in range(CARDS):
        x = 36 + 34 * turn
        if turn <= state.round:
            card(canvas, x, 130, state.prizes[turn], 0xFFD23F)
        else:
            draw.rect(canvas, x - 14, 108, 28, 44, 0x39445A, 5.0)
        for side in range(2):
            if turn < state.round:
                card(canvas, x, 200 if side == seat else 60, state.bids[side, turn], COLORS[side])
    draw.integer(canvas, 240, 20, 20, COLORS[1 - seat], state.points[1 - seat])
    draw.integer(canvas, 240, 242, 20, COLORS[seat], state.points[seat])
    draw_hand(state, seat, canvas)


@rule
def draw_hand(state, seat, canvas):
    """The thirteen cards; used cards are shown as empty places."""
    for value in range(1, CARDS + 1):
        x = 36 + 34 * (value - 1)
        held = True
        for turn in range(state.round):
            held = held and state.bids[seat, turn] != value
        if held:
            card(canvas, x, 292, value, COLORS[seat])
        else:
            draw.rect(canvas, x - 14, 270, 28, 44, 0x262E3D, 5.0)
        draw.area(canvas, x - 17, 266, 34, 52, value - 1)


@rule
def card(canvas, x, y, value, color):
    draw.rect(canvas, x - 14, y - 22, 28, 44, color, 5.0)
    draw.integer(canvas, x, y, 18, 0x1E2430, value)


def action_name(action: int) -> str:
    return f"bid {action + 1}"


def text(state) -> str:
    turns = range(state["round"])
    played = [f"prize {state['prizes'][t]}: {state['bids'][0][t]} against {state['bids'][1][t]}" for t in turns]
    shown = f"prize on show: {state['prizes'][state['round']]}" if state["round"] < CARDS else "no prize is left"
    return "\n".join([*played, shown, f"points {state['points'][0]} to {state['points'][1]}"])
