"""Configuration of JAX: a compilation cache on disk, and one CPU device per core on machines without accelerators.

XLA parallelizes small matrix products badly. Sharding a batch over one device per core, as over several GPUs, makes
learning about twice as fast on two cores; so one mechanism serves laptops and clusters.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ludus.dsl.cache import cache_root
from ludus.types import Array, LudusError, PyTree

if TYPE_CHECKING:
    import jax

NEEDS = "deep agents need JAX, Flax and Optax: pip install 'ludus[deep]'"


@functools.cache
def start() -> bool:
    """Configure JAX in this process; return whether there is one more device than cores, for actors.

    On a device of its own an actor does not wait while the others learn; they share the cores. If JAX has computed
    before, the number of devices can no longer be changed.
    """
    try:
        import flax
        import jax
        import optax
    except ModuleNotFoundError as error:
        raise LudusError(f"{NEEDS} ({error.name} is missing)") from None
    del flax, optax
    configure: Callable[[str, object], None] = jax.config.update  # JAX has no types for it
    configure("jax_compilation_cache_dir", str(cache_root() / "jax"))
    configure("jax_persistent_cache_min_compile_time_secs", 0.0)
    configure("jax_persistent_cache_min_entry_size_bytes", -1)
    with contextlib.suppress(RuntimeError):
        from ludus.pool import available_cores

        configure("jax_num_cpu_devices", available_cores() + 1)
        return True
    return False


def annotated(part: str) -> jax.profiler.TraceAnnotation:
    """Names a part of training in profiles; `ludus profile` adds up their times. Costs a microsecond otherwise."""
    import jax

    return jax.profiler.TraceAnnotation(f"ludus:{part}")


def present(process: int | None = None) -> list[jax.Device]:
    """The devices of a process, without the one for actors."""
    import jax

    spare = start()
    there = jax.local_devices(process)
    return there[:-1] if spare and there[0].platform == "cpu" and len(there) > 1 else there


def learners(wanted: int, acting: int = 0) -> list[jax.Device]:
    """The devices that learn: `wanted` in every process, or with 0 all that are not used by actors."""
    import jax

    there = present()
    if acting + max(wanted, 1) > len(there):
        kinds = ", ".join(sorted({device.platform for device in there}))
        others = f" and {acting} only for actors" if acting else ""
        raise LudusError(
            f"{wanted or 1} devices{others} were requested, but this process has {len(there)} ({kinds}); "
            f"lower {'--devices or --actor-devices' if acting else '--devices'}"
        )
    last = acting + wanted if wanted else None
    found = [present(process)[acting:last] for process in range(jax.process_count())]
    if len({len(part) for part in found}) > 1:
        counts = ", ".join(str(len(part)) for part in found)
        raise LudusError(f"the processes have {counts} devices to learn with; give all of them the same --devices")
    return [device for part in found for device in part]


def actors(wanted: int) -> list[jax.Device]:
    """The devices of this process that only play: the first `wanted`, or with 0 the spare one."""
    import jax

    there = present()
    return there[:wanted] or jax.local_devices()[len(there) :]


def lightly() -> dict[str, int] | None:
    """Compiler options for large programs: LLVM's level 1 compiles 20 % faster on CPUs with equal run time."""
    import jax

    if jax.default_backend() != "cpu" or "JAX_DISABLE_MOST_OPTIMIZATIONS" in os.environ:
        return None
    return {"xla_backend_optimization_level": 1}


def process() -> int:
    """The index of this process among the processes of a run."""
    import jax

    start()
    return jax.process_index()


def processes() -> int:
    """The number of processes that train this run."""
    import jax

    start()
    return jax.process_count()


def put(array: Array | jax.Array, sharding: jax.sharding.Sharding) -> jax.Array:
    """Put the array on devices; if they belong to several processes, each process passes its own part."""
    import jax

    if sharding.is_fully_addressable or getattr(array, "sharding", None) == sharding:
        return jax.device_put(array, sharding)
    from_parts: Callable[[jax.sharding.Sharding, Array], jax.Array] = (
        jax.make_array_from_process_local_data  # JAX has no types for it
    )
    part = np.asarray(array)
    return from_parts(sharding, part.astype(jax.dtypes.canonicalize_dtype(part.dtype), copy=False))


def gathered(tree: PyTree) -> list[PyTree]:
    """The trees of all processes, which must call this together, with equal shapes.

    They are sent as bytes, because JAX would convert 64-bit types to 32 bits.
    """
    import jax

    if processes() == 1:
        return [tree]
    leaves, form = jax.tree.flatten(jax.tree.map(np.asarray, tree))
    data = np.frombuffer(b"".join(leaf.tobytes() for leaf in leaves), np.uint8)
    ends = np.cumsum([leaf.nbytes for leaf in leaves])
    found = []
    for received in _all_gathered(data):
        parts = zip(leaves, np.split(received, ends[:-1]), strict=True)
        arrays = [part.copy().view(leaf.dtype).reshape(leaf.shape) for leaf, part in parts]
        found.append(jax.tree.unflatten(form, arrays))
    return found


def _all_gathered(data: Array) -> Array:
    """[processes, bytes] the bytes that each process passed."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array([jax.local_devices(process)[0] for process in range(jax.process_count())]), ("processes",))
    spec: Callable[..., PartitionSpec] = PartitionSpec  # JAX has no types for it
    own = put(data[None], NamedSharding(mesh, spec("processes")))
    everywhere = jax.jit(_same, out_shardings=NamedSharding(mesh, spec()))
    return np.asarray(everywhere(own).addressable_data(0))


def _same(array: jax.Array) -> jax.Array:
    return array
