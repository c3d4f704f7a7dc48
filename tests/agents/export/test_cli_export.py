"""`ludus export`, and the commands that take its files."""

import json
import shlex

import pytest

from ludus import agents
from ludus.cli import run
from ludus.studio.details import commands_of
from ludus.types import LudusError


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "cross.stablehlo"
    run(["export", str(agents.shipped("tictactoe")), "--out", str(path), "--quantize", "int8"])
    return path


def test_export_prints_what_it_wrote(file, capsys):
    run(["export", str(agents.shipped("tictactoe")), "--out", str(file), "--batch", "3", "--measure", "20", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert (facts["game"], facts["batch"], facts["bytes"]) == ("tictactoe", 3, file.stat().st_size)
    assert facts["check"]["max_error"] <= 1e-4
    assert facts["check"]["strength"]["games"] == 20


def test_commands_take_files(file, capsys):
    run(["evaluate", str(file), "--games", "20", "--json"])
    assert json.loads(capsys.readouterr().out)["file"] == str(file)
    run(["battle", str(file), "random", "--games", "20", "--json"])
    assert json.loads(capsys.readouterr().out)["game"] == "tictactoe"


def test_a_file_has_the_name_of_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(["export", str(agents.shipped("tictactoe")), "--format", "stablehlo"])
    assert [path.name for path in tmp_path.iterdir()] == ["tictactoe.stablehlo"]


def test_the_command_that_the_studio_shows_writes_a_file(tmp_path, monkeypatch):
    pytest.importorskip("onnx", reason="needs onnx: pip install 'ludus[onnx]'")
    monkeypatch.chdir(tmp_path)
    (shown,) = [one["command"] for one in commands_of(agents.shipped("tictactoe")) if " export " in one["command"]]
    run(shlex.split(shown)[1:])
    assert [path.name for path in tmp_path.iterdir()] == ["tictactoe.onnx"]


@pytest.mark.parametrize(("flags", "message"), [
    (["--out", "a.tflite", "--batch", "dynamic"], "any number of rows"),
    (["--out", "a.onnx", "--batch", "many"], "a number of rows or dynamic"),
    (["--out", "a.onnx", "--measure", "3"], "even number of games"),
    ([], "by its format or its file"),
    (["--format", "pickle"], "pickle"),
])  # fmt: skip
def test_wrong_flags(flags, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LudusError, match=message):
        run(["export", str(agents.shipped("tictactoe")), *flags])
