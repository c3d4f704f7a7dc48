"""Rollouts: equal to those of a plain loop, the same in every runtime, and with opponents in the other seats."""

import contextlib
import itertools
import threading
from dataclasses import dataclass

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus import agents, games
from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.agents.players.random import RandomAgent
from ludus.algorithms import opponents
from ludus.algorithms.opponents import Opponents, choose, with_snapshot
from ludus.algorithms.ppo import PPO
from ludus.algorithms.protocol import Desk
from ludus.algorithms.rollout_worker import RolloutWorker, joined, stack_steps
from ludus.algorithms.tally import empty, merged
from ludus.bridges import open_pool
from ludus.evaluation.play import Counts
from ludus.runtimes import Job, open_source
from ludus.training.loop import train
from ludus.types import Decision, LudusError, Spec

MIXED = ("self:0.5", "past:0.25", "random:0.25")
PLAIN = PPO(
    mlp=MLPArgs(width=8, depth=1), rollout_length=6, update_epochs=1, num_minibatches=1, devices=1, learning_rate="0.01"
)
REMEMBERING = PPO(
    agent="rnn", rollout_length=6, update_epochs=1, num_minibatches=1, devices=1, learning_rate="0.01", opponents=MIXED,
    snapshot_interval=2, max_snapshots=2,
    model=ModelArgs(num_layers=1, num_channels=16, rnn_channels=8, rnn_type="gru", critic_width=8, critic_depth=1,
                    film=False, action_feats=False, version=1),
)  # fmt: skip
CLOCK = {"play_seconds", "wait_seconds", "overlap"}
REPLACED = {"restarts": 0.0, "lost_units": 0.0}
"""metrics of runtimes that replace workers, in a run in which none died"""


def job_of(algorithm=PLAIN, workers=1, rows=8, game="tictactoe"):
    return Job(game, rows // workers, 3, algorithm.rollout_length, workers, algorithm)


def beginning(job):
    pool = open_pool(job.game, 1, 0)
    agent = job.algorithm.new_agent(pool)
    return agent, job.algorithm.new_learner(agent, job.seed)


def learn(source, job, updates, learner=None):
    """The progress of each update, and the state of the source after the last."""
    agent, fresh = beginning(job)
    progress = list(itertools.islice(train(agent, job.algorithm, learner or fresh, source), updates))
    return progress, source.state()


def trained(runtime, job, updates):
    with contextlib.closing(open_source(runtime, job)) as source:
        return learn(source, job, updates)[0]


def resumed(runtime, job, learner, state):
    """The progress of 3 more updates after learner and source were restored from the arrays of a checkpoint."""
    agent, _ = beginning(job)
    again = job.algorithm.restore(agent, job.algorithm.save(learner), job.seed)
    with contextlib.closing(open_source(runtime, job)) as source:
        source.restore(state)
        return learn(source, job, 3, again)[0]


def bits(tree):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


def shown_metrics(progress):
    shown = [{name: value for name, value in one.metrics.items() if name not in CLOCK} for one in progress]
    return [REPLACED | metrics for metrics in shown]


def same_rollout(one, other):
    return bits(one._replace(notes={})) == bits(other._replace(notes={}))


def actors_alive():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ludus-worker")]


def test_local_rollouts_equal_those_of_a_plain_loop():
    """The second rollout begins where the first one ended."""
    job = job_of()
    agent, learner = beginning(job)
    with contextlib.closing(open_source("local", job)) as source:
        source.publish(job.algorithm.broadcast(learner), 0)
        found = [rollout for (rollout,) in itertools.islice(iter(source), 2)]
    actor = job.worker(0)
    pool, dice = actor.pool, []
    for rollout in found:
        steps, decisions = [pool.step], []
        for _ in range(job.steps):
            dice.append(actor.key())
            decision, memory = agent.act(learner.params, (), steps[-1], dice[-1])
            actor.time += 1
            decisions.append(decision)
            steps.append(pool.advance(np.asarray(decision.action)))
        last = agent.act(learner.params, (), steps[-1], actor.key())[0]
        assert bits(rollout.steps) == bits(stack_steps(steps)) and rollout.memory == memory == ()
        for name in ("action", "log_prob"):
            assert bits(getattr(rollout.decisions, name)) == bits(np.stack([getattr(one, name) for one in decisions]))
        assert bits(rollout.decisions.value) == bits(np.stack([one.value for one in (*decisions, last)]))
        assert rollout.own.all() and rollout.own.shape == (job.steps, 8)
    assert len(set(map(int, dice))) == len(dice)
    assert bits(found[0].steps.observation["board"][-1]) == bits(found[1].steps.observation["board"][0])


def test_returned_rollouts_are_never_modified():
    """The worker and its pool overwrite their arrays afterwards."""
    job = job_of()
    _, learner = beginning(job)
    with contextlib.closing(open_source("local", job)) as source:
        source.publish(job.algorithm.broadcast(learner), 0)
        rollouts = iter(source)
        (first,) = next(rollouts)
        before = bits(first._replace(notes={}))
        next(rollouts)
        worker = source.lanes[0].worker
        pool = worker.pool
        for array in (pool.states, pool._rows, pool._observations):
            array.view(np.uint8)[:] = 0xAB
        for array in jax.tree.leaves(pool.step):
            array[...] = 1
        for kept in (worker.returns, worker.lengths):
            kept[:] = 77
    assert bits(first._replace(notes={})) == before


def test_threads_are_one_version_behind_and_local_is_not():
    """Except for the first rollout, for which there are no older parameters."""
    assert [progress.age for progress in trained("local", job_of(), 4)] == [0, 0, 0, 0]
    assert [progress.age for progress in trained("threads", job_of(), 6)] == [0, 1, 1, 1, 1, 1]
    assert actors_alive() == []


def test_rollouts_of_several_workers_are_joined():
    """Their rows are concatenated; each worker has its own games and random numbers."""
    job = job_of(workers=2)
    _, learner = beginning(job)
    with contextlib.closing(open_source("local", job)) as source:
        source.publish(job.algorithm.broadcast(learner), 0)
        one, other = next(iter(source))
    both = joined([one, other])
    assert bits(both.steps) == bits(jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), one.steps, other.steps))
    assert (both.tally == merged([one.tally, other.tally])).all()
    assert bits(one.decisions.action) != bits(other.decisions.action)


@pytest.mark.parametrize("workers", [1, 2])
def test_threads_are_deterministic(workers):
    one, other = (trained("threads", job_of(workers=workers), 6) for _ in range(2))
    assert bits(one[-1].learner.state) == bits(other[-1].learner.state)
    assert shown_metrics(one) == shown_metrics(other)
    assert bits(one[-1].learner.state.agent) != bits(one[0].learner.state.agent)
    assert actors_alive() == []


@pytest.mark.parametrize(
    ("runtime", "job"),
    [
        ("local", job_of()), ("threads", job_of()), ("threads", job_of(workers=2)), ("processes", job_of(workers=2)),
        ("local", job_of(REMEMBERING)), ("threads", job_of(REMEMBERING)),
    ],
    ids=["local", "threads", "threads of 2", "processes", "local with memory", "threads with memory"],
)  # fmt: skip
def test_continues_exactly_from_a_saved_state(runtime, job):
    with contextlib.closing(open_source(runtime, job)) as source:
        agent, learner = beginning(job)
        half, whole = [], []
        for progress in train(agent, job.algorithm, learner, source):
            (half if len(half) < 3 else whole).append(progress)
            if len(half) == 3 and not whole:
                state = {
                    name: {key: np.array(array) for key, array in group.items()}
                    for name, group in source.state().items()
                }
            if len(whole) == 3:
                break
        end = source.state()
    again = resumed(runtime, job, half[-1].learner, state)
    assert bits(again[-1].learner.state) == bits(whole[-1].learner.state)
    assert shown_metrics(again) == shown_metrics(whole)
    assert [progress.age for progress in again] == [progress.age for progress in whole]
    assert "acting" in end if runtime != "local" else "acting" not in end
    if job.algorithm is REMEMBERING:
        assert {"won/past", "won/random"} & set().union(*shown_metrics(whole))
        kept = [int(name) for name in whole[-1].learner.snapshots]
        assert kept == [2, 4, 6] and "snapshot_000000004" in job.algorithm.save(whole[-1].learner)


def test_a_state_of_another_run_is_rejected():
    with contextlib.closing(open_source("local", job_of())) as source:
        state = source.lanes[0].state()
        for given, message in (
            ({}, "a run with 0 workers, not 1"),
            ({"worker_0": {}, "worker_1": {}}, "a run with 2 workers, not 1"),
            ({"worker_0": {**state, "returns": np.zeros((3, 2))}}, "number of rows"),
            ({"worker_0": {name: array for name, array in state.items() if name != "states"}}, "another agent"),
        ):
            with pytest.raises(LudusError, match=message):
                source.restore(given)


def test_a_state_with_only_the_time_starts_new_games():
    with contextlib.closing(open_source("threads", job_of())) as source:
        source.restore({"worker_0": {"time": np.array([48])}})
        assert source.lanes[0].worker.time == 48
        assert [progress.age for progress in learn(source, job_of(), 2)[0]] == [0, 1]


def failing_work(self):
    if self.version == 1:
        raise RuntimeError("the worker is broken")
    return original_work(self)


original_work = RolloutWorker.work


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failed_worker_raises_an_error_and_all_threads_end(monkeypatch, workers):
    monkeypatch.setattr(RolloutWorker, "work", failing_work)
    with pytest.raises(LudusError, match="worker 0 failed: RuntimeError: the worker is broken"):
        trained("threads", job_of(workers=workers), 6)
    assert actors_alive() == []


def test_closing_ends_workers_that_are_ahead():
    """Their unfinished units are discarded."""
    job = job_of()
    source = open_source("threads", job)
    source.publish(job.algorithm.broadcast(beginning(job)[1]), 0)
    next(iter(source))
    assert actors_alive()
    source.close()
    assert actors_alive() == []


@pytest.mark.parametrize("runtime", ["threads", "processes"])
def test_every_runtime_learns_the_same(runtime):
    """The algorithm decides whether workers are one round ahead, so asynchronous runtimes give identical results."""
    job = job_of(workers=2)
    one, other = trained(runtime, job, 4), trained("threads", job, 4)
    assert bits(one[-1].learner.state) == bits(other[-1].learner.state)
    assert shown_metrics(one) == shown_metrics(other)


@dataclass(frozen=True)
class Chance:
    """The random player as an agent without parameters."""

    spec: Spec

    def memory(self, rows):
        return ()

    def act(self, params, memory, step, key):
        return RandomAgent().act(self.spec, memory, step, key)


def random_actor(game, rows, seed, words=("self",), player=None):
    """A worker whose agent has no network."""
    pool = open_pool(game, rows, seed)
    agent = player or Chance(pool.spec)
    return RolloutWorker(pool, agent, Opponents(words, pool, agent, seed), Desk(seed, 0, 1, 1))


def collect(actor, length):
    """A rollout of so many steps."""
    actor.desk = actor.desk._replace(steps=length)
    actor.publish({"params": ()}, 0)
    return actor.work()


@settings(max_examples=12)
@given(game=st.sampled_from(games.names()), rows=st.integers(1, 5), seed=st.integers(0, 2**31), data=st.data())
def test_rollouts_of_all_games_have_the_right_shapes_and_counts(game, rows, seed, data):
    """A rollout counts a game when the next one begins; evaluation counts it one step earlier, at its end."""
    actor, replica = random_actor(game, rows, seed), open_pool(game, rows, seed)
    spec, lengths = replica.spec, data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=3))
    counts, row_games, tally = Counts(replica, 4000), np.arange(rows), empty(spec.seats)
    expected = np.zeros(2 + spec.seats)
    for length in lengths:
        rollout = collect(actor, length)
        wide = rows * spec.views
        assert {len(part) for part in jax.tree.leaves(rollout.steps)} == {length + 1}
        assert {part.shape[1] for part in jax.tree.leaves((rollout.steps, rollout.decisions))} == {wide}
        assert (
            rollout.decisions.action.shape[:2]
            == rollout.decisions.log_prob.shape
            == rollout.own.shape
            == (length, wide)
        )
        assert rollout.decisions.value.shape == (length + 1, wide, spec.seats)
        tally = merged([tally, rollout.tally])
        for actions in rollout.decisions.action:
            done = counts.done
            expected = np.array([done, counts.lengths.sum(), *counts.returns.sum(axis=0)])
            step = replica.advance(actions)
            row_games[counts.add(row_games, step, replica.status)] += rows
        assert done <= counts.done
    np.testing.assert_allclose(tally[[0, 1]], expected[:2])
    np.testing.assert_allclose(tally[3 : 3 + spec.seats], expected[2:], rtol=1e-6, atol=1e-6)
    assert tally[2] <= sum(lengths) * rows * spec.views


def ended_games(rollouts):
    """(row, result of each seat) of every game that was followed by another."""
    reward = np.concatenate([rollout.steps.reward[1:] for rollout in rollouts])
    first = np.concatenate([rollout.steps.first[1:] for rollout in rollouts])
    for row in range(reward.shape[1]):
        starts = [0, *np.flatnonzero(first[:, row])]
        for low, high in itertools.pairwise(starts):
            yield row, reward[low:high, row].sum(axis=0)


@pytest.mark.parametrize(("player", "opponent"), [("random", "perfect"), ("perfect", "random")])
def test_wins_are_counted_from_the_agents_seat(player, opponent):
    """A perfect player never loses, whichever seat the agent has."""
    agent = agents.load("perfect", "tictactoe") if player == "perfect" else None
    actor = random_actor("tictactoe", 12, 5, (f"{opponent}:1", "self:1"), agent)
    rollouts = [collect(actor, 30) for _ in range(3)]
    results = [(0.5 + got[row % 2] / 2, row) for row, got in ended_games(rollouts) if row < 6]
    assert {row % 2 for _, row in results} == {0, 1} and len(results) > 20
    first = [0.5 + got[row % 2] / 2 for row, got in ended_games(rollouts[:1]) if row < 6]
    assert rollouts[0].notes[f"won/{opponent}"] == pytest.approx(np.mean(first))
    mean = np.mean([result for result, _ in results])
    assert mean > 0.8 if player == "perfect" else mean < 0.2
    assert set(rollouts[0].notes) == {"play_seconds", f"won/{opponent}"}


def test_own_decisions_are_those_of_the_agents_seat():
    """Rows 0-3 are self-play; in rows 4-7 the agent plays against another, in alternating seats."""
    actor = random_actor("tictactoe", 8, 1, ("self:0.5", "random:0.5"))
    rollout = collect(actor, 12)
    seat = rollout.steps.seat[:-1]
    assert rollout.own[:, :4].all()
    assert (rollout.own[:, 4:] == (seat[:, 4:] == np.array([0, 1, 0, 1]))).all()
    assert rollout.tally[2] == (rollout.own & ~rollout.steps.first[1:]).sum() < rollout.own.size


def test_seats_of_simultaneous_games_are_separate_rows():
    """Each game of Goofspiel fills two rows of a batch, and one of them is the opponent's."""
    actor = random_actor("goofspiel", 4, 1, ("self:0.5", "random:0.5"))
    own = collect(actor, 3).own
    assert own.tolist() == [[True, True, True, True, True, False, False, True]] * 3


@dataclass(frozen=True)
class Fixed:
    """Takes the first or the last legal cell; its memory counts the steps of this game that it has seen."""

    last: bool = False

    def init(self, spec, key):
        return None

    def memory(self, rows):
        return np.zeros(rows, np.int64)

    def act(self, params, memory, step, key):
        memory = np.where(step.first, 0, memory) + 1
        cells = step.mask.shape[1] - 1 - step.mask[:, ::-1].argmax(axis=1) if self.last else step.mask.argmax(axis=1)
        return Decision(cells, np.zeros(len(cells), np.float32), np.zeros(step.reward.shape, np.float32)), memory


@pytest.mark.parametrize("low", [0, 1])
def test_an_opponent_plays_in_its_seat_and_its_memory_is_reset(monkeypatch, low):
    """The agent takes first cells, the opponent last ones; it also sees first steps in which it is not to move."""
    monkeypatch.setattr(agents, "load", lambda name, game: Fixed(last=True))
    actor = random_actor("tictactoe", 2, 1, ("self", "other") if low else ("other", "self"), Fixed())
    (other,) = actor.opponents.others
    assert other.games == slice(low, low + 1) and other.seats.tolist() == [low % 2]
    shown = []
    for _ in range(40):
        rollout = collect(actor, 1)
        mask, seat = rollout.steps.mask[0, low], rollout.steps.seat[0, low]
        legal = np.flatnonzero(mask)
        if not rollout.steps.first[1, low]:
            assert rollout.decisions.action[0, low] == legal[0 if seat == low % 2 else -1]
        shown.append(int(other.memory[0]))
    assert max(shown) <= 10  # no game has more steps than that


@pytest.mark.parametrize(
    ("words", "shares"),
    [
        (("self",), [("self", 1.0)]),
        (("self:0.7", "past:0.2", "random"), [("self", 0.7), ("past", 0.2), ("random", 1.0)]),
        (("runs/a:b:2",), [("runs/a:b", 2.0)]),
    ],
)
def test_opponents_are_names_with_shares(words, shares):
    assert opponents.parse(words) == shares


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "at least one opponent, each once"), (("self", "self:2"), "at least one opponent, each once"),
        (("random:0",), '"random:0" is not an opponent with a weight; write it like random:0.2'),
        (("random:-1",), "not an opponent with a weight"), (("random:nan",), "not an opponent with a weight"),
        (("random:inf",), "not an opponent with a weight"), (("random:often",), "not an opponent with a weight"),
        ((":0.5",), "not an opponent with a weight"), (("nobody",), 'unknown agent "nobody"'),
        (("runs/none",), 'there is no run "runs/none"'), (("scripted",), "tictactoe has no scripted player"),
        (("self", "random", "perfect", "past", "mcts"), "4 rows are too few for 5 opponents; increase --num-envs"),
    ],
)  # fmt: skip
def test_invalid_opponents_raise_an_error(words, message):
    with pytest.raises(LudusError) as refused:
        random_actor("tictactoe", 4, 0, words)
    assert message in str(refused.value)


def test_games_with_one_seat_have_no_opponents():
    random_actor("cartpole", 2, 0, ("self:3",))
    for words in (("random",), ("self", "random")):
        with pytest.raises(LudusError, match="cartpole has one seat and no opponents"):
            random_actor("cartpole", 2, 0, words)


@given(parts=st.lists(st.floats(0.01, 100.0), min_size=1, max_size=5), rows=st.integers(5, 200))
def test_rows_are_divided_in_proportion_to_the_shares(parts, rows):
    bounds = opponents._bounds(parts, rows)
    assert [low for low, _ in bounds] == [0, *(high for _, high in bounds[:-1])] and bounds[-1][1] == rows
    for (low, high), part in zip(bounds, parts, strict=True):
        assert high > low
        assert abs((high - low) - rows * part / sum(parts)) <= len(parts)


def test_snapshots_are_limited_to_the_newest():
    snapshots = {}
    for number in (0, 2, 4, 6):
        snapshots = with_snapshot(snapshots, {"weight": number}, number, most=2)
    assert [int(name) for name in snapshots] == [2, 4, 6]  # 2 is for a worker that still plays as of update 5
    chosen = {number: {choose(snapshots, number, 2, bits)["weight"] for bits in range(10)} for number in (5, 6)}
    assert chosen == {5: {2, 4}, 6: {4, 6}}


def test_before_the_first_snapshot_that_is_old_enough_the_oldest_is_chosen():
    assert choose({"000000004": "four", "000000006": "six"}, 3, 2, 1) == "four"
