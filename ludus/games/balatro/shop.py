"""The shop: its offers, buying, selling, rerolling, and opening packs."""

from ludus.games.balatro import (
    run_start,
    bosses,
    deck,
    draws,
    generation,
    holdings,
    jokers,
    prices,
    rounds,
    kept_tags,
    consumable_use,
)
from ludus.games.balatro.state import (
    CHOOSING_BLIND, CONSUMABLE, JOKER, MOST_JOKERS, MOST_ON_SHELF, MOST_PACKS, MOST_VOUCHERS, OPENING, SHOPPING,
)  # fmt: skip
from ludus.games.balatro.tables import blinds, cards, packs, tags, vouchers
from ludus.games.balatro.tables import effects as e
from ludus.games.balatro.tables.jokers import RARE, UNCOMMON
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

OVERSTOCK, OVERSTOCK_PLUS, REROLL_SURPLUS, REROLL_GLUT = map(
    vouchers.KEYS.index, ("v_overstock_norm", "v_overstock_plus", "v_reroll_surplus", "v_reroll_glut")
)
FIRST_REROLL, SHELF = 5, 2
SOLD_OUT = -1

FIRST_SHUFFLE = stream("shuffle")


@rule
def enter(state):
    """Open a new shop: its shelf, vouchers and packs, and the tags that apply to it."""
    state.phase = SHOPPING
    state.rerolls = 0
    state.free_rerolls = holdings.passive(state, e.FREE_REROLLS)
    state.reroll_base = max(
        0, FIRST_REROLL - 2 * (state.owned_vouchers[REROLL_SURPLUS] + state.owned_vouchers[REROLL_GLUT])
    )
    if kept_tags.take(state, tags.FREE_REROLLS) >= 0:
        state.reroll_base = 0
    state.shelf_count = 0
    state.pack_count = 0
    fill_shelf(state)
    while kept_tags.take(state, tags.EXTRA_VOUCHER) >= 0 and state.offered_vouchers < MOST_VOUCHERS:
        state.vouchers[state.offered_vouchers] = generation.draw_voucher(state, generation.VOUCHER_FROM_TAG)
        state.offered_vouchers += 1
        state.tag_vouchers += 1
    for place in range(MOST_PACKS):
        state.packs[place] = generation.draw_pack(state)
        state.packs_free[place] = 0
    state.offered_packs = MOST_PACKS
    if kept_tags.take(state, tags.COUPON) >= 0:
        for place in range(state.shelf_count):
            state.shelf[place].free = 1
        for place in range(MOST_PACKS):
            state.packs_free[place] = 1


@rule
def fill_shelf(state):
    """Fill the free places of the shelf; tags may determine the items."""
    places = SHELF + state.owned_vouchers[OVERSTOCK] + state.owned_vouchers[OVERSTOCK_PLUS]
    while state.shelf_count < min(places, MOST_ON_SHELF):
        item = state.shelf[state.shelf_count]
        if kept_tags.take(state, tags.FREE_UNCOMMON) >= 0:
            generation.draw_joker(state, item, generation.UNCOMMON_TAG, UNCOMMON)
            item.free = 1
        elif kept_tags.take(state, tags.FREE_RARE) >= 0:
            generation.draw_joker(state, item, generation.RARE_TAG, RARE)
            item.free = 1
        else:
            generation.draw_shelf_item(state, item)
        if item.kind == JOKER and item.edition == 0:
            tag = kept_tags.take(state, tags.EDITION)
            if tag >= 0:
                item.edition = tags.NUMBER[tag]
                item.free = 1
        state.shelf_count += 1


@rule
def affordable(state, price):
    return price <= state.money + holdings.passive(state, e.DEBT) or price == 0


@rule
def reroll_price(state):
    return 0 if state.free_rerolls > 0 else state.reroll_base + state.rerolls


@rule
def reroll(state):
    """Pay for a new shelf."""
    state.money -= reroll_price(state)
    if state.free_rerolls > 0:
        state.free_rerolls -= 1
    else:
        state.rerolls = min(state.rerolls + 1, 30000)
    state.shelf_count = 0
    fill_shelf(state)
    jokers.fire(state, e.REROLL, -1)


@rule
def fits(state, item):
    """Whether there is room for an item."""
    if item.kind == JOKER:
        return holdings.joker_room(state) + (item.edition == cards.NEGATIVE) > 0 and state.joker_count < MOST_JOKERS
    if item.kind == CONSUMABLE:
        return holdings.consumable_room(state) > 0
    return state.card_count < len(state.cards)


@rule
def can_buy(state, place):
    item = state.shelf[place]
    return affordable(state, prices.price(state, item)) and fits(state, item)


@rule
def keep(state, item):
    """Add an item to the player's possessions."""
    if item.kind == JOKER:
        state.jokers[state.joker_count] = item
        holdings.keep_joker(state)
    elif item.kind == CONSUMABLE:
        state.consumables[state.consumable_count] = item
        state.consumable_count += 1
    else:
        deck.add_card(state, item.rank, item.suit, item.enhancement, item.edition, item.seal, False)


@rule
def take_from_shelf(state, place):
    state.shelf_count -= 1
    holdings.close_gap(state.shelf, place, state.shelf_count)


@rule
def buy(state, place):
    item = state.shelf[place]
    state.money -= prices.price(state, item)
    keep(state, item)
    take_from_shelf(state, place)


@rule
def can_buy_and_use(state, place):
    item = state.shelf[place]
    return (
        item.kind == CONSUMABLE
        and affordable(state, prices.price(state, item))
        and consumable_use.usable(state, item.number, 0)
    )


@rule
def buy_and_use(state, place):
    number = int(state.shelf[place].number)
    state.money -= prices.price(state, state.shelf[place])
    take_from_shelf(state, place)
    consumable_use.use(state, number)


@rule
def buy_voucher(state, place):
    voucher = int(state.vouchers[place])
    state.money -= prices.voucher_price(state)
    state.tag_vouchers -= place >= state.offered_vouchers - state.tag_vouchers
    state.offered_vouchers -= 1
    for index in range(place, state.offered_vouchers):
        state.vouchers[index] = state.vouchers[index + 1]
    run_start.redeem(state, voucher)
    if vouchers.EFFECT[voucher] == vouchers.SHELF:
        fill_shelf(state)
    elif vouchers.EFFECT[voucher] == vouchers.REROLL_COST:
        state.reroll_base = max(0, state.reroll_base + int(vouchers.NUMBER[voucher]))


@rule
def buy_pack(state, place):
    kind = int(state.packs[place])
    state.money -= prices.pack_price(state, place)
    state.packs[place] = SOLD_OUT
    open_pack(state, kind)


@rule
def open_pack(state, kind):
    """Open a pack; for tarots and spectral cards, deal a hand to use them on."""
    state.pack_return = state.phase
    state.phase = OPENING
    state.pack_kind = kind
    state.picks_left = packs.CHOOSE[kind]
    jokers.fire(state, e.PACK_OPENED, -1)
    generation.fill_pack(state, kind)
    contents = kind // 3
    if contents == packs.ARCANA or contents == packs.SPECTRAL:
        for _ in range(min(draws.hand_limit(state) - state.hand_count, state.pile_count)):
            deck.draw_card(state)
        deck.sort_hand(state)


@rule
def close_pack(state):
    """Return to the previous phase; dealt cards go under the pile."""
    count = state.hand_count
    for index in range(state.pile_count - 1, -1, -1):
        state.pile[index + count] = state.pile[index]
    for place in range(count):
        state.cards[state.hand[place]].flags &= cards.PLAYED_THIS_ANTE
        state.pile[count - 1 - place] = state.hand[place]
    state.pile_count += count
    state.hand_count = 0
    state.pack_count = 0
    state.phase = state.pack_return
    if state.phase == CHOOSING_BLIND:
        use_tags(state)


@rule
def can_pick(state, place):
    item = state.pack[place]
    if item.kind == CONSUMABLE:
        return consumable_use.usable(state, item.number, 0)
    return fits(state, item)


@rule
def pick(state, place):
    """Take a card from the pack; consumables are used at once."""
    item = state.pack[place]
    if item.kind == CONSUMABLE:
        number = int(item.number)
        drop_from_pack(state, place)
        consumable_use.use(state, number)
    else:
        keep(state, item)
        drop_from_pack(state, place)
    state.picks_left -= 1
    if state.picks_left <= 0 or state.pack_count == 0:
        close_pack(state)


@rule
def drop_from_pack(state, place):
    state.pack_count -= 1
    holdings.close_gap(state.pack, place, state.pack_count)


@rule
def skip_pack(state):
    jokers.fire(state, e.PACK_SKIPPED, -1)
    close_pack(state)


@rule
def sell_joker(state, index):
    """Sell a joker; some jokers have an effect when sold, and Verdant Leaf is disabled."""
    jokers.act(state, index, e.SOLD_SELF, -1)
    state.money += prices.sell_value(state, state.jokers[index])
    before = holdings.passive(state, e.HAND_SIZE)
    holdings.remove_joker(state, index)
    draws.deal_growth(state, before)
    deck.grow(state, e.SOLD, -1)
    if deck.boss_effect(state) == blinds.DEBUFF_ALL:
        bosses.disable(state)
    deck.debuff_all(state)


@rule
def sell_consumable(state, index):
    state.money += prices.sell_value(state, state.consumables[index])
    holdings.remove_consumable(state, index)
    deck.grow(state, e.SOLD, -1)
    deck.debuff_all(state)


@rule
def leave(state):
    """Leave the shop for the next blind."""
    jokers.fire(state, e.SHOP_EXIT, -1)
    state.shelf_count = 0
    state.offered_packs = 0
    state.offered_vouchers -= state.tag_vouchers
    state.tag_vouchers = 0
    rounds.next_blind(state)
    use_tags(state)


@rule
def skip_blind(state):
    """Skip a blind for its tag."""
    if state.round == 0 and state.skips == 0:
        deck.shuffle(state, FIRST_SHUFFLE)  # used only by a pack that a tag opens now
    state.skips = min(state.skips + 1, 30000)
    tag = int(state.offered_tags[state.blind])
    kept_tags.gain(state, tag, state.orbital_hands[state.blind])
    rounds.next_blind(state)
    use_tags(state)


@rule
def use_tags(state):
    """Apply tags with immediate effects; after one that opens a pack, the others wait until it is closed."""
    place = 0
    while place < state.tag_count:
        tag = state.tags[place]
        if tags.WHEN[tag] != tags.NOW:
            place += 1
            continue
        hand = state.tag_hands[place]
        kept_tags.drop(state, place)
        if tags.EFFECT[tag] == tags.FREE_PACK:
            open_pack(state, tags.NUMBER[tag])
            return
        use_tag(state, tags.EFFECT[tag], tags.NUMBER[tag], hand)


@rule
def use_tag(state, effect, number, hand):
    if effect == tags.NEW_BOSS:
        state.boss = generation.draw_boss(state)
    elif effect == tags.PER_HAND:
        state.money += number * state.hands_of_run
    elif effect == tags.PER_DISCARD:
        state.money += number * state.unused_discards
    elif effect == tags.COMMON_JOKERS:
        for _ in range(number):
            holdings.create_joker(state, generation.TOP_UP, 1)
    elif effect == tags.PER_SKIP:
        state.money += number * state.skips
    elif effect == tags.ORBITAL:
        state.levels[hand] += number
    elif effect == tags.DOUBLE_MONEY:
        state.money += min(max(state.money, 0), number)
