"""The picture of the table: numbers at the left, owned items at the top, the current phase in the middle."""

import numpy as np

from ludus.games.balatro import buttons, prices, rounds, shop
from ludus.games.balatro.pieces import (
    BLIND_COLORS, BLIND_NAMES, BLUE, BOX, CARD_HEIGHT, CARD_WIDTH, CROWDED, DECKS, DOLLAR, EFFECTS, FELT, GOLD, GREEN,
    GREY, HAND_NAMES, HAND_RIGHT, INK, LEFT, MIDDLE, PACK_COLORS, PACK_NAMES, PANEL, PLUS, RED, RIM, STAKES,
    TAG_NAMES, VOUCHER_NAMES, WHITE, fitted, number, paint_back, paint_base, paint_card, paint_item, price_tag, stat,
    two_lines,
)  # fmt: skip
from ludus.games.balatro.state import (
    BOSS, CASHING_OUT, CHOOSING_BLIND, OPENING, PLAYING_HAND, SHOPPING, SMALL,
)  # fmt: skip
from ludus.games.balatro.tables import blinds, cards, decks, hands, tags
from ludus.dsl import OVER, PLAYING, draw, rule


@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0.0, 0.0, 960.0, 600.0, RIM, 0.0)
    draw.rect(canvas, 4.0, 4.0, 952.0, 592.0, FELT, 16.0)
    paint_panel(state, canvas)
    paint_owned(state, canvas)
    if state.phase == PLAYING_HAND:
        paint_play(state, canvas)
    elif state.phase == CHOOSING_BLIND:
        paint_choice(state, canvas)
    elif state.phase == CASHING_OUT:
        paint_pay(state, canvas)
    elif state.phase == SHOPPING:
        paint_shop(state, canvas)
    else:
        paint_pack(state, canvas)
    if state.hand_count:
        paint_hand(state, canvas)
        if buttons.by_hand(state) and state.status == PLAYING:
            buttons.hand_buttons(state, canvas)
    elif state.phase != PLAYING_HAND:
        paint_levels(state, canvas)
    paint_pile(state, canvas)
    if state.status != PLAYING:
        paint_end(state, canvas)


@rule
def paint_grid(state, canvas, items, count, left, width, rows, is_jokers):
    """Owned items in a number of rows, with their buttons."""
    columns = max(1, (count + rows - 1) // rows)
    across = min(84.0, width / columns)
    down = 112.0 / rows
    start = left + (width - across * columns) / 2.0
    beside, below = buttons.room_beside(state, down)
    whole = across - 4.0
    for place in range(count):
        x = start + across * (place % columns) + 2.0
        y = 10.0 + down * (place // columns)
        paint_item(state, canvas, items[place], x, y, (1.0 - beside) * whole, 0.96 * down - below, True)
        if beside + below > 0.0 and state.phase != CASHING_OUT:
            x += beside * whole
            top = y if beside > 0.0 else y + 0.98 * down - below
            wide = (beside if beside > 0.0 else 1.0) * whole
            high = 0.96 * down if beside > 0.0 else below - 1.0
            if is_jokers:
                buttons.joker_buttons(state, canvas, place, x, top, wide, high)
            else:
                buttons.consumable_buttons(state, canvas, place, x, top, wide, high)


@rule
def paint_owned(state, canvas):
    count = int(state.joker_count)
    draw.rect(canvas, LEFT - 4.0, 8.0, 544.0, 116.0, RIM, 10.0)
    paint_grid(state, canvas, state.jokers, count, LEFT, 536.0, 1 if count <= 6 else (2 if count <= 14 else 3), True)
    ratio(canvas, LEFT + 268.0, 134.0, b"jokers", count, int(state.joker_slots))
    count = int(state.consumable_count)
    draw.rect(canvas, 768.0, 8.0, 182.0, 116.0, RIM, 10.0)
    paint_grid(state, canvas, state.consumables, count, 770.0, 178.0, 1 if count <= 2 else (count + 1) // 2, False)
    ratio(canvas, 859.0, 134.0, b"consumables", count, int(state.consumable_slots))


@rule
def ratio(canvas, x, y, label, part, whole):
    """A label with two numbers, such as `jokers 2 / 5`."""
    draw.text(canvas, x - 14.0, y, 12.0, GREY, label)
    right = x + 3.2 * len(label) + 6.0
    number(canvas, right, y, 20.0, 12.0, WHITE, 0, float(part))
    draw.text(canvas, right + 12.0, y, 12.0, GREY, b"/")
    number(canvas, right + 24.0, y, 20.0, 12.0, WHITE, 0, float(whole))


@rule
def coming(state):
    """The blind that is being played or comes next: small, big or boss."""
    if state.phase == SHOPPING or (state.phase == OPENING and state.pack_return == SHOPPING):
        return SMALL if state.blind == BOSS else np.int64(state.blind) + 1
    return np.int64(state.blind)


@rule
def paint_panel(state, canvas):
    inside = state.phase == PLAYING_HAND or state.phase == CASHING_OUT
    row = rounds.row_of(state, coming(state))
    required = state.required if inside else rounds.asked(state, coming(state))
    score = state.score if inside else 0.0
    draw.rect(canvas, 10.0, 10.0, 200.0, 580.0, PANEL, 12.0)
    draw.rect(canvas, 18.0, 18.0, 184.0, 58.0, BLIND_COLORS[row], 8.0)
    fitted(canvas, 110.0, 40.0 if row >= BOSS else 47.0, 172.0, 20.0, WHITE, BLIND_NAMES[row])
    if inside and state.disabled:
        draw.text(canvas, 110.0, 62.0, 12.0, WHITE, b"has no effect any more")
    else:
        fitted(canvas, 110.0, 62.0, 176.0, 12.0, WHITE, EFFECTS[row])
    stat(canvas, 18.0, 82.0, 184.0, 50.0, RED, b"score to reach", 0, required)
    stat(canvas, 18.0, 138.0, 184.0, 50.0, WHITE, b"score of the round", 0, score)
    draw.rect(canvas, 24.0, 193.0, 172.0, 5.0, BOX, 2.5)
    if score > 0.0:
        draw.rect(canvas, 24.0, 193.0, max(5.0, 172.0 * min(1.0, score / required)), 5.0, GOLD, 2.5)
    paint_last_hand(state, canvas)
    stat(canvas, 18.0, 296.0, 88.0, 52.0, BLUE, b"hands", 0, float(state.hands_left if inside else state.hands))
    discards = state.discards_left if inside else state.discards
    stat(canvas, 114.0, 296.0, 88.0, 52.0, RED, b"discards", 0, float(discards))
    stat(canvas, 18.0, 354.0, 184.0, 52.0, GOLD, b"money", DOLLAR, float(state.money))
    stat(canvas, 18.0, 412.0, 88.0, 52.0, WHITE, b"ante", 0, float(state.ante))
    stat(canvas, 114.0, 412.0, 88.0, 52.0, WHITE, b"round", 0, float(state.round))
    paint_tags(state, canvas)


@rule
def paint_last_hand(state, canvas):
    """Chips and mult of the last played hand."""
    draw.rect(canvas, 18.0, 204.0, 184.0, 86.0, BOX, 8.0)
    draw.rect(canvas, 24.0, 246.0, 80.0, 38.0, BLUE, 8.0)
    draw.rect(canvas, 116.0, 246.0, 80.0, 38.0, RED, 8.0)
    draw.text(canvas, 110.0, 265.0, 14.0, WHITE, b"x")
    if state.hands_of_run == 0:
        draw.text(canvas, 110.0, 225.0, 12.0, GREY, b"no hand was played yet")
        return
    tally = state.tally
    fitted(canvas, 110.0, 217.0, 172.0, 16.0, WHITE, HAND_NAMES[state.last_hand])
    draw.text(canvas, 102.0, 235.0, 11.0, GREY, b"level")
    number(canvas, 126.0, 235.0, 24.0, 11.0, GREY, 0, float(tally.level))
    number(canvas, 64.0, 265.0, 76.0, 18.0, WHITE, 0, tally.chips)
    number(canvas, 156.0, 265.0, 76.0, 18.0, WHITE, 0, tally.mult)


@rule
def paint_tags(state, canvas):
    """Held tags, newest first, as many as there is room for; below them deck and stake."""
    draw.text(canvas, 110.0, 476.0, 11.0, GREY, b"tags")
    shown = min(int(state.tag_count), 4)
    for place in range(shown):
        y = 490.0 + 15.0 * place
        draw.rect(canvas, 34.0, y - 7.0, 152.0, 14.0, BOX, 6.0)
        fitted(canvas, 110.0, y, 120.0, 10.0, GOLD, TAG_NAMES[state.tags[state.tag_count - 1 - place]])
    if state.tag_count > shown:
        number(canvas, 110.0, 550.0, 40.0, 10.0, GREY, PLUS, float(state.tag_count - shown))
    draw.text(canvas, 110.0, 564.0, 11.0, GREY, DECKS[state.deck])
    draw.text(canvas, 110.0, 579.0, 11.0, GREY, STAKES[state.stake])


@rule
def paint_hand(state, canvas):
    """The hand, fanned out; selected cards are raised."""
    count = int(state.hand_count)
    step = min(80.0, (HAND_RIGHT - LEFT - CARD_WIDTH) / max(1, count - 1))
    left = (LEFT + HAND_RIGHT - CARD_WIDTH - step * (count - 1)) / 2.0
    for place in range(count):
        card = state.cards[state.hand[place]]
        bend = (2.0 * place + 1.0 - count) / count
        y = 466.0 + 10.0 * bend * bend - (24.0 if card.flags & cards.SELECTED else 0.0)
        x = left + step * place
        if card.flags & cards.FACE_DOWN:
            paint_back(canvas, x, y, CARD_WIDTH, CARD_HEIGHT)
        else:
            crowded = count > CROWDED and place < count - 1
            paint_card(canvas, x, y, 1.0, crowded, card, card.flags & cards.DEBUFFED, card.chips)
    if buttons.by_hand(state):
        buttons.hand_areas(state, canvas, left, step)


@rule
def paint_pile(state, canvas):
    for layer in range(3):
        paint_back(canvas, 876.0 + 3.0 * layer, 478.0 - 3.0 * layer, 62.0, 86.0)
    number(canvas, 910.0, 579.0, 60.0, 13.0, WHITE, 0, float(state.pile_count))


@rule
def place_now(state, place):
    """The current number of a card of the last hand; numbers decrease when a card with a lower number is destroyed.

    -1 if the card is gone, or if further destroyed cards make the number refer to a card in the hand or the pile.
    """
    tally = state.tally
    old = np.int64(tally.cards[place])
    if (tally.broken >> place) & 1:
        return -1
    new = old
    for other in range(tally.count):
        if (tally.broken >> other) & 1 and tally.cards[other] < old:
            new -= 1
    for index in range(state.hand_count):
        if state.hand[index] == new:
            return -1
    for index in range(state.pile_count):
        if state.pile[index] == new:
            return -1
    return new if new < state.card_count else -1


@rule
def was_played(state):
    """Whether the cards of the tally were played rather than discarded, as far as the state shows."""
    tally = state.tally
    if state.hands_played == 0 or tally.hand != state.last_hand:
        return False
    for place in range(tally.count):
        now = place_now(state, place)
        if state.phase == PLAYING_HAND and now >= 0 and not state.cards[now].flags & cards.PLAYED_THIS_ANTE:
            return False
    return True


@rule
def paint_last_cards(state, canvas, y):
    """The cards that left the hand last; those that scored are raised."""
    tally = state.tally
    played = was_played(state)
    if played:
        draw.text(canvas, MIDDLE - 60.0, y - 36.0, 18.0, WHITE, HAND_NAMES[state.last_hand])
        number(canvas, MIDDLE + 80.0, y - 36.0, 140.0, 20.0, GOLD, PLUS, tally.score)
    else:
        draw.text(canvas, MIDDLE, y - 36.0, 16.0, GREY, b"discarded")
    left = MIDDLE - 39.0 * tally.count
    for place in range(tally.count):
        now = place_now(state, place)
        x = left + 78.0 * place + 5.0
        lift = 14.0 if played and (tally.scoring >> place) & 1 and not tally.refused else 0.0
        if now < 0:
            draw.rect(canvas, x, y - lift, 68.0, 94.0, RIM, 7.0)
        else:
            card = state.cards[now]
            paint_card(canvas, x, y - lift, 0.87, False, card, card.flags & cards.DEBUFFED, card.chips)
        if lift > 0.0:
            draw.line(canvas, x + 10.0, y + 92.0, x + 58.0, y + 92.0, 4.0, GOLD)


@rule
def paint_play(state, canvas):
    if state.hands_played + state.discards_used and state.tally.count:
        paint_last_cards(state, canvas, 262.0)


@rule
def paint_choice(state, canvas):
    """The three blinds of the ante."""
    for blind in range(3):
        paint_blind(state, canvas, LEFT + 246.0 * blind, 180.0 if blind == state.blind else 200.0, blind)


@rule
def paint_blind(state, canvas, x, y, blind):
    row = rounds.row_of(state, blind)
    middle = x + 118.0
    if blind == state.blind:
        draw.rect(canvas, x - 4.0, y - 4.0, 244.0, 248.0, GOLD, 14.0)
    draw.rect(canvas, x, y, 236.0, 240.0, PANEL, 12.0)
    draw.rect(canvas, x + 10.0, y + 10.0, 216.0, 60.0, BLIND_COLORS[row] if blind >= state.blind else BOX, 8.0)
    fitted(canvas, middle, y + (32.0 if blind == BOSS else 40.0), 200.0, 22.0, WHITE, BLIND_NAMES[row])
    fitted(canvas, middle, y + 56.0, 204.0, 13.0, WHITE, EFFECTS[row])
    draw.text(canvas, middle, y + 92.0, 12.0, GREY, b"score to reach")
    number(canvas, middle, y + 116.0, 200.0, 26.0, RED, 0, rounds.asked(state, blind))
    draw.text(canvas, middle - 18.0, y + 146.0, 13.0, GREY, b"pays")
    unpaid = blind == SMALL and state.stake >= decks.RED_STAKE
    number(canvas, middle + 16.0, y + 146.0, 30.0, 15.0, GOLD, DOLLAR, 0.0 if unpaid else float(blinds.PAYS[row]))
    if state.blind <= blind < BOSS:
        tag = state.offered_tags[blind]
        if blind == state.blind:
            draw.rect(canvas, x + 10.0, y + 161.0, 216.0, 49.0, BOX, 8.0)
        draw.text(canvas, middle, y + 172.0, 12.0, GREY, b"skip it for")
        fitted(canvas, middle, y + 190.0, 200.0, 14.0, WHITE, TAG_NAMES[tag])
        if tags.EFFECT[tag] == tags.ORBITAL:
            fitted(canvas, middle, y + 205.0, 200.0, 11.0, GREY, HAND_NAMES[state.orbital_hands[blind]])
    elif blind == BOSS:
        draw.text(canvas, middle, y + 178.0, 12.0, GREY, b"cannot be skipped")
    if blind < state.blind:
        draw.text(canvas, middle, y + 226.0, 14.0, GREY, b"behind you")
    buttons.blind_buttons(state, canvas, x, y, blind)


@rule
def paint_pay(state, canvas):
    draw.rect(canvas, MIDDLE - 150.0, 370.0, 300.0, 92.0, PANEL, 12.0)
    draw.text(canvas, MIDDLE, 384.0, 15.0, WHITE, b"The blind is beaten")
    number(canvas, MIDDLE, 412.0, 280.0, 30.0, GOLD, DOLLAR, float(state.pay))
    buttons.cash_button(canvas)
    if state.tally.count:
        paint_last_cards(state, canvas, 262.0)


@rule
def paint_shop(state, canvas):
    """Shelf, vouchers and packs with their prices."""
    draw.text(canvas, LEFT + 46.0, 176.0, 24.0, WHITE, b"SHOP")
    draw.rect(canvas, LEFT, 200.0, 92.0, 62.0, GREEN, 10.0)
    draw.text(canvas, LEFT + 46.0, 217.0, 15.0, WHITE, b"reroll")
    number(canvas, LEFT + 46.0, 241.0, 84.0, 22.0, WHITE, DOLLAR, float(shop.reroll_price(state)))
    draw.rect(canvas, LEFT + 104.0, 152.0, 624.0, 150.0, RIM, 10.0)
    for place in range(state.shelf_count):
        item = state.shelf[place]
        x = MIDDLE + 52.0 - 55.0 * state.shelf_count + 110.0 * place + 15.0
        paint_item(state, canvas, item, x, 158.0, 80.0, 110.0, False)
        price_tag(canvas, x + 40.0, 284.0, prices.price(state, item))
        buttons.shelf_areas(state, canvas, place, x)
    buttons.shop_areas(state, canvas)
    draw.rect(canvas, LEFT, 310.0, 470.0, 150.0, RIM, 10.0)
    count = int(state.offered_vouchers)
    across = min(100.0, 460.0 / max(1, count))
    for place in range(count):
        x = LEFT + 235.0 - across * count / 2.0 + across * place
        if state.vouchers[place] >= 0:
            paint_voucher(state, canvas, x + 4.0, min(80.0, across - 8.0), int(state.vouchers[place]))
            buttons.voucher_area(state, canvas, place, x + 4.0, min(80.0, across - 8.0))
    draw.rect(canvas, LEFT + 480.0, 310.0, 248.0, 150.0, RIM, 10.0)
    for place in range(state.offered_packs):
        if state.packs[place] >= 0:
            paint_booster(state, canvas, LEFT + 514.0 + 100.0 * place, place)
            buttons.booster_area(state, canvas, place, LEFT + 514.0 + 100.0 * place)


@rule
def paint_voucher(state, canvas, x, width, voucher):
    paint_base(canvas, x, 318.0, width, 108.0, 0, 0xE8B04A)
    draw.rect(canvas, x + 6.0, 326.0, width - 12.0, 92.0, 0xF9EFD8, 6.0)
    draw.text(canvas, x + width / 2.0, 342.0, 10.0, 0x9A6A00, b"VOUCHER")
    two_lines(canvas, x + width / 2.0, 376.0, width - 16.0, 13.0, INK, VOUCHER_NAMES, voucher)
    price_tag(canvas, x + width / 2.0, 442.0, prices.voucher_price(state))


@rule
def paint_booster(state, canvas, x, place):
    kind = int(state.packs[place])
    paint_base(canvas, x, 318.0, 80.0, 108.0, 0, PACK_COLORS[kind // 3])
    draw.rect(canvas, x + 5.0, 330.0, 70.0, 3.0, WHITE, 0.0)
    draw.rect(canvas, x + 5.0, 412.0, 70.0, 3.0, WHITE, 0.0)
    two_lines(canvas, x + 40.0, 368.0, 70.0, 15.0, WHITE, PACK_NAMES, kind)
    price_tag(canvas, x + 40.0, 442.0, prices.pack_price(state, place))


@rule
def paint_pack(state, canvas):
    """The cards of an open pack."""
    fitted(canvas, MIDDLE, 172.0, 300.0, 20.0, WHITE, PACK_NAMES[state.pack_kind, 0])
    draw.text(canvas, MIDDLE - 20.0, 200.0, 14.0, GREY, b"choose")
    number(canvas, MIDDLE + 16.0, 200.0, 20.0, 16.0, GOLD, 0, float(state.picks_left))
    for place in range(state.pack_count):
        x = MIDDLE - 55.0 * state.pack_count + 110.0 * place + 10.0
        paint_item(state, canvas, state.pack[place], x, 232.0, 90.0, 124.0, False)
        buttons.pack_areas(state, canvas, place, x)
    buttons.skip_button(canvas)


@rule
def paint_levels(state, canvas):
    """The levels of the known poker hands."""
    shown = 0
    for hand in range(hands.HANDS):
        if hand < hands.SECRET and state.plays[hand] == 0:
            continue
        x = LEFT + 161.0 * (shown % 4)
        y = 484.0 + 34.0 * (shown // 4)
        shown += 1
        draw.rect(canvas, x, y, 155.0, 28.0, RIM, 8.0)
        draw.circle(canvas, x + 16.0, y + 14.0, 11.0, GOLD if state.levels[hand] > 1 else GREY)
        number(canvas, x + 16.0, y + 14.0, 20.0, 13.0, INK, 0, float(state.levels[hand]))
        fitted(canvas, x + 90.0, y + 14.0, 118.0, 14.0, WHITE, HAND_NAMES[hand])


@rule
def paint_end(state, canvas):
    draw.rect(canvas, MIDDLE - 150.0, 146.0, 300.0, 58.0, GOLD if state.won else RED, 14.0)
    draw.rect(canvas, MIDDLE - 146.0, 150.0, 292.0, 50.0, PANEL, 11.0)
    if state.status != OVER:
        draw.text(canvas, MIDDLE, 175.0, 24.0, WHITE, b"CUT OFF")
    elif state.won:
        draw.text(canvas, MIDDLE, 175.0, 24.0, GOLD, b"THE RUN IS WON")
    else:
        draw.text(canvas, MIDDLE, 175.0, 24.0, WHITE, b"THE RUN IS LOST")
