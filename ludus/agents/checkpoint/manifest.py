"""The manifest of a checkpoint: JSON that is validated field by field."""

from __future__ import annotations

import datetime
import functools
import json
import math
import operator
import re
from collections.abc import Callable
from typing import NamedTuple, Protocol

from ludus import __version__
from ludus.pool import hardware
from ludus.types import JsonObject, LudusError

FORMAT = 1
FORMATS = (FORMAT,)
"""the formats this version reads"""
LARGEST_MANIFEST = 2**24
"""bytes"""
FILE_NAME = re.compile(r"[a-z][a-z0-9_]*\.safetensors", re.ASCII)
NOT_FINITE = ("nan", "inf", "-inf")
"""JSON cannot represent these numbers, so they are written as strings"""


class Identity(Protocol):
    """The properties of a game that a manifest needs."""

    @property
    def full_name(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...


class StoredFile(NamedTuple):
    """Checksum and size of a file of a checkpoint."""

    sha256: str
    size: int


class Manifest(NamedTuple):
    """The game, agent, algorithm and origin of a checkpoint."""

    format: int
    game: str
    """the full name, with parameters"""
    fingerprint: str
    """of the game's SPEC, STATE and OBSERVATION"""
    agent: JsonObject
    """JSON data: {"kind": …, and its fields}; tuples are read back as lists"""
    algorithm: JsonObject
    """JSON data: {"kind": …, and its fields}"""
    version: int
    """number of updates of the parameters"""
    steps: int
    """number of steps of the game"""
    score: float | None
    """compared by `best`; higher is better"""
    metrics: dict[str, float]
    ludus: str
    commit: str | None
    created: str
    """UTC, ISO 8601"""
    parent: str | None
    """the name of the checkpoint from which training was continued"""
    files: dict[str, StoredFile]
    """filled in by `save`"""


def describe(
    game: Identity,
    agent: JsonObject,
    algorithm: JsonObject,
    *,
    version: int = 0,
    steps: int = 0,
    score: float | None = None,
    metrics: dict[str, float] | None = None,
    parent: str | None = None,
) -> Manifest:
    """A manifest with the present time and version of ludus."""
    created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    made_by = (__version__, _commit(), created)
    return Manifest(
        FORMAT, game.full_name, game.fingerprint, agent, algorithm, version, steps, score, metrics or {}, *made_by,
        parent, {},
    )  # fmt: skip


def encode(manifest: Manifest) -> bytes:
    """The manifest as JSON."""
    try:
        plain = manifest._asdict() | {
            "version": operator.index(manifest.version),
            "steps": operator.index(manifest.steps),
            "score": None if manifest.score is None else _json_number(manifest.score),
            "metrics": {name: _json_number(value) for name, value in manifest.metrics.items()},
            "files": {name: stored._asdict() for name, stored in manifest.files.items()},
        }
        return json.dumps(plain, indent=2, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise LudusError(
            f"this manifest cannot be written as JSON ({error}); agent and algorithm may have strings, finite numbers, "
            "booleans, lists and dicts; version and steps are whole numbers, score and metrics are numbers"
        ) from None


def decode(data: bytes, place: str) -> Manifest:
    """The manifest in these bytes; raises LudusError for the first invalid field in `place`."""
    fields = _json_object(data, place)
    if fields.get("format") not in FORMATS:
        known = ", ".join(map(str, FORMATS))
        raise LudusError(
            f"{place} has the format {_shown(fields.get('format'))}, but ludus {__version__} reads {known}; "
            "use the version of ludus that wrote it, or a newer one"
        )
    for name in [*CHECKS, *fields]:
        if (name in CHECKS) != (name in fields):
            fault = "has no field" if name in CHECKS else "has the unknown field"
            raise LudusError(f"{place} {fault} {json.dumps(name[:60])}; {ADVICE}")
    for name, (check, meaning) in CHECKS.items():
        if not check(fields[name]):
            raise LudusError(f'{place}: "{name}" should be {meaning}, not {_shown(fields[name])}; {ADVICE}')
    fields["score"] = None if fields["score"] is None else float(fields["score"])
    fields["metrics"] = {name: float(value) for name, value in fields["metrics"].items()}
    fields["files"] = {name: StoredFile(**stored) for name, stored in fields["files"].items()}
    return Manifest(**fields)


def _json_object(data: bytes, place: str) -> JsonObject:
    if len(data) > LARGEST_MANIFEST:
        raise LudusError(f"{place} is larger than {LARGEST_MANIFEST} bytes, the limit for a manifest; {ADVICE}")
    try:
        fields = json.loads(data.decode(), parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise LudusError(f"{place} is not valid JSON, perhaps it is truncated; {ADVICE}") from None
    if not isinstance(fields, dict):
        raise LudusError(f"{place} should be a JSON object, not {_shown(fields)}; {ADVICE}")
    return fields


def _reject_constant(constant: str) -> None:
    raise ValueError(constant)


def _json_number(number: float) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else str(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


@functools.cache
def _commit() -> str | None:
    try:
        return hardware.commit()
    except OSError:  # a checkout on a machine without git
        return None


def _is_line(value: object) -> bool:
    """Whether a text is printable: it appears in terminals and logs, and may come from an untrusted source."""
    return isinstance(value, str) and value.isprintable()


def _is_line_or_none(value: object) -> bool:
    return value is None or _is_line(value)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_number(value: object) -> bool:
    if type(value) is int:
        return abs(value) < 2**63
    return math.isfinite(value) if type(value) is float else value in NOT_FINITE and isinstance(value, str)


def _is_score(value: object) -> bool:
    return value is None or _is_number(value)


def _is_described(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("kind"), str)


def _is_metrics(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def _is_time(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return datetime.datetime.fromisoformat(value).utcoffset() == datetime.timedelta()
    except ValueError:
        return False


def _is_files(value: object) -> bool:
    return isinstance(value, dict) and all(FILE_NAME.fullmatch(name) and _is_stored(value[name]) for name in value)


def _is_stored(value: object) -> bool:
    if not isinstance(value, dict) or value.keys() != {"sha256", "size"}:
        return False
    return _is_count(value["size"]) and isinstance(value["sha256"], str)


ADVICE = "use another checkpoint, or fetch this one again"
DESCRIBED = 'an object with a string "kind"'
CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "format": (_is_count, "a whole number"),
    "game": (_is_line, "a line of text"),
    "fingerprint": (_is_line, "a line of text"),
    "agent": (_is_described, DESCRIBED),
    "algorithm": (_is_described, DESCRIBED),
    "version": (_is_count, "a whole number from 0"),
    "steps": (_is_count, "a whole number from 0"),
    "score": (_is_score, "a number or null"),
    "metrics": (_is_metrics, "an object of numbers"),
    "ludus": (_is_line, "a line of text"),
    "commit": (_is_line_or_none, "a line of text or null"),
    "created": (_is_time, "a time in UTC like 2026-01-31T12:00:00+00:00"),
    "parent": (_is_line_or_none, "a line of text or null"),
    "files": (_is_files, "an object of file names like params.safetensors with sha256 and size"),
}
