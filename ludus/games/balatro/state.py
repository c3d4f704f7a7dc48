"""The state of a run, a record of a few thousand bytes."""

import numpy as np

from ludus.games.balatro.randomness import ANTES_KEPT, RESAMPLES
from ludus.games.balatro.tables import blinds, hands, streams, vouchers
from ludus.dsl import HEAD, f64, i8, i16, i32, record, u8, u16, u64

CHOOSING_BLIND, PLAYING_HAND, CASHING_OUT, SHOPPING, OPENING = range(5)
"""phases: choosing a blind, playing it, collecting its pay, in the shop, opening a pack"""
PHASES = ("blind", "hand", "pay", "shop", "pack")
SMALL, BIG, BOSS = range(3)

MOST_CARDS, MOST_IN_HAND, MOST_JOKERS, MOST_CONSUMABLES, MOST_TAGS = 200, 32, 24, 24, 24
MOST_ON_SHELF, MOST_VOUCHERS, MOST_PACKS, MOST_IN_PACK, MOST_PLAYED, SEED_LETTERS = 4, 6, 2, 5, 5, 8

NO_ITEM, JOKER, CONSUMABLE, PLAYING_CARD = range(4)

CARD = record(rank=u8, suit=u8, enhancement=u8, edition=u8, seal=u8, flags=u8, chips=i16)
"""a playing card; `chips` are permanent chips from Hiker"""
ITEM = record(
    kind=u8, number=u8, edition=u8, stickers=u8, rank=u8, suit=u8, enhancement=u8, seal=u8, debuffed=u8, face_down=u8,
    free=u8, rounds=u8, sell_value=i16, counter=i16, born=i32, value=f64,
)  # fmt: skip
"""an item that is owned, offered or in a pack: a joker, a consumable or a playing card. `sell_value` is added to half
the price; `rounds` is the number of rounds before it perishes; `born` is the order of creation, which random draws
use; `value` and `counter` are the state of a joker"""

TALLY = record(
    chips=f64, mult=f64, score=f64, level=i16, dollars=i16, operations=i16, limit=i16, contains=u16, hand=u8,
    scoring=u8, refused=u8, boss_acted=u8, lucky=u8, dry=u8, done_by=i16, done_on=i16, count=i8,
    cards=(u8, MOST_PLAYED), broken=u8, changed=u8, fixed=u16, fixed_to=u16, misprint=i8,
)  # fmt: skip
"""the hand being scored. `contains` has bits of poker hands; `scoring`, `broken` and `changed` have bits of played
cards; only the first `limit` operations are carried out, so that the steps of a score can be shown; rolls in `fixed`
have the outcomes in `fixed_to`; with `dry` nothing is created"""

STATE = record(
    **HEAD, deck=u8, stake=u8, seed=(u8, SEED_LETTERS), actions=u8, reward=u8, endless=u8, scale=f64,
    phase=u8, blind=u8, boss=u8, disabled=u8, won=u8, sorted_by=u8, ante=i16, furthest_ante=i16, round=i16, beaten=i16,
    decisions=i32, born=i32, money=i32, score=f64, required=f64, potential=f64,
    hands_left=i16, discards_left=i16, hands_played=i16, discards_used=i16, hands=i16, discards=i16, hand_size=i16,
    hand_size_now=i16, joker_slots=i16, consumable_slots=i16, starting_cards=i16,
    levels=(i16, hands.HANDS), plays=(i32, hands.HANDS), plays_this_round=(i16, hands.HANDS),
    eye_hands=u16, mouth_hand=i8, ox_hand=i8, last_hand=i8, crimson=i8, fish=u8, leaf_sold=u8,
    owned_vouchers=(u8, vouchers.VOUCHERS), boss_uses=(u8, blinds.BLINDS), bosses_rerolled=u8,
    tags=(u8, MOST_TAGS), tag_count=i8, tag_hands=(i8, MOST_TAGS), offered_tags=(u8, 2), orbital_hands=(i8, 3),
    skips=i16, hands_of_run=i32, unused_discards=i32, tarots_used=i16, planets_used=u16, last_used=u8, ectoplasms=u8,
    gros_michel_gone=u8, idol_rank=u8, idol_suit=u8, mail_rank=u8, ancient_suit=u8, castle_suit=u8,
    card_count=i16, pile_count=i16, hand_count=i16, joker_count=i16, consumable_count=i16, pack_count=i16,
    shelf_count=i16, offered_vouchers=i16, tag_vouchers=i8, offered_packs=i16, picks_left=i16, pack_kind=i8,
    pack_return=u8, packs_offered=i16, rerolls=i16, free_rerolls=i16, reroll_base=i16, coupon=u8, pay=i32,
    rules=u16, luck=i16, acts_as=(i8, MOST_JOKERS),
    cards=(CARD, MOST_CARDS), pile=(u8, MOST_CARDS), hand=(u8, MOST_IN_HAND), jokers=(ITEM, MOST_JOKERS + 1),
    consumables=(ITEM, MOST_CONSUMABLES), shelf=(ITEM, MOST_ON_SHELF), pack=(ITEM, MOST_IN_PACK),
    vouchers=(i8, MOST_VOUCHERS), packs=(i8, MOST_PACKS), packs_free=(u8, MOST_PACKS), tally=TALLY,
    seed_text=(u8, SEED_LETTERS), seed_letters=i8, seed_hash=f64, generator=(u64, 4),
    streams=(f64, streams.FIRST_OF_ANTE + ANTES_KEPT * (streams.STREAMS - streams.FIRST_OF_ANTE)),
    resamples=i16, resample_names=(i32, RESAMPLES), resample_values=(f64, RESAMPLES),
)  # fmt: skip

assert all(dtype.itemsize < np.iinfo(np.int16).max for dtype in (CARD, ITEM, TALLY, STATE))
