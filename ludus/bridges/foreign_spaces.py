"""Conversion of Gymnasium spaces: observations become named fields with ranges, actions become numbers or floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike

from ludus.bridges import flatten
from ludus.bridges.spaces import Space
from ludus.dsl import i64, record, u8, within
from ludus.dsl.records import Within
from ludus.types import Array, Continuous, Discrete, DType, LudusError

Writer = Callable[[int | slice, Any], None]
"""writes an observation into one row (an int), or a batch of observations into all rows (a slice)"""

MASK = "action_mask"
MAX_ACTIONS = 2**16
"""maximum number of flat actions, to limit the size of masks and of a network's last layer"""


def observation_record(space: Space, masked: bool) -> DType:
    """The record of an observation space; with `masked`, the entry with the legal actions is left out."""
    fields = [(name, _field(leaf)) for name, leaf in _leaves(space, "", masked)]
    names = [name for name, _ in fields]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise LudusError(f"two parts of the observation would both be called {doubled[0]}; rename one in {space}")
    return record(**dict(fields))


def observation_writer(space: Space, buffers: dict[str, Array], mask: Writer | None, name: str = "") -> Writer:
    """A function that writes observations of this space into the buffers; look-ups are done in advance."""
    if not isinstance(space, spaces.Dict | spaces.Tuple):
        return buffers[name or "observation"].__setitem__
    parts: list[tuple[str | int, Writer]] = []
    for key, child, child_name in _children(space, name):
        legal = mask if not name and key == MASK else None
        parts.append((key, legal or observation_writer(child, buffers, None, child_name)))

    def write(row: int | slice, observation: Any) -> None:
        for key, write_part in parts:
            write_part(row, observation[key])

    return write


def carries_mask(space: Space, actions: ActionForm) -> bool:
    """Whether the observation contains a mask of legal actions."""
    if not isinstance(space, spaces.Dict) or MASK not in space.spaces or isinstance(actions.kind, Continuous):
        return False
    if space[MASK].shape != (actions.kind.n,):
        raise LudusError(f"the action_mask of {space} must have one entry for each of the {actions.kind.n} actions")
    return True


@dataclass(frozen=True)
class ActionForm:
    """Conversion of actions: agents see `kind`; the other fields describe the environment's own form."""

    kind: Discrete | Continuous
    dtype: DType
    shape: tuple[int, ...]
    sizes: tuple[int, ...] = ()
    """sizes of the parts of a flattened action; empty if the action is one number or a row of floats"""
    start: Array | int = 0

    def batch(self, actions: Array) -> Array:
        """[N, *shape] actions in the environment's own form."""
        if isinstance(self.kind, Continuous):
            whole = np.rint(actions) if self.dtype.kind in "iu" else actions
            return whole.astype(self.dtype).reshape(len(actions), *self.shape)
        if self.sizes:
            parts = flatten.unflatten_index(actions, self.sizes).reshape(len(actions), *self.shape)
            return (parts + self.start).astype(self.dtype)
        return (actions + self.start).astype(self.dtype)

    def split(self, actions: Array) -> Sequence[Array | int]:
        """N actions, each in the form of one environment: a Python int or an array."""
        if self.shape or self.sizes or isinstance(self.kind, Continuous):
            return list(self.batch(actions))
        numbers: list[int] = (actions + self.start if self.start else actions).tolist()
        return numbers

    def name(self, action: Array | int) -> str:
        """`2`, or the parts of a flattened action, `1, 0, 2`."""
        if isinstance(self.kind, Continuous):
            return ", ".join(f"{number:g}" for number in np.ravel(action))
        return ", ".join(str(part) for part in np.ravel(self.batch(np.array([int(action)]))))

    def mask(self, legal: ArrayLike) -> Array:
        """[A] legal actions, from a mask of that shape or from one mask for each part of a flattened action."""
        assert isinstance(self.kind, Discrete)
        if self.sizes and isinstance(legal, tuple | list) and len(legal) == len(self.sizes) > 1:
            legal = reduce(np.logical_and.outer, [np.asarray(part, bool) for part in legal])
        flat = np.asarray(legal, bool).ravel()
        if flat.shape != (self.kind.n,):
            raise LudusError(f"an action_mask has {flat.size} entries, but there are {self.kind.n} actions")
        return flat


def action_form(space: Space) -> ActionForm:
    """The form of an action space; raises LudusError if the space is not supported."""
    if isinstance(space, spaces.Discrete):
        return ActionForm(Discrete(int(space.n)), np.dtype(i64), (), start=int(space.start))
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return _several_choices(space)
    if isinstance(space, spaces.Box):
        return _floats(space)
    raise LudusError(f"actions of the space {space} are not supported; wrap it to Discrete, MultiDiscrete or Box")


def _several_choices(space: spaces.MultiDiscrete | spaces.MultiBinary) -> ActionForm:
    sizes, start = flatten.choices(space)
    count = flatten.combinations(sizes)
    if count > MAX_ACTIONS:
        raise LudusError(f"{space} has {count} combinations of actions, and at most {MAX_ACTIONS} are supported")
    return ActionForm(Discrete(count), np.dtype(space.dtype), sizes.shape, tuple(sizes.ravel().tolist()), start)


def _floats(space: spaces.Box) -> ActionForm:
    low, high = space.low.ravel().astype(float), space.high.ravel().astype(float)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise LudusError(f"actions of {space} have no bounds; wrap it in gymnasium.wrappers.RescaleAction or clip it")
    return ActionForm(Continuous(tuple(low.tolist()), tuple(high.tolist())), np.dtype(space.dtype), space.shape)


def _children(space: spaces.Dict | spaces.Tuple[object], name: str) -> list[tuple[str | int, Space, str]]:
    """Key, space and field name of each part; parts of an unnamed tuple are `observation_0`, `observation_1`, …"""
    if isinstance(space, spaces.Dict):
        return [(key, child, f"{name}_{key}" if name else str(key)) for key, child in space.spaces.items()]
    return [(index, child, f"{name or 'observation'}_{index}") for index, child in enumerate(space.spaces)]


def _leaves(space: Space, name: str, masked: bool) -> list[tuple[str, Space]]:
    if not isinstance(space, spaces.Dict | spaces.Tuple):
        return [(name or "observation", space)]
    parts = [part for part in _children(space, name) if not (masked and part[0] == MASK)]
    return [leaf for _, child, child_name in parts for leaf in _leaves(child, child_name, False)]


def _field(space: Space) -> Within:
    if isinstance(space, spaces.Discrete):
        return within(int(space.start), int(space.start) + int(space.n) - 1, i64)
    if isinstance(space, spaces.MultiDiscrete):
        sizes, start = flatten.choices(space)
        return within(_shortest(start), _shortest(start + sizes - 1), space.dtype, *space.shape)
    if isinstance(space, spaces.MultiBinary):
        return within(0, 1, space.dtype, *space.shape)
    if isinstance(space, spaces.Box):
        # Records do not support arrays of booleans, so bytes are used.
        number = u8 if space.dtype == np.bool_ else space.dtype
        return within(_shortest(space.low), _shortest(space.high), number, *space.shape)
    raise LudusError(f"observations of the space {space} are not supported; wrap it to Box, Discrete, Dict or Tuple")


def _shortest(bound: Array) -> Array | float:
    """One number if all bounds are the same."""
    return bound.flat[0].item() if bound.size and (bound == bound.flat[0]).all() else bound
