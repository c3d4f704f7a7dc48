"""What the processes of one `jax.distributed` group exchange about their workers; all of them must call together."""

from __future__ import annotations

import numpy as np

from ludus.algorithms.protocol import Groups


def gathered_states(own: Groups, numbers: range) -> Groups:
    """The states of the workers of all processes, from those of this process, whose workers have these numbers."""
    from ludus.agents.neural import devices

    workers = [own[f"worker_{number}"] for number in numbers]
    everywhere = [state for process in devices.gathered(workers) for state in process]
    others = {name: group for name, group in own.items() if not name.startswith("worker_")}
    return {f"worker_{number}": state for number, state in enumerate(everywhere)} | others


def agreed(*flags: bool) -> tuple[bool, ...]:
    """For each argument, whether it is true in any process."""
    from ludus.agents.neural import devices

    gathered = devices.gathered([np.array(flag) for flag in flags])
    return tuple(any(flag) for flag in zip(*gathered, strict=True))
