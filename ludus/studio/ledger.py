"""The state of one run, kept up to date by reading only what has changed in its folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import BinaryIO

from ludus.agents import checkpoint
from ludus.studio.trainers import LIVING, NOTES, notes_of
from ludus.training import config, control
from ludus.training.folder import CHECKPOINTS, METRICS, SETTINGS
from ludus.training.trainer_process import shorten_log
from ludus.types import JsonObject, LudusError

Stamp = tuple[int, int, int]
BLOCK, LONGEST_LINE = 2**18, 2**16
"""bytes searched at a time, and maximum bytes of a line"""
ABSENT = -1
"""stands for the inode of a metrics file that does not exist yet"""
SCORED = b'"score": '


class Ledger:
    """What is known of a run, and how far its files have been read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stamps: dict[str, Stamp | None] = {}
        self.run: config.Run[object] | None = None
        self.trouble: str | None = None
        self.state = control.State("new")
        self.notes: JsonObject = {"title": "", "tags": []}
        self.checkpoints = 0
        self.manifest: checkpoint.Manifest | None = None
        self.file, self.position = 0, 0
        self.last: JsonObject = {}
        self.scored: JsonObject = {}

    def update(self) -> tuple[list[JsonObject], bool]:
        """Read the folder again; return the new lines of metrics, and whether older lines were removed."""
        if self._changed(SETTINGS):
            self._read_settings()
        if self._changed(NOTES):
            self.notes = notes_of(self.folder)
        if self._changed(CHECKPOINTS):
            self._read_checkpoints()
        lines, cut = self._read_metrics()
        self._read_state(bool(lines))
        return lines, cut

    def summary(self) -> JsonObject:
        """The facts of a run that the list of runs shows."""
        run, status = self.run, self.state.status
        steps, of = self._steps(), run.steps if run else 0
        speed = self.last.get("steps_per_second") if status == "training" else None
        facts: JsonObject = {"name": self.folder.name, **self.notes, "game": run.game if run else ""}
        facts |= {"algorithm": run.algorithm if run else "", "steps": steps, "of": of, **self._score()}
        facts |= {"seconds": float(self.last.get("seconds") or 0.0), "steps_per_second": speed}
        left = max(of - steps, 0) / speed if speed and speed > 0 else None
        facts |= {"left": left, "status": status, "sentence": self.state.sentence, "checkpoints": self.checkpoints}
        return facts

    def _steps(self) -> int:
        made = int(self.last.get("step", 0))
        return max(made, self.manifest.steps) if self.manifest and not self.last else made

    def _score(self) -> dict[str, float | None]:
        if not self.scored and self.manifest is not None:
            return {"score": finite(self.manifest.score), "low": None, "high": None}
        score, low, high = (self.scored.get(name) for name in ("score", "score_low", "score_high"))
        return {"score": score, "low": low, "high": high}

    def _changed(self, name: str) -> bool:
        stamp = stamp_of(self.folder / name)
        changed = name not in self.stamps or self.stamps[name] != stamp
        self.stamps[name] = stamp
        return changed

    def _read_settings(self) -> None:
        try:
            self.run, self.trouble = config.read(self.folder / SETTINGS), None
        except LudusError as error:
            self.run, self.trouble = None, str(error)
        self.stamps.pop(control.TRAINER, None)  # the state of the run depends on its settings

    def _read_checkpoints(self) -> None:
        found = checkpoint.list_checkpoints(self.folder / CHECKPOINTS)
        self.checkpoints, self.manifest = len(found), None
        self.stamps.pop(control.TRAINER, None)
        if found:
            try:
                self.manifest = checkpoint.read_manifest(found[-1])
            except LudusError:
                self.manifest = None

    def _read_state(self, news: bool) -> None:
        """Read the state again only if a trainer is alive, its file has changed, or there are new lines."""
        if self.trouble is not None:
            self.state = control.State("failed", self.trouble)
        elif self._changed(control.TRAINER) or news or self.state.status in LIVING:
            self.state = control.state_of(self.folder)
            shorten_log(self.folder)

    def _read_metrics(self) -> tuple[list[JsonObject], bool]:
        try:
            with (self.folder / METRICS).open("rb") as file:
                return self._read_from(file, stamp_of(file.fileno()))
        except OSError:
            gone = self.file > 0
            self.file, self.position, self.last, self.scored = ABSENT, 0, {}, {}
            return [], gone

    def _read_from(self, file: BinaryIO, stamp: Stamp | None) -> tuple[list[JsonObject], bool]:
        assert stamp is not None
        _, size, number = stamp
        if self.file == ABSENT:  # the file is new, so all its lines are
            self.file = number
        if number != self.file or size < self.position:
            before, self.file = self.file, number
            self.last, self.scored, self.position = ends_of(file, size)
            return [], before != 0
        if size == self.position:
            return [], False
        file.seek(self.position)
        whole = file.read(size - self.position).rpartition(b"\n")
        self.position += len(whole[0]) + len(whole[1])
        lines = [line for text in whole[0].split(b"\n") if (line := parsed(text))]
        for line in lines:
            self.last = line
            self.scored = line if line.get("score") is not None else self.scored
        return lines, False


def ends_of(file: BinaryIO, size: int) -> tuple[JsonObject, JsonObject, int]:
    """The last line of metrics, the last line with a score, and the end of the last line; searched backwards."""
    end = _found(file, b"\n", size) + 1
    scored = _found(file, SCORED, end)
    last: JsonObject | None = None
    before = end
    while before > 0 and last is None:  # skip damaged lines
        before = _found(file, b"\n", before - 1) + 1
        last = _line_at(file, before)
    return last or {}, (_line_at(file, _found(file, b"\n", scored) + 1) or {}) if scored >= 0 else {}, end


def _found(file: BinaryIO, word: bytes, before: int) -> int:
    """The last position of a word among the first `before` bytes, or -1."""
    end = before
    while end > 0:
        start = max(end - BLOCK, 0)
        file.seek(start)
        # The word may straddle two blocks.
        place = file.read(min(end + len(word) - 1, before) - start).rfind(word)
        if place >= 0:
            return int(start + place)
        end = start
    return -1


def _line_at(file: BinaryIO, place: int) -> JsonObject | None:
    file.seek(place)
    return parsed(file.readline(LONGEST_LINE))


def parsed(text: bytes) -> JsonObject | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and isinstance(line.get("step"), int) else None


def stamp_of(path: Path | int) -> Stamp | None:
    """Modification time, size and inode of a file; None if it does not exist."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def finite(number: float | None) -> float | None:
    """The number, or None if it is infinite or NaN, which JSON cannot represent."""
    return number if number is not None and abs(number) < float("inf") else None
