"""Where deep agents play: actors make rollouts for a learner, in its own thread (`local`) or in theirs (`threads`)."""

from __future__ import annotations

import importlib
from typing import Any

from ludus.runtimes.job import Job
from ludus.types import LudusError

NAMES = ("local", "threads")


def open_source(name: str, job: Job) -> Any:
    """The source of rollouts with this name."""
    if name not in NAMES:
        raise LudusError(f"deep agents play with --runtime {' or '.join(NAMES)}, not {name}")
    return importlib.import_module(f"ludus.runtimes.acting.{name}").open_source(job)
