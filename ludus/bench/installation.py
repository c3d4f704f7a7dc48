"""What is installed on this machine: versions, devices, caches, extras and programs, for `ludus doctor`."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import sys
from typing import NamedTuple

from ludus.dsl import cache
from ludus.pool import hardware
from ludus.types import JsonObject


class Extra(NamedTuple):
    """An optional part of the installation."""

    modules: tuple[str, ...]
    brings: str


EXTRAS = {
    "deep": Extra(("jax", "flax", "optax"), "networks: PPO, world models, agents that come with the package"),
    "studio": Extra(("jax", "fastapi", "uvicorn", "websockets", "uplot"), "the studio in the browser, and deep"),
    "server": Extra(("jax", "fastapi", "uvicorn", "httptools", "prometheus_client"), "agents over HTTP: ludus serve"),
    "client": Extra(("httpx",), "clients of ludus serve: ludus.Client"),
    "redis": Extra(("redis",), "sessions of several servers: ludus serve --store redis://…"),
    "mcp": Extra(("jax", "mcp", "uvicorn"), "games and agents for language models: ludus mcp"),
    "onnx": Extra(("onnx", "onnxruntime"), "ONNX files: ludus export --format onnx"),
    "tflite": Extra(("ai_edge_litert",), "TensorFlow Lite files: ludus export --format tflite"),
    "gymnasium": Extra(("gymnasium",), "games as Gymnasium environments, and environments of Gymnasium as games"),
    "pettingzoo": Extra(("pettingzoo", "gymnasium"), "the same for PettingZoo"),
    "mpi": Extra(("mpi4py",), "training on the ranks of MPI: --runtime mpi"),
    "ray": Extra(("ray",), "training, battles and sweeps on a Ray cluster: --runtime ray"),
    "rllib": Extra(("ray", "torch", "gymnasium"), "PPO of RLlib: --algorithm rllib_ppo"),
    "tensorboard": Extra(("tensorboard",), "metrics for TensorBoard: --log tensorboard"),
    "wandb": Extra(("wandb",), "metrics for Weights & Biases: --log wandb"),
    "nvml": Extra(("pynvml",), "the metric gpu_utilization"),
    "window": Extra(("pygame",), "games in a window: ludus play car --window"),
    "docs": Extra(("mkdocs", "material", "mkdocstrings"), "the documentation as a site: make docs"),
    "video": Extra(("av",), "videos: ludus show --out game.mp4"),
}
PROGRAMS = {
    "chromium": "tests of the studio in a browser",
    "redis-server": "tests of sessions that several servers share",
    "npm": "the real duel engine: make real-core",
    "mpiexec": "training on the ranks of MPI",
}


def describe() -> JsonObject:
    """Everything that `ludus doctor` reports."""
    found = cache.entries()
    return {
        "hardware": hardware.describe(),
        "devices": devices(),
        "cache": {"folder": str(cache.cache_root()), "entries": len(found), "bytes": sum(one.size for one in found)},
        "extras": {name: extra_facts(name) for name in EXTRAS},
        "programs": {name: {"path": program(name), "for": purpose} for name, purpose in PROGRAMS.items()},
    }


def devices() -> list[str]:
    """The devices of JAX, such as "cpu" or "gpu: NVIDIA A100"; empty without JAX."""
    if importlib.util.find_spec("jax") is None:
        return []
    import jax

    found = jax.local_devices()
    return [one.platform + (f": {one.device_kind}" if one.device_kind != one.platform else "") for one in found]


def extra_facts(name: str) -> JsonObject:
    """Whether an extra is installed; if not, the modules that are missing and the command that installs them."""
    missing = [module for module in EXTRAS[name].modules if importlib.util.find_spec(module) is None]
    install = {"missing": missing, "install": f"pip install 'ludus[{name}]'"} if missing else {}
    return {"installed": not missing, "brings": EXTRAS[name].brings, **install}


def program(name: str) -> str | None:
    """Where a program is: beside Python, as MPI of a wheel is, or in PATH."""
    beside = str(pathlib.Path(sys.executable).parent)
    return shutil.which(name, path=os.pathsep.join([beside, os.environ.get("PATH", os.defpath)]))
