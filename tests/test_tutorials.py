"""The tutorials run without errors; LUDUS_TUTORIAL=small shortens those that train for long."""

import os
import pathlib
import subprocess
import sys

import pytest

TUTORIALS = sorted((pathlib.Path(__file__).parent.parent / "docs" / "tutorials").glob("*.py"))
PICTURES = {"car": ("car_learning.png", "car_driving.gif"), "tictactoe": ("tictactoe_learning.png",)}


@pytest.mark.parametrize("path", TUTORIALS, ids=[path.stem for path in TUTORIALS])
def test_a_tutorial_runs(path, tmp_path):
    small = {**os.environ, "LUDUS_TUTORIAL": "small"}
    process = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, env=small)
    assert process.returncode == 0, process.stdout + process.stderr
    assert "FAIL" not in process.stdout
    for name in PICTURES.get(path.stem, ()):
        assert (tmp_path / name).read_bytes()[:4] in (b"\x89PNG", b"GIF8")
