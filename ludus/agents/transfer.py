"""The files of an agent that is named by a path, for machines that cannot read that path."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

from ludus import agents
from ludus.files import write_atomically
from ludus.types import LudusError

Files = dict[str, bytes]
"""contents by name: those of a checkpoint, or one exported file"""


def path_in(kind: str) -> str | None:
    """The path in the name of an agent, such as runs/tictactoe-0001 or lookahead(runs/duel-0001); None for others."""
    if ahead := agents.LOOKAHEAD.fullmatch(kind):
        return ahead[2]
    is_path = not kind.startswith(("http://", "https://")) and agents.is_path(kind)
    return kind if is_path else None


def relocated(kind: str, paths: Mapping[str, str]) -> str:
    """The name of an agent whose files are elsewhere; `paths` gives the new path for the one in the name."""
    path = path_in(kind)
    return kind if path is None or path not in paths else kind.replace(path, paths[path])


def read(path: str) -> Files:
    """The files of an agent: its newest checkpoint, or its exported file."""
    from ludus.agents import exported, trained

    found = pathlib.Path(path)
    if not exported.is_exported(path):
        found = trained.newest_in(found)
    try:
        return {file.name: file.read_bytes() for file in ([found] if found.is_file() else sorted(found.iterdir()))}
    except OSError as error:
        raise LudusError(f'cannot read the agent "{path}": {error.strerror or error}') from None


def write(files: Files, folder: pathlib.Path) -> str:
    """Write the files of an agent into an empty folder; returns the path by which it is loaded."""
    from ludus.agents import exported

    for name, content in files.items():
        write_atomically(folder / pathlib.PurePath(name).name, content)
    alone = folder / next(iter(files))
    return str(alone if exported.is_exported(str(alone)) else folder)
