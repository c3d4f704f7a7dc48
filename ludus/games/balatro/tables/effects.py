"""The vocabulary for the abilities of jokers: when they act, on which condition, what they do and how much.

    scored(suit("D"), mult=3)           +3 mult for each diamond that scores
    main(xmult=0.2, per=STEEL_CARDS, plus=1)
    before(contains("Straight"), gain=15), main(chips=1, per=STATE)

An amount is `plus + number * per`. STATE is the joker's own accumulated value. A condition on a card tests the card
that is scored, held, discarded or destroyed at that moment.
"""

from __future__ import annotations

from typing import NamedTuple

from ludus.games.balatro.tables import cards, hands, streams

WHENS = (
    "before", "scored", "held", "main", "after", "again", "held_again", "discarded", "discard", "blind", "first_draw",
    "round_end", "cash_out", "sold_self", "sold", "shop_exit", "reroll", "pack_opened", "pack_skipped", "used",
    "added", "destroyed", "react", "owned", "refused", "played",
)  # fmt: skip
(
    BEFORE, SCORED, HELD, MAIN, AFTER, AGAIN, HELD_AGAIN, DISCARDED, DISCARD, BLIND, FIRST_DRAW, ROUND_END, CASH_OUT,
    SOLD_SELF, SOLD, SHOP_EXIT, REROLL, PACK_OPENED, PACK_SKIPPED, USED, ADDED, DESTROYED, REACT, OWNED,
    REFUSED, PLAYED,
) = range(len(WHENS))  # fmt: skip

# Conditions. Those up to WAS_LUCKY test one card.
(
    ALWAYS, OF_RANKS, OF_SUIT, IS_FACE, IS_ENHANCED, IS_FIRST_FACE, IS_FIRST, IS_IDOL, OF_ANCIENT_SUIT, OF_MAIL_RANK,
    OF_CASTLE_SUIT, IS_LOWEST, WAS_LUCKY, CONTAINS, PLAYED_AT_MOST, PLAYED_EXACTLY, NO_DISCARDS_LEFT, LAST_HAND,
    HELD_ALL_BLACK, SIXTH_HAND, PLAYED_THIS_ROUND, ALL_SUITS, CLUB_AND_OTHER, SIXTEEN_ENHANCED, FIRST_AND_SINGLE,
    FIRST_SINGLE_SIX, ACE_AND_STRAIGHT, POOR, IS_LISTED_HAND, BOSS_ACTED, NO_FACE_SCORES, FACE_SCORES, NOT_FAVOURITE,
    FAVOURITE, FIRST_DISCARD, FIRST_DISCARD_SINGLE, THREE_FACES, NO_DISCARDS_USED, NOT_BOSS, BOSS_BEATEN, PLANET_USED,
) = range(41)  # fmt: skip

# Quantities by which an amount is multiplied (`per`).
(
    ONE, STATE, DISCARDS_LEFT, EMPTY_SLOTS, STEEL_CARDS, STONE_CARDS, JOKERS, PLAYS, PILE, MISSING_CARDS, TAROTS_USED,
    MONEY, FIVE_DOLLARS, SELL_OF_OTHERS, SKIPS, CARD_VALUE, NINES, PLANETS_USED, ENHANCED_SCORED, MISPRINT,
) = range(20)  # fmt: skip

# Effects. Those from GAIN on change the joker itself, so a joker that copies the ability does not repeat them.
(
    CHIPS, MULT, XMULT, DOLLARS, CARD_CHIPS, REPEATS, HAND_SIZE, HANDS, DISCARDS, DEBT, FREE_REROLLS, INTEREST,
    LEVEL_UP, NO_DISCARDS, DISABLE_BOSS, DOUBLE_TAG, CREATE_TAROT, CREATE_SPECTRAL, CREATE_JOKERS, ADD_STONE,
    ADD_SEALED, COPY_PLAYED, COPY_CONSUMABLE, DUPLICATE_JOKER, DESTROY_SIX, DESTROY_DISCARDED, GILD_FACES, GIFT, GAIN,
    SET, LOSE, GAIN_EVERY, SELL_VALUE, STRIP_ENHANCEMENTS, DESTROY_RIGHT, DESTROY_RANDOM, DESTROY_ITSELF,
    NEW_LISTED_HAND,
) = range(38)  # fmt: skip
AMOUNTS = {
    "chips": CHIPS, "mult": MULT, "xmult": XMULT, "dollars": DOLLARS, "repeats": REPEATS, "gain": GAIN, "set": SET,
    "lose": LOSE, "card_chips": CARD_CHIPS, "sell_value": SELL_VALUE, "hand_size": HAND_SIZE, "hands": HANDS,
    "discards": DISCARDS, "debt": DEBT, "free_rerolls": FREE_REROLLS, "interest": INTEREST,
}  # fmt: skip


class Condition(NamedTuple):
    """A condition and its argument: bits of ranks, a suit, a hand or a number."""

    kind: int = ALWAYS
    about: int = 0


class Effect(NamedTuple):
    """One effect of a joker."""

    when: int
    condition: Condition
    does: int
    number: float = 0.0
    per: int = ONE
    plus: float = 0.0
    stream: int = -1
    """random stream of the roll that decides whether it happens; -1 for no roll"""
    odds: int = 0
    """the chance is 1 in `odds`"""
    source: int = -1
    """random stream of the created items"""


class Ability(tuple[Effect, ...]):
    """The effects of one clause of a row; chips and mult together are two effects."""


def ranks(letters: str) -> Condition:
    return Condition(OF_RANKS, sum(1 << cards.RANKS.index(letter) for letter in letters))


def suit(letter: str) -> Condition:
    return Condition(OF_SUIT, cards.SUITS.index(letter))


def enhanced(kind: int) -> Condition:
    return Condition(IS_ENHANCED, kind)


def contains(hand: str) -> Condition:
    return Condition(CONTAINS, hands.NAMES.index(hand))


FACE = Condition(IS_FACE)


def _clause(when: int):
    def clause(
        condition: Condition | int = ALWAYS, does: int = -1, *, per: int = ONE, plus: float = 0.0, roll: str = "",
        odds: int = 0, count: float = 0.0, source: str = "", **amounts: float,
    ) -> Ability:  # fmt: skip
        if isinstance(condition, int):
            condition = Condition(condition)
        stream, created = (streams.stream(name) if name else -1 for name in (roll, source))
        effect = Effect(when, condition, does, count, per, plus, stream, odds, created)
        found = [effect._replace(does=AMOUNTS[name], number=number) for name, number in amounts.items()]
        return Ability([*found, *([effect] if does >= 0 else [])])

    return clause


(
    before, scored, held, main, after, again, held_again, discarded, discard, blind, first_draw, round_end, cash_out,
    sold_self, sold, shop_exit, reroll, pack_opened, pack_skipped, used, added, destroyed, react, owned,
    refused, played,
) = map(_clause, range(len(WHENS)))  # fmt: skip
