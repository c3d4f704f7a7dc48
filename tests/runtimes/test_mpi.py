"""The runtimes mpi and mpi_server with tables: mpiexec runs the scenes of `ranks.py`."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from small_runs import BEST_START, alive, learned_table, small_job, wait_until

from ludus.algorithms.tabular import Tabular
from ludus.runtimes.mpi_server import check_servable
from ludus.runtimes.transport import messages
from ludus.runtimes.transport.messages import SigtermWatch, pack, unpack
from ludus.types import LudusError

pytest.importorskip("mpi4py", reason="needs mpi4py: pip install 'ludus[mpi]'")
SCENES = pathlib.Path(__file__).with_name("ranks.py")
MPIEXEC = shutil.which("mpiexec", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("mpiexec")
RANKS = 3
SURVIVING = ["--with-ft", "ulfm"], ["--enable-recovery"]
"""options of mpiexec with which ranks survive the death of another rank"""


def play(out, scene, runtime, *more, options=()):
    """Run a scene to its end, and check that all ranks have exited."""
    assert MPIEXEC, "mpi4py is installed without mpiexec: pip install 'ludus[mpi]'"
    command = [MPIEXEC, "--allow-run-as-root", "--oversubscribe", *options, "-n", str(RANKS), sys.executable, SCENES]
    done = subprocess.run([*command, scene, runtime, out, *more], capture_output=True, text=True, timeout=100)
    ranks = [int(pathlib.Path(f"{out}.{rank}").read_text()) for rank in range(RANKS)]
    assert wait_until(lambda: not any(map(alive, ranks)), 10), done.stderr
    return done


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The prefix of the files that the scene `everything` saved."""
    out = tmp_path_factory.mktemp("mpi") / "all"
    done = play(out, "everything", "")
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("runtime", ["mpi", "mpi_server"])
def test_learns_the_lake_exactly(runtime, results):
    with np.load(f"{results}-lake-{runtime}.npz") as state:
        start = state["values"][state["known"] == 0]
        assert start.max() == pytest.approx(BEST_START, abs=1e-6)
        assert state["ages"].max() > 0 if runtime == "mpi_server" else not state["ages"].any()


@pytest.mark.parametrize("game", ["tictactoe", "connect4"])
def test_learns_the_same_table_as_threads_also_when_resumed(game, results):
    expected = learned_table("threads", small_job(game, RANKS), 4).state()
    with np.load(f"{results}-{game}.npz") as state:
        assert set(state) == set(expected)
        assert all(np.array_equal(state[name], expected[name]) for name in expected)


def test_the_server_counts_every_visit_and_every_step(results):
    job = small_job("connect4")
    times = [int(word) for word in pathlib.Path(f"{results}-times").read_text().split()]
    assert sum(times) == 1000 + 2000 + 12 * job.steps
    with np.load(f"{results}-served.npz") as state:
        assert len(set(state["known"].tolist())) == len(state["known"]) > 100
        assert state["visits"].sum() == len(state["known"]) + state["updates"]
        assert np.abs(state["values"][state["values"] > -1e29]).max() > 0


@pytest.mark.parametrize("runtime", ["mpi", "mpi_server"])
def test_an_error_on_another_rank_reaches_rank_0(runtime, results):
    assert 'unknown game "chss"' in pathlib.Path(f"{results}-error-{runtime}").read_text()


@pytest.mark.parametrize(("runtime", "options"), [("mpi_server", SURVIVING[0]), ("mpi", SURVIVING[1])])
def test_a_dead_rank_raises_an_error(runtime, options, tmp_path):
    out = tmp_path / "message"
    play(out, "death", runtime, "2", options=options)
    assert "rank 2 has" in out.read_text()


def test_waiting_ends_after_a_sigterm(monkeypatch):
    received = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    monkeypatch.setattr(messages, "GRACE_SECONDS", 1e9)
    watch = SigtermWatch()
    try:
        watch.check()
        os.kill(os.getpid(), signal.SIGTERM)
        watch.check()  # within the grace period
        monkeypatch.setattr(messages, "GRACE_SECONDS", -1.0)
        with pytest.raises(LudusError, match="SIGTERM"):
            watch.check()
    finally:
        watch.close()
        signal.signal(signal.SIGTERM, before)
    assert received == [signal.SIGTERM], "the handler of the signal must still be called"


@pytest.mark.parametrize("options", SURVIVING)
def test_other_ranks_end_when_rank_0_dies(options, tmp_path):
    out = tmp_path / "message"
    done = play(out, "death", "mpi", "0", options=options)
    assert not out.exists()
    assert re.search("rank [12] ends: rank 0 has", done.stderr)


def test_a_crash_of_rank_0_ends_all_ranks(tmp_path):
    done = play(tmp_path / "nothing", "crash", "mpi")
    assert "ZeroDivisionError" in done.stderr
    assert done.returncode != 0


def test_ranks_without_work_end_with_rank_0(tmp_path):
    assert play(tmp_path / "nothing", "early", "mpi").returncode == 0


def test_mpi_server_rejects_other_algorithms():
    for settings in (Tabular(method="sarsa"), Tabular(policy="ucb"), Tabular(form="numpy")):
        with pytest.raises(LudusError, match="use --runtime mpi"):
            check_servable(settings, 2)
    with pytest.raises(LudusError, match="mpiexec -n 2"):
        check_servable(Tabular(), 0)


def test_packed_messages_can_be_unpacked():
    arrays = {"a": np.arange(7, dtype=np.uint8), "b": np.eye(3), "none": np.zeros((0, 4), np.int16)}
    header, found = unpack(pack({"type": "…", "number": 3}, arrays))
    assert header == {"type": "…", "number": 3}
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    assert len(pack({}, arrays)) % 64 == 0
