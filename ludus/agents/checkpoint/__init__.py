"""Saving and loading of trained agents: a folder with a manifest and arrays, written atomically, without pickle.

A checkpoint is written to a temporary folder, synced, and renamed. An interrupted save leaves only a folder whose name
begins with a dot, which is ignored and removed by the next save. `load` validates everything that it reads.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import math
import os
import pathlib
import re
import shutil
import stat
from collections.abc import Iterator
from typing import NamedTuple

from ludus.agents.checkpoint.arrays import parse, serialize, storable
from ludus.agents.checkpoint.manifest import (
    ADVICE,
    FILE_NAME,
    LARGEST_MANIFEST,
    Identity,
    Manifest,
    StoredFile,
    decode,
    describe,
    encode,
)
from ludus.agents.checkpoint.trees import flatten, unflatten
from ludus.games import plain_name
from ludus.types import Array, LudusError

MANIFEST = "manifest.json"
SUFFIX = ".safetensors"
LARGEST = 16 * 2**30
"""default limit of `load` for the bytes of all arrays"""
NAME = re.compile(r"\d{6,19}", re.ASCII)
LEFTOVER = re.compile(r"\.\d{6,19}\.part", re.ASCII)


class Checkpoint(NamedTuple):
    """The arrays of a checkpoint and its manifest."""

    manifest: Manifest
    arrays: dict[str, dict[str, Array]]
    """by group ("params", "learner", "pool", …) and name; each group is one file"""


def save(folder: str | pathlib.Path, number: int, checkpoint: Checkpoint) -> pathlib.Path:
    """Write a checkpoint to `folder/000120` atomically."""
    if not 0 <= number < 2**63:
        raise LudusError(f"the number of a checkpoint must be 0 or more, not {number}")
    target = pathlib.Path(folder) / f"{number:06d}"
    checked = _checked(checkpoint)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.parent):
            _publish(target, checked)
    except OSError as error:
        raise LudusError(
            f'cannot save "{target}": {error.strerror or error}; earlier checkpoints are unchanged: '
            "make room on the disk or choose another folder, and save again"
        ) from None
    return target


def export(path: str | pathlib.Path, out: str | pathlib.Path) -> pathlib.Path:
    """Write only what is needed to play, the manifest and `params`, to the folder `out`."""
    stored, target = load(path), pathlib.Path(out)
    if "params" not in stored.arrays:
        raise LudusError(f'"{path}" contains no parameters, so it cannot be exported; use another checkpoint')
    params = stored.arrays["params"]
    # If there is an exponential moving average of the parameters, play uses only that.
    params = {name: array for name, array in params.items() if name.startswith("ema/")} or params
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.parent):
            shutil.rmtree(_temporary_path(target), ignore_errors=True)
            _publish(target, stored._replace(arrays={"params": params}))
    except OSError as error:
        raise LudusError(
            f'cannot export to "{target}": {error.strerror or error}; choose another folder, or make room on the disk'
        ) from None
    return target


def load(path: str | pathlib.Path, limit: int = LARGEST) -> Checkpoint:
    """Read and validate a checkpoint of at most `limit` bytes; the arrays are new and writable."""
    folder = pathlib.Path(path)
    manifest = read_manifest(folder)
    total = sum(stored.size for stored in manifest.files.values())
    if total > limit:
        raise LudusError(f'"{folder}" has {total} bytes of arrays, more than the limit of {limit}; increase the limit')
    arrays = {}
    for name, stored in manifest.files.items():
        arrays[name.removesuffix(SUFFIX)] = parse(_read_stored(folder / name, stored), f'"{folder / name}"')
    return Checkpoint(manifest, arrays)


def read_manifest(path: str | pathlib.Path) -> Manifest:
    """Read and validate only the manifest of a checkpoint, not its arrays."""
    file = pathlib.Path(path) / MANIFEST
    if not file.parent.is_dir():
        raise LudusError(f'there is no checkpoint "{file.parent}"; give a folder that contains a {MANIFEST}')
    size = _file_size(file)
    return decode(_read(file, min(size, LARGEST_MANIFEST + 1)), f'"{file}"')


def list_checkpoints(folder: str | pathlib.Path) -> list[pathlib.Path]:
    """All checkpoints in the folder, oldest first."""
    place = pathlib.Path(folder)
    found = [path for path in place.iterdir() if NAME.fullmatch(path.name)] if place.is_dir() else []
    return sorted((path for path in found if (path / MANIFEST).is_file()), key=_number)


def newest(folder: str | pathlib.Path) -> pathlib.Path | None:
    """The checkpoint with the highest number, or None."""
    return max(list_checkpoints(folder), key=_number, default=None)


def best(folder: str | pathlib.Path) -> pathlib.Path | None:
    """The checkpoint with the highest score, the newest if several are equal; None if none has a score."""
    scores = {path: _score(path) for path in list_checkpoints(folder)}
    scored = [path for path in scores if not math.isnan(scores[path])]
    return max(scored, key=lambda path: (scores[path], _number(path)), default=None)


def rotate(folder: str | pathlib.Path, keep: int = 5) -> list[pathlib.Path]:
    """Remove all but the newest `keep` checkpoints and the best one; returns those removed."""
    place = pathlib.Path(folder)
    if keep < 1:
        raise LudusError(f"at least one checkpoint must be kept, not {keep}")
    try:
        with _locked(place):
            kept = best(place)
            old = [path for path in list_checkpoints(place)[:-keep] if path != kept]
            for path in old:
                # Rename first, so that an interruption leaves no partly deleted checkpoint.
                shutil.rmtree(path.rename(_temporary_path(path)))
    except OSError as error:
        raise LudusError(f'cannot remove old checkpoints from "{place}": {error.strerror or error}') from None
    return old


def check_game(checkpoint: Checkpoint, game: Identity) -> None:
    """Raise LudusError for a checkpoint of another game or version; parameters such as the track may differ."""
    manifest = checkpoint.manifest
    theirs, ours = (plain_name(full_name) for full_name in (manifest.game, game.full_name))
    if theirs != ours:
        raise LudusError(
            f"this checkpoint is for {theirs}, not {ours}; choose a checkpoint for {ours}, or the game {theirs}"
        )
    if manifest.fingerprint != game.fingerprint:
        commit = f" at commit {manifest.commit}" if manifest.commit else ""
        raise LudusError(
            f"this checkpoint was made with another version of {ours} (its records have changed): "
            f"train again, or use ludus {manifest.ludus}{commit}, which made it"
        )


def _number(path: pathlib.Path) -> tuple[int, str]:
    return int(path.name), path.name


def _score(path: pathlib.Path) -> float:
    """The score, or NaN if there is none or it cannot be read: a damaged checkpoint must not stop a run."""
    try:
        score = read_manifest(path).score
    except LudusError:
        return math.nan
    return math.nan if score is None else score


def _checked(checkpoint: Checkpoint) -> Checkpoint:
    """Raise LudusError, before anything is written, for contents that `load` would reject."""
    decode(encode(checkpoint.manifest._replace(files={})), "this manifest")
    for group in checkpoint.arrays:
        if not FILE_NAME.fullmatch(group + SUFFIX):
            raise LudusError(f'"{group}" is not a valid group of arrays; use lower-case letters, digits and _')
    arrays = {
        group: {name: storable(f"{group}/{name}", array) for name, array in arrays.items()}
        for group, arrays in checkpoint.arrays.items()
    }
    return checkpoint._replace(arrays=arrays)


@contextlib.contextmanager
def _locked(folder: pathlib.Path) -> Iterator[None]:
    """Lock the folder, so that no other process writes to it, and remove leftovers; the lock ends with the process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot lock a folder
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        for path in folder.iterdir():
            if LEFTOVER.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
        yield
    finally:
        os.close(descriptor)


def _publish(target: pathlib.Path, checkpoint: Checkpoint) -> None:
    if target.exists():
        raise LudusError(f'the checkpoint "{target}" already exists; save with a higher number, or remove it')
    beside = _temporary_path(target)
    try:
        beside.mkdir()
        files = {}
        for group, arrays in checkpoint.arrays.items():
            files[group + SUFFIX] = _write(beside / (group + SUFFIX), serialize(arrays))
        _write(beside / MANIFEST, encode(checkpoint.manifest._replace(files=files)))
        _sync(beside)
        beside.rename(target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    _sync(target.parent)


def _temporary_path(path: pathlib.Path) -> pathlib.Path:
    return path.with_name(f".{path.name}.part")


def _write(path: pathlib.Path, data: bytes) -> StoredFile:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return StoredFile(hashlib.sha256(data).hexdigest(), len(data))


def _sync(folder: pathlib.Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_stored(file: pathlib.Path, stored: StoredFile) -> bytes:
    size = _file_size(file)
    if size != stored.size:
        raise LudusError(f'"{file}" has {size} bytes instead of {stored.size}: it was truncated or changed; {ADVICE}')
    data = _read(file, size)
    if hashlib.sha256(data).hexdigest() != stored.sha256:
        raise LudusError(f'"{file}" was changed after it was saved (its SHA-256 differs); {ADVICE}')
    return data


def _file_size(file: pathlib.Path) -> int:
    """The size of a regular file; raises LudusError for links, which may leave the checkpoint, and for pipes."""
    try:
        facts = file.lstat()
    except OSError as error:
        raise LudusError(f'cannot read "{file}": {error.strerror}; {ADVICE}') from None
    if not stat.S_ISREG(facts.st_mode):
        raise LudusError(f'"{file}" is not a regular file; {ADVICE}')
    return facts.st_size


def _read(file: pathlib.Path, size: int) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(size)
    except OSError as error:
        raise LudusError(f'cannot read "{file}": {error.strerror}; {ADVICE}') from None


__all__ = [
    "Checkpoint", "Identity", "Manifest", "StoredFile", "best", "check_game", "describe", "export", "flatten",
    "list_checkpoints", "load", "newest", "read_manifest", "rotate", "save", "unflatten",
]  # fmt: skip
