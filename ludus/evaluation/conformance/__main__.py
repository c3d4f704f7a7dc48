"""`python -m ludus.evaluation.conformance --plain NAME FOLDER`: play uncompiled, for plain_python.py."""

from __future__ import annotations

import pathlib
import sys

from ludus.evaluation.conformance.plain_python import write_plays

if __name__ == "__main__":
    _, flag, name, folder = sys.argv
    assert flag == "--plain"
    write_plays(name, pathlib.Path(folder))
