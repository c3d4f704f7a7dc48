"""Errors of requests: a message, an HTTP status and the field that the message is about."""

from __future__ import annotations

from ludus.types import LudusError


class Refusal(LudusError):  # noqa: N818  (it is a response)
    """A request that the studio refuses, with the reason."""

    def __init__(self, sentence: str, status: int = 400, field: str | None = None) -> None:
        super().__init__(sentence)
        self.status, self.field = status, field


def unknown(what: str, name: str, where: str = "") -> Refusal:
    """The error for an unknown name, which is shown shortened and with "?" for unprintable characters."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in name[:60])
    return Refusal(f'there is no {what} "{shown}"{where}', 404)
