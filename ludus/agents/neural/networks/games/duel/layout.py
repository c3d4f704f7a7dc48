"""The layout of the observation of a duel for networks: the meaning of every column."""

from __future__ import annotations

from dataclasses import replace

from ludus.agents.neural.networks.layout import Entities, Field, Layout, Shown
from ludus.agents.players.greedy.duel import MASKED


def category(name: str, at: int, count: int, share: int = 16, columns: int = 1) -> Field:
    """Columns that each contain one of `count` values, from 0."""
    shape = () if columns == 1 else (columns,)
    return Field(name, shape, "category", (0.0,), (count - 1.0,), at, share=share)


def points(name: str, at: int, fine: float = 0.0, share: int = 4) -> Field:
    """A 16-bit number of points, in bins up to 12,000, with finer bins up to `fine`."""
    return Field(name, (), "number", (0.0,), (12_000.0,), at, pair=True, share=share, bins=32, fine=fine)


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
        points("attack", 12, 3000.0),
        points("defense", 14, 3000.0),
        Field("types", (25,), "number", (0.0,), (1.0,), 16, share=8),
    ),
    columns=41,
    ids=(0, 1),
    padding=2,
    unknown=(2, 1),  # of the opponent's deck only the size is known, which is among the global numbers
    mask="mask_",
    masked=MASKED,
)
GLOBALS = tuple(
    field._replace(source="global_")
    for field in (
        points("my_life", 0, 8000.0),
        points("their_life", 2, 8000.0),
        category("turn", 4, 20, 8),
        category("phase", 5, 11, 8),
        category("first", 6, 2, 8),
        category("my_turn", 7, 2, 8),
        category("counts", 8, 100, 16, columns=14),
    )
)
PAST = (category("turns_ago", 12, 20, 2), category("turn_phase", 13, 12, 2))

LAYOUT = Layout(
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
    hidden=(replace(CARDS, mask="", masked=(), unknown=(-1, 0)),),
    ended=("global_", 22),
)
