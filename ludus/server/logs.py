"""The log of the server: one JSON object per line on standard error; never tokens, keys, queries or observations."""

from __future__ import annotations

import itertools
import logging
import re
import secrets
import sys
import time
import traceback

import msgspec

IDENTIFIER = re.compile(r"[A-Za-z0-9._:/+=-]{1,100}", re.ASCII)
LONGEST_PATH = 200
_numbers, _boot = itertools.count(1), secrets.token_hex(4)


def request_id(given: str | None) -> str:
    """The id that the client gave, if it is short and plain, or a new one."""
    return given if given is not None and IDENTIFIER.fullmatch(given) else f"{_boot}-{next(_numbers):x}"


def note(event: str, **facts: object) -> None:
    """Write one line."""
    _write({"time": round(time.time(), 3), "level": "info", "event": event, **facts})


def note_request(id: str, method: str, path: str, status: int, seconds: float, client: str) -> None:
    """Write one line about an answered request."""
    note(
        "request", id=id, method=method, path=path[:LONGEST_PATH], status=status, ms=round(1000 * seconds, 2),
        client=client,
    )  # fmt: skip


def _write(line: dict[str, object]) -> None:
    # A path may contain lone surrogates, which UTF-8 cannot encode.
    clean = {key: _clean(value) if isinstance(value, str) else value for key, value in line.items()}
    sys.stderr.write(msgspec.json.encode(clean).decode() + "\n")


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


class JsonHandler(logging.Handler):
    """Writes the records of Python's logging in the same form."""

    def emit(self, record: logging.LogRecord) -> None:
        line: dict[str, object] = {"time": round(record.created, 3), "level": record.levelname.lower()}
        line |= {"event": "log", "logger": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[0]:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        _write(line)


def set_up() -> None:
    """Send all logging to standard error as JSON."""
    logging.basicConfig(handlers=[JsonHandler()], level=logging.WARNING, force=True)
