"""All MPI ranks as processes of one `jax.distributed` group.

If a rank other than 0 fails, rank 0 must survive until it has saved a checkpoint. But mpiexec kills all ranks shortly
after one of them exits, and rank 0 may be waiting for the failed rank in a collective operation of JAX. So the failed
rank closes its connections to the other ranks, which makes their collective operations fail, and waits until rank 0
ends the run.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ludus.runtimes.transport.messages import load_mpi
from ludus.types import LudusError

if TYPE_CHECKING:
    from mpi4py import MPI

JOIN_SECONDS = 120
RANK_0_SECONDS = 600.0
"""time for rank 0 to save a checkpoint and end the run after another rank has failed"""
POLL_SECONDS = 0.01


@contextlib.contextmanager
def joined() -> Iterator[None]:
    """Connect all ranks to one `jax.distributed` group; if one of them fails, all ranks end."""
    world: MPI.Intracomm = load_mpi().COMM_WORLD
    coordinator: str = world.bcast(_coordinator(world), root=0)
    earlier = _sockets()
    initialize(coordinator, world.Get_size(), world.Get_rank())
    try:
        yield
    except BaseException as error:
        _report(world.Get_rank(), error)
        if world.Get_rank() == 0:
            world.Abort(1)
        later = [descriptor for name, descriptor in _sockets().items() if name not in earlier]
        if _close_connections(later, coordinator):
            _wait_for_all(world, RANK_0_SECONDS)
        os._exit(1)  # unlike Abort, this leaves rank 0 half a second before mpiexec kills it
    _leave(world)


def initialize(coordinator: str, size: int, rank: int) -> None:
    """Start `jax.distributed` in one of `size` processes; afterwards JAX knows the devices of all of them."""
    # Must be set before JAX is imported; it hides a warning about jax_enable_recoverability.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from ludus.agents.neural import devices

    devices.start()
    import jax

    configure: Callable[[str, bool], None] = jax.config.update
    configure("jax_enable_preemption_service", False)  # it would handle SIGTERM instead of the run
    configure("jax_enable_recoverability", True)  # otherwise rank 0 dies with any other rank and cannot save
    try:
        jax.distributed.initialize(
            coordinator, size, rank, cluster_detection_method="deactivate",
            initialization_timeout=JOIN_SECONDS, coordinator_bind_address=coordinator,
        )  # fmt: skip
        jax.devices()
    except (RuntimeError, ValueError) as error:
        raise LudusError(f"JAX could not connect the {size} learners at {coordinator}: {error}") from None


def _leave(world: MPI.Intracomm) -> None:
    """Shut down `jax.distributed`; the coordinator on rank 0 must outlive all other processes."""
    from jax import distributed

    leave: Callable[[], None] = distributed.shutdown
    _wait_for_all(world)
    if world.Get_rank() > 0:
        leave()
    _wait_for_all(world)
    if world.Get_rank() == 0:
        leave()


def _coordinator(world: MPI.Intracomm) -> str:
    """The address where the ranks meet: a free port of rank 0."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    local = world.Split_type(load_mpi().COMM_TYPE_SHARED).Get_size()
    return f"{'127.0.0.1' if local == world.Get_size() else socket.gethostname()}:{port}"


def _report(rank: int, error: BaseException) -> None:
    """Print the error message, with a traceback unless the user can fix the error."""
    if _is_lost_rank(error):
        message = f"rank {rank} lost the connection to another rank, which has failed; see its output"
    elif isinstance(error, LudusError):
        message = str(error)
    else:
        message = f"{type(error).__name__}: {error}"
        if not isinstance(error, SystemExit):
            traceback.print_exception(error)
    print(f"ludus: {message}; resume the run with the same number of ranks", file=sys.stderr, flush=True)
    sys.stdout.flush()


def _is_lost_rank(error: BaseException) -> bool:
    """Whether a collective operation failed: JAX raises errors of several types, with a message from Gloo."""
    return type(error).__name__ == "JaxRuntimeError" or "Gloo" in str(error)


def _wait_for_all(world: MPI.Intracomm, seconds: float = float("inf")) -> None:
    """Wait until all ranks have called this, for at most so many seconds; signals are handled meanwhile."""
    request, stop = world.Ibarrier(), time.monotonic() + seconds
    while not request.Test() and time.monotonic() < stop:
        time.sleep(POLL_SECONDS)


def _sockets() -> dict[str, int]:
    """The descriptors of all open sockets of this process, by their unique names; empty on systems without /proc."""
    found = {}
    for path in pathlib.Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):  # the descriptor was closed meanwhile
            found[os.readlink(path)] = int(path.name)
    return {name: descriptor for name, descriptor in found.items() if name.startswith("socket:")}


def _close_connections(descriptors: list[int], coordinator: str) -> int:
    """Shut down network connections; returns how many.

    The connection to the coordinator stays open: JAX would kill this process.
    """
    closed = 0
    for descriptor in descriptors:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
            peer = connection.getpeername()
            if isinstance(peer, tuple) and peer[1] != int(coordinator.rpartition(":")[2]):
                connection.shutdown(socket.SHUT_RDWR)
                closed += 1
    return closed


@contextlib.contextmanager
def library_output_redirected() -> Iterator[None]:
    """Send what libraries such as Gloo print to standard output to standard error; ours stays where it was."""
    with os.fdopen(os.dup(1), "w") as ours, contextlib.redirect_stdout(ours):
        os.dup2(2, 1)
        try:
            yield
        finally:
            os.dup2(ours.fileno(), 1)
