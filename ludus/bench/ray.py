"""The Ray runtime on one machine: speed compared with threads, start-up, and what remains after random kills.

Every measurement is a process of its own, which gets its start time as an argument, so Ray is never running before.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ludus import agents
from ludus.bench import Result, Tell
from ludus.bench.training import learn
from ludus.bridges import open_pool
from ludus.evaluation import scores as evaluate
from ludus.runtimes import open_source
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.ray_cluster import RaySettings, connected, load_ray
from ludus.training import config
from ludus.training.loop import train
from ludus.types import LudusError

GAMES = ("cartpole", "connect4", "balatro")
UPDATES = {"cartpole": 24, "connect4": 16, "balatro": 12}
WARM = 4
"""first updates, which compile and fill the queue"""
TABLE_STEPS = 10_000
"""time steps of 64 rows between two merges"""
PATIENCE = 60.0
"""seconds for processes of Ray to end"""

Part = Callable[[int, int], Iterator[Result]]


def suite(only: Sequence[str], rounds: int, kills: int, tell: Tell) -> Iterator[Result]:
    """All parts, or those whose names start with one of `only`."""
    load_ray()
    chosen = {name: part for name, part in PARTS.items() if not only or any(name.startswith(word) for word in only)}
    if not chosen:
        raise LudusError(f"no part of the benchmark starts with {', '.join(only)}; the parts are {', '.join(PARTS)}")
    for number, (name, part) in enumerate(chosen.items()):
        tell(f"ray/{name}", number, len(chosen))
        yield from part(rounds, kills)


def ppo(rounds: int, kills: int) -> Iterator[Result]:
    """Steps/s of PPO with two workers, in Ray and in threads, measured in turn."""
    for game in GAMES:
        found: dict[str, list[float]] = {"ray": [], "threads": []}
        for _ in range(rounds):
            for runtime, rates in found.items():
                rates.append(apart("rate", game, runtime)["rate"])
        ray, threads = (float(np.median(rates)) for rates in found.values())
        yield Result(f"ray/ppo/{game}", ray, "steps/s")
        yield Result(f"ray/over_threads/{game}", ray / threads, "x")


def tabular(rounds: int, kills: int) -> Iterator[Result]:
    """Steps/s of Q-learning on tic-tac-toe with two workers and with one; and whether `processes` learns the same."""
    found: dict[str, list[float]] = {"2": [], "1": []}
    for _ in range(rounds):
        for workers, rates in found.items():
            rates.append(apart("table", "ray", workers, str(TABLE_STEPS), "12")["rate"])
    two, one = (float(np.median(rates)) for rates in found.values())
    yield Result("ray/tabular/tictactoe", two, "steps/s")
    yield Result("ray/two_over_one/tictactoe", two / one, "x")
    sums = [apart("table", runtime, "2", "100", "6")["sum"] for runtime in ("ray", "processes")]
    yield Result("ray/tabular/same_as_processes", float(sums[0] == sums[1]), "")


def first_update(rounds: int, kills: int) -> Iterator[Result]:
    """Seconds from the start of the process to the first update; Ray does not run before, the caches are full."""
    apart("first", "cartpole")
    seconds = [apart("first", "cartpole")["seconds"] for _ in range(rounds)]
    yield Result("ray/first_update/warm", float(np.median(seconds)), "s")


def killing(rounds: int, kills: int) -> Iterator[Result]:
    """Kill workers and nodes at random moments of runs on a cluster of two nodes."""
    found = apart("kills", str(kills))
    for name, unit in (("kills", "times"), ("restarts", "workers"), ("lost_units", "units"), ("updates", "updates")):
        yield Result(f"ray/kills/{name}", found[name], unit)
    yield Result("ray/kills/score", found["score"], "return against random play")
    yield Result("ray/kills/undisturbed", found["undisturbed"], "return against random play")
    yield Result("ray/kills/orphans", found["orphans"], "processes")
    yield Result("ray/kills/leaked", found["leaked"], "objects")


PARTS: dict[str, Part] = {"ppo": ppo, "tabular": tabular, "first_update": first_update, "kills": killing}


def apart(what: str, *words: str) -> dict[str, float]:
    """Measure in a separate process."""
    command = [sys.executable, "-m", "ludus.bench.ray", what, repr(time.time()), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise LudusError(f"{' '.join(command)} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _rate(started: float, game: str, runtime: str) -> dict[str, float]:
    """Steps/s with the preset of a game and two workers, and the age of the experience."""
    run = config.resolve(game, "ppo").replace(runtime=runtime, workers=2, steps=2**40)
    learned = learn(run, UPDATES[game])
    later = learned.metrics[WARM:]
    steps = sum(one["decisions"] for one in later)
    return {
        "rate": steps / (later[-1]["seconds"] - learned.metrics[WARM - 1]["seconds"]),
        "age": max(one["age"] for one in later),
    }


def _first(started: float, game: str) -> dict[str, float]:
    learn(config.resolve(game, "ppo").replace(runtime="ray", workers=2), 1)
    return {"seconds": time.time() - started}


def _table(started: float, runtime: str, workers: str, steps: str, updates: str) -> dict[str, float]:
    """Decisions/s after the first two rounds, and a checksum of the table that was learned."""
    run = config.resolve("tictactoe", "q_learning")
    job = Job("tictactoe", 64, 1, int(steps), int(workers), run.settings)
    learner = job.algorithm.new_learner(_agent(job), job.seed)
    moments, decisions = list[float](), list[float]()
    with contextlib.closing(open_source(runtime, job)) as source:
        for number, progress in enumerate(train(None, run.settings, learner, source), start=1):
            moments.append(time.perf_counter())
            decisions.append(progress.metrics["decisions"])
            if number == int(updates):
                break
    table = progress.learner.table
    rate = sum(decisions[2:]) / (moments[-1] - moments[1])
    return {
        "rate": rate,
        "sum": float(zlib.crc32(np.ascontiguousarray(table.rows).tobytes())),
    }


def _kills(started: float, number: str) -> dict[str, float]:
    """Train on two nodes until so many workers and nodes were killed; then look for what is left."""
    ray, dice = load_ray(), random.Random(0)
    from ray.cluster_utils import Cluster

    before = _processes()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    found: dict[str, float] = dict.fromkeys(("kills", "restarts", "lost_units", "updates"), 0.0)
    settings = RaySettings(address=cluster.address)
    with connected(settings, "bench"):
        nodes = [cluster.add_node(num_cpus=1)]
        run = config.resolve("tictactoe", "q_learning")
        job = Job("tictactoe", 64, 1, 2000, 2, run.settings)
        learner = job.algorithm.new_learner(_agent(job), 1)
        with contextlib.closing(open_source("ray", job, settings)) as source:
            due = time.monotonic() + dice.uniform(0.5, 3.0)
            for progress in train(None, job.algorithm, learner, source):
                found["updates"] += 1
                found |= {name: progress.metrics[name] for name in ("restarts", "lost_units")}
                if time.monotonic() < due:
                    continue
                if found["kills"] >= int(number):
                    break
                _kill_one(cluster, nodes, source, dice)
                found["kills"] += 1
                due = time.monotonic() + dice.uniform(0.5, 3.0)
        found["score"] = _score(job, progress.learner)
        found["undisturbed"] = _score(job, _undisturbed(job, int(found["updates"])))
        del source, progress, learner
        found["leaked"] = float(_settled(lambda: len(_references(ray))))
    cluster.shutdown()  # type: ignore[no-untyped-call]
    found["orphans"] = float(_settled(lambda: len(_processes() - before)))
    return found


def _agent(job: Job) -> Any:
    """The agent that learns."""
    pool = open_pool(job.game, 1, 0, threads=1)
    try:
        return job.algorithm.new_agent(pool)
    finally:
        pool.close()


def _undisturbed(job: Job, updates: int) -> Any:
    """The learner of a run with as many updates, in threads that nobody kills."""
    learner = job.algorithm.new_learner(_agent(job), 1)
    with contextlib.closing(open_source("threads", job)) as source:
        for progress in itertools.islice(train(None, job.algorithm, learner, source), updates):
            learner = progress.learner
    return learner


def _score(job: Job, learner: Any) -> float:
    """The mean return of the learned agent against random play."""
    player, opponent = job.algorithm.evaluation_agent(_agent(job)), agents.load("random", job.game)
    rivals = [(player, learner.params), (opponent, opponent.init(player.spec, 0))]
    return evaluate.match(job.game, rivals, 2000, 0).interval.estimate


def _kill_one(cluster: Any, nodes: list[Any], source: Any, dice: random.Random) -> None:
    """Kill a worker, or one time in four a node; another node takes its place."""
    if dice.random() < 0.25:
        cluster.remove_node(nodes.pop(), allow_graceful=False)
        nodes.append(cluster.add_node(num_cpus=1))
        return
    process = dice.choice(source.workers).remote.process
    if process:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _references(ray: Any) -> dict[object, object]:
    """The objects that this process refers to."""
    found: dict[object, object] = ray._private.worker.global_worker.core_worker.get_all_reference_counts()
    return found


def _processes() -> set[int]:
    """The ids of all processes of Ray on this machine."""
    listed = subprocess.run(["ps", "-eo", "pid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    lines = [line.split(None, 2) for line in listed.splitlines()]
    return {int(pid) for pid, state, words in lines if state[0] != "Z" and _is_ray(words)}


def _is_ray(words: str) -> bool:
    return words.startswith("ray::") or "/ray/core/" in words or "/ray/_private/" in words or "/ray/dashboard/" in words


def _settled(count: Callable[[], int]) -> int:
    """A number once it is 0, or after some time."""
    deadline = time.monotonic() + PATIENCE
    while count() and time.monotonic() < deadline:
        time.sleep(0.1)
    return count()


if __name__ == "__main__":
    measures: dict[str, Callable[..., dict[str, float]]] = {
        "rate": _rate, "first": _first, "table": _table, "kills": _kills
    }  # fmt: skip
    print(json.dumps(measures[sys.argv[1]](float(sys.argv[2]), *sys.argv[3:])))
