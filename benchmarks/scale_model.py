"""A discrete-event simulation of `--runtime ray`: learners, nodes that share cores, and the links between them.

It follows ludus/runtimes/transport/rounds.py: two rounds are in progress, every worker carries out its orders one after
the other, a learner collects the rollouts of its workers in their order, updates, publishes, and only then begins the
next round. Several learners have their own workers and links, and meet in every update.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import NamedTuple

AHEAD = 1
"""rounds that workers are ahead of the learner"""
WARM = 4
"""first rounds, which fill the queues and are not counted"""


class Work(NamedTuple):
    """What a computation takes if nothing else runs on its machine."""

    seconds: float
    threads: float
    """CPU seconds per second"""


class Update(NamedTuple):
    """An update with so many rollouts."""

    rollouts: int
    work: Work


@dataclass(frozen=True)
class Costs:
    """What one game costs, as measured on one machine."""

    decisions: float
    """in one rollout"""
    rollout_bytes: float
    params_bytes: float
    gradients: int
    """in one update; several learners meet in each"""
    play: tuple[Work, ...]
    """measured rollouts, of which the simulation draws one for each unit"""
    contention: float
    """how much longer a rollout takes while all cores play"""
    beside: float
    """how much longer an update takes while workers try to play on all cores, with the lower priority Ray gives them"""
    left: float
    """cores' worth of play that these workers make during updates"""
    updates: tuple[Update, ...]
    """with different numbers of rollouts, in ascending order"""
    publish: Work
    """put parameters into the object store"""
    order: Work
    """call one worker"""
    carry: Work
    """from the call of a worker on the learner's node until its rollout is in the object store, without playing"""
    carry_remote: Work
    """the same on another node of this machine, which fetches the parameters first"""
    fetch: Work
    """get a rollout of the learner's node"""
    fetch_remote: Work
    """get a rollout of another node of this machine"""

    def update(self, rollouts: int) -> Work:
        """Interpolated between the measurements, and beyond them with the slope of the last two."""
        if len(self.updates) == 1:
            only = self.updates[0]
            return Work(only.work.seconds * rollouts / only.rollouts, only.work.threads)
        pairs = list(itertools.pairwise(self.updates))
        low, high = next((pair for pair in pairs if rollouts <= pair[1].rollouts), pairs[-1])
        share = (rollouts - low.rollouts) / (high.rollouts - low.rollouts)
        seconds = low.work.seconds + share * (high.work.seconds - low.work.seconds)
        return Work(seconds, low.work.threads + min(share, 1.0) * (high.work.threads - low.work.threads))


@dataclass(frozen=True)
class Hardware:
    """The machines of a cluster. With `shared`, all nodes are on one machine, that of the measurements."""

    nodes: int
    workers_per_node: int = 1
    cores: int = 2
    learners: int = 1
    learner_speedup: float = 1.0
    """of updates, by a GPU for example"""
    node_bandwidth: float = math.inf
    """bytes/s"""
    learner_bandwidth: float = math.inf
    """bytes/s of each learner"""
    latency: float = 0.0
    """seconds from one node to another"""
    shared: bool = False


class Prediction(NamedTuple):
    """What a simulation has found, after the first rounds."""

    rate: float
    """decisions/s"""
    age: int
    """the largest age of experience, in versions of the parameters"""
    age_seconds: float
    """mean time from the publication of parameters to the update with the rollouts that were made with them"""
    bound: str
    """what limits the rate: actors, network, learner or calls"""
    busy: float
    """share of the time in which workers work"""
    shares: dict[str, float]
    """of the time of a learner"""
    made: int
    """rollouts that all workers have made since the start"""
    used: int
    """rollouts that were learned from since the start"""


class Signal:
    """Something that happens once; processes wait for it by `yield`."""

    def __init__(self) -> None:
        self.done, self.waiting = False, list[Callable[[], None]]()

    def fire(self) -> None:
        self.done, waiting, self.waiting = True, self.waiting, []
        for resume in waiting:
            resume()


Process = Generator[Signal, None, None]


class Engine:
    """The clock, and what will happen."""

    def __init__(self) -> None:
        self.now, self.events = 0.0, list[tuple[float, int, Callable[[], None]]]()
        self.count = itertools.count()

    def at(self, moment: float, call: Callable[[], None]) -> None:
        heapq.heappush(self.events, (moment, next(self.count), call))

    def after(self, seconds: float) -> Signal:
        signal = Signal()
        self.at(self.now + seconds, signal.fire)
        return signal

    def start(self, process: Process) -> Signal:
        """Run a process beside the others; the signal is its end."""
        end = Signal()

        def resume() -> None:
            for signal in process:
                if not signal.done:
                    signal.waiting.append(resume)
                    return
            end.fire()

        resume()
        return end

    def run(self, until: Signal) -> None:
        while not until.done:
            self.now, _, call = heapq.heappop(self.events)
            call()


class Queue:
    """The jobs of one priority, which all advance equally."""

    def __init__(self) -> None:
        self.jobs, self.count = list[tuple[float, int, float, Signal]](), itertools.count()
        self.threads, self.progress, self.speed = 0.0, 0.0, 0.0
        """progress: seconds of work that a job which began at 0 would have done"""

    def add(self, seconds: float, threads: float) -> Signal:
        signal = Signal()
        heapq.heappush(self.jobs, (self.progress + seconds, next(self.count), threads, signal))
        self.threads += threads
        return signal

    def left(self) -> float:
        """Seconds until the first job ends."""
        return max(self.jobs[0][0] - self.progress, 0.0) / max(self.speed, 1e-12) if self.jobs else math.inf

    def pop(self) -> Signal:
        self.progress, _, threads, signal = heapq.heappop(self.jobs)
        self.threads = max(self.threads - threads, 0.0) if self.jobs else 0.0
        return signal


class Host:
    """The cores of a machine. Workers share what a learner there leaves them, and slow it down, as measured."""

    def __init__(self, engine: Engine, cores: int, costs: Costs) -> None:
        self.engine, self.cores, self.costs = engine, cores, costs
        self.first, self.second = Queue(), Queue()
        """jobs of the learner, and jobs of workers"""
        self.last, self.turn = 0.0, 0

    def run(self, work: Work, worker: bool = False) -> Signal:
        self._advance()
        signal = (self.second if worker else self.first).add(*work)
        self._schedule()
        return signal

    def _speeds(self) -> tuple[float, float]:
        """The speeds of the learner's jobs and of those of workers, compared with a job that is alone."""
        costs, workers = self.costs, max(self.second.threads, 1e-9)
        busy = min(self.second.threads / self.cores, 1.0)
        if self.first.jobs:
            return 1.0 / (1.0 + (costs.beside - 1.0) * busy), min(1.0, costs.left / workers)
        extra = min(max(workers - 1.0, 0.0) / max(self.cores - 1.0, 1.0), 1.0)
        return 1.0, min(1.0, self.cores / workers) / (1.0 + (costs.contention - 1.0) * extra)

    def _advance(self) -> None:
        for queue in (self.first, self.second):
            queue.progress += (self.engine.now - self.last) * queue.speed
        self.last = self.engine.now

    def _schedule(self) -> None:
        """Compute the speeds, and the next end of a job."""
        self.first.speed, self.second.speed = self._speeds()
        self.turn += 1
        turn, queue = self.turn, min((self.first, self.second), key=Queue.left)
        if queue.jobs:
            self.engine.at(self.engine.now + queue.left(), lambda: self._finish(turn, queue))

    def _finish(self, turn: int, queue: Queue) -> None:
        if turn != self.turn:
            return  # the speed has changed since this was scheduled
        self._advance()
        signal = queue.pop()
        self._schedule()
        signal.fire()


class Link:
    """One direction of the connection of a learner, which carries one object after the other."""

    def __init__(self, engine: Engine, hardware: Hardware, fastest: float) -> None:
        self.engine, self.latency, self.free = engine, hardware.latency, 0.0
        self.bandwidth, self.lane = min(hardware.learner_bandwidth, fastest), min(hardware.node_bandwidth, fastest)
        """bytes/s of the learner and of a node; Ray has its own limit, `fastest`"""

    def send(self, size: float) -> Signal:
        """Until the object has arrived. While it is sent slowly by one node, others can use the rest of the link."""
        begun = max(self.engine.now, self.free)
        self.free = begun + size / self.bandwidth
        arrival = begun + size / min(self.bandwidth, self.lane) + self.latency
        return self.engine.after(arrival - self.engine.now)


class Node:
    """A node of Ray: which parameters it has or is receiving."""

    def __init__(self, host: Host, remote: bool) -> None:
        self.host, self.remote = host, remote
        self.params: tuple[int, Signal] = (-1, Signal())


class Worker:
    """A worker: its orders, and the rollouts that its learner will get."""

    def __init__(self, node: Node) -> None:
        self.node, self.busy, self.made = node, 0.0, 0
        self.orders, self.ordered = deque[tuple[Signal, Signal]](), Signal()
        self.rollouts = deque[Signal]()

    def order(self, params: Signal) -> None:
        """Order a rollout with parameters that arrive at this signal."""
        made = Signal()
        self.orders.append((params, made))
        self.rollouts.append(made)
        self.ordered.fire()


class Meeting:
    """Where learners wait for each other before an update."""

    def __init__(self, size: int) -> None:
        self.size, self.arrived, self.signal = size, 0, Signal()

    def join(self) -> Signal:
        signal, self.arrived = self.signal, self.arrived + 1
        if self.arrived == self.size:
            self.arrived, self.signal = 0, Signal()
            signal.fire()
        return signal


class Simulation:
    """A run of one game on some hardware."""

    def __init__(self, costs: Costs, hardware: Hardware, rounds: int, seed: int = 0) -> None:
        self.costs, self.hardware, self.rounds = costs, hardware, rounds
        self.engine, self.dice = Engine(), random.Random(seed)
        self.meeting = Meeting(hardware.learners)
        here = Host(self.engine, hardware.cores, costs)
        hosts = [here if hardware.shared else self._host() for _ in range(hardware.nodes)]
        # The learner's process is on the first node of this machine; elsewhere it has a machine of its own.
        nodes = [Node(host, remote=not hardware.shared or number > 0) for number, host in enumerate(hosts)]
        self.workers = [Worker(node) for _ in range(hardware.workers_per_node) for node in nodes]
        places = [here if hardware.shared else self._host() for _ in range(hardware.learners)]
        self.learners = [
            Learner(self, place, self.workers[number :: hardware.learners]) for number, place in enumerate(places)
        ]

    def _host(self) -> Host:
        return Host(self.engine, self.hardware.cores, self.costs)

    def run(self) -> Prediction:
        for worker in self.workers:
            self.engine.start(self.play(worker))
        ends = [self.engine.start(learner.train()) for learner in self.learners]
        for end in ends:
            self.engine.run(end)
        return self._prediction()

    def play(self, worker: Worker) -> Process:
        """The life of a worker: fetch the parameters of an order, play, and store the rollout."""
        carry = self.costs.carry_remote if self.hardware.shared and worker.node.remote else self.costs.carry
        for rollout in itertools.count():
            while not worker.orders:
                worker.ordered = Signal()
                yield worker.ordered
            params, made = worker.orders.popleft()
            yield params
            begun, play = self.engine.now, self.dice.choice(self.costs.play)
            yield worker.node.host.run(carry, worker=True)
            yield worker.node.host.run(play, worker=True)
            worker.busy, worker.made = worker.busy + self.engine.now - begun, rollout + 1
            made.fire()

    def _prediction(self) -> Prediction:
        first = self.learners[0]
        seconds = first.moments[-1] - first.moments[WARM - 1]
        used = sum(len(learner.moments) * len(learner.workers) for learner in self.learners)
        rollouts = (len(first.moments) - WARM) * len(self.workers)
        shares = {name: value / seconds for name, value in first.spent.items()}
        busy = sum(worker.busy for worker in self.workers) / len(self.workers) / self.engine.now
        ages = [version for version, _ in first.ages]
        return Prediction(
            rollouts * self.costs.decisions / seconds, max(ages), sum(age for _, age in first.ages) / len(ages),
            bound(shares, busy), busy, shares, sum(worker.made for worker in self.workers), used,
        )  # fmt: skip


class Learner:
    """The process with the training loop, or one of several."""

    def __init__(self, simulation: Simulation, host: Host, workers: list[Worker]) -> None:
        self.simulation, self.host, self.workers = simulation, host, workers
        costs, hardware = simulation.costs, simulation.hardware
        fastest = costs.rollout_bytes / costs.fetch_remote.seconds if costs.fetch_remote.seconds else math.inf
        self.up, self.down = (Link(simulation.engine, hardware, fastest) for _ in range(2))
        self.version, self.begun, self.published = 0, deque[int](), dict[int, float]()
        self.moments, self.ages = list[float](), list[tuple[int, float]]()
        self.spent = dict.fromkeys(("actors", "network", "learner", "calls"), 0.0)

    def train(self) -> Process:
        yield from self._publish()
        while len(self.moments) < self.simulation.rounds:
            while len(self.begun) <= AHEAD:
                yield from self._begin()
            yield from self._take()
            yield from self._update()
            self.version += 1
            yield from self._publish()
            self.moments.append(self.simulation.engine.now)

    def _spend(self, what: str, signal: Signal) -> Process:
        begun = self.simulation.engine.now
        yield signal
        if len(self.moments) >= WARM:
            self.spent[what] += self.simulation.engine.now - begun

    def _publish(self) -> Process:
        yield from self._spend("calls", self.host.run(self.simulation.costs.publish))
        self.published[self.version] = self.simulation.engine.now

    def _begin(self) -> Process:
        """Order a rollout from every worker; every node fetches the parameters once."""
        costs, hardware = self.simulation.costs, self.simulation.hardware
        for worker in self.workers:
            yield from self._spend("calls", self.host.run(costs.order))
            if worker.node.params[0] < self.version:
                arrival = self.simulation.engine.after(0.0) if hardware.shared else self.up.send(costs.params_bytes)
                worker.node.params = self.version, arrival
            worker.order(worker.node.params[1])
        self.begun.append(self.version)

    def _take(self) -> Process:
        for worker in self.workers:
            yield from self._spend("actors", worker.rollouts[0])
            worker.rollouts.popleft()
            yield from self._fetch(worker)
        version = self.begun.popleft()
        self.ages.append((self.version - version, self.simulation.engine.now - self.published[version]))

    def _fetch(self, worker: Worker) -> Process:
        costs, hardware = self.simulation.costs, self.simulation.hardware
        if worker.node.remote and not hardware.shared:
            yield from self._spend("network", self.simulation.engine.after(hardware.latency))  # the request
            yield from self._spend("network", self.down.send(costs.rollout_bytes))
        work = costs.fetch_remote if worker.node.remote and hardware.shared else costs.fetch
        yield from self._spend("network", self.host.run(work))

    def _update(self) -> Process:
        costs, hardware = self.simulation.costs, self.simulation.hardware
        if hardware.learners > 1:
            yield from self._spend("learner", self.simulation.meeting.join())
            yield from self._spend("network", self.simulation.engine.after(self._exchange()))
        seconds, threads = costs.update(len(self.workers))
        yield from self._spend("learner", self.host.run(Work(seconds / hardware.learner_speedup, threads)))

    def _exchange(self) -> float:
        """Seconds for the sums of all gradients of an update, around a ring of learners."""
        costs, hardware = self.simulation.costs, self.simulation.hardware
        steps = 2 * (hardware.learners - 1)
        once = steps * (costs.params_bytes / hardware.learners / hardware.learner_bandwidth + hardware.latency)
        return costs.gradients * once


def bound(shares: dict[str, float], busy: float) -> str:
    """What limits the rate: the actors if they never wait, otherwise what takes most of the learner's time."""
    largest = max(shares, key=lambda name: shares[name])
    if largest == "actors" and busy < 0.9:
        return "network"  # the learner waits for workers that wait for parameters
    return "actors" if busy >= 0.95 else largest


def predict(costs: Costs, hardware: Hardware, rounds: int = 16, seed: int = 0) -> Prediction:
    """Steps/s and age of a run."""
    return Simulation(costs, hardware, rounds, seed).run()
