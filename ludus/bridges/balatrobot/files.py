"""Saved runs and screenshots, all in one folder: of the path in a request, only the name of the file is used."""

from __future__ import annotations

import hashlib
import pathlib
import re

import msgspec
import numpy as np

from ludus.bridges.balatrobot.protocol import BAD_REQUEST, INTERNAL_ERROR, Refusal
from ludus.bridges.balatrobot.run import Run
from ludus.dsl.cache import interpreted
from ludus.dsl.rows import new_rows
from ludus.files import write_atomically
from ludus.games.balatro.state import STATE
from ludus.rendering import images
from ludus.types import JsonObject, LudusError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._ -]{0,99}")
MOST_FILES, MOST_BYTES = 10_000, 100_000
FORMAT = "ludus-balatro-run/1"
SEPARATORS = re.compile(r"[/\\]")


class Folder:
    """The folder of saved runs and screenshots."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise LudusError(f'the folder "{path}" cannot be made: {error.strerror}; choose another') from None

    def save(self, path: str, run: Run) -> str:
        """Write the state of a run; returns the path of the file."""
        file = self._new(path)
        content = run.pool.states.view(np.uint8).tobytes()
        head = {
            "format": FORMAT, "game": run.pool.fingerprint, "name": run.pool.name, "skipped": sorted(run.skipped),
            "sha256": hashlib.sha256(content).hexdigest(),
        }  # fmt: skip
        write_atomically(file, msgspec.json.encode(head) + b"\n" + content)
        return str(file)

    def load(self, path: str) -> Run:
        """The run in a file that `save` wrote."""
        head, content = self._read(path)
        run = Run("red", "white", "1")
        fits = len(content) == run.pool.states.nbytes and head.get("game") == run.pool.fingerprint
        if not fits or head.get("sha256") != hashlib.sha256(content).hexdigest():
            raise Refusal(INTERNAL_ERROR, f"{name_in(path)} is damaged, or of another version of Ludus")
        states = new_rows(1, STATE)
        states.view(np.uint8)[:] = np.frombuffer(content, np.uint8)
        run.pool.put(states)
        run.skipped = {one for one in head.get("skipped", ()) if one in (0, 1)}
        return run

    def draw(self, path: str, run: Run) -> str:
        """Write a picture of the table as a PNG file; returns its path."""
        file = self._new(path).with_suffix(".png")
        with interpreted():  # compiling the drawing rules would take a minute
            shapes = run.pool.scene()
        images.save(file, [shapes], run.pool.spec.frame)
        return str(file)

    def _new(self, path: str) -> pathlib.Path:
        file = self.path / name_in(path)
        if not file.exists() and sum(1 for _ in self.path.iterdir()) >= MOST_FILES:
            raise Refusal(INTERNAL_ERROR, f"the folder has {MOST_FILES:,} files; delete some")
        return file

    def _read(self, path: str) -> tuple[JsonObject, bytes]:
        """The head and the content of a saved run."""
        file = self.path / name_in(path)
        try:
            with file.open("rb") as opened:
                data = opened.read(MOST_BYTES)
            head, newline, content = data.partition(b"\n")
            found = msgspec.json.decode(head)
        except OSError:
            raise Refusal(INTERNAL_ERROR, f"{name_in(path)} is not in the folder of the emulator") from None
        except msgspec.DecodeError:
            found, newline, content = None, b"", b""
        if not isinstance(found, dict) or found.get("format") != FORMAT or not newline:
            raise Refusal(INTERNAL_ERROR, f"{name_in(path)} is not a run that this emulator saved")
        return found, content


def name_in(path: str) -> str:
    """The name of the file in a path of a request; no other part of the path is used."""
    name = SEPARATORS.split(path)[-1]
    if not NAME.fullmatch(name):
        raise Refusal(BAD_REQUEST, '"path" must end with a file name of at most 100 letters, digits and . _ - signs')
    return name
