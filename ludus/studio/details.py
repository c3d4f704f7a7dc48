"""Details of one run: settings, checkpoints and their pictures; and comparison of several runs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from ludus.agents import checkpoint
from ludus.files import write_atomically
from ludus.studio import Studio, metrics
from ludus.studio.ledger import finite
from ludus.studio.refusal import Refusal
from ludus.studio.trainers import notes_of, write_notes
from ludus.training import config
from ludus.training.folder import CHECKPOINTS, SETTINGS
from ludus.types import JsonObject, LudusError

SERVER_PORT = 3000
"""the default port of `ludus serve`"""
TAG = re.compile(r"[\w .+-]{1,40}")


def run_facts(studio: Studio, name: str) -> JsonObject:
    """The facts that the page of a run shows."""
    summary = studio.runs_feed.summary(name)
    folder = studio.shelf.run(name)
    try:
        columns = metrics.names_of(folder)
    except LudusError as error:
        columns, summary["sentence"] = [], str(error)
    parts = {"settings": settings_of(folder), "checkpoints": checkpoints_of(folder), "columns": columns}
    return summary | parts | {"commands": commands_of(folder)}


def commands_of(folder: Path) -> list[JsonObject]:
    """Shell commands that use the agent of a run elsewhere, each with what it does."""
    run, body = shlex.quote(str(folder)), json.dumps({"model": folder.name})
    address = f"localhost:{SERVER_PORT}/v1/sessions"
    ask = f"curl -s {address} -H 'Content-Type: application/json' -d {shlex.quote(body)}"
    return [
        {"what": "Serve it over HTTP", "command": f"ludus serve {run}"},
        {"what": "Open a session of the server, which then answers observations", "command": ask},
        {"what": "Write a file for other programs and languages", "command": f"ludus export {run} --format onnx"},
    ]


def settings_of(folder: Path) -> JsonObject:
    """The settings of a run with dotted names; empty if they cannot be read."""
    try:
        return dict(_flat(config.to_dict(config.read(folder / SETTINGS)), ""))
    except LudusError:
        return {}


def _flat(values: JsonObject, prefix: str) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            pairs += _flat(value, f"{prefix}{name}.")
        else:
            pairs.append((prefix + name, list(value) if isinstance(value, tuple) else value))
    return pairs


def checkpoints_of(folder: Path) -> list[JsonObject]:
    """The checkpoints of a run, oldest first; unreadable ones carry the error."""
    place = folder / CHECKPOINTS
    found = checkpoint.list_checkpoints(place)
    best = checkpoint.best(place)
    return [_checkpoint(path, path == best, path == found[-1]) for path in found]


def _checkpoint(path: Path, best: bool, newest: bool) -> JsonObject:
    facts: JsonObject = {"name": path.name, "steps": int(path.name), "score": None, "best": best, "newest": newest}
    try:
        size = sum(file.stat().st_size for file in path.iterdir())
        manifest = checkpoint.read_manifest(path)
    except (LudusError, OSError) as error:  # damaged, or deleted by rotation in the meantime
        return facts | {"bytes": 0, "created": None, "sentence": str(error)}
    return facts | {
        "steps": manifest.steps, "score": finite(manifest.score), "bytes": size, "created": manifest.created
    }  # fmt: skip


def note(studio: Studio, name: str, title: str | None, tags: list[str] | None) -> None:
    """Set the title or tags of a run; None leaves them unchanged."""
    folder = studio.shelf.run(name)
    notes = notes_of(folder)
    if title is not None:
        if not title.isprintable():
            raise Refusal("a title must be one line of printable characters", 422, "title")
        notes["title"] = title.strip()
    if tags is not None:
        wrong = [tag for tag in tags if not TAG.fullmatch(tag.strip())]
        if wrong:
            raise Refusal("a tag must be 1 to 40 letters, digits, spaces or one of . + - _", 422, "tags")
        notes["tags"] = list(dict.fromkeys(tag.strip() for tag in tags))
    write_notes(folder, notes)


def compared(studio: Studio, names: list[str]) -> JsonObject:
    """Runs side by side, with the settings in which they differ."""
    found = list(dict.fromkeys(names))
    settings = [settings_of(studio.shelf.run(name)) for name in found]
    keys = dict.fromkeys(key for one in settings for key in one)
    rows = {key: [one.get(key) for one in settings] for key in keys}
    differing = {key: row for key, row in rows.items() if any(value != row[0] for value in row)}
    return {"runs": [studio.runs_feed.summary(name) for name in found], "settings": differing}


def thumbnail(studio: Studio, name: str, step: str) -> bytes | None:
    """A picture of the game as this checkpoint plays it, cached on disk; None if rotation deleted the checkpoint."""
    newest = studio.shelf.checkpoint(name)
    try:
        path = studio.shelf.checkpoint(name, step)
        kept = studio.out / ".studio" / "thumbnails" / f"{name}@{path.name}.webp"
        if not kept.is_file() or kept.stat().st_mtime < path.stat().st_mtime:
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(kept, _draw_thumbnail(path))
        return kept.read_bytes()
    except (LudusError, OSError):  # at any moment, rotation may delete the checkpoint
        if _deleted(newest, step):
            return None
        raise


def _deleted(newest: Path, step: str) -> bool:
    """Whether a checkpoint with this number may have existed, and does not exist any more."""
    numbered = checkpoint.NAME.fullmatch(step) is not None and int(step) <= int(newest.name)
    return numbered and not (newest.parent / step).exists()


def _draw_thumbnail(path: Path) -> bytes:
    from ludus.evaluation import show
    from ludus.studio.shelf import load_game, webp

    game = checkpoint.read_manifest(path).game
    seats = load_game(game).spec.seats if ":" not in game else 1
    played = show.play(game, str(path.absolute()), seed=7, steps=60 if seats == 1 else 6)
    if not played.frames:
        raise Refusal(f"{game} has no picture", 404)
    return webp(played.frames[-1], played.frame, width=240)
