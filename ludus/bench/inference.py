"""Decisions/s of the default RNNAgent on observations shaped like a duel: 160 cards, 24 actions, 32 past actions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ludus.agents.neural.networks.games.duel.layout import LAYOUT as DUEL_SHAPED
from ludus.agents.neural.networks.games.duel.layout import category as category
from ludus.agents.neural.networks.games.duel.layout import points as points
from ludus.agents.neural.networks.layout import Field, Layout, trimmed
from ludus.agents.neural.networks.settings import KNOWN_IDS, ModelArgs
from ludus.bench import Result, Tell, median_rate
from ludus.types import Array, Discrete, PyTree

if TYPE_CHECKING:
    import jax

ROWS = 8
IN_PLAY = 40
"""number of cards of both players at the start of a duel"""
ROUND_SECONDS = 1.0
Decide = Callable[[Mapping[str, Array], PyTree, Array], "tuple[PyTree, tuple[jax.Array, jax.Array]]"]
"""of observations, memory and seats: the new memory, and logits and values"""


def random_duel(rows: int, cards: int, seed: int = 0) -> dict[str, Array]:
    """Observations [rows, ...] with `cards` cards, eight actions and ten past actions; the rest is padding."""
    return random_observation(DUEL_SHAPED, rows, {"cards_": cards, "actions_": 8, "h_actions_": 10}, seed)


def random_observation(layout: Layout, rows: int, counts: Mapping[str, int], seed: int = 0) -> dict[str, Array]:
    """Random observations [rows, ...] of a layout with ids; `counts` is the number of real tokens of each set."""
    dice = np.random.default_rng(seed)
    seen = {array.name: np.zeros((rows, *array.shape), array.dtype) for array in layout.shown}
    for part in layout.sets:
        tokens = seen[part.name][:, : counts[part.name]]
        _fill(dice, part.fields, tokens)
        tokens[..., part.padding] = dice.integers(1, 8, tokens.shape[:-1])
        ids = dice.integers(1, KNOWN_IDS + 1, tokens.shape[:-1])
        tokens[..., part.ids[0]], tokens[..., part.ids[1]] = ids // 256, ids % 256
        if part.points >= 0:  # the first action refers to no card, like ending a turn
            about = tokens[:, 1:, part.points]
            about[:] = dice.integers(0, counts[layout.entities[0].name] + 1, about.shape)
    for field in layout.globals:
        _fill(dice, (field,), seen[field.source or field.name])
    return seen


def _fill(dice: np.random.Generator, fields: tuple[Field, ...], columns: Array) -> None:
    for field in fields:
        shape = (*columns.shape[:-1], field.size)
        values = dice.integers(0, int(max(field.high)) + 1, shape)
        if field.pair:
            values = np.stack([values // 256, values % 256], axis=-1).reshape(*shape[:-1], field.columns)
        columns[..., field.at : field.at + field.columns] = values


def suite(rounds: int, tell: Tell) -> Iterator[Result]:
    """Eight observations at once: with padding processed, and with padding skipped."""
    name = f"agent/rnn/inference/batch{ROWS}"
    tell(name, 0, 2)
    yield Result(name, measure(ModelArgs(), random_duel(ROWS, 160), rounds), "observations/s")
    tell(f"{name}/padding_skipped", 1, 2)
    few = trimmed(DUEL_SHAPED, random_duel(ROWS, IN_PLAY))
    yield Result(f"{name}/padding_skipped", measure(ModelArgs(card_mask=True), few, rounds), "observations/s")


def measure(args: ModelArgs, observation: Mapping[str, Array], rounds: int) -> float:
    """Observations/s, each decision with the memory of the previous one."""
    decide, memory = compiled(args)
    seats: Array = np.zeros(ROWS, np.int32)

    def rate() -> float:
        nonlocal memory
        start, decided = time.perf_counter(), 0
        while time.perf_counter() - start < ROUND_SECONDS:
            memory, (logits, value) = decide(observation, memory, seats)
            logits.block_until_ready(), value.block_until_ready()
            decided += ROWS
        return decided / (time.perf_counter() - start)

    rate()
    return median_rate(rate, rounds)


def compiled(args: ModelArgs) -> tuple[Decide, PyTree]:
    """A decision of an untrained network as one compiled function, and its initial memory.

    Id embeddings are folded once, as for all decisions with the same parameters.
    """
    import jax

    from ludus.agents.neural.networks import new_variables
    from ludus.agents.neural.networks.recurrent import RNNAgent, folded

    network = RNNAgent(DUEL_SHAPED, args, 1, Discrete(24), seats=2)
    variables = folded(network, new_variables(network, jax.random.key(0)))

    @jax.jit
    def decide(
        variables: PyTree, observation: Mapping[str, Array], memory: PyTree, seats: Array
    ) -> tuple[PyTree, tuple[jax.Array, jax.Array]]:
        answer: PyTree = network.apply(variables, observation, memory, switch_or_main=seats)
        return answer[0], answer[1:3]

    return lambda *given: decide(variables, *given), network.init_rnn_state(ROWS)
