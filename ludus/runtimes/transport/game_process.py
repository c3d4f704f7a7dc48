"""The lane to a worker that plays parts of evaluations and battles in another process of this machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading

from ludus.evaluation.parts import Part, Result
from ludus.runtimes.transport.replaced import WorkerDied
from ludus.types import LudusError

EXIT_SECONDS = 5.0
"""time for a process to exit"""


class GameProcess:
    """A process that runs `games_child`; it plays on so many threads."""

    def __init__(self, threads: int) -> None:
        # The worker uses the module search path of this process, and the CPU only: the GPU belongs to the learner.
        path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
        # A separate process group, so that Ctrl-C in the terminal interrupts only this process.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ludus.runtimes.transport.games_child", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0,
            env={**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"},
        )  # fmt: skip
        self.playing = threading.Lock()

    def play(self, part: Part) -> Result:
        with self.playing:
            line = self._answer(part.to_json())
        if not line.endswith("\n"):
            raise WorkerDied(self._exit_reason())
        answer = json.loads(line)
        if "error" in answer:
            raise LudusError(answer["error"])
        return Result.from_json(answer["result"])

    def _answer(self, question: str) -> str:
        """The next line from the process; an empty or unfinished one if it died or was closed."""
        assert self.process.stdin and self.process.stdout
        with contextlib.suppress(OSError, ValueError):
            print(question, file=self.process.stdin, flush=True)
            return self.process.stdout.readline()
        return ""

    def _exit_reason(self) -> str:
        """How the process ended, for messages."""
        try:
            code = self.process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return "sends unreadable messages"
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-code).name}"
        return f"exited with code {code}"

    def close(self) -> None:
        """Kill the process; `play` in another thread then raises WorkerDied."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin and self.process.stdout
        with self.playing, contextlib.suppress(OSError):  # `play` ends, because the pipe has no other end any more
            self.process.stdout.close()
            self.process.stdin.close()
