"""`Problem`: an error of a request, with an HTTP status and a stable code; it becomes application/problem+json."""

from __future__ import annotations

from ludus.types import LudusError

Json = str | int | float | bool | None | list[str]
"""what a problem can say besides its detail"""


class Problem(LudusError):  # noqa: N818 - the name that RFC 9457 gives it
    """A request that cannot be answered; it has changed nothing.

    The codes are part of the interface: clients decide by them what to do.
    """

    def __init__(self, status: int, code: str, detail: str, **more: Json) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.more = status, code, detail, more
