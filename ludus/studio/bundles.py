"""Agents as files: a zip with one checkpoint's manifest and parameters, given away and taken in.

What comes in is from strangers: only plain names are read from it, at most so many bytes, and all is checked like any
checkpoint before it becomes a run. It is never unpacked by its own paths, and nothing in it is executed.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from ludus import checkpoint, config
from ludus.runs.folder import CHECKPOINTS, new_folder, write_settings
from ludus.studio import Studio
from ludus.studio.refusal import Refusal
from ludus.studio.shelf import load_game
from ludus.types import LudusError

PARAMS = "params.safetensors"
INSIDE = re.compile(r"(?:[A-Za-z0-9._-]+/)?(manifest\.json|[a-z][a-z0-9_]*\.safetensors)", re.ASCII)
MOST_FILES, LARGEST = 20, 256 * 2**20
"""files of a bundle, and bytes that it may unpack to"""
IMPORTED = "imported"


def exported(studio: Studio, name: str, which: str) -> tuple[bytes, str]:
    """A checkpoint's agent as a zip, and what to call it."""
    path = studio.shelf.checkpoint(name, which)
    with tempfile.TemporaryDirectory() as place:
        slim = Path(place) / "agent"
        checkpoint.export(path, slim)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in sorted(slim.iterdir()):
                packed.write(file, f"{name}-{path.name}/{file.name}")
    return buffer.getvalue(), f"{name}-{path.name}"


def imported(studio: Studio, data: bytes) -> Path:
    """A new run, finished, with the agent of a zip as its one checkpoint."""
    studio.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=studio.out, prefix=".import-") as place:
        stored = Path(place) / "000000"
        stored.mkdir()
        for name, content in unpacked(data).items():
            (stored / name).write_bytes(content)
        run = _checked(stored)
        return _settled(studio.out, run, stored)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of a bundle by their plain names; a sentence where there is anything else in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return _contents(packed)
    except Refusal:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise Refusal(f"this is not a zip that can be read ({str(error)[:100]}); send what export gave", 422) from None


def _contents(packed: zipfile.ZipFile) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    entries = [entry for entry in packed.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise Refusal(f"the zip holds {len(entries)} files; an agent has a manifest and a few files of arrays", 422)
    room = LARGEST
    for entry in entries:
        match = INSIDE.fullmatch(entry.filename)
        if not match or match[1] in found:
            raise Refusal(
                f'the zip holds "{entry.filename[:60]!s}", which belongs to no agent; send what export gave', 422
            )
        with packed.open(entry) as stream:
            found[match[1]] = stream.read(room + 1)
        room -= len(found[match[1]])
        if room < 0:
            raise Refusal(f"the zip unpacks to more than {LARGEST // 2**20} MB", 413)
    if checkpoint.MANIFEST not in found:
        raise Refusal(f"the zip holds no {checkpoint.MANIFEST}; send what export gave", 422)
    return found


def _checked(stored: Path) -> config.Run[Any]:
    """The run that an agent comes from, if it is one that plays here."""
    from ludus.agents import trained

    manifest = checkpoint.read_manifest(stored)
    load_game(manifest.game)  # a foreign name could have any module imported
    trained.load(stored)
    values = {name: value for name, value in manifest.algorithm.items() if name != "kind"}
    values |= {
        "algorithm": manifest.algorithm["kind"],
        "game": manifest.game,
        "steps": max(manifest.steps, 1),
        "log": [],
    }
    try:
        return config.from_dict(values, "the agent's manifest")
    except (LudusError, TypeError) as error:
        raise Refusal(f"the settings in the manifest will not do: {error}", 422) from None


def _settled(out: Path, run: config.Run[Any], stored: Path) -> Path:
    steps = checkpoint.read_manifest(stored).steps
    folder = new_folder(out, run.game)
    try:
        (folder / CHECKPOINTS).mkdir()
        shutil.move(stored, folder / CHECKPOINTS / f"{steps:06d}")
        (folder / IMPORTED).touch()
        write_settings(folder, run)  # last: only now it is a run
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def check_whole(folder: Path) -> None:
    """A sentence for a run that cannot go on, because only its agent came here."""
    if (folder / IMPORTED).is_file():
        raise Refusal(f'"{folder.name}" was imported: only its agent is here, not what training needs to go on', 409)
