"""BalatroNet: cards, jokers and offers are embedded, and every play and discard is judged by what it would be.

What poker hand each of the 218 subsets of the first eight cards makes is not learned but counted, with matrix products;
learned is what it is worth in this situation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.networks import kinds_of
from ludus.agents.networks.arguments import MLPArgs
from ludus.agents.networks.heads import masked
from ludus.agents.networks.initial import orthogonal
from ludus.agents.networks.layout import Layout, check_shapes
from ludus.agents.networks.mlp import ACTIVATIONS
from ludus.games.balatro import actions as doing
from ludus.games.balatro.tables import blinds, cards, hands, packs, vouchers
from ludus.types import Discrete

Array = jax.Array

KINDS_OF_ITEMS, NUMBERS_OF_ITEMS = 4, 160
PLAIN, EMBEDDING, JUDGE = 26, 24, 24
"""numbers of `game_state` before the levels; widths of an embedding and of the judge of plays"""
CHOSEN = np.array([[bits >> place & 1 for place in range(doing.REACH)] for bits in doing.SUBSETS.tolist()], np.float32)
"""[subsets, cards] which cards a subset takes"""
WINDOWS = np.zeros((13, 10), np.float32)
"""[ranks, straights] which ranks a straight is made of: the first begins with the ace"""
for _low in range(10):
    WINDOWS[[(_low + step - 1) % 13 for step in range(5)], _low] = 1.0
SUBSETS = len(doing.SUBSETS)


class BalatroNet(nn.Module):
    """Observation to policy and value; `width` and `depth` are those of what sees the whole table."""

    layout: Layout
    args: MLPArgs
    outputs: int
    actions: Discrete
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    def init_rnn_state(self, rows: int) -> tuple[()]:
        """Nothing is remembered: what is seen says all."""
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
        logits = self._dense(self.actions.n, 0.01, "others")(table)
        plays, discards = self._plays(x, table)
        logits = logits.at[:, doing.PLAY : doing.PLAY + SUBSETS].add(plays)
        logits = logits.at[:, doing.DISCARD : doing.DISCARD + SUBSETS].add(discards)
        wanted = self._wanted(items, table)
        shelf, pack = x["shelf"].shape[1], x["pack"].shape[1]
        owned = x["owned"].shape[1]
        for first, low, count in ((doing.BUY, owned, shelf), (doing.BUY_AND_USE, owned, shelf),
                                  (doing.PICK, owned + shelf, pack), (doing.SELL_JOKER, 0, owned)):  # fmt: skip
            logits = logits.at[:, first : first + count].add(wanted[:, low : low + count])
        hidden = ACTIVATIONS[self.args.activation](self._dense(self.args.width, math.sqrt(2), "critic")(table))
        value = self._dense(self.outputs, 1.0, "value")(hidden).astype(jnp.float32)
        policy = logits.astype(jnp.float32) if legal is None else masked(logits, legal)
        return rstate, policy, value, jnp.ones(rows, bool)

    def _dense(self, width: int, gain: float, name: str) -> Any:
        return nn.Dense(width, kernel_init=orthogonal(gain), **kinds_of(self), name=name)

    def _items(self, x: Mapping[str, Array]) -> Array:
        """[B, owned + shelf + pack, embedding] jokers, and what is offered."""
        items = jnp.concatenate([x["owned"], x["shelf"], x["pack"]], axis=1).astype(jnp.int32)
        embed: Any = partial(nn.Embed, features=EMBEDDING, **kinds_of(self))
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
        """[B, width] all that is seen, in one vector."""
        hand = x["hand"].astype(jnp.int32)
        embed: Any = partial(nn.Embed, features=EMBEDDING, **kinds_of(self))
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
        """[B, subsets] what speaks for playing each, and for discarding each."""
        seen = subset_features(x).astype(self.dtype)
        judged = self._dense(JUDGE, math.sqrt(2), "judge")(seen)
        judged = nn.relu(judged + self._dense(JUDGE, 1.0, "judge_table")(table)[:, None, :])
        found = self._dense(2, 0.01, "judgement")(judged)
        return found[..., 0], found[..., 1]

    def _wanted(self, items: Array, table: Array) -> Array:
        """[B, items] what speaks for each of the jokers and offers."""
        mixed = self._dense(EMBEDDING, math.sqrt(2), "want")(items)
        mixed = nn.relu(mixed + self._dense(EMBEDDING, 1.0, "want_table")(table)[:, None, :])
        return self._dense(1, 0.01, "wanted")(mixed)[..., 0]


def compressed(numbers: Array) -> Array:
    """Numbers of any size, as small ones."""
    numbers = numbers.astype(jnp.float32)
    return jnp.sign(numbers) * jnp.log1p(jnp.abs(jnp.clip(numbers, -1e30, 1e30)))


def subset_features(x: Mapping[str, Array]) -> Array:
    """[B, subsets, features] of what is taken, the hand it makes and about what it scores; and of what stays."""
    hand = x["hand"][:, : doing.REACH].astype(jnp.int32)
    known = (hand[..., 0] > 0) & (hand[..., 0] < 14)
    stone = hand[..., 2] == cards.STONE
    ranks = jax.nn.one_hot(jnp.where(known & ~stone, hand[..., 0] - 1, -1), 13)
    suits = jax.nn.one_hot(jnp.where(known & ~stone, hand[..., 1], -1), 4)
    suits = jnp.maximum(suits, ((hand[..., 2] == cards.WILD) & known)[..., None])
    chips = jnp.where(known & (hand[..., 5] == 0), jnp.asarray(cards.RANK_CHIPS, jnp.float32)[hand[..., 0] - 1], 0.0)
    chips += 30.0 * (hand[..., 2] == cards.BONUS) + 50.0 * stone
    there = (hand[..., 0] > 0).astype(jnp.float32)
    every = jnp.concatenate([ranks, suits, jnp.stack([chips, there], axis=-1)], axis=-1)  # [B, 8, 19]
    taken = jnp.einsum("sk,bkf->bsf", CHOSEN, every)
    left = every.sum(axis=1)[:, None] - taken
    made, about, scored = hand_made(x, taken)
    kept_ranks, kept_suits = left[..., :13], left[..., 13:17]
    stays = jnp.stack(
        [kept_ranks.max(axis=-1) / 4, (kept_ranks >= 2).sum(axis=-1) / 2, kept_suits.max(axis=-1) / 5,
         ((kept_ranks > 0).astype(jnp.float32) @ WINDOWS).max(axis=-1) / 5, left[..., 17] / 50], axis=-1,
    )  # fmt: skip
    size = taken[..., 18:19] / 5
    return jnp.concatenate([made, about, scored, size, stays], axis=-1)


def hand_made(x: Mapping[str, Array], taken: Array) -> tuple[Array, Array, Array]:
    """Of every subset: its poker hand, one-hot; the logarithm of about what it scores, and that as part of the need."""
    counts, most_suit = taken[..., :13], taken[..., 13:17].max(axis=-1)
    most, pairs = counts.max(axis=-1), (counts >= 2).sum(axis=-1)
    flush = most_suit >= 5
    straight = (((counts > 0).astype(jnp.float32) @ WINDOWS) >= 5).any(axis=-1)
    full = (most == 3) & (pairs == 2)
    kinds = [
        flush & (most >= 5), flush & full, most >= 5, flush & straight, most == 4, full, flush, straight, most == 3,
        pairs == 2, most == 2, most >= 0,
    ]  # fmt: skip
    made = jnp.stack(kinds, axis=-1)
    made = made & (jnp.cumsum(made, axis=-1) == 1)  # the best one alone
    made = made.astype(jnp.float32)
    levels = x["game_state"][:, PLAIN : PLAIN + hands.HANDS] * 5.0
    numbers = jnp.asarray(hands.NUMBERS, jnp.float32)
    base = made @ jnp.stack([numbers[:, 0], numbers[:, 1]], axis=-1)
    more = jnp.einsum("bsh,bhn->bsn", made, (levels - 1)[..., None] * numbers[None, :, 2:4])
    score = (base[..., 0] + more[..., 0] + taken[..., 17]) * (base[..., 1] + more[..., 1])
    logs = x["game_state"][:, 2:4] * math.log(10)
    needed = jnp.maximum(jnp.exp(jnp.minimum(logs[:, 1], 60.0)) - jnp.exp(jnp.minimum(logs[:, 0], 60.0)), 1.0)
    part = jnp.minimum(score / needed[:, None], 2.0)
    return made, jnp.log1p(score)[..., None] / 5, part[..., None]


NETWORK = BalatroNet
