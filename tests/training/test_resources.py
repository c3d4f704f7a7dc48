"""The resources of a run: memory of real processes, and utilisation of GPUs as NVML tells it."""

import os
import subprocess
import sys
import types

import pytest

from ludus.training import resources

LINUX = pytest.mark.skipif(resources.memory_used(os.getpid()) is None, reason="needs the lists of children in /proc")
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "held = b'1' * 200_000_000; print('ready', flush=True); input()"])
child.wait()
"""


@LINUX
def test_memory_counts_the_processes_that_a_run_started():
    """A child of a child holds 200 MB."""
    before = resources.memory_used(os.getpid())
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"ready\n"
        found = list(resources.family(os.getpid()))
        assert found[0] == os.getpid() and parent.pid in found and len(found) >= 3
        assert resources.memory_used(os.getpid()) - before > 0.2
        assert 0.2 < resources.memory_used(parent.pid) < 0.4
        parent.stdin.close()
        parent.wait()
        assert list(resources.family(parent.pid)) == [parent.pid] and resources.resident_bytes(parent.pid) == 0
    assert parent.pid not in resources.family(os.getpid())


@LINUX
def test_memory_is_what_the_system_says():
    with open("/proc/self/status") as status:
        resident = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))
    assert resources.resident_bytes(os.getpid()) == pytest.approx(resident, rel=0.05)


def test_resources_are_read_once_a_second(monkeypatch):
    now, readings = [10.0], iter([1.0, 2.0, None])
    monkeypatch.setattr(resources, "memory_used", lambda process: next(readings))
    monkeypatch.setattr(resources, "gpu_utilization", lambda: None)
    measured = resources.Resources(clock=lambda: now[0])
    for moment, expected in ((10.0, 1.0), (10.5, 1.0), (11.0, 2.0), (11.9, 2.0)):
        now[0] = moment
        assert measured.metrics() == {"memory_used": expected}
    now[0] = 12.0
    assert measured.metrics() == {}  # not measured is no key, and not 0


class NVMLError(Exception):
    pass


@pytest.fixture
def nvml(monkeypatch):
    """NVML as nvidia-ml-py offers it, on a machine with three GPUs; the machines of the tests have none."""

    def by_uuid(name):
        if name != "GPU-b":
            raise NVMLError(name)
        return 1

    module = types.SimpleNamespace(
        NVMLError=NVMLError, nvmlInit=lambda: None, nvmlDeviceGetCount=lambda: 3, nvmlDeviceGetHandleByUUID=by_uuid,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUtilizationRates=lambda gpu: types.SimpleNamespace(gpu=(10, 40, 70)[gpu], memory=1),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pynvml", module)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    resources._gpus.cache_clear()
    yield module
    resources._gpus.cache_clear()


@pytest.mark.parametrize(
    ("visible", "expected"),
    [(None, 40.0), ("0,2", 40.0), ("2", 70.0), ("GPU-b, 2", 55.0), ("1,-1,2", 40.0), ("", None), ("-1", None)],
)
def test_utilisation_is_that_of_the_visible_gpus(nvml, monkeypatch, visible, expected):
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert resources.gpu_utilization() == expected


def test_what_nvml_cannot_say_is_left_out(nvml, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-unknown")
    assert resources.gpu_utilization() is None

    def refuse(*arguments):
        raise NVMLError("not supported")

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    resources._gpus.cache_clear()
    monkeypatch.setattr(nvml, "nvmlDeviceGetUtilizationRates", refuse)
    assert resources.gpu_utilization() is None
    resources._gpus.cache_clear()
    monkeypatch.setattr(nvml, "nvmlInit", refuse)
    assert resources.gpu_utilization() is None


def test_without_the_package_there_is_no_utilisation(nvml, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert resources.gpu_utilization() is None
