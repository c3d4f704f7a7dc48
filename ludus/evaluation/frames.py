"""Results as a pandas DataFrame, if pandas is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ludus.types import JsonObject, LudusError


def frame(data: Sequence[JsonObject] | Mapping[str, Any]) -> Any:
    """Rows, or columns by name, as a DataFrame."""
    try:
        import pandas  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise LudusError("to_frame needs pandas: pip install pandas; the same data is there without it") from None
    return pandas.DataFrame(data)
