"""How fast the default RNNAgent decides on a duel of cards: 160 of them, 24 actions, 32 past ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ludus.agents.networks.arguments import KNOWN_IDS, ModelArgs
from ludus.agents.networks.layout import Entities, Field, Layout, Shown, trimmed
from ludus.bench import Result, Tell, median_rate
from ludus.types import Array, Discrete

ROWS = 8
IN_PLAY = 40
"""cards of a duel that has just begun, of both players"""
ROUND_SECONDS = 1.0


def category(name: str, at: int, count: int, share: int = 16, columns: int = 1) -> Field:
    """Columns that each hold one of `count` values, from 0."""
    shape = () if columns == 1 else (columns,)
    return Field(name, shape, "category", (0.0,), (count - 1.0,), at, share=share)


def points(name: str, at: int, share: int = 16) -> Field:
    """Sixteen bits of life or strength, in soft steps up to 12,000."""
    return Field(name, (), "number", (0.0,), (12_000.0,), at, pair=True, share=share, bins=32)


def action_fields() -> tuple[Field, ...]:
    """The columns that possible and past actions share."""
    counts = (("message", 30, 8), ("act", 10, 8), ("finish", 3, 16), ("effect", 256, 4), ("phase", 4, 16))
    more = (("position", 9, 8), ("number", 13, 16), ("place", 31, 8), ("attribute", 10, 16))
    return tuple(category(name, at, count, share) for at, (name, count, share) in enumerate(counts + more, start=3))


CARDS = Entities(
    "cards_",
    160,
    (
        category("location", 2, 9, 8),
        category("sequence", 3, 76, 8),
        *(
            category(name, at, count)
            for name, at, count in (
                ("owner", 4, 2),
                ("position", 5, 9),
                ("overlay", 6, 2),
                ("attribute", 7, 8),
                ("race", 8, 27),
                ("level", 9, 14),
                ("counter", 10, 16),
                ("negated", 11, 3),
            )
        ),
        points("attack", 12),
        points("defense", 14),
        Field("types", (25,), "number", (0.0,), (1.0,), 16, share=8),
    ),
    columns=41,
    ids=(0, 1),
    padding=2,
)
GLOBALS = tuple(
    field._replace(source="global_")
    for field in (
        points("my_life", 0, 4),
        points("their_life", 2, 4),
        category("turn", 4, 20, 8),
        category("phase", 5, 11, 8),
        category("first", 6, 2, 8),
        category("my_turn", 7, 2, 8),
        category("counts", 8, 100, 16, columns=14),
    )
)
PAST = (category("turns_ago", 12, 20, 2), category("turn_phase", 13, 12, 2))

DUEL_SHAPED = Layout(
    shown=(
        Shown("cards_", (160, 41), "uint8"),
        Shown("global_", (23,), "uint8"),
        Shown("actions_", (24, 12), "uint8"),
        Shown("h_actions_", (32, 14), "uint8"),
    ),
    globals=GLOBALS,
    entities=(CARDS,),
    history=Entities("h_actions_", 32, (*action_fields(), *PAST), columns=14, ids=(1, 2), padding=3),
    actions=Entities("actions_", 24, action_fields(), columns=12, ids=(1, 2), padding=3, points=0),
    ended=("global_", 22),
)
"""The observation of a card duel, declared: what a column means, and nothing of how it is encoded."""


def random_duel(rows: int, cards: int, seed: int = 0) -> dict[str, Array]:
    """Observations [rows, ...] with so many cards, eight actions and ten past ones; everything else is padding."""
    return random_observation(DUEL_SHAPED, rows, {"cards_": cards, "actions_": 8, "h_actions_": 10}, seed)


def random_observation(layout: Layout, rows: int, counts: Mapping[str, int], seed: int = 0) -> dict[str, Array]:
    """Observations [rows, ...] of a layout with ids, with so many real tokens in each of its padded sets."""
    dice = np.random.default_rng(seed)
    seen = {array.name: np.zeros((rows, *array.shape), array.dtype) for array in layout.shown}
    for part in layout.sets:
        tokens = seen[part.name][:, : counts[part.name]]
        _fill(dice, part.fields, tokens)
        tokens[..., part.padding] = dice.integers(1, 8, tokens.shape[:-1])
        ids = dice.integers(1, KNOWN_IDS + 1, tokens.shape[:-1])
        tokens[..., part.ids[0]], tokens[..., part.ids[1]] = ids // 256, ids % 256
        if part.points >= 0:  # the first is about no card: to end a turn
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
    """Eight observations at once: all places read, and only what is no padding."""
    name = f"agent/rnn/inference/batch{ROWS}"
    tell(name, 0, 2)
    yield Result(name, measure(ModelArgs(), random_duel(ROWS, 160), rounds), "observations/s")
    tell(f"{name}/padding_skipped", 1, 2)
    few = trimmed(DUEL_SHAPED, random_duel(ROWS, IN_PLAY))
    yield Result(f"{name}/padding_skipped", measure(ModelArgs(card_mask=True), few, rounds), "observations/s")


def measure(args: ModelArgs, observation: Mapping[str, Array], rounds: int) -> float:
    """Observations/s, each decided with the memory of the one before."""
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


def compiled(args: ModelArgs) -> tuple[Callable[..., Any], Any]:
    """A decision of a fresh network as one compiled function, and its first memory.

    Ids are folded once, as for all decisions between two versions of the parameters.
    """
    import jax

    from ludus.agents.networks import new_variables
    from ludus.agents.networks.recurrent import RNNAgent, folded

    network = RNNAgent(DUEL_SHAPED, args, 1, Discrete(24), seats=2)
    variables = folded(network, new_variables(network, jax.random.key(0)))

    @jax.jit
    def decide(variables: Any, observation: Any, memory: Any, seats: Any) -> Any:
        answer: Any = network.apply(variables, observation, memory, switch_or_main=seats)
        return answer[0], answer[1:3]

    return lambda *given: decide(variables, *given), network.init_rnn_state(ROWS)
