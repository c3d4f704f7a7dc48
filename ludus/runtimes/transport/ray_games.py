"""Workers of Ray that play parts of evaluations and battles.

The files of agents that are named by a path are sent to the workers, so that machines without that path can load them,
and all workers play the same checkpoint.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import pathlib
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from ludus import games
from ludus.agents import transfer
from ludus.evaluation.parts import Host, Part, Result, Spread
from ludus.runtimes.transport.ray_cluster import RaySettings, check_cpus, connected, cpus
from ludus.runtimes.transport.ray_worker import ActorName, environment, last_line
from ludus.runtimes.transport.replaced import WorkerDied
from ludus.runtimes.transport.spread import spread_over
from ludus.types import LudusError


class GamesActor:
    """A worker, in a process of Ray."""

    def __init__(self, threads: int, environment: Mapping[str, str], path: Sequence[str]) -> None:
        # The worker finds the modules of the process that started it.
        os.environ.update(environment)
        sys.path.extend(folder for folder in path if folder not in sys.path)
        self.host = Host(threads)

    def play(self, text: str, paths: Sequence[str], *sent: transfer.Files) -> str:
        """The result of a part as JSON, or the error of the user that prevents it; `sent` are the files at `paths`."""
        part = Part.from_json(text)
        try:
            with tempfile.TemporaryDirectory(prefix="ludus-agents-") as folder:
                self.host.paths = {
                    path: transfer.write(files, _subfolder(folder, number))
                    for number, (path, files) in enumerate(zip(paths, sent, strict=True))
                }
                self.host.load(part)
            return json.dumps({"result": self.host.play(part).to_json()})
        except Exception as error:
            known = error if isinstance(error, LudusError) else games.mistake(error)
            if known is None:
                raise
            return json.dumps({"error": str(known)})


def _subfolder(folder: str, number: int) -> pathlib.Path:
    inner = pathlib.Path(folder) / str(number)
    inner.mkdir()
    return inner


class SentFiles:
    """The files of agents in the object store, each read and stored once."""

    def __init__(self, ray: ModuleType) -> None:
        self.ray, self.lock, self.stored = ray, threading.Lock(), dict[str, Any]()

    def reference(self, path: str) -> Any:
        with self.lock:
            if path not in self.stored:
                self.stored[path] = self.ray.put(transfer.read(path))
            return self.stored[path]


class GamesLane:
    """A worker of Ray, as seen from this process."""

    def __init__(self, ray: ModuleType, settings: RaySettings, name: ActorName, files: SentFiles) -> None:
        self.ray, self.files = ray, files
        kind = ray.remote(GamesActor).options(
            name=name.run, namespace=name.namespace, num_cpus=settings.cpus_per_worker, max_restarts=0,
            scheduling_strategy="SPREAD" if settings.spread else "DEFAULT",
        )  # fmt: skip
        path = [os.path.abspath(folder) for folder in sys.path]
        self.actor = kind.remote(max(1, int(settings.cpus_per_worker)), environment(), path)

    def play(self, part: Part) -> Result:
        paths = paths_of(part)
        sent = [self.files.reference(path) for path in paths]
        try:
            answer = json.loads(self.ray.get(self.actor.play.remote(part.to_json(), paths, *sent)))
        except self.ray.exceptions.RayTaskError:
            raise  # not an error of the user, and no death either
        except self.ray.exceptions.RayError as error:
            raise WorkerDied(f"died ({last_line(error)})") from None
        if "error" in answer:
            raise LudusError(answer["error"])
        return Result.from_json(answer["result"])

    def close(self) -> None:
        with contextlib.suppress(self.ray.exceptions.RayError, ValueError):  # it is dead
            self.ray.kill(self.actor)


@contextlib.contextmanager
def open_spread(workers: int, settings: RaySettings) -> Iterator[Spread]:
    """Plays in so many workers of Ray, or if that is 0, in as many as its CPUs suffice for."""
    name = f"ludus-games-{uuid.uuid4().hex[:8]}"
    with connected(settings, name) as ray:
        count = workers or max(1, int(cpus(ray) / settings.cpus_per_worker))
        check_cpus(ray, count * settings.cpus_per_worker, f"{count} workers")
        files, started = SentFiles(ray), collections.Counter[int]()

        def open_lane(number: int) -> GamesLane:
            restarts, started[number] = started[number], started[number] + 1
            worker = f"ludus-games-worker-{number}" + f"-restart-{restarts}" * bool(restarts)
            return GamesLane(ray, settings, ActorName(name, worker), files)

        yield spread_over(count, open_lane)


def paths_of(part: Part) -> list[str]:
    """The paths in the names of the agents of a part."""
    return sorted({path for kind in part.agents if (path := transfer.path_in(kind)) is not None})
