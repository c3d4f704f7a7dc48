"""Description of the machine and the software versions, stored with every measurement."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
import subprocess

from ludus.types import JsonObject

PACKAGES = ("numpy", "numba", "jax", "gymnasium")


def describe() -> JsonObject:
    """Processor, cores, memory, versions and the commit of a source checkout."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: version for package in PACKAGES if (version := _version(package))},
        "ludus": commit() or _version("ludus"),
    }


def _processor() -> str:
    facts = pathlib.Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    here = pathlib.Path(__file__).resolve().parents[2]
    if not (here / ".git").exists():
        return None
    answer = subprocess.run(["git", "-C", str(here), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return answer.stdout.strip() or None
