"""The ranks of MPI: `ranks.py` plays the scenes, under mpiexec."""

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
from ludus.runtimes.transport import mail as mpi_mail
from ludus.runtimes.transport.mail import Alarm, envelope, opened
from ludus.types import LudusError

pytest.importorskip("mpi4py", reason="needs mpi4py: pip install 'ludus[mpi]'")
SCENES = pathlib.Path(__file__).with_name("ranks.py")
MPIEXEC = shutil.which("mpiexec", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("mpiexec")
RANKS = 3
SURVIVING = ["--with-ft", "ulfm"], ["--enable-recovery"]
"""ways to start ranks that outlive each other"""


def play(out, scene, runtime, *more, options=()):
    """Play a scene to its end; nobody of it is left."""
    assert MPIEXEC, "mpi4py is here and mpiexec is not: pip install 'ludus[mpi]'"
    command = [MPIEXEC, "--allow-run-as-root", "--oversubscribe", *options, "-n", str(RANKS), sys.executable, SCENES]
    done = subprocess.run([*command, scene, runtime, out, *more], capture_output=True, text=True, timeout=100)
    ranks = [int(pathlib.Path(f"{out}.{rank}").read_text()) for rank in range(RANKS)]
    assert wait_until(lambda: not any(map(alive, ranks)), 10), done.stderr
    return done


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """What the ranks left when everything went well."""
    out = tmp_path_factory.mktemp("mpi") / "all"
    done = play(out, "everything", "")
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("runtime", ["mpi", "mpi_server"])
def test_learns_the_lake_exactly(runtime, left):
    with np.load(f"{left}-lake-{runtime}.npz") as state:
        start = state["values"][state["known"] == 0]
        assert start.max() == pytest.approx(BEST_START, abs=1e-6)
        assert state["ages"].max() > 0 if runtime == "mpi_server" else not state["ages"].any()


@pytest.mark.parametrize("game", ["tictactoe", "connect4"])
def test_ends_in_the_table_of_threads_also_when_resumed(game, left):
    expected = learned_table("threads", small_job(game, RANKS), 4).state()
    with np.load(f"{left}-{game}.npz") as state:
        assert set(state) == set(expected)
        assert all(np.array_equal(state[name], expected[name]) for name in expected)


def test_the_server_counts_every_visit_and_every_step(left):
    job = small_job("connect4")
    times = [int(word) for word in pathlib.Path(f"{left}-times").read_text().split()]
    assert sum(times) == 1000 + 2000 + 12 * job.steps
    with np.load(f"{left}-served.npz") as state:
        assert len(set(state["known"].tolist())) == len(state["known"]) > 100
        assert state["visits"].sum() == len(state["known"]) + state["updates"]
        assert np.abs(state["values"][state["values"] > -1e29]).max() > 0


@pytest.mark.parametrize("runtime", ["mpi", "mpi_server"])
def test_a_sentence_of_another_rank_arrives(runtime, left):
    assert 'unknown game "chss"' in pathlib.Path(f"{left}-sentence-{runtime}").read_text()


@pytest.mark.parametrize(("runtime", "options"), [("mpi_server", SURVIVING[0]), ("mpi", SURVIVING[1])])
def test_a_dead_rank_is_a_sentence(runtime, options, tmp_path):
    out = tmp_path / "sentence"
    play(out, "death", runtime, "2", options=options)
    assert "rank 2 has" in out.read_text()


def test_after_a_sigterm_nobody_is_waited_for(monkeypatch):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    monkeypatch.setattr(mpi_mail, "GRACE_SECONDS", 1e9)
    alarm = Alarm()
    try:
        alarm.check()
        os.kill(os.getpid(), signal.SIGTERM)
        alarm.check()  # those who are about to answer still may
        monkeypatch.setattr(mpi_mail, "GRACE_SECONDS", -1.0)
        with pytest.raises(LudusError, match="SIGTERM"):
            alarm.check()
    finally:
        alarm.close()
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM], "whoever else handles it hears it, too"


@pytest.mark.parametrize("options", SURVIVING)
def test_without_rank_0_the_others_end(options, tmp_path):
    out = tmp_path / "sentence"
    done = play(out, "death", "mpi", "0", options=options)
    assert not out.exists()
    assert re.search("rank [12] ends: rank 0 has", done.stderr)


def test_a_crash_of_rank_0_ends_everybody(tmp_path):
    done = play(tmp_path / "nothing", "crash", "mpi")
    assert "ZeroDivisionError" in done.stderr
    assert done.returncode != 0


def test_ranks_without_work_end_with_rank_0(tmp_path):
    assert play(tmp_path / "nothing", "early", "mpi").returncode == 0


def test_what_cannot_be_served_is_refused():
    for settings in (Tabular(method="sarsa"), Tabular(policy="ucb"), Tabular(form="numpy")):
        with pytest.raises(LudusError, match="use --runtime mpi"):
            check_servable(settings, 2)
    with pytest.raises(LudusError, match="mpiexec -n 2"):
        check_servable(Tabular(), 0)


def test_envelopes_keep_what_is_put_into_them():
    arrays = {"a": np.arange(7, dtype=np.uint8), "b": np.eye(3), "none": np.zeros((0, 4), np.int16)}
    words, found = opened(envelope({"ask": "…", "number": 3}, arrays))
    assert words == {"ask": "…", "number": 3}
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    assert len(envelope({}, arrays)) % 64 == 0
