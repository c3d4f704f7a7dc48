"""Background jobs of the server, such as evaluations and battles: they report progress and can be stopped."""

from __future__ import annotations

import logging
import math
import queue
import secrets
import threading
from collections.abc import Callable

from ludus.studio.refusal import Refusal, unknown
from ludus.types import JsonObject, LudusError

WORKERS, KEPT = 2, 20
Tell = Callable[[str, int, int], None]
Work = Callable[[Tell], object]
log = logging.getLogger("ludus.studio")


class Stopped(Exception):  # noqa: N818
    """Raised inside a job that was stopped."""


class Job:
    """One job with its progress, status and result."""

    def __init__(self, what: str, work: Work) -> None:
        self.id, self.what, self.work = secrets.token_hex(6), what, work
        self.done, self.total, self.status = 0, 0, "running"
        self.result: object = None
        self.sentence: str | None = None
        self.stop = threading.Event()

    def tell(self, what: str, done: int, total: int) -> None:
        """Record the progress; raises Stopped if the job was stopped."""
        if self.stop.is_set():
            raise Stopped
        self.done, self.total = done, total

    def run(self) -> None:
        try:
            self.tell("", 0, 0)
            self.result = jsonable(self.work(self.tell))
            self.done, self.status = self.total, "done"
        except Stopped:
            self.status, self.sentence = "stopped", "stopped before it was finished"
        except LudusError as error:
            self.status, self.sentence = "failed", str(error)
        except Exception:
            log.exception("job %s failed", self.what)
            self.status, self.sentence = "failed", "internal error; the terminal of the studio shows the details"

    def facts(self) -> JsonObject:
        facts = {"job": self.id, "what": self.what, "done": self.done, "total": self.total, "status": self.status}
        return facts | {"result": self.result, "sentence": self.sentence}


class Jobs:
    """Runs at most two jobs at once, and remembers the last twenty."""

    def __init__(self) -> None:
        self.kept: dict[str, Job] = {}
        self.queue: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self.lock = threading.Lock()
        # Daemon threads, so that closing the studio does not wait for jobs.
        self.workers = [threading.Thread(target=self._work, daemon=True, name=f"job {n}") for n in range(WORKERS)]
        for worker in self.workers:
            worker.start()

    def start(self, what: str, work: Work) -> Job:
        job = Job(what, work)
        with self.lock:
            for old in [name for name, one in self.kept.items() if one.status != "running"]:
                if len(self.kept) >= KEPT:
                    del self.kept[old]
            if len(self.kept) >= KEPT:
                raise Refusal(f"{KEPT} jobs are running or waiting, the maximum; stop one or wait", 409)
            self.kept[job.id] = job
        self.queue.put(job)
        return job

    def get(self, name: str) -> Job:
        if name not in self.kept:
            raise unknown("job", name, "; only the last twenty jobs are remembered")
        return self.kept[name]

    def close(self) -> None:
        for job in self.kept.values():
            job.stop.set()

    def _work(self) -> None:
        while True:
            self.queue.get().run()


def jsonable(value: object) -> object:
    """Data for JSON: NaN and infinity become None, NumPy scalars become numbers."""
    if isinstance(value, dict):
        return {str(name): jsonable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value
