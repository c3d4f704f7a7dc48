"""The connection to a Ray cluster: one that is running, or one that is started on this machine for the run.

All parts of a process that use Ray share one connection, which ends with the last of them. Only `load_ray` imports Ray.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import socket
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ludus.algorithms.settings import check_ranges
from ludus.bridges.ray_signals import own_sigterm
from ludus.types import LudusError

CONNECT_SECONDS = 10.0
"""time for a cluster to answer; Ray itself would try for minutes"""
GCS_PORT, CLIENT_PORT = 6379, 10001
"""ports of `ray start`: of the head node, and of its server for ray:// addresses"""
GCS_METHOD, CLIENT_METHOD = "/ray.rpc.NodeInfoGcsService/GetClusterId", "/ray.rpc.RayletDriver/ClusterInfo"
"""what a cluster is asked first, to see whether it is one"""
ADDRESS = re.compile(r"(ray://)?([^:/]+)(?::(\d{1,5}))?")


@dataclass(frozen=True)
class RaySettings:
    """Where Ray runs, and what workers and learners may use there."""

    address: str = ""
    """Ray cluster: auto, host:port or ray://host:10001; empty to start Ray on this machine for the run"""
    cpus_per_worker: float = 1.0
    """CPUs that Ray reserves for each worker; above 0, also fractions"""
    spread: bool = True
    """place workers on as many nodes as possible, instead of filling one node after the other"""
    learners: int = 1
    """learners that compute updates together, each in its own process; 1 or more"""
    gpus_per_learner: float = 0.0
    """GPUs that Ray reserves for each of several learners; 0 or more"""
    object_store_memory: int = 0
    """bytes of the object store of the Ray that the run starts; 0 for Ray's choice"""
    memory: int = 0
    """bytes of memory that actors may reserve in the Ray that the run starts; 0 for Ray's choice"""
    spill_folder: str = ""
    """folder for objects beyond the object store of the Ray that the run starts; empty for Ray's choice"""

    def __post_init__(self) -> None:
        check_ranges(
            self,
            positive_integers=("learners",),
            non_negative=("gpus_per_learner", "object_store_memory", "memory"),
            positive=("cpus_per_worker",),
        )
        own = [name for name in ("object_store_memory", "memory", "spill_folder") if getattr(self, name)]
        if self.address and own:
            raise LudusError(
                f'{own[0]} is a setting of a Ray that the run starts, but "{self.address}" is running; '
                "give it to ray start there"
            )


def load_ray() -> ModuleType:
    """The module `ray`; the process sends no usage statistics unless RAY_USAGE_STATS_ENABLED is set."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # no warning about a future default
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # errors of units that nobody waits for any more
    try:
        import ray
    except ImportError:
        raise LudusError("the ray runtime needs Ray: pip install 'ludus[ray]'") from None
    return ray


class _Connection:
    """The connection that this process has made, and how many parts of it use it."""

    def __init__(self) -> None:
        self.users, self.lock = 0, threading.Lock()

    def enter(self, ray: ModuleType, settings: RaySettings, namespace: str) -> bool:
        """Connect unless this is done; returns whether the connection is our own, not one that others have made."""
        with self.lock:
            if not self.users:
                if ray.is_initialized():
                    return False
                _connect(ray, settings, namespace)
            self.users += 1
            return True

    def leave(self, ray: ModuleType) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                ray.shutdown()


_CONNECTION = _Connection()


@contextlib.contextmanager
def connected(settings: RaySettings, namespace: str) -> Iterator[ModuleType]:
    """The module `ray`, connected to the cluster of the settings; at the end it stops what it has started.

    A connection that this process already has is used and stays open.
    """
    ray = load_ray()
    own = _CONNECTION.enter(ray, settings, namespace)
    try:
        yield ray
    finally:
        if own:
            _CONNECTION.leave(ray)


def check_cpus(ray: ModuleType, wanted: float, what: str) -> None:
    """Raise LudusError if the whole cluster has fewer CPUs than wanted for `what`, even when nothing else runs."""
    there = cpus(ray)
    if wanted > there:
        raise LudusError(
            f"{what} need {wanted:g} CPUs, but the Ray cluster has {there:g}; "
            "use fewer --workers, a lower --cpus-per-worker, or more nodes"
        )


def cpus(ray: ModuleType) -> float:
    """The CPUs of all nodes of the cluster."""
    return float(ray.cluster_resources().get("CPU", 0.0))


def _connect(ray: ModuleType, settings: RaySettings, namespace: str) -> None:
    """Join the cluster of the settings or start one."""
    options: dict[str, Any] = {"namespace": namespace, "log_to_driver": False, "logging_level": logging.ERROR}
    if settings.address:
        options["address"] = _reachable(settings.address)
    else:
        options |= {"address": "local", "include_dashboard": False} | _limits(settings)
    try:
        with own_sigterm(), warnings.catch_warnings():
            # JAX warns of every fork, but what Ray forks starts another program at once.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            _messages_to_stderr()
            ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise _unconnected(settings.address, error) from None


def _limits(settings: RaySettings) -> dict[str, Any]:
    """The memory limits of a Ray that is started, as options of `ray.init`."""
    given = {
        "object_store_memory": settings.object_store_memory,
        "_memory": settings.memory,
        "object_spilling_directory": settings.spill_folder,
    }
    return {name: value for name, value in given.items() if value}


def _reachable(address: str) -> str:
    """The address with its port, if a Ray answers there."""
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", address)
    if address == "auto":
        return address  # Ray knows at once whether there is one on this machine
    parts = ADDRESS.fullmatch(address)
    if parts is None:
        raise LudusError(f'"{address}" is no address of a Ray cluster; expected auto, host:port or ray://host:port')
    client, host, port = parts.groups()
    port = port or str(CLIENT_PORT if client else GCS_PORT)
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _unconnected(address, error) from None
    _check_answer(address, f"{host}:{port}", CLIENT_METHOD if client else GCS_METHOD)
    return f"{client or ''}{host}:{port}"


def _check_answer(address: str, place: str, method: str) -> None:
    """Raise LudusError if what answers is not Ray, or asks for a token: Ray would try again for minutes."""
    import grpc  # type: ignore[import-untyped]
    from ray._private.grpc_utils import init_grpc_channel

    channel = init_grpc_channel(place)  # with the TLS settings and the token of Ray
    try:
        channel.unary_unary(method)(b"", timeout=CONNECT_SECONDS, wait_for_ready=True)
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.UNAUTHENTICATED:
            raise LudusError(
                f'the Ray cluster "{address}" asks for a token; copy its ~/.ray/auth_token to this machine and set '
                "RAY_AUTH_MODE=token"
            ) from None
        if error.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE):
            raise _unconnected(address, ConnectionError("what answers there is not Ray")) from None
    finally:
        channel.close()


def _messages_to_stderr() -> None:
    """Let Ray print messages about workers to standard error: standard output is for results, such as --json."""
    from ray._private import worker

    if not isinstance(worker.print_to_stdstream, functools.partial):
        worker.print_to_stdstream = functools.partial(_print_to_stderr, worker.print_to_stdstream)


def _print_to_stderr(printed: Callable[..., None], data: Mapping[str, object], ignore_prefix: bool) -> None:
    printed({**data, "is_err": True}, ignore_prefix=ignore_prefix)


def _unconnected(address: str, error: Exception) -> LudusError:
    """The error of a connection that failed, as one sentence."""
    reason = " ".join(str(error).split())
    if "ersion mismatch" in reason:
        found = reason.partition("mismatch: ")[2]
        return LudusError(f'the Ray cluster "{address}" has other versions: {found}; install the same ones everywhere')
    if not address:
        return LudusError(f"Ray could not be started on this machine: {reason}")
    hint = "ray status --address HOST:PORT shows whether it runs; ray start --head starts one"
    return LudusError(f'the Ray cluster "{address}" cannot be reached ({reason}); {hint}')
