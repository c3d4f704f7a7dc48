"""The Python reference, from the public names of the package, and the HTTP reference, from the routes of the studio."""

from __future__ import annotations

import ast
import pathlib
import tempfile
from collections.abc import Iterator, Mapping

from tables import table

import ludus
from ludus.studio import Studio
from ludus.studio.app import web
from ludus.studio.rooms.schema import FIELDS

Operation = Mapping[str, object]


def pages() -> dict[str, str | bytes]:
    return {"reference/python.md": _python(), "reference/http.md": _http()}


def _python() -> str:
    homes = _homes()
    intro = "# Python reference\n\nThe public names of `ludus`. They are imported when they are first used.\n\n"
    return intro + "\n\n".join(f"::: {homes[name]}.{name}" for name in ludus.__all__) + "\n"


def _homes() -> dict[str, str]:
    """The module of each public name, from the imports for type checkers in `ludus/__init__.py`."""
    assert ludus.__file__ is not None
    tree = ast.parse(pathlib.Path(ludus.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def _http() -> str:
    with tempfile.TemporaryDirectory() as out:
        document = web(Studio(pathlib.Path(out))).app.openapi()
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    intro = (
        "# HTTP reference\n\nThe routes of `ludus studio`, from its OpenAPI description, which a running studio serves "
        "at `/api/openapi.json`.\n\n"
    )
    rows = [(f"`{method.upper()} {path}`", _summary(operation)) for path, method, operation in operations]
    sections = [_operation(document, *operation) for operation in operations]
    return intro + table(("route", "what it does"), rows) + "\n" + "\n".join(sections) + _socket()


def _summary(operation: Operation) -> object:
    return operation.get("summary", "")


def _operation(document: Operation, path: str, method: str, operation: Operation) -> str:
    rows = [*_parameters(operation), *_body(document, operation)]
    given = table(("name", "where", "type", "required"), rows) if rows else ""
    answers = ", ".join(f"{code} {answer['description']}" for code, answer in operation["responses"].items())
    return f"## {method.upper()} {path}\n\n{_summary(operation)}\n\n{given}\nAnswers: {answers}.\n"


def _parameters(operation: Operation) -> Iterator[tuple[str, ...]]:
    for one in operation.get("parameters", ()):
        yield f"`{one['name']}`", one["in"], _type(one["schema"]), "yes" if one.get("required") else "no"


def _body(document: Operation, operation: Operation) -> Iterator[tuple[str, ...]]:
    """The fields of a JSON body."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = _resolved(document, content.get("application/json", {}).get("schema", {}))
    for name, kind in schema.get("properties", {}).items():
        yield f"`{name}`", "body", _type(kind), "yes" if name in schema.get("required", ()) else "no"


def _resolved(document: Operation, schema: Mapping) -> Mapping:
    place = schema.get("$ref", "")
    return document["components"]["schemas"][place.rpartition("/")[2]] if place else schema


def _type(schema: Mapping) -> str:
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    inside = f" of {_type(schema['items'])}" if schema.get("items") else ""
    return schema.get("type", "any") + inside


def _socket() -> str:
    rows = [
        (f"`{command}`", f"`{name}`" if name else "", words, needed)
        for command, fields in FIELDS.items()
        for name, words, needed in (
            [(name, words, "yes" if needed else "no") for name, (needed, _, words) in fields.items()] or [("", "", "")]
        )
    ]
    intro = (
        "\n## WebSocket /ws\n\nOne socket carries pictures and states of the rooms that a page watches, and its "
        "commands: JSON objects with `room`, `do` and the fields of the command.\n\n"
    )
    return intro + table(("do", "field", "value", "required"), rows)
