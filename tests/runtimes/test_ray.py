"""The Ray runtime: whatever dies, the run goes on, and nothing is left when it ends."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest
from small_runs import (
    BEST_START,
    LAKE,
    LAKE_SETTINGS,
    alive,
    empty_table,
    learn,
    learned_table,
    same,
    small_job,
    wait_until,
)  # fmt: skip

import ludus
from ludus.agents import checkpoint
from ludus.runtimes import Job, open_source
from ludus.runtimes.transport import ray_cluster, ray_worker
from ludus.runtimes.transport.ray_cluster import RaySettings, connected
from ludus.types import LudusError

TRAIN = (sys.executable, "-m", "ludus.cli", "train", "tictactoe", "--runtime", "ray")
NODES = """
import contextlib, os, signal, sys
sys.path.insert(0, sys.argv[1])
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray
from ray.cluster_utils import Cluster
from small_runs import LAKE, LAKE_SETTINGS, empty_table, learn
from ludus.runtimes import Job, open_source
from ludus.runtimes.transport import ray_worker
from ludus.runtimes.transport.ray_cluster import RaySettings

ray_worker.REPLACE_SECONDS = 2.0
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
other = cluster.add_node(num_cpus=1)
job = Job(LAKE, 8, 3, 100, 2, LAKE_SETTINGS)
try:
    with contextlib.closing(open_source("ray", job, RaySettings(address=cluster.address))) as source:
        table, progress = learn(source, job.algorithm, empty_table(job), 3)
        cluster.remove_node(other, allow_graceful=False)
        table, alone = learn(source, job.algorithm, table, 10)
        print("lost", alone[-1].metrics["lost_units"], "restarts", alone[-1].metrics["restarts"])
        cluster.add_node(num_cpus=1)
        for _ in range(200):
            before = sum(lane.lost for lane in source.workers)
            table, joined = learn(source, job.algorithm, table, 5)
            if joined[-1].metrics["lost_units"] == before:
                break
        print("joined", joined[-1].metrics["lost_units"] == before, float(table.rows["values"][0].max()))
finally:
    ray.shutdown()
    cluster.shutdown()
"""
ENDLESS = """
import time
from dataclasses import replace
from ludus.algorithms.tabular import Tabular
from ludus.runtimes import Job, open_source
job = Job("tictactoe", 8, 1, 10, 2, Tabular())
source = open_source("ray", replace(job, steps=2**50))
source.publish(job.worker(0).new_table(), 0)
source._begin()
for lane in source.workers:
    assert lane.remote._opens(100.0)
print(*(lane.remote.process for lane in source.workers), flush=True)
time.sleep(10_000)
"""


@pytest.fixture(autouse=True)
def cluster(ray_cluster):
    return ray_cluster


@pytest.mark.parametrize(
    ("game", "settings"), [("tictactoe", {}), ("connect4", {"rows": 64, "steps": 60}), (LAKE, {"method": "sarsa"})]
)
def test_learns_the_same_table_as_processes(game, settings):
    job = small_job(game, **settings)
    assert same(learned_table("ray", job, 4), learned_table("processes", job, 4))


@pytest.mark.parametrize("how", ["SIGKILL", "ray.kill"])
def test_a_killed_worker_is_replaced(cluster, capsys, how):
    job = Job(LAKE, 8, 3, 100, 2, LAKE_SETTINGS)
    with contextlib.closing(open_source("ray", job)) as source:
        half, _ = learn(source, job.algorithm, empty_table(job), 2)
        victim = source.workers[1].remote
        os.kill(victim.process, signal.SIGKILL) if how == "SIGKILL" else cluster.kill(victim.actor)
        table, progress = learn(source, job.algorithm, half, 20)
        times = [int(parts["time"][0]) for parts in source.state().values()]
        names = {actor["name"] for actor in cluster.util.list_named_actors(all_namespaces=True)}
    assert "ludus: worker 1 died" in capsys.readouterr().err
    assert table.rows["values"][0].max() == pytest.approx(BEST_START, abs=1e-6)
    assert times == [2200, 2200], "schedules must continue where they were"
    assert progress[-1].metrics["restarts"] == progress[-1].metrics["lost_units"] == 1.0
    assert names >= {"ludus-gymnasium-FrozenLake-v1-is-slippery-false-worker-1-restart-1"}


def test_nothing_is_left_in_the_cluster(cluster):
    job = small_job("connect4")
    with contextlib.closing(open_source("ray", job)) as source:
        learn(source, job.algorithm, empty_table(job), 3)
        processes = [lane.remote.process for lane in source.workers]
        free = cluster.available_resources()["CPU"]
    assert wait_until(lambda: not any(map(alive, processes)))
    assert wait_until(lambda: cluster.available_resources()["CPU"] == free + 2)
    assert wait_until(lambda: not objects(cluster)), "no reference may be left in this process"


def objects(ray):
    """The objects of the store that this process refers to."""
    return ray._private.worker.global_worker.core_worker.get_all_reference_counts()


def test_more_workers_than_cpus_are_refused():
    job = small_job("tictactoe", workers=99)
    with pytest.raises(LudusError, match=r"99 workers need 99 CPUs, but the Ray cluster has 4; use fewer --workers"):
        open_source("ray", job)


def test_workers_that_find_no_room_end_the_run(monkeypatch):
    job = small_job("tictactoe")
    with contextlib.closing(open_source("ray", job, RaySettings(cpus_per_worker=1.5))) as full:
        learn(full, job.algorithm, empty_table(job), 1)
        monkeypatch.setattr(ray_worker, "START_SECONDS", 1.0)
        with (
            contextlib.closing(open_source("ray", job)) as source,
            pytest.raises(LudusError, match=r"only . have been"),
        ):
            learn(source, job.algorithm, empty_table(job), 2)


def test_a_cluster_that_cannot_be_reached_is_reported_at_once(monkeypatch):
    monkeypatch.setattr(ray_cluster, "CONNECT_SECONDS", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        for listens in (False, True):
            if listens:
                silent.listen()
            with pytest.raises(LudusError, match="cannot be reached"):
                ray_cluster._reachable(f"127.0.0.1:{silent.getsockname()[1]}")
    with pytest.raises(LudusError, match="expected auto, host:port or ray://host:port"):
        ray_cluster._reachable("http://localhost:8265")


def test_memory_of_a_running_cluster_cannot_be_set():
    with pytest.raises(LudusError, match="give it to ray start there"):
        RaySettings(address="auto", object_store_memory=2_000_000_000)


def test_another_version_on_the_cluster_is_one_sentence():
    error = RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.0\n    Python: 3.9.1\nThis ...")
    assert "has other versions: The cluster was started with: Ray: 2.0" in str(ray_cluster._unconnected("a:1", error))


def test_without_ray_the_error_says_what_to_install():
    script = "import sys; sys.modules['ray'] = None; from ludus.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "train", "tictactoe", "--runtime", "ray"], capture_output=True, text=True
    )
    assert done.returncode and "pip install 'ludus[ray]'" in done.stderr and "Traceback" not in done.stderr


def test_a_connection_of_the_user_stays_open(cluster):
    with connected(RaySettings(), "other") as ray:
        assert ray is cluster
    assert cluster.is_initialized()


def test_a_run_from_the_command_line(tmp_path):
    """It starts Ray, stops it, and prints only JSON; it can be resumed with more workers."""
    small = ("--steps", "4000", "--chunk", "1000", "--evaluations", "1", "--eval-games", "10", "--json")
    done = subprocess.run([*TRAIN, "--workers", "2", *small], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["finished"] and report["metrics"]["restarts"] == report["metrics"]["lost_units"] == 0.0
    words = ("--steps", "9000", "--workers", "3", "--cpus-per-worker", "0.5", "--json")
    done = subprocess.run([*TRAIN[:4], "--resume", report["run"], *words], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] >= 9000
    assert "workers = 3" in (tmp_path / report["run"] / "run.toml").read_text()


def trained(out, steps, **settings):
    small = {"num_envs": 8, "rollout_length": 8, "num_minibatches": 2, "mlp": {"width": 8, "depth": 1}}
    small |= {"evaluations": 0, "checkpoint_seconds": 0, "workers": 2, "cpus_per_worker": 0.5}
    return ludus.training("connect4", "ppo", steps=steps, out=out, runtime="ray", **small, **settings)


def test_two_learners_learn_what_one_learns_on_two_devices(tmp_path):
    """They share the workers; the parameters after some updates are the same, bit for bit."""
    together, alone = (
        list(trained(tmp_path, 300, **settings))[-1] for settings in ({"learners": 2, "devices": 1}, {"devices": 2})
    )
    assert together.finished and together.steps == alone.steps
    one, other = (checkpoint.load(report.saved).arrays["params"] for report in (together, alone))
    assert one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_learners_continue_from_the_newest_checkpoint_when_one_dies(tmp_path, capsys):
    killed, reports = None, []
    for report in trained(tmp_path, 1200, learners=2, devices=1):
        reports.append(report.steps)
        if killed is None and report.saved is not None:
            learners = [pid for pid in descendants(os.getpid()) if b"LearnerActor.take_part" in command(pid)]
            killed = max(learners)
            os.kill(killed, signal.SIGKILL)
    assert "a learner died" in capsys.readouterr().err
    assert report.finished and reports[0] < reports[-1]


def test_only_networks_have_several_learners():
    with pytest.raises(LudusError, match="q_learning has one learner, not 2"):
        ludus.train("tictactoe", "q_learning", runtime="ray", learners=2, progress=False)


def test_workers_and_ray_exit_when_the_learner_is_killed():
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout
            workers = [int(word) for word in parent.stdout.readline().split()]
            started = descendants(parent.pid)
        finally:
            parent.kill()
    assert len(workers) == 2 and len(started) > 2
    assert wait_until(lambda: not any(map(alive, {*workers, *started})))


def descendants(process):
    """The ids of all processes below one, without Ray's agents, which look for the node for another minute."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(pid): int(parent) for pid, parent in map(str.split, found.splitlines())}
    below, level = set(), {process}
    while level := {pid for pid, parent in parents.items() if parent in level}:
        below |= level
    return {pid for pid in below if b"Agent" not in command(pid)}


def command(process):
    with contextlib.suppress(OSError):  # it has ended meanwhile
        return pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def test_a_run_survives_the_loss_of_a_node_and_uses_one_that_joins():
    script = subprocess.run(
        [sys.executable, "-c", NODES, os.path.dirname(__file__)], capture_output=True, text=True, timeout=300
    )
    assert script.returncode == 0, script.stderr
    (_, lost, _, restarts), (_, joined, best) = [line.split() for line in script.stdout.splitlines()]
    assert float(lost) >= 1 and float(restarts) >= 1
    assert joined == "True" and float(best) == pytest.approx(BEST_START, abs=1e-6)
