"""Bodies as JSON or msgpack: content types, and decoding of data that nobody has checked."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from ludus.server.problems import Problem

JSON, MSGPACK, PROBLEM = "application/json", "application/msgpack", "application/problem+json"
PACKED = (MSGPACK, "application/x-msgpack", "application/vnd.msgpack")
Body = TypeVar("Body")


class Codec(Generic[Body]):
    """Decodes one type from JSON and msgpack."""

    def __init__(self, kind: type[Body]) -> None:
        self._json, self._msgpack = msgspec.json.Decoder(kind), msgspec.msgpack.Decoder(kind)

    def decode(self, body: bytes | memoryview, packed: bool) -> Body:
        """The checked body; raises Problem."""
        try:
            return (self._msgpack if packed else self._json).decode(body)
        except msgspec.ValidationError as error:
            raise Problem(422, "invalid", _sentence(str(error))) from None
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, ValueError) as error:
            kind = "msgpack" if packed else "JSON"
            raise Problem(400, "malformed", f"the body is not valid {kind}: {str(error)[:200]}") from None


def is_packed(content_type: str) -> bool:
    """Whether a body of this content type is msgpack; raises Problem if it is neither that nor JSON."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == JSON:
        return False
    if kind in PACKED:
        return True
    shown = "".join(letter if letter.isprintable() else "?" for letter in kind[:60])
    raise Problem(415, "unsupported_media_type", f'send {JSON} or {MSGPACK} as Content-Type, not "{shown}"')


def wants_packed(accept: str, packed: bool) -> bool:
    """Whether to answer in msgpack: if it is asked for, or if the request was msgpack and anything is accepted."""
    if not accept or accept == "*/*":
        return packed
    return any(kind in accept for kind in PACKED) or (packed and "*/*" in accept)


def encode(value: object, packed: bool) -> tuple[bytes, str]:
    """A body and its content type."""
    return (msgspec.msgpack.encode(value), MSGPACK) if packed else (msgspec.json.encode(value), JSON)


def _sentence(text: str) -> str:
    """A message of msgspec with the field first: "seat: expected `int` >= 0"."""
    what, _, place = text.partition(" - at `")
    field = place.removeprefix("$").lstrip(".").rstrip("`")[:100]
    return f"{field}: {what[:1].lower()}{what[1:200]}" if field else f"the body: {what[:1].lower()}{what[1:200]}"
