"""What a trainer hears while it is at work, and what its folder tells of it."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from ludus.agents import checkpoint
from ludus.training import config, control, runs
from ludus.types import LudusError


def test_a_run_that_is_only_prepared_is_opened_by_who_resumes_it(trainer, same_arrays):
    whole, run = trainer.make()
    trainer.go(whole, run)
    wished = config.from_dict(
        config.to_dict(config.read(whole / "run.toml")) | {"workers": 0, "chunk": 2000}, "the test"
    )
    folder = runs.prepare(wished, trainer.out)
    assert control.state_of(folder) == ("new", None) and config.read(folder / "run.toml").workers == 0
    done = subprocess.run(
        [sys.executable, "-m", "ludus.cli", "train", "--resume", str(folder), "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert config.read(folder / "run.toml") == config.read(whole / "run.toml")
    same_arrays(folder, whole)
    assert control.state_of(folder).status == "finished"


def test_to_open_a_run_again_changes_nothing(trainer):
    for settings in ({}, {"chunk": 0, "steps": 5000}, {"runtime": "threads", "workers": 2}):
        _, run = trainer.make(**settings)
        with contextlib.closing(runs.open_run(run)) as opened:
            assert opened.run == run


def test_pausing_and_stepping_end_in_the_same_bits(trainer, same_arrays, told):
    whole = trainer.whole()
    folder, run = trainer.make()
    control.send(folder, "go")
    speaker = threading.Thread(target=_nag, args=(folder,))
    reports = runs.carry_out(folder, run)
    next(reports)
    control.send(folder, "pause")
    speaker.start()
    for report in reports:
        last = report
    speaker.join()
    assert last.finished
    same_arrays(folder, whole)
    assert told(folder) == told(whole)


def _nag(folder):
    """Steps, a save and then go, each once the run pauses."""
    for word in ("step", "save", "step", "go"):
        deadline = time.monotonic() + 60
        while not control.trainer_of(folder).get("paused") and time.monotonic() < deadline:
            time.sleep(0.01)
        control.send(folder, word)
        while control.trainer_of(folder).get("paused") and word != "save" and time.monotonic() < deadline:
            time.sleep(0.01)


def test_the_folder_tells_of_its_trainer(trainer):
    folder, run = trainer.make()
    assert control.state_of(folder).status == "new"
    reports = runs.carry_out(folder, run, resume=True)
    next(reports)
    assert control.state_of(folder).status == "training"
    facts = json.loads((folder / "trainer.json").read_text())
    assert facts["pid"] == os.getpid() and facts["since"] <= time.time()
    reports.close()
    assert control.state_of(folder).status == "stopped" and not (folder / "trainer.json").exists()
    trainer.go(folder, run, resume=True)
    assert control.state_of(folder).status == "finished"


def test_an_error_stays_in_the_folder_with_its_sentence(trainer, monkeypatch):
    folder, run = trainer.make()
    reports = runs.carry_out(folder, run)
    next(reports)
    with pytest.raises(LudusError, match="the moon"):
        reports.throw(LudusError("the moon is in the way"))
    assert control.state_of(folder) == ("failed", "the moon is in the way")
    trainer.go(folder, run, resume=True)
    assert control.state_of(folder) == ("finished", None)


def test_a_trainer_that_is_gone_without_a_word_was_killed(trainer):
    folder, _ = trainer.make()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (folder / "trainer.json").write_text(json.dumps({"pid": gone.pid, "since": time.time()}))
    assert control.state_of(folder) == ("failed", control.KILLED)
    (folder / "log.txt").write_text(
        "ludus: an old one\n== ludus train, today ==\nludus: compiling x for the first time …\n"
    )
    assert control.state_of(folder) == ("failed", control.KILLED), "neither an old word nor one in passing"
    (folder / "log.txt").write_text("== ludus train, today ==\nludus: no room on the disk; make some\n")
    assert control.state_of(folder) == ("failed", "no room on the disk; make some")
    (folder / "log.txt").write_text(
        "== ludus train ==\nTraceback (most recent call last):\n  …\nZeroDivisionError: oh\n"
    )
    assert "ZeroDivisionError: oh" in control.state_of(folder).sentence


def test_a_process_that_was_just_started_counts_as_training(trainer):
    folder, _ = trainer.make()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        (folder / "trainer.json").write_text(json.dumps({"pid": child.pid, "started": time.time()}))
        assert control.state_of(folder).status == "training"
        old = time.time() - control.STARTING_SECONDS - 1
        (folder / "trainer.json").write_text(json.dumps({"pid": child.pid, "started": old}))
        assert control.state_of(folder).status == "failed"
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()


def test_whoever_asks_does_not_keep_a_trainer_from_its_lock(trainer):
    """The lock is held for a moment by somebody who looks, just as the trainer wants it."""
    folder, run = trainer.make()
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    threading.Timer(0.1, os.close, [descriptor]).start()
    assert trainer.go(folder, run)[-1].finished


def test_scribble_in_the_folder_is_no_trainer(trainer):
    folder, _ = trainer.make()
    for text in ("", "[]", '{"pid": "1"}', '{"pid": true}', "\x00" * 100):
        (folder / "trainer.json").write_text(text)
        assert control.state_of(folder).status == "new"


def test_words_are_checked(trainer):
    folder, _ = trainer.make()
    with pytest.raises(LudusError, match="go, pause, step, save"):
        control.send(folder, "dance")


def test_a_full_disk_is_told_by_the_trainer(trainer, monkeypatch):
    folder, run = trainer.make(checkpoint_seconds=0.0)
    full = LudusError('cannot save "x": No space left on device; make room')
    monkeypatch.setattr(checkpoint, "save", lambda *facts: (_ for _ in ()).throw(full))
    with pytest.raises(LudusError, match="No space left"):
        trainer.go(folder, run)
    assert "No space left" in control.state_of(folder).sentence
