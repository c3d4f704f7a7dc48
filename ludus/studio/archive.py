"""Saved replays: listed by their header line, replayed to draw them."""

from __future__ import annotations

import datetime
import functools
import json
import re
import struct
from pathlib import Path

from ludus.evaluation import replays
from ludus.studio import Studio, wire
from ludus.studio.refusal import Refusal, unknown
from ludus.types import JsonObject

FOLDER = "replays"
MOST_FRAMES = 20_000


def found(out: Path) -> dict[str, Path]:
    """All replays by name: those saved in the studio, and those in the folders of runs."""
    places = [out / FOLDER, *sorted(out.glob(f"[!.]*/{FOLDER}"))] if out.is_dir() else []
    named: dict[str, Path] = {}
    for place in places:
        if place.is_symlink() or place.parent.is_symlink() or not place.is_dir():
            continue
        prefix = "" if place.parent == out else f"{place.parent.name}."
        files = [file for file in sorted(place.glob(f"*{replays.SUFFIX}")) if file.is_file() and not file.is_symlink()]
        named |= {f"{prefix}{file.stem}": file for file in files}
    return named


def path_of(out: Path, name: str) -> Path:
    path = found(out).get(name)
    if path is None:
        raise unknown("replay", name)
    return path


def listed(out: Path) -> list[JsonObject]:
    """The headers of all replays, newest first; unreadable ones have the ending "damaged"."""
    facts = [_facts(name, path, path.stat().st_mtime_ns) for name, path in found(out).items()]
    return sorted((one for one in facts if one), key=lambda one: one["created"], reverse=True)


@functools.lru_cache(4096)
def _facts(name: str, path: Path, stamp: int) -> JsonObject:
    created = datetime.datetime.fromtimestamp(stamp / 1e9, datetime.UTC).isoformat(timespec="seconds")
    blank = {"name": name, "game": "", "agents": [], "returns": [], "ending": "damaged", "steps": 0, "created": created}
    try:
        with path.open("rb") as file:
            header = json.loads(file.readline(replays.LONGEST_LINE))
        known = {key: header[key] for key in ("game", "agents", "returns", "ending")}
        return blank | known | {"steps": int(header["actions"])}
    except (OSError, ValueError, KeyError, TypeError):
        return blank


def details(out: Path, name: str) -> JsonObject:
    """A replay with the names of its moves and the size of its pictures."""
    path = path_of(out, name)
    replay = replays.load(path)
    facts = _facts(name, path, path.stat().st_mtime_ns)
    return facts | {"seed": replay.seed, "moves": replays.action_names(replay), "frame": replays.frame_size(replay)}


def frames(out: Path, name: str) -> bytes:
    """All pictures of a replay: their number, then the length and the encoded frame of each."""
    replay = replays.load(path_of(out, name))
    if len(replay.actions) >= MOST_FRAMES:
        raise Refusal(f"the game has {len(replay.actions):,} steps, too many to send; use ludus replay to draw it", 422)
    messages = [wire.encode(0, tick, wire.pack(shapes)) for tick, shapes in enumerate(replays.frames(replay))]
    return b"".join([struct.pack("<I", len(messages)), *(struct.pack("<I", len(one)) + one for one in messages)])


def keep(studio: Studio, replay: replays.Replay) -> str:
    """Write a replay under the next free name."""
    place = studio.out / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^A-Za-z0-9]+", "-", replay.game.partition("(")[0]).strip("-") or "game"
    taken = [int(match[1]) for path in place.iterdir() if (match := re.fullmatch(rf"{stem}-(\d+)\.replay", path.name))]
    path = place / f"{stem}-{max(taken, default=0) + 1:04d}{replays.SUFFIX}"
    replays.save(path, replay)
    return path.stem
