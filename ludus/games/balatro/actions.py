"""The actions: their numbers and names, which of them are legal, and what they do.

Direct actions play or discard a subset of the first eight cards, or use a consumable on one; elementary actions select
cards one by one and reach every situation. Actions that need no cards belong to both.
"""

from itertools import combinations

import numpy as np

from ludus.games.balatro import deck, generation, holdings, prices, rounds, shop, consumable_use
from ludus.games.balatro.state import (
    BOSS, CASHING_OUT, MOST_CONSUMABLES, MOST_IN_HAND, MOST_IN_PACK, MOST_JOKERS, MOST_ON_SHELF,
    MOST_PACKS, MOST_PLAYED, MOST_VOUCHERS, OPENING, PLAYING_HAND, SHOPPING,
)  # fmt: skip
from ludus.games.balatro.tables import cards, vouchers
from ludus.games.balatro.tables import consumables as c
from ludus.dsl import PLAYING, rule

ACTIONS, REACH = 1000, 8
"""total number of actions, and number of cards that direct actions reach"""
DIRECT, ELEMENTARY, ALL = range(3)
SUBSETS = np.array([sum(1 << place for place in chosen) for size in range(1, MOST_PLAYED + 1)
                    for chosen in combinations(range(REACH), size)], np.int64)  # fmt: skip
SUBSET_OF = np.zeros(1 << REACH, np.int64)
"""index of a subset, by its bits"""
SUBSET_OF[SUBSETS] = np.arange(len(SUBSETS))
TARGETS = SUBSETS[: 8 + 28 + 56]
"""up to three cards"""
PAIRS = 8 + 28
SIZES = np.array([bin(bits).count("1") for bits in SUBSETS], np.int64)

_BLOCKS = (
    ("PLAY", len(SUBSETS)), ("DISCARD", len(SUBSETS)), ("TOGGLE", MOST_IN_HAND), ("PLAY_SELECTED", 1),
    ("DISCARD_SELECTED", 1), ("SORT_BY_RANK", 1), ("SORT_BY_SUIT", 1), ("MOVE_CARD", MOST_IN_HAND - 1),
    ("MOVE_JOKER", MOST_JOKERS - 1), ("SELL_JOKER", MOST_JOKERS), ("SELL_CONSUMABLE", MOST_CONSUMABLES),
    ("USE", MOST_CONSUMABLES), ("USE_ON", 2 * len(TARGETS)), ("BUY", MOST_ON_SHELF), ("BUY_AND_USE", MOST_ON_SHELF),
    ("BUY_VOUCHER", MOST_VOUCHERS), ("BUY_PACK", MOST_PACKS), ("REROLL", 1), ("LEAVE", 1), ("CASH_OUT", 1),
    ("SELECT_BLIND", 1), ("SKIP_BLIND", 1), ("REROLL_BOSS", 1), ("PICK", MOST_IN_PACK),
    ("PICK_ON", MOST_IN_PACK * PAIRS), ("SKIP_PACK", 1),
)  # fmt: skip
_STARTS = np.cumsum([0, *(size for _, size in _BLOCKS)])
(
    PLAY, DISCARD, TOGGLE, PLAY_SELECTED, DISCARD_SELECTED, SORT_BY_RANK, SORT_BY_SUIT, MOVE_CARD, MOVE_JOKER,
    SELL_JOKER, SELL_CONSUMABLE, USE, USE_ON, BUY, BUY_AND_USE, BUY_VOUCHER, BUY_PACK, REROLL, LEAVE, CASH_OUT,
    SELECT_BLIND, SKIP_BLIND, REROLL_BOSS, PICK, PICK_ON, SKIP_PACK, END,
) = (int(start) for start in _STARTS)  # fmt: skip
assert END <= ACTIONS
BOSS_REROLL_PRICE = 10
DIRECTORS_CUT, RETCON = vouchers.KEYS.index("v_directors_cut"), vouchers.KEYS.index("v_retcon")


def name_of(action: int) -> str:
    """Such as `play 1,3,5` or `buy shop 2`; cards and places are counted from 1."""
    if not 0 <= action < END:
        return f"nothing {action}"
    name, index = block_of(action)
    if name in ("PLAY", "DISCARD"):
        return f"{name.lower()} {_places(int(SUBSETS[index]))}"
    if name in ("USE_ON", "PICK_ON"):
        size = len(TARGETS) if name == "USE_ON" else PAIRS
        verb = "use consumable" if name == "USE_ON" else "pick"
        return f"{verb} {index // size + 1} on {_places(int(TARGETS[index % size]))}"
    words = {
        "TOGGLE": "select card", "MOVE_CARD": "move right card", "MOVE_JOKER": "move right joker",
        "SELL_JOKER": "sell joker", "SELL_CONSUMABLE": "sell consumable", "USE": "use consumable", "BUY": "buy shop",
        "BUY_AND_USE": "buy and use shop", "BUY_VOUCHER": "buy voucher", "BUY_PACK": "open pack", "PICK": "pick",
    }  # fmt: skip
    return f"{words[name]} {index + 1}" if name in words else name.lower().replace("_", " ")


def block_of(action: int) -> tuple[str, int]:
    """The kind of an action and its index among those of that kind: ("BUY", 1)."""
    block = int(np.searchsorted(_STARTS, action, side="right")) - 1
    return _BLOCKS[block][0], action - int(_STARTS[block])


def places_of(bits: int) -> list[int]:
    """The positions of a subset of the first cards, from 0."""
    return [place for place in range(REACH) if bits >> place & 1]


def _places(bits: int) -> str:
    return ",".join(str(place + 1) for place in places_of(bits))


@rule
def legal(state, mask):
    """Mark the legal actions."""
    for action in range(ACTIONS):
        mask[action] = 0
    phase = state.phase
    if phase == CASHING_OUT:
        mask[CASH_OUT] = 1
        return
    if phase == PLAYING_HAND:
        legal_hand(state, mask)
    elif phase == SHOPPING:
        legal_shop(state, mask)
    elif phase == OPENING:
        legal_pack(state, mask)
    else:
        mask[SELECT_BLIND] = 1
        mask[SKIP_BLIND] = state.blind != BOSS
        mask[REROLL_BOSS] = can_reroll_boss(state)
    if state.joker_count or state.consumable_count:
        legal_holdings(state, mask)
    if state.actions != DIRECT and state.hand_count:
        legal_selection(state, mask)


@rule
def forced_bits(state):
    """The position in the hand of the card that must be played, as a bit; 0 for none."""
    for place in range(state.hand_count):
        if state.cards[state.hand[place]].flags & cards.FORCED:
            return 1 << place
    return 0


@rule
def legal_hand(state, mask):
    may_discard = state.discards_left > 0
    if state.actions != ELEMENTARY:
        beyond = ~((1 << min(state.hand_count, REACH)) - 1)
        forced = forced_bits(state)
        far = forced >= 1 << REACH
        for index in range(len(SUBSETS)):
            bits = SUBSETS[index]
            fine = bits & beyond == 0 and (bits & forced == forced or (far and SIZES[index] < MOST_PLAYED))
            mask[PLAY + index] = fine
            mask[DISCARD + index] = fine and may_discard
    if state.actions != DIRECT:
        selected = consumable_use.count_selected(state)
        mask[PLAY_SELECTED] = 0 < selected <= MOST_PLAYED
        mask[DISCARD_SELECTED] = 0 < selected <= MOST_PLAYED and may_discard


@rule
def legal_selection(state, mask):
    """Selecting, sorting and moving cards in hand."""
    selected = consumable_use.count_selected(state)
    for place in range(state.hand_count):
        flags = state.cards[state.hand[place]].flags
        mask[TOGGLE + place] = (flags & cards.SELECTED != 0 or selected < MOST_PLAYED) and not flags & cards.FORCED
    mask[SORT_BY_RANK] = state.sorted_by != deck.BY_RANK
    mask[SORT_BY_SUIT] = state.sorted_by != deck.BY_SUIT
    for place in range(state.hand_count - 1):
        mask[MOVE_CARD + place] = 1


@rule
def legal_holdings(state, mask):
    """Selling, using and moving jokers and consumables."""
    for index in range(state.joker_count):
        mask[SELL_JOKER + index] = not state.jokers[index].stickers & cards.ETERNAL
    if state.actions != DIRECT:
        for index in range(state.joker_count - 1):
            mask[MOVE_JOKER + index] = 1
    for index in range(state.consumable_count):
        number = int(state.consumables[index].number)
        mask[SELL_CONSUMABLE + index] = 1
        if c.MOST[number] == 0 or state.actions != DIRECT:
            mask[USE + index] = consumable_use.usable(state, number, state.consumables[index].edition != cards.NEGATIVE)
        if c.MOST[number] > 0 and index < 2 and state.actions != ELEMENTARY and consumable_use.has_hand(state):
            legal_targets(state, mask, USE_ON + index * len(TARGETS), len(TARGETS), number)


@rule
def legal_targets(state, mask, first, count, number):
    """Mark the subsets of the first eight cards on which a consumable can be used."""
    beyond = ~((1 << min(state.hand_count, REACH)) - 1)
    for index in range(count):
        fine = TARGETS[index] & beyond == 0 and c.LEAST[number] <= SIZES[index] <= c.MOST[number]
        if fine and c.EFFECT[number] == c.ADD_EDITION:
            fine = state.cards[state.hand[index]].edition == 0
        mask[first + index] = fine


@rule
def can_reroll_boss(state):
    if not state.owned_vouchers[DIRECTORS_CUT] or not shop.affordable(state, BOSS_REROLL_PRICE):
        return False
    return state.owned_vouchers[RETCON] != 0 or state.bosses_rerolled == 0


@rule
def legal_shop(state, mask):
    mask[LEAVE] = 1
    mask[REROLL] = shop.affordable(state, shop.reroll_price(state))
    for place in range(state.shelf_count):
        mask[BUY + place] = shop.can_buy(state, place)
        mask[BUY_AND_USE + place] = shop.can_buy_and_use(state, place)
    for place in range(state.offered_vouchers):
        mask[BUY_VOUCHER + place] = shop.affordable(state, prices.voucher_price(state))
    for place in range(state.offered_packs):
        if state.packs[place] >= 0:
            mask[BUY_PACK + place] = shop.affordable(state, prices.pack_price(state, place))


@rule
def legal_pack(state, mask):
    mask[SKIP_PACK] = 1
    for place in range(state.pack_count):
        item = state.pack[place]
        number = int(item.number)
        targeted = item.kind == shop.CONSUMABLE and c.MOST[number] > 0
        if not targeted or state.actions != DIRECT:
            mask[PICK + place] = shop.can_pick(state, place)
        if targeted and state.actions != ELEMENTARY and consumable_use.has_hand(state):
            legal_targets(state, mask, PICK_ON + place * PAIRS, PAIRS, number)


@rule
def take(state, action):
    """Carry out an action."""
    if action < TOGGLE:
        select(state, SUBSETS[action % len(SUBSETS)])
        if action < DISCARD:
            rounds.play_hand(state)
        else:
            rounds.discard(state)
    elif action < MOVE_JOKER:
        handle_cards(state, action)
    elif action < BUY:
        handle_holdings(state, action)
    elif action < CASH_OUT:
        handle_shop(state, action)
    elif action < PICK:
        handle_blind(state, action)
    else:
        handle_pack(state, action)


@rule
def select(state, bits):
    """Select exactly this subset of the first cards; a forced card stays selected."""
    for place in range(state.hand_count):
        card = state.cards[state.hand[place]]
        if card.flags & cards.FORCED or (place < REACH and (bits >> place) & 1):
            card.flags |= cards.SELECTED
        else:
            card.flags &= 255 - cards.SELECTED


@rule
def handle_cards(state, action):
    if action < PLAY_SELECTED:
        state.cards[state.hand[action - TOGGLE]].flags ^= cards.SELECTED
    elif action == PLAY_SELECTED:
        rounds.play_hand(state)
    elif action == DISCARD_SELECTED:
        rounds.discard(state)
    elif action < MOVE_CARD:
        state.sorted_by = deck.BY_RANK if action == SORT_BY_RANK else deck.BY_SUIT
        deck.sort_hand(state)
    else:
        place = action - MOVE_CARD
        number = state.hand[place]
        state.hand[place] = state.hand[place + 1]
        state.hand[place + 1] = number


@rule
def use_owned(state, index):
    number = int(state.consumables[index].number)
    holdings.remove_consumable(state, index)
    consumable_use.use(state, number)
    rounds.check_stuck(state)


@rule
def handle_holdings(state, action):
    if action < SELL_JOKER:
        holdings.swap_jokers(state, action - MOVE_JOKER, action - MOVE_JOKER + 1)
        holdings.refresh(state)
    elif action < SELL_CONSUMABLE:
        shop.sell_joker(state, action - SELL_JOKER)
    elif action < USE:
        shop.sell_consumable(state, action - SELL_CONSUMABLE)
    elif action < USE_ON:
        use_owned(state, action - USE)
    else:
        index = action - USE_ON
        choose_targets(state, TARGETS[index % len(TARGETS)])
        use_owned(state, index // len(TARGETS))


@rule
def choose_targets(state, bits):
    """Select exactly this subset of the first cards, ignoring forced cards."""
    for place in range(state.hand_count):
        card = state.cards[state.hand[place]]
        if place < REACH and (bits >> place) & 1:
            card.flags |= cards.SELECTED
        else:
            card.flags &= 255 - cards.SELECTED


@rule
def handle_shop(state, action):
    if action < BUY_AND_USE:
        shop.buy(state, action - BUY)
    elif action < BUY_VOUCHER:
        shop.buy_and_use(state, action - BUY_AND_USE)
    elif action < BUY_PACK:
        shop.buy_voucher(state, action - BUY_VOUCHER)
    elif action < REROLL:
        shop.buy_pack(state, action - BUY_PACK)
    elif action == REROLL:
        shop.reroll(state)
    else:
        shop.leave(state)


@rule
def handle_blind(state, action):
    if action == CASH_OUT:
        rounds.cash_out(state)
        if state.status == PLAYING:
            shop.enter(state)
    elif action == SELECT_BLIND:
        rounds.select_blind(state)
    elif action == SKIP_BLIND:
        shop.skip_blind(state)
    else:
        state.money -= BOSS_REROLL_PRICE
        state.bosses_rerolled = 1
        state.boss = generation.draw_boss(state)


@rule
def handle_pack(state, action):
    if action < PICK_ON:
        shop.pick(state, action - PICK)
    elif action < SKIP_PACK:
        index = action - PICK_ON
        choose_targets(state, TARGETS[index % PAIRS])
        shop.pick(state, index // PAIRS)
    else:
        shop.skip_pack(state)
