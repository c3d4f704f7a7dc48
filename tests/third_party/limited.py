"""A runtime with a setting of its own: workers in the thread of the learner, but only a few."""

from dataclasses import dataclass

from ludus.runtimes import local


@dataclass(frozen=True)
class Limits:
    most_workers: int = 4
    """most workers of a run; 1 or more"""


SETTINGS = Limits


def count_workers(algorithm, wanted, settings):
    return min(local.count_workers(algorithm, wanted), settings.most_workers)


def open_source(job, settings):
    assert job.workers <= settings.most_workers
    return local.open_source(job)
