"""Training on two hosts, one of which fails: network namespaces of this machine with a cable between them.

    sudo .venv/bin/python benchmarks/ray_hosts.py

Each host runs its own `ray start`, with its own address and folder. `ludus train connect4` runs on the first host with
a worker on each. Once updates are made, the cable is cut and all processes of the second host are killed; the run must
finish without it. Needs Linux, root and the command `ip`. Everything that it starts or creates is removed at the end.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator

import tyro

from ludus.training import loggers
from ludus.types import LudusError

ADDRESSES = ("10.203.77.1", "10.203.77.2")
PORT = 6379
UPDATES = 8
"""before the second host fails"""
START_SECONDS, TRAIN_SECONDS = 120.0, 300.0
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}


class Host:
    """A network namespace with a private address, and the processes in it."""

    def __init__(self, number: int, folder: pathlib.Path, environment: dict[str, str]) -> None:
        self.name, self.address = f"ludus-{os.getpid()}-{number}", ADDRESSES[number]
        self.cable, self.folder = f"lu{os.getpid()}-{number}", folder / f"host{number}"
        self.environment = environment
        self.folder.mkdir()
        ip("netns", "add", self.name)

    def connect(self) -> None:
        """Give this host its address, once the cable is there."""
        ip("-n", self.name, "address", "add", f"{self.address}/24", "dev", self.cable)
        for device in (self.cable, "lo"):
            ip("-n", self.name, "link", "set", device, "up")

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Run a command on this host; its output is in a file of the host's folder."""
        inside = ["ip", "netns", "exec", self.name, *command]
        with (self.folder / "output.log").open("a") as log:
            return subprocess.Popen(inside, stdout=log, stderr=log, text=True, env=self.environment)

    def start_ray(self, *options: str) -> None:
        common = ["--node-ip-address", self.address, "--num-cpus", "1", "--temp-dir", str(self.folder)]
        ray = str(pathlib.Path(sys.executable).parent / "ray")
        # Without a dashboard, which would need an own port on each host.
        process = self.start(ray, "start", *options, *common, "--object-store-memory", "500000000")
        if process.wait(START_SECONDS):
            raise LudusError(f"ray start failed on {self.address}:\n{self.output()}")

    def processes(self) -> list[int]:
        done = subprocess.run(["ip", "netns", "pids", self.name], capture_output=True, text=True)
        return [int(line) for line in done.stdout.split()]

    def workers(self) -> int:
        """How many processes here are actors of Ray that play."""
        return sum("WorkerActor" in words_of(process) for process in self.processes())

    def fail(self) -> int:
        """Cut the cable and end all processes at once; returns how many there were."""
        ip("-n", self.name, "link", "set", self.cable, "down")
        return self.kill()

    def kill(self) -> int:
        killed = set[int]()
        while found := set(self.processes()):
            for process in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            killed |= found
            time.sleep(0.05)
        return len(killed)

    def remove(self) -> None:
        self.kill()
        subprocess.run(["ip", "netns", "delete", self.name], check=False)

    def output(self) -> str:
        path = self.folder / "output.log"
        return path.read_text()[-3000:] if path.exists() else ""


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise LudusError(f"ip {' '.join(words)} failed: {done.stderr.strip()}")


def words_of(process: int) -> str:
    """The command line of a process; empty if it has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def check_machine() -> None:
    """Raise LudusError if this machine cannot have network namespaces."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise LudusError("network namespaces need Linux and root; run it with sudo")
    if shutil.which("ip") is None:
        raise LudusError("the command ip is missing; install it: apt-get install iproute2")


@contextlib.contextmanager
def hosts() -> Iterator[list[Host]]:
    """Two hosts with a cable between them, and a token of their own for Ray; nothing of them is left afterwards."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": uuid.uuid4().hex}
    with contextlib.ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="ludus-", ignore_cleanup_errors=True)
        place, made = pathlib.Path(stack.enter_context(folder)), list[Host]()
        for number in range(len(ADDRESSES)):
            made.append(Host(number, place, os.environ | QUIET | token))
            stack.callback(made[-1].remove)
        first, second = made
        peer = ["peer", "name", second.cable, "netns", second.name]
        ip("link", "add", first.cable, "netns", first.name, "type", "veth", *peer)
        for host in made:
            host.connect()
        yield made


def wait(what: str, seconds: float, ready: Callable[[], bool], alive: subprocess.Popen[str], host: Host) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline or alive.poll() is not None:
            raise LudusError(f"{what} did not happen; the output of the run:\n{host.output()}")
        time.sleep(0.2)


def measure(first: Host, second: Host, steps: int) -> dict[str, object]:
    """Train, let the second host fail, and read the metrics of the run."""
    first.start_ray("--head", "--port", str(PORT), "--include-dashboard", "false")
    second.start_ray("--address", f"{first.address}:{PORT}")
    tell(f"Ray runs on {first.address} and {second.address}")
    runs = first.folder / "runs"
    command = [sys.executable, "-m", "ludus.cli", "train", "connect4", "--algorithm", "ppo", "--runtime", "ray"]
    command += ["--address", f"{first.address}:{PORT}", "--workers", "2", "--steps", str(steps), "--evaluations", "0"]
    run = first.start(*command, "--out", str(runs))
    wait("an update with both hosts", TRAIN_SECONDS, lambda: len(updates(runs)) >= UPDATES, run, first)
    workers = [host.workers() for host in (first, second)]
    tell(f"{len(updates(runs))} updates with {workers} workers on the hosts; now the second host fails")
    failed_at, before = time.monotonic(), len(updates(runs))
    killed = second.fail()
    wait("the end of the run", TRAIN_SECONDS, lambda: run.poll() is not None or missed(runs), run, first)
    noticed = time.monotonic() - failed_at
    code = run.wait(TRAIN_SECONDS)
    last = updates(runs)[-1]
    return {
        "workers": workers, "killed": killed, "exit_code": code, "updates_before": before,
        "updates": len(updates(runs)), "steps": last["step"], "restarts": last["restarts"],
        "lost_units": last["lost_units"], "seconds_until_noticed": round(noticed, 1),
        "seconds_until_finished": round(time.monotonic() - failed_at, 1),
    }  # fmt: skip


def updates(runs: pathlib.Path) -> list[dict[str, float]]:
    """The metrics of all updates so far."""
    return [row for path in runs.glob("*/metrics.jsonl") for row in loggers.read(path) if "lost_units" in row]


def missed(runs: pathlib.Path) -> bool:
    """Whether the run has gone on after the failure."""
    return updates(runs)[-1]["lost_units"] > 0


def tell(what: str) -> None:
    print(f"hosts: {what}", file=sys.stderr, flush=True)


def main(steps: int = 3_000_000) -> None:
    """Train Connect Four on two hosts, one of which fails.

    Args:
        steps: Decisions of the run; enough that it is not over when the host fails.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        check_machine()
        with hosts() as (first, second):
            found = measure(first, second, steps)
            names = [first.name, second.name]
    except LudusError as error:
        sys.exit(f"ray_hosts: {error}")
    there = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    found["left"] = [name for name in names if name in there]
    finished = found["workers"] == [1, 1] and found["exit_code"] == 0 and found["steps"] >= steps
    good = finished and found["lost_units"] > 0 and not found["left"]
    print(json.dumps({**found, "good": good}))
    sys.exit(not good)


if __name__ == "__main__":
    tyro.cli(main)
