"""MPI with a parameter server: rank 0 learns from what the others play, and waits for nobody.

The others play with the newest table they have, and send what happened in batches; positions travel by their number or
key, so every rank may keep its rows where it likes. Rank 0 applies one batch after the other and answers with the rows
that have changed. `age` of a run is how many updates a batch was behind. Games are opened anew when a run is resumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ludus.agents.table import ANY_LEGAL, ILLEGAL, Table, highest, improve, slot_of
from ludus.algorithms import schedules
from ludus.algorithms.protocol import Algorithm
from ludus.algorithms.tabular import HERE, Tabular, part
from ludus.algorithms.tabular.checkpoints import Replica, rates
from ludus.algorithms.tabular.worker import Worker, compiling_alone, rules_of
from ludus.dsl import kernel, rule
from ludus.dsl.rows import new_rows
from ludus.pool import binding
from ludus.runtimes import mpi
from ludus.runtimes.transport import recorder
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.mail import Letter, Mail
from ludus.types import Array, LudusError

UNDERWAY = 2
"""batches that a player sends ahead before it waits for an answer: one is learned from while another is played"""


def count_workers(algorithm: Algorithm[Any, Any, Any], wanted: int) -> int:
    """One on every rank but the first."""
    workers = mpi.ranks() - 1
    if wanted not in (0, workers):
        raise LudusError(f"--runtime mpi_server has {workers} workers here, not {wanted}; mpiexec -n says how many")
    check_servable(algorithm, workers)
    return workers


session = mpi.session
LONGEST_CHUNK = mpi.LONGEST_CHUNK


def open_source(job: Job) -> Server:
    mail = mpi.post_office()
    if mail.me != 0:
        raise LudusError(f"rank {mail.me} cannot train: rank 0 does, and the others serve it")
    return Server(job, mail)


class Server:
    """A source of batches, in the order of their arrival."""

    def __init__(self, job: Job, mail: Mail) -> None:
        self.algorithm = check_servable(job.algorithm, len(mail.others))
        self.job, self.mail = replace(job, workers=len(mail.others)), mail
        self.rate = schedules.parse(self.algorithm.learning_rate)
        self.turn, self.version = 0, 0
        self.sent, self.times = dict.fromkeys(mail.others, -1), dict.fromkeys(mail.others, 0)
        self.stamps = np.zeros(0, np.int64)
        self.table: Table | None = None
        self.served: list[int] = []
        for other in mail.others:
            mail.send(other, {"ask": "job", "job": self.job.to_json(), "number": other, "runtime": "mpi_server"})

    def __iter__(self) -> Iterator[list[Replica]]:
        while True:
            letter = self.mail.wait()
            assert letter is not None
            if letter.words["say"] == "error":
                raise LudusError(letter.words["error"])
            yield [self._replica(letter)]

    def _replica(self, letter: Letter) -> Replica:
        """The learner's own table, which has learned from a batch."""
        assert self.table is not None, "publish a table before the first batch"
        self._learn(self.table, letter)
        self.times[letter.sender] = letter.words["time"]
        self.served.append(letter.sender)
        steps = float(self.job.rows * sum(self.times.values()))
        notes = rates(self.job.algorithm, steps)
        return Replica(self.table, letter.arrays["tally"], min(letter.words["version"], self.version), notes)

    def _learn(self, table: Table, letter: Letter) -> None:
        self.turn += 1
        batch, rate = letter.arrays, self.rate(float(self.job.rows * sum(self.times.values())))
        while table.hashed and len(table) + len(batch["new"]) > len(table.rows):
            table.grow()
        self._stretch(table)
        announce(*table.arrays(), self.stamps, self.turn, batch["new"], batch["legal"], table.hashed)
        learned = learn(
            *table.arrays(), self.stamps, self.turn, batch["position"], batch["next"], batch["follows"],
            batch["action"], batch["reward"], batch["sign"], self.algorithm.gamma, rate, table.hashed,
        )  # fmt: skip
        if learned < len(batch["position"]):
            raise LudusError(
                f"rank {letter.sender} speaks of positions that nobody knows; do all ranks run one version?"
            )

    def _stretch(self, table: Table) -> None:
        if len(self.stamps) < len(table.rows):
            self.stamps = np.concatenate([self.stamps, np.zeros(len(table.rows) - len(self.stamps), np.int64)])

    def publish(self, params: Table, version: int) -> None:
        """Answer those whose batches were learned from; at the beginning, tell everyone everything."""
        if params is not self.table:
            self.table, self.stamps = params, np.zeros(len(params.rows), np.int64)
            self.sent, self.served = dict.fromkeys(self.mail.others, -1), list(self.mail.others)
        self.version = version
        for other in self.served:
            self._tell(other, params)
        self.served = []

    def _tell(self, other: int, table: Table) -> None:
        places = table.places
        fresh = places[self.stamps[places] > self.sent[other]]
        keys = table.known[fresh] if table.hashed else fresh.astype(np.uint64)
        words = {"ask": "table", "version": self.version, "count": table.count, "actions": table.actions}
        self.mail.send(other, words, {"keys": keys, "rows": table.rows[fresh].view(np.uint8)})
        self.sent[other] = self.turn

    def state(self) -> dict[str, dict[str, Array]]:
        """How far everyone has come."""
        return {f"worker_{other - 1}": {"time": np.array([time])} for other, time in self.times.items()}

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        latest = max(int(parts["time"][0]) for parts in state.values())
        for other in self.mail.others:
            self.times[other] = int(state.get(f"worker_{other - 1}", {"time": np.array([latest])})["time"][0])
            self.mail.send(other, {"ask": "time", "time": self.times[other]})

    def agree(self, *wishes: bool) -> tuple[bool, ...]:
        return wishes

    def close(self) -> None:
        if not self.mail.failed:
            for other in self.mail.others:
                self.mail.send(other, {"ask": "end"})


def new_rank(job: Job, number: int, mail: Mail) -> Player:
    """What a rank other than 0 does."""
    return Player(job, number, mail)


def check_servable(algorithm: Any, players: int) -> Tabular:
    """The algorithm, if rank 0 can learn by it alone.

    Only what is learned from a reward and the best next value can be learned far from where it was played.
    """
    if players < 1:
        raise LudusError("--runtime mpi_server needs workers for rank 0: start it with mpiexec -n 2, or more")
    served = isinstance(algorithm, Tabular) and (algorithm.method, algorithm.form) == ("q_learning", "compiled")
    if not served or algorithm.extra:
        raise LudusError(
            f"--runtime mpi_server learns by q_learning, compiled, with a policy that keeps no counts; not by "
            f"{algorithm.method}: use --runtime mpi"
        )
    return algorithm


class Player:
    """Another rank: it plays with the newest table it has, and sends what happened."""

    def __init__(self, job: Job, number: int, mail: Mail) -> None:
        self.job, self.mail, self.algorithm = job, mail, check_servable(job.algorithm, 1)
        worker = job.worker(number - 1)
        assert isinstance(worker, Worker)
        self.worker = worker
        self.worker.kernel = recording_kernel(self.worker)
        most = job.rows * self.worker.kernel.DESKS * job.steps
        self.worker.memory = new_rows(most + 1, recorder.RECORD)
        self.table: Table | None = None
        self.version, self.underway, self.announced = 0, 0, 0

    def idle(self) -> bool:
        return self.table is None or self.underway >= UNDERWAY

    def play(self) -> None:
        """Play a chunk, and send it."""
        assert self.table is not None
        self.worker.memory["count"][0] = 0
        with compiling_alone(self.worker.kernel.CACHE / "complete"):
            tally = self.worker.learn(self.table, self.job.steps)
        words = {"say": "batch", "version": self.version, "time": self.worker.time}
        self.mail.send(0, words, {**self._batch(self.table), "tally": tally})
        self.underway += 1

    def _batch(self, table: Table) -> dict[str, Array]:
        records = self.worker.memory[: int(self.worker.memory["count"][0])]
        new = table.known[self.announced : len(table)]
        values = table.rows["values"][np.arange(self.announced, len(table)) if table.hashed else new.astype(np.int64)]
        self.announced = len(table)
        return {
            "position": named(table, records["place"]), "next": named(table, np.maximum(records["next"], 0)),
            "follows": (records["next"] >= 0).astype(np.uint8), "action": records["action"].astype(np.int32),
            "reward": np.ascontiguousarray(records["reward"]), "sign": records["sign"].astype(np.int8),
            "new": new.copy(), "legal": (values >= ANY_LEGAL).astype(np.uint8),
        }  # fmt: skip

    def answer(self, letter: Letter) -> None:
        if letter.words["ask"] == "time":
            self.worker.time = letter.words["time"]
            return
        words, keys = letter.words, letter.arrays["keys"]
        if self.table is None:
            self.table = Table(words["count"], words["actions"], self.algorithm.extra)
        while self.table.hashed and len(self.table) + len(keys) > len(self.table.rows):
            self.table.grow()
        take_over(*self.table.arrays(), keys, letter.arrays["rows"].view(self.table.rows.dtype), self.table.hashed)
        self.version, self.underway, self.announced = words["version"], max(self.underway - 1, 0), len(self.table)

    def close(self) -> None:
        self.worker.close()


def recording_kernel(worker: Any) -> Any:
    """The loop of a worker, with a method that only writes down."""
    policy = worker.algorithm.policy
    plain = re.sub(binding.NOT_FOR_FILES, "_", worker.pool.name)[:60]
    return binding.instantiate(
        HERE / "kernel.py", f"ludus_tabular_recording_{policy}_{plain}",
        rules=rules_of(worker.pool, worker.native), method=recorder, policy=part("policy", policy),
    )  # fmt: skip


def named(table: Table, places: Array) -> Array:
    """What every rank calls the positions at these places."""
    return table.known[places] if table.hashed else places.astype(np.uint64)


@rule
def place_of(index: Any, key: Any, hashed: Any) -> Any:
    """Where a position is, -1 where it is not known."""
    place = np.int64(key)
    if hashed:
        slot = index[slot_of(index, key)]
        place = slot.place if slot.key == key else np.int64(-1)
    return place


@rule
def enter(rows: Any, known: Any, index: Any, used: Any, key: Any, hashed: Any) -> Any:
    """The place of a position, and whether it is a new one, which then has one."""
    place = place_of(index, key, hashed)
    new = rows[place].visits == 0 if place >= 0 else True
    if new:
        if place < 0:
            place = used[0]
            slot = index[slot_of(index, key)]
            slot.key = key
            slot.place = place
        known[used[0]] = key
        used[0] += 1
    return place, new


@kernel
def announce(
    rows: Any, known: Any, index: Any, used: Any, stamps: Any, turn: Any, keys: Any, legal: Any, hashed: Any
) -> None:
    """Make rows ready for positions that somebody has seen."""
    for number in range(len(keys)):
        place, new = enter(rows, known, index, used, keys[number], hashed)
        if new:
            row = rows[place]
            for action in range(legal.shape[1]):
                row.values[action] = np.float32(0.0) if legal[number, action] else ILLEGAL
            row.visits = 1
            stamps[place] = turn


@kernel
def take_over(rows: Any, known: Any, index: Any, used: Any, keys: Any, theirs: Any, hashed: Any) -> None:
    """Write rows that the server has sent over our own."""
    for number in range(len(keys)):
        place, _ = enter(rows, known, index, used, keys[number], hashed)
        rows[place] = theirs[number]


@kernel
def learn(
    rows: Any, known: Any, index: Any, used: Any, stamps: Any, turn: Any, positions: Any, following: Any, follows: Any,
    actions: Any, rewards: Any, signs: Any, discount: Any, rate: Any, hashed: Any,
) -> Any:  # fmt: skip
    """Q-learning, one transition after the other; returns how many were understood."""
    for number in range(len(positions)):
        place = place_of(index, positions[number], hashed)
        after = place_of(index, following[number], hashed) if follows[number] else np.int64(0)
        if place < 0 or after < 0:
            return number
        target = rewards[number]
        if follows[number]:
            best = highest(rows[after], len(rows[after].values))
            target += discount * np.float64(signs[number]) * np.float64(best)
        improve(rows[place], actions[number], target, rate)
        rows[place].visits += np.uint64(1)
        stamps[place] = turn
    return len(positions)
