"""Gymnasium environments of the user, as objects or as functions that make one; they get a name in this process."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from typing import Any

import gymnasium

from ludus.types import LudusError

NAMESPACE = "own"
Env = gymnasium.Env[Any, Any]


def name_of(env: Env | Callable[[], Env]) -> str:
    """The name for `open_pool`: gymnasium:own/MyEnv-v0; the same object has the same name.

    Every row of a pool needs an environment of its own, so an object is copied.
    """
    make: Callable[[], Env] = env if not isinstance(env, gymnasium.Env) else lambda: copy.deepcopy(env)
    for identity, source in _sources.items():
        if source is env:
            return f"gymnasium:{identity}"
    identity = _free_identity(_class_name(env, make))
    gymnasium.register(identity, entry_point=make)  # type: ignore[arg-type]  # any callable that returns an Env
    _sources[identity] = env
    return f"gymnasium:{identity}"


def is_known(name: str) -> bool:
    """Whether this process has the environment of this name."""
    return name.partition(":")[2].partition("(")[0] in _sources


_sources: dict[str, Env | Callable[[], Env]] = {}


def _class_name(env: object, make: Callable[[], Env]) -> str:
    if not callable(make):
        raise LudusError(f"{env!r} is not a game; give a name, a Gymnasium environment, or a function that makes one")
    first = env if isinstance(env, gymnasium.Env) else _first(make)
    return re.sub(r"\W", "", type(first.unwrapped).__name__)


def _first(make: Callable[[], Env]) -> Env:
    """An environment that the function of the user makes, to see what it is."""
    try:
        inspect.signature(make).bind()
    except TypeError:
        raise LudusError(f"{make!r} needs arguments; give a function without, such as lambda: MyEnv(size=3)") from None
    made = make()
    if not isinstance(made, gymnasium.Env):
        raise LudusError(f"{make!r} returned {type(made).__name__}; expected a function that makes a gymnasium.Env")
    made.close()
    return made


def _free_identity(name: str) -> str:
    number = sum(identity.startswith(f"{NAMESPACE}/{name}-v") for identity in _sources)
    return f"{NAMESPACE}/{name}-v{number}"
