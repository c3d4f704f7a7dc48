"""Helpers for tests of jokers' effects besides scoring: tables with jokers, and rounds that are beaten at once."""

from table import Table

from ludus.games.balatro import conditions, holdings

SMALL_BLIND, HANDS_LEFT = 3, 3
"""pay of the small blind, and hands left if it is beaten with the first of four hands"""


def own(table, *keys, **fields):
    """Add jokers and refresh the values derived from them."""
    table.own(*keys, **fields)
    holdings.refresh(table.state)
    return table.set()


def owning(text, **fields):
    """A new game with these jokers: `owning("blueprint cartomancer")`."""
    return own(Table(), *(f"j_{key}" for key in text.split()), **fields)


def fix(table, roll, outcome):
    """Fix the outcome of a roll in advance."""
    bit = 1 << conditions.FIXED_ROLLS.index(roll)
    table.state["tally"]["fixed"] |= bit
    table.state["tally"]["fixed_to"] |= bit if outcome else 0
    return table


def beat(table, key="bl_small", text="AS"):
    """Beat a blind with the first card."""
    return table.face(key).deal(text, required=1).do("play 1")


def go_on(table):
    """From the pay through the shop to the next blind."""
    return table.do("cash out", "leave")


def earned(table, *names):
    """The change of money by some actions."""
    before = int(table["money"])
    return int(table.do(*names)["money"]) - before
