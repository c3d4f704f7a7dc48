"""Every algorithm implements the algorithm protocol. A check is a function of a `Trial`."""

import dataclasses
import functools
import json
import tomllib
from typing import NamedTuple

import numpy as np
import pytest

from ludus import algorithms, games
from ludus.agents import Agent, checkpoint, trained
from ludus.agents.table import Table
from ludus.algorithms.protocol import Algorithm, Desk
from ludus.algorithms.rllib_ppo import session
from ludus.bridges import AnyPool, identity_of, open_pool
from ludus.runtimes import Job
from ludus.runtimes.transport import codec
from ludus.training import config
from ludus.types import LudusError

ROWS, STEPS, SEED = 8, 6, 5
GAMES = ("tictactoe", "car")
"""an algorithm is tested with the first of these that it fits"""
NETWORK = {"width": 4, "depth": 1}
RECURRENT = {"num_layers": 1, "num_channels": 16, "rnn_channels": 8, "rnn_type": "gru", "critic_width": 8,
             "critic_depth": 1, "film": False, "action_feats": False, "version": 1}  # fmt: skip
PPO = {"rollout_length": STEPS, "update_epochs": 1, "num_minibatches": 1, "devices": 1, "snapshot_interval": 1}
WORLD_MODEL = {
    "rollout_length": STEPS, "batch_size": 4, "horizon": 3, "imag_horizon": 2, "replay_size": 40, "learning_starts": 0,
    "network": {"encoder_dim": 8, "latent_dim": 8, "simnorm_dim": 4, "dynamics_dim": 8, "reward_dim": 6,
                "decoder_dim": 8, "actor_dims": [8], "critic_dims": [8]},
    "planner": {"horizon": 3, "num_samples": 12, "num_pi_trajs": 3, "num_elites": 4, "iterations": 2},
}  # fmt: skip
RLLIB_PPO = {"num_env_runners": 0, "rollout_length": STEPS, "train_batch_size": 48, "minibatch_size": 24,
             "update_epochs": 1, "mlp": NETWORK}  # fmt: skip
SETTINGS = {
    "q_learning": {"": {}, "numpy": {"form": "numpy"}, "list": {"form": "list"}},
    "ppo": {"mlp": PPO | {"mlp": NETWORK}, "rnn": PPO | {"agent": "rnn", "model": RECURRENT}},
    "rllib_ppo": {"": RLLIB_PPO},
    "world_model": {"": WORLD_MODEL},
}
"""small settings, by algorithm and variant; algorithms that are not listed are tested with their defaults"""
CLOCK = ("play_seconds",)
"""notes of experience that depend on the time of day"""


class Case(NamedTuple):
    """An algorithm with settings."""

    name: str
    variant: str

    def __str__(self) -> str:
        return "-".join(word for word in dict.fromkeys((algorithms.family(self.name), *self)) if word)


CASES = [Case(name, variant) for name in algorithms.names() for variant in SETTINGS.get(name, {"": {}})]


class Trial(NamedTuple):
    """An algorithm, and an agent for a small game that it fits."""

    name: str
    algorithm: Algorithm
    game: str
    pool: AnyPool
    agent: object

    def worker(self):
        """A new worker; all workers of a trial play the same games."""
        return self.job.worker(0)

    @property
    def job(self) -> Job:
        return Job(self.game, ROWS, SEED, STEPS, 1, self.algorithm)

    def learner(self):
        return self.algorithm.new_learner(self.agent, SEED)


@functools.cache
def trial_of(case: Case) -> Trial:
    kind = algorithms.settings_kind(case.name)
    values = SETTINGS.get(case.name, {"": {}})[case.variant] | {"method": case.name}
    algorithm = algorithms.from_dict(values, "the test")
    game = next(game for game in GAMES if kind.fits(case.name, games.load(game)))
    pool = open_pool(game, 1, SEED, threads=1)
    return Trial(case.name, algorithm, game, pool, algorithm.new_agent(pool))


@pytest.fixture(scope="module")
def a_ray():
    """One Ray for all workers of RLlib, each of which would start its own."""
    with session.started():
        yield


@pytest.fixture
def trial(request):
    if request.param.name == "rllib_ppo":
        session.load_rllib()
        request.getfixturevalue("a_ray")
    return trial_of(request.param)


def content(value):
    """A value as plain data and bytes, without the notes that depend on the time of day; equal contents are equal."""
    if hasattr(value, "notes"):
        value = value._replace(notes={name: note for name, note in value.notes.items() if name not in CLOCK})
    if isinstance(value, Table) and not value.searchable:
        value = searchable(value)
    form, arrays = codec.encode(value)
    return json.dumps(form), [(str(array.dtype), array.shape, array.tobytes()) for array in arrays.values()]


def searchable(table: Table) -> Table:
    """A copy in which positions can be found, of a table that was sent."""
    copy = Table(table.count, table.actions, table.extra, table.capacity)
    copy.take(table)
    return copy


def sent(value):
    """The value after it was sent to another process, as JSON and arrays."""
    form, arrays = codec.encode(value)
    return codec.decode(json.loads(json.dumps(form)), {name: array.copy() for name, array in arrays.items()})


def advance(trial: Trial, learner, worker, updates: int = 1):
    """The learner after some updates, or fewer if the algorithm has finished, and the metrics of the last one."""
    for version in range(updates):
        worker.publish(trial.algorithm.broadcast(learner), version)
        learner, metrics = trial.algorithm.update(trial.agent, learner, [worker.work()])
        if metrics.get("finished") == 1.0:
            break
    return learner, metrics


def copied(groups):
    return {name: {key: np.array(array) for key, array in group.items()} for name, group in groups.items()}


def it_is_a_frozen_dataclass(trial: Trial) -> None:
    """Settings are hashable, so that an algorithm can be a static argument of jit."""
    assert dataclasses.is_dataclass(trial.algorithm) and isinstance(hash(trial.algorithm), int)
    assert dataclasses.replace(trial.algorithm) == trial.algorithm
    with pytest.raises(dataclasses.FrozenInstanceError):
        trial.algorithm.method = "another"
    assert type(trial.algorithm) is algorithms.settings_kind(trial.name)
    assert all(type(flag) is bool for flag in (trial.algorithm.overlap, trial.algorithm.data_parallel))


def its_method_is_its_name(trial: Trial) -> None:
    assert trial.algorithm.method == trial.name


def its_defaults_are_known_settings(trial: Trial) -> None:
    """Defaults are settings of a run or of the algorithm, also if nothing is known of the game."""
    kind = type(trial.algorithm)
    known = {field.name for part in (config.Run, kind) for field in dataclasses.fields(part)} - {"method", "settings"}
    for spec, steps in ((trial.pool.spec, 1000), (None, 1000), (trial.pool.spec, None)):
        defaults = kind.defaults(lambda spec=spec: spec, steps)
        assert set(defaults) <= known
        run = config.from_dict(defaults | {"game": trial.game, "algorithm": trial.name}, "the test")
        assert type(run.settings) is kind and run.algorithm == trial.name


def its_settings_are_plain_data(trial: Trial) -> None:
    """Settings survive a run.toml, a job in JSON and dicts."""
    run = config.Run(game=trial.game, settings=trial.algorithm)
    assert config.from_dict(config.to_dict(run), "the test") == run
    assert config.from_dict(tomllib.loads(config.to_toml(run)), "the test") == run
    assert Job.from_json(trial.job.to_json()) == trial.job


def unknown_settings_are_refused(trial: Trial) -> None:
    with pytest.raises(LudusError, match='unknown setting "no_such_setting"'):
        algorithms.from_dict({"method": trial.name, "no_such_setting": 1}, "the test")


def its_description_is_plain_data(trial: Trial) -> None:
    description = trial.algorithm.describe()
    assert isinstance(description["kind"], str)
    assert json.loads(json.dumps(description)) == description


def it_says_which_games_it_fits(trial: Trial) -> None:
    fits = {name: type(trial.algorithm).fits(trial.name, games.load(name)) for name in games.bundled()}
    assert all(type(answer) is bool for answer in fits.values()) and fits[trial.game]


def it_counts_workers_and_decisions(trial: Trial) -> None:
    """One worker is always possible; a unit has at least one decision, and never more than is wanted."""
    assert trial.algorithm.count_workers(1, 4) == 1
    assert trial.algorithm.count_workers(0, 1) == 1
    desk = Desk(SEED, 0, 1, 10_000)
    chunk = trial.algorithm.chunk(trial.pool, desk, ROWS, 0, 2**62)
    assert type(chunk) is int and chunk >= 1
    assert trial.algorithm.chunk(trial.pool, desk, ROWS, chunk, 2**62) == chunk


def one_seed_gives_one_learner(trial: Trial) -> None:
    """A new learner depends only on the seed, and has learned nothing."""
    one, other = trial.learner(), trial.learner()
    assert content(trial.algorithm.save(one)) == content(trial.algorithm.save(other))
    assert (one.steps, one.episodes) == (0, 0)


def its_worker_returns_the_published_version(trial: Trial) -> None:
    worker, learner = trial.worker(), trial.learner()
    for version in (3, 4):
        worker.publish(trial.algorithm.broadcast(learner), version)
        experience = worker.work()
        assert experience.version == version
        assert isinstance(experience, tuple) and hasattr(experience, "_fields")
        learner, metrics = trial.algorithm.update(trial.agent, learner, [experience])
        if metrics.get("finished") == 1.0:
            break
    worker.close()


def one_seed_gives_one_experience(trial: Trial) -> None:
    """Two workers with the same place in a run and the same parameters return the same experience."""
    made = []
    for _ in range(2):
        worker = trial.worker()
        worker.publish(trial.algorithm.broadcast(trial.learner()), 0)
        made.append(worker.work())
        worker.close()
    assert content(made[0]) == content(made[1])


def an_update_returns_a_new_learner(trial: Trial) -> None:
    """The learner before the update stays as it was, except for a table, which is merged in place to save memory."""
    worker = trial.worker()
    before, metrics = advance(trial, trial.learner(), worker)
    if metrics.get("finished") == 1.0:  # there is no more experience
        return
    saved, counted = content(trial.algorithm.save(before)), (before.steps, before.episodes)
    worker.publish(trial.algorithm.broadcast(before), 1)
    experience = worker.work()
    made = content(experience)
    after, _ = trial.algorithm.update(trial.agent, before, [experience])
    worker.close()
    assert (before.steps, before.episodes) == counted and after.steps > before.steps
    if isinstance(before.params, Table):
        assert after.params is before.params
    else:
        assert content(trial.algorithm.save(before)) == saved != content(trial.algorithm.save(after))
        assert content(experience) == made


def an_update_counts_steps_and_episodes(trial: Trial) -> None:
    worker, learner, total = trial.worker(), trial.learner(), np.zeros(2, np.int64)
    for version in range(4):
        worker.publish(trial.algorithm.broadcast(learner), version)
        learner, metrics = trial.algorithm.update(trial.agent, learner, [worker.work()])
        assert all(type(name) is str and type(value) is float for name, value in metrics.items())
        total += [int(metrics["decisions"]), int(metrics.get("episodes", 0))]
        assert (learner.steps, learner.episodes) == tuple(total)
        if metrics.get("finished") == 1.0:
            break
    worker.close()
    assert learner.steps > 0


def a_saved_learner_is_restored_bit_for_bit(trial: Trial) -> None:
    worker = trial.worker()
    new, (trained_one, _) = trial.learner(), advance(trial, trial.learner(), worker, 3)
    worker.close()
    for learner in (new, trained_one):
        saved = copied(trial.algorithm.save(learner))
        assert saved["params"]
        again = trial.algorithm.restore(trial.agent, saved, SEED)
        assert content(trial.algorithm.save(again)) == content(saved)
        assert (again.steps, again.episodes) == (learner.steps, learner.episodes)


def arrays_of_another_shape_are_refused(trial: Trial) -> None:
    """The error is a LudusError, whichever group of the checkpoint is damaged, and if an array is missing."""
    worker = trial.worker()
    learner, _ = advance(trial, trial.learner(), worker)
    worker.close()
    saved = trial.algorithm.save(learner)
    damaged = [{}, saved | {"params": dict(list(saved["params"].items())[1:])}]
    for name, group in saved.items():
        largest = max(group, key=lambda key: group[key].size)
        damaged.append(saved | {name: group | {largest: np.stack([group[largest]] * 2)}})
    for stored in damaged:
        with pytest.raises(LudusError):
            trial.algorithm.restore(trial.agent, stored, SEED)


def a_saved_run_continues_exactly(trial: Trial) -> None:
    """With the state of its worker, a restored learner gets the same experience and learns the same from it."""
    worker = trial.worker()
    learner, metrics = advance(trial, trial.learner(), worker, 2)
    if "finished" in metrics:
        plans_again(trial, learner, worker)
        return
    saved, state = copied(trial.algorithm.save(learner)), copied({"worker": worker.state()})["worker"]
    replacement, restored = trial.worker(), trial.algorithm.restore(trial.agent, saved, SEED)
    replacement.restore(state)
    assert replacement.time == worker.time
    ends = []
    for player, start in ((worker, learner), (replacement, restored)):
        end, metrics = advance(trial, start, player, 2)
        ends.append((content(trial.algorithm.save(end)), content(player.state()), clockless(metrics)))
        player.close()
    assert ends[0] == ends[1]


def clockless(metrics):
    return {name: value for name, value in metrics.items() if name not in CLOCK}


def plans_again(trial: Trial, learner, worker) -> None:
    """The units of an algorithm that finishes by itself end by the clock; started again, it finds the same values."""
    restored, replacement = trial.algorithm.restore(trial.agent, trial.algorithm.save(learner), SEED), trial.worker()
    replacement.restore(worker.state())
    ends = [advance(trial, *pair, 10**6)[0] for pair in ((trial.learner(), trial.worker()), (restored, replacement))]
    one, other = (end.params.state() for end in ends)
    assert all(np.array_equal(one[name], other[name]) for name in ("known", "values"))


def a_replacement_of_a_lost_worker_continues_its_time(trial: Trial) -> None:
    """Of a worker that died only the time is known; its replacement plays new games."""
    lost, replacement, learner = trial.worker(), trial.job.worker(0, restarts=1), trial.learner()
    advance(trial, learner, lost)
    replacement.restore({"time": lost.state()["time"]})
    assert replacement.time == lost.time
    replacement.publish(trial.algorithm.broadcast(trial.learner()), 0)
    assert replacement.work().version == 0
    for worker in (lost, replacement):
        worker.close()


def states_of_another_number_of_rows_are_refused(trial: Trial) -> None:
    wide, narrow = dataclasses.replace(trial.job, rows=2 * ROWS).worker(0), trial.worker()
    state = wide.state()
    if set(state) != {"time"}:  # a worker that plays no games has no rows
        with pytest.raises(LudusError, match="number of rows"):
            narrow.restore(state)
    for worker in (wide, narrow):
        worker.close()


def its_parameters_and_experience_can_be_sent(trial: Trial) -> None:
    """A worker in another process gets the same bytes, and returns the same experience."""
    learner, made = trial.learner(), []
    params = trial.algorithm.broadcast(learner)
    assert content(sent(params)) == content(params)
    for given in (params, sent(params)):
        worker = trial.worker()
        worker.publish(given, 7)
        made.append(worker.work())
        worker.close()
    assert content(made[0]) == content(made[1])
    received = sent(made[1])
    assert type(received) is type(made[1]) and content_of_parts(received) == content_of_parts(made[1])
    learned = [
        trial.algorithm.update(trial.agent, trial.learner(), [experience])[0] for experience in (*made, received)
    ]
    saved = [content(trial.algorithm.save(learner)) for learner in learned]
    assert saved[0] == saved[1] == saved[2]


def content_of_parts(experience):
    return [content(part) for part in experience]


def it_learns_from_several_workers(trial: Trial) -> None:
    """An update takes one unit of every worker, and workers of one run play different games."""
    if not may_have_two_workers(trial):
        return
    job, learner = dataclasses.replace(trial.job, workers=2), trial.learner()
    workers = [job.worker(number) for number in range(2)]
    for worker in workers:
        worker.publish(trial.algorithm.broadcast(learner), 0)
    units = [worker.work() for worker in workers]
    assert content(units[0]) != content(units[1])
    learner, metrics = trial.algorithm.update(trial.agent, learner, units)
    assert learner.steps == metrics["decisions"] > 0
    for worker in workers:
        worker.close()


def may_have_two_workers(trial: Trial) -> bool:
    """Plans, and models of a game, cannot be merged: such an algorithm refuses a second worker."""
    try:
        return trial.algorithm.count_workers(2, 2) == 2
    except LudusError:
        return False


def its_evaluation_agent_plays_legally(trial: Trial) -> None:
    """With untrained and with trained parameters; the same key gives the same decisions."""
    worker, agent = trial.worker(), trial.algorithm.evaluation_agent(trial.agent)
    assert isinstance(agent, Agent)
    learned, _ = advance(trial, trial.learner(), worker, 2)
    worker.close()
    for learner in (trial.learner(), learned):
        pool = open_pool(trial.game, ROWS, 3, threads=1)
        memory = agent.memory(ROWS)
        for key in range(12):
            repeated, _ = agent.act(learner.params, memory, pool.step, key)
            decision, memory = agent.act(learner.params, memory, pool.step, key)
            assert np.array_equal(repeated.action, decision.action)
            pool.advance(np.asarray(decision.action))  # an illegal action raises
        pool.close()


def its_checkpoint_can_be_loaded_as_a_player(trial: Trial) -> None:
    """The description and the group `params` are all that an agent needs to play as it is evaluated."""
    worker = trial.worker()
    learner, _ = advance(trial, trial.learner(), worker, 2)
    worker.close()
    manifest = checkpoint.describe(identity_of(trial.pool), trial.algorithm.describe(), {"kind": trial.name})
    params = {"params": copied(trial.algorithm.save(learner))["params"]}
    loaded, loaded_params = trained.restore(checkpoint.Checkpoint(manifest, params), trial.pool)
    pool = open_pool(trial.game, ROWS, 3, threads=1)
    evaluated = trial.algorithm.evaluation_agent(trial.agent)
    memories = [agent.memory(ROWS) for agent in (loaded, evaluated)]
    for key in range(6):
        one, memories[0] = loaded.act(loaded_params, memories[0], pool.step, key)
        other, memories[1] = evaluated.act(learner.params, memories[1], pool.step, key)
        assert np.array_equal(one.action, other.action)
        pool.advance(np.asarray(one.action))
    pool.close()


CHECKS = (
    it_is_a_frozen_dataclass, its_method_is_its_name, its_defaults_are_known_settings, its_settings_are_plain_data,
    unknown_settings_are_refused, its_description_is_plain_data, it_says_which_games_it_fits,
    it_counts_workers_and_decisions, one_seed_gives_one_learner, its_worker_returns_the_published_version,
    one_seed_gives_one_experience, an_update_returns_a_new_learner, an_update_counts_steps_and_episodes,
    a_saved_learner_is_restored_bit_for_bit, arrays_of_another_shape_are_refused, a_saved_run_continues_exactly,
    a_replacement_of_a_lost_worker_continues_its_time, states_of_another_number_of_rows_are_refused,
    its_parameters_and_experience_can_be_sent, it_learns_from_several_workers, its_evaluation_agent_plays_legally,
    its_checkpoint_can_be_loaded_as_a_player,
)  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("trial", CASES, indirect=True, ids=str)
def test_algorithm_implements_the_protocol(trial, check):
    check(trial)


def test_every_algorithm_is_tested():
    assert {case.name for case in CASES} == set(algorithms.names()) and set(SETTINGS) <= set(algorithms.names())
    assert {algorithms.family(name) for name in algorithms.names()} >= {"tabular", "planning", "ppo", "world_model"}
