"""Export and import agents as zip files with the manifest and parameters of one checkpoint.

Imported files are not trusted: only expected file names are read, up to a size limit, and the result is validated like
any checkpoint before it becomes a run. Paths in the zip are never used, and nothing in it is executed.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

from ludus.agents import checkpoint
from ludus.studio import Studio
from ludus.studio.refusal import Refusal
from ludus.studio.shelf import load_game
from ludus.training import config
from ludus.training.folder import CHECKPOINTS, new_folder, write_settings
from ludus.types import LudusError

PARAMS = "params.safetensors"
INSIDE = re.compile(r"(?:[A-Za-z0-9._-]+/)?(manifest\.json|[a-z][a-z0-9_]*\.safetensors)", re.ASCII)
MOST_FILES, LARGEST = 20, 256 * 2**20
"""maximum number of files in a bundle, and maximum unpacked size in bytes"""
IMPORTED = "imported"


def exported(studio: Studio, name: str, which: str) -> tuple[bytes, str]:
    """The agent of a checkpoint as a zip, and the file name for it."""
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
    """Create a finished run whose only checkpoint is the agent of a zip."""
    studio.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=studio.out, prefix=".import-") as place:
        stored = Path(place) / "000000"
        stored.mkdir()
        for name, content in unpacked(data).items():
            (stored / name).write_bytes(content)
        run = _validated_run(stored)
        return _create_run(studio.out, run, stored)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of a bundle by name; raises Refusal if it is not a zip or contains other files."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return _contents(packed)
    except Refusal:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise Refusal(f"cannot read this zip ({str(error)[:100]}); send a file made by export", 422) from None


def _contents(packed: zipfile.ZipFile) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    entries = [entry for entry in packed.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise Refusal(f"the zip contains {len(entries)} files; an agent has at most {MOST_FILES}", 422)
    room = LARGEST
    for entry in entries:
        match = INSIDE.fullmatch(entry.filename)
        if not match or match[1] in found:
            raise Refusal(
                f'the zip contains "{entry.filename[:60]!s}", which no agent has; send a file made by export', 422
            )
        with packed.open(entry) as stream:
            found[match[1]] = stream.read(room + 1)
        room -= len(found[match[1]])
        if room < 0:
            raise Refusal(f"the zip unpacks to more than {LARGEST // 2**20} MB, the limit for an agent", 413)
    if checkpoint.MANIFEST not in found:
        raise Refusal(f"the zip contains no {checkpoint.MANIFEST}; send a file made by export", 422)
    return found


def _validated_run(stored: Path) -> config.Run[object]:
    """The settings of the run that made an imported agent; raises if the agent cannot be loaded here."""
    from ludus.agents import trained

    manifest = checkpoint.read_manifest(stored)
    load_game(manifest.game)  # rejects names of bridges, which could import any module
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
        raise Refusal(f"invalid settings in the manifest: {error}", 422) from None


def _create_run(out: Path, run: config.Run[object], stored: Path) -> Path:
    steps = checkpoint.read_manifest(stored).steps
    folder = new_folder(out, run.game)
    try:
        (folder / CHECKPOINTS).mkdir()
        shutil.move(stored, folder / CHECKPOINTS / f"{steps:06d}")
        (folder / IMPORTED).touch()
        write_settings(folder, run)  # last, because a folder with settings is listed as a run
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def check_whole(folder: Path) -> None:
    """Raise Refusal for an imported run, which has no training state to continue from."""
    if (folder / IMPORTED).is_file():
        raise Refusal(f'"{folder.name}" was imported without its training state, so it cannot continue training', 409)
