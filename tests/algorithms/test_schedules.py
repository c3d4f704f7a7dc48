"""Schedules: known values, exact start and end values, the same bits with and without compilation, parsing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.algorithms import schedules
from ludus.algorithms.schedules import Constant, Exponential, Linear, parse
from ludus.types import LudusError

numbers = st.floats(-1e300, 1e300)
whole_steps = st.integers(0, 10**12)
rates = st.floats(0, 1e3)
any_schedule = st.one_of(
    st.builds(Constant, numbers),
    st.builds(Linear, numbers, numbers, whole_steps),
    st.builds(Exponential, numbers, numbers, rates),
)
any_step = st.one_of(st.integers(-(2**62), 2**62), st.floats(-1e15, 1e15))


def start_and_end(schedule):
    _, first, second, _ = schedule.numbers()
    return first, second


@pytest.mark.parametrize(
    ("schedule", "step", "expected"),
    [
        (Constant(0.1), 12345, 0.1),
        (Linear(1.0, 0.05, 100), 0, 1.0),
        (Linear(1.0, 0.0, 100), 25, 0.75),
        (Linear(0.0, 8.0, 4), 1, 2.0),
        (Linear(1.0, 0.05, 0), 0, 0.05),
        (Exponential(1.0, 0.0, 0.5), 2, math.exp(-1.0)),
        (Exponential(1.0, 0.2, 1e-3), 1000, 0.2 + 0.8 * math.exp(-1.0)),
        (Exponential(0.7, 0.2, 0.0), 10**9, 0.7),
    ],
)
def test_values_worked_by_hand(schedule, step, expected):
    assert schedule(step) == pytest.approx(expected, rel=1e-15)


@given(numbers, numbers, st.integers(1, 10**9))
def test_linear_starts_and_ends_exactly(start, end, steps):
    line = Linear(start, end, steps)
    assert line(0) == line(-5) == start
    assert line(steps) == line(steps + 1) == line(10**18) == end


@given(numbers, numbers, st.floats(1e-6, 1e3))
def test_exponential_starts_and_ends_exactly(start, end, rate):
    curve = Exponential(start, end, rate)
    assert curve(0) == curve(-5) == start
    assert curve(1e12) == end


@given(any_schedule, any_step)
def test_values_stay_between_start_and_end(schedule, step):
    assert min(start_and_end(schedule)) <= schedule(step) <= max(start_and_end(schedule))


@given(any_schedule, st.lists(any_step, min_size=1, max_size=20))
def test_compiled_and_plain_python_give_the_same_bits(schedule, steps):
    plain = np.array([schedule(step) for step in steps])
    compiled = np.array([schedules.value(*schedule.numbers(), step) for step in steps])
    together = schedule(np.array(steps, np.float64))
    assert plain.tobytes() == compiled.tobytes() == together.tobytes()


def test_arrays_keep_their_shape_and_integer_steps_are_accepted():
    line = Linear(1.0, 0.0, 4)
    values = line(np.arange(6).reshape(2, 3))
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, [[1.0, 0.75, 0.5], [0.25, 0.0, 0.0]])
    assert line(np.int64(1)) == line(np.array(1)) == 0.75
    assert isinstance(line(np.array(1)), float)
    assert line(np.empty(0)).shape == (0,)


@given(any_schedule)
def test_parsing_the_text_of_a_schedule_gives_the_same_schedule(schedule):
    assert parse(str(schedule)) == schedule
    assert hash(parse(str(schedule))) == hash(schedule)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", Constant(0.1)),
        (0.1, Constant(0.1)),
        (1, Constant(1.0)),
        ("constant(3)", Constant(3.0)),
        (" linear( 1.0,0.05 , 100000 ) ", Linear(1.0, 0.05, 100_000)),
        ("linear(1, 0, 1e5)", Linear(1.0, 0.0, 100_000)),
        ("exponential(1.0, 0.01, 1e-5)", Exponential(1.0, 0.01, 1e-5)),
    ],
)
def test_parse(text, expected):
    assert parse(text) == expected


def test_numpy_numbers_print_like_python_numbers():
    assert str(Linear(np.float64(1), np.float32(0.5), np.int64(7))) == "linear(1.0, 0.5, 7)"
    assert str(Constant(np.float64(0.1))) == "0.1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("linar(1, 0, 10)", 'unknown schedule "linar"; did you mean "linear"?'),
        ("Linear(1, 0, 10)", 'did you mean "linear"?'),
        ("zigzag(1)", "known are constant, linear, exponential"),
        ("linear(1, 0)", r'"linear(1, 0)" has 2 numbers; write linear(start, end, steps), with 3'),
        ("linear()", "has 0 numbers"),
        ("exponential(1, 0, 1, 2)", "has 4 numbers; write exponential(start, end, rate), with 3"),
        ("linear(1, x, 10)", '"x" in the schedule'),
        ("linear(1,, 10)", '"" in the schedule'),
        ("fast", '"fast" in the schedule "fast" is not a number; write 0.1 or constant(value)'),
        ("", "is not a number"),
        ("linear(1, 0, 10", "is not a number"),
        ("nan", "must be a finite number, not nan"),
        ("linear(1, inf, 10)", "the end of a schedule must be a finite number, not inf"),
        ("linear(1, 0, inf)", "the steps of a schedule must be a finite number"),
        ("linear(1, 0, -10)", "must be a whole number, 0 or more, not -10"),
        ("linear(1, 0, 1.5)", "0 or more, not 1.5"),
        ("exponential(1, 0, -1)", "the rate of an exponential schedule must be 0 or more, not -1"),
    ],
)
def test_invalid_text_raises_an_error(text, message):
    with pytest.raises(LudusError) as error:
        parse(text)
    assert message in str(error.value)
