"""`RefusedError`: a request that cannot be answered; the reference API reports it as `{"error": …}` with status 200."""

from __future__ import annotations

from ludus.types import LudusError


class RefusedError(LudusError):
    """A valid request that cannot be answered; it has changed nothing."""
