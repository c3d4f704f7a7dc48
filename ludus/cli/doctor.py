"""`ludus doctor` and `ludus cache`: what is installed, and the cache of compiled code."""

from __future__ import annotations

from typing import Annotated, Literal

import tyro

from ludus.cli.application import app, print_json
from ludus.types import JsonObject


@app.command
def doctor(json: bool = False) -> None:
    """Show versions, devices, the cache, and the extras and programs that are missing.

    Args:
        json: Print one JSON object instead of text.
    """
    from ludus.bench import installation

    facts = installation.describe()
    if json:
        print_json(facts)
        return
    for name, value in facts["hardware"].items():
        print(f"{name:<14} {value}")
    print(f"{'devices':<14} {', '.join(facts['devices']) or 'none: JAX is not installed'}")
    print(f"{'cache':<14} {_megabytes(facts['cache']['bytes'])} in {facts['cache']['folder']}; ludus cache clear")
    print("\nextras")
    for name, extra in facts["extras"].items():
        print(f"  {name:<12} {_extra(extra)}")
    print("\nprograms")
    for name, found in facts["programs"].items():
        print(f"  {name:<12} {found['path'] or 'not found; needed for ' + found['for']}")


def _extra(extra: JsonObject) -> str:
    if extra["installed"]:
        return f"installed      {extra['brings']}"
    return f"not installed  {extra['brings']}\n{'':<29} missing: {', '.join(extra['missing'])}; {extra['install']}"


@app.command(name="cache")
def show_cache(action: Annotated[Literal["show", "clear"], tyro.conf.Positional] = "show", json: bool = False) -> None:
    """Show the cache of compiled code with the sizes of its entries, or clear it.

    Only entries that Ludus made are shown and deleted. Games are compiled again when they are next opened.

    Args:
        action: show, or clear to delete all entries.
        json: Print one JSON object instead of text.
    """
    from ludus.dsl import cache

    found = cache.clear() if action == "clear" else cache.entries()
    total = sum(entry.size for entry in found)
    if json:
        rows = [{"name": entry.path.name, "bytes": entry.size} for entry in found]
        print_json({"folder": str(cache.cache_root()), "action": action, "entries": rows, "bytes": total})
        return
    for entry in found if action == "show" else ():
        print(f"{_megabytes(entry.size):>12}  {entry.path.name}")
    done = "deleted" if action == "clear" else "total"
    print(f"{_megabytes(total):>12}  {done}, {len(found)} entries of {cache.cache_root()}")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
