"""Saving and loading what was learned: a folder with a manifest and arrays, never half of one, never pickle.

A checkpoint is written beside its place, synced, and renamed into it; what a kill leaves behind begins with a dot, is
seen by nobody, and is cleared away by the next save. `load` believes nothing that it has not checked.
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

from ludus.checkpoint.arrays import parse, serialize, storable
from ludus.checkpoint.manifest import (
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
from ludus.checkpoint.trees import flatten, unflatten
from ludus.types import Array, LudusError

MANIFEST = "manifest.json"
SUFFIX = ".safetensors"
LARGEST = 16 * 2**30
"""bytes of arrays that `load` accepts if not told otherwise"""
NAME = re.compile(r"\d{6,19}", re.ASCII)
LEFTOVER = re.compile(r"\.\d{6,19}\.part", re.ASCII)


class Checkpoint(NamedTuple):
    """What was learned, and where it comes from."""

    manifest: Manifest
    arrays: dict[str, dict[str, Array]]
    """by group ("params", "learner", "pool", …) and name; every group is a file"""


def save(folder: str | pathlib.Path, number: int, checkpoint: Checkpoint) -> pathlib.Path:
    """Write a checkpoint to `folder/000120`, whole or not at all."""
    if not 0 <= number < 2**63:
        raise LudusError(f"checkpoints are numbered from 0, not {number}")
    target = pathlib.Path(folder) / f"{number:06d}"
    checked = _checked(checkpoint)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _sole_writer(target.parent):
            _publish(target, checked)
    except OSError as error:
        raise LudusError(
            f'cannot save "{target}": {error.strerror or error}; earlier checkpoints are as they were: '
            "make room or choose another folder, and save again"
        ) from None
    return target


def export(path: str | pathlib.Path, out: str | pathlib.Path) -> pathlib.Path:
    """Write what is needed to play, and nothing to train on with, to the folder `out`: the manifest and `params`."""
    stored, target = load(path), pathlib.Path(out)
    if "params" not in stored.arrays:
        raise LudusError(f'"{path}" holds no parameters, so there is nothing to export; take another checkpoint')
    params = stored.arrays["params"]
    # Where parameters are averaged, the averaged ones alone play.
    params = {name: array for name, array in params.items() if name.startswith("calm/")} or params
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _sole_writer(target.parent):
            shutil.rmtree(_beside(target), ignore_errors=True)
            _publish(target, stored._replace(arrays={"params": params}))
    except OSError as error:
        raise LudusError(
            f'cannot export to "{target}": {error.strerror or error}; choose another folder, or make room'
        ) from None
    return target


def load(path: str | pathlib.Path, limit: int = LARGEST) -> Checkpoint:
    """Read a checkpoint of at most `limit` bytes, or say what is wrong with it; the arrays are fresh and writable."""
    folder = pathlib.Path(path)
    manifest = read_manifest(folder)
    total = sum(stored.size for stored in manifest.files.values())
    if total > limit:
        raise LudusError(f'"{folder}" has {total} bytes of arrays, more than the {limit} allowed; raise the limit')
    arrays = {}
    for name, stored in manifest.files.items():
        arrays[name.removesuffix(SUFFIX)] = parse(_read_stored(folder / name, stored), f'"{folder / name}"')
    return Checkpoint(manifest, arrays)


def read_manifest(path: str | pathlib.Path) -> Manifest:
    """Only what a checkpoint says of itself, checked; its arrays are not looked at."""
    file = pathlib.Path(path) / MANIFEST
    if not file.parent.is_dir():
        raise LudusError(f'there is no checkpoint "{file.parent}"; give a folder that holds a {MANIFEST}')
    size = _plain_size(file)
    return decode(_read(file, min(size, LARGEST_MANIFEST + 1)), f'"{file}"')


def list_checkpoints(folder: str | pathlib.Path) -> list[pathlib.Path]:
    """Every checkpoint in the folder, oldest first."""
    place = pathlib.Path(folder)
    found = [path for path in place.iterdir() if NAME.fullmatch(path.name)] if place.is_dir() else []
    return sorted((path for path in found if (path / MANIFEST).is_file()), key=_number)


def newest(folder: str | pathlib.Path) -> pathlib.Path | None:
    """The checkpoint with the highest number; None where there is none."""
    return max(list_checkpoints(folder), key=_number, default=None)


def best(folder: str | pathlib.Path) -> pathlib.Path | None:
    """The checkpoint with the highest score, the newest of equals; None where none has a score."""
    scores = {path: _score(path) for path in list_checkpoints(folder)}
    scored = [path for path in scores if not math.isnan(scores[path])]
    return max(scored, key=lambda path: (scores[path], _number(path)), default=None)


def rotate(folder: str | pathlib.Path, keep: int = 5) -> list[pathlib.Path]:
    """Remove all but the newest `keep` checkpoints and the best one; returns those removed."""
    place = pathlib.Path(folder)
    if keep < 1:
        raise LudusError(f"keep at least one checkpoint, not {keep}")
    try:
        with _sole_writer(place):
            kept = best(place)
            old = [path for path in list_checkpoints(place)[:-keep] if path != kept]
            for path in old:
                # Renamed first, so that a kill leaves no half checkpoint under its name.
                shutil.rmtree(path.rename(_beside(path)))
    except OSError as error:
        raise LudusError(f'cannot remove old checkpoints from "{place}": {error.strerror or error}') from None
    return old


def check_game(checkpoint: Checkpoint, game: Identity) -> None:
    """Refuse a checkpoint of another game, or of another version of it; parameters such as the track may differ."""
    manifest = checkpoint.manifest
    theirs, ours = (plain_name(full_name) for full_name in (manifest.game, game.full_name))
    if theirs != ours:
        raise LudusError(f"this checkpoint is of {theirs}, not {ours}; choose one of {ours}, or the game {theirs}")
    if manifest.fingerprint != game.fingerprint:
        commit = f" at commit {manifest.commit}" if manifest.commit else ""
        raise LudusError(
            f"this checkpoint was made with another version of {ours}; its record has changed: "
            f"train anew, or go back to ludus {manifest.ludus}{commit}, which made it"
        )


def plain_name(full_name: str) -> str:
    """The game without its settings, and without the engine that plays it."""
    return full_name.partition("(")[0].partition("@")[0]


def _number(path: pathlib.Path) -> tuple[int, str]:
    return int(path.name), path.name


def _score(path: pathlib.Path) -> float:
    """NaN where there is none, and where it cannot be read: one damaged checkpoint must not stop a run."""
    try:
        score = read_manifest(path).score
    except LudusError:
        return math.nan
    return math.nan if score is None else score


def _checked(checkpoint: Checkpoint) -> Checkpoint:
    """Refuse what `load` would refuse before anything is written."""
    decode(encode(checkpoint.manifest._replace(files={})), "this manifest")
    for group in checkpoint.arrays:
        if not FILE_NAME.fullmatch(group + SUFFIX):
            raise LudusError(f'"{group}" cannot name a group of arrays; use small letters, digits and _, like params')
    arrays = {
        group: {name: storable(f"{group}/{name}", array) for name, array in arrays.items()}
        for group, arrays in checkpoint.arrays.items()
    }
    return checkpoint._replace(arrays=arrays)


@contextlib.contextmanager
def _sole_writer(folder: pathlib.Path) -> Iterator[None]:
    """Writers wait for each other, so that none clears away what another is writing; the lock dies with its process."""
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
        raise LudusError(f'there is a checkpoint "{target}" already; save under a higher number, or remove it first')
    beside = _beside(target)
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


def _beside(path: pathlib.Path) -> pathlib.Path:
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
    size = _plain_size(file)
    if size != stored.size:
        raise LudusError(f'"{file}" has {size} bytes instead of {stored.size}, so it was cut or changed; {ADVICE}')
    data = _read(file, size)
    if hashlib.sha256(data).hexdigest() != stored.sha256:
        raise LudusError(f'"{file}" was changed after it was saved (its SHA-256 differs); {ADVICE}')
    return data


def _plain_size(file: pathlib.Path) -> int:
    """The size of a regular file; a link might lead out of the checkpoint, and a pipe might never end."""
    try:
        facts = file.lstat()
    except OSError as error:
        raise LudusError(f'cannot read "{file}": {error.strerror}; {ADVICE}') from None
    if not stat.S_ISREG(facts.st_mode):
        raise LudusError(f'"{file}" is not a plain file, so it is not read; {ADVICE}')
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
