"""MPI ranks that train one network together, and actors on separate devices; see `distributed_scenes.py`."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from small_runs import wait_until

from ludus.agents import checkpoint
from ludus.agents.neural import devices
from ludus.algorithms.ppo import PPO
from ludus.types import LudusError

pytest.importorskip("jax", reason="needs JAX: pip install 'ludus[deep]'")
pytest.importorskip("mpi4py", reason="needs mpi4py: pip install 'ludus[mpi]'")
SCENES = pathlib.Path(__file__).with_name("distributed_scenes.py")
MPIEXEC = shutil.which("mpiexec", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("mpiexec")


def begin(*command, ranks=0):
    launcher = [MPIEXEC, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)] if ranks else []
    words = [*launcher, sys.executable, *map(str, command)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    """Its standard output, its standard error and its exit code, after it has exited."""
    try:
        return (*process.communicate(timeout=300), process.returncode)
    finally:
        process.kill()


def play(scene, out, cores=1, ranks=2):
    """Run a scene to its end."""
    return ended(begin(SCENES, scene, out, cores, ranks=ranks))


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The results of three updates: in each of two processes, and in one process with all rows."""
    out = tmp_path_factory.mktemp("distributed")
    for scene, cores, ranks in (("together", 1, 2), ("alone", 2, 0)):
        _, errors, code = play(scene, out / scene, cores, ranks)
        assert code == 0, errors
    return [dict(np.load(out / name)) for name in ("together.0.npz", "together.1.npz", "alone.0.npz")]


def test_all_processes_learn_identical_parameters(learned):
    first, second, _ = learned
    names = [name for name in first if name.startswith("params/")]
    assert names
    assert all(np.array_equal(first[name], second[name]) for name in names)


def test_two_processes_learn_the_same_as_one(learned):
    first, _, alone = learned
    names = [name for name in alone if name.startswith("params/")]
    assert all(np.allclose(first[name], alone[name], rtol=0, atol=1e-5) for name in names)


def test_processes_play_different_games(learned):
    first, second, alone = learned
    assert not np.array_equal(first["rows"], second["rows"])
    assert np.allclose(np.hstack([first["rows"], second["rows"]]), alone["rows"], atol=1e-5)


def test_steps_and_games_of_all_processes_are_counted(learned):
    first, second, alone = learned
    assert np.array_equal(first["counts"], alone["counts"])
    assert np.array_equal(second["counts"], alone["counts"])


def test_every_process_has_the_states_of_all_workers(learned):
    first, second, alone = learned
    actors = {name for name in alone if name.startswith("worker_")}
    assert {name.split("/")[0] for name in actors} == {"worker_0", "worker_1"}
    assert {name for name in first if name.startswith("worker_")} == actors
    assert all(np.array_equal(first[name], second[name]) for name in actors)
    assert not np.array_equal(first["worker_0/states"], first["worker_1/states"])


def test_any_process_can_stop_a_run_which_resumes_exactly(tmp_path):
    _, errors, code = play("resuming", tmp_path)
    assert code == 0, errors
    whole, halves = (checkpoint.list_checkpoints(tmp_path / name / "checkpoints") for name in ("whole", "halves"))
    assert len(halves) == len(whole) + 1
    one, other = (checkpoint.load(found[-1]).arrays for found in (whole, halves))
    assert set(one) == set(other) > {"worker_0", "worker_1"}
    for group, arrays in one.items():
        assert all(np.array_equal(array, other[group][name]) for name, array in arrays.items()), group


@pytest.mark.parametrize("scene", ["death", "error"])
def test_a_checkpoint_is_saved_when_a_rank_fails(scene, tmp_path):
    _, errors, code = play(scene, tmp_path)
    assert code != 0
    lost = "rank 0 lost the connection to another rank" if scene == "death" else "ZeroDivisionError"
    assert f"ludus: {lost}" in errors, errors
    assert checkpoint.list_checkpoints(tmp_path / "lost" / "checkpoints")


def test_other_ranks_end_when_rank_0_fails(tmp_path):
    _, errors, code = play("keeper", tmp_path)
    assert code != 0
    assert "ludus: the disk is full; resume the run with the same number of ranks" in errors


def test_an_interrupt_of_one_rank_ends_the_run_on_all_ranks(tmp_path):
    words = f"-m ludus.cli train cartpole --algorithm ppo --out {tmp_path} --num-envs 8 --gradient-accumulation 1"
    words += f" --devices 1 --rollout-length 8 --steps {10**9} --evaluations 0 --eval-games 2 --json --runtime mpi"
    process = begin(*words.split(), ranks=2)
    metrics = tmp_path / "cartpole-0001" / "metrics.jsonl"

    def learned():
        return metrics.is_file() and metrics.read_text().count("\n") > 2

    try:
        assert wait_until(lambda: learned() or process.poll() is not None, 240)
        assert learned()
        os.kill(rank_of(tmp_path, 1), signal.SIGINT)
    finally:
        if not metrics.is_file():
            process.kill()
        out, errors, code = ended(process)
    assert code == 0, errors
    facts = json.loads(out)
    assert facts["steps"] > 0
    assert not facts["finished"]
    assert pathlib.Path(facts["checkpoint"]).is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["cartpole-0001"]


def rank_of(out, number):
    """The id of the process of a rank, found by its command line and environment."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it may have ended meanwhile
            words, environment = ((folder / name).read_bytes().split(b"\0") for name in ("cmdline", "environ"))
            if str(out).encode() in words and f"OMPI_COMM_WORLD_RANK={number}".encode() in environment:
                return int(folder.name)
    raise AssertionError(f"mpiexec has no rank {number}")


def test_actors_on_separate_devices_play_the_same(tmp_path):
    out = tmp_path / "actors"
    _, errors, code = play("actors", out, 4, ranks=0)
    assert code == 0, errors
    assert out.read_text() == "acting on [0, 1], learning on [2, 3]"
    assert np.load(f"{out}.npz")["same"].all()


def test_missing_devices_raise_an_error():
    there = len(devices.learners(0))
    with pytest.raises(LudusError, match=f"99 devices were requested, but this process has {there}"):
        devices.learners(99)
    with pytest.raises(LudusError, match=f"1 devices and {there} only for actors were requested"):
        devices.learners(0, there)
    with pytest.raises(LudusError, match="actor_devices must be 0 or more"):
        PPO(actor_devices=-1)


def test_one_process_gathers_its_own_arrays():
    array = np.arange(3)
    assert devices.gathered({"a": array})[0]["a"] is array
