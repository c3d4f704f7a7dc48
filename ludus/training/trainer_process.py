"""Start a trainer in a process of its own, and keep its log short."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from ludus.files import write_atomically
from ludus.training import control

LARGEST_LOG, KEPT_LOG = 2**20, 2**16
"""size in bytes at which a log is shortened, and size to which it is shortened"""


def launch(folder: Path, steps: int | None) -> subprocess.Popen[bytes]:
    """Start a training process and record it in the run folder at once."""
    shorten_log(folder)
    (folder / control.CONTROL).unlink(missing_ok=True)
    started = time.time()
    more = [] if steps is None else ["--steps", str(steps)]
    words = [sys.executable, "-m", "ludus.cli", "train", "--resume", str(folder.absolute()), "--json", *more]
    with (folder / control.LOG).open("ab") as log:
        log.write(f"{control.BEGINNING}, {time.strftime('%Y-%m-%d %H:%M:%S')} ==\n".encode())
        log.flush()
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    facts = {"pid": child.pid, "started": started}
    if control.trainer_of(folder).get("pid") != child.pid:
        write_atomically(folder / control.TRAINER, json.dumps(facts).encode())
    return child


def forget_unstarted(folder: Path, child: subprocess.Popen[bytes]) -> None:
    """Remove the traces of a trainer that was stopped before it began to train: it has not failed."""
    trainer = control.trainer_of(folder)
    if child.poll() == -signal.SIGTERM and trainer.get("pid") == child.pid and "since" not in trainer:
        (folder / control.TRAINER).unlink(missing_ok=True)


def shorten_log(folder: Path) -> None:
    """Cut a large log to its last lines; the trainer appends, so it continues to write behind them."""
    path = folder / control.LOG
    try:
        if path.stat().st_size > LARGEST_LOG:
            kept = control.tail(path, KEPT_LOG).partition("\n")[2]
            with path.open("r+b") as file:
                file.truncate(0)
                file.write(kept.encode())
    except OSError:
        return
