"""Random jokers, consumables, cards, packs, vouchers, tags and bosses, drawn exactly as in the original game.

A pool keeps its order; an entry that is not available now stays in it, and a draw that hits it is repeated.
"""

import numpy as np

from ludus.games.balatro import randomness
from ludus.games.balatro.state import CONSUMABLE, JOKER, PLAYING_CARD
from ludus.games.balatro.tables import blinds, cards, consumables, decks, hands, jokers, packs, tags, vouchers
from ludus.games.balatro.tables.rules import SHOWMAN
from ludus.games.balatro.tables.streams import stream
from ludus.dsl import rule

COMMONS, UNCOMMONS, RARES, LEGENDARIES, TAROTS, PLANETS, SPECTRALS, VOUCHERS, TAGS = range(9)
_POOLS = (
    *(jokers.POOLS[rarity, : jokers.POOL_SIZES[rarity]] for rarity in range(1, 5)),
    np.arange(consumables.FIRST_TAROT, consumables.FIRST_PLANET),
    np.arange(consumables.FIRST_PLANET, consumables.FIRST_SPECTRAL),
    np.arange(consumables.FIRST_SPECTRAL, len(consumables.ROWS)), np.arange(vouchers.VOUCHERS), np.arange(tags.TAGS),
)  # fmt: skip
SIZE = np.array([len(pool) for pool in _POOLS])
POOL = np.array([[*pool, *[0] * (SIZE.max() - len(pool))] for pool in _POOLS])
INSTEAD = np.array(
    [jokers.JOKER] * 4 + [consumables.STRENGTH, consumables.PLUTO, consumables.INCANTATION, vouchers.BLANK, tags.HANDY]
)
"""the result of a draw from a pool without available entries"""

SHOP, BUFFOON, JUDGEMENT, RIFF_RAFF, TOP_UP, WRAITH, RARE_TAG, UNCOMMON_TAG, SOUL = range(9)
_SOURCES = ("sho", "buf", "jud", "rif", "top", "wra", "rta", "uta", "sou")
"""sources of jokers"""


def _known(name: str) -> int:
    try:
        return stream(name)
    except ValueError:
        return -1


RARITY_STREAM = np.array([_known(f"rarity@{source}") for source in _SOURCES])
EDITION_STREAM = np.array([_known(f"edi{source}@") for source in _SOURCES])
JOKER_STREAM = np.array([[-1, *(_known(f"Joker{rarity}{source}@") for rarity in (1, 2, 3)), stream("Joker4")]
                         for source in _SOURCES])  # fmt: skip
ETERNAL_STREAM = np.array([stream("etperpoll@"), stream("packetper@")])
RENTAL_STREAM = np.array([stream("ssjr@"), stream("packssjr@")])
SOUL_TAROT, SOUL_PLANET, SOUL_SPECTRAL = stream("soul_Tarot@"), stream("soul_Planet@"), stream("soul_Spectral@")
BOSS_STREAM, VOUCHER_STREAM, TAG_STREAM = stream("boss"), stream("Voucher@"), stream("Tag@")
VOUCHER_FROM_TAG, KIND_STREAM, PACK_STREAM = stream("Voucher_fromtag"), stream("cdt@"), stream("shop_pack@")
SHOP_TAROT, SHOP_PLANET, SHOP_SPECTRAL = stream("Tarotsho@"), stream("Planetsho@"), stream("Spectralsho@")
PACK_TAROT, PACK_PLANET, PACK_SPECTRAL = stream("Tarotar1@"), stream("Planetpl1@"), stream("Spectralspe@")
OMEN_SPECTRAL, OMEN, ILLUSION = stream("Spectralar2@"), stream("omen_globe"), stream("illusion")
SHOP_FRONT, PACK_FRONT = stream("frontsho@"), stream("frontsta@")
SHOP_ENHANCED, PACK_ENHANCED = stream("Enhancedsho@"), stream("Enhancedsta@")
STANDARD_SET, STANDARD_EDITION = stream("stdset@"), stream("standard_edition@")
STANDARD_SEAL, STANDARD_SEAL_KIND = stream("stdseal@"), stream("stdsealtype@")
ENHANCEMENTS = 8
SEAL_BY_QUARTER = np.array([cards.PURPLE_SEAL, cards.GOLD_SEAL, cards.BLUE_SEAL, cards.RED_SEAL])
TELESCOPE, OMEN_GLOBE = vouchers.KEYS.index("v_telescope"), vouchers.KEYS.index("v_omen_globe")
(
    HONE, GLOW_UP, TAROT_MERCHANT, TAROT_TYCOON, PLANET_MERCHANT, PLANET_TYCOON, MAGIC_TRICK, ILLUSION_VOUCHER,
) = map(
    vouchers.KEYS.index,
    ("v_hone", "v_glow_up", "v_tarot_merchant", "v_tarot_tycoon", "v_planet_merchant", "v_planet_tycoon",
     "v_magic_trick", "v_illusion"),
)  # fmt: skip


@rule
def exists(state, kind, number):
    """Whether such an item is owned, on the shelf or in the open pack."""
    for index in range(state.joker_count):
        if kind == JOKER and state.jokers[index].number == number:
            return True
    for index in range(state.consumable_count):
        if kind == CONSUMABLE and state.consumables[index].number == number:
            return True
    for index in range(state.shelf_count):
        if state.shelf[index].kind == kind and state.shelf[index].number == number:
            return True
    for index in range(state.pack_count):
        if state.pack[index].kind == kind and state.pack[index].number == number:
            return True
    return False


@rule
def is_available(state, pool, number):
    """Whether an entry of a pool is available now."""
    if pool == TAGS:
        return tags.LEAST_ANTE[number] <= state.ante
    if pool == VOUCHERS:
        return voucher_is_available(state, number)
    if pool <= LEGENDARIES:
        return joker_is_available(state, number)
    if number == consumables.SOUL or number == consumables.BLACK_HOLE:
        return False
    if pool == PLANETS:
        hand = consumables.NUMBER[number]
        if hand < hands.SECRET and state.plays[hand] == 0:
            return False
    return state.rules & SHOWMAN != 0 or not exists(state, CONSUMABLE, number)


@rule
def joker_is_available(state, number):
    if number == jokers.GROS_MICHEL and state.gros_michel_gone:
        return False
    if number == jokers.CAVENDISH and not state.gros_michel_gone:
        return False
    if jokers.GATE[number]:
        gate_open = False
        for index in range(state.card_count):
            gate_open = gate_open or state.cards[index].enhancement == jokers.GATE[number]
        if not gate_open:
            return False
    return state.rules & SHOWMAN != 0 or not exists(state, JOKER, number)


@rule
def voucher_is_available(state, number):
    """Vouchers come in pairs: the second, at an odd index, requires the first."""
    if state.owned_vouchers[number] or (number % 2 == 1 and not state.owned_vouchers[number - 1]):
        return False
    for index in range(state.offered_vouchers):
        if state.vouchers[index] == number:
            return False
    return True


@rule
def draw_from_pool(state, pool, source):
    """Draw from a pool; returns the number of the entry."""
    anything = False
    for place in range(SIZE[pool]):
        if is_available(state, pool, POOL[pool, place]):
            anything = True
            break
    if not anything:
        return INSTEAD[pool]
    number = POOL[pool, randomness.below(state, source, SIZE[pool])]
    repeat = 1
    while not is_available(state, pool, number):
        repeat += 1
        number = POOL[pool, randomness.below_again(state, source, repeat, SIZE[pool])]
    return number


@rule
def blank_item(state, item, kind, number):
    """Reset an item to a new one without any special properties."""
    state.born += 1
    item.born = state.born
    item.kind = kind
    item.number = number
    item.edition = 0
    item.stickers = 0
    item.rank = 0
    item.suit = 0
    item.enhancement = 0
    item.seal = 0
    item.debuffed = 0
    item.face_down = 0
    item.free = 0
    item.rounds = 0
    item.sell_value = 0
    item.counter = 0
    item.value = jokers.START[number] if kind == JOKER else 0.0


@rule
def rarity_of(poll):
    return jokers.RARE if poll > 0.95 else (jokers.UNCOMMON if poll > 0.7 else jokers.COMMON)


@rule
def edition_rate(state):
    if state.owned_vouchers[GLOW_UP]:
        return 4.0
    return 2.0 if state.owned_vouchers[HONE] else 1.0


@rule
def edition_of(poll, rate, may_be_negative):
    """The edition for a random number at a rate."""
    if may_be_negative and poll > 1.0 - 0.003:
        return cards.NEGATIVE
    if poll > 1.0 - 0.006 * rate:
        return cards.POLYCHROME
    if poll > 1.0 - 0.02 * rate:
        return cards.HOLO
    return cards.FOIL if poll > 1.0 - 0.04 * rate else 0


@rule
def sure_edition_of(poll):
    """The edition for a random number if there is certainly one."""
    return cards.POLYCHROME if poll > 0.85 else (cards.HOLO if poll > 0.5 else cards.FOIL)


@rule
def draw_joker(state, item, source, rarity):
    """Write a random joker into an item; rarity 0 for a random one."""
    if rarity == 0:
        rarity = rarity_of(randomness.uniform(state, RARITY_STREAM[source]))
    elif source == SOUL:
        randomness.uniform(state, RARITY_STREAM[source])  # the original draws this number and ignores it
    number = draw_from_pool(state, rarity - 1, JOKER_STREAM[source, rarity])
    blank_item(state, item, JOKER, number)
    if source <= BUFFOON:
        draw_stickers(state, item, source)
    item.edition = edition_of(randomness.uniform(state, EDITION_STREAM[source]), edition_rate(state), True)


@rule
def draw_stickers(state, item, source):
    poll = randomness.uniform(state, ETERNAL_STREAM[source])
    if state.stake >= decks.BLACK_STAKE and poll > 0.7:
        if jokers.CAN_BE_ETERNAL[item.number]:
            item.stickers |= cards.ETERNAL
    elif state.stake >= decks.ORANGE_STAKE and poll > 0.4 and jokers.CAN_PERISH[item.number]:
        item.stickers |= cards.PERISHABLE
        item.rounds = 5
    if state.stake >= decks.GOLD_STAKE and randomness.uniform(state, RENTAL_STREAM[source]) > 0.7:
        item.stickers |= cards.RENTAL


@rule
def draw_consumable(state, item, pool, source):
    blank_item(state, item, CONSUMABLE, draw_from_pool(state, pool, source))


@rule
def missing(state, number):
    """Whether a card that exists at most once may appear."""
    return state.rules & SHOWMAN != 0 or not exists(state, CONSUMABLE, number)


@rule
def draw_pack_consumable(state, item, pool, source, soul_stream):
    """Draw a tarot, planet or spectral card for a pack; it may be The Soul or Black Hole instead."""
    special = 0
    if pool != PLANETS and missing(state, consumables.SOUL) and randomness.uniform(state, soul_stream) > 0.997:
        special = consumables.SOUL
    if pool != TAROTS and missing(state, consumables.BLACK_HOLE) and randomness.uniform(state, soul_stream) > 0.997:
        special = consumables.BLACK_HOLE
    if special:
        blank_item(state, item, CONSUMABLE, special)
    else:
        draw_consumable(state, item, pool, source)


@rule
def draw_front(state, item, source):
    front = cards.FRONTS[randomness.below(state, source, 52)]
    blank_item(state, item, PLAYING_CARD, 0)
    item.suit = front // 13
    item.rank = front % 13


@rule
def draw_shop_card(state, item):
    draw_front(state, item, SHOP_FRONT)
    if state.owned_vouchers[ILLUSION_VOUCHER]:
        if randomness.uniform(state, ILLUSION) > 0.6:
            item.enhancement = 1 + randomness.below(state, SHOP_ENHANCED, ENHANCEMENTS)
        if randomness.uniform(state, ILLUSION) > 0.8:
            item.edition = sure_edition_of(randomness.uniform(state, ILLUSION))


@rule
def draw_pack_card(state, item):
    is_enhanced = randomness.uniform(state, STANDARD_SET) > 0.6
    draw_front(state, item, PACK_FRONT)
    if is_enhanced:
        item.enhancement = 1 + randomness.below(state, PACK_ENHANCED, ENHANCEMENTS)
    item.edition = edition_of(randomness.uniform(state, STANDARD_EDITION), 2.0 * edition_rate(state), False)
    if randomness.uniform(state, STANDARD_SEAL) > 0.8:
        item.seal = seal_of(randomness.uniform(state, STANDARD_SEAL_KIND))


@rule
def seal_of(poll):
    if poll > 0.75:
        return cards.RED_SEAL
    if poll > 0.5:
        return cards.BLUE_SEAL
    return cards.GOLD_SEAL if poll > 0.25 else cards.PURPLE_SEAL


@rule
def draw_shelf_item(state, item):
    """Draw an item for the shelf: first its kind, then which one."""
    tarots = 32.0 if state.owned_vouchers[TAROT_TYCOON] else (9.6 if state.owned_vouchers[TAROT_MERCHANT] else 4.0)
    planets = 32.0 if state.owned_vouchers[PLANET_TYCOON] else (9.6 if state.owned_vouchers[PLANET_MERCHANT] else 4.0)
    playing = 4.0 if state.owned_vouchers[MAGIC_TRICK] else 0.0
    spectrals = decks.GHOST_SPECTRAL_RATE if state.deck == decks.GHOST else 0.0
    poll = randomness.uniform(state, KIND_STREAM) * (20.0 + tarots + planets + playing + spectrals)
    if poll <= 20.0:
        draw_joker(state, item, SHOP, 0)
    elif poll <= 20.0 + tarots:
        draw_consumable(state, item, TAROTS, SHOP_TAROT)
    elif poll <= 20.0 + tarots + planets:
        draw_consumable(state, item, PLANETS, SHOP_PLANET)
    elif poll <= 20.0 + tarots + planets + playing:
        draw_shop_card(state, item)
    else:
        draw_consumable(state, item, SPECTRALS, SHOP_SPECTRAL)


@rule
def draw_pack(state):
    """Draw a pack for the shop; the first pack of a run is fixed."""
    state.packs_offered = min(state.packs_offered + 1, 30000)
    if state.packs_offered == 1:
        return packs.FIRST_PACK
    poll = randomness.uniform(state, PACK_STREAM) * packs.TOTAL_WEIGHT
    sum_of_weights = 0.0
    for kind in range(packs.PACKS):
        for _ in range(packs.VARIANTS[kind]):
            sum_of_weights += packs.EACH[kind]
            if sum_of_weights >= poll:
                return kind
    return packs.PACKS - 1


@rule
def fill_pack(state, kind):
    """Draw the contents of a pack one after the other, so that nothing appears twice."""
    state.pack_count = 0
    for place in range(packs.SHOWN[kind]):
        item = state.pack[place]
        contents = kind // 3
        if contents == packs.ARCANA:
            if state.owned_vouchers[OMEN_GLOBE] and randomness.uniform(state, OMEN) > 0.8:
                draw_pack_consumable(state, item, SPECTRALS, OMEN_SPECTRAL, SOUL_SPECTRAL)
            else:
                draw_pack_consumable(state, item, TAROTS, PACK_TAROT, SOUL_TAROT)
        elif contents == packs.CELESTIAL:
            favourite = most_played(state) if state.owned_vouchers[TELESCOPE] and place == 0 else -1
            if favourite >= 0:
                blank_item(state, item, CONSUMABLE, consumables.PLANET_OF[favourite])
            else:
                draw_pack_consumable(state, item, PLANETS, PACK_PLANET, SOUL_PLANET)
        elif contents == packs.SPECTRAL:
            draw_pack_consumable(state, item, SPECTRALS, PACK_SPECTRAL, SOUL_SPECTRAL)
        elif contents == packs.BUFFOON:
            draw_joker(state, item, BUFFOON, 0)
        else:
            draw_pack_card(state, item)
        state.pack_count = place + 1


@rule
def most_played(state):
    """The hand played most often, the better one of equals; -1 if none was played."""
    best = -1
    most = 0
    for hand in range(hands.HANDS):
        if state.plays[hand] > most:
            most = state.plays[hand]
            best = hand
    return best


@rule
def boss_is_eligible(state, boss):
    if state.ante >= 2 and state.ante % 8 == 0:
        return boss >= blinds.FIRST_SHOWDOWN
    return boss < blinds.FIRST_SHOWDOWN and blinds.LEAST_ANTE[boss] <= max(1, state.ante)


@rule
def draw_boss(state):
    """Draw a boss among those that have appeared least often."""
    fewest = 255
    for place in range(len(blinds.ALPHABETICAL)):
        boss = blinds.ALPHABETICAL[place]
        if boss_is_eligible(state, boss):
            fewest = min(fewest, np.int64(state.boss_uses[boss]))
    count = 0
    for place in range(len(blinds.ALPHABETICAL)):
        boss = blinds.ALPHABETICAL[place]
        count += boss_is_eligible(state, boss) and state.boss_uses[boss] == fewest
    skip = randomness.below(state, BOSS_STREAM, count)
    chosen = blinds.FIRST_BOSS
    for place in range(len(blinds.ALPHABETICAL)):
        boss = blinds.ALPHABETICAL[place]
        if boss_is_eligible(state, boss) and state.boss_uses[boss] == fewest:
            if skip == 0:
                chosen = boss
                break
            skip -= 1
    state.boss_uses[chosen] = min(254, state.boss_uses[chosen] + 1)
    return chosen


@rule
def draw_voucher(state, source):
    return draw_from_pool(state, VOUCHERS, source)


@rule
def draw_tag(state):
    return draw_from_pool(state, TAGS, TAG_STREAM)
