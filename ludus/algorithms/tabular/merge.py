"""Merging of replicas: copies of one table, each improved by its own worker.

Q(s, a) ← Σ_k w_k Q_k(s, a) / Σ_k w_k, where w_k is the number of visits of replica k to s since the last merge, or 0 if
replica k did not change Q(s, a): an old value must not outweigh what the other replicas learned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ludus.agents.table import ANY_LEGAL, Table, slot_of
from ludus.dsl import kernel
from ludus.types import Array

COUNTS = ("counts",)
"""fields that are counts: the increments of all replicas are summed"""


def merge(table: Table, replicas: Sequence[Table]) -> list[Array]:
    """Merge the replicas into the table; returns for each replica the indices of its rows in the table."""
    mappings = [add_positions(table, replica) for replica in replicas]
    if not replicas:
        return mappings
    places, used = table.places, len(table)
    orders = np.zeros(len(table.rows), np.int64)
    orders[places] = np.arange(used)
    visits = [count_visits(table, replica, mapping) for replica, mapping in zip(replicas, mappings, strict=True)]
    for name in (field for field in table.rows.dtype.names or () if field != "visits"):
        base, added = table.rows[name], name in COUNTS
        total, weight = np.zeros((used, table.actions)), np.zeros((used, table.actions))
        for replica, mapping, seen in zip(replicas, mappings, visits, strict=True):
            accumulate(base, replica.rows[name], mapping, replica.places, orders, seen, total, weight, added)
        write_back(base, total, weight, places, added)
    for mapping, seen in zip(mappings, visits, strict=True):
        table.rows["visits"][mapping] += seen
    return mappings


def add_positions(table: Table, replica: Table) -> Array:
    """Add the positions that only the replica has, with initial values; returns the indices of its rows."""
    while table.hashed and len(table) + len(replica) > len(table.rows):
        table.grow()
    mapping = np.zeros(len(replica), np.int64)
    enter_all(table.rows, table.known, table.index, table.used, replica.rows, replica.known, mapping, table.hashed)
    return mapping


def count_visits(table: Table, replica: Table, mapping: Array) -> Array:
    """Visits of the replica to each of its rows since it was copied from the table."""
    return replica.rows["visits"][replica.places] - table.rows["visits"][mapping]


@kernel
def enter_all(
    rows: Array, known: Array, index: Array, used: Array, their_rows: Array, their_known: Array, mapping: Array,
    hashed: bool,
) -> None:  # fmt: skip
    """Find or add a row for each position of a replica."""
    for number in range(len(mapping)):
        key = their_known[number]
        theirs = their_rows[number] if hashed else their_rows[np.int64(key)]
        slot = np.int64(0)
        if hashed:
            slot = slot_of(index, key)
            new = index[slot].key != key
            place = used[0] if new else index[slot].place
        else:
            place = np.int64(key)
            new = rows[place].visits == 0
        if new:
            if hashed:
                index[slot].key = key
                index[slot].place = place
            known[used[0]] = key
            used[0] += 1
            mine = rows[place]
            for action in range(len(mine.values)):
                legal = theirs.values[action] >= ANY_LEGAL
                mine.values[action] = np.float32(0.0) if legal else theirs.values[action]
            mine.visits = 1
        mapping[number] = place


@kernel
def accumulate(
    base: Array, theirs: Array, mapping: Array, their_places: Array, orders: Array, visits: Array, total: Array,
    weight: Array, added: bool,
) -> None:  # fmt: skip
    """Add the weighted values of one field of a replica to `total`, and the weights to `weight`."""
    for number in range(len(mapping)):
        place = mapping[number]
        order = orders[place]
        # Eligibility traces also change rows without a visit since the last merge; these get the weight of one visit.
        share = 1.0 if added else np.float64(max(visits[number], 1))
        for action in range(base.shape[1]):
            value = np.float64(theirs[their_places[number], action])
            change = value - np.float64(base[place, action])
            if change != 0.0:
                total[order, action] += share * (change if added else value)
                weight[order, action] += share


@kernel
def write_back(base: Array, total: Array, weight: Array, places: Array, added: bool) -> None:
    """Write the weighted means, or the sums of counts, into the table."""
    for number in range(len(places)):
        for action in range(base.shape[1]):
            if weight[number, action] > 0.0:
                if added:
                    base[places[number], action] += np.float32(total[number, action])
                else:
                    base[places[number], action] = np.float32(total[number, action] / weight[number, action])
