"""The duel as a picture, seen from one seat: own half below, the opponent's above, the question at the right.

Cards that the seat does not know are drawn as backs without a name.
"""

from ludus.games.duel import layout, panel, questions, values
from ludus.games.duel.layout import (
    HAND_WIDTH, HEIGHT, LEFT, MIDDLE_Y, MONSTER_LONG, RIGHT, SPELL_HEIGHT, SPELL_WIDTH, WIDTH, size_of, spot, spot_of,
)  # fmt: skip
from ludus.games.duel.pieces import (
    BACK, BOX, CYAN, EXTRA_BACK, FELT, GOLD, GREEN, GREY, INK, KINDS, LINK, OTHER_FELT, PANEL, RED, RIM, THREAD, WHITE,
    ZONE, badge, button, fitted, framed, known, paint_back, paint_body, paint_hidden, paint_in_hand, paint_monster,
    paint_named, paint_spell,
)  # fmt: skip
from ludus.games.duel.questions import actions_on, answer_of, is_asked, is_on_card, option_of
from ludus.games.duel.state import (
    ATTACKS, BANISHED_PILE, BATTLE, BATTLE_END, BATTLE_START, DECK_PILE, EXTRA_PILE, FIELD_ZONE, GRAVE_PILE, HAND_PILE,
    MOST_ACTIONS, NOBODY, PICKS, PLACES,
)  # fmt: skip
from ludus.games.duel.tables import CARDS
from ludus.games.duel.tables import words as w
from ludus.dsl import PLAYING, draw, rule

BATTLING = BATTLE_START | 16 | 32 | 64 | BATTLE_END


@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0.0, 0.0, WIDTH, HEIGHT, RIM, 0.0)
    draw.rect(canvas, 3.0, 3.0, RIGHT + 2.0, HEIGHT - 6.0, FELT, 12.0)
    draw.rect(canvas, 3.0, 3.0, RIGHT + 2.0, MIDDLE_Y - 3.0, OTHER_FELT, 12.0)
    draw.rect(canvas, 3.0, MIDDLE_Y - 12.0, RIGHT + 2.0, 24.0, FELT, 0.0)
    draw.line(canvas, LEFT + 100.0, MIDDLE_Y, RIGHT - 100.0, MIDDLE_Y, 1.5, ZONE)
    paint_zones(state, canvas, seat)
    paint_equips(state, canvas, seat)
    for side in range(2):
        paint_piles(state, canvas, seat, side)
        paint_field(state, canvas, seat, side)
        paint_hand(state, canvas, seat, side)
    paint_attack(state, canvas, seat)
    paint_chain(state, canvas, seat)
    panel.paint_panel(state, canvas, seat)
    if is_asked(state, seat):
        paint_places(state, canvas, seat)
        paint_actions(state, canvas, seat)
    if state.status != PLAYING:
        paint_end(state, canvas, seat)


@rule
def empty_zone(canvas, x, y, width, height):
    draw.rect(canvas, x - width / 2.0, y - height / 2.0, width, height, ZONE, 7.0)
    draw.rect(canvas, x - width / 2.0 + 1.5, y - height / 2.0 + 1.5, width - 3.0, height - 3.0, RIM, 6.0)


@rule
def paint_zones(state, canvas, seat):
    """Draw the empty zones."""
    for side in range(2):
        mine = side == seat
        for zone in range(5):
            x, y = spot(mine, w.MZONE, zone, 0)
            empty_zone(canvas, x, y, MONSTER_LONG, MONSTER_LONG)
            x, y = spot(mine, w.SZONE, zone, 0)
            empty_zone(canvas, x, y, MONSTER_LONG, SPELL_HEIGHT)
        x, y = spot(mine, w.SZONE, FIELD_ZONE, 0)
        empty_zone(canvas, x, y, SPELL_WIDTH + 8.0, SPELL_HEIGHT)
        if state.spells[side, FIELD_ZONE] == NOBODY:
            draw.text(canvas, x, y, 11.0, 0x3D5274, b"field")
    for zone in range(5, 7):
        x, y = spot(True, w.MZONE, zone, 0)
        empty_zone(canvas, x, y, MONSTER_LONG, MONSTER_LONG)


@rule
def paint_equips(state, canvas, seat):
    """Draw a line from every equip card to its monster, below the cards."""
    for side in range(2):
        for zone in range(5):
            c = state.spells[side, zone]
            if c != NOBODY and state.cards[c].equipped_to != NOBODY:
                x, y = spot_of(state, c, seat)
                to_x, to_y = spot_of(state, state.cards[c].equipped_to, seat)
                draw.line(canvas, x, y, to_x, to_y, 2.5, THREAD)


@rule
def paint_piles(state, canvas, seat, side):
    mine = side == seat
    x, y = spot(mine, w.DECK, 0, 0)
    paint_pile_of_backs(canvas, x, y, BACK, int(state.sizes[side, DECK_PILE]), b"deck")
    x, y = spot(mine, w.EXTRA, 0, 0)
    paint_pile_of_backs(canvas, x, y, EXTRA_BACK, int(state.sizes[side, EXTRA_PILE]), b"extra")
    x, y = spot(mine, w.GRAVE, 0, 0)
    paint_open_pile(state, canvas, seat, side, GRAVE_PILE, x, y, b"grave")
    x, y = spot(mine, w.BANISHED, 0, 0)
    paint_open_pile(state, canvas, seat, side, BANISHED_PILE, x, y, b"banished")


@rule
def paint_pile_of_backs(canvas, x, y, color, count, words):
    left = x - SPELL_WIDTH / 2.0
    top = y - SPELL_HEIGHT / 2.0
    if count == 0:
        empty_zone(canvas, x, y, SPELL_WIDTH + 8.0, SPELL_HEIGHT)
        draw.text(canvas, x, y, 11.0, 0x3D5274, words)
        return
    for layer in range(min(3, 1 + count // 8)):
        paint_back(canvas, left + 2.0 * layer, top - 2.0 * layer, SPELL_WIDTH, SPELL_HEIGHT - 2.0, color)
    badge(canvas, x + 22.0, y + 30.0, 9.0, BOX, WHITE, count)


@rule
def paint_open_pile(state, canvas, seat, side, pile, x, y, words):
    """Draw the graveyard or the banished cards: the top card, and the count."""
    count = int(state.sizes[side, pile])
    if count == 0:
        empty_zone(canvas, x, y, SPELL_WIDTH + 8.0, SPELL_HEIGHT)
        draw.text(canvas, x, y, 11.0, 0x3D5274, words)
        return
    left = x - SPELL_WIDTH / 2.0
    top = y - SPELL_HEIGHT / 2.0
    c = state.piles[side, pile, count - 1]
    if count > 1:
        draw.rect(canvas, left + 3.0, top - 3.0, SPELL_WIDTH, SPELL_HEIGHT, GREY, 6.0)
    if known(state, c, seat):
        paint_named(canvas, left, top, SPELL_WIDTH, SPELL_HEIGHT, state.cards[c].code)
    else:
        paint_back(canvas, left, top, SPELL_WIDTH, SPELL_HEIGHT, BACK)
    draw.rect(canvas, left + 1.5, top + SPELL_HEIGHT - 15.0, SPELL_WIDTH - 3.0, 13.5, BOX, 4.0)
    draw.text(canvas, x - 6.0, top + SPELL_HEIGHT - 8.5, 8.5, GREY, words)
    badge(canvas, x + 24.0, y + 30.0, 9.0, BOX, WHITE, count)


@rule
def border(state, c, seat):
    """The border color of a card that can be used or was chosen; 0 for none."""
    if is_asked(state, seat):
        if actions_on(state, c):
            return GOLD
        if c == questions.subject_of(state):
            return CYAN
        for k in range(state.chosen_count):
            if state.options[state.chosen[k]].card == c and state.options[state.chosen[k]].kind == PICKS:
                return GREEN
    if c == state.attacker or c == state.attack_target:
        return RED if state.attacker != NOBODY and state.phase & BATTLING else 0
    return 0


@rule
def paint_field(state, canvas, seat, side):
    for zone in range(7):
        if state.monsters[side, zone] != NOBODY:
            paint_on_field(state, canvas, seat, state.monsters[side, zone])
    for zone in range(6):
        if state.spells[side, zone] != NOBODY:
            paint_on_field(state, canvas, seat, state.spells[side, zone])


@rule
def paint_on_field(state, canvas, seat, c):
    """Draw a card on the field with border, materials and badges."""
    card = state.cards[c]
    x, y = spot_of(state, c, seat)
    width, height = size_of(state, c, seat)
    left = x - width / 2.0
    top = y - height / 2.0
    for below in range(card.overlays):
        shift = 3.0 * (card.overlays - below)
        paint_body(canvas, left + shift, top - shift, width, height, state.cards[card.overlay[below]].code)
    color = border(state, c, seat)
    if color:
        framed(canvas, left, top, width, height, color, 2.5)
    if card.position & w.DOWN:
        if known(state, c, seat):
            paint_hidden(canvas, left, top, width, height, card.code)
        else:
            paint_back(canvas, left, top, width, height, BACK)
        return
    if card.place == w.MZONE:
        paint_monster(state, canvas, left, top, width, height, c)
        if KINDS[card.code] == LINK:
            paint_markers(canvas, left, top, width, height, CARDS[card.code].markers, card.controller == seat)
    else:
        paint_spell(canvas, left, top, width, height, card.code)
    if values.negated(state, c):
        draw.line(canvas, left + 6.0, top + 6.0, left + width - 6.0, top + height - 6.0, 2.5, RED)
        draw.line(canvas, left + width - 6.0, top + 6.0, left + 6.0, top + height - 6.0, 2.5, RED)
    if card.overlays:
        badge(canvas, left + 3.0, top + height - 4.0, 8.0, WHITE, INK, card.overlays)
    if card.counters:
        badge(canvas, left + width - 3.0, top + height - 4.0, 8.0, 0x9A5FE0, WHITE, card.counters)


@rule
def paint_markers(canvas, x, y, width, height, markers, mine):
    """Draw the arrows of a Link monster."""
    turn = 1.0 if mine else -1.0
    for row in range(3):
        for place in range(3):
            bit = 3 * row + place
            if markers >> bit & 1:
                dot_x = x + width / 2.0 + turn * (place - 1.0) * width / 2.0
                dot_y = y + height / 2.0 - turn * (row - 1.0) * height / 2.0
                draw.rect(canvas, dot_x - 4.5, dot_y - 4.5, 9.0, 9.0, RIM, 0.0, 45.0)
                draw.rect(canvas, dot_x - 3.0, dot_y - 3.0, 6.0, 6.0, 0xFF7A2F, 0.0, 45.0)


@rule
def paint_hand(state, canvas, seat, side):
    for k in range(state.sizes[side, HAND_PILE]):
        c = state.piles[side, HAND_PILE, k]
        x, y = spot_of(state, c, seat)
        width, height = size_of(state, c, seat)
        left = x - width / 2.0
        top = y - height / 2.0
        color = border(state, c, seat)
        if color:
            framed(canvas, left, top, width, height, color, 2.5)
        if side == seat:
            paint_in_hand(canvas, left, top, width, height, state.cards[c].code)
        else:
            paint_back(canvas, left, top, width, height, BACK)


@rule
def paint_attack(state, canvas, seat):
    """Draw an arrow from the attacker to its target, or to the opponent's hand for a direct attack."""
    a = state.attacker
    if a == NOBODY or state.phase & BATTLING == 0 or state.cards[a].place != w.MZONE or state.question == BATTLE:
        return
    if (
        questions.question_of(state) == questions.ATTACK_WHICH
        or questions.question_of(state) == questions.DIRECT_ATTACK
    ):
        return
    x, y = spot_of(state, a, seat)
    mine = state.cards[a].controller == seat
    target = state.attack_target
    to_x = (LEFT + RIGHT) / 2.0
    to_y = 56.0 if mine else 512.0
    reach = 0.0
    if target != NOBODY:
        if state.cards[target].place != w.MZONE:
            return
        to_x, to_y = spot_of(state, target, seat)
        reach = 40.0
    length = max(1.0, ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5)
    along_x = (to_x - x) / length
    along_y = (to_y - y) / length
    x += 34.0 * along_x
    y += 40.0 * along_y
    to_x -= reach * along_x
    to_y -= reach * along_y
    arrow(canvas, x, y, to_x, to_y, along_x, along_y, RIM, 9.0)
    arrow(canvas, x, y, to_x, to_y, along_x, along_y, RED, 5.0)


@rule
def arrow(canvas, x, y, to_x, to_y, along_x, along_y, color, width):
    draw.line(canvas, x, y, to_x, to_y, width, color)
    for side in (-1.0, 1.0):
        back_x = to_x - 14.0 * along_x - side * 9.0 * along_y
        back_y = to_y - 14.0 * along_y + side * 9.0 * along_x
        draw.line(canvas, to_x, to_y, back_x, back_y, width, color)


@rule
def paint_chain(state, canvas, seat):
    """Draw the number of every link on its card and its targets."""
    for link in range(state.links):
        entry = state.chain[link]
        for k in range(entry.count):
            target = entry.targets[k]
            if state.cards[target].place != 0 and state.cards[target].stamp == entry.stamps[k]:
                x, y = spot_of(state, target, seat)
                width, height = size_of(state, target, seat)
                down = 10.0 + 20.0 * (link % 3)
                badge(canvas, x + width / 2.0 - 2.0, y - height / 2.0 + down, 8.0, CYAN, INK, link + 1)
        if state.cards[entry.card].place == 0:
            continue
        x, y = spot_of(state, entry.card, seat)
        width, height = size_of(state, entry.card, seat)
        badge(canvas, x - width / 2.0 + 2.0, y - height / 2.0 + 2.0, 11.0, GOLD, INK, link + 1)


@rule
def paint_places(state, canvas, seat):
    """Draw the zones that can be chosen."""
    for action in range(MOST_ACTIONS):
        at = option_of(state, action)
        if at < 0 or state.options[at].kind != PLACES:
            continue
        option = state.options[at]
        x, y = spot(option.card == seat, option.effect, option.value, 0)
        width = MONSTER_LONG
        height = MONSTER_LONG if option.effect == w.MZONE else SPELL_HEIGHT
        framed(canvas, x - width / 2.0, y - height / 2.0, width, height, GOLD, 1.0)
        draw.rect(canvas, x - width / 2.0 + 2.0, y - height / 2.0 + 2.0, width - 4.0, height - 4.0, 0x33456A, 6.0)
        draw.circle(canvas, x, y, 9.0, GOLD)
        draw.circle(canvas, x, y, 6.0, 0x33456A)
        draw.area(canvas, x - width / 2.0, y - height / 2.0, width, height, action)


@rule
def paint_actions(state, canvas, seat):
    """Draw the actions of cards on the table: one action is a click on the card, several are a small menu."""
    for action in range(MOST_ACTIONS):
        at = option_of(state, action)
        if at < 0 or not is_on_card(state, state.options[at]):
            continue
        option = state.options[at]
        c = option.card
        above = 0
        for other in range(action):
            before = option_of(state, other)
            if before >= 0 and state.options[before].card == c and is_on_card(state, state.options[before]):
                above += 1
        answer = answer_of(state, option)
        paint_action(state, canvas, seat, c, action, answer, above, actions_on(state, c), option.kind == PICKS)


@rule
def paint_action(state, canvas, seat, c, action, answer, above, count, silent):
    card = state.cards[c]
    x, y = spot_of(state, c, seat)
    width, height = size_of(state, c, seat)
    left = x - width / 2.0
    if card.place == w.HAND:
        width = min(width, seen_width(state, c, seat))
    else:
        left = min(left, x - 36.0)
        width = max(width, 72.0)
    top = y - height / 2.0
    tall = 22.0 if card.place == w.HAND and card.controller == seat else 17.0
    words = questions.ANSWER_WORDS[answer]
    color = RED if answer == ATTACKS or answer == questions.DIRECTLY else GOLD
    ink = WHITE if color == RED else INK
    if count == 1:
        if not silent:
            low = top + height - tall - 3.0
            if card.place != w.HAND:
                low += 18.0 if width > height else 6.0
            draw.rect(canvas, left + 2.0, low, width - 4.0, tall, RIM, 6.0)
            draw.rect(canvas, left + 3.0, low + 1.0, width - 6.0, tall - 2.0, color, 5.0)
            fitted(canvas, left + width / 2.0, low + tall / 2.0, width - 10.0, 0.68 * tall, ink, words)
        reach = height if card.place == w.HAND else (MONSTER_LONG + height) / 2.0
        draw.area(canvas, left, top, width, reach, action)
        return
    tall = min(tall, (height - 4.0) / count)
    low = top + height - tall * (count - above) - 3.0
    button(canvas, left + 2.0, low, width - 4.0, tall - 1.0, color, ink, words, action)


@rule
def seen_width(state, c, seat):
    """The visible width of a card of a hand."""
    card = state.cards[c]
    count = state.sizes[card.controller, HAND_PILE]
    if card.sequence == count - 1:
        return HAND_WIDTH
    return layout.hand_step(card.controller == seat, float(count))


@rule
def paint_end(state, canvas, seat):
    middle = (LEFT + RIGHT) / 2.0
    won = state.winner == seat
    color = GOLD if won else GREY if state.winner > 1 else RED
    draw.rect(canvas, middle - 150.0, MIDDLE_Y - 34.0, 300.0, 68.0, color, 14.0)
    draw.rect(canvas, middle - 146.0, MIDDLE_Y - 30.0, 292.0, 60.0, PANEL, 11.0)
    if won:
        draw.text(canvas, middle, MIDDLE_Y, 30.0, GOLD, b"VICTORY")
    elif state.winner > 1:
        draw.text(canvas, middle, MIDDLE_Y, 30.0, WHITE, b"A DRAW")
    else:
        draw.text(canvas, middle, MIDDLE_Y, 30.0, WHITE, b"DEFEAT")
