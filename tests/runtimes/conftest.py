"""One small Ray cluster for all tests of a process, started when the first test needs it."""

import warnings

import pytest

from ludus.runtimes.transport.ray_cluster import load_ray

CPUS = 4
"""declared, not real: the workers of two sources at once"""


@pytest.fixture(scope="session")
def ray_cluster():
    """The module `ray`, connected; sources of the runtime use this connection and leave it open."""
    ray = load_ray()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)  # other tests have used JAX
        ray.init(
            address="local", num_cpus=CPUS, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
            object_store_memory=300 * 2**20,
        )  # fmt: skip
    yield ray
    ray.shutdown()


@pytest.fixture(autouse=True)
def with_ray(request):
    """Start the cluster for the tests that open a source of every runtime, or one of Ray."""
    if "ray" in request.node.name.split("[")[-1].rstrip("]").split("-") or "every_other_runtime" in request.node.name:
        request.getfixturevalue("ray_cluster")
