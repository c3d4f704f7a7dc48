"""Common code of the peer benchmarks: progress messages, isolated failures, tables and files."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from ludus import bench
from ludus.files import write_atomically

RESULTS = pathlib.Path(__file__).parent / "results"


def attempt(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result of `work`, or the error message if it fails, so that one failing peer does not stop the others."""
    try:
        return work(*arguments)
    except Exception as error:
        message = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        tell(f"failed: {message}")
        return message


def tell(what: str) -> None:
    print(f"peers: {what}", file=sys.stderr, flush=True)


def warn_if_busy() -> None:
    if hasattr(os, "getloadavg") and (load := os.getloadavg()[0]) > 0.3:
        tell(f"the machine is busy (load {load:.1f}): rates will be too low and ratios unreliable")


def is_installed(package: str) -> bool:
    try:
        return bool(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return False


def publish(document: dict[str, Any], target: pathlib.Path | None, as_json: bool) -> None:
    """Print the results, and save them if there is a target."""
    if target:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, (json.dumps(document, indent=2) + "\n").encode())
        tell(f"wrote {target.name}")
    if as_json:
        print(json.dumps(document))
    else:
        print_table(document)


def print_table(document: dict[str, Any]) -> None:
    for row in document["results"]:
        setting = document["settings"].get(row["name"], "")
        value = f"{bench.readable(row['value']):>10} {row['unit']:<8}" if "value" in row else f"failed: {row['error']}"
        print(f"{row['name']:<56} {value} {setting}".rstrip())
