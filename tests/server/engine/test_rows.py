"""Observations from callers: fields of bytes are read from lists in a faster way, with the same result and errors."""

import numpy as np
import pytest

from ludus import games
from ludus.bridges import open_pool
from ludus.server.rows import ObservationForm
from ludus.types import LudusError


@pytest.fixture(scope="module")
def form():
    return ObservationForm(games.load("duel").rules.OBSERVATION, "duel")


@pytest.fixture(scope="module")
def shown():
    pool = open_pool("duel", 1, 3, threads=1)
    return {name: field[0].tolist() for name, field in pool.step.observation.items()}


def test_lists_are_read_like_arrays(form, shown):
    arrays = {name: np.asarray(value) for name, value in shown.items()}
    floats = {name: (array * 1.0).tolist() for name, array in arrays.items()}
    assert form.read(shown) == form.read(arrays) == form.read(floats)


ODD = (
    41, [0] * 40, [0] * 42, dict.fromkeys(range(41), 0), bytes(41), "0" * 41, None, [-1] + [0] * 40, [256] + [0] * 40,
    [0.5] + [0] * 40, [None] * 41, [[0]] * 41,
)  # fmt: skip


@pytest.mark.parametrize("row", ODD)
def test_rows_of_other_kinds_are_refused(form, shown, row):
    with pytest.raises(LudusError):
        form.read(shown | {"cards_": [row, *shown["cards_"][1:]]})
