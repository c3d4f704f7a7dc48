"""Features that a network reads instead of observations, at their full length."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ludus.types import Array


def full(network: Any, observation: Mapping[str, Array]) -> dict[str, Array]:
    """The features of N observations without cutting off padding, so that their shapes are always the same."""
    found: dict[str, Array] = network.read(observation, lambda lengths: dict.fromkeys(lengths, sys.maxsize))
    return found
