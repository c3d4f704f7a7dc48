"""`benchmarks/scale_model.py` simulates the Ray runtime, and docs/scale.md shows the committed predictions."""

import dataclasses
import importlib
import math
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def load(name):
    """A module of the folder benchmarks."""
    sys.path.append(str(ROOT / "benchmarks"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


model, page = load("scale_model"), load("scale_page")
Work = model.Work
NODES = (1, 2, 3, 8, 40)
CLUSTER = model.Hardware(1, workers_per_node=2, cores=4, node_bandwidth=1e9, learner_bandwidth=1e9, latency=1e-4)


def costs(play=0.1, update=0.02, **others):
    """Round numbers: 1000 decisions of 1 MB in a rollout."""
    nothing = Work(0.0, 1.0)
    parts = dict.fromkeys(("publish", "order", "carry", "carry_remote", "fetch", "fetch_remote"), nothing)
    whole = {
        "decisions": 1000.0, "rollout_bytes": 1e6, "params_bytes": 1e5, "gradients": 8, "contention": 1.0,
        "beside": 1.0, "left": 1.0, "play": (Work(play, 1.0),), "updates": (model.Update(1, Work(update, 1.0)),),
    }  # fmt: skip
    return model.Costs(**(whole | parts | others))


@pytest.mark.parametrize(("play", "update"), [(0.1, 0.02), (0.02, 0.1), (0.05, 0.05)])
def test_one_node_with_one_worker_is_as_fast_as_the_slower_of_worker_and_learner(play, update):
    found = model.predict(costs(play, update), model.Hardware(1), rounds=40)
    assert found.rate == pytest.approx(1000.0 / max(play, update))


def test_two_orders_are_in_progress_so_half_of_a_long_way_is_hidden():
    found = model.predict(costs(0.01, 0.01, rollout_bytes=0.0, params_bytes=0.0), model.Hardware(1, latency=0.1))
    # An order travels once; the learner's request for the rollout and the rollout itself travel while it waits.
    assert found.rate == pytest.approx(1000.0 / max((0.1 + 0.01 + 0.2 + 0.01) / 2, 0.2 + 0.01))


@pytest.mark.parametrize(("left", "beside", "seconds"), [(0.0, 1.0, 0.12), (0.5, 1.0, 0.11), (0.5, 1.5, 0.115)])
def test_a_worker_on_the_machine_of_the_learner_gets_what_updates_leave(left, beside, seconds):
    found = model.predict(costs(0.1, 0.02, left=left, beside=beside), model.Hardware(1, cores=1, shared=True), 40)
    assert found.rate == pytest.approx(1000.0 / seconds, rel=0.01)


def test_more_nodes_are_never_slower_while_actors_are_the_bound():
    found = [model.predict(costs(update=0.001), dataclasses.replace(CLUSTER, nodes=nodes)) for nodes in NODES[:4]]
    assert [one.bound for one in found] == ["actors"] * 4
    rates = [one.rate for one in found]
    assert rates == sorted(rates) and rates[3] == pytest.approx(8 * rates[0], rel=0.01)


def test_the_rate_is_never_above_the_limit_of_the_learner():
    for speedup in (1.0, 10.0):
        limit = 1000.0 / (0.02 / speedup + 1e6 / CLUSTER.learner_bandwidth)
        for nodes in NODES:
            hardware = dataclasses.replace(CLUSTER, nodes=nodes, learner_speedup=speedup)
            assert model.predict(costs(), hardware).rate <= limit * (1 + 1e-9)


def test_many_nodes_reach_the_limit_of_the_learner_or_of_its_link():
    many = dataclasses.replace(CLUSTER, nodes=40)
    assert model.predict(costs(), many).bound == "learner"
    slow = dataclasses.replace(many, learner_bandwidth=1e7)
    found = model.predict(costs(), slow)
    assert found.bound == "network" and found.rate == pytest.approx(1000.0 / (0.02 + 0.1), rel=0.01)


def test_age_is_one_version_with_any_number_of_nodes_and_at_most_two_rounds():
    for nodes in NODES:
        found = model.predict(costs(), dataclasses.replace(CLUSTER, nodes=nodes))
        seconds = 1000.0 * nodes * CLUSTER.workers_per_node / found.rate
        assert found.age == 1 and found.age_seconds <= 2 * seconds


@pytest.mark.parametrize("nodes", NODES)
def test_every_rollout_is_used_once_except_those_in_progress(nodes):
    varied, hardware = costs(), dataclasses.replace(CLUSTER, nodes=nodes)
    varied = dataclasses.replace(varied, play=(Work(0.05, 1.0), Work(0.2, 1.0)))
    found, workers = model.predict(varied, hardware, rounds=20), nodes * CLUSTER.workers_per_node
    assert found.used == 20 * workers
    assert 0 <= found.made - found.used <= workers


def test_cores_are_shared_by_workers_and_their_work_is_conserved():
    engine = model.Engine()
    host = model.Host(engine, 2, costs(contention=1.25))
    ends = [host.run(Work(seconds, threads), worker=True) for seconds, threads in ((1.0, 1.0), (2.0, 1.0), (3.0, 2.0))]
    moments = []
    for end in ends:
        engine.run(end)
        moments.append(engine.now)
    assert moments == pytest.approx([1.0 * 2.0 * 1.25, (1.0 * 2.0 + 1.0 * 1.5) * 1.25, (2.0 + 1.5 + 1.0) * 1.25])


def test_several_learners_learn_more_and_wait_for_each_other():
    hardware = dataclasses.replace(CLUSTER, nodes=8)
    one, four = (model.predict(costs(), dataclasses.replace(hardware, learners=number)) for number in (1, 4))
    assert one.bound == "learner" and one.rate < four.rate <= 4 * one.rate
    far = dataclasses.replace(hardware, learners=4, latency=0.1)
    assert model.predict(costs(), far).bound == "network"


def test_updates_are_interpolated_between_measurements_and_continued_beyond():
    updates = tuple(model.Update(number, Work(seconds, 2.0)) for number, seconds in ((1, 0.1), (2, 0.3), (4, 0.9)))
    found = costs(updates=updates)
    assert [found.update(number).seconds for number in (1, 2, 3, 4, 6)] == pytest.approx([0.1, 0.3, 0.6, 0.9, 1.5])


def test_the_same_seed_gives_the_same_prediction():
    varied = dataclasses.replace(costs(), play=(Work(0.05, 1.0), Work(0.2, 1.0)))
    first, again = (model.predict(varied, dataclasses.replace(CLUSTER, nodes=4)) for _ in range(2))
    assert first == again and math.isfinite(first.rate)


def test_the_page_shows_the_committed_results():
    text = (ROOT / "docs" / "scale.md").read_text()
    assert page.replaced(text, page.stored()) == text
    assert all(page.BEGIN.format(name) in text for name in page.tables(page.stored()))


def test_committed_predictions_are_within_a_fifth_of_the_measured_rates():
    errors = [row["value"] for row in page.stored()["results"] if row["name"].endswith("/predicted_over_measured")]
    assert len(errors) == 9 and all(0.8 <= error <= 1.2 for error in errors)
