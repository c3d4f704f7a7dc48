"""The game in the README passes the conformance checks and works with all commands; links name existing files."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

from ludus.cli.train import parted, run_of

README = (pathlib.Path(__file__).parent.parent / "README.md").read_text()


def test_the_game_of_the_readme_works(tmp_path):
    source = next(block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "SPEC" in block)
    (tmp_path / "addup.py").write_text(source)
    env = {**os.environ, "LUDUS_GAMES": str(tmp_path)}

    def ludus(*arguments):
        command = [sys.executable, "-m", "ludus.cli", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, input="add 3\nquit\n")

    checked = ludus("check", "addup")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "pile: 12" in ludus("show", "addup").stdout
    assert "seat 1 plays add" in ludus("play", "addup").stdout
    assert ludus("bench", "pool", "--game", "addup", "--rounds", "1", "--rows", "16").returncode == 0
    drawn = ludus("show", "addup", "--out", "picture.png")
    assert drawn.returncode == 2
    assert "the game has no scene" in drawn.stderr


def test_the_files_the_readme_points_to_exist():
    root = pathlib.Path(__file__).parent.parent
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert len(links) > 10
    assert [link for link in links if not (root / link.partition("#")[0]).exists()] == []


def test_the_training_commands_of_the_readme_are_valid():
    commands = re.findall(r"^(?:mpiexec -n 4 )?ludus train (?!--resume)(.*)$", README, re.MULTILINE)
    assert len(commands) > 5
    for command in commands:
        run_of(parted(shlex.split(command, comments=True))[1])
