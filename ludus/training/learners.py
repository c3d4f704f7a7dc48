"""Several learners on a Ray cluster: actors of one `jax.distributed` group that train one run together.

Each learner runs the whole training loop with its share of the workers, and the gradients are those of one learner with
all of them. The first one keeps the run on disk. If a learner dies, all start again from the newest checkpoint.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ludus.runtimes.transport import jax_group
from ludus.runtimes.transport.ray_cluster import RaySettings, check_cpus, connected
from ludus.runtimes.transport.ray_worker import environment, last_line, search_path, settle
from ludus.runtimes.transport.replaced import MAX_DEATHS
from ludus.training import config, runs
from ludus.training.config import Run
from ludus.training.course import Report
from ludus.types import LudusError

POLL_SECONDS = 0.5


def carry_out(folder: Path, run: Run[Any], stop: Callable[[], bool], resume: bool) -> Iterator[Report]:
    """Train until all steps are made or `stop()` is true, in spite of learners that die."""
    settings: Any = run.runtime_settings
    if settings.address.startswith("ray://"):
        raise LudusError("several learners write the run on this machine; start it on a node, without ray://")
    deaths, resumed = 0, resume
    with connected(settings, f"ludus-{folder.name}") as ray:
        check_cpus(ray, run.workers * settings.cpus_per_worker + settings.learners, "workers and learners")
        while True:
            group = Group(ray, settings, run, folder.absolute())
            try:
                for report in group.reports(stop, resumed):
                    deaths = 0
                    yield report
                return
            except ray.exceptions.RayError as error:
                deaths, resumed = deaths + 1, True
                known = error.cause if isinstance(error, ray.exceptions.RayTaskError) else None
                if isinstance(known, LudusError) and not group.lost(error):
                    raise LudusError(str(known)) from None
                if deaths >= MAX_DEATHS:
                    raise LudusError(f"a learner died {deaths} times in a row ({last_line(error)})") from None
                print(
                    f"ludus: a learner died ({last_line(error)}); the learners continue from the newest checkpoint",
                    file=sys.stderr,
                )
            finally:
                group.close()


class LearnerActor:
    """A learner in a process of Ray."""

    def __init__(self, environment: Mapping[str, str], path: Sequence[str]) -> None:
        settle(environment, path)
        self.stopping = threading.Event()

    def address(self) -> str:
        """A free port of this node, where the learners meet."""
        import ray

        with socket.socket() as free:
            free.bind(("", 0))
            host: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
            return f"{host}:{free.getsockname()[1]}"

    def join(self, coordinator: str, size: int, number: int) -> None:
        jax_group.initialize(coordinator, size, number)

    def keep(self, folder: Path, values: Mapping[str, Any], resume: bool) -> Iterator[Report]:
        """Train and save the run."""
        run = config.from_dict(values, "this run")
        yield from runs.carry_out_here(folder, run, self.stopping.is_set, resume)

    def take_part(self, folder: Path, values: Mapping[str, Any], resume: bool) -> int:
        run = config.from_dict(values, "this run")
        return runs.take_part(run, self.stopping.is_set, folder if resume else None)

    def stop(self) -> None:
        self.stopping.set()


class Group:
    """The learners of a run as seen from the process that has started it."""

    def __init__(self, ray: ModuleType, settings: RaySettings, run: Run[Any], folder: Path) -> None:
        self.ray, self.folder, self.values = ray, folder, config.to_dict(run)
        kind, self.actors = ray.remote(LearnerActor), list[Any]()
        here = ray.get_runtime_context().get_node_id()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for number in range(settings.learners):
            # The first one writes the run, so it stays on this machine.
            place = "SPREAD" if number else NodeAffinitySchedulingStrategy(here, soft=False)
            options = kind.options(
                name=f"{folder.name}-learner-{number}-{id(self)}", num_cpus=1, num_gpus=settings.gpus_per_learner,
                max_concurrency=2, max_restarts=0, scheduling_strategy=place,
            )  # fmt: skip
            self.actors.append(options.remote(environment(), search_path()))

    def reports(self, stop: Callable[[], bool], resume: bool) -> Iterator[Report]:
        """The reports of the first learner; raises an error of Ray if any learner fails."""
        ray, (keeper, *others) = self.ray, self.actors
        meeting = ray.get(keeper.address.remote())
        ray.get([actor.join.remote(meeting, len(self.actors), number) for number, actor in enumerate(self.actors)])
        words = self.folder, self.values, resume
        made = keeper.keep.options(num_returns="streaming").remote(*words)
        beside = [actor.take_part.remote(*words) for actor in others]
        asked = False
        while True:
            ready, _ = ray.wait([made, *beside], timeout=POLL_SECONDS)
            if stop() and not asked:
                asked = True
                ray.get([actor.stop.remote() for actor in self.actors])
            if beside_done := [ref for ref in ready if ref in beside]:
                ray.get(beside_done)
                beside = [ref for ref in beside if ref not in beside_done]
            elif ready:
                try:
                    report = next(made)
                except StopIteration:
                    return
                yield ray.get(report)

    def lost(self, error: Exception) -> bool:
        """Whether a learner has failed because it lost another one."""
        return "Gloo" in str(error) or "JaxRuntimeError" in str(error)

    def close(self) -> None:
        for actor in self.actors:
            with contextlib.suppress(self.ray.exceptions.RayError, ValueError):
                self.ray.kill(actor, no_restart=True)
