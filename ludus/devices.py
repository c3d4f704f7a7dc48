"""JAX as Ludus wants it: compiled code is kept on disk, and every core of a machine without accelerators is a device.

XLA spreads small matrix products badly over cores. Sharding a batch over one device a core, as over several GPUs, makes
learning about twice as fast on two cores; so the one mechanism serves laptops and clusters.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from ludus.types import LudusError
from ludus.words.cache import cache_root

NEEDS = "deep agents need JAX, Flax and Optax: pip install 'ludus[deep]'"


@functools.cache
def start() -> None:
    """Settle how JAX works in this process; whoever was first to compute has settled the number of devices."""
    try:
        import flax
        import jax
        import optax
    except ModuleNotFoundError as error:
        raise LudusError(f"{NEEDS} ({error.name} is missing)") from None
    del flax, optax
    config: Any = jax.config
    config.update("jax_compilation_cache_dir", str(cache_root() / "jax"))
    config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    with contextlib.suppress(RuntimeError):
        from ludus.pool import available_cores

        config.update("jax_num_cpu_devices", available_cores())


def learners(wanted: int) -> list[Any]:
    """The devices that learn: as many as wanted, or with 0 all that there are."""
    import jax

    start()
    there = jax.devices()
    if wanted > len(there):
        kinds = ", ".join(sorted({device.platform for device in there}))
        raise LudusError(f"{wanted} devices were asked for; this process has {len(there)} ({kinds})")
    return there[: wanted or None]
