"""One table of many that learned side by side from the same beginning.

Q(s, a) ← Σ_k w_k Q_k(s, a) / Σ_k w_k, where w_k is how often replica k visited s meanwhile, and 0 where it left the
value of (s, a) as it was: who did not try an action must not hold back those who did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludus.agents.table import ANY_LEGAL, Table, slot_of
from ludus.dsl import kernel
from ludus.types import Array

ADDED = ("counts",)
"""fields that are counts of something: what the replicas counted is added up"""


def merge(table: Table, replicas: Sequence[Table]) -> list[Array]:
    """Bring what the replicas learned into the table; returns, for each, where its rows lie now."""
    mappings = [adopt(table, replica) for replica in replicas]
    if not replicas:
        return mappings
    places, used = table.places, len(table)
    orders = np.zeros(len(table.rows), np.int64)
    orders[places] = np.arange(used)
    visits = [weigh(table, replica, mapping) for replica, mapping in zip(replicas, mappings, strict=True)]
    for name in (field for field in table.rows.dtype.names or () if field != "visits"):
        base, added = table.rows[name], name in ADDED
        total, weight = np.zeros((used, table.actions)), np.zeros((used, table.actions))
        for replica, mapping, seen in zip(replicas, mappings, visits, strict=True):
            gather(base, replica.rows[name], mapping, replica.places, orders, seen, total, weight, added)
        spread(base, total, weight, places, added)
    for mapping, seen in zip(mappings, visits, strict=True):
        table.rows["visits"][mapping] += seen
    return mappings


def adopt(table: Table, replica: Table) -> Array:
    """Enter what only the replica has seen, as it was before anything was learned of it."""
    while table.hashed and len(table) + len(replica) > len(table.rows):
        table.grow()
    mapping = np.zeros(len(replica), np.int64)
    enter_all(table.rows, table.known, table.index, table.used, replica.rows, replica.known, mapping, table.hashed)
    return mapping


def weigh(table: Table, replica: Table, mapping: Array) -> Array:
    """How often the replica visited each of its rows since it began as a copy of the table."""
    return replica.rows["visits"][replica.places] - table.rows["visits"][mapping]


@kernel
def enter_all(
    rows: Any, known: Any, index: Any, used: Any, their_rows: Any, their_known: Any, mapping: Any, hashed: bool
) -> None:
    """Find or make a row for each of theirs."""
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
def gather(
    base: Any, theirs: Any, mapping: Any, their_places: Any, orders: Any, visits: Any, total: Any, weight: Any,
    added: bool,
) -> None:  # fmt: skip
    """Sum up what one replica has to say of a field."""
    for number in range(len(mapping)):
        place = mapping[number]
        order = orders[place]
        # A trace may change a row that was not visited since the last merge; its word counts as that of one visit.
        share = 1.0 if added else np.float64(max(visits[number], 1))
        for action in range(base.shape[1]):
            value = np.float64(theirs[their_places[number], action])
            change = value - np.float64(base[place, action])
            if change != 0.0:
                total[order, action] += share * (change if added else value)
                weight[order, action] += share


@kernel
def spread(base: Any, total: Any, weight: Any, places: Any, added: Any) -> Any:
    """Write the sums into the table."""
    for number in range(len(places)):
        for action in range(base.shape[1]):
            if weight[number, action] > 0.0:
                if added:
                    base[places[number], action] += np.float32(total[number, action])
                else:
                    base[places[number], action] = np.float32(total[number, action] / weight[number, action])
