"""The measurements for scale.py, each in a process of its own that prints one JSON object.

python scale_measure.py play cartpole          # rollouts of one worker, without Ray
python scale_measure.py update cartpole        # updates with 1, 2 and 4 rollouts, without Ray
python scale_measure.py carry cartpole HOST:PORT   # Ray's part, with a real rollout that is not played again
python scale_measure.py run cartpole HOST:PORT NODES SECONDS   # training, to compare with the prediction
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import psutil

from ludus.algorithms.protocol import Worker
from ludus.pool import available_cores
from ludus.runtimes.transport import codec
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.ray_cluster import RaySettings, connected, load_ray
from ludus.training import config
from ludus.training.loop import train
from ludus.training.opened import job_of, open_run
from ludus.training.resume import new_learner
from ludus.types import LudusError

PLAY_SECONDS = 4.0
"""time for which rollouts are measured"""
UPDATE_SECONDS = 2.5
"""time for which updates with each number of rollouts are measured"""
ROLLOUTS = (1, 2, 4)
CALLS = 12
"""of Ray, in one measurement"""
STORE_BYTES = 1_500_000_000
"""of each node: two rounds of rollouts fit without spilling"""
WARM = 4
"""first updates of a run, which compile and fill the queues"""
NICENESS = "15"
"""of Ray's workers, which is the default of its setting worker_niceness"""
QUIET_PERCENT, QUIET_SECONDS = 15.0, 10.0
"""use of all cores below which a measurement begins, and the time to wait for it"""
Measured = dict[str, Any]


def apart(what: str, *words: str) -> Measured:
    """Measure in a separate process."""
    (found,) = together((what, *words))
    return found


def together(*commands: tuple[str, ...]) -> list[Measured]:
    """Measure in separate processes that begin at the same moment."""
    script = [sys.executable, str(pathlib.Path(__file__).absolute())]
    started = [
        subprocess.Popen([*script, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for words in commands
    ]
    try:
        for process in started:
            assert process.stdout
            process.stdout.readline()  # ready
        if not wait_until_quiet():
            print(f"scale: the machine is busy during {' '.join(commands[0])}", file=sys.stderr)
        for process in started:
            assert process.stdin
            process.stdin.write("begin\n")
            process.stdin.flush()
        printed = [process.communicate()[0] for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    if any(process.returncode for process in started):
        raise LudusError(f"measuring {' '.join(commands[0])} failed; its error is above")
    return [json.loads(text.splitlines()[-1]) for text in printed]


def _ready() -> None:
    """Wait until the processes that measure at the same time are ready too."""
    print("ready", flush=True)
    sys.stdin.readline()


def wait_until_quiet(seconds: float = QUIET_SECONDS) -> bool:
    """Wait until other processes are idle, for a limited time; returns whether they are."""
    deadline = time.monotonic() + seconds
    while psutil.cpu_percent(0.5) > QUIET_PERCENT:
        if time.monotonic() > deadline:
            return False
    return True


def _open(game: str) -> tuple[Any, Job, Worker[Any]]:
    """The agent, the job and a worker of the preset of a game."""
    run = config.resolve(game, "ppo").replace(runtime="local", workers=1)
    with contextlib.closing(open_run(run)) as opened:
        job = job_of(opened.run)
        return opened.agent, job, job.worker(0)


def play(game: str, niceness: str = "0") -> Measured:
    """Seconds and CPU seconds of each rollout of a worker, as it makes them in an actor of Ray."""
    os.nice(int(niceness))
    agent, job, worker = _open(game)
    params = codec.encode(job.algorithm.broadcast(job.algorithm.new_learner(agent, 0)))

    def unit() -> None:
        worker.publish(codec.decode(*params), 0)
        codec.encode(worker.work())
        worker.state()

    for _ in range(3):
        unit()
    _ready()
    works = list(_works(unit, PLAY_SECONDS))
    elapsed = sum(seconds for seconds, _ in works)
    return {"play": [_undisturbed(*one) for one in works], "elapsed": elapsed, "cores": available_cores()}


def _undisturbed(seconds: float, threads: float) -> tuple[float, float]:
    """A rollout never sleeps, so what is missing of a thread was taken by other processes."""
    return seconds * min(threads, 1.0), max(threads, 1.0)


def _works(call: Callable[[], object], seconds: float) -> Iterator[tuple[float, float]]:
    """[seconds, threads] of each call."""
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        begun, used = time.perf_counter(), time.process_time()
        call()
        elapsed = time.perf_counter() - begun
        yield elapsed, (time.process_time() - used) / elapsed


def _updates(game: str) -> tuple[Callable[[int], dict[str, float]], Any, Job]:
    """A function that makes an update with so many rollouts; a rollout; and the job."""
    agent, job, worker = _open(game)
    learner = job.algorithm.new_learner(agent, 0)
    worker.publish(job.algorithm.broadcast(learner), 0)
    made = [worker.work() for _ in range(max(ROLLOUTS))]

    def step(number: int) -> dict[str, float]:
        nonlocal learner
        learner, metrics = job.algorithm.update(agent, learner, made[:number])
        return metrics

    return step, made[0], job


def update(game: str) -> Measured:
    """Seconds and threads of an update with several numbers of rollouts; what rollouts contain."""
    step, rollout, job = _updates(game)
    _ready()
    found = []
    for number in ROLLOUTS:
        metrics = [step(number), step(number)][-1]
        works = list(_works(functools.partial(step, number), UPDATE_SECONDS))
        found.append((number, *(statistics.median(column) for column in zip(*works, strict=True))))
    return {
        "updates": found,
        "decisions": metrics["decisions"] / max(ROLLOUTS),
        "rollout_bytes": size(codec.encode(rollout)),
        "gradients": job.algorithm.update_epochs * job.algorithm.num_minibatches,
    }


def beside(game: str) -> Measured:
    """Seconds of an update with one rollout, while other processes play."""
    step, _, _ = _updates(game)
    step(1)
    _ready()
    return {"seconds": statistics.median(seconds for seconds, _ in _works(lambda: step(1), PLAY_SECONDS))}


def size(packed: tuple[Any, dict[str, Any]]) -> int:
    return sum(array.nbytes for array in packed[1].values())


class Echo:
    """An actor that returns a real rollout and the state after it, as a worker does, without playing again."""

    def __init__(self, job: str) -> None:
        self.worker = Job.from_json(job).worker(0)

    def prepare(self, params: Any) -> None:
        self.worker.publish(codec.decode(*params), 0)
        self.unit, self.state = self.worker.work(), self.worker.state()

    def work(self, params: Any, version: int) -> tuple[Any, Any]:
        return (codec.encode(self.unit), version), self.state


def carry(game: str, address: str) -> Measured:
    """What Ray does for a unit, with a worker of this node and with one of another; each part keeps a core busy."""
    agent, job, worker = _open(game)
    worker.close()
    params = job.algorithm.broadcast(job.algorithm.new_learner(agent, 0))
    _ready()
    with connected(RaySettings(address=address), "scale") as ray:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = ray.get_runtime_context().get_node_id()
        other = next(node["NodeID"] for node in ray.nodes() if node["Alive"] and node["NodeID"] != here)
        found: Measured = {"params_bytes": size(codec.encode(params))}
        for name, node in (("", here), ("_remote", other)):
            kind = ray.remote(Echo).options(
                num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)
            )
            actor = kind.remote(job.to_json())
            ray.get(actor.prepare.remote(codec.encode(params)))
            found |= {part + name: work for part, work in _called(ray, actor, params).items()}
            ray.kill(actor)
        return found


def _called(ray: ModuleType, actor: Any, params: Any) -> Measured:
    """Seconds and threads of the parts of a unit."""
    parts: dict[str, list[float]] = {"publish": [], "order": [], "carry": [], "fetch": []}

    def timed(part: str, call: Callable[..., Any], *arguments: Any) -> Any:
        begun = time.perf_counter()
        value = call(*arguments)
        parts[part].append(time.perf_counter() - begun)
        return value

    for version in range(CALLS):
        parcel = timed("publish", lambda: ray.put(codec.encode(params)))
        time.sleep(0.05)
        refs = timed("order", actor.work.options(num_returns=2).remote, parcel, version)
        timed("carry", functools.partial(ray.wait, fetch_local=False), refs[:1])
        time.sleep(0.05)
        rollout = timed("fetch", ray.get, refs[0])
        del parcel, refs, rollout
    return {part: (statistics.median(seconds[2:]), 1.0) for part, seconds in parts.items()}


def run(game: str, address: str, nodes: str, seconds: str) -> Measured:
    """Decisions/s and age of a run with one worker on each node."""
    chosen = config.resolve(game, "ppo").replace(runtime="ray", workers=int(nodes), steps=2**40, address=address)
    _ready()
    moments, decisions, ages, late, waits = [list[float]() for _ in range(5)]
    published = {0: time.perf_counter()}
    with contextlib.closing(open_run(chosen)) as opened:
        learner = new_learner(opened)
        for progress in train(opened.agent, opened.run.settings, learner, opened.source, opened.ahead.update):
            now, version = time.perf_counter(), progress.version - 1 - progress.age
            collected = (moments[-1] if moments else now) + progress.metrics["wait_seconds"]
            late.append(collected - published[version])
            published[progress.version] = now
            moments.append(now)
            ages.append(float(progress.age))
            waits.append(progress.metrics["wait_seconds"])
            decisions.append(progress.metrics["decisions"])
            if len(moments) >= WARM + 4 and now - moments[WARM - 1] > float(seconds):
                break
    seconds_each = [later - earlier for earlier, later in itertools.pairwise(moments[WARM - 1 :])]
    return {
        "rate": statistics.fmean(decisions[WARM:]) / statistics.median(seconds_each),
        "age": max(ages),
        "age_seconds": statistics.median(late[WARM:]),
        "wait_seconds": statistics.median(waits[WARM:]),
        "round_seconds": statistics.median(seconds_each),
        "updates": len(seconds_each),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


@contextlib.contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """The address of a Ray cluster on this machine, with one CPU on each node."""
    load_ray()
    from ray.cluster_utils import Cluster

    one = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    opened = Cluster(initialize_head=True, head_node_args={**one, "include_dashboard": False})
    try:
        for _ in range(nodes - 1):
            opened.add_node(**one)
        yield opened.address
    finally:
        opened.shutdown()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    measures: dict[str, Callable[..., Measured]] = {
        "play": play, "update": update, "beside": beside, "carry": carry, "run": run
    }  # fmt: skip
    print(json.dumps(measures[sys.argv[1]](*sys.argv[2:])), flush=True)
