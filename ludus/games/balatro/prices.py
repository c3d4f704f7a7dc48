"""Prices and sell values."""

from ludus.games.balatro.state import CONSUMABLE, JOKER, PLAYING_CARD
from ludus.games.balatro.tables import consumables, jokers, packs, vouchers
from ludus.games.balatro.tables.cards import EDITION_PRICE, RENTAL
from ludus.games.balatro.tables.rules import ASTRONOMER
from ludus.dsl import rule

CLEARANCE_SALE, LIQUIDATION = vouchers.KEYS.index("v_clearance_sale"), vouchers.KEYS.index("v_liquidation")
CARD_PRICE, TAROT_PRICE, SPECTRAL_PRICE = 1, 3, 4


@rule
def discounted(state, price):
    """A price after the discounts of vouchers; at least one dollar."""
    percent = 100
    if state.owned_vouchers[LIQUIDATION]:
        percent = 50
    elif state.owned_vouchers[CLEARANCE_SALE]:
        percent = 75
    return max(1, int((price + 0.5) * percent / 100.0))


@rule
def base_price(item):
    if item.kind == JOKER:
        return jokers.PRICE[item.number]
    if item.kind == PLAYING_CARD:
        return CARD_PRICE
    return SPECTRAL_PRICE if item.number >= consumables.FIRST_SPECTRAL else TAROT_PRICE


@rule
def full_price(state, item):
    """The price of an item in this shop if it were not free."""
    if item.kind == JOKER and item.stickers & RENTAL:
        return 1
    return discounted(state, base_price(item) + EDITION_PRICE[item.edition])


@rule
def is_planet(item):
    return item.kind == CONSUMABLE and consumables.FIRST_PLANET <= item.number < consumables.FIRST_SPECTRAL


@rule
def price(state, item):
    """The price of an item on the shelf."""
    if item.free or (state.rules & ASTRONOMER and is_planet(item)):
        return 0
    return full_price(state, item)


@rule
def pack_price(state, place):
    """The price of a pack in the shop."""
    kind = state.packs[place] // 3
    if state.packs_free[place] or (state.rules & ASTRONOMER and kind == packs.CELESTIAL):
        return 0
    return discounted(state, packs.PRICE[state.packs[place]])


@rule
def voucher_price(state):
    return discounted(state, vouchers.PRICE)


@rule
def sell_value(state, item):
    """The sell value of an item: half its price plus what Egg and Gift Card have added."""
    return max(1, full_price(state, item) // 2) + item.sell_value
