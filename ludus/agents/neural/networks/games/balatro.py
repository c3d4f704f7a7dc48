"""BalatroNet: embeds cards, jokers and offers, and computes features of every possible play and discard.

The poker hand of each of the 218 subsets of the first eight cards is computed; its value in the present situation is
learned. The counts of all ranks are packed into two integers, four bits each, so that a subset costs a few additions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.agents.neural.networks.heads import masked
from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.layout import Layout, check_shapes
from ludus.agents.neural.networks.mlp import ACTIVATIONS
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.games.balatro import actions
from ludus.games.balatro.tables import blinds, cards, hands, packs, vouchers
from ludus.types import Discrete

Array = jax.Array

KINDS_OF_ITEMS, NUMBERS_OF_ITEMS = 4, 160
PLAIN, EMBEDDING = 26, 24
"""number of elements of `game_state` before the levels; width of an embedding"""
SUBSETS = len(actions.SUBSETS)
CHOSEN = np.array(
    [[bits >> place & 1 for place in range(actions.REACH)] for bits in actions.SUBSETS.tolist()], np.int32
)
"""[subsets, cards] 1 for the cards of a subset"""
LOW_RANKS = 7
"""number of ranks whose counts are in the first integer; the other six are in the second"""
LOW_ONES, HIGH_ONES = 0x1111111, 0x111111
STRAIGHTS = [{(low + step - 1) % 13 for step in range(5)} for low in range(10)]
"""the ranks of each straight; the first begins with the ace"""
WINDOWS = np.array(
    [[sum(1 << 4 * rank for rank in straight if rank < LOW_RANKS),
      sum(1 << 4 * (rank - LOW_RANKS) for rank in straight if rank >= LOW_RANKS)] for straight in STRAIGHTS], np.int32
)  # fmt: skip
FEATURES = 11
"""number of features of a subset, besides its poker hand"""


class BalatroNet(nn.Module):
    """Observation to policy and value; `width` and `depth` are those of the shared layers for the whole table."""

    layout: Layout
    args: MLPArgs
    outputs: int
    actions: Discrete
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    def init_rnn_state(self, rows: int) -> tuple[()]:
        """No memory, because the observation contains everything relevant."""
        return ()

    @nn.compact
    def __call__(
        self, x: Mapping[str, Array], rstate: tuple[()] = (), done: Array | None = None,
        switch_or_main: Array | None = None, train: bool = False, legal: Array | None = None,
    ) -> tuple[tuple[()], Array, Array, Array]:  # fmt: skip
        """(rstate, logits [B, 1000], value [B, outputs], valid [B])."""
        rows = check_shapes(self.layout, x)
        items = self._items(x)
        table = self._table(x, items)
        others = self._dense(self.actions.n - 2 * SUBSETS, 0.01, "others")(table)
        plays, discards = self._plays(x, table)
        logits = jnp.concatenate([plays, discards, others], axis=-1)
        item_logits = self._item_logits(items, table)
        shelf, pack = x["shelf"].shape[1], x["pack"].shape[1]
        owned = x["owned"].shape[1]
        for first, low, count in ((actions.BUY, owned, shelf), (actions.BUY_AND_USE, owned, shelf),
                                  (actions.PICK, owned + shelf, pack), (actions.SELL_JOKER, 0, owned)):  # fmt: skip
            logits = logits.at[:, first : first + count].add(item_logits[:, low : low + count])
        hidden = ACTIVATIONS[self.args.activation](self._dense(self.args.width, math.sqrt(2), "critic")(table))
        value = self._dense(self.outputs, 1.0, "value")(hidden).astype(jnp.float32)
        policy = logits.astype(jnp.float32) if legal is None else masked(logits, legal)
        return rstate, policy, value, jnp.ones(rows, bool)

    def _dense(self, width: int, gain: float, name: str) -> nn.Dense:
        return nn.Dense(width, kernel_init=orthogonal(gain), **kinds_of(self), name=name)

    def _items(self, x: Mapping[str, Array]) -> Array:
        """[B, owned + shelf + pack, embedding] owned jokers and offers."""
        items = jnp.concatenate([x["owned"], x["shelf"], x["pack"]], axis=1).astype(jnp.int32)
        embed = partial(nn.Embed, features=EMBEDDING, **kinds_of(self))
        kind = jnp.clip(items[..., 0], 0, KINDS_OF_ITEMS - 1)
        number = jnp.clip(items[..., 1], 0, NUMBERS_OF_ITEMS - 1)
        found = embed(KINDS_OF_ITEMS * NUMBERS_OF_ITEMS, name="item")(kind * NUMBERS_OF_ITEMS + number)
        found += embed(8, name="edition")(jnp.clip(items[..., 2], 0, 7))
        numbers = jnp.zeros((*items.shape[:2], 4), self.dtype)
        owned, shelf = x["owned"].shape[1], x["shelf"].shape[1]
        numbers = numbers.at[:, :owned, :3].set(compressed(x["counters"]).astype(self.dtype))
        numbers = numbers.at[:, owned : owned + shelf, 3].set(compressed(x["prices"][:, :shelf]).astype(self.dtype))
        mixed = found + self._dense(EMBEDDING, 1.0, "item_numbers")(numbers)
        there = (kind > 0)[..., None]
        return jnp.where(there, nn.relu(self._dense(EMBEDDING, math.sqrt(2), "item_mix")(mixed)), 0.0)

    def _table(self, x: Mapping[str, Array], items: Array) -> Array:
        """[B, width] the whole observation as one vector."""
        hand = x["hand"].astype(jnp.int32)
        embed = partial(nn.Embed, features=EMBEDDING, **kinds_of(self))
        card = embed(16, name="rank")(jnp.clip(hand[..., 0], 0, 15)) + embed(4, name="suit")(hand[..., 1] & 3)
        card += embed(16, name="enhancement")(jnp.clip(hand[..., 2], 0, 15))
        card = jnp.where((hand[..., 0] > 0)[..., None], nn.relu(card), 0.0)
        owned = x["owned"].shape[1]
        parts = [
            compressed(x["game_state"]), x["cards"].reshape(len(hand), -1), compressed(x["prices"]),
            jax.nn.one_hot(x["phase"].reshape(-1), 5), jax.nn.one_hot(x["boss"].reshape(-1), blinds.BLINDS),
            jax.nn.one_hot(x["blind"].reshape(-1), blinds.BLINDS), x["redeemed"].reshape(len(hand), -1),
            jax.nn.one_hot(x["vouchers"], vouchers.VOUCHERS + 1).sum(axis=1),
            jax.nn.one_hot(x["packs"], packs.PACKS + 1).sum(axis=1), jax.nn.one_hot(x["consumables"], 56).sum(axis=1),
            items[:, :owned].sum(axis=1), items[:, owned:].sum(axis=1), card.sum(axis=1),
            jnp.minimum(x["played"], 4) / 4,
        ]  # fmt: skip
        found = jnp.concatenate([part.astype(self.dtype) for part in parts], axis=-1)
        bend = ACTIVATIONS[self.args.activation]
        for layer in range(self.args.depth):
            found = bend(self._dense(self.args.width, math.sqrt(2), f"table_{layer}")(found))
        return found

    def _plays(self, x: Mapping[str, Array], table: Array) -> tuple[Array, Array]:
        """[B, subsets] logits of playing and of discarding each subset: its features times weights from the table."""
        kind, features = subsets_of(x)
        weights = self._dense(2 * (hands.HANDS + FEATURES), 0.1, "weights")(table)
        weights = weights.reshape(len(table), 2, hands.HANDS + FEATURES)
        of_kinds, of_features = weights[..., : hands.HANDS], weights[..., hands.HANDS :]
        made = jax.nn.one_hot(kind, hands.HANDS, dtype=self.dtype)
        found = jnp.einsum("bwh,bsh->bws", of_kinds, made)
        found += jnp.einsum("bwf,bsf->bws", of_features, features.astype(self.dtype))
        return found[:, 0], found[:, 1]

    def _item_logits(self, items: Array, table: Array) -> Array:
        """[B, items] logits of the jokers and offers."""
        mixed = self._dense(EMBEDDING, math.sqrt(2), "want")(items)
        mixed = nn.relu(mixed + self._dense(EMBEDDING, 1.0, "want_table")(table)[:, None, :])
        return self._dense(1, 0.01, "wanted")(mixed)[..., 0]


def compressed(numbers: Array) -> Array:
    """Compress numbers of any size: sign(x) log(1 + |x|)."""
    numbers = numbers.astype(jnp.float32)
    return jnp.sign(numbers) * jnp.log1p(jnp.abs(jnp.clip(numbers, -1e30, 1e30)))


class Counts(NamedTuple):
    """Counts of a set of cards: cards of each rank and suit (four bits each), sum of chips, and size."""

    low: Array
    high: Array
    suits: Array
    chips: Array
    size: Array

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(one - two for one, two in zip(self, other, strict=True)))


def counts_of(x: Mapping[str, Array]) -> tuple[Counts, Counts]:
    """Counts of every subset of the first eight cards and of the remaining cards, [B, subsets] each."""
    hand = x["hand"][:, : actions.REACH].astype(jnp.int32)
    rank, suit, enhancement = hand[..., 0] - 1, hand[..., 1], hand[..., 2]
    there, known = hand[..., 0] > 0, (hand[..., 0] > 0) & (hand[..., 0] < 14)
    ranked = known & (enhancement != cards.STONE)
    low = jnp.where(ranked & (rank < LOW_RANKS), 1 << 4 * jnp.clip(rank, 0, LOW_RANKS - 1), 0)
    high = jnp.where(ranked & (rank >= LOW_RANKS), 1 << 4 * jnp.clip(rank - LOW_RANKS, 0, 5), 0)
    suits = jnp.where(ranked, jnp.where(enhancement == cards.WILD, 0x1111, 1 << 4 * (suit & 3)), 0)
    chips = jnp.asarray(cards.RANK_CHIPS, jnp.int32)[jnp.clip(rank, 0, 12)]
    chips = jnp.where(enhancement == cards.STONE, 50, chips + 30 * (enhancement == cards.BONUS))
    chips = jnp.where(known & (hand[..., 5] == 0), chips, 0)
    each = Counts(low, high, suits, chips, there.astype(jnp.int32))
    taken = Counts(*(part @ CHOSEN.T for part in each))
    whole = Counts(*(part.sum(axis=1, keepdims=True) for part in each))
    return taken, whole - taken


def at_least(counts: Counts, least: int) -> tuple[Array, Array]:
    """Bits, in the two integers, of the ranks with at least `least` (1 to 5) cards."""

    def bits(packed: Array, ones: int) -> Array:
        one, two, four = packed, packed >> 1, packed >> 2
        found = {1: one | two | four, 2: two | four, 3: (two & one) | four, 4: four, 5: four & one}
        return found[least] & ones

    return bits(counts.low, LOW_ONES), bits(counts.high, HIGH_ONES)


def some(bits: tuple[Array, Array]) -> Array:
    return (bits[0] | bits[1]) != 0


def number(bits: tuple[Array, Array]) -> Array:
    return jax.lax.population_count(bits[0]) + jax.lax.population_count(bits[1])


def longest_suit(counts: Counts) -> Array:
    return jnp.stack([(counts.suits >> shift) & 15 for shift in (0, 4, 8, 12)]).max(axis=0)


def nearest_straight(counts: Counts) -> Array:
    """The largest number of ranks of any straight that are present."""
    low, high = at_least(counts, 1)
    return jnp.stack([number((low & int(mask[0]), high & int(mask[1]))) for mask in WINDOWS]).max(axis=0)


def kind_of(counts: Counts) -> Array:
    """The poker hand of cards, without the effects of jokers."""
    flush, straight = longest_suit(counts) >= 5, nearest_straight(counts) >= 5
    pairs = number(at_least(counts, 2))
    two, three, four, five = (some(at_least(counts, least)) for least in (2, 3, 4, 5))
    full = three & (pairs >= 2)
    made = [
        flush & five, flush & full, five, flush & straight, four, full, flush, straight, three, pairs >= 2, two,
    ]  # fmt: skip
    kind = jnp.full(counts.low.shape, hands.HIGH_CARD)
    for place in reversed(range(len(made))):
        kind = jnp.where(made[place], place, kind)
    return kind


def subsets_of(x: Mapping[str, Array]) -> tuple[Array, Array]:
    """[B, subsets] the poker hand of each subset, and [B, subsets, features] features of it and the remaining cards."""
    taken, left = counts_of(x)
    kind = kind_of(taken)
    numbers = jnp.asarray(hands.NUMBERS, jnp.float32)
    more = (x["game_state"][:, PLAIN : PLAIN + hands.HANDS] * 5.0 - 1.0)[..., None] * numbers[:, 2:4]
    base = jnp.take_along_axis(numbers[:, :2] + more, kind[..., None], axis=1)  # [B, subsets, chips and mult]
    score = (base[..., 0] + taken.chips) * base[..., 1]
    reached, required = (jnp.exp(jnp.minimum(x["game_state"][:, place] * math.log(10), 60.0)) for place in (2, 3))
    part = score / jnp.maximum(required - reached, 1.0)[:, None]
    features = [
        jnp.log(score) / 5, jnp.minimum(part, 1.5), part >= 1.0, taken.size / 5, taken.chips / 50, left.chips / 50,
        some(at_least(left, 3)), number(at_least(left, 2)) / 2, longest_suit(left) / 5, longest_suit(left) >= 4,
        nearest_straight(left) / 5,
    ]  # fmt: skip
    return kind, jnp.stack([feature.astype(jnp.float32) for feature in features], axis=-1)


NETWORK = BalatroNet
