"""Fixtures: a small checkpoint to save, and an exact comparison."""

from typing import NamedTuple

import numpy as np
import pytest

from ludus.agents.checkpoint import Checkpoint, describe


class Toy(NamedTuple):
    full_name: str = "toy(size=3)"
    fingerprint: str = "0123456789abcdef"


@pytest.fixture(scope="session")
def make():
    """Checkpoints with a score and a single parameter array."""

    def build(score=None, value=0.0, **fields):
        manifest = describe(Toy(), {"kind": "mlp", "sizes": [4, 4]}, {"kind": "ppo"}, score=score, **fields)
        return Checkpoint(manifest, {"params": {"dense/kernel": np.full((2, 3), value, np.float32)}})

    return build


@pytest.fixture(scope="session")
def same():
    """Equal in structure, types and every bit."""

    def compare(a, b):
        if isinstance(a, np.ndarray):
            return (type(a), a.dtype, a.shape, a.tobytes()) == (type(b), b.dtype, b.shape, b.tobytes())
        if isinstance(a, dict):
            return type(a) is type(b) and list(a) == list(b) and all(compare(a[key], b[key]) for key in a)
        if isinstance(a, list | tuple):
            return type(a) is type(b) and len(a) == len(b) and all(map(compare, a, b))
        return type(a) is type(b) and (a == b or (a != a and b != b))

    return compare
