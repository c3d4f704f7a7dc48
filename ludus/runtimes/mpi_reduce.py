"""MPI as threads far apart: every rank learns into a copy of the table, and rank 0 merges the copies."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ludus.agents.table import Fields, Table, fill_index
from ludus.algorithms.tabular import Learned
from ludus.runtimes.job import Job
from ludus.runtimes.mpi_mail import Letter, Mail, envelope
from ludus.runtimes.shared import compiling_alone
from ludus.types import Array, LudusError


class Reduce:
    """A source of tables that learned side by side; this rank plays too."""

    def __init__(self, job: Job, mail: Mail) -> None:
        self.job, self.mail = replace(job, workers=1 + len(mail.others)), mail
        if mail.others and not job.algorithm.mergeable:
            raise LudusError(f"{job.algorithm.method} keeps what cannot be merged: run it with --runtime single")
        self.worker = self.job.worker(0)
        self.table: Table | None = None
        self.replica: Table | None = None
        self.version = 0
        self.mappings: list[Array] = []
        for other in mail.others:
            mail.send(other, {"ask": "job", "job": self.job.to_json(), "number": other})

    def __iter__(self) -> Iterator[Learned]:
        while True:
            assert self.table is not None and self.replica is not None, "publish a table before the workers begin"
            order = table_envelope(self.table, ask="work", steps=self.job.steps)
            for other in self.mail.others:
                self.mail.post(other, order)
            with compiling_alone(self.worker):
                tally = self.worker.work(self.replica, self.job.steps)
            letters = collect(self.mail, "work")
            tables = [self.replica, *(table_of(self.table, letter) for letter in letters)]
            self.mappings = []
            tallies = [tally, *(letter.arrays["tally"] for letter in letters)]
            yield Learned(tables, tallies, self.version, self.mappings)

    def publish(self, params: Table, version: int) -> None:
        if self.mappings:
            self.worker.remap(self.mappings[0])
        for other, mapping in zip(self.mail.others, self.mappings[1:], strict=False):
            if params.hashed:
                self.mail.send(other, {"ask": "remap"}, {"mapping": mapping})
        self.table, self.version, self.mappings = params, version, []
        self.replica = self.replica or params.copy()
        self.replica.take(params)

    def state(self) -> dict[str, dict[str, Array]]:
        for other in self.mail.others:
            self.mail.send(other, {"ask": "state"})
        letters = collect(self.mail, "state")
        return {"worker_0": self.worker.state(), **{f"worker_{letter.sender}": letter.arrays for letter in letters}}

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        missing = [number for number in range(self.job.workers) if f"worker_{number}" not in state]
        if missing:
            raise LudusError(
                f"this checkpoint is of {len(state)} ranks, not of {self.job.workers}; resume it with those"
            )
        for other in self.mail.others:
            self.mail.send(other, {"ask": "restore"}, state[f"worker_{other}"])
        self.worker.restore(state["worker_0"])
        collect(self.mail, "restore")

    def close(self) -> None:
        if not self.mail.failed:
            for other in self.mail.others:
                self.mail.send(other, {"ask": "end"})
        self.worker.close()


def collect(mail: Mail, what: str) -> list[Letter]:
    """What all other ranks answer, in their order."""
    letters: dict[int, Letter] = {}
    while len(letters) < len(mail.others):
        letter = mail.wait()
        assert letter is not None
        if letter.words["say"] == "error":
            raise LudusError(letter.words["error"])
        if letter.words["say"] == what:
            letters[letter.sender] = letter
    return [letters[rank] for rank in mail.others]


class Replica:
    """Another rank: it learns into a copy of the table when it is told to."""

    def __init__(self, job: Job, number: int, mail: Mail) -> None:
        self.job, self.mail, self.worker = job, mail, job.worker(number)
        self.table: Table | None = None

    def idle(self) -> bool:
        return True

    def play(self) -> None:
        pass

    def answer(self, letter: Letter) -> None:
        if letter.words["ask"] == "work":
            self.table = received(letter, self.job.algorithm.extra, self.table)
            with compiling_alone(self.worker):
                tally = self.worker.work(self.table, letter.words["steps"])
            self.mail.post(0, table_envelope(self.table, {"tally": tally}, say="work"))
        elif letter.words["ask"] == "remap":
            self.worker.remap(letter.arrays["mapping"])
        elif letter.words["ask"] == "state":
            self.mail.send(0, {"say": "state"}, self.worker.state())
        else:
            self.worker.restore(letter.arrays)
            self.mail.send(0, {"say": "restore"})

    def close(self) -> None:
        self.worker.close()


def table_envelope(table: Table, more: Mapping[str, Array] | None = None, **words: Any) -> Array:
    """A table as it is sent: the rows in use where it is hashed, all where it is numbered."""
    used = len(table)
    rows = table.rows[: used if table.hashed else None]
    facts = {"count": table.count, "actions": table.actions, "capacity": len(table.rows), **words}
    return envelope(facts, {"rows": rows.view(np.uint8), "known": table.known[:used], **(more or {})})


def table_of(like: Table, letter: Letter) -> Table:
    """The table in a letter, to be read and not to be searched."""
    table = copy.copy(like)
    table.rows, table.known = letter.arrays["rows"].view(like.rows.dtype), letter.arrays["known"]
    table.used = np.array([len(table.known)])
    return table


def received(letter: Letter, extra: Fields, old: Table | None) -> Table:
    """The table in a letter, to learn into; in the memory of an earlier one where the room is the same."""
    words, sent = letter.words, letter.arrays["rows"]
    if old is None or len(old.rows) != words["capacity"]:
        old = Table(words["count"], words["actions"], extra, words["capacity"])
    table, used = old, len(letter.arrays["known"])
    memory = table.rows.view(np.uint8)
    memory[: len(sent)], memory[len(sent) :] = sent, 0
    table.known[:used], table.used[0] = letter.arrays["known"], used
    if table.hashed:
        table.index.view(np.uint8)[:] = 0
        fill_index(table.index, table.known, used)
    return table
