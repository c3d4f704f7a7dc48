"""MPI with a parameter server: rank 0 learns asynchronously from transitions that the other ranks play.

The other ranks play with the newest table that they have received, and send transitions in batches. Positions are sent
by their number or key, because each rank stores its rows in its own order. Rank 0 applies one batch after the other and
answers with the rows that have changed. The metric `age` is the number of updates by which a batch was behind. A
resumed run begins new games.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import ModuleType

import numpy as np

from ludus.agents.table import ANY_LEGAL, ILLEGAL, Table, highest, improve, slot_of
from ludus.algorithms import schedules
from ludus.algorithms.protocol import Groups
from ludus.algorithms.tabular import HERE, Tabular, part
from ludus.algorithms.tabular.checkpoints import Replica, rates
from ludus.algorithms.tabular.worker import Worker, compiling_alone, rules_of
from ludus.dsl import kernel, rule
from ludus.dsl.rows import new_rows
from ludus.pool import binding
from ludus.runtimes import mpi
from ludus.runtimes.transport import recorder
from ludus.runtimes.transport.job import AnyAlgorithm, Job
from ludus.runtimes.transport.messages import Message, Messenger
from ludus.types import Array, LudusError

MAX_PENDING = 2
"""batches without an answer after which a player waits: rank 0 learns from one while the next one is played"""

SERVED = ("q_learning", "compiled")
"""the method and the form that rank 0 can learn with"""


def count_workers(algorithm: AnyAlgorithm, wanted: int) -> int:
    """One on every rank except rank 0."""
    workers = mpi.ranks() - 1
    if wanted not in (0, workers):
        raise LudusError(f"--runtime mpi_server has {workers} workers here, not {wanted}; change the -n of mpiexec")
    check_servable(algorithm, workers)
    return workers


session = mpi.session
LONGEST_CHUNK = mpi.LONGEST_CHUNK


def open_source(job: Job) -> Server:
    connection = mpi.messenger()
    if connection.rank != 0:
        raise LudusError(f"rank {connection.rank} cannot train; only rank 0 trains, and the other ranks serve it")
    return Server(job, connection)


class Server:
    """A source whose rounds are batches in the order of their arrival; it learns from each before it returns it."""

    def __init__(self, job: Job, connection: Messenger) -> None:
        self.algorithm = check_servable(job.algorithm, len(connection.others))
        self.job, self.connection = replace(job, workers=len(connection.others)), connection
        self.rate = schedules.parse(self.algorithm.learning_rate)
        self.turn, self.version = 0, 0
        """number of batches learned from, and version of the table"""
        self.sent, self.times = dict.fromkeys(connection.others, -1), dict.fromkeys(connection.others, 0)
        """for each rank, the turn of its newest rows, and its time steps"""
        self.stamps = np.zeros(0, np.int64)
        """for each row, the turn in which it changed last"""
        self.table: Table | None = None
        self.unanswered: list[int] = []
        for other in connection.others:
            connection.send(other, {"type": "job", "job": self.job.to_json(), "number": other, "runtime": "mpi_server"})

    def __iter__(self) -> Iterator[list[Replica]]:
        while True:
            message = self.connection.wait()
            assert message is not None
            if message.header["type"] == "error":
                raise LudusError(message.header["error"])
            yield [self._replica(message)]

    def _replica(self, message: Message) -> Replica:
        """The learner's table after it has learned from a batch."""
        assert self.table is not None, "publish a table before the first batch"
        self._learn(self.table, message)
        self.times[message.sender] = message.header["time"]
        self.unanswered.append(message.sender)
        steps = float(self.job.rows * sum(self.times.values()))
        notes = rates(self.job.algorithm, steps)
        return Replica(self.table, message.arrays["tally"], min(message.header["version"], self.version), notes)

    def _learn(self, table: Table, message: Message) -> None:
        self.turn += 1
        batch, rate = message.arrays, self.rate(float(self.job.rows * sum(self.times.values())))
        while table.hashed and len(table) + len(batch["new"]) > len(table.rows):
            table.grow()
        self._extend_stamps(table)
        add_positions(*table.arrays(), self.stamps, self.turn, batch["new"], batch["legal"], table.hashed)
        learned = learn(
            *table.arrays(), self.stamps, self.turn, batch["position"], batch["next"], batch["follows"],
            batch["action"], batch["reward"], batch["sign"], self.algorithm.gamma, rate, table.hashed,
        )  # fmt: skip
        if learned < len(batch["position"]):
            raise LudusError(
                f"rank {message.sender} sent unknown positions; run the same version of Ludus on all ranks"
            )

    def _extend_stamps(self, table: Table) -> None:
        if len(self.stamps) < len(table.rows):
            self.stamps = np.concatenate([self.stamps, np.zeros(len(table.rows) - len(self.stamps), np.int64)])

    def publish(self, params: Table, version: int) -> None:
        """Send changed rows to the ranks whose batches were learned from; a new table goes to all ranks."""
        if params is not self.table:
            self.table, self.stamps = params, np.zeros(len(params.rows), np.int64)
            self.sent, self.unanswered = dict.fromkeys(self.connection.others, -1), list(self.connection.others)
        self.version = version
        for other in self.unanswered:
            self._send_changes(other, params)
        self.unanswered = []

    def _send_changes(self, other: int, table: Table) -> None:
        places = table.places
        changed = places[self.stamps[places] > self.sent[other]]
        keys = table.known[changed] if table.hashed else changed.astype(np.uint64)
        header = {"type": "table", "version": self.version, "count": table.count, "actions": table.actions}
        self.connection.send(other, header, {"keys": keys, "rows": table.rows[changed].view(np.uint8)})
        self.sent[other] = self.turn

    def state(self) -> Groups:
        """The time steps of each worker."""
        return {f"worker_{other - 1}": {"time": np.array([time])} for other, time in self.times.items()}

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        latest = max(int(parts["time"][0]) for parts in state.values())
        for other in self.connection.others:
            self.times[other] = int(state.get(f"worker_{other - 1}", {"time": np.array([latest])})["time"][0])
            self.connection.send(other, {"type": "time", "time": self.times[other]})

    def agree(self, *flags: bool) -> tuple[bool, ...]:
        return flags

    def close(self) -> None:
        if not self.connection.failed:
            for other in self.connection.others:
                self.connection.send(other, {"type": "end"})


def new_rank(job: Job, number: int, connection: Messenger) -> Player:
    """The work of a rank other than 0."""
    return Player(job, number, connection)


def check_servable(algorithm: AnyAlgorithm, players: int) -> Tabular:
    """The algorithm, if rank 0 can learn from transitions alone; otherwise raises LudusError.

    Q-learning needs only a reward and the best next value; other methods also need the policy's later decisions.
    """
    if players < 1:
        raise LudusError(
            "--runtime mpi_server needs at least one worker besides rank 0; start it with mpiexec -n 2 or more"
        )
    if isinstance(algorithm, Tabular) and (algorithm.method, algorithm.form) == SERVED and not algorithm.extra:
        return algorithm
    raise LudusError(
        f"--runtime mpi_server supports only q_learning in compiled form, with a policy that stores no counts, not "
        f"{algorithm.method}; use --runtime mpi"
    )


class Player:
    """A rank other than 0: it plays with the newest table it has received, and sends transitions."""

    def __init__(self, job: Job, number: int, connection: Messenger) -> None:
        self.job, self.connection, self.algorithm = job, connection, check_servable(job.algorithm, 1)
        worker = job.worker(number - 1)
        assert isinstance(worker, Worker)
        self.worker = worker
        self.worker.kernel = recording_kernel(self.worker)
        most = job.rows * self.worker.kernel.DESKS * job.steps
        self.worker.memory = new_rows(most + 1, recorder.RECORD)
        self.table: Table | None = None
        self.version, self.pending, self.announced = 0, 0, 0
        """version of the table, batches without an answer, and positions that rank 0 knows"""

    def idle(self) -> bool:
        return self.table is None or self.pending >= MAX_PENDING

    def play(self) -> None:
        """Play one unit and send its transitions."""
        assert self.table is not None
        self.worker.memory["count"][0] = 0
        with compiling_alone(self.worker.kernel.CACHE / "complete"):
            tally = self.worker.learn(self.table, self.job.steps)
        header = {"type": "batch", "version": self.version, "time": self.worker.time}
        self.connection.send(0, header, {**self._batch(self.table), "tally": tally})
        self.pending += 1

    def _batch(self, table: Table) -> dict[str, Array]:
        records = self.worker.memory[: int(self.worker.memory["count"][0])]
        new = table.known[self.announced : len(table)]
        values = table.rows["values"][np.arange(self.announced, len(table)) if table.hashed else new.astype(np.int64)]
        self.announced = len(table)
        return {
            "position": keys_of(table, records["place"]), "next": keys_of(table, np.maximum(records["next"], 0)),
            "follows": (records["next"] >= 0).astype(np.uint8), "action": records["action"].astype(np.int32),
            "reward": np.ascontiguousarray(records["reward"]), "sign": records["sign"].astype(np.int8),
            "new": new.copy(), "legal": (values >= ANY_LEGAL).astype(np.uint8),
        }  # fmt: skip

    def answer(self, message: Message) -> None:
        if message.header["type"] == "time":
            self.worker.time = message.header["time"]
            return
        header, keys = message.header, message.arrays["keys"]
        if self.table is None:
            self.table = Table(header["count"], header["actions"], self.algorithm.extra)
        while self.table.hashed and len(self.table) + len(keys) > len(self.table.rows):
            self.table.grow()
        copy_rows(*self.table.arrays(), keys, message.arrays["rows"].view(self.table.rows.dtype), self.table.hashed)
        self.version, self.pending, self.announced = header["version"], max(self.pending - 1, 0), len(self.table)

    def close(self) -> None:
        self.worker.close()


def recording_kernel(worker: Worker) -> ModuleType:
    """The compiled loop of a worker, with a method that records transitions instead of learning."""
    policy = worker.algorithm.policy
    plain = re.sub(binding.NOT_FOR_FILES, "_", worker.pool.name)[:60]
    return binding.instantiate(
        HERE / "kernel.py", f"ludus_tabular_recording_{policy}_{plain}",
        rules=rules_of(worker.pool, worker.native), method=recorder, policy=part("policy", policy),
    )  # fmt: skip


def keys_of(table: Table, places: Array) -> Array:
    """The keys of the positions at these places, which are the same on all ranks."""
    return table.known[places] if table.hashed else places.astype(np.uint64)


@rule
def place_of(index: Array, key: np.uint64, hashed: bool) -> np.int64:
    """The place of a position, -1 if it is unknown."""
    place = np.int64(key)
    if hashed:
        slot = index[slot_of(index, key)]
        place = slot.place if slot.key == key else np.int64(-1)
    return place


@rule
def enter(rows: Array, known: Array, index: Array, used: Array, key: np.uint64, hashed: bool) -> tuple[np.int64, bool]:
    """The place of a position, which is added if it is unknown, and whether it is new."""
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
def add_positions(
    rows: Array, known: Array, index: Array, used: Array, stamps: Array, turn: int, keys: Array, legal: Array,
    hashed: bool,
) -> None:  # fmt: skip
    """Add rows for positions that another rank has visited."""
    for number in range(len(keys)):
        place, new = enter(rows, known, index, used, keys[number], hashed)
        if new:
            row = rows[place]
            for action in range(legal.shape[1]):
                row.values[action] = np.float32(0.0) if legal[number, action] else ILLEGAL
            row.visits = 1
            stamps[place] = turn


@kernel
def copy_rows(rows: Array, known: Array, index: Array, used: Array, keys: Array, received: Array, hashed: bool) -> None:
    """Replace rows by those that the server has sent."""
    for number in range(len(keys)):
        place, _ = enter(rows, known, index, used, keys[number], hashed)
        rows[place] = received[number]


@kernel
def learn(
    rows: Array, known: Array, index: Array, used: Array, stamps: Array, turn: int, positions: Array, following: Array,
    follows: Array, actions: Array, rewards: Array, signs: Array, gamma: float, rate: float, hashed: bool,
) -> int:  # fmt: skip
    """Q-learning, one transition after the other; returns how many had known positions."""
    for number in range(len(positions)):
        place = place_of(index, positions[number], hashed)
        after = place_of(index, following[number], hashed) if follows[number] else np.int64(0)
        if place < 0 or after < 0:
            return number
        target = rewards[number]
        if follows[number]:
            best = highest(rows[after], len(rows[after].values))
            target += gamma * np.float64(signs[number]) * np.float64(best)
        improve(rows[place], actions[number], target, rate)
        rows[place].visits += np.uint64(1)
        stamps[place] = turn
    return len(positions)
