"""A sentence for whoever asked, with the status that HTTP has for it and the field it is about."""

from __future__ import annotations

from ludus.types import LudusError


class Refusal(LudusError):  # noqa: N818  (it is an answer)
    """What the studio will not do, and why."""

    def __init__(self, sentence: str, status: int = 400, field: str | None = None) -> None:
        super().__init__(sentence)
        self.status, self.field = status, field


def unknown(what: str, name: str, where: str = "") -> Refusal:
    """There is no such thing; the name is shown as far as it is short and printable."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in name[:60])
    return Refusal(f'there is no {what} "{shown}"{where}', 404)
