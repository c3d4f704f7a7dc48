"""Ctrl-C, kills and full disks: whatever moment they hit, the run goes on and ends as if nothing had been."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from ludus.agents import checkpoint
from ludus.training import config
from ludus.types import LudusError

LUDUS = [sys.executable, "-m", "ludus.cli"]
TRAIN = ["train", "tictactoe", "--num-envs", "16", "--chunk", "4000", "--eval-games", "20", "--evaluations", "5"]
ENDLESS = [*TRAIN, "--steps", "1000000000"]


def begin(*arguments, **options):
    """A command in a process of its own."""
    return subprocess.Popen([*LUDUS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def await_lines(folder, count):
    """Until the run has written so many lines of metrics; a run that never does is an error, not a wait without end."""
    for _ in range(6000):
        path = folder / "metrics.jsonl"
        if path.is_file() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{folder} wrote nothing")


@pytest.mark.parametrize(("number", "runtime"), [(signal.SIGINT, "local"), (signal.SIGTERM, "threads")])
def test_asked_to_stop_it_saves_and_says_how_to_go_on(tmp_path, number, runtime):
    child = begin(*ENDLESS, "--runtime", runtime, cwd=tmp_path)
    folder = tmp_path / "runs" / "tictactoe-0001"
    await_lines(folder, 2)
    child.send_signal(number)
    out, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors
    assert "continue with: ludus train --resume runs/tictactoe-0001" in out
    assert "stopping after this chunk and saving" in errors and "Traceback" not in errors
    newest = checkpoint.newest(folder / "checkpoints")
    assert (
        checkpoint.load(newest).manifest.steps
        == json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])["step"]
    )
    assert not (folder / ".score.png.part").exists() and (folder / "score.png").is_file()


def test_asked_twice_it_stops_at_once(tmp_path):
    """Here in one very long chunk: the second Ctrl-C does not wait for its end."""
    slow = ["--form", "list", "--chunk", "100000000", "--num-envs", "16", "--steps", "1000000000"]
    child = begin("train", "tictactoe", *slow, cwd=tmp_path)
    for _ in range(6000):
        if (tmp_path / "runs" / "tictactoe-0001" / "metrics.jsonl").exists():
            break
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    while "press Ctrl-C again" not in child.stderr.readline():
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130


def test_killed_at_random_moments_it_ends_as_if_nothing_had_been(tmp_path, trainer, same_arrays, told):
    settings = {"steps": 400_000, "chunk": 2_000, "checkpoint_seconds": 0.0, "runtime": "threads", "workers": 2}
    whole = trainer.whole(**settings)
    folder, _ = trainer.make(**settings)
    generator = random.Random(4)
    for _ in range(4):
        lines = (folder / "metrics.jsonl").read_bytes().count(b"\n") if (folder / "metrics.jsonl").exists() else 0
        child = begin("train", "--resume", str(folder))
        await_lines(folder, min(lines + 2, 60))
        time.sleep(generator.uniform(0.0, 0.2))
        child.kill()
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        for path in checkpoint.list_checkpoints(folder / "checkpoints"):
            checkpoint.load(path)
    trainer.go(folder, config.read(folder / "run.toml"), resume=True)
    same_arrays(whole, folder)
    assert told(whole) == told(folder)
    assert not list((folder / "checkpoints").glob(".*"))


def test_killed_before_it_began_nothing_is_listed(tmp_path, trainer):
    """A folder was made, and nothing written yet."""
    from ludus.training.folder import list_runs, new_folder

    new_folder(trainer.out, "tictactoe")
    assert list_runs(trainer.out) == []
    folder, _ = trainer.make()
    assert folder.name == "tictactoe-0002"
    assert [summary.name for summary in list_runs(trainer.out)] == ["tictactoe-0002"]


SMALL_FILES = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
from ludus.cli import main
main()
"""


@pytest.mark.parametrize("limit", [100, 20_000], ids=["metrics", "checkpoint"])
def test_a_file_that_may_not_grow_is_a_sentence(tmp_path, trainer, same_arrays, limit):
    """The checkpoint that there was stays, and once there is room the run goes on to the same end."""
    whole = trainer.whole()
    folder, run = trainer.make()
    trainer.go(folder, run, chunks=2)
    before = checkpoint.newest(folder / "checkpoints")
    command = [sys.executable, "-c", SMALL_FILES, str(limit), "train", "--resume", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ludus: cannot ") and "File too large" in last and "make room" in last
    assert "Traceback" not in done.stderr
    assert checkpoint.newest(folder / "checkpoints") == before
    checkpoint.load(before)
    trainer.go(folder, run, resume=True)
    same_arrays(whole, folder)


def test_a_save_that_failed_is_not_tried_again_by_half(trainer, monkeypatch):
    """Without the state of its workers a checkpoint is smaller and might fit, but the run would not go on exactly."""
    folder, run = trainer.make(checkpoint_seconds=0.0)
    refused = []

    def fail_once(*arguments):
        if not refused:
            refused.append(arguments)
            raise LudusError("no room")
        return checkpoint.save(*arguments)

    monkeypatch.setattr("ludus.training.resume.checkpoint", SimpleNamespace(**vars(checkpoint) | {"save": fail_once}))
    with pytest.raises(LudusError, match="no room"):
        trainer.go(folder, run)
    assert refused and checkpoint.newest(folder / "checkpoints") is None


@pytest.mark.parametrize("size", ["16k", "900k"])
def test_a_full_disk_is_a_sentence(tmp_path, size):
    """From the first byte on, or after some checkpoints: all that are listed can be read."""
    mount = f'mount -t tmpfs -o size={size} none "$0" && cd "$0" && "$@"; code=$?; cp -r "$0" "$0.after"; exit $code'
    # The mount lives in a namespace of its own and goes when the process goes.
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(tmp_path / "disk")]
    (tmp_path / "disk").mkdir()
    if not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("this system does not let us mount a small disk")
    shutil.rmtree(tmp_path / "disk.after")
    command = [*inside, *LUDUS, *ENDLESS, "--checkpoint-seconds", "0", "--keep-checkpoints", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stdout + done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ludus: cannot ") and "No space left on device" in last and "make room" in last
    assert "Traceback" not in done.stderr
    folder = tmp_path / "disk.after" / "runs" / "tictactoe-0001"
    for path in checkpoint.list_checkpoints(folder / "checkpoints"):
        checkpoint.load(path)
    if size != "16k":
        assert checkpoint.newest(folder / "checkpoints") is not None
        mended = config.read(folder / "run.toml")
        assert mended.steps == 1_000_000_000


def test_output_that_nobody_reads_does_no_harm(tmp_path, finished):
    """`ludus runs | head -0`, and a terminal that is closed."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*LUDUS, "runs", "--out", str(finished.parent)], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert "Traceback" not in done.stderr
