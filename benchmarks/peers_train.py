"""Compare Ludus with a PureJaxRL-style PPO, Stable-Baselines3 and RLlib: the same PPO on CartPole, including learning.

Every measurement runs in its own process, one after the other: each setting of a peer is tried briefly, and the fastest
is measured again for longer. Results are medians; ratios use numbers from the same run of this script.
"""

from __future__ import annotations

import functools
import json as json_module
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import tyro
from reporting import RESULTS, attempt, publish, tell, warn_if_busy
from training import PPO, TRIALS

from ludus import bench
from ludus.bench import Result
from ludus.bench.training import plain

HERE = pathlib.Path(__file__).parent
SEED = 1
OURS = {
    "cartpole": "train/cartpole/ppo",
    "first_update": "train/first_update/cold",
    "first_update_warm": "train/first_update/warm",
    "memory": "train/cartpole/memory",
}
"""compared quantities and their names in `ludus bench train`"""
PARTS = ("cartpole/ppo", "first_update")
"""the parts of `ludus bench train` that measure them"""
UNITS = {"cartpole": "steps/s", "first_update": "s", "first_update_warm": "s", "memory": "MB", "mean_return": "points"}


class Effort(NamedTuple):
    """How thoroughly to measure."""

    trials: int | None = None
    """number of settings to try per peer; None for all"""
    trial_rounds: int = 2
    rounds: int = 7
    """rounds per rate, and number of starts for the time to the first update"""
    limit: float = 300.0
    """maximum seconds per process"""


QUICK = Effort(trials=1, rounds=1)


class Found(NamedTuple):
    """The result of a trainer: its numbers by the names in `UNITS`, and its settings."""

    numbers: dict[str, float]
    details: dict[str, Any]


def measure(peer: str, effort: Effort) -> Found:
    """The full measurement of a peer's fastest setting, with all trials."""
    trials = [try_setting(peer, setting, effort) for setting in TRIALS[peer][: effort.trials]]
    if not (working := [trial for trial in trials if isinstance(trial, dict)]):
        raise RuntimeError(f"no setting of {peer} worked; the first said: {trials[0]}")
    chosen = max(working, key=lambda trial: trial["steps_per_second"])["setting"]
    found = run_trainer(peer, chosen, effort.rounds, effort.limit)
    tell(f"{peer} {readable(chosen)}: {bench.readable(found['steps_per_second'])} steps/s")
    again = (run_trainer(peer, chosen, 0, effort.limit)["first_update"] for _ in range(effort.rounds - 1))
    starts = [found["first_update"], *again]
    numbers = {
        "cartpole": found["steps_per_second"],
        "first_update": statistics.median(starts),
        "first_update_warm": first_update_warm(peer, chosen, starts, effort),
        "memory": found["memory"] + found["memory_of_children"],
        "mean_return": found["mean_return"],
    }
    return Found(numbers, found | {"trials": trials, "first_updates": starts})


def try_setting(peer: str, setting: Mapping[str, Any], effort: Effort) -> Any:
    """A short measurement, or the error message if it failed."""
    trial = attempt(run_trainer, peer, setting, effort.trial_rounds, effort.limit)
    if isinstance(trial, dict):
        tell(f"tried {peer} {readable(setting)}: {bench.readable(trial['steps_per_second'])} steps/s")
    return trial


def run_trainer(
    peer: str, setting: Mapping[str, Any], rounds: int, limit: float, environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The result of `training.py` in a separate process."""
    request = {"peer": peer, "ppo": common_settings()._asdict(), "setting": dict(setting), "rounds": rounds}
    request |= {"seed": SEED, "started": time.time()}
    command = [sys.executable, str(HERE / "training.py"), json_module.dumps(request)]
    return json_module.loads(last_line(run(command, limit, environment)))


@functools.cache
def common_settings() -> PPO:
    """The common settings, taken from the run that `ludus bench train` measures, so that they cannot differ."""
    ludus = plain("cartpole", "threads")
    ours = ludus.settings
    assert ours.mlp.activation == "tanh" and not ours.mlp.shared, "peers are set up for tanh and two networks"
    return PPO(
        num_envs=ludus.num_envs, rollout_length=ours.rollout_length, update_epochs=ours.update_epochs,
        num_minibatches=ours.num_minibatches, hidden=(ours.mlp.width,) * ours.mlp.depth,
        learning_rate=float(ours.learning_rate), gamma=ours.gamma, gae_lambda=ours.gae_lambda,
        clip_coef=ours.clip_coef, ent_coef=float(ours.ent_coef), vf_coef=ours.vf_coef, max_grad_norm=ours.max_grad_norm,
    )  # fmt: skip


def run(command: Sequence[str], limit: float, environment: Mapping[str, str] | None = None) -> str:
    """The output of a command, run on CPUs only; after the time limit it is killed with all its subprocesses."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu", **(environment or {})},
        start_new_session=True,
    )
    try:
        output, complaints = process.communicate(timeout=limit)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TimeoutError(f"not done after {limit:.0f} s") from None
        raise
    if process.returncode:
        raise RuntimeError(last_words(complaints) or f"ended with code {process.returncode}")
    return output


def last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


def last_words(text: str) -> str:
    """The last line with text, without the frame that some programs draw around it."""
    lines = (line.strip(" │|") for line in text.splitlines())
    return last_line("\n".join(line for line in lines if any(letter.isalpha() for letter in line)))


def first_update_warm(peer: str, setting: Mapping[str, Any], starts: Sequence[float], effort: Effort) -> float:
    """Seconds to the first update after an earlier start; peers without a disk cache start as if for the first time.

    JAX caches compiled programs on disk only if configured, as here.
    """
    if peer != "purejax":
        return statistics.median(starts)
    with tempfile.TemporaryDirectory() as folder:
        environment = {"JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
        found = [run_trainer(peer, setting, 0, effort.limit, environment) for _ in range(1 + effort.rounds)]
    return statistics.median(one["first_update"] for one in found[1:])  # the one before filled the cache


def measure_ludus(effort: Effort) -> Found:
    """The numbers of Ludus, from the command that anyone can run."""
    rounds = ("--rounds", str(effort.rounds))
    command = [sys.executable, "-m", "ludus.cli", "bench", "train", "--only", *PARTS, *rounds, "--json"]
    tell(" ".join(["ludus", *command[3:-1]]))
    limit = effort.limit * (3 * effort.rounds + 2)  # the number of processes it starts, one after the other
    try:
        document = json_module.loads(run(command, limit))
    except RuntimeError as error:
        raise RuntimeError(f"`ludus bench train` failed, so there are no ratios: {error}") from None
    measured = {row["name"]: row["value"] for row in document["results"]}
    missing = [name for name in OURS.values() if name not in measured]
    if missing:
        tell(f"`ludus bench train` did not measure {', '.join(missing)}; they are not compared")
    return Found({what: measured[name] for what, name in OURS.items() if name in measured}, details=document)


def report(peers: Sequence[str], effort: Effort) -> dict[str, Any]:
    """The JSON of a whole run: numbers, ratios, failures and settings."""
    outcomes = {peer: attempt(measure, peer, effort) for peer in peers}
    outcomes["ludus"] = attempt(measure_ludus, effort)
    found = {name: it for name, it in outcomes.items() if isinstance(it, Found)}
    numbers = {name: it.numbers for name, it in found.items()}
    document = bench.as_json([*results(numbers), *tried({name: it.details for name, it in found.items()}, numbers)])
    for name in found.keys() - {"ludus"}:
        document["hardware"] |= found[name].details["versions"]
    document["results"] += [
        {"name": f"peers_train/cartpole/{name}", "error": it} for name, it in outcomes.items() if isinstance(it, str)
    ]
    settings = {
        f"peers_train/cartpole/{name}": readable(it.details["setting"]) for name, it in found.items() if name != "ludus"
    }
    details = {name: it.details for name, it in found.items()}
    return document | {"seed": SEED, "ppo": common_settings()._asdict(), "settings": settings, "details": details}


def results(numbers: dict[str, dict[str, float]]) -> Iterator[Result]:
    """All numbers, then the ratios of peers and Ludus."""
    for what, unit in UNITS.items():
        for name in numbers:
            if what in numbers[name]:
                yield Result(f"peers_train/{what}/{name}", numbers[name][what], unit)
    ours = numbers.get("ludus", {})
    for what, name in ((what, name) for what in ours for name in numbers if name != "ludus" and what in numbers[name]):
        if what == "cartpole":
            yield Result(f"peers_train/{what}/ludus_over_{name}", ours[what] / numbers[name][what], "x")
        else:
            yield Result(f"peers_train/{what}/{name}_over_ludus", numbers[name][what] / ours[what], "x")


def tried(details: dict[str, dict[str, Any]], numbers: dict[str, dict[str, float]]) -> Iterator[Result]:
    """Every tried setting of every peer, with the speedup of Ludus, since few users search for the best setting."""
    for peer in details.keys() - {"ludus"}:
        for trial in (trial for trial in details[peer]["trials"] if isinstance(trial, dict)):
            name = f"peers_train/tried/{peer}/{readable(trial['setting']).replace(' ', ',')}"
            yield Result(name, trial["steps_per_second"], "steps/s")
            if "ludus" in numbers:
                yield Result(f"{name}/ludus_over", numbers["ludus"]["cartpole"] / trial["steps_per_second"], "x")


def readable(setting: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in setting.items() if name != "updates")


def main(
    peers: tuple[str, ...] = tuple(TRIALS), quick: bool = False, json: bool = False, out: pathlib.Path | None = None
) -> None:
    """Train Ludus and its peers one after the other.

    Args:
        peers: The peers to compare with Ludus.
        quick: One setting and one round each, to check that everything works; the numbers are not saved.
        json: Print one JSON object instead of a table.
        out: Where to save the results; default: results/peers_train.json next to this script.
    """
    if unknown := set(peers) - set(TRIALS):
        sys.exit(f"unknown peers {', '.join(sorted(unknown))}; known peers: {', '.join(TRIALS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated before all measurements were done"))
    warn_if_busy()
    document = report(peers, QUICK if quick else Effort())
    publish(document, out or (None if quick else RESULTS / "peers_train.json"), json)


if __name__ == "__main__":
    tyro.cli(main)
