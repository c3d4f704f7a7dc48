"""Rules are linked into the loops that use them, and compiled as complete functions when Python calls them."""

import numpy as np

from ludus.dsl import part, record, rule, u8
from ludus.dsl.compiler import whole


@rule
def once(number):
    return number + 1


@rule
def twice(number):
    return once(once(number))


@part
def thrice(number):
    return twice(number) + once(0)


@rule
def either(number):
    return twice(number) if number % 2 else thrice(number)


def sum_of(count):
    total = 0
    for number in range(count):
        total += either(number)
    return total


def test_a_loop_links_all_that_its_rules_call():
    loop = whole(sum_of, kept=False)
    assert loop(10) == sum(number + (2 if number % 2 else 3) for number in range(10)) == sum_of(10)


def test_python_can_call_any_rule():
    assert (once(1), twice(1), thrice(1), either(1)) == (2, 3, 4, 3)


def test_whole_numbers_of_all_widths_share_one_rule():
    @rule
    def double(number):
        return number * 2

    def many(row):
        return double(row.small) + double(3) + double(np.int16(4)) + double(np.int64(row.small))

    row = np.zeros(1, record(small=u8))
    row["small"] = 200
    assert whole(many, kept=False)(row[0]) == 400 + 6 + 8 + 400
    assert len(double.overloads) == 1
