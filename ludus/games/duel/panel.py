"""The right side of the picture: life points, turn and phase, the chain, the question and its answers."""

from ludus.games.duel import questions
from ludus.games.duel.actions import FINISH
from ludus.games.duel.layout import PANEL_LEFT, PANEL_MIDDLE, PANEL_WIDTH
from ludus.games.duel.pieces import (
    BOX, COLORS, CYAN, GOLD, GREY, INK, KINDS, NAMES, PANEL, RED, RIM, SAME, SAYS, SAY_COUNTS, WHITE, badge, fitted,
    known, word_table, written,
)  # fmt: skip
from ludus.games.duel.questions import answer_of, is_asked, is_on_card, option_of, question_of
from ludus.games.duel.state import (
    ACTIVATES, ATTACKS, CARD, CHAIN, CHOOSES, DECLARES, DRAW_PHASE, END, FINISHES, HAND_PILE, MAIN_1, MAIN_2,
    MOST_ACTIONS, NOBODY, PASSES, PICKS, PLACES, POSITIONS, SAYS_YES, STANDBY, SUM, TO_BATTLE, TO_END, TO_MAIN_2,
    TRIBUTE, UNPICKS,
)  # fmt: skip
from ludus.dsl import PLAYING, draw, rule

TOP, BOTTOM = 122.0, 596.0
"""chain, question, texts and buttons are drawn between them"""
PHASE_NAMES = word_table(("DP", "SP", "M1", "BP", "M2", "EP"))
PLACE_NAMES = word_table(("deck", "hand", "field", "field", "grave", "banished", "extra", "below"))
"""by bit of the place"""
YOURS, THEIRS = 0x2F6FB5, 0xA8433F
USUAL_POINTS = 8000
LINKS_SHOWN, TALLEST, LOW_BUTTON = 6, 24.0, 30.0
SAY_SIZE, SAY_STEP = 9.8, 11.6


@rule
def paint_panel(state, canvas, seat):
    draw.rect(canvas, PANEL_LEFT - 6.0, 3.0, PANEL_WIDTH + 12.0, 654.0, PANEL, 12.0)
    paint_life(state, canvas, 1 - seat, 8.0, THEIRS, b"OPPONENT")
    paint_phase(state, canvas, seat)
    y = paint_links(state, canvas, seat, TOP)
    bottom = BOTTOM
    if is_asked(state, seat):
        y = paint_question(state, canvas, y)
        bottom = paint_buttons(state, canvas, y)
    elif state.status == PLAYING:
        draw.text(canvas, PANEL_MIDDLE, y + 10.0, 13.0, GREY, b"The opponent decides")
        y += 26.0
    paint_says(state, canvas, seat, y, bottom)
    paint_life(state, canvas, seat, 602.0, YOURS, b"YOU")


@rule
def paint_life(state, canvas, side, y, color, words):
    """Life points as a number and a bar; the turn player has a bright border."""
    if state.turn_player == side and state.status == PLAYING:
        draw.rect(canvas, PANEL_LEFT - 2.0, y - 2.0, PANEL_WIDTH + 4.0, 54.0, GOLD, 9.0)
    draw.rect(canvas, PANEL_LEFT, y, PANEL_WIDTH, 50.0, BOX, 8.0)
    written(canvas, PANEL_LEFT + 10.0, y + 17.0, 11.0, GREY, words)
    life = max(0, state.life[side])
    draw.integer(canvas, PANEL_LEFT + PANEL_WIDTH - 44.0, y + 18.0, 24.0, WHITE, life)
    most = max(state.points, USUAL_POINTS)
    long = PANEL_WIDTH - 20.0
    draw.rect(canvas, PANEL_LEFT + 10.0, y + 36.0, long, 8.0, RIM, 4.0)
    if life > 0:
        draw.rect(canvas, PANEL_LEFT + 10.0, y + 36.0, max(8.0, long * min(1.0, life / most)), 8.0, color, 4.0)


@rule
def phase_number(phase):
    """Draw, standby, first main phase, battle, second main phase, end: 0 to 5."""
    if phase <= DRAW_PHASE:
        return 0
    if phase == STANDBY:
        return 1
    if phase == MAIN_1:
        return 2
    if phase == MAIN_2:
        return 4
    return 5 if phase == END else 3


@rule
def paint_phase(state, canvas, seat):
    """The turn and its phases; the current one is highlighted."""
    mine = state.turn_player == seat
    written(canvas, PANEL_LEFT + 4.0, 73.0, 12.0, WHITE, b"Turn")
    draw.integer(canvas, PANEL_LEFT + 46.0, 73.0, 13.0, WHITE, state.turn)
    if mine:
        written(canvas, PANEL_LEFT + 66.0, 73.0, 12.0, CYAN, b"yours")
    else:
        written(canvas, PANEL_LEFT + 66.0, 73.0, 12.0, 0xFF8A80, b"opponent's")
    now = phase_number(state.phase)
    step = PANEL_WIDTH / 6.0
    for phase in range(6):
        lit = phase == now
        color = (YOURS if mine else THEIRS) if lit else BOX
        draw.rect(canvas, PANEL_LEFT + step * phase + 1.0, 84.0, step - 2.0, 22.0, color, 5.0)
        draw.text(canvas, PANEL_LEFT + step * (phase + 0.5), 95.0, 12.0, WHITE if lit else GREY, PHASE_NAMES[phase])
    if state.in_damage_step:
        draw.text(canvas, PANEL_LEFT + PANEL_WIDTH - 26.0, 73.0, 11.0, RED, b"damage")


@rule
def paint_links(state, canvas, seat, y):
    """Draw the chain, the newest link last; the y below it."""
    if state.links == 0:
        return y
    first = max(0, state.links - LINKS_SHOWN)
    written(canvas, PANEL_LEFT + 4.0, y + 2.0, 10.0, GREY, b"CHAIN")
    y += 12.0
    for link in range(first, state.links):
        entry = state.chain[link]
        draw.rect(canvas, PANEL_LEFT, y, PANEL_WIDTH, 19.0, YOURS if entry.player == seat else THEIRS, 5.0)
        badge(canvas, PANEL_LEFT + 11.0, y + 9.5, 7.0, GOLD, INK, link + 1)
        fitted(canvas, PANEL_MIDDLE + 10.0, y + 9.5, PANEL_WIDTH - 30.0, 11.0, WHITE, NAMES[entry.code])
        y += 22.0
    return y + 6.0


@rule
def paint_question(state, canvas, y):
    """The question, its card, and how many cards are chosen."""
    fitted(canvas, PANEL_MIDDLE, y + 8.0, PANEL_WIDTH - 4.0, 15.0, GOLD, questions.QUESTION_WORDS[question_of(state)])
    y += 24.0
    c = questions.subject_of(state)
    bit = 0
    if state.question == CHAIN and state.links == 0:
        c, bit = questions.happening(state)
    if c != NOBODY and known(state, c, state.asked):
        fitted(canvas, PANEL_MIDDLE, y + 2.0, PANEL_WIDTH - 8.0, 12.0, WHITE, NAMES[state.cards[c].code])
        y += 16.0
        if bit:
            draw.text(canvas, PANEL_MIDDLE, y + 2.0, 11.0, GREY, questions.HAPPENING_WORDS[bit])
            y += 16.0
    if state.question == SUM or ((state.question == CARD or state.question == TRIBUTE) and state.most > 1):
        paint_count(state, canvas, y)
        y += 18.0
    return y


@rule
def paint_count(state, canvas, y):
    """The number of cards (or levels) chosen so far and required."""
    got = int(state.chosen_count)
    goal = int(state.fewest)
    if state.question == SUM:
        goal = int(state.goal)
        got = 0
        for k in range(state.chosen_count):
            got += state.options[state.chosen[k]].value
    written(canvas, PANEL_LEFT + 30.0, y + 2.0, 11.0, GREY, b"chosen")
    draw.integer(canvas, PANEL_LEFT + 80.0, y + 2.0, 12.0, WHITE, got)
    written(canvas, PANEL_LEFT + 94.0, y + 2.0, 11.0, GREY, b"of")
    draw.integer(canvas, PANEL_LEFT + 116.0, y + 2.0, 12.0, WHITE, goal)
    if state.question != SUM and state.most > state.fewest:
        written(canvas, PANEL_LEFT + 126.0, y + 2.0, 11.0, GREY, b"to")
        draw.integer(canvas, PANEL_LEFT + 146.0, y + 2.0, 12.0, WHITE, state.most)


@rule
def named_card(state, at):
    """The card of an option; NOBODY for plain answers."""
    if at < 0:
        return NOBODY + 0
    option = state.options[at]
    if option.kind <= ACTIVATES or option.kind == ATTACKS or option.kind == PICKS or option.kind == UNPICKS:
        return option.card + 0
    return NOBODY + 0


@rule
def is_row(state, action):
    """Whether an action concerns a card that cannot be clicked: in a pile, or a material."""
    at = option_of(state, action)
    return at >= 0 and named_card(state, at) != NOBODY and not is_on_card(state, state.options[at])


@rule
def is_plain(state, action):
    """Whether an action is a plain text answer."""
    at = option_of(state, action)
    if at < 0:
        return at != questions.NOTHING
    return named_card(state, at) == NOBODY and state.options[at].kind != PLACES


@rule
def paint_buttons(state, canvas, top):
    """Draw buttons from the bottom up: text answers, then cards of piles; the y above them."""
    rows = 0
    plain = 0
    for action in range(MOST_ACTIONS):
        rows += is_row(state, action)
        plain += is_plain(state, action)
    low = min(LOW_BUTTON, (BOTTOM - top) / max(1, plain))
    begin = BOTTOM - low * plain
    y = begin
    for action in range(MOST_ACTIONS):
        if is_plain(state, action):
            paint_plain(state, canvas, action, y, low)
            y += low
    tall = min(TALLEST, (begin - top) / max(1, rows))
    begin -= tall * rows
    y = begin
    for action in range(MOST_ACTIONS):
        if is_row(state, action):
            paint_row(state, canvas, action, y, tall)
            y += tall
    return begin


@rule
def paint_plain(state, canvas, action, y, tall):
    at = option_of(state, action)
    kind = FINISHES if at == FINISH else PASSES if at < 0 else int(state.options[at].kind)
    words = FINISHES if at == FINISH else questions.MORE_ANSWER if at < 0 else answer_of(state, state.options[at])
    color = 0x33445E
    ink = WHITE
    if kind == TO_BATTLE:
        color = RED
    elif kind == SAYS_YES or kind == FINISHES:
        color = 0x2E8B57
    elif kind == TO_MAIN_2 or kind == POSITIONS or kind == CHOOSES or kind == DECLARES:
        color = YOURS
    elif kind == TO_END:
        color = GOLD
        ink = INK
    draw.rect(canvas, PANEL_LEFT, y + 1.0, PANEL_WIDTH, tall - 3.0, color, 7.0)
    size = min(14.0, 0.6 * tall)
    fitted(canvas, PANEL_MIDDLE, y + tall / 2.0 - 0.5, PANEL_WIDTH - 10.0, size, ink, questions.ANSWER_WORDS[words])
    draw.area(canvas, PANEL_LEFT, y + 1.0, PANEL_WIDTH, tall - 3.0, action)


@rule
def paint_row(state, canvas, action, y, tall):
    """A button for a card of a pile: its color, its name, and its location or the action."""
    option = state.options[option_of(state, action)]
    c = option.card
    card = state.cards[c]
    draw.rect(canvas, PANEL_LEFT, y + 1.0, PANEL_WIDTH, tall - 2.0, 0x33445E, 5.0)
    draw.rect(canvas, PANEL_LEFT, y + 1.0, 9.0, tall - 2.0, COLORS[KINDS[card.code]], 4.0)
    size = min(11.5, 0.6 * tall)
    fitted(canvas, PANEL_MIDDLE - 18.0, y + tall / 2.0, PANEL_WIDTH - 66.0, size, WHITE, NAMES[card.code])
    right = PANEL_LEFT + PANEL_WIDTH - 26.0
    if option.kind == PICKS or option.kind == UNPICKS:
        bit = 0
        while card.place >> bit > 1:
            bit += 1
        fitted(canvas, right, y + tall / 2.0, 46.0, 0.8 * size, GREY, PLACE_NAMES[bit])
    else:
        fitted(canvas, right, y + tall / 2.0, 46.0, 0.8 * size, GOLD, questions.ANSWER_WORDS[answer_of(state, option)])
    draw.area(canvas, PANEL_LEFT, y + 1.0, PANEL_WIDTH, tall - 2.0, action)


@rule
def paint_says(state, canvas, seat, y, bottom):
    """Effects of cards: the card of the question, the newest link, usable cards, then the hand."""
    first = NOBODY + 0
    c = questions.subject_of(state) if is_asked(state, seat) else NOBODY + 0
    if c != NOBODY and known(state, c, seat):
        first = SAME[state.cards[c].code]
        y = paint_say(canvas, y, bottom, first, True)
    elif state.links:
        first = SAME[state.chain[state.links - 1].code]
        y = paint_say(canvas, y, bottom, first, False)
    if is_asked(state, seat):
        for action in range(MOST_ACTIONS):
            c = named_card(state, option_of(state, action))
            if c != NOBODY and known(state, c, seat) and not is_written(state, c, action, first):
                y = paint_say(canvas, y, bottom, state.cards[c].code, False)
    for k in range(state.sizes[seat, HAND_PILE]):
        c = state.piles[seat, HAND_PILE, k]
        written = is_asked(state, seat) and is_written(state, c, MOST_ACTIONS, first)
        if not written and not in_hand_before(state, seat, k):
            y = paint_say(canvas, y, bottom, state.cards[c].code, False)


@rule
def is_written(state, c, action, first):
    """Whether the effect of a card of this name was already written."""
    code = SAME[state.cards[c].code]
    if code == first:
        return True
    for other in range(action):
        before = named_card(state, option_of(state, other))
        if before != NOBODY and known(state, before, state.asked) and SAME[state.cards[before].code] == code:
            return True
    return False


@rule
def in_hand_before(state, seat, k):
    """Whether a card of the same name comes earlier in the hand."""
    for other in range(k):
        if state.cards[state.piles[seat, HAND_PILE, other]].code == state.cards[state.piles[seat, HAND_PILE, k]].code:
            return True
    return False


@rule
def paint_say(canvas, y, bottom, code, named):
    """Write a card's name (unless it was written already) and its effect, if there is room; the y below it."""
    count = int(SAY_COUNTS[code])
    high = SAY_STEP * count + (4.0 if named else 16.0)
    if count == 0 or y + high > bottom - 4.0:
        return y
    if not named:
        fitted(canvas, PANEL_MIDDLE, y + 6.0, PANEL_WIDTH - 8.0, 11.0, WHITE, NAMES[code])
        y += 13.0
    for line in range(count):
        draw.text(canvas, PANEL_MIDDLE, y + 6.0 + SAY_STEP * line, SAY_SIZE, GREY, SAYS[code, line])
    return y + SAY_STEP * count + 8.0
