"""Recall: a symbol is shown once; many distracting symbols later you are asked which it was.

The first symbol is one of `cues`; then `delay` random symbols of the same kinds follow, which are irrelevant; then
comes the question. A right answer is worth 1, a wrong one 0. Before the question the only action is to wait, so actions
cannot store the answer: without memory the success rate is 1 / `cues`, with memory it is 1.
"""

from ludus.dsl import HEAD, OVER, Discrete, Spec, draw, i8, i16, integer, random, record, rule, within

MOST_CUES, LONGEST_DELAY = 8, 200
PACE = 4
SPEC = Spec(seats=1, actions=Discrete(1 + MOST_CUES), horizon=LONGEST_DELAY + 2, frame=(480, 320))
PARAMETERS = {
    "cues": integer(4, 2, MOST_CUES, "how many symbols there are"),
    "delay": integer(30, 1, LONGEST_DELAY, "how many distracting symbols come between the cue and the question"),
}
STATE = record(**HEAD, cues=i8, cue=i8, symbol=i8, answer=i8, delay=i16, moves=i16)
OBSERVATION = record(symbol=within(0, MOST_CUES, i8), moment=within(0, 2, i8))
"""the visible symbol, 0 for none; moment: 0 for the cue, 1 for a distraction, 2 for the question"""

WAIT, CUE, DISTRACTION, QUESTION = 0, 0, 1, 2
NAMES = ("nothing", "disc", "square", "diamond", "cross", "plus", "ring", "bar", "dots")
GROUND, CARD, GREY, RIGHT, WRONG = 0x1E2430, 0x2B3446, 0x55617A, 0x7BD88F, 0xEE4266


@rule
def moment(state):
    """CUE, DISTRACTION or QUESTION: what the player sees now."""
    if state.moves == 0:
        return CUE
    return DISTRACTION if state.moves <= state.delay else QUESTION


@rule
def init(state):
    state.cue = 1 + random.below(state, state.cues)
    state.symbol = state.cue


@rule
def step(state, action, reward):
    if moment(state) == QUESTION:
        state.answer = action
        state.status = OVER
        if state.answer == state.cue:
            reward[0] = 1.0
        return
    state.moves += 1
    state.symbol = 0
    if moment(state) == DISTRACTION:
        state.symbol = 1 + random.below(state, state.cues)


@rule
def legal(state, seat, mask):
    at_question = moment(state) == QUESTION
    mask[WAIT] = not at_question
    for symbol in range(1, MOST_CUES + 1):
        mask[symbol] = at_question and symbol <= state.cues


@rule
def observe(state, seat, out):
    out.symbol = state.symbol
    out.moment = moment(state)


@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0, 0, 480, 320, GROUND)
    if moment(state) == QUESTION:
        ask(state, canvas)
    else:
        show_symbol(state, canvas)
    x = 60 + 360 * state.moves / (state.delay + 1)
    draw.line(canvas, 60, 290, 420, 290, 6, CARD)
    draw.line(canvas, 60, 290, x, 290, 6, GREY)
    draw.circle(canvas, x, 290, 9, 0xFFB454)


@rule
def show_symbol(state, canvas):
    """One symbol on its card; the cue has a bright rim, so that people know what to remember."""
    is_cue = moment(state) == CUE
    draw.rect(canvas, 160, 70, 160, 180, 0xFFB454 if is_cue else GREY, 18.0)
    draw.rect(canvas, 166, 76, 148, 168, CARD, 14.0)
    glyph(canvas, 240, 160, 46, state.symbol, CARD)
    draw.area(canvas, 160, 70, 160, 180, WAIT)
    if is_cue:
        draw.text(canvas, 240, 38, 24, 0xFFB454, b"Remember this one")
    else:
        draw.text(canvas, 240, 38, 24, 0x8A94A6, b"Never mind these")


@rule
def ask(state, canvas):
    """All symbols to choose from; after the answer, the right one has a green rim and a wrong choice a red one."""
    draw.text(canvas, 240, 38, 24, 0xE6EAF2, b"Which one was it?")
    columns = 4 if state.cues > 4 else state.cues
    rows = 2 if state.cues > 4 else 1
    for symbol in range(1, state.cues + 1):
        x = 240 + 104 * ((symbol - 1) % columns - (columns - 1) / 2)
        y = 165 + 100 * ((symbol - 1) // columns - (rows - 1) / 2)
        rim = CARD
        if state.status == OVER and symbol == state.cue:
            rim = RIGHT
        elif symbol == state.answer:
            rim = WRONG
        draw.rect(canvas, x - 46, y - 46, 92, 92, rim, 14.0)
        draw.rect(canvas, x - 41, y - 41, 82, 82, CARD, 10.0)
        glyph(canvas, x, y, 24, symbol, CARD)
        draw.area(canvas, x - 46, y - 46, 92, 92, symbol)


@rule
def glyph(canvas, x, y, size, symbol, behind):
    """A symbol has a shape and a colour of its own; `behind` is the colour seen through the ring."""
    if symbol == 1:
        draw.circle(canvas, x, y, size, 0xEE4266)
    elif symbol == 2:
        draw.rect(canvas, x - 0.85 * size, y - 0.85 * size, 1.7 * size, 1.7 * size, 0x59C2FF, 0.15 * size)
    elif symbol == 3:
        draw.rect(canvas, x - 0.75 * size, y - 0.75 * size, 1.5 * size, 1.5 * size, 0xFFD23F, 0.1 * size, 45.0)
    elif symbol == 4:
        draw.line(canvas, x - 0.75 * size, y - 0.75 * size, x + 0.75 * size, y + 0.75 * size, 0.5 * size, 0x7BD88F)
        draw.line(canvas, x - 0.75 * size, y + 0.75 * size, x + 0.75 * size, y - 0.75 * size, 0.5 * size, 0x7BD88F)
    elif symbol == 5:
        draw.line(canvas, x - 0.8 * size, y, x + 0.8 * size, y, 0.5 * size, 0xC792EA)
        draw.line(canvas, x, y - 0.8 * size, x, y + 0.8 * size, 0.5 * size, 0xC792EA)
    elif symbol == 6:
        draw.circle(canvas, x, y, size, 0xFF8A5B)
        draw.circle(canvas, x, y, 0.55 * size, behind)
    elif symbol == 7:
        draw.line(canvas, x - 0.75 * size, y, x + 0.75 * size, y, 0.55 * size, 0x5CE1C6)
    elif symbol == 8:
        draw.circle(canvas, x - 0.55 * size, y, 0.42 * size, 0xF5A9CB)
        draw.circle(canvas, x + 0.55 * size, y, 0.42 * size, 0xF5A9CB)


def action_name(action: int) -> str:
    return "wait" if action == WAIT else NAMES[action]


def text(state) -> str:
    if state["status"] == OVER:
        return f"it was the {NAMES[state['cue']]}; the answer: {NAMES[state['answer']]}"
    if state["moves"] > state["delay"]:
        return "which one was it?"
    note = "remember this one" if state["moves"] == 0 else f"never mind this one ({state['moves']} of {state['delay']})"
    return f"{NAMES[state['symbol']]}: {note}"
