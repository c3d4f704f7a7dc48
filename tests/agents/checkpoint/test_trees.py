"""Trees: names, exact restoring, and an error about the first difference."""

import collections
import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

from ludus.agents.checkpoint import flatten, unflatten
from ludus.types import LudusError


class Adam(NamedTuple):
    count: int
    mean: Any


@dataclasses.dataclass(frozen=True)
class Learner:
    params: Any
    optimizer: Any


def tree():
    kernel = np.arange(6, dtype=np.float32).reshape(2, 3)
    return {"params": {"dense": [kernel, np.zeros(3)]}, "optimizer": (Adam(7, kernel * 2), None, ()), "rate": 0.5}


def test_names_are_paths():
    assert list(flatten(tree())) == [
        "params/dense/0", "params/dense/1", "optimizer/0/count", "optimizer/0/mean", "rate",
    ]  # fmt: skip


def test_round_trip_is_exact(same):
    assert same(unflatten(tree(), flatten(tree())), tree())


def test_values_come_from_the_arrays():
    arrays = {name: array + 1 for name, array in flatten(tree()).items()}
    again = unflatten(tree(), arrays)
    assert again["optimizer"][0].count == 8
    assert again["rate"] == 1.5
    assert again["params"]["dense"][0][1, 2] == 6


@pytest.mark.parametrize(
    "leaf",
    [3, -(2**63), 2**64, -(2**200), 2**127, 255, True, 2.5, float("nan"), "PCG64", "", "ü\n", np.float32(3),
     np.int8(-1), np.bool_(True), np.array(5), np.zeros((0, 4), np.int16), None, {}, [], ()],
)  # fmt: skip
def test_single_leaves(same, leaf):
    assert same(unflatten(leaf, flatten(leaf)), leaf)
    assert same(unflatten([leaf], flatten([leaf])), [leaf])


def test_integers_may_change_between_64_bits_and_more():
    assert unflatten({"n": 1}, flatten({"n": 2**100})) == {"n": 2**100}
    assert unflatten({"n": 2**100}, flatten({"n": 1})) == {"n": 1}


def test_random_generator_continues_exactly():
    generator = np.random.default_rng(3)
    generator.random(10)
    stored = flatten(generator.bit_generator.state)
    expected = generator.random(5)
    other = np.random.default_rng(99)
    other.bit_generator.state = unflatten(other.bit_generator.state, stored)
    assert (other.random(5) == expected).all()


def test_dataclasses_and_kinds_of_dict():
    state = Learner({"w": np.ones(2)}, collections.OrderedDict(b=np.zeros(1), a=3))
    again = unflatten(state, flatten(state))
    assert isinstance(again, Learner)
    assert isinstance(again.optimizer, collections.OrderedDict)
    assert list(again.optimizer) == ["b", "a"]
    assert list(flatten(state)) == ["params/w", "optimizer/b", "optimizer/a"]


def test_foreign_arrays_are_converted():
    class Device:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3, dtype=np.int32)

    stored = flatten({"x": Device()})
    assert stored["x"].tolist() == [0, 1, 2]
    assert unflatten({"x": Device()}, stored)["x"].dtype == np.int32


def test_shape_and_dtype_are_enough_to_restore():
    class Form:
        shape, dtype = (2,), np.dtype(np.float32)

    assert unflatten([Form()], {"0": np.ones(2, np.float32)})[0].tolist() == [1, 1]
    with pytest.raises(LudusError, match=r'"0" is stored as float32 \[3\] but should be float32 \[2\]'):
        unflatten([Form()], {"0": np.ones(3, np.float32)})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"params/dense/0": None}, 'has no "params/dense/0"'),
        ({"params/extra": np.zeros(1)}, 'has an unexpected "params/extra"'),
        (
            {"params/dense/0": np.zeros((3, 2), np.float32)},
            r'"params/dense/0" .* \[3, 2\] but should be float32 \[2, 3\]',
        ),
        ({"params/dense/1": np.zeros(3, np.float32)}, r'"params/dense/1" .* float32 \[3\] but should be float64 \[3\]'),
        ({"optimizer/0/count": np.array(7.0)}, '"optimizer/0/count" is stored as a single float64 .* a single int64'),
        ({"rate": np.array(1)}, '"rate" is stored as a single int64 but should be a single float64'),
        ({"rate": np.zeros(1)}, r'"rate" is stored as float64 \[1\] but should be a single float64'),
    ],
)
def test_the_first_difference_is_named(change, words):
    arrays = {name: array for name, array in (flatten(tree()) | change).items() if array is not None}
    with pytest.raises(LudusError, match=words):
        unflatten(tree(), arrays)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"a/b": 1, "a": {"b": 2}}, 'both called "a/b"'),
        ({0: 1, "0": 2}, 'both called "0"'),
        ({(1, 2): 3}, r"the key \(1, 2\)"),
        ({"f": print}, '"f" is a builtin_function_or_method'),
        ({"f": np.array([None])}, '"f" is a ndarray of the type object'),
        ({"f": {1, 2}}, '"f" is a set'),
        ({"f": b"bytes"}, '"f" is a bytes'),
    ],
)
def test_unsupported_leaves_and_ambiguous_names_raise(state, words):
    with pytest.raises(LudusError, match=words):
        flatten(state)
    with pytest.raises(LudusError):
        unflatten(state, {name: np.array(1) for name in ("a/b", "0", "f")})
