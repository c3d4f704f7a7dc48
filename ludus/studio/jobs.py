"""Work that takes a while, done beside the server: evaluations and battles, with how far they are, and stoppable."""

from __future__ import annotations

import logging
import math
import queue
import secrets
import threading
from collections.abc import Callable
from typing import Any

from ludus.studio.refusal import Refusal, unknown
from ludus.types import LudusError

WORKERS, KEPT = 2, 20
Tell = Callable[[str, int, int], None]
Work = Callable[[Tell], Any]
log = logging.getLogger("ludus.studio")


class Stopped(Exception):  # noqa: N818
    """Somebody does not want the result any more."""


class Job:
    """One piece of work and how it stands."""

    def __init__(self, what: str, work: Work) -> None:
        self.id, self.what, self.work = secrets.token_hex(6), what, work
        self.done, self.total, self.status = 0, 0, "running"
        self.result: Any = None
        self.sentence: str | None = None
        self.stop = threading.Event()

    def tell(self, what: str, done: int, total: int) -> None:
        """Hear how far it is; where it was stopped, it goes no further."""
        if self.stop.is_set():
            raise Stopped
        self.done, self.total = done, total

    def carry_out(self) -> None:
        try:
            self.tell("", 0, 0)
            self.result = jsonable(self.work(self.tell))
            self.done, self.status = self.total, "done"
        except Stopped:
            self.status, self.sentence = "stopped", "stopped before its end"
        except LudusError as error:
            self.status, self.sentence = "failed", str(error)
        except Exception:
            log.exception("the job %s", self.what)
            self.status, self.sentence = "failed", "something went wrong that should not have; the terminal shows what"

    def facts(self) -> dict[str, Any]:
        facts = {"job": self.id, "what": self.what, "done": self.done, "total": self.total, "status": self.status}
        return facts | {"result": self.result, "sentence": self.sentence}


class Jobs:
    """At most two at once; the last twenty can be asked for."""

    def __init__(self) -> None:
        self.kept: dict[str, Job] = {}
        self.queue: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self.lock = threading.Lock()
        # Daemons, so that closing the studio waits for none.
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
                raise Refusal(f"{KEPT} jobs wait already; stop one, or wait", 409)
            self.kept[job.id] = job
        self.queue.put(job)
        return job

    def get(self, name: str) -> Job:
        if name not in self.kept:
            raise unknown("job", name, "; only the last twenty are kept")
        return self.kept[name]

    def close(self) -> None:
        for job in self.kept.values():
            job.stop.set()

    def _work(self) -> None:
        while True:
            self.queue.get().carry_out()


def jsonable(value: Any) -> Any:
    """Plain data without the numbers that JSON does not have."""
    if isinstance(value, dict):
        return {str(name): jsonable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value
