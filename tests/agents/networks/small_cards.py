"""A small card game with every kind of field, and random parameters that need no compilation."""

import math

import jax
import numpy as np

from ludus.agents.neural.networks import shapes_of
from ludus.agents.neural.networks.layout import Entities, Field, Layout, Shown
from ludus.bench.inference import category, points, random_observation

ACT = (category("act", 2, 8, share=2),)
SMALL_CARDS = Layout(
    shown=(
        Shown("cards", (40, 8), "uint8"),
        Shown("table", (5,), "uint8"),
        Shown("acts", (12, 4), "uint8"),
        Shown("past", (20, 4), "uint8"),
    ),
    globals=(
        points("life", 0)._replace(source="table", bins=4),
        category("counts", 2, 9, columns=2)._replace(source="table"),
    ),
    entities=(
        Entities(
            "cards",
            40,
            (
                category("place", 2, 9),
                points("attack", 3)._replace(bins=4),
                Field("types", (3,), "number", (0.0,), (1.0,), 5),
            ),
            columns=8,
            ids=(0, 1),
            padding=2,
        ),
    ),
    history=Entities("past", 20, (*ACT, category("turns_ago", 3, 5)), columns=4, ids=(0, 1), padding=2),
    actions=Entities("acts", 12, ACT, columns=4, ids=(0, 1), padding=2, points=3),
    ended=("table", 4),
)


def some_cards(rows, cards=10, seed=0):
    """Observations with this number of cards, five actions and ten past actions."""
    return random_observation(SMALL_CARDS, rows, {"cards": cards, "acts": 5, "past": 10}, seed)


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def filled(shapes):
    """Random parameters of these shapes, because initial ones and zeros could hide errors."""

    def fill(leaf):
        noise = numbers(leaf.size, *leaf.shape)
        return 1 + 0.1 * noise if leaf.ndim < 2 else noise / math.sqrt(leaf.shape[-2])

    return {"params": jax.tree.map(fill, shapes["params"])}


def made(layer, *inputs):
    """Random parameters of a layer, without compilation."""
    return filled(jax.eval_shape(layer.init, jax.random.key(0), *inputs))


def made_for(network):
    """Random parameters of an agent's network."""
    return filled(shapes_of(network))
