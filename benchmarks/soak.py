"""A short soak test: runs in every runtime are killed at random moments and must leave nothing behind or damaged.

    python benchmarks/soak.py --seconds 120 --seed 1

A run is started, one of its processes is killed (a worker if there are any), then it is resumed and stopped. Afterwards
every checkpoint must load, the run must have continued, and no process or shared memory may be left.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from ludus.agents import checkpoint
from ludus.training import loggers

COMMANDS = {
    "single": [],
    "threads": [],
    "processes": [],
    "mpi": ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "3"],
}
MARK = "LUDUS_SOAK"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice, end = random.Random(options.seed), time.monotonic() + options.seconds
    before, events, rounds = shared_memory(), [], 0
    while time.monotonic() < end or rounds % len(COMMANDS):
        runtime = list(COMMANDS)[rounds % len(COMMANDS)]
        events.append(one_round(runtime, dice))
        print(json.dumps(events[-1]), flush=True)
        rounds += 1
    left = sorted(shared_memory() - before)
    good = all(event["good"] for event in events) and not left
    print(json.dumps({"rounds": rounds, "kills": len(events), "shared_memory_left": left, "good": good}))
    sys.exit(0 if good else 1)


def one_round(runtime: str, dice: random.Random) -> dict[str, object]:
    """Start, kill, resume, stop and check one run."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as folder:
        first = start(runtime, folder, mark, ["tictactoe", "--steps", "100000000000", "--runtime", runtime])
        wait_for_checkpoints(folder, 1)
        code = kill_one(first, runtime, mark, dice)
        orphans = left_over(mark)
        loadable = count_loadable(folder)
        run = next(pathlib.Path(folder).glob("runs/*"))
        second = start(runtime, folder, mark, ["--resume", str(run)])
        wait_for_checkpoints(folder, 1, after=newest(folder))
        second.send_signal(signal.SIGINT)
        again = finish(second)
        orphans += left_over(mark)
        # mpiexec exits with 1 after a signal, whatever the ranks do; the last step must be saved.
        stopped = again == (1 if runtime == "mpi" else 0) and newest(folder) == last_step(run)
        good = not orphans and loadable > 0 and stopped and count_loadable(folder) > 0
    return {
        "runtime": runtime,
        "killed": code,
        "resumed": again,
        "checkpoints": loadable,
        "orphans": orphans,
        "good": good,
    }


def kill_one(process: subprocess.Popen[bytes], runtime: str, mark: str, dice: random.Random) -> int:
    """Kill one process of a run; returns the exit code. A run that can continue is then stopped."""
    time.sleep(dice.uniform(0.0, 2.0))
    os.kill(choose(process.pid, mark, runtime, dice), signal.SIGKILL)
    if runtime == "processes":
        time.sleep(3.0)
        process.send_signal(signal.SIGINT)
    return finish(process)


def start(runtime: str, folder: str, mark: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    command = [*COMMANDS[runtime], sys.executable, "-m", "ludus.cli", "train", *arguments]
    if "--resume" not in arguments:
        command += ["--checkpoint-seconds", "0.5", "--evaluations", "0"]
        command += ["--workers", "2"] if runtime in ("threads", "processes") else []
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, env={**os.environ, MARK: mark}, stdout=quiet, stderr=quiet)


def finish(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        return -999


def choose(pid: int, mark: str, runtime: str, dice: random.Random) -> int:
    """A worker if there are workers, else the run itself."""
    workers = [other for other in marked(mark) if other != pid]
    if runtime == "mpi":
        workers = [other for other in workers if "ludus.cli" in command_of(other)]
    return dice.choice(workers) if runtime in ("processes", "mpi") and workers else pid


def marked(mark: str) -> list[int]:
    """Every process that inherited the mark."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (path / "environ").read_bytes() and "Z" not in state_of(path):
                found.append(int(path.name))
        except OSError:
            continue
    return found


def left_over(mark: str) -> list[str]:
    """Processes that are still running a few seconds after the end."""
    for _ in range(50):
        if not marked(mark):
            return []
        time.sleep(0.1)
    return [command_of(pid) for pid in marked(mark)]


def state_of(path: pathlib.Path) -> str:
    return (path / "stat").read_text().rpartition(")")[2].split()[0]


def command_of(pid: int) -> str:
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def shared_memory() -> set[str]:
    return {path.name for path in pathlib.Path("/dev/shm").iterdir()}


def checkpoints(folder: str) -> list[pathlib.Path]:
    return [
        path for run in pathlib.Path(folder).glob("runs/*") for path in checkpoint.list_checkpoints(run / "checkpoints")
    ]


def newest(folder: str) -> int:
    return max((int(path.name) for path in checkpoints(folder)), default=0)


def last_step(run: pathlib.Path) -> int:
    return int(loggers.read(run / "metrics.jsonl")[-1]["step"])


def wait_for_checkpoints(folder: str, count: int, after: int = 0) -> None:
    for _ in range(600):
        if sum(int(path.name) > after for path in checkpoints(folder)) >= count:
            return
        time.sleep(0.1)
    raise SystemExit("no checkpoint within a minute")


def count_loadable(folder: str) -> int:
    return sum(1 for path in checkpoints(folder) if checkpoint.load(path))


if __name__ == "__main__":
    main()
