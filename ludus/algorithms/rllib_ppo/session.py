"""Importing RLlib, and the Ray that it needs: the one that this process is connected to, or one that is started here.

A worker in an actor of `--runtime ray` uses that cluster, with its memory limits.
"""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

from ludus.bridges.ray_signals import own_sigterm
from ludus.types import LudusError

QUIET = ("ray.rllib", "ray.tune", "ray")
"""loggers whose warnings are about RLlib's own defaults"""


def load_rllib() -> Any:
    """The module of RLlib's PPO."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # no warning about a future default
    os.environ.setdefault("RLLIB_TEST_NO_JAX_IMPORT", "1")  # JAX would take seconds and memory in every env runner
    try:
        with _silent():
            import ray  # noqa: F401
            import torch  # noqa: F401
            from ray.rllib.algorithms import ppo
    except ImportError as missing:
        raise LudusError(f"rllib_ppo needs RLlib and PyTorch ({missing}): pip install 'ludus[rllib]'") from None
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.ERROR)
    return ppo


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without the warnings of RLlib and of the libraries that it imports."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def started() -> Iterator[None]:
    """Within it there is a Ray; at the end the one that was started here is stopped."""
    import ray

    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # no message about each env runner
    with own_sigterm(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            address="local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
            namespace=f"ludus-rllib-{os.getpid()}",
        )  # fmt: skip
    try:
        yield
    finally:
        ray.shutdown()
