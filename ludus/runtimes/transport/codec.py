"""Values as arrays and JSON, to send them between processes: dicts, tuples, NamedTuples, numbers, arrays and tables.

The classes of NamedTuples are named by module; only classes that the receiving process has imported are accepted.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np

from ludus.agents.table import Table
from ludus.types import Array, LudusError, PyTree

Form = object
"""plain data for JSON: how a value is put together from its arrays"""


def encode(value: PyTree) -> tuple[Form, dict[str, Array]]:
    """The form of a value, and its arrays by name."""
    arrays: dict[str, Array] = {}
    return _encode(value, arrays), arrays


def _encode(value: PyTree, arrays: dict[str, Array]) -> Form:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Table):
        parts, facts = value.pack()
        return {"table": facts, **{name: _encode(part, arrays) for name, part in parts.items()}}
    if isinstance(value, Mapping):
        return {"dict": [[key, _encode(part, arrays)] for key, part in value.items()]}
    if isinstance(value, tuple | list):
        named = f"{type(value).__module__}:{type(value).__qualname__}" if hasattr(value, "_fields") else ""
        return {"tuple": named, "parts": [_encode(part, arrays) for part in value]}
    name = str(len(arrays))
    arrays[name] = np.asarray(value)
    return {"array": name}


def decode(form: Form, arrays: Mapping[str, Array]) -> PyTree:
    """The value of a form; its arrays are the ones given, not copies."""
    if not isinstance(form, dict):
        return form
    if "array" in form:
        return arrays[form["array"]]
    if "dict" in form:
        return {key: decode(part, arrays) for key, part in form["dict"]}
    if "table" in form:
        return Table.unpack({name: decode(form[name], arrays) for name in ("rows", "known")}, form["table"])
    parts = [decode(part, arrays) for part in form["parts"]]
    return _named_tuple(form["tuple"])(*parts) if form["tuple"] else tuple(parts)


def _named_tuple(name: str) -> type[tuple[object, ...]]:
    module, _, path = name.partition(":")
    kind = getattr(sys.modules.get(module), path, None)
    if not (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")):
        raise LudusError(
            f"received a {name}, which this process does not know; run the same version of Ludus everywhere"
        )
    return kind
