"""Convert nested state to named arrays and back: `{"layer": [kernel]}` is stored as `layer/0`.

The structure of a tree is not stored: to restore it, pass a tree of the same structure, which leaves must match.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ludus.types import Array, DType, LudusError, PyTree

ROOT = "value"
"""the name of a tree that is a single leaf"""
CHANGED = "so it was made with other settings of the agent or the algorithm; use those settings"


def flatten(tree: PyTree) -> dict[str, Array]:
    """The leaves of nested dicts, lists, tuples, NamedTuples and dataclasses by name; arrays are not copied."""
    return {name: as_array(name, leaf) for name, leaf in _named_leaves(tree).items()}


def unflatten(like: PyTree, arrays: dict[str, Array]) -> PyTree:
    """The inverse of `flatten`, with the structure of `like`; raises LudusError if a name, shape or dtype differs.

    Arrays are returned as NumPy arrays. In `like`, any object with a shape and a dtype can stand for an array.
    """
    names = _named_leaves(like)
    for name in names:
        if name not in arrays:
            raise LudusError(f'the stored state has no "{name}", {CHANGED}')
    for name in arrays:
        if name not in names:
            raise LudusError(f'the stored state has an unexpected "{name}", {CHANGED}')
    return _restored("", like, arrays)


def _named_leaves(tree: PyTree) -> dict[str, object]:
    leaves: dict[str, object] = {}
    for name, leaf in _walk("", tree):
        if name in leaves:
            raise LudusError(f'two parts of the state are both called "{name}"; rename one of them')
        leaves[name] = leaf
    return leaves


def _walk(prefix: str, tree: PyTree) -> Iterator[tuple[str, object]]:
    keys = _keys(tree)
    if keys is None:
        yield prefix or ROOT, tree
        return
    for key in keys:
        yield from _walk(_join(prefix, key), _child(tree, key))


def _keys(tree: PyTree) -> Sequence[str | int] | None:
    """The keys of a branch, or None for a leaf; None itself is a branch without parts."""
    if tree is None:
        return ()
    if isinstance(tree, dict):
        return tuple(tree)
    if isinstance(tree, list | tuple):
        return getattr(tree, "_fields", range(len(tree)))
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return tuple(field.name for field in dataclasses.fields(tree))
    return None


def _child(tree: PyTree, key: str | int) -> PyTree:
    return tree[key] if isinstance(tree, dict) or isinstance(key, int) else getattr(tree, key)


def _join(prefix: str, key: object) -> str:
    if not isinstance(key, str | int):
        raise LudusError(f"the state has a dict with the key {key!r}; use strings or integers as keys")
    return f"{prefix}/{key}" if prefix else str(key)


def _rebuilt(like: PyTree, parts: Iterable[PyTree]) -> PyTree:
    """The branch `like` with these parts, which are in the order of its keys."""
    if like is None:
        return None
    if isinstance(like, dict):
        branch = copy.copy(like)
        branch.update(zip(like, parts, strict=True))
        return branch
    if isinstance(like, list | tuple):
        return like._make(parts) if hasattr(like, "_make") else type(like)(parts)
    names = [field.name for field in dataclasses.fields(like)]
    return dataclasses.replace(like, **dict(zip(names, parts, strict=True)))


def _restored(prefix: str, like: PyTree, arrays: dict[str, Array]) -> PyTree:
    keys = _keys(like)
    if keys is None:
        name = prefix or ROOT
        return _leaf(name, like, arrays[name])
    return _rebuilt(like, [_restored(_join(prefix, key), _child(like, key), arrays) for key in keys])


def as_array(name: str, leaf: object) -> Array:
    """One leaf as an array; strings and integers beyond 64 bits (the state of a generator) as bytes."""
    if isinstance(leaf, str):
        return np.frombuffer(leaf.encode(), np.uint8)
    if type(leaf) is int and not -(2**63) <= leaf < 2**63:
        return np.frombuffer(leaf.to_bytes(leaf.bit_length() // 8 + 1, "little", signed=True), np.uint8)
    try:
        array = np.asarray(leaf)
    except (TypeError, ValueError, RuntimeError) as error:
        raise LudusError(
            f'"{name}" is not an array ({error}); the state may contain arrays of numbers, numbers and strings'
        ) from None
    if array.dtype.hasobject or array.dtype.kind in "SU":
        kind = f"{type(leaf).__name__} of the type {array.dtype}" if array is leaf else type(leaf).__name__
        raise LudusError(f'"{name}" is a {kind}; the state may contain arrays of numbers, numbers and strings')
    return array


def _leaf(name: str, like: object, stored: Array) -> object:
    """The stored array as the type of `like`: an array, a number or a string."""
    is_bytes = stored.dtype == np.uint8 and stored.ndim == 1
    if isinstance(like, str) and is_bytes:
        return stored.tobytes().decode(errors="replace")
    if type(like) is int and is_bytes:
        return int.from_bytes(stored.tobytes(), "little", signed=True)
    kind, shape = (np.dtype(np.int64), ()) if type(like) is int else _form(name, like)
    if (stored.dtype, stored.shape) != (kind, shape):
        found, wanted = _words(stored.dtype, stored.shape), _words(kind, shape)
        raise LudusError(f'"{name}" is stored as {found} but should be {wanted}, {CHANGED}')
    if isinstance(like, bool | int | float | complex) and not isinstance(like, np.generic):
        return stored.item()
    return stored[()] if isinstance(like, np.generic) else stored


def _form(name: str, like: object) -> tuple[DType, tuple[int, ...]]:
    """Type and shape without reading the values, which may be on a device or abstract."""
    kind, shape = getattr(like, "dtype", None), getattr(like, "shape", None)
    if isinstance(kind, np.dtype) and shape is not None:
        return kind, tuple(shape)
    array = as_array(name, like)
    return array.dtype, array.shape


def _words(kind: DType, shape: tuple[int, ...]) -> str:
    return f"{kind.name} {list(shape)}" if shape else f"a single {kind.name}"
