"""What the measurements beside peers share: telling how it goes, failures that stop nobody else, tables and files."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from ludus import bench
from ludus.pictures import write_whole

RESULTS = pathlib.Path(__file__).parent / "results"


def attempt(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result of `work`, or a sentence about what went wrong: one failing peer must not stop the others."""
    try:
        return work(*arguments)
    except Exception as error:
        sentence = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        tell(f"failed: {sentence}")
        return sentence


def tell(what: str) -> None:
    print(f"peers: {what}", file=sys.stderr, flush=True)


def warn_if_busy() -> None:
    if hasattr(os, "getloadavg") and (load := os.getloadavg()[0]) > 0.3:
        tell(f"the machine is busy (load {load:.1f}): rates will be too low and ratios unsteady")


def is_installed(package: str) -> bool:
    try:
        return bool(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return False


def publish(document: dict[str, Any], target: pathlib.Path | None, as_json: bool) -> None:
    """Kept as a file if there is a target, and printed."""
    if target:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, (json.dumps(document, indent=2) + "\n").encode())
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
