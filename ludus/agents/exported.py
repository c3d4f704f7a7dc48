"""Exported files as agents: a `.onnx`, `.tflite`, `.stablehlo` or `.msgpack` file, run by the library for its format.

The file is validated before and while it is loaded: its metadata, its checksum, and one decision on a first step.
"""

from __future__ import annotations

import pathlib
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludus.agents.export import formats
from ludus.agents.export.formats import Format, Runtime, foreign, reason_of, run_rows
from ludus.agents.export.metadata import Metadata, decode
from ludus.agents.protocol import Agent, Key, Memory, Params
from ludus.bridges import AnyPool, open_pool
from ludus.games import plain_name
from ludus.pool.actions import any_of
from ludus.types import Array, Continuous, Decision, LudusError, Spec, Step

LARGEST = 2**31
"""bytes of a file"""
NEXT = "next_"
"""before the name of a memory, the name of the output for the next step"""


@dataclass(frozen=True, eq=False)
class ExportedAgent(Agent):
    """Plays greedily by an exported file."""

    runtime: Runtime
    metadata: Metadata
    spec: Spec
    path: pathlib.Path
    network: Any = None
    """the network that computes features from observations, if the file needs them"""

    def init(self, spec: Spec, key: Key) -> Params:
        """Nothing, because the parameters are in the file."""
        return ()

    def memory(self, rows: int) -> Memory:
        """Zeros for each memory of the file."""
        return tuple(np.zeros((rows, *port.shape), port.dtype) for port in self.metadata.memory_ports())

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        outputs = self.outputs(memory, step)
        after = tuple(outputs[NEXT + port.name] for port in self.metadata.memory_ports())
        action = outputs["action"]
        if isinstance(self.spec.actions, Continuous):
            bounded = np.clip(action.astype(np.float64), self.spec.actions.low, self.spec.actions.high)
            # The density of a deterministic action is not defined, and no algorithm learns from a file.
            return Decision(bounded, np.zeros(len(action), np.float32), outputs["value"]), after
        if self.metadata.ties:
            action = any_of(_best(outputs["probabilities"]), key)
        chosen = np.take_along_axis(outputs["probabilities"], action[:, None].astype(np.int64), axis=1)[:, 0]
        with np.errstate(divide="ignore"):
            return Decision(action, np.log(chosen), outputs["value"]), after

    def choices(self, params: Params, step: Step) -> Array:
        """[N, A] every action that `act` may choose; only for files without memory."""
        if self.metadata.memory_ports():
            raise LudusError("the choices of an agent with a memory depend on earlier steps; let it play games instead")
        outputs = self.outputs((), step)
        if self.metadata.ties:
            return _best(outputs["probabilities"])
        return np.asarray(np.arange(step.mask.shape[1]) == outputs["action"][:, None])

    def outputs(self, memory: Memory, step: Step) -> dict[str, Array]:
        """All outputs of the file for the N rows of a step."""
        known = {**self._seen(step.observation), "mask": step.mask, "seat": step.seat, "first": step.first}
        known |= {port.name: part for port, part in zip(self.metadata.memory_ports(), memory, strict=True)}
        inputs = {
            port.name: np.ascontiguousarray(known[port.name], np.dtype(port.dtype)) for port in self.metadata.inputs
        }
        return run_rows(self.runtime, inputs, self.metadata.batch)

    def _seen(self, observation: Mapping[str, Array]) -> Mapping[str, Array]:
        if self.network is None:
            return observation
        from ludus.agents.export.features import full

        return full(self.network, observation)


def _best(probabilities: Array) -> Array:
    return probabilities >= probabilities.max(axis=1, keepdims=True) * (1.0 - 1e-5)


def is_exported(path: str | pathlib.Path) -> bool:
    """Whether a path is that of an exported file, by its suffix; the file need not exist."""
    return formats.of_file(path) is not None


def read_metadata(path: str | pathlib.Path) -> Metadata:
    """What a file says about itself: game, actions, inputs and outputs; raises LudusError for other files."""
    return _read(pathlib.Path(path))[1]


def load(path: str | pathlib.Path, game: str | None = None) -> ExportedAgent:
    """The agent in a file; `game` may have other parameters than the one it was made for."""
    found = pathlib.Path(path)
    data, metadata, form = _read(found)
    pool = open_pool(game or metadata.game, 1, 0, threads=1)
    try:
        _check_game(metadata, pool, found)
        runtime = form.open_runtime(data, metadata, f'"{found}"')
        agent = ExportedAgent(runtime, metadata, pool.spec, found, _network(metadata, found))
        _try(agent, pool.step)
    finally:
        pool.close()
    return agent


def _read(path: pathlib.Path) -> tuple[bytes, Metadata, Format]:
    form = formats.of_file(path)
    if form is None:
        known = ", ".join(formats.find(name).SUFFIX for name in formats.names())
        raise LudusError(f'"{path}" is not an exported agent; its name must end with {known}')
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
            raise LudusError(f'"{path}" is not a file of at most {LARGEST} bytes; give a file that ludus export wrote')
        data = path.read_bytes()
    except OSError as error:
        raise LudusError(
            f'cannot read "{path}": {error.strerror}; write it with: ludus export RUN --out {path}'
        ) from None
    place = f'"{path}"'
    return data, decode(form.metadata_of(data, place), place), form


def _check_game(metadata: Metadata, pool: AnyPool, path: pathlib.Path) -> None:
    theirs, ours = plain_name(metadata.game), plain_name(pool.name)
    if theirs != ours:
        raise LudusError(f'"{path}" plays {theirs}, not {ours}; choose a file for {ours}, or the game {theirs}')
    if metadata.fingerprint != pool.fingerprint:
        raise LudusError(
            f'"{path}" was made for another version of {ours} (its records have changed) by ludus {metadata.ludus}: '
            "export the agent again"
        )


def _network(metadata: Metadata, path: pathlib.Path) -> Any:
    """The network of the game, if the file reads its features."""
    if not metadata.features:
        return None
    from ludus.agents.neural import devices

    devices.start()
    from ludus.agents.neural.networks import games

    network = games.find(plain_name(metadata.game)).network
    if network is None or not hasattr(network, "read"):
        raise foreign(f'"{path}"', f"ludus has no features for {metadata.game}")
    return network


def _try(agent: ExportedAgent, step: Step) -> None:
    """Make one decision, which fails for files whose metadata does not describe them."""
    try:
        decision, memory = agent.act((), agent.memory(len(step.seat)), step, 0)
        agent.act((), memory, step, 0)
        if np.shape(decision.value) != np.shape(step.reward) or len(decision.action) != len(step.seat):
            raise LudusError("its outputs do not fit the game")
    except Exception as error:  # runtimes have many classes of errors
        raise foreign(f'"{agent.path}"', reason_of(error)) from None
