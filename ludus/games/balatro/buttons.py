"""Click areas for people: cards of the hand, buttons, and items that can be bought, picked, used or sold.

Small buttons are drawn only if single cards can be selected (`actions=elementary` or `all`); direct actions do not
need them. Actions that are not legal now have no button.
"""

from ludus.games.balatro import actions, deck, prices, shop, consumable_use
from ludus.games.balatro.pieces import (
    BLUE, BOX, CARD_HEIGHT, CARD_WIDTH, GOLD, GREY, HAND_RIGHT, INK, LEFT, MIDDLE, RED, RIGHT, RIM, WHITE, fitted,
    word_table,
)  # fmt: skip
from ludus.games.balatro.state import BOSS, MOST_PLAYED, PLAYING_HAND
from ludus.games.balatro.tables import cards, consumables
from ludus.dsl import draw, rule

(
    PLAY_HAND, DISCARD_HAND, BY_RANK, BY_SUIT, SELL, USE_IT, MOVE, USE_NOW, PICK_IT, SKIP_IT, NEXT_ROUND, CASH, NEXT,
    REROLL_IT,
) = range(14)  # fmt: skip
WORDS = word_table(
    ("Play hand", "Discard", "sort by rank", "sort by suit", "sell", "use", ">", "buy and use", "pick", "skip the pack",
     "next round", "cash out", "NEXT", "another boss $10")
)  # fmt: skip
BESIDE, LOWEST = 30.0, 9.0
"""pixels: in rows lower than BESIDE, buttons are beside items, not under them; buttons below LOWEST have no label"""


@rule
def by_hand(state):
    """Whether single cards can be selected."""
    return state.actions != actions.DIRECT


@rule
def button(canvas, x, y, width, height, color, ink, word, action):
    """A labelled click area."""
    draw.rect(canvas, x, y, width, height, color, min(8.0, 0.4 * height))
    if height >= LOWEST:
        fitted(canvas, x + width / 2.0, y + height / 2.0, width - 4.0, min(16.0, 0.72 * height), ink, WORDS[word])
    draw.area(canvas, x, y, width, height, action)


@rule
def disabled_button(canvas, x, y, width, height, word):
    """A greyed-out button."""
    draw.rect(canvas, x, y, width, height, RIM, min(8.0, 0.4 * height))
    fitted(canvas, x + width / 2.0, y + height / 2.0, width - 4.0, min(16.0, 0.72 * height), GREY, WORDS[word])


@rule
def button_if(canvas, x, y, width, height, color, ink, word, action, possible):
    if possible:
        button(canvas, x, y, width, height, color, ink, word, action)
    else:
        disabled_button(canvas, x, y, width, height, word)


@rule
def hand_areas(state, canvas, left, step):
    """Click areas of the cards in hand, where the next card does not cover them."""
    count = int(state.hand_count)
    more = consumable_use.count_selected(state) < MOST_PLAYED
    for place in range(count):
        flags = state.cards[state.hand[place]].flags
        y = 442.0 if flags & cards.SELECTED else 466.0
        width = CARD_WIDTH if place == count - 1 else min(CARD_WIDTH, step)
        if not flags & cards.FORCED and (more or flags & cards.SELECTED):
            draw.area(canvas, left + step * place, y, width, CARD_HEIGHT + 10.0, actions.TOGGLE + place)


@rule
def hand_buttons(state, canvas):
    """Buttons to play and discard, and between them two to sort."""
    middle = (LEFT + HAND_RIGHT) / 2.0
    if state.phase == PLAYING_HAND:
        selected = consumable_use.count_selected(state)
        some = 0 < selected <= MOST_PLAYED
        button_if(canvas, middle - 240.0, 392.0, 120.0, 36.0, BLUE, WHITE, PLAY_HAND, actions.PLAY_SELECTED, some)
        may = some and state.discards_left > 0
        button_if(canvas, middle + 120.0, 392.0, 120.0, 36.0, RED, WHITE, DISCARD_HAND, actions.DISCARD_SELECTED, may)
    ranked = state.sorted_by == deck.BY_RANK
    suited = state.sorted_by == deck.BY_SUIT
    button_if(canvas, middle - 108.0, 396.0, 102.0, 28.0, BOX, WHITE, BY_RANK, actions.SORT_BY_RANK, not ranked)
    button_if(canvas, middle + 6.0, 396.0, 102.0, 28.0, BOX, WHITE, BY_SUIT, actions.SORT_BY_SUIT, not suited)


@rule
def room_beside(state, down):
    """The space for buttons in a row of owned items: (fraction of the width, pixels of the height)."""
    if not by_hand(state):
        return 0.0, 0.0
    return (0.0, max(11.0, 0.17 * down)) if down >= BESIDE else (0.5, 0.0)


@rule
def joker_buttons(state, canvas, place, x, y, width, height):
    """Buttons to sell and to move right; a face-down joker can always be sold, so that the button reveals nothing."""
    item = state.jokers[place]
    if item.face_down or not item.stickers & cards.ETERNAL:
        button(canvas, x, y, 0.62 * width, height, BOX, GOLD, SELL, actions.SELL_JOKER + place)
    if place + 1 < state.joker_count:
        button(canvas, x + 0.68 * width, y, 0.32 * width, height, BOX, WHITE, MOVE, actions.MOVE_JOKER + place)


@rule
def consumable_buttons(state, canvas, place, x, y, width, height):
    item = state.consumables[place]
    if consumable_use.usable(state, int(item.number), item.edition != cards.NEGATIVE):
        button(canvas, x, y, 0.48 * width, height, BLUE, WHITE, USE_IT, actions.USE + place)
    button(canvas, x + 0.52 * width, y, 0.48 * width, height, BOX, GOLD, SELL, actions.SELL_CONSUMABLE + place)


@rule
def shelf_areas(state, canvas, place, x):
    """A click on an item buys it; an item that can be used at once also has a button for that."""
    at_once = shop.can_buy_and_use(state, place)
    if shop.can_buy(state, place):
        draw.area(canvas, x, 158.0, 80.0, 92.0 if at_once else 137.0, actions.BUY + place)
    if at_once:
        button(canvas, x, 251.0, 80.0, 17.0, BLUE, WHITE, USE_NOW, actions.BUY_AND_USE + place)


@rule
def shop_areas(state, canvas):
    """Areas to reroll the shelf and to leave the shop."""
    if shop.affordable(state, shop.reroll_price(state)):
        draw.area(canvas, LEFT, 200.0, 92.0, 62.0, actions.REROLL)
    button(canvas, LEFT, 268.0, 92.0, 34.0, RED, WHITE, NEXT_ROUND, actions.LEAVE)


@rule
def voucher_area(state, canvas, place, x, width):
    if shop.affordable(state, prices.voucher_price(state)):
        draw.area(canvas, x, 318.0, width, 137.0, actions.BUY_VOUCHER + place)


@rule
def booster_area(state, canvas, place, x):
    if shop.affordable(state, prices.pack_price(state, place)):
        draw.area(canvas, x, 318.0, 80.0, 137.0, actions.BUY_PACK + place)


@rule
def pack_areas(state, canvas, place, x):
    """A click on a card or on its button picks it."""
    item = state.pack[place]
    targeted = item.kind == shop.CONSUMABLE and consumables.MOST[item.number] > 0
    if (by_hand(state) or not targeted) and shop.can_pick(state, place):
        draw.area(canvas, x, 232.0, 90.0, 150.0, actions.PICK + place)
        draw.rect(canvas, x + 10.0, 362.0, 70.0, 20.0, BLUE, 8.0)
        fitted(canvas, x + 45.0, 372.0, 60.0, 14.0, WHITE, WORDS[PICK_IT])


@rule
def skip_button(canvas):
    button(canvas, RIGHT - 132.0, 158.0, 124.0, 34.0, RED, WHITE, SKIP_IT, actions.SKIP_PACK)


@rule
def cash_button(canvas):
    button(canvas, MIDDLE - 100.0, 434.0, 200.0, 24.0, GOLD, INK, CASH, actions.CASH_OUT)


@rule
def blind_buttons(state, canvas, x, y, blind):
    """Under the next blind: buttons to play it or to skip it for its tag; and to reroll the boss, if allowed."""
    if blind == state.blind:
        button(canvas, x + 10.0, y + 212.0, 216.0, 22.0, GOLD, INK, NEXT, actions.SELECT_BLIND)
        if blind != BOSS:
            draw.area(canvas, x + 10.0, y + 161.0, 216.0, 49.0, actions.SKIP_BLIND)
    if blind == BOSS and actions.can_reroll_boss(state):
        button(canvas, x + 43.0, y + 188.0, 150.0, 20.0, RED, WHITE, REROLL_IT, actions.REROLL_BOSS)
