"""`ludus export`, and the commands that take its files."""

import json

import pytest

from ludus import agents
from ludus.cli import run
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


@pytest.mark.parametrize(("flags", "message"), [
    (["--out", "a.tflite", "--batch", "dynamic"], "any number of rows"),
    (["--out", "a.onnx", "--batch", "many"], "a number of rows or dynamic"),
    (["--out", "a.onnx", "--measure", "3"], "even number of games"),
])  # fmt: skip
def test_wrong_flags(flags, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LudusError, match=message):
        run(["export", str(agents.shipped("tictactoe")), *flags])
