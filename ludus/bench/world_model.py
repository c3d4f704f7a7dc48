"""World model against PPO on the car: environment steps and seconds until the agent laps tracks not trained on.

`ludus bench train --only world_model --json` measures it; `--only world_model/pendulum` measures the pendulum.
`python -m ludus.bench.world_model RESULTS.json PICTURE.png` draws the results.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ludus import agents
from ludus.agents.protocol import Agent, Params
from ludus.algorithms.protocol import Learner
from ludus.bench import Result
from ludus.bridges import open_pool
from ludus.dsl import CUT, PLAYING
from ludus.evaluation import scores
from ludus.rendering import plots
from ludus.runtimes.transport.job import AnyAlgorithm
from ludus.training import config
from ludus.training.loop import Progress, train
from ludus.training.opened import open_run
from ludus.types import Array, Decision, JsonObject, Rollout, Step

SEEDS, TRACKS = range(3), range(1001, 1009)
EVERY = {"world_model": 500, "ppo": 100_000}
"""environment steps between two evaluations"""
HELD_OUT, DRIVE = 777, 250
"""seed of the tracks for prediction errors, and steps driven on each of them"""
PENDULUM, GAMES = "gymnasium:Pendulum-v1", 100
"""the second game, and its episodes per evaluation; all evaluations start from the same states"""
LAP = 20.0
"""return of a whole lap: 10 for the distance, 1 for each tenth"""


Errors = tuple[float, float]
"""prediction errors one and ten steps ahead; NaN if the agent has no model"""
UNKNOWN: Errors = (float("nan"), float("nan"))


class Evaluation(NamedTuple):
    """The state of a run after a number of environment steps."""

    steps: int
    seconds: float
    lapped: int
    """tracks driven to the horizon without a crash, for more than a lap"""
    first_lap: int
    """environment steps at the first completed lap in training; 0 before it"""
    errors: Errors
    """prediction errors on scripted drives"""
    own: Errors = UNKNOWN
    """prediction errors on its own drives in this evaluation"""
    own_before: Errors = UNKNOWN
    """prediction errors of the untrained networks on the same drives"""


def suite(rounds: int) -> Iterator[Result]:
    """Both algorithms with three seeds each, then the time of one decision."""
    for algorithm in EVERY:
        for seed in SEEDS:
            yield from results_of(f"world_model/{algorithm}/seed{seed}", list(evaluations(algorithm, seed)))
    yield from decisions(rounds)


def results_of(name: str, evaluated: list[Evaluation]) -> Iterator[Result]:
    """The results of one run."""
    last = evaluated[-1]
    for one in evaluated:
        yield Result(f"{name}/lapped/{one.steps}", float(one.lapped), f"of {len(TRACKS)} tracks")
    done = [one for one in evaluated if one.lapped == len(TRACKS)]
    if done:
        yield Result(f"{name}/all_lapped", float(done[0].steps), "steps")
        yield Result(f"{name}/all_lapped_seconds", done[0].seconds, "s")
    yield Result(f"{name}/seconds", last.seconds, "s")
    if last.first_lap:
        yield Result(f"{name}/first_lap", float(last.first_lap), "steps")
    if not np.isnan(evaluated[0].errors[0]):
        for place, ahead in enumerate(("one_step_error", "ten_step_error")):
            yield Result(f"{name}/{ahead}/first", evaluated[0].errors[place], "mean square")
            yield Result(f"{name}/{ahead}/last", last.errors[place], "mean square")
            if not np.isnan(last.own[place]):  # only measured at the end of a full run
                yield Result(f"{name}/own_{ahead}/first", last.own_before[place], "mean square")
                yield Result(f"{name}/own_{ahead}/last", last.own[place], "mean square")


def evaluations(algorithm: str, seed: int) -> Iterator[Evaluation]:
    """Train with the preset, evaluating before the first update and regularly; PPO stops once it laps all tracks."""
    run = dataclasses.replace(config.resolve("car", algorithm), seed=seed)
    agent, learner = untrained(run)
    player, test = run.settings.evaluation_agent(agent), held_out()
    first_lap, due, initial = 0, EVERY[algorithm], learner.params
    yield Evaluation(0, 0.0, 0, 0, errors(player, initial, test))
    for progress, seconds in timed_updates(run, agent, learner):
        steps, params = progress.learner.steps, progress.learner.params
        first_lap = first_lap or (steps if progress.metrics.get("laps") else 0)
        if steps < due:
            continue
        due += EVERY[algorithm]
        drives = driven(player, params)
        lapped = count_lapped(drives)
        # Every length of a drive is compiled separately, so these errors are measured once, at the end of the run.
        own = [errors(player, each, drives.rollout) for each in (params, initial)] if steps >= run.steps else ()
        yield Evaluation(steps, seconds, lapped, first_lap, errors(player, params, test), *own)
        if algorithm == "ppo" and lapped == len(TRACKS):
            break


def untrained(run: config.Run[AnyAlgorithm]) -> tuple[Agent, Learner]:
    """The agent of a run and its learner before training."""
    with contextlib.closing(open_pool(run.game, 1, run.seed, threads=1)) as pool:
        agent = run.settings.new_agent(pool)
    return agent, run.settings.new_learner(agent, run.seed)


def timed_updates(
    run: config.Run[AnyAlgorithm], agent: Agent, learner: Learner
) -> Iterator[tuple[Progress[Learner], float]]:
    """Every update of a run with its training time so far in seconds; time spent by the caller is excluded."""
    with contextlib.closing(open_run(run)) as opened:
        spent, since = 0.0, time.perf_counter()
        for progress in train(agent, run.settings, learner, opened.source):
            spent += time.perf_counter() - since
            yield progress, spent
            if progress.learner.steps >= run.steps:
                break
            since = time.perf_counter()


def pendulum(rounds: int) -> Iterator[Result]:
    """Mean return on the pendulum with its preset, before learning and every 1000 steps."""
    for seed in SEEDS:
        run = dataclasses.replace(config.resolve(PENDULUM, "world_model"), seed=seed)
        agent, learner = untrained(run)
        player, due, name = run.settings.evaluation_agent(agent), 0, f"world_model/pendulum/seed{seed}"
        for progress, seconds in timed_updates(run, agent, learner):
            steps = progress.learner.steps
            if steps >= due:
                score = scores.score(PENDULUM, player, progress.learner.params, GAMES, HELD_OUT)
                yield Result(f"{name}/return/{steps}", score.interval.estimate, "return")
                due += 1000
            if steps >= run.steps:
                yield Result(f"{name}/seconds", seconds, "s")


class Drives(NamedTuple):
    """One drive on every track."""

    cut: list[bool]
    """the drive reached the horizon"""
    returns: list[float]
    rollout: Rollout


def count_lapped(drives: Drives) -> int:
    """Tracks driven to the horizon without a crash and for more than a lap."""
    return int(sum(cut and total > LAP for cut, total in zip(drives.cut, drives.returns, strict=True)))


def driven(player: Agent, params: Params) -> Drives:
    """Drive all tracks in one batch; steps after the end of a drive are marked as `first` and have reward 0."""
    with contextlib.ExitStack() as stack:
        pools = [open_pool(f"car(track={track})", 1, track, threads=1) for track in TRACKS]
        for pool in pools:
            stack.enter_context(contextlib.closing(pool))
        memory, playing = player.memory(len(pools)), np.ones(len(pools), bool)
        steps, actions = [side_by_side([pool.step for pool in pools])], list[Array]()
        while playing.any():
            decision, memory = player.act(params, memory, steps[-1], len(actions))
            actions.append(decision.action)
            for row in np.flatnonzero(playing):
                pools[row].advance(decision.action[row : row + 1])
            now = side_by_side([pool.step for pool in pools])
            steps.append(now._replace(first=now.first | ~playing, reward=now.reward * playing[:, None]))
            playing = np.array([pool.status[0] == PLAYING for pool in pools])
        returns = np.sum([step.reward[:, 0] for step in steps[1:]], axis=0)
        return Drives([bool(pool.status[0] == CUT) for pool in pools], returns.tolist(), as_rollout(steps, actions))


def side_by_side(steps: list[Step]) -> Step:
    """Steps of one row each as one step of many rows."""
    observation = {name: np.concatenate([step.observation[name] for step in steps]) for name in steps[0].observation}
    return Step(observation, *(np.concatenate(parts) for parts in zip(*(step[1:] for step in steps), strict=True)))


def held_out(seed: int = HELD_OUT) -> Rollout:
    """Eight scripted drives with correlated action noise on separate tracks; the same for every run."""
    driver, rng = agents.load("scripted", "car"), np.random.default_rng(seed)
    with contextlib.closing(open_pool("car", 8, seed)) as pool:
        steps, actions, noise = [pool.step], [], np.zeros((8, 2))
        memory, params = driver.memory(8), driver.init(pool.spec, 0)
        for moment in range(DRIVE):
            decision, memory = driver.act(params, memory, steps[-1], moment)
            noise = 0.8 * noise + 0.2 * rng.normal(size=noise.shape)
            actions.append(np.clip(decision.action + noise, -1.0, 1.0))
            steps.append(pool.advance(actions[-1]))
    return as_rollout(steps, actions)


def as_rollout(steps: list[Step], actions: list[Array]) -> Rollout:
    """Drives as a rollout, to measure prediction errors on."""
    from ludus.algorithms.rollout_worker import stack_steps

    lead = len(actions), len(actions[0])
    made = Decision(np.stack(actions), np.zeros(lead), np.zeros((lead[0] + 1, lead[1], 1)))
    return Rollout(stack_steps(steps), made, np.ones(lead, bool), (), 0, np.zeros(4), {})


def errors(agent: Agent, params: Params, test: Rollout) -> Errors:
    """Prediction errors of an agent on drives it was not trained on."""
    from ludus.agents.neural.world_model import WorldModelAgent
    from ludus.algorithms.world_model.update import prediction_errors

    return prediction_errors(agent, params, test) if isinstance(agent, WorldModelAgent) else UNKNOWN


def decisions(rounds: int) -> Iterator[Result]:
    """Median milliseconds of one decision for one car, by the planner and by the actor."""
    with contextlib.closing(open_pool("car", 1, 0, threads=1)) as pool:
        settings = config.resolve("car", "world_model").settings
        agent = settings.new_agent(pool)
        params, step = agent.init(pool.spec, 0), pool.step
    for name, plans in (("planned", True), ("actor", False)):
        player = dataclasses.replace(agent, evaluating=True, plan_at_evaluation=plans)
        memory, taken = player.memory(1), []
        for moment in range(100 * rounds + 10):
            started = time.perf_counter()
            _, memory = player.act(params, memory, step, moment)
            taken.append(time.perf_counter() - started)
        yield Result(f"world_model/decision/{name}", 1000.0 * float(np.median(taken[10:])), "ms")


def draw(results: list[JsonObject], picture: pathlib.Path) -> None:
    """Plot tracks lapped over environment steps (logarithmic), with a band from the worst to the best seed."""
    series = [curve(results, algorithm, label) for algorithm, label in (("world_model", "world model"), ("ppo", "PPO"))]
    title = "8 tracks never seen: lapped without a crash"
    plots.curves(picture, series, title, "real steps, as powers of ten", "tracks lapped")


def curve(results: list[JsonObject], algorithm: str, label: str) -> plots.Series:
    """The mean of all seeds; a seed that stopped after lapping all tracks keeps its last value."""
    values: dict[str, dict[int, float]] = {}
    for result in results:
        parts = result["name"].split("/")
        if parts[1] == algorithm and parts[-2] == "lapped" and int(parts[-1]):
            # Rollouts do not end on round numbers of steps, so seeds are matched by the index of an evaluation.
            turn = round(int(parts[-1]) / EVERY[algorithm])
            values.setdefault(parts[2], {})[turn] = result["value"]
    turns = sorted({turn for seed in values.values() for turn in seed})
    lapped = np.array([[seed.get(turn, seed[max(seed)]) for turn in turns] for seed in values.values()])
    steps = np.log10(np.array(turns) * EVERY[algorithm])
    return plots.Series(
        label + times(results, algorithm, len(values)),
        steps,
        lapped.mean(axis=0),
        lapped.min(axis=0),
        lapped.max(axis=0),
    )


def times(results: list[JsonObject], algorithm: str, seeds: int) -> str:
    """For the legend: seconds until all tracks were first lapped, and the number of seeds that did."""
    wanted = f"world_model/{algorithm}/"
    seconds = [
        one["value"] for one in results if one["name"].startswith(wanted) and one["name"].endswith("all_lapped_seconds")
    ]
    if not seconds:
        return ""
    return f", all 8 first after {min(seconds):.0f} to {max(seconds):.0f} s ({len(seconds)} of {seeds} seeds)"


if __name__ == "__main__":
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text())["results"], pathlib.Path(sys.argv[2]))
