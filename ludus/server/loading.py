"""Loads what is to be served: runs, checkpoints, exported files, and agents with their game (`connect4:mcts(200)`)."""

from __future__ import annotations

import contextlib
import hashlib
import pathlib
import re
from dataclasses import replace
from typing import Any, NamedTuple

from ludus import __version__, agents
from ludus.agents import checkpoint, trained
from ludus.agents.checkpoint import flatten
from ludus.agents.players import person
from ludus.agents.protocol import Agent, Params, PoolAgent
from ludus.agents.tabular import TabularAgent
from ludus.bridges import open_pool
from ludus.pool.protocol import AnyPool
from ludus.server.deciders import AgentDecider, Decider, ExportedDecider, TableDecider, sizes_up_to
from ludus.server.model import Loaded
from ludus.server.rows import MemoryForm, ObservationForm
from ludus.types import Discrete, LudusError, Spec

EXPORTED = (".onnx", ".tflite", ".stablehlo", ".msgpack")
"""suffixes of exported files"""
NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)", re.ASCII)
LONGEST = 200
"""characters of the name of a model"""


class Source(NamedTuple):
    """Where a served agent comes from."""

    name: str
    text: str
    """what the operator gave, without the name"""

    @property
    def path(self) -> pathlib.Path | None:
        """The folder or the file, unless it is a named agent."""
        path = pathlib.Path(self.text)
        return path if path.suffix in EXPORTED or path.is_dir() else None


def source_of(text: str) -> Source:
    """The source that the operator means: `AGENT`, or `NAME=AGENT`."""
    named = NAMED.fullmatch(text)
    source = Source(named[1], named[2]) if named else Source("", text)
    if not named:
        path = source.path
        source = source._replace(name=path.resolve().name if path else text)
    if not source.name.isprintable() or len(source.name) > LONGEST:
        raise LudusError(f"{source.name[:60]!r} cannot be the name of a model; give one: NAME={source.text[:60]}")
    if source.name == person.NAME:
        raise LudusError(f'"{person.NAME}" in a seat means a person; give the model another name: NAME={source.text}')
    return source


def newest(source: Source) -> pathlib.Path | None:
    """The checkpoint to serve: the best one of a run if any has a score, else the newest; None for other agents."""
    path = source.path
    if path is None or path.suffix in EXPORTED:
        return None
    if (path / checkpoint.MANIFEST).is_file():
        return path
    folder = path / "checkpoints" if (path / "checkpoints").is_dir() else path
    return checkpoint.best(folder) or trained.newest_in(path)


def version_of(folder: pathlib.Path) -> str:
    """The version of a checkpoint: its name and the beginning of a hash of its arrays."""
    manifest = checkpoint.read_manifest(folder)
    digest = hashlib.sha256("".join(stored.sha256 for _, stored in sorted(manifest.files.items())).encode())
    return f"{folder.name}-{digest.hexdigest()[:8]}"


def find_version(source: Source, version: str) -> pathlib.Path | None:
    """The checkpoint with this version, if the run still has it."""
    path = newest(source)
    for folder in checkpoint.list_checkpoints(path.parent) if path else []:
        if folder.name == version.rpartition("-")[0] and version_of(folder) == version:
            return folder
    return None


def load(source: Source, sample: bool, most: int, folder: pathlib.Path | None = None) -> Loaded:
    """The newest version of a served agent, or the one in the folder of a checkpoint; not compiled yet."""
    path = source.path
    if path is not None and path.suffix in EXPORTED:
        return _exported(source, path, sample, most)
    if path is not None:
        found = folder or newest(source)
        assert found is not None
        return _of_checkpoint(source.name, found, sample, most)
    game, colon, kind = source.text.rpartition(":")
    if not colon:
        raise LudusError(
            f'there is no run or file "{source.text}"; give the folder of a run, an .onnx or .tflite file, or a game '
            f"with an agent, like {source.text}:trained"
        )
    agent = agents.load(kind, game)
    if isinstance(agent, trained.Trained):
        return _of_checkpoint(source.name, agent.path, sample, most, game)
    with _opened(game) as pool:
        params = agent.init(pool.spec, 0)
        decider = decider_of(agent, params, pool.spec, sample, most)
        return assemble(source.name, pool, agent, params, kind.partition("(")[0], __version__, decider)


def _of_checkpoint(name: str, folder: pathlib.Path, sample: bool, most: int, game: str | None = None) -> Loaded:
    found = trained.load(folder, game)
    kind, version = str(found.manifest.agent["kind"]), version_of(folder)
    with _opened(game or found.manifest.game) as pool:
        decider = decider_of(found.agent, found.params, pool.spec, sample, most)
        return assemble(name, pool, found.agent, found.params, kind, version, decider, folder)


def _exported(source: Source, path: pathlib.Path, sample: bool, most: int) -> Loaded:
    from ludus.agents import exported

    agent = exported.load(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    with _opened(agent.metadata.game) as pool:
        kind, version = path.suffix[1:], f"{path.stem}-{digest}"
        after = tuple(exported.NEXT + port.name for port in agent.metadata.memory_ports())
        decider = ExportedDecider(agent, pool.spec, after, sample, most)
        model = assemble(source.name, pool, agent, (), kind, version, decider, path)
        return replace(model, parameters=int(agent.metadata.trained.get("parameters") or 0))


def _opened(game: str) -> contextlib.closing[AnyPool]:
    """A pool of one game, which names actions also when it is closed."""
    return contextlib.closing(open_pool(game, 1, 0, threads=1))


def assemble(
    name: str, pool: AnyPool, agent: Agent, params: Params, kind: str, version: str, decider: Decider | None,
    path: pathlib.Path | None = None,
) -> Loaded:  # fmt: skip
    """A model of an agent with its parameters, for the game of a pool."""
    return Loaded(
        name, pool.name, pool.spec, pool.observation, pool.fingerprint, version, kind, path, memory_kind(agent), agent,
        params, trained.count_parameters(params), action_names(pool), decider, MemoryForm(agent),
        ObservationForm(pool.observation, pool.name), pool.action_name,
    )  # fmt: skip


def decider_of(agent: Agent, params: Params, spec: Spec, sample: bool, most: int) -> Decider | None:
    """How an agent decides for batches; None if it needs the games themselves."""
    if isinstance(agent, PoolAgent):
        return None
    if isinstance(agent, TabularAgent):
        return TableDecider(agent, params, sample, most)
    if hasattr(agent, "network"):  # a DeepAgent; importing the class would import JAX for all other agents
        from ludus.server.network import NetworkDecider

        deep: Any = agent
        return NetworkDecider(deep, params, sample, most)
    return AgentDecider(agent, params, spec, compiled_sizes(agent, most), most)


def compiled_sizes(agent: Agent, most: int) -> tuple[int, ...]:
    """The numbers of rows for which a world model is compiled; () for agents that take any number.

    Planning uses one seed for a whole batch. Alone in its batch, a row does not depend on others.
    """
    if not hasattr(agent, "planner"):
        return ()
    return (1,) if getattr(agent, "plan_at_evaluation", False) else sizes_up_to(most)


def memory_kind(agent: Agent) -> str:
    """What an agent remembers: the type of its recurrent network, a plan, some other state, or none."""
    if not flatten(agent.memory(1)):
        return "none"
    if hasattr(agent, "metadata"):  # of an exported file
        return str(agent.metadata.memory)
    if hasattr(agent, "network"):
        return str(agent.network.args.rnn_type)
    return "plan" if hasattr(agent, "planner") else "state"


def action_names(pool: AnyPool) -> tuple[str, ...]:
    """The names of the actions; if they depend on the position, those that do not."""
    if not isinstance(pool.spec.actions, Discrete):
        return ()
    name = pool.compiled.game.rules.action_name if pool.compiled and pool.names_moves else pool.action_name
    return tuple(str(name(action)) for action in range(pool.spec.actions.n))
