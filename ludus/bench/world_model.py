"""The world model beside PPO on the car: real steps and seconds until it laps tracks that it has never seen.

`python -m ludus.bench.world_model RESULTS.json PICTURE.png` draws what `ludus bench train --only world_model --json`
has measured. `--only world_model/pendulum` measures the pendulum alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ludus import agents, config, evaluate, plots
from ludus.algorithms import craft_of
from ludus.bench import Result
from ludus.bridges import open_pool
from ludus.runs import settle
from ludus.runs.keeping import fresh, job_of
from ludus.runtimes import open_source
from ludus.train import Progress, train
from ludus.types import Decision, Rollout, Step
from ludus.words import CUT, PLAYING

SEEDS, TRACKS = range(3), range(1001, 1009)
EVERY = {"world_model": 500, "ppo": 100_000}
"""real steps between two times that the tracks are driven"""
HELD_OUT, DRIVE = 777, 250
"""the seed of tracks that only prediction errors are measured on, and the steps driven on each of eight"""
PENDULUM, GAMES = "gymnasium:Pendulum-v1", 100
"""the other game, and how many of it are played at every look, which begin alike for all"""
LAP = 20.0
"""what a whole lap is worth: 10 for the way, 1 for each tenth"""


Errors = tuple[float, float]
"""one and ten steps ahead; NaN where nothing is predicted"""
UNKNOWN: Errors = (float("nan"), float("nan"))


class Look(NamedTuple):
    """How a run stood after so many real steps and seconds."""

    steps: int
    seconds: float
    lapped: int
    """of the tracks: driven to the horizon without a crash, for more than a lap"""
    first_lap: int
    """real steps when a lap was first completed while learning; 0 if none was yet"""
    errors: Errors
    """of the drives by rule"""
    own: Errors = UNKNOWN
    """of what it has just driven itself on the tracks"""
    own_before: Errors = UNKNOWN
    """of the same drives, by its networks before they learned"""


def suite(rounds: int) -> Iterator[Result]:
    """Both algorithms, three seeds each, then how long one decision takes."""
    for algorithm in EVERY:
        for seed in SEEDS:
            looks = list(watched(algorithm, seed))
            yield from told(f"world_model/{algorithm}/seed{seed}", looks)
    yield from decisions(rounds)


def told(name: str, looks: list[Look]) -> Iterator[Result]:
    """What a run showed, as numbers."""
    for look in looks:
        yield Result(f"{name}/lapped/{look.steps}", float(look.lapped), f"of {len(TRACKS)} tracks")
    done = [look for look in looks if look.lapped == len(TRACKS)]
    if done:
        yield Result(f"{name}/all_lapped", float(done[0].steps), "steps")
        yield Result(f"{name}/all_lapped_seconds", done[0].seconds, "s")
    yield Result(f"{name}/seconds", looks[-1].seconds, "s")
    if looks[-1].first_lap:
        yield Result(f"{name}/first_lap", float(looks[-1].first_lap), "steps")
    if not np.isnan(looks[0].errors[0]):
        for place, ahead in enumerate(("one_step_error", "ten_step_error")):
            yield Result(f"{name}/{ahead}/first", looks[0].errors[place], "mean square")
            yield Result(f"{name}/{ahead}/last", looks[-1].errors[place], "mean square")
            if not np.isnan(looks[-1].own[place]):  # a run that was let go early has none
                yield Result(f"{name}/own_{ahead}/first", looks[-1].own_before[place], "mean square")
                yield Result(f"{name}/own_{ahead}/last", looks[-1].own[place], "mean square")


def watched(algorithm: str, seed: int) -> Iterator[Look]:
    """A run by its preset, looked at before it begins and now and then; PPO is let go once it laps all tracks."""
    run = settle(dataclasses.replace(config.resolve("car", algorithm), seed=seed))
    agent, learner = begun(run)
    player, test = craft_of(run.settings).player(agent), held_out()
    first_lap, due, untrained = 0, EVERY[algorithm], learner.params
    yield Look(0, 0.0, 0, 0, errors(player, untrained, test))
    for progress, seconds in carried_out(run, agent, learner):
        steps, params = progress.learner.steps, progress.learner.params
        first_lap = first_lap or (steps if progress.metrics.get("laps") else 0)
        if steps < due:
            continue
        due += EVERY[algorithm]
        drives = driven(player, params)
        lapped = count_lapped(drives)
        # Drives are of many lengths, and each is compiled for: only those that are told of are worth it.
        own = [errors(player, each, drives.rollout) for each in (params, untrained)] if steps >= run.steps else ()
        yield Look(steps, seconds, lapped, first_lap, errors(player, params, test), *own)
        if algorithm == "ppo" and lapped == len(TRACKS):
            break


def begun(run: config.Run[Any]) -> tuple[Any, Any]:
    """The agent of a run, and a learner that knows nothing yet."""
    with contextlib.closing(open_pool(run.game, 1, run.seed, threads=1)) as pool:
        agent = craft_of(run.settings).agent_for(run.settings, pool)
    return agent, fresh(run, agent).learner


def carried_out(run: config.Run[Any], agent: Any, learner: Any) -> Iterator[tuple[Progress, float]]:
    """Every update of a run with the seconds so far; the clock stands still while somebody looks at it."""
    with contextlib.closing(open_source(run.runtime, job_of(run))) as source:
        spent, since = 0.0, time.perf_counter()
        for progress in train(agent, run.settings, learner, source):
            spent += time.perf_counter() - since
            yield progress, spent
            if progress.learner.steps >= run.steps:
                break
            since = time.perf_counter()


def pendulum(rounds: int) -> Iterator[Result]:
    """The mean return of the pendulum by its preset, looked at before it learns and every thousand steps."""
    for seed in SEEDS:
        run = settle(dataclasses.replace(config.resolve(PENDULUM, "world_model"), seed=seed))
        agent, learner = begun(run)
        player, due, name = craft_of(run.settings).player(agent), 0, f"world_model/pendulum/seed{seed}"
        for progress, seconds in carried_out(run, agent, learner):
            steps = progress.learner.steps
            if steps >= due:
                score = evaluate.score(PENDULUM, player, progress.learner.params, GAMES, HELD_OUT)
                yield Result(f"{name}/return/{steps}", score.interval.estimate, "return")
                due += 1000
            if steps >= run.steps:
                yield Result(f"{name}/seconds", seconds, "s")


class Drives(NamedTuple):
    """What came of driving every track once."""

    cut: list[bool]
    """whether the horizon was reached"""
    gained: list[float]
    rollout: Rollout


def count_lapped(drives: Drives) -> int:
    """Tracks that are driven to the horizon without a crash, and for more than a lap; as for PPO elsewhere."""
    return int(sum(cut and gained > LAP for cut, gained in zip(drives.cut, drives.gained, strict=True)))


def driven(player: Any, params: Any) -> Drives:
    """All tracks side by side, for all decide at once; what follows the end of a drive is no step of it."""
    with contextlib.ExitStack() as stack:
        pools: list[Any] = [open_pool(f"car(track={track})", 1, track, threads=1) for track in TRACKS]
        for pool in pools:
            stack.enter_context(contextlib.closing(pool))
        memory, going = player.memory(len(pools)), np.ones(len(pools), bool)
        steps, actions = [beside([pool.step for pool in pools])], list[Any]()
        while going.any():
            decision, memory = player.act(params, memory, steps[-1], len(actions))
            actions.append(decision.action)
            for row in np.flatnonzero(going):
                pools[row].advance(decision.action[row : row + 1])
            now = beside([pool.step for pool in pools])
            steps.append(now._replace(first=now.first | ~going, reward=now.reward * going[:, None]))
            going = np.array([pool.status[0] == PLAYING for pool in pools])
        gained = np.sum([step.reward[:, 0] for step in steps[1:]], axis=0)
        return Drives([bool(pool.status[0] == CUT) for pool in pools], gained.tolist(), as_rollout(steps, actions))


def beside(steps: list[Step]) -> Step:
    """Steps of one row each as one step of many."""
    observation = {name: np.concatenate([step.observation[name] for step in steps]) for name in steps[0].observation}
    return Step(observation, *(np.concatenate(parts) for parts in zip(*(step[1:] for step in steps), strict=True)))


def held_out(seed: int = HELD_OUT) -> Rollout:
    """Eight drives by rule, a little astray, on tracks of their own: the same for every run."""
    driver, dice = agents.load("scripted", "car"), np.random.default_rng(seed)
    with contextlib.closing(open_pool("car", 8, seed)) as pool:
        steps, actions, drift = [pool.step], [], np.zeros((8, 2))
        memory, params = driver.memory(8), driver.init(pool.spec, 0)
        for moment in range(DRIVE):
            decision, memory = driver.act(params, memory, steps[-1], moment)
            drift = 0.8 * drift + 0.2 * dice.normal(size=drift.shape)
            actions.append(np.clip(decision.action + drift, -1.0, 1.0))
            steps.append(pool.advance(actions[-1]))
    return as_rollout(steps, actions)


def as_rollout(steps: list[Step], actions: list[Any]) -> Rollout:
    """Drives that were never learned from, as what predictions are held against."""
    from ludus.runtimes.acting.actor import stack_steps

    lead = len(actions), len(actions[0])
    made = Decision(np.stack(actions), np.zeros(lead), np.zeros((lead[0] + 1, lead[1], 1)))
    return Rollout(stack_steps(steps), made, np.ones(lead, bool), (), 0, np.zeros(4), {})


def errors(agent: Any, params: Any, test: Rollout) -> Errors:
    """How wrong an agent is about drives that it did not learn from."""
    if not hasattr(agent, "imagine"):
        return UNKNOWN
    from ludus.algorithms.world_model.learning import prediction_errors

    return prediction_errors(agent, params, test)


def decisions(rounds: int) -> Iterator[Result]:
    """Milliseconds of one decision for one car, planned and by the actor: the median of many."""
    with contextlib.closing(open_pool("car", 1, 0, threads=1)) as pool:
        settings = config.resolve("car", "world_model").settings
        agent = craft_of(settings).agent_for(settings, pool)
        params, step = agent.init(pool.spec, 0), pool.step
    for name, plans in (("planned", True), ("actor", False)):
        player = dataclasses.replace(agent, earnest=True, plans=plans)
        memory, taken = player.memory(1), []
        for moment in range(100 * rounds + 10):
            begun = time.perf_counter()
            _, memory = player.act(params, memory, step, moment)
            taken.append(time.perf_counter() - begun)
        yield Result(f"world_model/decision/{name}", 1000.0 * float(np.median(taken[10:])), "ms")


def draw(results: list[dict[str, Any]], picture: pathlib.Path) -> None:
    """Tracks lapped over real steps, on a scale of powers of ten; a band from the worst to the best seed."""
    series = [curve(results, algorithm, label) for algorithm, label in (("world_model", "world model"), ("ppo", "PPO"))]
    title = "8 tracks never seen: lapped without a crash"
    plots.curves(picture, series, title, "real steps, as powers of ten", "tracks lapped")


def curve(results: list[dict[str, Any]], algorithm: str, label: str) -> plots.Series:
    """The mean of all seeds; one that was let go after it lapped all tracks stays there."""
    looks: dict[str, dict[int, float]] = {}
    for result in results:
        parts = result["name"].split("/")
        if parts[1] == algorithm and parts[-2] == "lapped" and int(parts[-1]):
            # Rollouts do not end on round numbers, so looks of different seeds are told apart by their turn.
            turn = round(int(parts[-1]) / EVERY[algorithm])
            looks.setdefault(parts[2], {})[turn] = result["value"]
    turns = sorted({turn for seen in looks.values() for turn in seen})
    lapped = np.array([[seen.get(turn, seen[max(seen)]) for turn in turns] for seen in looks.values()])
    steps = np.log10(np.array(turns) * EVERY[algorithm])
    return plots.Series(
        label + times(results, algorithm, len(looks)),
        steps,
        lapped.mean(axis=0),
        lapped.min(axis=0),
        lapped.max(axis=0),
    )


def times(results: list[dict[str, Any]], algorithm: str, seeds: int) -> str:
    """When all tracks were first lapped, and by how many of the seeds."""
    wanted = f"world_model/{algorithm}/"
    seconds = [
        one["value"] for one in results if one["name"].startswith(wanted) and one["name"].endswith("all_lapped_seconds")
    ]
    if not seconds:
        return ""
    return f", all 8 first after {min(seconds):.0f} to {max(seconds):.0f} s ({len(seconds)} of {seeds} seeds)"


if __name__ == "__main__":
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text())["results"], pathlib.Path(sys.argv[2]))
