"""The tutorials are scripts, and they run; those that train for long do so in miniature here."""

import os
import pathlib
import subprocess
import sys

import pytest

TUTORIALS = sorted((pathlib.Path(__file__).parent.parent / "docs" / "tutorials").glob("*.py"))
LEAVES = {"car": ("car_learning.png", "car_driving.gif"), "tictactoe": ("tictactoe_learning.png",)}


@pytest.mark.parametrize("path", TUTORIALS, ids=[path.stem for path in TUTORIALS])
def test_a_tutorial_runs(path, tmp_path):
    small = {**os.environ, "LUDUS_TUTORIAL": "small"}
    answer = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, env=small)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "FAIL" not in answer.stdout
    for name in LEAVES.get(path.stem, ()):
        assert (tmp_path / name).read_bytes()[:4] in (b"\x89PNG", b"GIF8")
