"""`python -m ludus.conformance --plain NAME FOLDER`: plain.py's other process, which plays without compilation."""

from __future__ import annotations

import pathlib
import sys

from ludus.conformance.plain import write_plays

if __name__ == "__main__":
    _, flag, name, folder = sys.argv
    assert flag == "--plain"
    write_plays(name, pathlib.Path(folder))
