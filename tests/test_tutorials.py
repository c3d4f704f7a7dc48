"""The tutorials are scripts, and they run."""

import pathlib
import subprocess
import sys

import pytest

TUTORIALS = sorted((pathlib.Path(__file__).parent.parent / "docs" / "tutorials").glob("*.py"))


@pytest.mark.parametrize("path", TUTORIALS, ids=[path.stem for path in TUTORIALS])
def test_a_tutorial_runs(path, tmp_path):
    answer = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "FAIL" not in answer.stdout
