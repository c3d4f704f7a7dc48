"""Steps/s and age of experience with `--runtime ray` on 1 to 1,000 nodes, by a simulation that is checked here.

    python benchmarks/scale.py                    # about nine minutes; writes results/scale.json
    python benchmarks/scale.py --reuse            # simulates again with the measurements in results/scale.json
    python benchmarks/scale.py --reuse --scenarios gpu --bandwidth 25 --learner-speedup 50

The costs of a game are measured with one worker, without the runtime, and with single calls of Ray. From these,
scale_model.py predicts runs with 1, 2 and 4 nodes on this machine, which are then measured, and runs on clusters whose
hardware is assumed. The settings of PPO are the presets of the games.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json as files
import math
import pathlib
import statistics
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import scale_measure
import scale_page
import tyro
from reporting import RESULTS, publish, tell, warn_if_busy
from scale_measure import NICENESS, apart, together
from scale_model import Costs, Hardware, Prediction, Update, Work, predict

from ludus.bench import Result
from ludus.pool import hardware
from ludus.types import LudusError

GAMES = ("cartpole", "connect4", "balatro")
HERE = (1, 2, 4)
"""nodes on this machine"""
NODES = (1, 4, 16, 64, 256, 1000)
CALLS = ("publish", "order", "carry", "carry_remote", "fetch", "fetch_remote")
NAMES = {"cores", *(field.name for field in dataclasses.fields(Costs))}
"""what is kept of the measurements of a game"""
RUN_SECONDS = 8.0
HERE_ROUNDS, CLUSTER_ROUNDS = 40, 10
"""simulated rounds"""
GIGABIT = 1e9 / 8
SCENARIOS = {
    "cpu": Hardware(1, 8, 8, node_bandwidth=10 * GIGABIT, learner_bandwidth=10 * GIGABIT, latency=1e-4),
    "gpu": Hardware(
        1, 8, 8, learner_speedup=20.0, node_bandwidth=10 * GIGABIT, learner_bandwidth=10 * GIGABIT, latency=1e-4
    ),
    "gpus": Hardware(
        1, 8, 8, 8, learner_speedup=20.0, node_bandwidth=10 * GIGABIT, learner_bandwidth=10 * GIGABIT, latency=1e-4
    ),
    "internet": Hardware(
        1, 2, 2, learner_speedup=20.0, node_bandwidth=0.1 * GIGABIT, learner_bandwidth=10 * GIGABIT, latency=0.03
    ),
}
"""assumed clusters: a learner like this machine, with a GPU, eight such learners, and nodes at home"""


def main(
    games: tuple[str, ...] = GAMES,
    scenarios: tuple[str, ...] = tuple(SCENARIOS),
    nodes: tuple[int, ...] = NODES,
    cores_per_node: int = 0,
    learners: int = 0,
    learner_speedup: float = 0.0,
    bandwidth: float = 0.0,
    latency: float = -1.0,
    reuse: bool = False,
    write: bool = True,
    json: bool = False,
) -> None:
    """Measure, predict and compare.

    Args:
        games: Games to predict.
        scenarios: Assumed clusters: cpu, gpu, gpus, internet.
        nodes: Numbers of nodes of assumed clusters.
        cores_per_node: Cores of each node, with a worker on each; 0 for those of the scenario.
        learners: Number of learners; 0 for those of the scenario.
        learner_speedup: How much faster than here a learner updates; 0 for that of the scenario.
        bandwidth: Gigabit/s of every node and learner; 0 for those of the scenario.
        latency: Milliseconds from node to node; negative for that of the scenario.
        reuse: Use the measurements in results/scale.json.
        write: Save the result in benchmarks/results, and its tables in docs/scale.md, if nothing was changed by flags.
        json: Print one JSON object instead of a table.
    """
    changes = {
        name: value
        for name, value in (
            ("workers_per_node", cores_per_node), ("cores", cores_per_node), ("learners", learners),
            ("learner_speedup", learner_speedup), ("node_bandwidth", bandwidth * GIGABIT),
            ("learner_bandwidth", bandwidth * GIGABIT),
        )
        if value
    }  # fmt: skip
    changes |= {"latency": latency / 1e3} if latency >= 0 else {}
    asked = {name: dataclasses.replace(scenario(name), **changes) for name in scenarios}
    target = RESULTS / "scale.json"
    try:
        if reuse:
            details, facts = _stored(target, games)
        else:
            warn_if_busy()
            details, facts = measured(games), hardware.describe()
    except LudusError as error:
        sys.exit(f"scale: {error}")
    document = describe(details, facts, asked, nodes)
    whole = (games, scenarios, nodes, changes) == (GAMES, tuple(SCENARIOS), NODES, {})
    publish(document, target if write and whole else None, json)
    if write and whole:
        scale_page.write(document)


def scenario(name: str) -> Hardware:
    if name not in SCENARIOS:
        sys.exit(f'scale: unknown scenario "{name}"; expected {", ".join(SCENARIOS)}')
    return SCENARIOS[name]


def _stored(path: pathlib.Path, games: Sequence[str]) -> tuple[dict[str, Any], Any]:
    """The measurements of an earlier run, and the machine on which they were made."""
    if not path.exists():
        raise LudusError(f"{path.name} is missing; run without --reuse first")
    document = files.loads(path.read_text())
    missing = [game for game in games if game not in document["details"]]
    if missing:
        raise LudusError(f"{path.name} has no measurements of {', '.join(missing)}; run without --reuse")
    return {game: document["details"][game] for game in games}, document["hardware"]


def measured(games: Sequence[str]) -> dict[str, Any]:
    """The costs of each game, and its runs on this machine."""
    details: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(scale_measure.cluster(max(HERE)))
        for game in games:
            tell(f"{game}: costs")
            details[game] = {"costs": costs_of(game, address), "runs": {}}
    for nodes in HERE:
        with scale_measure.cluster(nodes) as address:
            for game in games:
                tell(f"{game}: a run on {nodes} nodes")
                details[game]["runs"][str(nodes)] = apart("run", game, address, str(nodes), str(RUN_SECONDS))
    return details


def costs_of(game: str, address: str) -> dict[str, Any]:
    """The measurements of one game, as JSON."""
    found = apart("play", game) | apart("update", game) | apart("carry", game, address)
    cores, alone = found["cores"], _typical(found)
    crowd = together(*[("play", game)] * cores)
    slowed, *players = together(("beside", game), *[("play", game, NICENESS)] * cores)
    found |= {
        "contention": max(1.0, statistics.fmean(map(_typical, crowd)) / alone),
        "beside": max(1.0, slowed["seconds"] / found["updates"][0][1]),
        "left": sum(len(one["play"]) * alone / one["elapsed"] for one in players),
    }
    return {name: found[name] for name in sorted(found) if name in NAMES}


def _typical(measured: dict[str, Any]) -> float:
    """Median seconds of a rollout."""
    return statistics.median(seconds for seconds, _ in measured["play"])


def read_costs(stored: dict[str, Any]) -> Costs:
    """The inputs of the simulation, from JSON."""
    parts: dict[str, Any] = {name: value for name, value in stored.items() if name != "cores"}
    parts["play"] = tuple(Work(*one) for one in stored["play"])
    parts["updates"] = tuple(Update(rollouts, Work(*work)) for rollouts, *work in stored["updates"])
    return Costs(**parts | {name: Work(*stored[name]) for name in CALLS})


def describe(details: dict[str, Any], facts: Any, asked: dict[str, Hardware], nodes: Sequence[int]) -> dict[str, Any]:
    """The document of the results: each row is a number, its setting says what bounds it."""
    results, settings = list[Result](), dict[str, Any]()
    for game, found in details.items():
        costs = read_costs(found["costs"])
        results += [*inputs(game, costs)]
        results += [*compared(game, costs, found["costs"]["cores"], found["runs"])]
    for name, cluster in asked.items():
        settings[f"scale/{name}"] = {key: _finite(value) for key, value in dataclasses.asdict(cluster).items()}
        for game, found in details.items():
            tell(f"{game} on {name}")
            for number in nodes:
                one = predict(read_costs(found["costs"]), dataclasses.replace(cluster, nodes=number), CLUSTER_ROUNDS)
                row = f"scale/{name}/{game}/{number}"
                results += prediction(row, one)
                settings[row] = one.bound
    return {
        "suite": "scale", "settings": settings, "hardware": facts, "results": [one._asdict() for one in results],
        "details": details,
    }  # fmt: skip


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and math.isinf(value) else value


def inputs(game: str, costs: Costs) -> Iterator[Result]:
    """What was measured for the simulation."""
    name = f"scale/inputs/{game}"
    yield Result(f"{name}/decisions", costs.decisions, "per rollout")
    yield Result(f"{name}/rollout", costs.rollout_bytes / 1e6, "MB")
    yield Result(f"{name}/params", costs.params_bytes / 1e6, "MB")
    yield Result(f"{name}/play", 1e3 * statistics.fmean(work.seconds for work in costs.play), "ms")
    yield Result(f"{name}/contention", costs.contention, "x")
    for one in costs.updates:
        yield Result(f"{name}/update/{one.rollouts}", 1e3 * one.work.seconds, "ms")
        yield Result(f"{name}/update/{one.rollouts}/threads", one.work.threads, "CPUs")
    yield Result(f"{name}/beside", costs.beside, "x")
    yield Result(f"{name}/left", costs.left, "cores")
    for part in CALLS:
        yield Result(f"{name}/{part}", 1e3 * getattr(costs, part).seconds, "ms")


def compared(game: str, costs: Costs, cores: int, runs: dict[str, Any]) -> Iterator[Result]:
    """Predicted and measured runs on this machine."""
    for nodes, found in runs.items():
        one = predict(costs, Hardware(int(nodes), cores=cores, shared=True), HERE_ROUNDS)
        name = f"scale/here/{game}/{nodes}"
        yield Result(f"{name}/measured", found["rate"], "steps/s")
        yield Result(f"{name}/predicted", one.rate, "steps/s")
        yield Result(f"{name}/predicted_over_measured", one.rate / found["rate"], "x")
        yield Result(f"{name}/age/measured", found["age"], "versions")
        yield Result(f"{name}/age/predicted", float(one.age), "versions")
        yield Result(f"{name}/age_seconds/measured", found["age_seconds"], "s")
        yield Result(f"{name}/age_seconds/predicted", one.age_seconds, "s")


def prediction(name: str, one: Prediction) -> Iterator[Result]:
    yield Result(name, one.rate, "steps/s")
    yield Result(f"{name}/age_seconds", one.age_seconds, "s")


if __name__ == "__main__":
    tyro.cli(main)
